// SPDX-License-Identifier: Apache-2.0
// Which panels of curves a run has: one unit each, and the forces of one constraint each.
import { largest } from './words.js';

const MOST_FORCES = 8; // constraints whose forces are drawn before others are asked for

// Where the model states no unit: `otherwise`.
function byUnit(title, columns, otherwise = '–') {
  const groups = new Map();
  for (const column of columns) groups.set(column.unit, [...(groups.get(column.unit) ?? []), column]);
  return [...groups].map(([its, list]) => ({ title, unit: its || otherwise, columns: list }));
}

// "joint" of lambda(joint[2],1): rows of one constraint, or of one family, are of one kind; others
// may be forces where these are torques, and no unit says so.
export function ownerOf(name) {
  return /\(([^[,)]*)/.exec(name)?.[1] ?? name;
}

const spanOf = (columns) => Math.max(...columns.map((column) => column.high)) - Math.min(...columns.map((column) => column.low));

// A panel for each constraint; of many, those whose forces vary most, and the others wait. A force
// that never acts says nothing.
export function forcePanels(columns) {
  const groups = new Map();
  for (const column of columns) groups.set(ownerOf(column.name), [...(groups.get(ownerOf(column.name)) ?? []), column]);
  const panels = [...groups].map(([owner, list]) => ({ title: `forces of ${owner}`, unit: list[0].unit, columns: list, owner }))
    .filter((panel) => panel.columns.some((column) => column.low !== 0 || column.high !== 0));
  const order = [...panels].sort((a, b) => spanOf(b.columns) - spanOf(a.columns));
  order.slice(MOST_FORCES).forEach((panel) => (panel.waits = true));
  return panels;
}

function impulses(run) {
  const stems = [];
  for (const event of run.events) {
    const size = Math.hypot(...(event.impulse ?? []).slice(0, 1000));
    if (size > 0) stems.push({ t: event.t, value: size, name: event.constraint });
  }
  const least = 1e-9 * largest(stems.map((stem) => stem.value));
  return stems.filter((stem) => stem.value > least);
}

// The works and what they add up to: the change of the energy since the start.
function balance(run) {
  const works = run.byKind('work');
  const energy = run.columns.find((column) => column.name === 'energy');
  if (works.length < 2 || !energy) return works;
  const start = energy.values[0];
  const change = { name: 'change of energy', kind: 'work', unit: energy.unit, low: energy.low - start, high: energy.high - start, values: energy.values.map((value) => value - start) };
  return [change, ...works];
}

// Kinds of columns that have no panel of their own by name.
function otherKinds(run) {
  const known = ['time', 'coordinate', 'path', 'rate', 'multiplier', 'output', 'energy', 'work', 'residual'];
  return [...new Set(run.columns.map((column) => column.kind))].filter((kind) => !known.includes(kind));
}

export function choosePanels(run) {
  const works = balance(run);
  const panels = [
    ...byUnit('coordinates', run.byKind('coordinate')),
    ...byUnit('paths', run.byKind('path')),
    ...byUnit('rates', run.byKind('rate')),
    ...forcePanels(run.byKind('multiplier')),
  ];
  const stems = impulses(run);
  if (stems.length > 0) panels.push({ title: 'impulses at events', unit: 'N s, N m s', columns: [], stems });
  for (const kind of otherKinds(run)) panels.push(...byUnit(kind, run.byKind(kind)));
  panels.push(...byUnit('outputs', run.byKind('output')));
  panels.push({ title: 'energy', unit: 'J', columns: run.byKind('energy') });
  if (works.length > 0) panels.push({ title: 'energy balance: works since the start', unit: 'J', columns: works });
  const residuals = run.byKind('residual').filter((column) => column.high > 0);
  if (residuals.length > 0) panels.push({ title: 'residuals of the constraints', unit: 'SI', columns: residuals, logarithmic: true });
  return panels.filter((panel) => panel.columns.length > 0 || panel.stems);
}
