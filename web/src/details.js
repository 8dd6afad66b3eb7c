// SPDX-License-Identifier: Apache-2.0
// Below the line of time: the event at the cursor, and the tabs with tables and texts.
import { documentOf } from './math.js';
import { impulsesOf, jumpsOf, jumpText } from './jumps.js';
import { impulseUnits } from './panels.js';
import { nearestAt } from './run.js';
import { colourOf } from './plots.js';
import { element, eventName, largestDrift, number, unit, valueOf } from './words.js';

const MOST_TABLE_ROWS = 2000;
const MOST_JUMPS_DRAWN = 12;
const MOST_JUMPS_NAMED = 6;
const MOST_NAMES = 6; // of events at one instant

// ---- the event at the cursor --------------------------------------------------------------------
// "impulse −1.226, 5.418 N s": values of one unit share it.
function impulseWords(run, event) {
  const units = impulseUnits(run, event);
  const parts = impulsesOf(run, event).map((value, k) => ({ value, unit: units[k] })).filter(({ value }) => value !== 0).slice(0, 4);
  return parts.map(({ value, unit: its }, k) => `${number(value, 4)}${its && its !== parts[k + 1]?.unit ? ` ${unit(its)}` : ''}`).join(', ');
}

function impulseText(run, event) {
  const words = impulseWords(run, event);
  return words && `impulse ${words}`;
}

function energyText(lost) {
  return Math.abs(lost) > 1e-9 ? `${number(Math.abs(lost), 4)} J ${lost > 0 ? 'lost' : 'gained'}` : 'no energy lost';
}

// Two posts, before and after, and a line for each rate that jumps.
function jumpPicture(jumps, run) {
  const values = jumps.flatMap((jump) => [jump.before, jump.after, 0]);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const y = (value) => 8 + (44 * (high - value)) / (high - low || 1);
  const lines = jumps.map((jump, k) => {
    const ink = colourOf(run, { name: jump.rate.name }, k);
    return `<path d="M30 ${y(jump.before)}H58" stroke="${ink}" stroke-width="2.4"/><path d="M58 ${y(jump.before)}V${y(jump.after)}" stroke="${ink}" stroke-width=".9"/><path d="M58 ${y(jump.after)}H86" stroke="${ink}" stroke-width="2.4"/>`;
  });
  const picture = element('div', { class: 'jump', 'aria-hidden': 'true' });
  picture.innerHTML = `<svg viewBox="0 0 116 60" width="116" height="60"><path d="M26 ${y(0)}H90" class="zero"/>${lines.join('')}<text x="28" y="58" text-anchor="end">before</text><text x="88" y="58">after</text></svg>`;
  return picture;
}

export class EventLine {
  constructor(run, clock, host) {
    Object.assign(this, { run, clock, host });
    host.hidden = run.events.length === 0;
    clock.listen(() => this.show());
  }

  // The event at the cursor, or the last one before it.
  show() {
    const { events } = this.run;
    let k = -1;
    while (k + 1 < events.length && events[k + 1].t <= this.clock.t + 1e-9 * this.run.span) k++;
    if (k === this.shown) return;
    this.shown = k;
    this.host.replaceChildren(...(k < 0 ? [element('p', { class: 'quiet' }, `The first event comes at ${number(events[0]?.t)} s.`)] : this.parts(k)));
  }

  // Of several events at one instant all are named; rates jump from before the first to behind the last.
  parts(k) {
    const { events, event_count: count } = this.run;
    let first = k;
    while (first > 0 && events[first - 1].t === events[k].t) first--;
    const group = events.slice(first, k + 1);
    const whole = { before: group[0].before, after: events[k].after };
    const all = jumpsOf(this.run, whole);
    const jumps = all.slice(0, MOST_JUMPS_DRAWN);
    const names = group.slice(0, MOST_NAMES).map(eventName);
    const place = first === k ? `event ${k + 1}` : `events ${first + 1} to ${k + 1}`;
    const facts = element('p', {},
      element('strong', {}, names.join('; ')), ` at ${number(events[k].t, 8)} s`,
      element('span', { class: 'quiet' }, ` (${place} of ${count})`));
    const lost = group.reduce((sum, event) => sum + event.lost, 0);
    const rates = all.slice(0, MOST_JUMPS_NAMED).map((j) => `${j.rate.name} ${number(j.before, 4)} → ${number(j.after, 4)} ${unit(j.rate.unit)}`);
    const more = all.length > rates.length ? `and ${all.length - rates.length} more rates` : '';
    const line = [...group.slice(0, MOST_NAMES).map((event) => impulseText(this.run, event)), energyText(lost), ...rates, more].filter(Boolean);
    const list = element('ul', {}, ...line.map((words) => element('li', {}, words)));
    return [element('div', {}, facts, list), ...(jumps.length ? [jumpPicture(jumps, this.run)] : [])];
  }
}

// ---- tables -------------------------------------------------------------------------------------
function table(heads, rows, name) {
  return element('table', { 'aria-label': name },
    element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
    element('tbody', {}, ...rows));
}

function eventsTable(run, clock) {
  const rows = run.events.slice(0, MOST_TABLE_ROWS).map((event) => {
    const go = element('button', { type: 'button', class: 'link', onclick: () => (clock.play(false), clock.set(event.t)) }, number(event.t, 8));
    return element('tr', {}, element('td', {}, go), ...[event.constraint, event.from, event.to, jumpText(run, event), impulseWords(run, event), number(event.lost, 4)].map((words) => element('td', {}, words)));
  });
  const copy = element('button', { type: 'button', onclick: () => copyTable(made, copy) }, 'Copy for a spreadsheet');
  const made = table(['t [s]', 'constraint', 'from', 'to', 'rates', 'impulse', 'energy lost [J]'], rows, 'Events');
  const rest = run.event_count - rows.length;
  return [copy, made, ...(rest > 0 ? [element('p', { class: 'quiet' }, `${rest} more; pawl run --json lists all.`)] : [])];
}

function copyTable(made, button) {
  const text = [...made.rows].map((row) => [...row.cells].map((cell) => cell.textContent.replaceAll('−', '-')).join('\t')).join('\n');
  const done = () => (button.textContent = 'Copied');
  if (navigator.clipboard?.writeText) navigator.clipboard.writeText(text).then(done, () => selectNode(made));
  else selectNode(made);
}

function selectNode(node) {
  getSelection().selectAllChildren(node);
}

// The values of all columns at the cursor; a click copies one.
function numbersTable(run, clock) {
  const cells = run.columns.map(() => element('td', { class: 'value', tabindex: '0', role: 'button', title: 'Click to copy' }));
  cells.forEach((cell) => cell.addEventListener('click', () => navigator.clipboard?.writeText(cell.textContent.replaceAll('−', '-')).catch(() => selectNode(cell))));
  const rows = run.columns.map((column, k) => element('tr', {}, element('td', {}, column.name), cells[k], element('td', {}, unit(column.unit))));
  const made = table(['name', 'value at the cursor', 'unit'], rows, 'Numbers at the cursor');
  clock.listen(() => {
    if (made.closest('[hidden]')) return;
    const row = nearestAt(run.times, clock.t);
    cells.forEach((cell, k) => (cell.textContent = valueOf(run.columns[k], row, 7)));
  });
  return [made];
}

function pairs(entries) {
  return table(['', ''], entries.map(([name, value]) => element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, typeof value === 'number' ? number(value, 8) : String(value)))), 'Facts');
}

function workTables(run) {
  const s = run.summary;
  if (!s) return [pairs(run.facts)];
  const energy = [['at the start [J]', s.energy.start], ['at the end [J]', s.energy.end], ...Object.entries(s.energy.work ?? {}).map(([name, value]) => [`work of ${name} [J]`, value]), ['largest drift that no work explains [J]', largestDrift(run)]];
  const work = [['steps', s.steps], ['steps in smaller pieces', s.smaller_steps], ['Newton iterations', s.newton_iterations], ['factorisations', s.factorizations], ['kinks', s.kinks], ['seconds of computing', s.wall_seconds], ['samples', run.samples], ['samples kept here', run.rows]];
  const block = (title, entries) => element('div', {}, element('h3', {}, title), pairs(entries));
  return [element('div', { class: 'blocks' },
    block('Energy balance', energy),
    block('Largest residuals', Object.entries(s.residual)),
    block('Work done', work),
    block('Parameters', Object.entries(s.parameters)),
    block('Options', Object.entries(s.options)))];
}

// Comments quiet, keys strong: enough to read a model by.
function modelText(text) {
  if (!text) return [element('p', { class: 'quiet' }, 'The model was read from standard input; its text is not kept.')];
  const pre = element('pre', { class: 'model', tabindex: '0' });
  for (const line of text.split('\n')) {
    const [, key, rest, comment] = /^(\s*(?:- )?[\w[\]=.,' ]+:(?=\s|$))?(.*?)(\s#.*|^#.*)?$/.exec(line) ?? [];
    if (key) pre.append(element('b', {}, key));
    pre.append(rest ?? '');
    if (comment) pre.append(element('i', {}, comment));
    pre.append('\n');
  }
  return [pre];
}

function equations(run) {
  if (!run.latex) return [element('p', { class: 'quiet' }, run.no_latex ?? '')];
  const box = element('div', { class: 'equations', tabindex: '0' });
  box.innerHTML = documentOf(run.latex);
  return [box];
}

// ---- tabs ---------------------------------------------------------------------------------------
export class Tabs {
  constructor(run, clock) {
    this.bar = document.getElementById('tabs');
    this.panels = document.getElementById('panels');
    this.all = [];
    if (run.events.length) this.add('events', () => eventsTable(run, clock));
    this.add('numbers', () => numbersTable(run, clock));
    this.add('model', () => modelText(run.text));
    this.add('equations', () => equations(run));
    this.add('residuals and work', () => workTables(run));
    this.choose(0);
    this.bar.addEventListener('keydown', (event) => this.key(event));
    addEventListener('beforeprint', () => this.all.forEach((_, k) => this.fill(k)));
  }

  add(name, make) {
    const k = this.all.length;
    const panel = element('div', { role: 'tabpanel', id: `panel-${k}`, 'aria-labelledby': `tab-${k}`, hidden: true });
    const tab = element('button', { type: 'button', role: 'tab', id: `tab-${k}`, 'aria-controls': `panel-${k}`, onclick: () => this.choose(k) }, name);
    this.bar.append(tab);
    this.panels.append(panel);
    this.all.push({ name, tab, panel, make });
  }

  fill(k) {
    const entry = this.all[k];
    if (entry.made) return;
    entry.made = true;
    const shown = !entry.panel.hidden;
    entry.panel.hidden = false;
    entry.panel.append(element('h2', {}, entry.name), ...entry.make());
    entry.panel.hidden = !shown;
  }

  choose(k) {
    this.all.forEach(({ tab, panel }, i) => {
      tab.setAttribute('aria-selected', String(i === k));
      tab.tabIndex = i === k ? 0 : -1;
      panel.hidden = i !== k;
    });
    this.fill(k);
    this.onchoose?.();
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.stopPropagation();
    const now = this.all.findIndex(({ tab }) => tab.tabIndex === 0);
    const next = (now + step + this.all.length) % this.all.length;
    this.choose(next);
    this.all[next].tab.focus();
  }
}
