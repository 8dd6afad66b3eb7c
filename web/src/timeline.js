// SPDX-License-Identifier: Apache-2.0
// Below the scene: buttons, the line of time, the strip of events, the bands of modes.
import { fittingSpeed } from './clock.js';
import { element, eventName, modeColour, number } from './words.js';

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50];
const LETTER = 6; // width of a letter, about [px]
const MOST_MARKS = 120; // events with a button of their own
const MOST_ROWS = 12; // constraints with a band
const MOST_PIECES = 300; // of a band

export class Timeline {
  constructor(run, clock) {
    Object.assign(this, { run, clock });
    this.scrub = document.getElementById('scrub');
    this.now = document.getElementById('now');
    this.playButton = document.getElementById('play');
    this.factor = document.getElementById('factor');
    this.addSpeeds();
    this.addMarks();
    this.addBands();
    this.wire();
    clock.listen(() => this.show());
  }

  part(t) {
    return (t - this.run.begin) / this.run.span;
  }

  addSpeeds() {
    const select = document.getElementById('speed');
    const fitting = fittingSpeed(this.run.span);
    const list = [...new Set([...SPEEDS, fitting])].sort((a, b) => a - b);
    for (const speed of list) select.append(element('option', { value: speed, selected: speed === fitting }, `${number(speed, 3)}×`));
    this.clock.speed = fitting;
    select.addEventListener('change', () => (this.clock.speed = Number(select.value)));
    this.select = select;
  }

  changeSpeed(by) {
    const index = this.select.selectedIndex + by;
    if (index < 0 || index >= this.select.options.length) return;
    this.select.selectedIndex = index;
    this.clock.speed = Number(this.select.value);
  }

  addMarks() {
    const strip = document.getElementById('strip');
    const { events } = this.run;
    for (const id of ['previous', 'next', 'slow-label']) document.getElementById(id).hidden = events.length === 0;
    strip.hidden = events.length === 0;
    const step = Math.ceil(events.length / MOST_MARKS);
    events.forEach((event, k) => {
      if (k % step !== 0) return;
      const at = this.part(event.t);
      const plain = this.run.modes.kind.get(event.constraint) === 'constraint';
      const word = event.to === 'open' && event.from === 'closed' ? 'opens' : event.to;
      const name = plain ? word : word === 'event' ? event.constraint : `${event.constraint} ${word}`;
      const mark = element('button', { type: 'button', class: 'mark', style: `left:${100 * at}%`, title: `${eventName(event)} at ${number(event.t)} s`, 'aria-label': `Event ${event.constraint} ${event.to} at ${number(event.t)} seconds` });
      mark.append(element('span', {}, name));
      mark.part = at;
      mark.addEventListener('click', () => (this.clock.play(false), this.clock.set(event.t)));
      strip.append(mark);
    });
    new ResizeObserver(() => this.placeNames(strip)).observe(strip);
  }

  // Names where they do not cover each other; near the right end they stand on the left.
  placeNames(strip) {
    const width = strip.clientWidth;
    let free = 0;
    for (const mark of strip.children) {
      const name = mark.firstChild;
      const room = LETTER * name.textContent.length + 8;
      const at = mark.part * width;
      const left = at + room > width;
      const begin = left ? at - room : at;
      name.hidden = begin < free;
      name.classList.toggle('left', left);
      if (!name.hidden) free = begin + room;
    }
  }

  addBands() {
    const bands = document.getElementById('bands');
    const rows = this.run.modes.rows();
    bands.classList.toggle('dense', rows.length > 6);
    for (const [name, list] of rows.slice(0, MOST_ROWS)) {
      const band = element('div', { class: 'band', title: name });
      for (let k = 0; k < list.length && k < MOST_PIECES; k++) {
        const to = list[k + 1]?.t ?? this.run.end;
        const width = this.part(to) - this.part(list[k].t);
        if (width <= 0) continue;
        const piece = element('span', { style: `left:${100 * this.part(list[k].t)}%;width:${100 * width}%`, title: `${name}: ${list[k].mode}` });
        if (width > 0.05) piece.append(list[k].mode);
        piece.mode = list[k].mode;
        band.append(piece);
      }
      bands.append(element('div', { class: 'row' }, element('span', { class: 'name' }, name), band));
      band.constraint = name;
    }
    if (rows.length > MOST_ROWS) bands.append(element('p', { class: 'quiet' }, `${rows.length - MOST_ROWS} more constraints switch; the table of events has them.`));
    this.bands = bands;
    this.repaint();
  }

  repaint() {
    for (const band of this.bands.querySelectorAll('.band'))
      for (const piece of band.children) piece.style.setProperty('--its', modeColour(this.run.modes, band.constraint, piece.mode));
  }

  wire() {
    const { clock, scrub } = this;
    scrub.min = this.run.begin;
    scrub.max = this.run.end;
    scrub.addEventListener('input', () => (clock.play(false), clock.set(Number(scrub.value))));
    this.playButton.addEventListener('click', () => clock.play());
    document.getElementById('next').addEventListener('click', () => clock.jump(1));
    document.getElementById('previous').addEventListener('click', () => clock.jump(-1));
    const slow = document.getElementById('slow');
    slow.addEventListener('change', () => (clock.slow = slow.checked));
  }

  show() {
    const { clock } = this;
    const digits = Math.max(0, Math.min(8, 4 - Math.floor(Math.log10(this.run.span))));
    const time = `t = ${clock.t.toFixed(digits)} s`;
    if (this.now.textContent !== time) this.now.textContent = time;
    this.scrub.value = clock.t;
    this.scrub.setAttribute('aria-valuetext', time);
    this.scrub.style.setProperty('--part', `${100 * this.part(clock.t)}%`);
    this.playButton.classList.toggle('on', clock.playing);
    this.playButton.setAttribute('aria-label', clock.playing ? 'Pause' : 'Play');
    const slowed = clock.playing && clock.factor < 0.95;
    this.factor.textContent = slowed ? `slow motion ${number(clock.speed * clock.factor, 2)}×` : '';
  }
}
