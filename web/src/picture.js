// SPDX-License-Identifier: Apache-2.0
// The plots that are on the screen as one SVG: curves, jumps, stems, events, ticks and grid, with
// the names of the curves above each panel.
import { colour, style } from './words.js';

const LETTER = 6.3; // width of a letter, about [px]
const LINE = 15; // height of a line of text [px]
const GAP = 14; // between names, and between panels [px]
const SWATCH = 18; // room of the piece of line before a name [px]

export function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

// Places for words of given widths, side by side from `left`, on a new line where one ends beyond `right`.
export function placeWords(widths, first, left, right) {
  let x = first;
  let line = 0;
  return widths.map((width) => {
    if (x + width > right && x > left) {
      x = left;
      line++;
    }
    const place = { x, line };
    x += width + GAP;
    return place;
  });
}

// ---- within a panel, in the coordinates of its plot ---------------------------------------------
class Frame {
  constructor(plot) {
    this.plot = plot;
    const { left, top, width, height } = plot.bbox;
    const ratio = devicePixelRatio;
    Object.assign(this, { left: left / ratio, top: top / ratio, right: (left + width) / ratio, bottom: (top + height) / ratio });
  }

  x(value) {
    return (this.plot.valToPos(value, 'x', true) / devicePixelRatio).toFixed(1);
  }

  y(value) {
    return (this.plot.valToPos(value, 'y', true) / devicePixelRatio).toFixed(1);
  }

  holds(t) {
    const { min, max } = this.plot.scales.x;
    return t >= min && t <= max;
  }

  get rectangle() {
    return `x="${this.left}" y="${this.top}" width="${this.right - this.left}" height="${this.bottom - this.top}"`;
  }
}

const given = (value) => value !== null && value !== undefined;

function curvePath(frame, s) {
  const { data } = frame.plot;
  let path = '';
  let pen = false;
  for (let k = 0; k < data[0].length; k++) {
    const value = data[s][k];
    if (given(value)) path += `${pen ? 'L' : 'M'}${frame.x(data[0][k])} ${frame.y(value)}`;
    // A row without values between the sides of a jump ends the curve; on a logarithmic axis it does not.
    pen = given(value) || (pen && Boolean(frame.plot.series[s].spanGaps));
  }
  return path;
}

function jumpPath(frame, s, jumps) {
  const { data } = frame.plot;
  return jumps
    .filter((k) => given(data[s][k]) && given(data[s][k + 2]) && frame.holds(data[0][k]))
    .map((k) => `M${frame.x(data[0][k])} ${frame.y(data[s][k])}V${frame.y(data[s][k + 2])}`)
    .join('');
}

function stemsOf(frame, stems) {
  return stems
    .filter(({ t }) => frame.holds(t))
    .map(({ t, value, slot }) => ({ x: frame.x(t), y: frame.y(value), ink: colour(slot + 1) }))
    .map(({ x, y, ink }) => `<path d="M${x} ${frame.y(0)}V${y}" stroke="${ink}" stroke-width="1.5"/><circle cx="${x}" cy="${y}" r="3" fill="${ink}"/>`)
    .join('');
}

function ticksOf(frame) {
  const [across, up] = frame.plot.axes;
  const pairs = (axis) => (axis._splits ?? []).map((at, k) => [at, axis._values?.[k]]).filter(([, text]) => text !== null && text !== undefined && text !== '');
  const { min, max } = frame.plot.scales.y;
  const columns = pairs(across).filter(([at]) => frame.holds(at));
  const rows = pairs(up).filter(([at]) => at >= min && at <= max);
  const lines = [...columns.map(([at]) => `M${frame.x(at)} ${frame.top}V${frame.bottom + 4}`), ...rows.map(([at]) => `M${frame.left - 4} ${frame.y(at)}H${frame.right}`)];
  const words = [
    ...columns.map(([at, text]) => `<text x="${frame.x(at)}" y="${frame.bottom + 15}" text-anchor="middle">${escape(text)}</text>`),
    `<text x="${frame.left - 10}" y="${frame.bottom + 15}" text-anchor="end">t [s]</text>`,
    ...rows.map(([at, text]) => `<text x="${frame.left - 7}" y="${Number(frame.y(at)) + 4}" text-anchor="end">${escape(text)}</text>`),
  ];
  return `<path d="${lines.join('')}" stroke="${style('grid')}"/><g fill="${style('quiet')}">${words.join('')}</g>`;
}

function eventLines(frame, events) {
  const places = [...new Set(events.filter(({ t }) => frame.holds(t)).map(({ t }) => frame.x(t)))];
  const faint = events.length > 20 ? ' opacity="0.4"' : '';
  return places.length ? `<path d="${places.map((x) => `M${x} ${frame.top}V${frame.bottom}`).join('')}" stroke="${style('event')}" stroke-dasharray="3 3"${faint}/>` : '';
}

function curvesOf(frame, shown, jumps) {
  return shown
    .map(({ s, ink, dashes }) => `<path d="${curvePath(frame, s)}" stroke="${ink}" stroke-width="1.4" stroke-linejoin="round"${dashes}/><path d="${jumpPath(frame, s, jumps)}" stroke="${ink}" stroke-width="0.75"/>`)
    .join('');
}

// ---- a panel with its title and names -----------------------------------------------------------
function shownSeries(plot, panel) {
  if (panel.stems) return panel.owners.map((name, k) => ({ name, ink: colour(k + 1), dashes: '' }));
  return plot.series.map((series, s) => ({ s, series })).filter(({ s, series }) => s > 0 && series.show)
    .map(({ s, series }) => ({ s, name: series.label, ink: series.stroke(plot, s), dashes: series.dash?.length ? ` stroke-dasharray="${series.dash.map((d) => d / devicePixelRatio).join(' ')}"` : '' }));
}

function caption(frame, title, shown) {
  const first = frame.left + LETTER * 1.1 * title.length + GAP;
  const places = placeWords(shown.map(({ name }) => SWATCH + LETTER * name.length), first, frame.left, frame.right);
  const names = shown.map(({ name, ink, dashes }, k) => {
    const { x, line } = places[k];
    const y = LINE * (line + 1) - 4;
    return `<path d="M${x} ${y - 4}h12" stroke="${ink}" stroke-width="3"${dashes ? ' stroke-dasharray="3 2"' : ''}/><text x="${x + SWATCH}" y="${y}">${escape(name)}</text>`;
  });
  const text = `<text x="${frame.left}" y="${LINE - 4}" font-weight="600">${escape(title)}</text>${names.join('')}`;
  return { text, height: LINE * (1 + (places[places.length - 1]?.line ?? 0)) };
}

function panelAsSvg({ plot, panel, title }, place, { run, jumps }) {
  const frame = new Frame(plot);
  const shown = shownSeries(plot, panel);
  const above = caption(frame, title, shown);
  const inside = panel.stems ? stemsOf(frame, panel.stems) : curvesOf(frame, shown, jumps);
  const clip = `<clipPath id="c${place}"><rect ${frame.rectangle}/></clipPath>`;
  const body = `${above.text}<g transform="translate(0 ${above.height})">${clip}${ticksOf(frame)}${eventLines(frame, run.events)}` +
    `<rect ${frame.rectangle} fill="none" stroke="${style('grid')}"/><g fill="none" clip-path="url(#c${place})">${inside}</g></g>`;
  return { body, height: above.height + frame.bottom + 18 };
}

export function plotsAsSvg(all, run, jumps) {
  const { width } = all[0].plot;
  let y = 4;
  let body = '';
  all.forEach((each, place) => {
    const made = panelAsSvg(each, place, { run, jumps });
    body += `<g transform="translate(0 ${y})">${made.body}</g>`;
    y += made.height + GAP / 2;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${Math.ceil(y)}" font-family="system-ui, sans-serif" font-size="11" fill="${style('ink')}"><title>${escape(run.name)}</title><rect width="100%" height="100%" fill="${style('paper')}"/>${body}</svg>`;
}
