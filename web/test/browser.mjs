// SPDX-License-Identifier: Apache-2.0
// Reports in a real browser, headless Chromium: every model opens without an error, draws, moves to
// the end of its data, and answers the mouse and the keys; nothing is asked from outside of the file.
// usage: node browser.mjs PAWL MODELS FOLDER [NAME...]     in the folder where the packages are
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const SKIPPED = 77;
const [pawl, models, folder, ...chosen] = process.argv.slice(2);
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!chromium) {
  console.log('no Chromium to test with');
  process.exit(SKIPPED);
}
const playwright = createRequire(join(process.cwd(), 'package.json'))('playwright-core');
mkdirSync(folder, { recursive: true });

const SIZE_LIMIT = 10e6; // [bytes] of a report
const PAGE_LIMIT = 300e3; // [bytes] of the page in the plane, without data

const browser = await playwright.chromium.launch({
  executablePath: chromium,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});

async function report(model, name, ...more) {
  const file = join(folder, `${name}.html`);
  await promisify(execFile)(pawl, ['run', model, '--report', file, '--quiet', ...more]);
  return file;
}

// Opens a report; what goes wrong in it is gathered in `troubles`.
async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 760 }, ...options });
  const page = await context.newPage();
  const troubles = [];
  page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()));
  page.on('pageerror', (error) => troubles.push(error.stack));
  page.on('request', (request) => {
    const url = request.url();
    if (url !== `file://${file}` && !/^(data|blob):/.test(url)) troubles.push(`asks for ${url}`);
  });
  await page.goto(`file://${file}`);
  await page.waitForSelector('html[data-ready]', { timeout: 20000 });
  return { page, troubles, close: () => context.close() };
}

const time = (page) => page.evaluate(() => window.pawl.clock.t);
const picture = (page) => page.evaluate(() => document.querySelector('#view canvas').toDataURL());

// ---- what every model must do -------------------------------------------------------------------
async function drawsCurves(page) {
  const empty = await page.evaluate(() =>
    [...document.querySelectorAll('.panel canvas')].filter((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let coloured = 0;
      for (let k = 0; k < data.length; k += 4) {
        const [r, g, b, a] = [data[k], data[k + 1], data[k + 2], data[k + 3]];
        coloured += a > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 40;
      }
      return coloured < 20;
    }).length);
  const panels = await page.locator('.panel').count();
  assert.ok(panels >= 3, `${panels} panels`);
  assert.ok(empty <= panels - 2, `${empty} of ${panels} panels are empty`); // energies may be grey alone
}

async function movesToTheEnd(page) {
  const pictures = new Set([await picture(page)]);
  for (const part of [0.17, 0.5, 0.83]) {
    await page.evaluate((p) => window.pawl.clock.set(window.pawl.run.begin + p * window.pawl.run.span), part);
    pictures.add(await picture(page));
  }
  assert.ok(pictures.size > 1, 'the animation does not move');
  await page.evaluate(() => {
    const { clock, run } = window.pawl;
    clock.set(run.begin);
    clock.slow = false;
    clock.speed = run.span / 0.15;
  });
  await page.click('#play');
  await page.waitForFunction(() => !window.pawl.clock.playing, undefined, { timeout: 10000 });
  const ends = await page.evaluate(() => {
    const { clock, run } = window.pawl;
    const last = run.rows - 1;
    const off = Object.entries(run.summary.final.q).map(([name, value]) => {
      const column = run.columns.find((c) => c.name === name);
      return column ? Math.abs(column.values[last] - value) / Math.max(column.high - column.low, 1e-9) : 0;
    });
    return { t: clock.t, end: run.end, final: run.summary.final.t, frame: run.frameTimes[run.frames - 1], off: Math.max(...off) };
  });
  assert.equal(ends.t, ends.end);
  const near = 1e-6 * Math.abs(ends.final);
  assert.ok(Math.abs(ends.end - ends.final) <= near && Math.abs(ends.frame - ends.final) <= near, 'it does not end where the data end');
  assert.ok(ends.off < 1e-6, `the last values are off by ${ends.off}`);
}

async function hoverShowsData(page) {
  const over = page.locator('.panel .u-over').first();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + 0.31 * box.width, box.y + box.height / 2);
  await page.mouse.move(box.x + 0.64 * box.width, box.y + box.height / 2);
  const seen = await page.evaluate(() => {
    const { run, clock } = window.pawl;
    const row = run.times.indexOf(clock.t) >= 0 ? 1 : run.events.findIndex((e) => e.t === clock.t);
    const column = run.byKind('coordinate')[0];
    const off = Math.min(...run.times.map((t) => Math.abs(t - clock.t)));
    const same = [...run.times.keys()].filter((k) => Math.abs(run.times[k] - clock.t) <= off).map((k) => column.values[k]);
    const words = document.querySelector('.panel .legend output').textContent.replaceAll('−', '-');
    return { t: clock.t, begin: run.begin, span: run.span, row, same, words, range: column.high - column.low };
  });
  assert.ok(seen.row >= 0, 'the cursor is not at a sample');
  assert.ok(Math.abs(seen.t - seen.begin - 0.64 * seen.span) < 0.02 * seen.span, 'the time does not follow the mouse');
  const off = Math.min(...seen.same.map((value) => Math.abs(value - Number(seen.words)) - 5e-4 * Math.abs(value)));
  assert.ok(off <= 1e-6 * seen.range + 1e-12, `shows ${seen.words}, the data have ${seen.same}`);
}

async function eventCanBeClicked(page) {
  const marks = page.locator('#strip .mark');
  if ((await marks.count()) === 0) {
    assert.equal(await page.locator('#strip').isVisible(), false);
    return;
  }
  await marks.first().click({ force: true, position: { x: 4, y: 8 } });
  const [t, first, words] = [await time(page), await page.evaluate(() => window.pawl.run.events[0]), await page.textContent('#event')];
  const events = await page.evaluate(() => window.pawl.run.events.map((e) => e.t));
  assert.ok(events.includes(t), `a click leads to ${t}`);
  assert.ok(t !== first.t || words.includes(first.constraint), `no word of ${first.constraint}`);
}

async function keysWork(page) {
  await page.evaluate(() => (window.pawl.clock.set(window.pawl.run.begin), document.activeElement.blur()));
  const step = await page.evaluate(() => window.pawl.run.span / 500);
  await page.keyboard.press('ArrowRight');
  const one = await time(page);
  await page.keyboard.press('Shift+ArrowRight');
  const eleven = await time(page);
  assert.ok(Math.abs(eleven - one - 10 * step) < 1e-9 * step + 1e-12, 'arrows');
  await page.keyboard.press('End');
  assert.equal(await time(page), await page.evaluate(() => window.pawl.run.end));
  await page.keyboard.press('Home');
  if (await page.evaluate(() => window.pawl.run.events.length)) {
    await page.keyboard.press('n');
    const t = await time(page);
    assert.ok(await page.evaluate((at) => window.pawl.run.events.some((e) => e.t === at), t), 'n');
  }
  await page.keyboard.press('+');
  const [low, high] = await page.evaluate(() => window.pawl.plots.range);
  assert.ok(high - low < 0.8 * (await page.evaluate(() => window.pawl.run.span)), '+ zooms');
  await page.keyboard.press('0');
  const [begin, end] = await page.evaluate(() => window.pawl.plots.range);
  assert.ok(end - begin > 0.999 * (await page.evaluate(() => window.pawl.run.span)), '0 fits');
  await page.evaluate(() => (window.pawl.clock.speed = window.pawl.run.span / 1000));
  await page.keyboard.press(' ');
  assert.equal(await page.evaluate(() => window.pawl.clock.playing), true);
  await page.keyboard.press(' ');
  assert.equal(await page.evaluate(() => window.pawl.clock.playing), false);
}

async function tabsOpen(page) {
  const seen = await page.evaluate(() =>
    [...document.querySelectorAll('[role=tab]')].map((tab) => {
      tab.click();
      return [...document.querySelectorAll('[role=tabpanel]:not([hidden])')].map((panel) => panel.innerText.length);
    }));
  assert.ok(seen.length >= 4 && seen.every(([length, ...more]) => length > 20 && more.length === 0), `tabs show ${JSON.stringify(seen)}`);
}

async function everyModel(name) {
  const { page, troubles, close } = await open(await report(join(models, `${name}.yaml`), name));
  try {
    await drawsCurves(page);
    await movesToTheEnd(page);
    await hoverShowsData(page);
    await eventCanBeClicked(page);
    await keysWork(page);
    await tabsOpen(page);
    assert.deepEqual(troubles, []);
  } finally {
    await close();
  }
}

// ---- cases of their own -------------------------------------------------------------------------
// The value under the mouse against the CSV of the same run.
async function hoverAgainstCsv() {
  const csv = join(folder, 'hover.csv');
  const { page, close } = await open(await report('pothole-wheel', 'hover', '-o', csv));
  const over = page.locator('.panel .u-over').first();
  const box = await over.boundingBox();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + 30);
  await page.mouse.move(box.x + 0.7 * box.width, box.y + 30);
  const t = await time(page);
  const words = (await page.locator('.panel .legend output').first().textContent()).replaceAll('−', '-');
  const rows = readFileSync(csv, 'utf8').trim().split('\n').map((line) => line.split(','));
  const row = rows.slice(1).reduce((best, next) => (Math.abs(next[0] - t) < Math.abs(best[0] - t) ? next : best));
  const x = Number(row[rows[0].indexOf('x')]);
  assert.ok(Math.abs(Number(words) - x) < 1e-4 * Math.abs(x), `hover shows ${words}, the file has ${x}`);
  await close();
}

// At an event everything shows what follows it, and its line tells the jump.
async function eventTellsItsJump() {
  const { page, close } = await open(await report('pothole-wheel', 'jump'));
  const event = await page.evaluate(() => window.pawl.run.events[1]);
  const over = page.locator('.panel .u-over').nth(2);
  const box = await over.boundingBox();
  const x = await page.evaluate((t) => window.pawl.plots.all[2].plot.valToPos(t, 'x'), event.t);
  await page.mouse.move(box.x + x - 40, box.y + 20);
  await page.mouse.move(box.x + x + 2, box.y + 20);
  assert.equal(await time(page), event.t);
  assert.match(await page.locator('.tip:visible').textContent(), /left_edge → right_edge.*3.171 J lost/);
  const words = (await page.locator('.panel').nth(2).locator('.legend output').first().textContent()).replaceAll('−', '-');
  assert.ok(Math.abs(Number(words) - event.after[0]) < 1e-3, `shows ${words}, behind the jump is ${event.after[0]}`);
  assert.match(await page.textContent('#event'), /right_edge.*3\.171 J lost/s);
  await close();
}

async function millionSamples() {
  const file = await report('oscillator', 'million', '--until', '1000', '--step', '1e-3');
  assert.ok(statSync(file).size < SIZE_LIMIT, `${statSync(file).size} bytes`);
  const begin = performance.now();
  const { page, close } = await open(file);
  const taken = performance.now() - begin;
  assert.ok((await page.evaluate(() => window.pawl.run.samples)) >= 1e6);
  await close();
  console.log(`   a million samples: ${(statSync(file).size / 1e6).toFixed(2)} MB, open in ${taken.toFixed(0)} ms`);
}

// Zoomed to a second, the plots follow the time; stems stand on zero; no two curves of a panel look
// alike; forces are not scaled by impacts.
async function zoomFollowsTheTime() {
  const { page, close } = await open(await report('bouncing-pendulum', 'follow'));
  await page.evaluate(() => (window.pawl.clock.set(0.5), window.pawl.plots.setRange(0, 1)));
  await page.evaluate(() => window.pawl.clock.set(1.5));
  const seen = await page.evaluate(() => ({
    range: window.pawl.plots.range,
    stems: window.pawl.plots.all.filter(({ panel }) => panel.stems).map(({ plot }) => plot.scales.y.min),
    force: Math.max(...window.pawl.run.byKind('multiplier').map(({ low, high }) => Math.max(-low, high))),
    closed: window.pawl.run.modes.at('stop', window.pawl.run.end),
  }));
  assert.ok(seen.range[0] <= 1.5 && seen.range[1] >= 1.5 && seen.range[1] - seen.range[0] < 1.01, `shows ${seen.range}`);
  assert.deepEqual(seen.stems, [0]);
  assert.ok(seen.force < 20, `forces up to ${seen.force} N, those of impacts among them`);
  assert.equal(seen.closed, 'closed');
  await close();
}

// A wheel that is small beside its way can be gone with, until the view is moved or fitted.
async function viewGoesWithIt() {
  const { page, troubles, close } = await open(await report('wheel-slip', 'goes'));
  const middle = (t) => page.evaluate((at) => (window.pawl.clock.set(at), window.pawl.view.middle[0]), t);
  const [still, same] = [await middle(1), await middle(3)];
  assert.equal(still, same);
  await page.getByRole('button', { name: 'follow' }).click();
  const [first, last] = [await middle(1), await middle(3)];
  const x = await page.evaluate(() => window.pawl.run.columns.find(({ name }) => name === 'x').values.slice(-1)[0]);
  assert.ok(last - first > 1 && Math.abs((await middle(4)) - x) < 0.05, `the view is at ${first}, ${last}`);
  await page.getByRole('button', { name: 'fit' }).click();
  assert.equal(await middle(1), await middle(3));
  assert.deepEqual(troubles, []);
  await close();
  const other = await open(await report('pothole-wheel', 'stays'));
  assert.equal(await other.page.getByRole('button', { name: 'follow' }).count(), 0);
  await other.close();
}

async function curvesDiffer() {
  const { page, close } = await open(await report('bouncing-beam', 'colours'));
  const alike = await page.evaluate(() =>
    window.pawl.plots.all.flatMap(({ plot }) => {
      const looks = plot.series.slice(1).filter(({ show }) => show).map((series) => `${series.stroke(plot, 1)} ${series.dash}`);
      return looks.filter((look, k) => looks.indexOf(look) !== k);
    }));
  assert.deepEqual(alike, []);
  await close();
}

async function phoneAndDark() {
  const { page, troubles, close } = await open(await report('planar-3r-lock', 'phone'), { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide} px wide on a phone`);
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  await page.click('#theme');
  assert.notEqual(await paper(), dark);
  assert.deepEqual(troubles, []);
  await close();
}

async function printsEverything() {
  const { page, troubles, close } = await open(await report('pothole-wheel', 'print'));
  const pdf = await page.pdf({ format: 'A4' });
  assert.ok(pdf.length > 20000);
  await page.emulateMedia({ media: 'print' });
  const tabs = await page.locator('[role=tab]').count();
  assert.equal(await page.locator('[role=tabpanel]:visible').count(), tabs);
  assert.deepEqual(troubles, []);
  await close();
}

async function readableByName() {
  const { page, close } = await open(await report('pothole-wheel', 'names'));
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, input, [role=img]')].filter((node) => {
      const name = node.getAttribute('aria-label') || node.textContent.trim() || node.closest('label')?.textContent.trim() || node.title;
      return !name;
    }).map((node) => node.outerHTML.slice(0, 80)));
  assert.deepEqual(nameless, []);
  const broken = await page.evaluate(() => new DOMParser().parseFromString(window.pawl.plots.svg(), 'image/svg+xml').querySelector('parsererror')?.textContent);
  assert.equal(broken, undefined, 'the plots are no SVG');
  assert.equal(await page.locator('h1').count(), 1);
  assert.ok((await page.locator('math').count()) === 0); // made when its tab is opened
  await page.click('text=equations');
  assert.ok((await page.locator('math mover').count()) > 2);
  const rule = page.locator('.equations p', { hasText: 'mode left_edge' }).first();
  assert.equal(await rule.locator('math').count(), 2); // where it holds, and what
  await close();
}

async function bareModel() {
  const model = join(folder, 'bare.yaml');
  writeFileSync(model, 'model: bare\ncoordinates: {x: {start: 1}}\nkinetic: x\'^2/2\npotential: x^2/2\nsimulate: {until: 1}\n');
  const { page, troubles, close } = await open(await report(model, 'bare'));
  assert.match(await page.textContent('#scene'), /No scene/);
  const [plots, stage] = await page.evaluate(() => ['plots', 'stage'].map((id) => document.getElementById(id).clientWidth));
  assert.ok(plots > 0.95 * stage, 'the plots do not take the width');
  assert.equal(await page.locator('#strip').isVisible(), false);
  assert.deepEqual(troubles, []);
  await close();
}

async function earlyEnd() {
  const model = join(folder, 'early.yaml');
  writeFileSync(model, 'model: early\ncoordinates: {x: {rate: 1}}\nkinetic: x\'^2/2\npotential: "1/(x - 0.5)"\nsimulate: {method: rk4, until: 2, step: 0.001}\n');
  const file = join(folder, 'early.html');
  await report(model, 'early').catch(() => undefined); // its code says that it failed
  const { page, close } = await open(file);
  const words = (await page.textContent('#title')) + (await page.textContent('#warnings'));
  assert.match(words, /failed|drift/);
  await close();
}

// ---- all of them --------------------------------------------------------------------------------
const cases = [hoverAgainstCsv, eventTellsItsJump, zoomFollowsTheTime, viewGoesWithIt, curvesDiffer, millionSamples, phoneAndDark, printsEverything, readableByName, bareModel, earlyEnd];
const names = readdirSync(models).filter((file) => file.endsWith('.yaml')).map((file) => basename(file, '.yaml'));
let failures = 0;

async function attempt(name, run) {
  const begin = performance.now();
  try {
    await run();
    console.log(`ok ${name} (${(performance.now() - begin).toFixed(0)} ms)`);
  } catch (error) {
    failures++;
    console.log(`FAILED ${name}: ${error.message}\n${error.stack.split('\n').slice(1, 4).join('\n')}`);
  }
}

const everyModelOnce = (name) => attempt(name, () => everyModel(name));
assert.ok(statSync(join(process.cwd(), '../share/pawl/report.html')).size < PAGE_LIMIT);
const wanted = (name) => chosen.length === 0 || chosen.includes(name);
for (const run of cases) if (wanted(run.name)) await attempt(run.name, run); // alone: one of them tells a time
const queue = names.filter(wanted);
const worker = async () => {
  for (let name = queue.shift(); name; name = queue.shift()) await everyModelOnce(name);
};
await Promise.all([worker(), worker()]);
await browser.close();
console.log(`${failures} failed`);
process.exit(failures ? 1 : 0);
