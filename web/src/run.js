// SPDX-License-Identifier: Apache-2.0
// The run that stands in the page: names and texts as JSON, numbers as float32 between 0 and 1 with
// their ranges, column behind column, in base64.

function decode(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return new Float32Array(bytes.buffer, 0, bytes.length >> 2);
}

function scaled(from, low, high) {
  const out = new Float64Array(from.length);
  for (let k = 0; k < from.length; k++) out[k] = low + (high - low) * from[k];
  return out;
}

// Index of the last number that is not greater than t; 0 before all.
export function indexAt(times, t) {
  let low = 0;
  let high = times.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  return low;
}

// Index of the number nearest to t; of equal ones the last.
export function nearestAt(times, t) {
  const k = indexAt(times, t);
  return k + 1 < times.length && times[k + 1] - t < t - times[k] ? k + 1 : k;
}

const ROUNDING = 2e-7; // of times kept as float32, of the whole run

// Rows at events have exactly their times, so that what is shown at an event is what follows it.
function settle(times, events, near) {
  for (const { t } of events) {
    for (let k = indexAt(times, t + near); k >= 0 && times[k] > t - near; k--) times[k] = t;
  }
}

// What computing in double precision leaves, by the largest of the columns of a kind and unit.
function noteRounding(columns) {
  const largest = new Map();
  const group = (column) => `${column.kind} ${column.unit}`;
  for (const column of columns) {
    if (column.kind === 'residual' || column.kind === 'work') continue;
    largest.set(group(column), Math.max(largest.get(group(column)) ?? 0, Math.abs(column.low), Math.abs(column.high)));
  }
  for (const column of columns) column.rounding = 1e-13 * (largest.get(group(column)) ?? 0);
}

export class Run {
  constructor(about, numbers) {
    Object.assign(this, about);
    const all = decode(numbers);
    let at = 0;
    const take = (count) => all.subarray(at, (at += count));
    for (const column of this.columns) column.values = scaled(take(this.rows), column.low, column.high);
    noteRounding(this.columns);
    const { low, high } = this.scene;
    const rows = low.map((least, k) => scaled(take(this.frames), least, high[k]));
    this.times = this.columns[0].values;
    this.frameTimes = rows[0];
    this.channels = rows.slice(1);
    this.begin = this.times[0] ?? 0;
    this.end = this.times[this.times.length - 1] ?? 0;
    this.span = Math.max(this.end - this.begin, 1e-300);
    for (const times of [this.times, this.frameTimes]) settle(times, this.events, ROUNDING * this.span);
    this.modes = new Modes(this);
  }

  static ofPage() {
    const text = (id) => document.getElementById(id).textContent;
    return new Run(JSON.parse(text('run')), text('numbers'));
  }

  byKind(kind) {
    return this.columns.filter((column) => column.kind === kind);
  }

  fact(name) {
    return this.facts.find(([key]) => key === name)?.[1];
  }

  // The channels of the scene at a time, between frames on straight lines.
  look(t, out) {
    const k = indexAt(this.frameTimes, t);
    const next = Math.min(k + 1, this.frameTimes.length - 1);
    const length = this.frameTimes[next] - this.frameTimes[k];
    const part = length > 0 ? Math.min(1, Math.max(0, (t - this.frameTimes[k]) / length)) : 0;
    for (let c = 0; c < this.channels.length; c++) {
      const a = this.channels[c][k];
      const b = this.channels[c][next];
      out[c] = part === 0 ? a : part === 1 ? b : Number.isNaN(a) ? b : Number.isNaN(b) ? a : a + part * (b - a);
    }
    return out;
  }
}

// Which mode of each constraint is in force when, from the events.
class Modes {
  constructor(run) {
    this.of = new Map();
    this.flash = 0.015 * run.span; // how long a hit is seen
    this.run = run;
    for (const event of run.events) {
      if (event.from === event.to && event.to === '') continue;
      const list = this.of.get(event.constraint) ?? [{ t: run.begin, mode: event.from }];
      list.push({ t: event.t, mode: event.to });
      this.of.set(event.constraint, list);
    }
    for (const { name, end } of run.constraints) {
      if (end && !this.of.has(name)) this.of.set(name, [{ t: run.begin, mode: end }]);
    }
    this.kind = new Map(run.constraints.map((c) => [c.name, c.kind]));
    this.names = new Map();
    for (const [name, list] of this.of) this.names.set(name, [...new Set(list.map((s) => s.mode))]);
  }

  // A contact is closed while it pushes, and was hit a moment ago.
  contactAt(name, t) {
    const hit = this.of.get(name)?.some((step) => step.t <= t && t < step.t + this.flash && step.mode === 'hit');
    if (hit) return 'hit';
    const column = this.run.columns.find((c) => c.name === `lambda(${name})`);
    return column && column.values[indexAt(this.run.times, t)] > 1e-9 * column.high ? 'closed' : 'open';
  }

  at(name, t) {
    if (this.kind.get(name) === 'contact') return this.contactAt(name, t);
    const list = this.of.get(name);
    if (!list) return undefined;
    let mode = list[0].mode;
    for (const step of list) if (step.t <= t) mode = step.mode;
    return mode;
  }

  // Those that switch: a lock that only slides or a stop that is hit has no bands worth a row.
  rows() {
    return [...this.of].filter(([name, list]) => list.length > 1 && this.kind.get(name) !== 'contact' && this.kind.has(name));
  }
}
