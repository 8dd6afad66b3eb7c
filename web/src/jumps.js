// SPDX-License-Identifier: Apache-2.0
// What jumps at an event.
import { largest, number } from './words.js';

// Rates that change by more than a thousandth of the largest.
export function jumpsOf(run, event) {
  const before = event.before ?? [];
  const size = Math.max(largest(before), largest(event.after ?? []));
  const clean = (value) => (Math.abs(value) < 1e-9 * size ? 0 : value);
  return before
    .map((value, k) => ({ rate: run.rates[k] ?? { name: `v[${k}]`, unit: '' }, before: clean(value), after: clean(event.after[k]) }))
    .filter((jump) => Math.abs(jump.after - jump.before) > 1e-3 * size);
}

// "y' −0.585 → 0.499, phi' ..."
export function jumpText(run, event) {
  return jumpsOf(run, event)
    .slice(0, 4)
    .map((jump) => `${jump.rate.name} ${number(jump.before, 3)} → ${number(jump.after, 3)}`)
    .join(', ');
}

// The impulses of an event without what is only rounding beside the largest of the run.
export function impulsesOf(run, event) {
  run.leastImpulse ??= leastImpulse(run);
  return (event.impulse ?? []).map((value) => (Math.abs(value) < run.leastImpulse ? 0 : value));
}

// An impulse that changes no rate by more than rounding does no work that the kinetic energy shows.
function leastImpulse(run) {
  const most = largest(run.events.map((event) => largest(event.impulse ?? [])));
  const rates = largest(run.events.map((event) => largest(event.before ?? [])));
  const kinetic = run.columns.find(({ name }) => name === 'kinetic')?.high ?? 0;
  return most * rates < 1e-9 * kinetic ? Infinity : 1e-9 * most;
}
