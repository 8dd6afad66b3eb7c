// SPDX-License-Identifier: Apache-2.0
// The scene in the plane, on a canvas: to scale, fitted to the whole motion.
import { indexAt } from './run.js';
import { pinch } from './plots.js';
import { roundLength, Shapes } from './shapes.js';
import { element, modeColour, modeInk, number, style } from './words.js';

const ORDER = ['surface', 'trace', 'ground', 'polygon', 'disc', 'ball', 'cylinder', 'line', 'link', 'spring', 'joint', 'force', 'text'];
const LINK = 0.012; // half the width of a link without a radius, of the size of the scene
const COILS = 9;
const FAR = 5; // how often the mechanism fits into its way before a view that goes with it is offered

// An open contact has nothing to say.
const shown = (mode) => (mode === 'open' ? undefined : mode);

export class PlaneView {
  constructor(run, clock, host, buttons) {
    Object.assign(this, { run, clock, host });
    this.shapes = new Shapes(run);
    this.drawn = [...this.shapes.list].filter((s) => s.kind !== 'gravity').sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
    this.gravity = this.shapes.list.find((s) => s.kind === 'gravity');
    this.canvas = element('canvas', {});
    this.ctx = this.canvas.getContext('2d');
    host.append(this.canvas);
    buttons.append(
      element('button', { type: 'button', title: 'Zoom in', 'aria-label': 'Zoom in', onclick: () => this.zoom(1.25) }, '+'),
      element('button', { type: 'button', title: 'Zoom out', 'aria-label': 'Zoom out', onclick: () => this.zoom(0.8) }, '−'),
      element('button', { type: 'button', title: 'Fit the whole motion', onclick: () => this.fit() }, 'fit'));
    this.addFollow(buttons);
    this.wire();
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
    clock.listen(() => this.draw());
  }

  // ---- the view ---------------------------------------------------------------------------------
  resize() {
    const ratio = devicePixelRatio;
    this.width = Math.max(50, this.host.clientWidth);
    this.height = Math.max(50, this.host.clientHeight);
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    if (!this.moved) this.fit();
    else this.draw();
  }

  // Where the mechanism is small beside the way it goes, the view can go with it.
  addFollow(buttons) {
    this.shapes.move(this.run.begin);
    const [all, now] = [this.shapes.box(), this.shapes.boxNow()];
    const size = ({ low, high }) => Math.max(high[0] - low[0], high[1] - low[1]);
    if (!now || size(all) < FAR * size(now)) return;
    this.followButton = element('button', { type: 'button', title: 'Go with the mechanism', 'aria-pressed': 'false', onclick: () => this.follow(!this.following) }, 'follow');
    buttons.append(this.followButton);
  }

  follow(on) {
    if (!this.followButton) return;
    this.following = on;
    this.followButton.setAttribute('aria-pressed', String(on));
    if (!on) return;
    const { low, high } = this.shapes.boxNow();
    this.scale = Math.min(this.width / (high[0] - low[0]), this.height / (high[1] - low[1])) / 3.5;
    this.moved = true;
    this.draw();
  }

  goWith() {
    const { low, high } = this.shapes.boxNow() ?? this.shapes.box();
    this.middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
  }

  fit() {
    this.follow(false);
    const { low, high } = this.shapes.box();
    const room = this.shapes.forceScale > 0 ? 0.1 : 0.06;
    const wide = Math.max(high[0] - low[0], 1e-9);
    const tall = Math.max(high[1] - low[1], 1e-9);
    const margin = 26;
    this.scale = Math.min((this.width - 2 * margin) / wide, (this.height - 2 * margin - 16) / tall) * (1 - room);
    this.size = Math.max(wide, tall);
    this.middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    this.moved = false;
    this.draw();
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.back(x, y);
    this.scale *= factor;
    const after = this.back(x, y);
    this.middle = this.middle.map((m, k) => m + before[k] - after[k]);
    this.moved = true;
    this.draw();
  }

  to(point) {
    return [this.width / 2 + (point[0] - this.middle[0]) * this.scale, this.height / 2 - 8 - (point[1] - this.middle[1]) * this.scale];
  }

  back(x, y) {
    return [this.middle[0] + (x - this.width / 2) / this.scale, this.middle[1] - (y - this.height / 2 + 8) / this.scale];
  }

  wire() {
    const { canvas } = this;
    const place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 0.89 : 1.12, ...place(event));
    }, { passive: false });
    canvas.addEventListener('pointerdown', (event) => {
      if (event.pointerType === 'touch' && !event.isPrimary) return;
      let last = place(event);
      const move = (next) => {
        const now = place(next);
        this.middle = [this.middle[0] - (now[0] - last[0]) / this.scale, this.middle[1] + (now[1] - last[1]) / this.scale];
        last = now;
        this.moved = true;
        this.follow(false);
        this.draw();
      };
      const stop = () => (canvas.removeEventListener('pointermove', move), removeEventListener('pointerup', stop));
      canvas.addEventListener('pointermove', move);
      addEventListener('pointerup', stop);
    });
    canvas.addEventListener('dblclick', () => this.fit());
    pinch(canvas, (factor, event) => this.zoom(factor, ...place(event)));
  }

  // ---- drawing ----------------------------------------------------------------------------------
  draw() {
    if (this.scale === undefined) return;
    const { ctx } = this;
    this.shapes.move(this.clock.t);
    if (this.following) this.goWith();
    this.ink = { paper: style('scene'), body: style('body'), fill: style('fill'), line: style('ink'), ground: style('ground'), force: style('force'), trace: style('trace'), quiet: style('quiet') };
    ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    ctx.fillStyle = this.ink.paper;
    ctx.fillRect(0, 0, this.width, this.height);
    ctx.lineJoin = ctx.lineCap = 'round';
    ctx.font = '12px system-ui, sans-serif';
    this.labels = [];
    for (const shape of this.drawn) this[shape.kind](shape);
    this.written = [];
    for (const label of this.labels) this.write(...label);
    this.scaleBar();
    if (this.gravity) this.drawGravity();
  }

  colourOf(shape, plain) {
    const mode = this.shapes.mode(shape);
    if (mode === undefined || mode === 'free' || mode === 'released' || mode === 'open') return plain;
    return modeColour(this.run.modes, shape.of, mode);
  }

  trail(points, close) {
    const { ctx } = this;
    ctx.beginPath();
    points.forEach((point, k) => (k ? ctx.lineTo(...this.to(point)) : ctx.moveTo(...this.to(point))));
    if (close) ctx.closePath();
  }

  // What is written beside a shape: its text, and the mode where it is the first of its constraint.
  note(shape, point, away = 10) {
    const mode = shape.names ? shown(this.shapes.mode(shape)) : undefined;
    const words = [shape.kind === 'force' ? undefined : shape.text, mode].filter(Boolean).join(': ');
    if (words) this.labels.push([words, this.to(point), away, mode ? modeInk(this.run.modes, shape.of, mode) : this.ink.line]);
  }

  write(words, [x, y], away, ink) {
    const { ctx } = this;
    const width = ctx.measureText(words).width;
    const left = x + away + width + 4 > this.width ? x - away - width : x + away;
    const wanted = Math.max(14, y - away + 2);
    const top = this.freePlace(left, wanted, width);
    if (wanted - top > 13) this.leader([x, y], [left + (left > x ? -2 : width + 2), top - 4], ink);
    ctx.lineWidth = 3.5;
    ctx.strokeStyle = this.ink.paper;
    ctx.strokeText(words, left, top);
    ctx.fillStyle = ink;
    ctx.fillText(words, left, top);
  }

  // From a point to its label, which stands farther off since others are between.
  leader(from, to, ink) {
    const { ctx } = this;
    ctx.globalAlpha = 0.6;
    ctx.strokeStyle = ink;
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(...from);
    ctx.lineTo(...to);
    ctx.stroke();
    ctx.globalAlpha = 1;
  }

  // Up from where a label would stand to where no other does.
  freePlace(left, top, width) {
    const taken = (y) => this.written.some((box) => Math.abs(box.top - y) < 13 && left < box.right && box.left < left + width);
    let y = top;
    for (let k = 0; k < 6 && taken(y); k++) y -= 13;
    this.written.push({ left, right: left + width, top: y });
    return y;
  }

  line(shape) {
    const { ctx } = this;
    const points = this.shapes.points(shape);
    this.trail(points);
    ctx.strokeStyle = this.colourOf(shape, this.ink.line);
    ctx.lineWidth = 2.2;
    ctx.stroke();
    this.note(shape, points[Math.floor(points.length / 2)]);
  }

  polygon(shape) {
    const points = this.shapes.points(shape);
    this.trail(points, true);
    this.fillBody(shape);
    this.note(shape, points[0]);
  }

  fillBody(shape) {
    const { ctx } = this;
    const ink = this.colourOf(shape, this.ink.body);
    ctx.globalAlpha = 0.28;
    ctx.fillStyle = ink;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = ink;
    ctx.lineWidth = 2;
    ctx.stroke();
  }

  disc(shape) {
    const { ctx } = this;
    const centre = this.shapes.point(shape, 0);
    const radius = Math.max(1.5, this.shapes.radius(shape, 0) * this.scale);
    ctx.beginPath();
    ctx.arc(...this.to(centre), radius, 0, 2 * Math.PI);
    this.fillBody(shape);
    this.note(shape, centre, Math.min(radius, 60) * 0.72 + 6);
  }

  ball(shape) {
    this.disc(shape);
  }

  // Seen from the side.
  cylinder(shape) {
    const [a, b] = this.shapes.points(shape);
    const wide = this.shapes.radius(shape, 0) / (Math.hypot(b[0] - a[0], b[1] - a[1]) || 1);
    const [nx, ny] = [wide * (a[1] - b[1]), wide * (b[0] - a[0])];
    this.trail([[a[0] + nx, a[1] + ny], [b[0] + nx, b[1] + ny], [b[0] - nx, b[1] - ny], [a[0] - nx, a[1] - ny]], true);
    this.fillBody(shape);
    this.note(shape, b);
  }

  link(shape) {
    const { ctx } = this;
    const points = this.shapes.points(shape);
    const width = Math.max(3, 2 * this.shapes.radius(shape, LINK * this.size) * this.scale);
    const ink = this.colourOf(shape, this.ink.body);
    this.trail(points);
    ctx.lineWidth = width + 2.5;
    ctx.strokeStyle = ink;
    ctx.stroke();
    ctx.lineWidth = width;
    ctx.strokeStyle = this.ink.paper;
    ctx.stroke();
    ctx.globalAlpha = 0.38;
    ctx.strokeStyle = ink;
    ctx.stroke();
    ctx.globalAlpha = 1;
    this.note(shape, points[points.length - 1], width / 2 + 8);
  }

  // A line with the ground to the right of the way along it.
  ground(shape) {
    const { ctx } = this;
    const points = this.shapes.points(shape).map((p) => this.to(p));
    const depth = 7;
    ctx.strokeStyle = this.ink.ground;
    ctx.lineWidth = 1;
    ctx.globalAlpha = 0.75;
    ctx.beginPath();
    let rest = 0;
    for (let k = 1; k < points.length; k++) {
      const [a, b] = [points[k - 1], points[k]];
      const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
      const [dx, dy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
      for (let s = rest; s < length && length < 1e5; s += 8) {
        const [x, y] = [a[0] + s * dx, a[1] + s * dy];
        ctx.moveTo(x, y);
        ctx.lineTo(x - depth * (dy + dx), y + depth * (dx - dy));
      }
      rest = (8 - ((length - rest) % 8)) % 8;
    }
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.lineWidth = 2.4;
    this.trail(this.shapes.points(shape));
    ctx.stroke();
    this.note(shape, this.shapes.point(shape, 0));
  }

  spring(shape) {
    const { ctx } = this;
    const points = this.shapes.points(shape);
    const [a, b] = points.map((p) => this.to(p));
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const [dx, dy] = length > 0 ? [(b[0] - a[0]) / length, (b[1] - a[1]) / length] : [1, 0];
    const reach = Math.min(12, 0.02 * this.size * this.scale + 3);
    ctx.beginPath();
    ctx.moveTo(...a);
    for (let k = 0; k <= 2 * COILS; k++) {
      const s = length * (0.12 + (0.76 * k) / (2 * COILS));
      const side = k === 0 || k === 2 * COILS ? 0 : k % 2 ? reach : -reach;
      ctx.lineTo(a[0] + s * dx - side * dy, a[1] + s * dy + side * dx);
    }
    ctx.lineTo(...b);
    ctx.strokeStyle = this.colourOf(shape, this.ink.line);
    ctx.lineWidth = 1.6;
    ctx.stroke();
    this.note(shape, points[0]);
  }

  joint(shape) {
    const { ctx } = this;
    const point = this.shapes.point(shape, 0);
    const ink = this.colourOf(shape, this.ink.line);
    const held = ink !== this.ink.line;
    ctx.beginPath();
    ctx.arc(...this.to(point), held ? 7 : 5.5, 0, 2 * Math.PI);
    ctx.fillStyle = held ? ink : this.ink.paper;
    ctx.fill();
    ctx.strokeStyle = ink;
    ctx.lineWidth = 2;
    ctx.stroke();
    this.note(shape, point);
  }

  trace(shape) {
    const { ctx } = this;
    const path = this.shapes.path(shape);
    const now = indexAt(this.run.frameTimes, this.clock.t);
    ctx.strokeStyle = this.ink.trace;
    ctx.lineWidth = 1.2;
    ctx.globalAlpha = 0.3;
    this.trail(path);
    ctx.stroke();
    ctx.globalAlpha = 0.95;
    this.trail([...path.slice(0, now + 1), this.shapes.point(shape, 0)]);
    ctx.stroke();
    ctx.globalAlpha = 1;
    this.note(shape, this.shapes.point(shape, 0));
  }

  force(shape) {
    const at = this.to(this.shapes.point(shape, 0));
    const vector = this.shapes.point(shape, 1);
    const size = Math.hypot(vector[0], vector[1]);
    if (!(size > 1e-6 * this.shapes.forceScale)) return;
    const longest = 0.2 * Math.min(this.width, this.height);
    const length = longest * Math.min(1.4, size / this.shapes.forceScale);
    const end = [at[0] + (vector[0] / size) * length, at[1] - (vector[1] / size) * length];
    this.arrow(at, end, this.ink.force);
    if (length > 14) this.labels.push([`${shape.text ? `${shape.text} ` : ''}${number(size, 3)} N`, end, 6, this.ink.force]);
  }

  arrow(from, to, ink) {
    const { ctx } = this;
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    const head = Math.min(10, Math.hypot(to[0] - from[0], to[1] - from[1]));
    const neck = [to[0] - 0.8 * head * Math.cos(angle), to[1] - 0.8 * head * Math.sin(angle)];
    ctx.strokeStyle = ctx.fillStyle = ink;
    ctx.lineWidth = 2.6;
    ctx.beginPath();
    ctx.moveTo(...from);
    ctx.lineTo(...neck);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(...to);
    for (const turn of [0.42, -0.42]) ctx.lineTo(to[0] - head * Math.cos(angle + turn), to[1] - head * Math.sin(angle + turn));
    ctx.fill();
  }

  text(shape) {
    const words = [shape.text, shape.of && this.shapes.mode(shape)].filter(Boolean).join(': ');
    this.labels.push([words, this.to(this.shapes.point(shape, 0)), 0, this.ink.line]);
  }

  surface(shape) {
    const { ctx } = this;
    const points = this.shapes.points(shape);
    ctx.strokeStyle = this.ink.ground;
    ctx.lineWidth = 0.8;
    for (let k = 0; k < points.length; k += shape.row) {
      this.trail(points.slice(k, k + shape.row));
      ctx.stroke();
    }
  }

  scaleBar() {
    const { ctx } = this;
    const length = roundLength((0.25 * this.width) / this.scale);
    const pixels = length * this.scale;
    const [x, y] = [12, this.height - 12];
    ctx.strokeStyle = ctx.fillStyle = this.ink.quiet;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x, y - 4);
    ctx.lineTo(x, y);
    ctx.lineTo(x + pixels, y);
    ctx.lineTo(x + pixels, y - 4);
    ctx.stroke();
    ctx.fillText(`${number(length, 3)} m`, x + 4, y - 5);
  }

  drawGravity() {
    const [gx, gy] = this.shapes.point(this.gravity, 0);
    const size = Math.hypot(gx, gy);
    if (!(size > 0)) return;
    const middle = [this.width - 24, this.height - 34];
    const [dx, dy] = [(11 * gx) / size, (-11 * gy) / size];
    this.arrow([middle[0] - dx, middle[1] - dy], [middle[0] + dx, middle[1] + dy], this.ink.quiet);
    this.ctx.fillText('g', middle[0] + 8, middle[1] + 4);
  }

  picture(done) {
    this.draw();
    this.canvas.toBlob(done, 'image/png');
  }

  repaint() {
    this.draw();
  }
}
