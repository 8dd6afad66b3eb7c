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
  run.largestImpulse ??= largest(run.events.map((e) => largest(e.impulse ?? [])));
  return (event.impulse ?? []).map((value) => (Math.abs(value) < 1e-9 * run.largestImpulse ? 0 : value));
}
