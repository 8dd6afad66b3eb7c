// SPDX-License-Identifier: Apache-2.0
// The panels of curves over time, one unit each, with one time axis and one cursor.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { jumpText } from './jumps.js';
import { choosePanels } from './panels.js';
import { plotsAsSvg } from './picture.js';
import { nearestAt } from './run.js';
import { colour, COLOURS, dash, element, eventName, largest, number, style, unit, valueOf } from './words.js';

const MOST_SHOWN = 8; // curves of a panel that are drawn before others are asked for
const HEIGHT = 138; // of a panel [px]
const PAPER = 680; // width of a printed panel [px], within the margins of A4 and of letter
const NEAR = 4; // how near to an event the pointer is at it [px]
const MOST_DECADES = 6; // that are named on a logarithmic axis
const TURN = 0.1; // how far the time is into a page that was turned, of its width
const TINY = 1e-18; // what is smaller has no place on a logarithmic axis

// ---- which curves -------------------------------------------------------------------------------
const OWN = { kinetic: 4, potential: 5, energy: 6, 'change of energy': 6, 'work.forces': 0, 'work.dissipation': 1, 'work.friction': 2, 'work.jumps': 3, 'work.drives': 4, 'work.time': 5, 'energy.drift': COLOURS };

// The place of a coordinate among all; where there are more than colours, among those of its unit,
// the ones that are drawn first.
function placeOfCoordinate(run, name) {
  const all = run.byKind('coordinate');
  const index = all.findIndex((c) => c.name === name);
  if (index < 0 || all.length <= COLOURS) return index;
  const group = all.filter(({ unit }) => unit === all[index].unit);
  const shown = shownAtFirst(group.length);
  const order = [...group.filter((_, k) => shown(k)), ...group.filter((_, k) => !shown(k))];
  return order.findIndex((c) => c.name === name);
}

// Which colour and dashes a column has. A coordinate keeps its own as a rate and as a path.
export function slotOf(run, column, place) {
  if (column.name in OWN) return OWN[column.name];
  run.slots ??= new Map();
  const name = column.name.replace(/'+$/, '').replace(/^z\((.*)\)$/, '$1');
  if (!run.slots.has(name)) run.slots.set(name, placeOfCoordinate(run, name));
  return run.slots.get(name) >= 0 ? run.slots.get(name) : place;
}

export function colourOf(run, column, place) {
  return colour(slotOf(run, column, place));
}

// Many are shown as a few of them, from the first to the last.
function shownAtFirst(count) {
  if (count <= MOST_SHOWN) return () => true;
  const chosen = new Set(Array.from({ length: MOST_SHOWN }, (_, k) => Math.round((k * (count - 1)) / (MOST_SHOWN - 1))));
  return (k) => chosen.has(k);
}

// ---- numbers for uPlot --------------------------------------------------------------------------
// Between the two sides of a jump stands a row without values, so that they are not joined.
function spread(run) {
  if (run.spread) return run.spread;
  const { times } = run;
  const rows = [];
  const jumps = [];
  for (let k = 0; k < times.length; k++) {
    if (k > 0 && times[k] === times[k - 1]) {
      jumps.push(rows.length - 1);
      rows.push(-1);
    }
    rows.push(k);
  }
  const x = rows.map((row, k) => times[row < 0 ? rows[k - 1] : row]);
  run.spread = { rows, jumps, x };
  return run.spread;
}

function seriesValues(run, panel, column) {
  return spread(run).rows.map((row) => {
    const value = row < 0 ? NaN : column.values[row];
    if (Number.isNaN(value)) return null;
    if (panel.logarithmic) return Math.abs(value) > TINY ? Math.abs(value) : null;
    return value;
  });
}

// ---- what is drawn over the curves --------------------------------------------------------------
// A line for each event; where they are dense, a shade.
function drawEvents(plot, run) {
  const { ctx, bbox } = plot;
  const inside = (x) => x >= bbox.left && x <= bbox.left + bbox.width;
  const places = [...new Set(run.events.map(({ t }) => Math.round(plot.valToPos(t, 'x', true))))].filter(inside);
  const dense = places.length > bbox.width / (4 * devicePixelRatio);
  ctx.save();
  ctx.beginPath();
  ctx.strokeStyle = style('event');
  ctx.lineWidth = devicePixelRatio;
  ctx.globalAlpha = dense ? 0.15 : places.length > 20 ? 0.4 : 1;
  if (!dense) ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const x of places) {
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}

// A jump is a thin vertical line between its two values.
function drawJumps(plot, run) {
  const { ctx } = plot;
  const { jumps, x } = spread(run);
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  ctx.clip();
  ctx.lineWidth = devicePixelRatio * 0.75;
  plot.series.forEach((series, s) => {
    if (s === 0 || !series.show) return;
    ctx.beginPath();
    ctx.strokeStyle = series.stroke(plot, s);
    for (const k of jumps) {
      const before = plot.data[s][k];
      const after = plot.data[s][k + 2];
      if (before === null || after === null || before === undefined || after === undefined) continue;
      const at = plot.valToPos(x[k], 'x', true);
      ctx.moveTo(at, plot.valToPos(before, 'y', true));
      ctx.lineTo(at, plot.valToPos(after, 'y', true));
    }
    ctx.stroke();
  });
  ctx.restore();
}

function drawStems(plot, stems) {
  const { ctx } = plot;
  const zero = plot.valToPos(0, 'y', true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left, plot.bbox.top - 6, plot.bbox.width, plot.bbox.height + 6);
  ctx.clip();
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const { t, value, slot } of stems) {
    ctx.strokeStyle = ctx.fillStyle = colour(slot + 1);
    const x = plot.valToPos(t, 'x', true);
    const y = plot.valToPos(value, 'y', true);
    ctx.beginPath();
    ctx.moveTo(x, zero);
    ctx.lineTo(x, y);
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x, y, 3 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
}

// What the axis of times is, in the free corner left of it.
function drawTimeUnit(plot) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.fillStyle = style('quiet');
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'top';
  ctx.fillText('t [s]', bbox.left - 10 * devicePixelRatio, bbox.top + bbox.height + 8 * devicePixelRatio);
  ctx.restore();
}

// ---- a panel ------------------------------------------------------------------------------------
function axisLabels(plot, values) {
  return values.map((value) => (value === null ? '' : number(value, 4)));
}

// Of a logarithmic axis the powers of ten, few enough to be read.
function decades(plot, values) {
  const { min, max } = plot.scales.y;
  const step = Math.max(1, Math.ceil(Math.log10(max / min) / MOST_DECADES));
  return values.map((value) => {
    const power = value ? Math.log10(value) : NaN;
    return Math.abs(power - Math.round(power)) < 1e-6 && Math.round(power) % step === 0 ? value : null;
  });
}

function powers(plot, values) {
  return values.map((value) => (value ? `1e${Math.round(Math.log10(value))}`.replace('-', '−') : null));
}

function logarithmic(axis) {
  return { ...axis, filter: decades, values: powers, grid: { ...axis.grid, filter: decades }, ticks: { ...axis.ticks, filter: decades } };
}

class Panel {
  constructor(plots, panel, before = null) {
    this.plots = plots;
    this.panel = panel;
    const shown = shownAtFirst(panel.columns.length);
    this.values = [];
    this.box = element('figure', { class: 'panel' });
    this.legend = element('div', { class: 'legend', role: 'group', 'aria-label': `Curves of ${panel.title}` });
    this.room = element('div', { class: 'room' });
    this.title = `${panel.title}${panel.unit ? ` [${unit(panel.unit)}]` : ''}`;
    this.box.append(element('figcaption', {}, element('span', { class: 'name' }, this.title), this.legend), this.room);
    plots.host.insertBefore(this.box, before);
    panel.columns.forEach((column, k) => this.addEntry(column, k, shown(k)));
    this.foldLegend(shown);
    this.plot = new uPlot(this.options(shown), this.data(), this.room);
    this.line = element('div', { class: 'cursor-line' });
    this.tip = element('div', { class: 'tip', hidden: true });
    this.plot.over.append(this.line, this.tip);
    this.follow();
    if (panel.stems) this.nameStems();
    const names = panel.columns.map((c) => c.name).slice(0, 12).join(', ');
    this.plot.root.setAttribute('role', 'img');
    this.plot.root.setAttribute('aria-label', `${this.title} over time: ${names || 'stems'}. The table "numbers" has the values at the cursor.`);
  }

  data() {
    const { run } = this.plots;
    if (this.panel.stems) {
      const all = this.panel.stems;
      return [[run.begin, ...all.map((s) => s.t), run.end], [0, ...all.map((s) => s.value), 0]];
    }
    return [spread(run).x, ...this.panel.columns.map((column) => seriesValues(run, this.panel, column))];
  }

  addEntry(column, k, shown) {
    const value = element('output', {});
    const entry = element('button', { type: 'button', class: 'entry', 'aria-pressed': String(shown), title: `${column.name}: show or hide` },
      element('span', { class: 'swatch' }), element('span', {}, column.name), value);
    entry.addEventListener('click', () => {
      const on = entry.getAttribute('aria-pressed') !== 'true';
      entry.setAttribute('aria-pressed', String(on));
      this.plot.setSeries(k + 1, { show: on });
    });
    this.values.push({ column, value, entry });
    this.legend.append(entry);
  }

  // Stems tell by their colour what was pushed.
  nameStems() {
    const { owners } = this.panel;
    this.stemEntries = owners.slice(0, COLOURS).map((name) => element('span', { class: 'entry' }, element('span', { class: 'swatch' }), name));
    this.legend.append(...this.stemEntries, ...(owners.length > COLOURS ? [element('span', { class: 'entry' }, `${owners.length - COLOURS} more`)] : []));
  }

  // Of many curves those that are not drawn wait behind one word.
  foldLegend(shown) {
    const hidden = this.values.filter((_, k) => !shown(k));
    if (hidden.length === 0) return;
    const more = element('details', {}, element('summary', {}, `${hidden.length} more`));
    more.append(...hidden.map(({ entry }) => entry));
    this.legend.append(more);
  }

  options(shown) {
    const { plots, panel } = this;
    const axis = { stroke: () => style('quiet'), grid: { stroke: () => style('grid'), width: 1 }, ticks: { stroke: () => style('grid'), width: 1, size: 4 }, font: '11px system-ui, sans-serif', size: 58 };
    const curves = panel.stems
      ? [{ label: 'impulse', stroke: () => 'transparent', points: { show: false } }]
      : panel.columns.map((column, k) => ({ label: column.name, show: shown(k), width: 1.6, stroke: () => colourOf(plots.run, column, k), dash: dash(slotOf(plots.run, column, k)), points: { show: false }, spanGaps: Boolean(panel.logarithmic), pxAlign: 0 }));
    return {
      width: Math.max(200, plots.host.clientWidth - 8),
      height: HEIGHT,
      legend: { show: false },
      padding: [6, 16, 0, 0],
      cursor: { sync: { key: 'pawl', setSeries: false }, x: false, y: false, points: { show: !panel.stems, size: 6 }, drag: { x: true, y: false, dist: 6 } },
      scales: { x: { time: false }, y: { distr: panel.logarithmic ? 3 : 1, range: panel.logarithmic ? undefined : (u, low, high) => rangeOf(panel, low, high) } },
      series: [{ label: 't' }, ...curves],
      axes: [
        { ...axis, size: 20, values: axisLabels, space: 70 },
        panel.logarithmic ? logarithmic(axis) : { ...axis, values: axisLabels, space: 28 },
      ],
      hooks: {
        drawClear: [(u) => drawEvents(u, plots.run)],
        drawAxes: [drawTimeUnit],
        draw: [(u) => (panel.stems ? drawStems(u, panel.stems) : drawJumps(u, plots.run))],
        setCursor: [(u) => plots.hover(u)],
        setScale: [(u, key) => key === 'x' && plots.zoomed(u)],
      },
    };
  }

  // Shift-drag moves along the time; ctrl and the wheel zoom about the pointer; two fingers zoom.
  follow() {
    const { over } = this.plot;
    const { plots } = this;
    const timeOf = (event) => this.plot.posToVal(event.clientX - over.getBoundingClientRect().left, 'x');
    over.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      plots.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeOf(event));
    }, { passive: false });
    over.addEventListener('mousedown', (event) => {
      if (!event.shiftKey) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      const from = timeOf(event);
      const move = (next) => plots.shift(from - timeOf(next));
      const stop = () => (removeEventListener('mousemove', move), removeEventListener('mouseup', stop));
      addEventListener('mousemove', move);
      addEventListener('mouseup', stop);
    }, { capture: true });
    over.addEventListener('mouseleave', () => (this.tip.hidden = true));
    over.addEventListener('dblclick', () => plots.fit());
    pinch(over, (factor, event) => plots.zoom(1 / factor, timeOf(event)));
    over.addEventListener('touchmove', (event) => {
      if (event.touches.length === 1) plots.clock.set(timeOf(event.touches[0]));
    }, { passive: true });
    over.addEventListener('click', (event) => plots.pick(timeOf(event), this.plot));
  }

  show(t, row) {
    const x = this.plot.valToPos(t, 'x');
    this.line.style.transform = `translateX(${x}px)`;
    this.line.hidden = x < 0 || x > this.plot.over.clientWidth;
    for (const { column, value } of this.values) value.textContent = valueOf(column, row, 5);
  }

  repaint() {
    this.values.forEach(({ column, entry }, k) => {
      const slot = slotOf(this.plots.run, column, k);
      entry.style.setProperty('--its', colour(slot));
      entry.classList.toggle('dashed', dash(slot).length > 0);
    });
    this.stemEntries?.forEach((entry, k) => entry.style.setProperty('--its', colour(k + 1)));
    this.plot.redraw(false, true);
  }
}

// Stems stand on 0, also where the time is zoomed.
function rangeOf(panel, low, high) {
  if (Math.max(Math.abs(low), Math.abs(high)) <= panel.rounding) return padded(0, 0);
  if (!panel.stems) return padded(low, high);
  return [0, 1.06 * (high > 0 ? high : largest(panel.stems.map(({ value }) => value)))];
}

function padded(low, high) {
  if (low === null || high === null) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const room = high - low > 1e-9 * size ? 0.06 * (high - low) : size > 0 ? 0.05 * size : 1;
  return [low - room, high + room];
}

// Calls zoom(factor, where) while two fingers move on an element.
export function pinch(target, zoom) {
  let before;
  const apart = (touches) => Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
  target.addEventListener('touchstart', (event) => (before = event.touches.length === 2 ? apart(event.touches) : undefined), { passive: true });
  target.addEventListener('touchmove', (event) => {
    if (event.touches.length !== 2 || before === undefined) return;
    event.preventDefault();
    const [a, b] = event.touches;
    const now = apart(event.touches);
    zoom(now / before, { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });
    before = now;
  }, { passive: false });
}

// ---- all panels ---------------------------------------------------------------------------------
export class Plots {
  constructor(run, clock, host) {
    Object.assign(this, { run, clock, host });
    this.zooming = false;
    this.hovering = false;
    const panels = choosePanels(run);
    this.panels = panels.filter((panel) => !panel.waits);
    this.all = [];
    for (const panel of this.panels) {
      if (!panel.owner) this.addMenu(panels);
      this.all.push(new Panel(this, panel));
    }
    this.repaint();
    new ResizeObserver(() => this.resize()).observe(host);
    addEventListener('beforeprint', () => this.setWidth(PAPER));
    addEventListener('afterprint', () => this.resize());
    clock.listen(() => (this.follow(), this.show()));
  }

  // Behind the forces that are shown, a menu of the others.
  addMenu(panels) {
    if (this.menu || this.all.length === 0 || !this.all[this.all.length - 1].panel.owner) return;
    const others = panels.filter((panel) => panel.waits);
    if (others.length === 0) return;
    const count = element('option', { value: '' }, `forces of ${others.length} more`);
    this.menu = element('select', { class: 'more', 'aria-label': 'Forces of another constraint' }, count, ...others.map((panel, k) => element('option', { value: k }, panel.title)));
    this.menu.addEventListener('change', () => {
      const option = this.menu.selectedOptions[0];
      if (option === count) return;
      this.add(others[Number(option.value)]);
      option.remove();
      count.textContent = `forces of ${this.menu.options.length - 1} more`;
      this.menu.value = '';
      this.menu.hidden = this.menu.options.length < 2;
      this.menu.blur();
    });
    this.host.append(this.menu);
  }

  // One more panel before the menu, over the same time as the others.
  add(panel) {
    const [min, max] = this.range;
    this.zooming = true;
    const made = new Panel(this, panel, this.menu);
    const place = this.all.reduce((last, { panel: other }, k) => (other.owner ? k : last), 0);
    this.all.splice(place + 1, 0, made);
    made.repaint();
    this.setRange(min, max);
  }

  // The panel under the pointer moves the time, while nothing plays, and holds it at events.
  hover(plot) {
    if (!plot.over.matches(':hover') || plot.cursor.left < 0) return;
    const t = plot.posToVal(plot.cursor.left, 'x');
    const event = this.eventNear(t, plot);
    this.tell(plot, event);
    if (this.clock.playing) return;
    const now = event ? event.t : this.run.times[nearestAt(this.run.times, t)];
    if (now !== this.clock.t) this.clock.set(now);
  }

  eventNear(t, plot) {
    const near = NEAR * (plot.posToVal(1, 'x') - plot.posToVal(0, 'x'));
    const off = (event) => Math.abs(event.t - t);
    const best = this.run.events.reduce((a, b) => (a && off(a) <= off(b) ? a : b), undefined);
    return best && off(best) < near ? best : undefined;
  }

  // A line that tells its jump, beside the pointer.
  tell(plot, event) {
    for (const panel of this.all) panel.tip.hidden = panel.plot !== plot || !event;
    if (!event) return;
    const { tip } = this.all.find((panel) => panel.plot === plot);
    const parts = [`${eventName(event)} at ${number(event.t, 7)} s`, jumpText(this.run, event), Math.abs(event.lost) > 1e-9 ? `${number(event.lost, 4)} J lost` : ''];
    tip.textContent = parts.filter(Boolean).join('; ');
    const x = plot.valToPos(event.t, 'x');
    tip.classList.toggle('left', x > plot.over.clientWidth / 2);
    tip.style.left = `${x}px`;
  }

  // A click near an event selects it.
  pick(t, plot) {
    const event = this.eventNear(t, plot);
    if (event) this.clock.set(event.t);
  }

  show() {
    const row = nearestAt(this.run.times, this.clock.t);
    for (const panel of this.all) panel.show(this.clock.t, row);
  }

  // Where the time leaves what is zoomed to, the plots turn the page.
  follow() {
    const { t } = this.clock;
    if (t === this.followed) return;
    this.followed = t;
    const [min, max] = this.range;
    if (t >= min && t <= max) return;
    this.shift(t - (max - min) * (t > max ? TURN : 1 - TURN) - min);
  }

  zoomed(plot) {
    const { min, max } = plot.scales.x;
    if (this.zooming || this.all.length < this.panels.length) return;
    this.setRange(min, max);
  }

  get range() {
    const { min, max } = this.all[0].plot.scales.x;
    return [min ?? this.run.begin, max ?? this.run.end];
  }

  setRange(min, max) {
    this.zooming = true;
    const least = Math.max(this.run.span * 1e-9, 1e-12);
    const low = Math.max(this.run.begin, min);
    const high = Math.min(this.run.end, Math.max(max, low + least));
    for (const { plot } of this.all) plot.setScale('x', { min: low, max: high });
    queueMicrotask(() => ((this.zooming = false), this.show()));
  }

  zoom(factor, about = this.clock.t) {
    const [min, max] = this.range;
    this.setRange(about - (about - min) * factor, about + (max - about) * factor);
  }

  shift(by) {
    const [min, max] = this.range;
    const move = Math.min(this.run.end - max, Math.max(this.run.begin - min, by));
    this.setRange(min + move, max + move);
  }

  fit() {
    this.setRange(this.run.begin, this.run.end);
  }

  resize() {
    if (matchMedia('print').matches) return;
    this.setWidth(Math.max(200, this.host.clientWidth - 8));
  }

  setWidth(width) {
    for (const { plot } of this.all) if (plot.width !== width) plot.setSize({ width, height: plot.height });
    this.show();
  }

  repaint() {
    for (const panel of this.all) panel.repaint();
  }

  // All panels as one SVG, curves as paths of what is on the screen.
  svg() {
    return plotsAsSvg(this.all, this.run, spread(this.run).jumps);
  }
}
