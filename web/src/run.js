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

// Works are known at the ends of steps, not on the sides of a jump between them: that of jumps keeps
// its value up to the jump, the others go on along a straight line.
export function bridge(column, times) {
  const { values } = column;
  for (let k = 0, last = -1; k < values.length; k++) {
    if (Number.isNaN(values[k])) continue;
    let jumped = false;
    for (let i = last + 1; last >= 0 && i < k; i++) {
      jumped ||= times[i] === times[i - 1];
      const part = times[k] > times[last] ? (times[i] - times[last]) / (times[k] - times[last]) : 1;
      values[i] = column.name === 'work.jumps' ? values[jumped ? k : last] : values[last] + part * (values[k] - values[last]);
    }
    last = k;
  }
}

// Contacts of which the log has when they close and open; of others, by time stepping, the samples
// have it.
function logsOpenings(run, name) {
  return run.events.some(({ constraint, to }) => constraint === name && to === 'open');
}

function openings(run) {
  return run.constraints
    .filter(({ name, closed }) => closed && !logsOpenings(run, name))
    .flatMap(({ name, closed }) => closed.filter(([, to]) => to < run.end).map(([, t]) => ({ t, constraint: name, from: 'closed', to: 'open', lost: 0 })));
}

// The samples have a contact closed from the first behind its closing to the first behind its
// opening; where the log has both instants, from the one to the other.
function placeSpans(run, name, closed) {
  if (!logsOpenings(run, name)) return closed;
  const own = run.events.filter(({ constraint }) => constraint === name);
  const before = (t, opens) => own.filter((event) => event.t <= t && (event.to === 'open') === opens).pop()?.t;
  return closed.map(([from, to]) => [before(from, false) ?? from, Math.max(before(to, true) ?? to, from)]);
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
    for (const contact of this.constraints.filter(({ closed }) => closed)) contact.closed = placeSpans(this, contact.name, contact.closed);
    const more = openings(this);
    this.events = [...this.events, ...more].sort((a, b) => a.t - b.t);
    this.event_count += more.length;
    for (const times of [this.times, this.frameTimes]) settle(times, this.events, ROUNDING * this.span);
    for (const column of this.byKind('work')) bridge(column, this.times);
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

function listOf(map, key) {
  if (!map.has(key)) map.set(key, []);
  return map.get(key);
}

// The last of a list in the order of times that is not after t.
function lastBefore(list, t) {
  let found;
  for (const entry of list ?? []) {
    if (entry.t > t) break;
    found = entry;
  }
  return found;
}

// A contact over time: open and closed by turns.
function bandsOf(run, closed) {
  const list = closed.flatMap(([from, to]) => [{ t: from, mode: 'closed' }, { t: to, mode: 'open' }]).filter(({ t }) => t < run.end);
  return list[0]?.t <= run.begin ? list : [{ t: run.begin, mode: 'open' }, ...list];
}

// Which mode of each constraint is in force when: of contacts as the samples have it, of others from
// the events.
class Modes {
  constructor(run) {
    this.of = new Map();
    this.flash = 0.015 * run.span; // how long a hit is seen
    this.hits = new Map();
    const contacts = new Set(run.constraints.filter(({ kind }) => kind === 'contact').map(({ name }) => name));
    for (const event of run.events) {
      if (event.from === event.to && event.to === '') continue;
      if (contacts.has(event.constraint)) {
        if (event.to === 'hit') listOf(this.hits, event.constraint).push(event);
        continue;
      }
      const list = this.of.get(event.constraint) ?? [{ t: run.begin, mode: event.from }];
      list.push({ t: event.t, mode: event.to });
      this.of.set(event.constraint, list);
    }
    for (const { name, closed } of run.constraints) {
      if (closed?.length) this.of.set(name, bandsOf(run, closed));
    }
    for (const { name, end } of run.constraints) {
      if (end && !this.of.has(name)) this.of.set(name, [{ t: run.begin, mode: end }]);
    }
    this.kind = new Map(run.constraints.map((c) => [c.name, c.kind]));
    this.names = new Map();
    for (const [name, list] of this.of) this.names.set(name, [...new Set(list.map((s) => s.mode))]);
  }

  // A contact that was hit a moment ago and did not stay closed is seen, too.
  contactAt(name, t) {
    const mode = lastBefore(this.of.get(name), t)?.mode;
    if (mode === 'closed') return mode;
    const hit = lastBefore(this.hits.get(name), t);
    return hit && t < hit.t + this.flash ? 'hit' : 'open';
  }

  at(name, t) {
    if (this.kind.get(name) === 'contact') return this.contactAt(name, t);
    const list = this.of.get(name);
    return list && (lastBefore(list, t) ?? list[0]).mode;
  }

  // Those that switch: a lock that only slides or a stop that is only hit has no bands worth a row.
  rows() {
    return [...this.of].filter(([name, list]) => list.length > 1 && this.kind.has(name));
  }
}
