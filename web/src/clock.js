// SPDX-License-Identifier: Apache-2.0
// The one time that everything on the page shows, and how it runs on.
const SLOWEST = 0.08; // of the speed, at an event
const REACH = 0.025; // of the run, before and after an event, in which time is slower

export class Clock {
  constructor(run) {
    this.run = run;
    this.t = run.begin;
    this.playing = false;
    this.speed = 1;
    this.slow = true;
    this.listeners = [];
    const times = run.events.map((event) => event.t);
    this.instants = times.filter((t, k) => k === 0 || t > times[k - 1]);
  }

  listen(hear) {
    this.listeners.push(hear);
    hear(this);
  }

  tell() {
    for (const hear of this.listeners) hear(this);
  }

  set(t) {
    this.t = Math.min(this.run.end, Math.max(this.run.begin, t));
    this.tell();
  }

  play(on = !this.playing) {
    if (on && this.t >= this.run.end) this.t = this.run.begin;
    this.playing = on;
    this.last = undefined;
    if (on) requestAnimationFrame((now) => this.tick(now));
    this.tell();
  }

  // How fast time runs here, of the speed chosen.
  get factor() {
    if (!this.slow || this.instants.length === 0 || this.instants.length > 40) return 1;
    const reach = REACH * this.run.span;
    const away = Math.min(...this.instants.map((t) => Math.abs(t - this.t)));
    return away >= reach ? 1 : SLOWEST + (1 - SLOWEST) * (away / reach) ** 2;
  }

  tick(now) {
    if (!this.playing) return;
    const passed = this.last === undefined ? 0 : Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    this.t = Math.min(this.run.end, this.t + passed * this.speed * this.factor);
    this.playing = this.t < this.run.end;
    this.tell();
    if (this.playing) requestAnimationFrame((next) => this.tick(next));
  }

  // To the next (1) or previous (-1) event.
  jump(direction) {
    const near = 1e-9 * this.run.span;
    const found =
      direction > 0
        ? this.instants.find((t) => t > this.t + near)
        : [...this.instants].reverse().find((t) => t < this.t - near);
    if (found !== undefined) {
      this.play(false);
      this.set(found);
    }
    return found;
  }
}

// A speed at which the whole run takes about ten seconds, rounded to 1, 2 or 5.
export function fittingSpeed(span) {
  const wanted = span / 10;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].reduce((best, s) => (Math.abs(s * power - wanted) < Math.abs(best * power - wanted) ? s : best), 1);
  const speed = step * power;
  return speed >= 0.25 && speed <= 1 ? 1 : speed;
}
