// SPDX-License-Identifier: Apache-2.0
// Which panels of curves a run has: one unit each, and the forces of one constraint each.
import { impulsesOf } from './jumps.js';
import { largest } from './words.js';

const MOST_FORCES = 8; // constraints whose forces are drawn before others are asked for

function groupBy(list, key) {
  const groups = new Map();
  for (const entry of list) {
    const its = key(entry);
    if (!groups.has(its)) groups.set(its, []);
    groups.get(its).push(entry);
  }
  return [...groups];
}

// Where the model states no unit, the title has none.
function byUnit(title, columns) {
  return groupBy(columns, ({ unit }) => unit).map(([unit, list]) => ({ title, unit, columns: list }));
}

// "joint" of lambda(joint[2],1): rows of one constraint, or of one family, are of one kind.
export function ownerOf(name) {
  return /\(([^[,)]*)/.exec(name)?.[1] ?? name;
}

const spanOf = (columns) => Math.max(...columns.map((column) => column.high)) - Math.min(...columns.map((column) => column.low));

// A panel for each constraint and unit; of many, those whose forces vary most, and the others wait.
// A force that never acts says nothing.
export function forcePanels(columns) {
  const panels = groupBy(columns, ({ name }) => ownerOf(name))
    .flatMap(([owner, list]) => byUnit('', list).map((panel) => ({ ...panel, title: `${panel.unit === 'N m' ? 'torques' : 'forces'} of ${owner}`, owner })))
    .filter((panel) => panel.columns.some((column) => column.low !== 0 || column.high !== 0));
  const order = [...panels].sort((a, b) => spanOf(b.columns) - spanOf(a.columns));
  order.slice(MOST_FORCES).forEach((panel) => (panel.waits = true));
  return panels;
}

// ---- impulses -----------------------------------------------------------------------------------
// The units of the impulses of an event: of a constraint those of its rows, of an impulse that acts
// on coordinates theirs; '' where it is not known.
export function impulseUnits(run, event) {
  const values = event.impulse ?? [];
  const forceOf = { m: 'N s', rad: 'N m s' };
  const column = (name) => run.columns.find((c) => c.name === name);
  if (values.length === run.rates.length && !run.modes.kind.has(event.constraint)) return run.rates.map(({ unit }) => forceOf[unit.replace(/\/s$/, '')] ?? '');
  return values.map((_, k) => {
    const { unit } = column(`lambda(${event.constraint},${k + 1})`) ?? column(`lambda(${event.constraint})`) ?? { unit: '' };
    return unit && `${unit} s`;
  });
}

// Of each event the size of its impulses of one unit.
function stemsOf(run, event) {
  const units = impulseUnits(run, event);
  const values = impulsesOf(run, event);
  return groupBy(units.map((unit, k) => ({ unit, value: values[k] })), ({ unit }) => unit)
    .map(([unit, list]) => ({ t: event.t, name: event.constraint, unit, value: Math.hypot(...list.slice(0, 1000).map(({ value }) => value)) }));
}

// A panel for each unit, and where that is not known for each constraint, with a colour for each.
export function impulsePanels(run) {
  const all = run.events.flatMap((event) => stemsOf(run, event));
  const panels = groupBy(all, ({ unit, name }) => unit || ownerOf(`(${name}`));
  return panels.map(([key, list]) => {
    const least = 1e-9 * largest(list.map(({ value }) => value));
    const stems = list.filter(({ value }) => value > least);
    const owners = [...new Set(stems.map(({ name }) => name))];
    for (const stem of stems) stem.slot = owners.indexOf(stem.name);
    const { unit } = list[0];
    return { title: unit ? 'impulses at events' : `impulses of ${key}`, unit, columns: [], stems, owners };
  }).filter(({ stems }) => stems.length > 0);
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

const STILL = 1e-12; // of the size of coordinates: less is rounding

// Below which coordinates of a unit, and rates over the time of the run, are rounding about 0.
// Angles have at least 1 rad to be measured by.
function withRounding(run, panel) {
  const [, unit, perSecond] = /^(.*?)(\/s)?$/.exec(panel.unit);
  const alike = run.byKind('coordinate').filter((column) => column.unit === unit);
  const size = largest([unit === 'rad' ? 1 : 0, ...alike.flatMap(({ low, high }) => [low, high])]);
  return { ...panel, rounding: (STILL * size) / (perSecond ? run.span : 1) };
}

export function choosePanels(run) {
  const works = balance(run);
  const panels = [
    ...byUnit('coordinates', run.byKind('coordinate')).map((panel) => withRounding(run, panel)),
    ...byUnit('paths', run.byKind('path')),
    ...byUnit('rates', run.byKind('rate')).map((panel) => withRounding(run, panel)),
    ...forcePanels(run.byKind('multiplier')),
  ];
  panels.push(...impulsePanels(run));
  for (const kind of otherKinds(run)) panels.push(...byUnit(kind, run.byKind(kind)));
  panels.push(...byUnit('outputs', run.byKind('output')));
  panels.push({ title: 'energy', unit: 'J', columns: run.byKind('energy') });
  if (works.length > 0) panels.push({ title: 'energy balance: works since the start', unit: 'J', columns: works });
  const residuals = run.byKind('residual').filter((column) => column.high > 0);
  if (residuals.length > 0) panels.push({ title: 'residuals of the constraints', unit: 'SI', columns: residuals, logarithmic: true });
  return panels.filter((panel) => panel.columns.length > 0 || panel.stems);
}
