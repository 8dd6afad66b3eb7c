// SPDX-License-Identifier: Apache-2.0
// The scene in space, by three.js: z is up; drag turns, the wheel zooms, shift-drag moves.
import {
  AmbientLight, BufferAttribute, BufferGeometry, CatmullRomCurve3, Color, ConeGeometry, CylinderGeometry, DirectionalLight, DoubleSide, Float32BufferAttribute, GridHelper, Group, Line, LineBasicMaterial, LineSegments, Mesh, MeshStandardMaterial, OrthographicCamera, Quaternion, Scene, SphereGeometry, TubeGeometry, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { indexAt } from './run.js';
import { roundLength, Shapes } from './shapes.js';
import { element, modeColour, modeInk, number, style } from './words.js';

const UP = new Vector3(0, 1, 0); // along cylinders of three.js
const THIN = 0.004; // half the width of a line, of the size of the scene
const LINK = 0.015; // and of a link without a radius
const VIEWS = { iso: [1, -1.3, 0.8], front: [0, -1, 0], side: [1, 0, 0], top: [0, -0.001, 1] };

const vector = (point) => new Vector3(...point);

// ---- parts, each with a way to be moved ---------------------------------------------------------
// A cylinder of length and radius 1 between two points.
class Rod extends Mesh {
  constructor(material, radius) {
    super(new CylinderGeometry(1, 1, 1, 24), material);
    this.radius = radius;
  }

  between(a, b) {
    const along = b.clone().sub(a);
    const length = Math.max(along.length(), 1e-12);
    this.position.copy(a).addScaledVector(along, 0.5);
    this.scale.set(this.radius, length, this.radius);
    this.quaternion.setFromUnitVectors(UP, along.divideScalar(length));
  }
}

function helix() {
  const points = Array.from({ length: 161 }, (_, k) => {
    const s = k / 160;
    const turn = 2 * Math.PI * 8 * s;
    const wide = s < 0.08 || s > 0.92 ? 0 : 1;
    return new Vector3(wide * Math.cos(turn), s, wide * Math.sin(turn));
  });
  return new TubeGeometry(new CatmullRomCurve3(points), 240, 0.16, 6);
}

function fan(count) {
  const list = [];
  for (let k = 1; k + 1 < count; k++) list.push(0, k, k + 1);
  return list;
}

function gridTriangles(count, row) {
  const list = [];
  for (let k = 0; k + row < count; k++) if ((k + 1) % row !== 0) list.push(k, k + 1, k + row, k + 1, k + row + 1, k + row);
  return list;
}

function gridLines(count, row) {
  const list = [];
  for (let k = 0; k < count; k++) {
    if ((k + 1) % row !== 0) list.push(k, k + 1);
    if (k + row < count) list.push(k, k + row);
  }
  return list;
}

export class SpaceView {
  constructor(run, clock, host, buttons) {
    Object.assign(this, { run, clock, host });
    this.shapes = new Shapes(run);
    this.renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    host.append(this.renderer.domElement);
    this.scene = new Scene();
    this.camera = new OrthographicCamera(-1, 1, 1, -1, -1000, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener('change', () => this.render());
    this.tags = element('div', { 'aria-hidden': 'true' });
    this.bar = element('div', { class: 'bar' });
    host.append(this.tags, this.bar);
    this.measure();
    this.light();
    this.parts = this.shapes.list.map((shape) => this.make(shape)).filter(Boolean);
    this.addButtons(buttons);
    this.renderer.domElement.addEventListener('dblclick', () => this.look('iso'));
    new ResizeObserver(() => this.resize()).observe(host);
    this.paint();
    this.resize();
    this.look('iso');
    clock.listen(() => this.draw());
  }

  measure() {
    const { low, high } = this.shapes.box();
    this.low = vector(low);
    this.high = vector(high);
    this.centre = this.low.clone().add(this.high).multiplyScalar(0.5);
    this.size = Math.max(this.high.clone().sub(this.low).length(), 1e-9);
  }

  light() {
    this.scene.add(new AmbientLight(0xffffff, 1.5));
    const sun = new DirectionalLight(0xffffff, 2.2);
    sun.position.set(1, -2, 3);
    this.scene.add(sun);
    this.floor = new Group();
    this.scene.add(this.floor);
  }

  makeFloor() {
    this.floor.clear();
    const cell = roundLength(this.size / 8);
    const count = 2 * Math.ceil((0.75 * this.size) / cell);
    const grid = new GridHelper(count * cell, count, style('edge'), style('grid'));
    grid.rotation.x = Math.PI / 2;
    grid.position.set(Math.round(this.centre.x / cell) * cell, Math.round(this.centre.y / cell) * cell, Math.min(this.low.z, 0));
    this.floor.add(grid);
    this.cell = cell;
  }

  addButtons(buttons) {
    for (const name of Object.keys(VIEWS)) buttons.append(element('button', { type: 'button', title: `View: ${name}`, onclick: () => this.look(name) }, name));
    buttons.append(
      element('button', { type: 'button', title: 'Zoom in', 'aria-label': 'Zoom in', onclick: () => this.zoom(1.25) }, '+'),
      element('button', { type: 'button', title: 'Zoom out', 'aria-label': 'Zoom out', onclick: () => this.zoom(0.8) }, '−'));
  }

  look(name) {
    this.controls.target.copy(this.centre);
    this.camera.position.copy(this.centre).addScaledVector(vector(VIEWS[name]).normalize(), 2 * this.size);
    this.camera.zoom = 1;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.draw();
  }

  zoom(factor) {
    this.camera.zoom *= factor;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.render();
  }

  resize() {
    const [width, height] = [Math.max(50, this.host.clientWidth), Math.max(50, this.host.clientHeight)];
    this.renderer.setPixelRatio(devicePixelRatio);
    this.renderer.setSize(width, height);
    const half = 0.56 * this.size;
    const shape = width / height;
    const tall = shape > 1 ? half : half / shape;
    Object.assign(this.camera, { left: -tall * shape, right: tall * shape, top: tall, bottom: -tall, near: -10 * this.size, far: 20 * this.size });
    this.camera.updateProjectionMatrix();
    this.width = width;
    this.height = height;
    this.draw();
  }

  // ---- making -----------------------------------------------------------------------------------
  // A part: objects, what moves them, and which colour they have while nothing is locked.
  make(shape) {
    const maker = this[`make_${shape.kind}`];
    if (!maker) return undefined;
    const part = maker.call(this, shape);
    part.shape = shape;
    part.objects.forEach((object) => this.scene.add(object));
    if (shape.text || shape.names || shape.kind === 'force' || shape.kind === 'gravity') {
      part.tag = element('span', { class: 'tag' });
      this.tags.append(part.tag);
    }
    return part;
  }

  material(more = {}) {
    return new MeshStandardMaterial({ roughness: 0.55, metalness: 0.1, ...more });
  }

  chain(shape, radius, ink) {
    const material = this.material();
    const count = shape.points.length / shape.size;
    const rods = Array.from({ length: count - 1 }, () => new Rod(material, radius));
    const caps = Array.from({ length: count }, () => new Mesh(new SphereGeometry(1, 20, 14), material));
    const move = (points) => {
      rods.forEach((rod, k) => rod.between(points[k], points[k + 1]));
      caps.forEach((cap, k) => (cap.position.copy(points[k]), cap.scale.setScalar(radius)));
    };
    return { objects: [...rods, ...caps], material, ink, move };
  }

  make_link(shape) {
    this.shapes.move(this.run.begin);
    return this.chain(shape, this.shapes.radius(shape, LINK * this.size), 'body');
  }

  make_cylinder(shape) {
    const material = this.material();
    const rod = new Rod(material, 1);
    const move = ([a, b]) => {
      rod.radius = this.shapes.radius(shape);
      rod.between(a, b);
    };
    return { objects: [rod], material, ink: 'body', move };
  }

  make_line(shape) {
    return this.chain(shape, THIN * 0.7 * this.size, 'ink');
  }

  make_ground(shape) {
    return this.chain(shape, THIN * this.size, 'ground');
  }

  make_ball(shape) {
    const material = this.material();
    const ball = new Mesh(new SphereGeometry(1, 32, 20), material);
    return { objects: [ball], material, ink: 'body', move: ([at]) => (ball.position.copy(at), ball.scale.setScalar(this.shapes.radius(shape))) };
  }

  make_joint(shape) {
    const part = this.make_ball({ ...shape, radius: undefined });
    const [ball] = part.objects;
    return { ...part, ink: 'ink', move: ([at]) => (ball.position.copy(at), ball.scale.setScalar(0.014 * this.size)) };
  }

  make_disc(shape) {
    const material = this.material();
    const disc = new Mesh(new CylinderGeometry(1, 1, 1, 48), material);
    const move = ([at, normal]) => {
      const radius = this.shapes.radius(shape);
      disc.position.copy(at);
      disc.scale.set(radius, 0.06 * radius, radius);
      disc.quaternion.setFromUnitVectors(UP, (normal ?? new Vector3(0, 0, 1)).clone().normalize());
    };
    return { objects: [disc], material, ink: 'body', move };
  }

  make_spring() {
    const material = this.material();
    const spring = new Mesh(helix(), material);
    const move = ([a, b]) => {
      const along = b.clone().sub(a);
      const length = Math.max(along.length(), 1e-12);
      spring.position.copy(a);
      spring.scale.set(0.02 * this.size, length, 0.02 * this.size);
      spring.quaternion.setFromUnitVectors(UP, along.divideScalar(length));
    };
    return { objects: [spring], material, ink: 'ink', move };
  }

  sheet(count, triangles, ink, opacity) {
    const material = this.material({ side: DoubleSide, transparent: opacity < 1, opacity, depthWrite: opacity === 1 });
    const geometry = new BufferGeometry();
    const places = new BufferAttribute(new Float32Array(3 * count), 3);
    geometry.setAttribute('position', places);
    geometry.setIndex(triangles);
    const sheet = new Mesh(geometry, material);
    sheet.frustumCulled = false;
    const move = (points) => {
      points.forEach((p, k) => places.setXYZ(k, p.x, p.y, p.z));
      places.needsUpdate = true;
      geometry.computeVertexNormals();
    };
    return { objects: [sheet], material, ink, move, geometry };
  }

  make_polygon(shape) {
    const count = shape.points.length / shape.size;
    return this.sheet(count, fan(count), 'body', 0.9);
  }

  make_surface(shape) {
    const count = shape.points.length / shape.size;
    const part = this.sheet(count, gridTriangles(count, shape.row), 'ground', 0.16);
    const lines = new BufferGeometry();
    lines.setAttribute('position', part.geometry.getAttribute('position'));
    lines.setIndex(gridLines(count, shape.row));
    const net = new LineSegments(lines, new LineBasicMaterial({ transparent: true, opacity: 0.35 }));
    net.frustumCulled = false;
    return { ...part, objects: [...part.objects, net], line: net.material };
  }

  make_trace(shape) {
    const path = this.shapes.path(shape);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(path.flatMap((p) => [p[0], p[1], p[2] ?? 0]), 3));
    const faint = new Line(geometry, new LineBasicMaterial({ transparent: true, opacity: 0.3 }));
    const strong = new Line(geometry.clone(), new LineBasicMaterial());
    const move = () => strong.geometry.setDrawRange(0, indexAt(this.run.frameTimes, this.clock.t) + 1);
    return { objects: [faint, strong], lines: [faint.material, strong.material], ink: 'trace', move };
  }

  make_force(shape) {
    const material = this.material();
    const shaft = new Rod(material, 0.006 * this.size);
    const head = new Mesh(new ConeGeometry(0.018 * this.size, 0.05 * this.size, 20), material);
    const move = ([at, force]) => {
      const size = force.length();
      shaft.visible = head.visible = size > 1e-6 * this.shapes.forceScale;
      if (!shaft.visible) return;
      const direction = force.clone().divideScalar(size);
      const end = at.clone().addScaledVector(direction, 0.25 * this.size * Math.min(1.4, size / this.shapes.forceScale));
      shaft.between(at, end);
      head.position.copy(end);
      head.quaternion.copy(new Quaternion().setFromUnitVectors(UP, direction));
    };
    return { objects: [shaft, head], material, ink: 'force', move };
  }

  make_text() {
    return { objects: [], ink: 'ink', move: () => {} };
  }

  make_gravity() {
    const material = this.material();
    const head = new Mesh(new ConeGeometry(0.02 * this.size, 0.06 * this.size, 20), material);
    const shaft = new Rod(material, 0.006 * this.size);
    const move = ([g]) => {
      const from = new Vector3(this.low.x, this.low.y, this.high.z);
      const direction = g.clone().normalize();
      const end = from.clone().addScaledVector(direction, 0.14 * this.size);
      shaft.between(from, end);
      head.position.copy(end);
      head.quaternion.setFromUnitVectors(UP, direction);
    };
    return { objects: [shaft, head], material, ink: 'quiet', move, still: true };
  }

  // ---- drawing ----------------------------------------------------------------------------------
  draw() {
    if (!this.parts) return;
    this.shapes.move(this.clock.t);
    for (const part of this.parts) {
      const { shape } = part;
      const points = this.shapes.points(shape).map(vector);
      part.move(points);
      part.material?.color.set(this.colourOf(shape, part.ink));
      if (part.tag) part.words = this.wordsOf(shape, points);
    }
    this.render();
  }

  colourOf(shape, ink) {
    const mode = this.shapes.mode(shape);
    const plain = mode === undefined || ['free', 'released', 'open'].includes(mode);
    return new Color(plain ? this.inks[ink] : modeColour(this.run.modes, shape.of, mode));
  }

  wordsOf(shape, points) {
    if (shape.kind === 'gravity') return { at: new Vector3(this.low.x, this.low.y, this.high.z), words: 'g', ink: this.inks.quiet };
    if (shape.kind === 'force') {
      const size = points[1].length();
      const shown = size > 0.05 * this.shapes.forceScale;
      return { at: points[0], words: shown ? `${shape.text ?? ''} ${number(size, 3)} N` : '', ink: this.inks.force };
    }
    const mode = shape.names ? this.shapes.mode(shape) : undefined;
    const words = [shape.names && !shape.text ? shape.of : shape.text, mode].filter(Boolean).join(': ');
    return { at: points[shape.kind === 'link' ? points.length - 1 : 0], words, ink: mode ? modeInk(this.run.modes, shape.of, mode) : this.inks.ink };
  }

  render() {
    this.renderer.render(this.scene, this.camera);
    for (const { tag, words } of this.parts ?? []) {
      if (!tag || !words) continue;
      const place = words.at.clone().project(this.camera);
      tag.textContent = words.words;
      tag.hidden = !words.words;
      tag.style.color = words.ink;
      tag.style.transform = `translate(${((place.x + 1) / 2) * this.width + 14}px, ${((1 - place.y) / 2) * this.height - 16}px)`;
    }
    this.bar.textContent = `grid ${number(this.cell ?? 0, 3)} m, z up`;
  }

  paint() {
    this.inks = Object.fromEntries(['body', 'ink', 'ground', 'force', 'trace', 'quiet'].map((name) => [name, style(name)]));
    this.scene.background = new Color(style('scene'));
    this.makeFloor();
    for (const part of this.parts) {
      part.lines?.forEach((line) => line.color.set(this.inks.trace));
      part.line?.color.set(this.inks.ground);
    }
  }

  repaint() {
    this.paint();
    this.draw();
  }

  picture(done) {
    this.draw();
    this.renderer.domElement.toBlob(done, 'image/png');
  }
}
