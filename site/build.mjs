// SPDX-License-Identifier: Apache-2.0
// The documents as static pages: node build.mjs PAWL OUT. PAWL is the built program, which draws the pictures of the
// gallery. Exit code 1 where a link leads nowhere or a page cannot be reached.
import {execFileSync} from 'node:child_process';
import {copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join, relative, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import MarkdownIt from 'markdown-it';
import {galleryPages} from './gallery.mjs';
import {headersPage} from './headers.mjs';
import {setEquation, sink} from './equation.mjs';
import {checkLinks} from './links.mjs';
import {frame, inNavigation} from './frame.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '..');
const [pawl, out] = process.argv.slice(2).map((path) => resolve(path));
if (!out) {
  console.error('usage: node build.mjs PAWL OUT');
  process.exit(2);
}

const markdown = new MarkdownIt({html: false, linkify: false});
const plainCode = markdown.renderer.rules.code_block;
markdown.renderer.rules.code_block = (tokens, index, options, env, self) =>
  setEquation(tokens[index].content) ?? plainCode(tokens, index, options, env, self);
markdown.renderer.rules.heading_open = (tokens, index, options, env, self) => {
  tokens[index].attrSet('id', anchor(tokens[index + 1].content));
  return self.renderToken(tokens, index, options);
};
markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
  tokens[index].attrSet('href', webAddress(tokens[index].attrGet('href')));
  return self.renderToken(tokens, index, options);
};
const plainImage = markdown.renderer.rules.image;
markdown.renderer.rules.image = (tokens, index, options, env, self) => {
  tokens[index].attrSet('loading', 'lazy');
  return plainImage(tokens, index, options, env, self);
};
markdown.renderer.rules.text = (tokens, index) => sink(markdown.utils.escapeHtml(tokens[index].content));
markdown.renderer.rules.table_open = () => '<div class="wide"><table>';
markdown.renderer.rules.table_close = () => '</table></div>';

function anchor(heading) {  // as GitHub makes them, so that links work in both places
  return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
}

function webAddress(href) {
  return /^[a-z]+:/.test(href) ? href : href.replace(/\.md(#|$)/, '.html$1');
}

function filesBelow(folder, ending) {
  return readdirSync(folder, {withFileTypes: true, recursive: true})
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function titleOf(text) {
  return /^# (.*)$/m.exec(text)?.[1] ?? 'pawl';
}

function writePage(path, text) {  // path from the root of the site, text in Markdown
  const file = join(out, path);
  mkdirSync(dirname(file), {recursive: true});
  const up = relative(dirname(path), '.') || '.';
  writeFileSync(file, frame({title: titleOf(text), body: markdown.render(text), path, up}));
}

const lost = [];
rmSync(out, {recursive: true, force: true});
mkdirSync(out, {recursive: true});
copyFileSync(join(here, 'style.css'), join(out, 'style.css'));
const docs = join(root, 'docs');
for (const file of filesBelow(docs, '.md')) {
  const path = relative(docs, file).replace(/\.md$/, '.html');
  writePage(path, readFileSync(file, 'utf8'));
  if (!inNavigation.has(path)) lost.push(`${path} is not in the navigation of frame.mjs`);
}
for (const file of [...filesBelow(docs, '.svg'), ...filesBelow(docs, '.png')]) {
  const target = join(out, relative(docs, file));
  mkdirSync(dirname(target), {recursive: true});
  copyFileSync(file, target);
}
writePage('index.html', readFileSync(join(root, 'README.md'), 'utf8').replace(/\]\(docs\//g, ']('));
writePage('c-api.html', headersPage(join(root, 'include', 'pawl')));
for (const page of galleryPages(pawl, join(root, 'models'), out, execFileSync)) writePage(page.path, page.text);

lost.push(...checkLinks(out, filesBelow(out, '.html')));
for (const line of lost) console.error(line);
console.log(`${filesBelow(out, '.html').length} pages in ${out}, ${lost.length} complaints`);
process.exit(lost.length > 0 || !statSync(join(out, 'index.html')).isFile() ? 1 : 0);
