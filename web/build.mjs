// SPDX-License-Identifier: Apache-2.0
// Makes the pages of reports, each one file: report.html for scenes in the plane, report-space.html
// with three.js for scenes in space. usage: node build.mjs FOLDER
import { build } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, 'dist');

async function bundle(entry) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [join('src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2020'],
    legalComments: 'inline',
    charset: 'utf8',
    outdir: 'out',
  });
  const text = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending))?.text ?? '';
  return { script: text('.js').replaceAll('</script', '<\\/script'), style: text('.css') };
}

// The licences of what is bundled, which their texts ask to be passed on.
async function licences(...packages) {
  const texts = await Promise.all(packages.map((name) => readFile(join(here, 'node_modules', name, 'LICENSE'), 'utf8')));
  return texts.map((text, k) => `${packages[k]}:\n${text.trim()}`).join('\n\n');
}

const template = await readFile(join(here, 'src', 'page.html'), 'utf8');
await mkdir(target, { recursive: true });
for (const [entry, name, ...packages] of [
  ['main-plane.js', 'report.html', 'uplot'],
  ['main-space.js', 'report-space.html', 'uplot', 'three'],
]) {
  const { script, style } = await bundle(entry);
  const notes = await licences(...packages);
  const page = template
    .replace('licences-of-what-is-bundled', () => notes.replaceAll('--', '- -'))
    .replace('/*style*/', () => style.trim())
    .replace('/*script*/', () => script.trim());
  await writeFile(join(target, name), page);
  console.log(`${join(target, name)}: ${(page.length / 1024).toFixed(0)} kB`);
}
