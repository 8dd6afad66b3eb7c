// SPDX-License-Identifier: Apache-2.0
// Parts of the page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittingSpeed } from '../src/clock.js';
import { documentOf, mathOf } from '../src/math.js';
import { choosePanels, forcePanels, impulsePanels, impulseUnits } from '../src/panels.js';
import { placeWords } from '../src/picture.js';
import { bridge, indexAt, nearestAt, Run } from '../src/run.js';
import { roundLength } from '../src/shapes.js';
import { dash, largestDrift, number, unit } from '../src/words.js';

test('numbers and units as text', () => {
  assert.equal(number(0.1), '0.1');
  assert.equal(number(-1234.5678, 6), '−1234.57');
  assert.equal(number(-1.5e-9, 4), '−1.5e−9');
  assert.equal(number(100000, 4), '1e+5');
  assert.equal(number(100), '100');
  assert.equal(number(NaN), '–');
  assert.equal(unit('kg m^2/s^-1'), 'kg m²/s⁻¹');
});

test('a time is found among others, of equal ones the last', () => {
  const times = [0, 1, 1, 2];
  assert.equal(indexAt(times, 1), 2);
  assert.equal(indexAt(times, -1), 0);
  assert.equal(indexAt(times, 9), 3);
  assert.equal(nearestAt(times, 1.6), 3);
  assert.equal(nearestAt(times, 1.4), 2);
});

test('numbers come back from their bytes, in their ranges', () => {
  const bytes = new Float32Array([0, 0.5, 1, 0, NaN, 1, 0, 1, 0, 1]);
  const column = (name, kind, low, high) => ({ name, kind, unit: '', low, high });
  const run = new Run(
    {
      rows: 3, frames: 2, columns: [column('t', 'time', 0, 4), column('x', 'coordinate', -1, 1)],
      scene: { shapes: [], fixed: [], low: [0, 10], high: [4, 20] }, facts: [],
      events: [{ t: 2, constraint: 'pin', from: 'free', to: 'locked' }], constraints: [{ name: 'pin', kind: 'lock' }],
    },
    Buffer.from(bytes.buffer).toString('base64'),
  );
  assert.deepEqual([...run.times], [0, 2, 4]);
  assert.equal(run.columns[1].values[0], -1);
  assert.ok(Number.isNaN(run.columns[1].values[1]));
  assert.deepEqual([...run.look(1, [0])], [12.5]);
  assert.equal(run.modes.at('pin', 1.9), 'free');
  assert.equal(run.modes.at('pin', 2), 'locked');
});

test('a speed that shows a run in about ten seconds', () => {
  assert.equal(fittingSpeed(4), 1);
  assert.equal(fittingSpeed(0.2), 0.02);
  assert.equal(fittingSpeed(400), 50);
  assert.equal(roundLength(0.37), 0.2);
  assert.equal(roundLength(2), 2);
});

test('formulas become MathML', () => {
  assert.equal(mathOf('x'), '<math><mrow><mi>x</mi></mrow></math>');
  assert.match(mathOf('\\dot{q}_{\\mathrm{1}}^{2}'), /<msubsup><mover accent="true"><mrow><mi>q<\/mi><\/mrow><mo>˙<\/mo><\/mover>/);
  assert.match(mathOf('\\frac{a}{b}'), /<mfrac><mrow><mi>a<\/mi><\/mrow><mrow><mi>b<\/mi><\/mrow><\/mfrac>/);
  assert.match(mathOf('1.5\\,\\cos\\left(\\phi \\right)'), /<mn>1.5<\/mn>.*cos.*φ/);
  const text = documentOf('\\begin{document}\n$M$ is <b>\n\\paragraph{Forces f}\n\\begin{align*}\n  a &= b \\\\\n  &\\quad + c\n\\end{align*}\n\\noindent mode left\\_edge\\\\\n\\end{document}');
  assert.match(text, /<h3>Forces f<\/h3>/);
  assert.equal(text.match(/<mtr>/g).length, 2);
  assert.match(text, /mode left_edge/);
  assert.doesNotMatch(text, /<b>/);
});

test('names that do not fit beside a title go to the next line', () => {
  const places = placeWords([50, 50, 500], 100, 10, 230);
  assert.deepEqual(places, [{ x: 100, line: 0 }, { x: 164, line: 0 }, { x: 10, line: 1 }]);
});

const force = (name, high) => ({ name, kind: 'multiplier', unit: '', low: 0, high });

test('forces of different constraints share no panel', () => {
  const panels = forcePanels([force('lambda(pin,1)', 1), force('lambda(pin,2)', 2), force('lambda(brake1)', 3), force('lambda(joint[1])', 4), force('lambda(joint[2],1)', 5), force('lambda(idle)', 0)]);
  assert.deepEqual(panels.map(({ title, columns }) => [title, columns.length]), [['forces of pin', 2], ['forces of brake1', 1], ['forces of joint', 2]]);
});

test('of many constraints those whose forces vary most are shown, in their order', () => {
  const panels = forcePanels(Array.from({ length: 12 }, (_, k) => force(`lambda(c${k})`, k === 3 ? 100 : 1 + k)));
  assert.deepEqual(panels.filter((panel) => !panel.waits).map(({ owner }) => owner), ['c3', 'c5', 'c6', 'c7', 'c8', 'c9', 'c10', 'c11']);
});

test('below which coordinates and rates are rounding is told by others of their unit, of angles by 1 rad', () => {
  const column = (name, kind, its, high) => ({ name, kind, unit: its, low: 0, high });
  const columns = [column('x', 'coordinate', 'm', 3), column('phi', 'coordinate', 'rad', 1e-15), column("x'", 'rate', 'm/s', 1), column("phi'", 'rate', 'rad/s', 1e-15)];
  const panels = choosePanels({ columns, events: [], rates: [], span: 2, byKind: (kind) => columns.filter((one) => one.kind === kind) });
  assert.deepEqual(panels.map(({ rounding }) => rounding), [3e-12, 1e-12, 1.5e-12, 5e-13]);
});

test('torques are called so, and rows of different units share no panel', () => {
  const column = (name, its) => ({ ...force(name, 1), unit: its });
  const panels = forcePanels([column('lambda(load,1)', 'N'), column('lambda(load,2)', 'N'), column('lambda(load,3)', 'N m')]);
  assert.deepEqual(panels.map(({ title, unit: its, columns }) => [title, its, columns.length]), [['forces of load', 'N', 2], ['torques of load', 'N m', 1]]);
});

const switching = {
  columns: [{ name: 'lambda(load,1)', unit: 'N' }, { name: 'lambda(load,2)', unit: 'N m' }, { name: 'lambda(stop)', unit: 'N' }, { name: 'lambda(odd)', unit: '' }],
  rates: [{ name: "x'", unit: 'm/s' }, { name: "phi'", unit: 'rad/s' }],
  modes: { kind: new Map([['load', 'constraint'], ['stop', 'contact'], ['odd', 'constraint']]) },
  events: [
    { t: 1, constraint: 'load', impulse: [3, 4] }, { t: 2, constraint: 'stop', impulse: [5] }, { t: 3, constraint: 'odd', impulse: [6] },
    { t: 4, constraint: 'kick', impulse: [1, 0] }, { t: 5, constraint: 'stop', impulse: [1e-15] }, { t: 6, constraint: 'stop' },
  ],
};

test('impulses of one unit share a panel, of an unknown one have their own', () => {
  assert.deepEqual(impulseUnits(switching, switching.events[3]), ['N s', 'N m s']);
  const panels = impulsePanels(switching);
  assert.deepEqual(panels.map(({ title, unit: its, stems, owners }) => [title, its, stems.map(({ t, value, slot }) => [t, value, slot]), owners]), [
    ['impulses at events', 'N s', [[1, 3, 0], [2, 5, 1], [4, 1, 2]], ['load', 'stop', 'kick']],
    ['impulses at events', 'N m s', [[1, 4, 0]], ['load']],
    ['impulses of odd', '', [[3, 6, 0]], ['odd']],
  ]);
});

test('works go through the sides of jumps', () => {
  const times = [0, 1, 1, 2, 3];
  const jumps = { name: 'work.jumps', values: [0, NaN, NaN, -4, -4] };
  const forces = { name: 'work.forces', values: [0, NaN, NaN, 2, 3] };
  bridge(jumps, times);
  bridge(forces, times);
  assert.deepEqual(jumps.values, [0, 0, -4, -4, -4]);
  assert.deepEqual(forces.values, [0, 1, 1, 2, 3]);
  assert.equal(largestDrift({ columns: [{ name: 'energy.drift', low: -2, high: 1 }], summary: { energy: { max_drift: 2 } } }), -2);
});

test('a contact is open, hit and closed, and its opening is an event', () => {
  const column = (name, kind, low, high) => ({ name, kind, unit: '', low, high });
  const run = new Run(
    {
      rows: 2, frames: 2, columns: [column('t', 'time', 0, 10)], scene: { shapes: [], fixed: [], low: [0], high: [10] }, facts: [], event_count: 2,
      events: [{ t: 1, constraint: 'stop', from: 'open', to: 'hit' }, { t: 4, constraint: 'stop', from: 'open', to: 'hit' }],
      constraints: [{ name: 'stop', kind: 'contact', closed: [[4, 6], [8, 10]] }, { name: 'other', kind: 'contact', closed: [] }],
    },
    Buffer.from(new Float32Array([0, 1, 0, 1]).buffer).toString('base64'),
  );
  assert.deepEqual(run.events.map(({ t, to }) => [t, to]), [[1, 'hit'], [4, 'hit'], [6, 'open']]);
  assert.equal(run.event_count, 3);
  assert.deepEqual([0.5, 1.1, 3, 5, 7, 9, 10].map((t) => run.modes.at('stop', t)), ['open', 'hit', 'open', 'closed', 'open', 'closed', 'closed']);
  assert.deepEqual(run.modes.rows().map(([name, list]) => [name, list.length]), [['stop', 4]]);
});

test('instants of the log, where it has them, are those of the bands', () => {
  const column = (name, kind, low, high) => ({ name, kind, unit: '', low, high });
  const event = (t, from, to) => ({ t, constraint: 'stop', from, to });
  const run = new Run(
    {
      rows: 2, frames: 2, columns: [column('t', 'time', 0, 10)], scene: { shapes: [], fixed: [], low: [0], high: [10] }, facts: [], event_count: 3,
      events: [event(1, 'open', 'hit'), event(3.5, 'open', 'hit'), event(5.5, 'closed', 'open')],
      constraints: [{ name: 'stop', kind: 'contact', closed: [[4, 6]] }],
    },
    Buffer.from(new Float32Array([0, 1, 0, 1]).buffer).toString('base64'),
  );
  assert.equal(run.events.length, 3);
  assert.deepEqual(run.modes.rows()[0][1], [{ t: 0, mode: 'open' }, { t: 3.5, mode: 'closed' }, { t: 5.5, mode: 'open' }]);
});

test('where colours repeat, curves are dashed', () => {
  assert.deepEqual([0, 6, 7].map((index) => dash(index).length > 0), [false, false, true]);
});
