// SPDX-License-Identifier: Apache-2.0
// Displayed equations. In the theory pages they are plain text in an indented block, aligned by hand, with a label at the
// end of a line: `q = q̃ + U      (N1)   P (75)`. Here indices sink, exponents rise and labels go to the margin.

const label = /\s{2,}(\([A-Z]{1,3}\d+[a-z]?\)(?:\s+.*)?)$/;

function escape(text) {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

function raise(text) {
  return escape(text)
    .replace(/_\{([^{}]*)\}/g, '<sub>$1</sub>')
    .replace(/_([\p{L}\p{N}]+)/gu, '<sub>$1</sub>')
    .replace(/\^\{([^{}]*)\}/g, '<sup>$1</sup>')
    .replace(/\^([-−]?[\p{L}\p{N}]+|\*)/gu, '<sup>$1</sup>');
}

// Indices in running text: t_{n+1}, g_t; not in names with several letters behind the bar.
export function sink(html) {
  return html.replace(/_\{([^{}]*)\}/g, '<sub>$1</sub>').replace(/(?<=\p{L})_([\p{L}\p{N}])(?![\p{L}\p{N}_])/gu, '<sub>$1</sub>');
}

function setLine(line) {
  const found = label.exec(line);
  if (!found) return `<span class="line">${raise(line)}</span>`;
  const [id, ...source] = found[1].split(/\s{2,}/);
  const text = raise(line.slice(0, found.index));
  return `<span class="line" id="${id.slice(1, -1)}">${text}<span class="label">${escape([...source, id].join('  '))}</span></span>`;
}

// HTML of an indented block, or nothing where none of its lines has a label: then it is no equation.
export function setEquation(content) {
  const lines = content.replace(/\n$/, '').split('\n');
  if (!lines.some((line) => label.test(line))) return undefined;
  return `<div class="equation" role="math">${lines.map(setLine).join('\n')}</div>\n`;
}
