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

const template = await readFile(join(here, 'src', 'page.html'), 'utf8');
await mkdir(target, { recursive: true });
for (const [entry, name] of [['main-plane.js', 'report.html'], ['main-space.js', 'report-space.html']]) {
  const { script, style } = await bundle(entry);
  const page = template
    .replace('/*style*/', () => style.trim())
    .replace('/*script*/', () => script.trim());
  await writeFile(join(target, name), page);
  console.log(`${join(target, name)}: ${(page.length / 1024).toFixed(0)} kB`);
}
