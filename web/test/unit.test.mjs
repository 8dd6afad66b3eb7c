// SPDX-License-Identifier: Apache-2.0
// Parts of the page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fittingSpeed } from '../src/clock.js';
import { documentOf, mathOf } from '../src/math.js';
import { forcePanels } from '../src/panels.js';
import { placeWords } from '../src/picture.js';
import { indexAt, nearestAt, Run } from '../src/run.js';
import { roundLength } from '../src/shapes.js';
import { number, unit } from '../src/words.js';

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
