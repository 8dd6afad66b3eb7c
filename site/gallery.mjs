// SPDX-License-Identifier: Apache-2.0
// A page for each model, with its text, its motion and curves that pawl draws, and one page with all motions.
import {mkdirSync, readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

function about(text) {
  const block = /^about:[ \t]*(?:>-?[ \t]*\n)?(.*\n(?:[ \t]+.*\n)*)/m.exec(text);
  return (block?.[1] ?? '').replace(/\s+/g, ' ').trim();
}

// What a card has room for.
function firstSentence(text) {
  return /^.*?\w\w\)?[.:](?= [A-Z]|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
}

function modelPage(name, text, log) {
  return `# ${name}\n\n${about(text)}\n\n![${name} in motion](${name}-moves.svg)\n\n![Curves of ${name}](${name}.svg)\n\n` +
    `    $ pawl run ${name}\n${log.trimEnd().replace(/^/gm, '    ')}\n\n\`\`\`yaml\n${text}\`\`\`\n`;
}

export function galleryPages(pawl, models, out, execFileSync) {
  mkdirSync(join(out, 'gallery'), {recursive: true});
  const names = readdirSync(models).filter((name) => name.endsWith('.yaml')).map((name) => name.slice(0, -5)).sort();
  const pages = [];
  let all = '# Gallery\n\nEvery model that comes with pawl, as a run of it looks; behind each are its curves, its log and its text.\n\n';
  for (const name of names) {
    const picture = join(out, 'gallery', `${name}.svg`);
    const moves = join(out, 'gallery', `${name}-moves.svg`);
    const log = execFileSync(pawl, ['run', name, '--plot', picture, '--animate', moves], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']});
    const text = readFileSync(join(models, `${name}.yaml`), 'utf8');
    pages.push({path: `gallery/${name}.html`, text: modelPage(name, text, log)});
    all += `- [![${name} in motion](${name}-moves.svg) **${name}**](${name}.html) ${firstSentence(about(text))}\n`;
  }
  pages.push({path: 'gallery/index.html', text: all});
  return pages;
}
