// SPDX-License-Identifier: Apache-2.0
// Numbers and units as text, colours, and elements of the page.

export function number(value, digits = 6) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-4 ? value.toExponential(Math.max(0, digits - 2)) : value.toPrecision(digits);
  return text.replace(/(\.\d*?)0+(e|$)/, '$1$2').replace(/\.(e|$)/, '$1').replaceAll('-', '−');
}

// The largest size in a list of any length.
export function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
}

// The drift of the energy where it is largest, with its sign.
export function largestDrift(run) {
  const drift = run.columns.find(({ name }) => name === 'energy.drift');
  const size = run.summary.energy.max_drift;
  return drift && -drift.low > drift.high ? -size : size;
}

const RAISED = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' };

export function unit(text) {
  return text.replace(/\^(-?\d+)/g, (_, power) => [...power].map((c) => RAISED[c]).join('')).replaceAll('*', ' ').replaceAll(' ', ' ');
}

// A value of a column. What is smaller than the steps in which it is kept, or than the rounding of
// others of its kind, is nothing.
export function valueOf(column, row, digits) {
  const value = column.values[row];
  return number(Math.abs(value) < Math.max(1e-7 * (column.high - column.low), column.rounding ?? 0) ? 0 : value, digits);
}

// "pin: free → locked"; an event of the model has no modes, and its name says all.
export function eventName({ constraint, from, to }) {
  return from || to !== 'event' ? `${constraint}: ${from} → ${to}` : constraint;
}

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'class') made.className = value;
    else if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

// Okabe and Ito's colours, which the colour-blind can tell apart, as in pawl's own drawings.
const LIGHT = ['#0072b2', '#d55e00', '#009e73', '#b4508c', '#b87c00', '#2d8cc4', '#555555'];
const DARK = ['#4ba6e8', '#ff8a3d', '#2cc79a', '#e08fc0', '#f0b429', '#7fd0ff', '#b8b8b8'];

export const COLOURS = LIGHT.length;

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

export function colour(index) {
  const palette = isDark() ? DARK : LIGHT;
  return palette[index % palette.length];
}

// Where there are more curves than colours, they are dashed.
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
export function dash(index) {
  return DASHES[Math.floor(index / LIGHT.length) % DASHES.length];
}

export function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const LOCKS = { free: 'idle', released: 'idle', open: 'idle', hit: 'held', closed: 'held', waiting: 'wait', locked: 'held', engaged: 'held', held: 'held', sliding: 'slip' };

// The colour of a mode: locks by what they do, other constraints by the order of their modes.
export function modeColour(modes, name, mode) {
  if (mode === undefined) return style('body');
  const word = LOCKS[mode] ?? (/^sliding/.test(mode) ? 'slip' : undefined);
  if (word) return style(word);
  return colour((modes.names.get(name) ?? []).indexOf(mode));
}

// The same for words, which must be read.
export function modeInk(modes, name, mode) {
  return LOCKS[mode] === 'idle' ? style('quiet') : modeColour(modes, name, mode);
}

export function save(name, blob) {
  const link = element('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
