// SPDX-License-Identifier: Apache-2.0
// The page: one run, one time, and the parts that show both.
import './style.css';
import { Clock } from './clock.js';
import { EventLine, Tabs } from './details.js';
import { Plots } from './plots.js';
import { Run } from './run.js';
import { Timeline } from './timeline.js';
import { element, isDark, largestDrift, number, save } from './words.js';

const byId = (id) => document.getElementById(id);

// ---- the head -----------------------------------------------------------------------------------
function methodText(run) {
  const method = run.fact('method') ?? '';
  const smooth = run.fact('options/smooth');
  return method === 'event-driven' && smooth ? `${method} over ${smooth}` : method;
}

function endedEarly(run) {
  const status = run.summary?.status;
  return status && status !== 'ok' ? status : undefined;
}

function fillHead(run) {
  const early = endedEarly(run);
  const title = early ? `${run.name} (${early} at ${number(run.end)} s)` : run.name;
  document.title = `${title} – pawl`;
  byId('title').textContent = title;
  const count = run.event_count;
  const told = count > run.events.length ? ` (the first ${run.events.length} are told here)` : '';
  const parts = [methodText(run), `${number(run.end)} s`, count === 0 ? '' : `${count} event${count === 1 ? '' : 's'}${told}`];
  byId('subtitle').textContent = parts.filter(Boolean).join(', ');
  byId('subtitle').title = run.about;
  const energy = run.summary?.energy;
  if (energy) {
    const works = Object.entries(energy.work ?? {}).filter(([, value]) => Math.abs(value) > 1e-9 * Math.max(energy.size ?? 0, 1e-12));
    const terms = works.map(([name, value]) => `${name} ${number(value, 4)} J`);
    byId('balance').textContent = `energy ${number(energy.start, 5)} → ${number(energy.end, 5)} J${terms.length ? `: ${terms.join(', ')}` : ''}; drift ${number(largestDrift(run), 2)} J`;
  }
  byId('made').textContent = [run.about, `pawl ${run.fact('pawl') ?? ''}`].filter(Boolean).join(' — ');
}

function fillWarnings(run) {
  const words = [...(run.summary?.warnings ?? [])];
  const early = endedEarly(run);
  if (early) words.unshift(`The run was ${early === 'failed' ? 'not completed' : early}: it ends at ${number(run.end)} s. ${run.summary.reason ?? ''}`);
  for (const text of words) byId('warnings').append(element('p', { class: 'warning' }, element('strong', {}, 'Warning: '), text));
}

// ---- keys ---------------------------------------------------------------------------------------
function wireKeys(run, clock, plots, timeline) {
  const frame = () => run.span / 500;
  const actions = {
    ' ': () => clock.play(),
    ArrowRight: (event) => (clock.play(false), clock.set(clock.t + frame() * (event.shiftKey ? 10 : 1))),
    ArrowLeft: (event) => (clock.play(false), clock.set(clock.t - frame() * (event.shiftKey ? 10 : 1))),
    n: () => clock.jump(1),
    p: () => clock.jump(-1),
    '+': () => plots.zoom(0.7),
    '=': () => plots.zoom(0.7),
    '-': () => plots.zoom(1 / 0.7),
    0: () => plots.fit(),
    '[': () => timeline.changeSpeed(-1),
    ']': () => timeline.changeSpeed(1),
    Home: () => clock.set(run.begin),
    End: () => (clock.play(false), clock.set(run.end)),
    '?': () => byId('help').click(),
  };
  addEventListener('keydown', (event) => {
    const { target } = event;
    const typing = target.matches?.('select, textarea, input:not([type=range]):not([type=checkbox])');
    const pressing = event.key === ' ' && target.matches?.('button, summary, input[type=checkbox]');
    const action = actions[event.key];
    if (!action || typing || pressing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action(event);
  });
}

// What was pressed with the pointer does not keep the keys: space plays, and saves nothing again.
// Whoever came to a button by tab presses it with space.
function wireFocus() {
  let pointed = false;
  addEventListener('pointerdown', () => (pointed = true), { capture: true });
  addEventListener('keydown', () => (pointed = false), { capture: true });
  const release = (target, which) => pointed && target.closest?.(which)?.blur();
  addEventListener('click', ({ target }) => release(target, 'button, summary, input[type=checkbox]'));
  addEventListener('change', ({ target }) => release(target, 'select, input[type=checkbox]'));
}

// Paper is light, whatever the screen is.
function wirePrint(repaint) {
  const { dataset } = document.documentElement;
  let before;
  addEventListener('beforeprint', () => {
    before = dataset.theme;
    dataset.theme = 'light';
    repaint();
  });
  addEventListener('afterprint', () => {
    if (before) dataset.theme = before;
    else delete dataset.theme;
    repaint();
  });
}

function wireTools(run, parts) {
  byId('save-plots').addEventListener('click', () => save(`${run.name}.svg`, new Blob([parts.plots.svg()], { type: 'image/svg+xml' })));
  byId('save-scene').addEventListener('click', () => parts.view?.picture((blob) => save(`${run.name}.png`, blob)));
  byId('save-scene').hidden = !parts.view;
  const repaint = () => [parts.plots, parts.view, parts.timeline].forEach((part) => part?.repaint());
  wirePrint(repaint);
  byId('theme').addEventListener('click', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    repaint();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
  byId('help').addEventListener('click', () => {
    byId('keys').hidden = !byId('keys').hidden;
    byId('help').setAttribute('aria-expanded', String(!byId('keys').hidden));
  });
}

// ---- all of it ----------------------------------------------------------------------------------
function makeView(View, run, clock) {
  const host = byId('view');
  if (run.scene.shapes.length === 0) {
    byId('stage').classList.add('no-scene');
    const words = run.scene.left_out
      ? `The scene has ${run.scene.left_out} shapes, too many to be shown.`
      : 'No scene: a list of shapes under `scene:` in the model draws it here, for example `- disc: {at: [x, y], radius: 0.1}`.';
    byId('scene').replaceChildren(element('p', { class: 'quiet' }, words));
    return undefined;
  }
  host.setAttribute('aria-label', `The mechanism ${run.name}, drawn to scale, at the time of the cursor`);
  try {
    return new View(run, clock, host, byId('views'));
  } catch (error) {
    host.replaceChildren(element('p', { class: 'quiet' }, `The scene cannot be drawn here: ${error.message}`));
    return undefined;
  }
}

export function start(View) {
  const run = Run.ofPage();
  const clock = new Clock(run);
  fillHead(run);
  fillWarnings(run);
  const view = makeView(View, run, clock);
  const plots = new Plots(run, clock, byId('plots'));
  const timeline = new Timeline(run, clock);
  new EventLine(run, clock, byId('event'));
  const tabs = new Tabs(run, clock);
  tabs.onchoose = () => clock.tell();
  wireKeys(run, clock, plots, timeline);
  wireFocus();
  wireTools(run, { plots, view, timeline });
  document.documentElement.dataset.ready = 'true';
  window.pawl = { run, clock, plots, view }; // for the console, and for tests
}
