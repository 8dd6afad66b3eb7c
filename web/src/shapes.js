// SPDX-License-Identifier: Apache-2.0
// The numbers of shapes at an instant, and over the whole run.

export class Shapes {
  constructor(run) {
    this.run = run;
    this.now = new Float64Array(run.channels.length);
    this.list = run.scene.shapes;
    this.named = new Set();
    // The first shape of each constraint that switches carries the name of its mode.
    for (const shape of this.list) {
      const plain = shape.kind !== 'force' && shape.kind !== 'text' && shape.kind !== 'ground';
      shape.names = Boolean(shape.of) && plain && !this.named.has(shape.of) && (run.modes.of.get(shape.of)?.length ?? 0) > 0 && run.modes.kind.get(shape.of) !== undefined;
      if (shape.names) this.named.add(shape.of);
    }
    this.forceScale = this.largestForce();
  }

  move(t) {
    this.t = t;
    this.run.look(t, this.now);
  }

  value(place) {
    return place < 0 ? this.run.scene.fixed[-1 - place] : this.now[place];
  }

  // Point k of a shape as [x, y, z].
  point(shape, k) {
    const at = k * shape.size;
    return [this.value(shape.points[at]), this.value(shape.points[at + 1]), shape.size === 3 ? this.value(shape.points[at + 2]) : 0];
  }

  points(shape) {
    return Array.from({ length: shape.points.length / shape.size }, (_, k) => this.point(shape, k));
  }

  radius(shape, otherwise) {
    return shape.radius === undefined ? otherwise : this.value(shape.radius);
  }

  mode(shape) {
    return shape.of === undefined ? undefined : this.run.modes.at(shape.of, this.t);
  }

  range(place) {
    if (place < 0) return [this.run.scene.fixed[-1 - place], this.run.scene.fixed[-1 - place]];
    return [this.run.scene.low[place + 1], this.run.scene.high[place + 1]];
  }

  // The box of the whole motion: least and greatest x, y, z.
  box() {
    const low = [Infinity, Infinity, Infinity];
    const high = [-Infinity, -Infinity, -Infinity];
    for (const shape of this.list) {
      if (shape.kind === 'gravity') continue;
      const room = shape.radius === undefined || shape.kind === 'link' ? 0 : this.range(shape.radius)[1];
      const count = shape.kind === 'force' || shape.kind === 'disc' ? shape.size : shape.points.length;
      for (let k = 0; k < count; k++) {
        const [least, greatest] = this.range(shape.points[k]);
        const axis = k % shape.size;
        low[axis] = Math.min(low[axis], least - room);
        high[axis] = Math.max(high[axis], greatest + room);
      }
    }
    for (let axis = 0; axis < 3; axis++) if (low[axis] > high[axis]) low[axis] = high[axis] = 0;
    return { low, high };
  }

  // The box of what moves, at the present instant; undefined where nothing does.
  boxNow() {
    const low = [Infinity, Infinity];
    const high = [-Infinity, -Infinity];
    for (const shape of this.list) {
      const scenery = ['gravity', 'trace', 'force', 'ground', 'surface', 'text'].includes(shape.kind);
      if (scenery || shape.points.every((place) => place < 0)) continue;
      const room = this.radius(shape, 0);
      for (const point of shape.kind === 'disc' ? [this.point(shape, 0)] : this.points(shape)) {
        for (let axis = 0; axis < 2; axis++) {
          low[axis] = Math.min(low[axis], point[axis] - room);
          high[axis] = Math.max(high[axis], point[axis] + room);
        }
      }
    }
    return low[0] < high[0] || low[1] < high[1] ? { low, high } : undefined;
  }

  // Most forces are smaller than this; arrows are drawn to its scale.
  largestForce() {
    const sizes = [];
    for (const shape of this.list.filter((s) => s.kind === 'force')) {
      const step = Math.max(1, Math.floor(this.run.frames / 500));
      for (let frame = 0; frame < this.run.frames; frame += step) {
        let sum = 0;
        for (let axis = 0; axis < shape.size; axis++) {
          const place = shape.points[shape.size + axis];
          const value = place < 0 ? this.run.scene.fixed[-1 - place] : this.run.channels[place][frame];
          sum += value * value;
        }
        if (sum > 0) sizes.push(Math.sqrt(sum));
      }
    }
    sizes.sort((a, b) => a - b);
    return sizes[Math.floor(0.98 * (sizes.length - 1))] ?? 0;
  }

  // The path of the point of a trace, one point a frame.
  path(shape) {
    shape.path ??= Array.from({ length: this.run.frames }, (_, frame) =>
      shape.points.map((place) => (place < 0 ? this.run.scene.fixed[-1 - place] : this.run.channels[place][frame])));
    return shape.path;
  }
}

// 1, 2 or 5 times a power of ten, not greater than a length.
export function roundLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  return [5, 2, 1].map((s) => s * power).find((s) => s <= length * 1.0000001) ?? power;
}
