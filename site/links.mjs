// SPDX-License-Identifier: Apache-2.0
// Every link inside the site leads to a file that exists, and to a place in it.
import {existsSync, readFileSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';

function identifiers(text) {
  return new Set([...text.matchAll(/\sid="([^"]*)"/g)].map((match) => match[1]));
}

export function checkLinks(out, pages) {
  const known = new Map(pages.map((page) => [page, identifiers(readFileSync(page, 'utf8'))]));
  const lost = [];
  for (const page of pages) {
    for (const match of readFileSync(page, 'utf8').matchAll(/\s(?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(match[1])) continue;
      const [path, place] = decodeURI(match[1]).split('#');
      const target = path ? join(dirname(page), path) : page;
      const good = existsSync(target) && (!place || !known.has(target) || known.get(target).has(place));
      if (!good) lost.push(`${relative(out, page)}: ${match[1]} leads nowhere`);
    }
  }
  return lost;
}
