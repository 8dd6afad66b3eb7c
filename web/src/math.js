// SPDX-License-Identifier: Apache-2.0
// The LaTeX that `pawl equations --latex` prints, as MathML, which browsers draw themselves. It
// knows what pawl writes and no more; an unknown command is shown as its name.
const LETTERS = {
  alpha: 'α', beta: 'β', gamma: 'γ', delta: 'δ', epsilon: 'ϵ', zeta: 'ζ', eta: 'η', theta: 'θ', iota: 'ι', kappa: 'κ', lambda: 'λ', mu: 'μ', nu: 'ν', xi: 'ξ', pi: 'π', rho: 'ρ', sigma: 'σ', tau: 'τ', phi: 'φ', chi: 'χ', psi: 'ψ', omega: 'ω',
  Gamma: 'Γ', Delta: 'Δ', Theta: 'Θ', Lambda: 'Λ', Xi: 'Ξ', Pi: 'Π', Sigma: 'Σ', Phi: 'Φ', Psi: 'Ψ', Omega: 'Ω',
};
const SIGNS = { partial: '∂', cdot: '⋅', le: '≤', leq: '≤', ge: '≥', geq: '≥', ne: '≠', neq: '≠', lfloor: '⌊', rfloor: '⌋', land: '∧', lor: '∨', neg: '¬', lvert: '|', rvert: '|', infty: '∞', to: '→', wedge: '∧', vee: '∨', lnot: '¬', times: '×', colon: ':', mid: '|', bmod: 'mod' };
const ACCENTS = { dot: '˙', ddot: '¨' };
const SPACES = { ',': '0.17em', ' ': '0.3em', quad: '1em', qquad: '2em', ';': '0.28em', '!': '0' };

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function tokens(latex) {
  return latex.match(/\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[a-zA-Z]|[^\s]/gs) ?? [];
}

// Brackets keep their size: few fonts for mathematics are installed where reports are read.
function fenceSign(sign) {
  return `<mo stretchy="false">${escape(sign)}</mo>`;
}

class Reader {
  constructor(latex) {
    this.tokens = tokens(latex);
    this.at = 0;
  }

  get next() {
    return this.tokens[this.at];
  }

  take() {
    return this.tokens[this.at++];
  }

  // { ... } as text, spaces apart, which tokens have lost.
  words() {
    let out = '';
    if (this.next !== '{') return this.take() ?? '';
    this.take();
    for (let depth = 1; this.at < this.tokens.length; ) {
      const token = this.take();
      depth += (token === '{') - (token === '}');
      if (depth === 0) break;
      out += token.replace(/^\\(.)$/, '$1');
    }
    return out;
  }

  group() {
    if (this.next !== '{') return this.atom();
    this.take();
    const inside = this.row('}');
    this.take();
    return `<mrow>${inside}</mrow>`;
  }

  row(...ends) {
    let out = '';
    while (this.at < this.tokens.length && !ends.includes(this.next)) out += this.scripted();
    return out;
  }

  scripted() {
    let base = this.atom();
    let sub;
    let sup;
    while (this.next === '_' || this.next === '^') {
      if (this.take() === '_') sub = this.group();
      else sup = this.group();
    }
    if (sub && sup) base = `<msubsup>${base}${sub}${sup}</msubsup>`;
    else if (sub) base = `<msub>${base}${sub}</msub>`;
    else if (sup) base = `<msup>${base}${sup}</msup>`;
    return base;
  }

  fence() {
    const token = this.take() ?? '';
    const sign = token === '.' ? '' : SIGNS[token.slice(1)] ?? token.replace(/^\\/, '');
    return fenceSign(sign);
  }

  atom() {
    const token = this.take();
    if (token === undefined) return '';
    if (token === '{') {
      this.at--;
      return this.group();
    }
    if (/^\d/.test(token)) return `<mn>${token}</mn>`;
    if (/^[a-zA-Z]$/.test(token)) return `<mi>${token}</mi>`;
    if ('()[]|'.includes(token)) return fenceSign(token);
    if (!token.startsWith('\\')) return `<mo>${escape(token === '-' ? '−' : token)}</mo>`;
    return this.command(token.slice(1));
  }

  command(name) {
    if (name in LETTERS) return `<mi>${LETTERS[name]}</mi>`;
    if (name in SIGNS) return `<mo>${SIGNS[name]}</mo>`;
    if (name in SPACES) return `<mspace width="${SPACES[name]}"></mspace>`;
    if (name in ACCENTS) return `<mover accent="true">${this.group()}<mo>${ACCENTS[name]}</mo></mover>`;
    if (name === 'frac') return `<mfrac>${this.group()}${this.group()}</mfrac>`;
    if (name === 'sqrt') return `<msqrt>${this.group()}</msqrt>`;
    if (['mathrm', 'text', 'operatorname'].includes(name)) return `<mi mathvariant="normal">${escape(this.words())}</mi>`;
    if (name === 'left' || name === 'right') return this.fence();
    if (/^[bB]ig+[lr]?$/.test(name)) return this.fence();
    if (name === 'begin') return this.cases();
    return `<mi mathvariant="normal">${escape(name)}</mi>`;
  }

  // \begin{cases} a & b \\ ... \end{cases}
  cases() {
    this.words();
    let body = '';
    while (this.at < this.tokens.length && this.next !== '\\end') {
      body += `<mtr><mtd>${this.row('&', '\\\\', '\\end')}</mtd>`;
      while (this.next === '&') {
        this.take();
        body += `<mtd>${this.row('&', '\\\\', '\\end')}</mtd>`;
      }
      if (this.next === '\\\\') this.take();
      body += '</mtr>';
    }
    this.take();
    this.words();
    return `<mrow><mo stretchy="true">{</mo><mtable>${body}</mtable></mrow>`;
  }
}

export function mathOf(latex, display = false) {
  return `<math${display ? ' displaystyle="true"' : ''}><mrow>${new Reader(latex).row()}</mrow></math>`;
}

// One row of an align: left & right; a broken line has an empty left side.
function alignRow(line) {
  const cut = line.indexOf('&');
  const [left, right] = cut < 0 ? ['', line] : [line.slice(0, cut), line.slice(cut + 1)];
  return `<mtr><mtd style="text-align:right;padding-right:0">${new Reader(left).row()}</mtd><mtd style="text-align:left;padding-left:0">${new Reader(right).row()}</mtd></mtr>`;
}

// Rows are cut at \\ outside of cases.
function rowsOf(body) {
  const rows = [''];
  let depth = 0;
  for (const part of body.split(/(\\\\|\\begin\{\w+\}|\\end\{\w+\})/)) {
    if (part.startsWith('\\begin')) depth++;
    if (part.startsWith('\\end')) depth--;
    if (part === '\\\\' && depth === 0) rows.push('');
    else rows[rows.length - 1] += part;
  }
  return rows.filter((row) => row.trim());
}

function plain(text) {
  return escape(text.replace(/\\\\$/gm, '').replace(/\\noindent\s*/g, '').replace(/\\([_%&#{}$])/g, '$1').replace(/\\([\^~])\{\}/g, '$1').replaceAll('\\textbackslash{}', '\\').trim());
}

function paragraph(text) {
  const clean = text.trim();
  if (!clean) return '';
  const parts = clean.split(/\$([^$]+)\$/);
  return `<p>${parts.map((part, k) => (k % 2 ? mathOf(part) : plain(part))).join(' ')}</p>`;
}

// The whole document as HTML.
export function documentOf(latex) {
  const body = latex.replace(/^[\s\S]*?\\begin\{document\}/, '').replace(/\\end\{document\}[\s\S]*$/, '');
  let out = '';
  const pattern = /\\section\*\{([^\n]*)\}\n|\\paragraph\{([^\n]*)\}\n|\\\[([\s\S]*?)\\\]|\\begin\{align\*\}([\s\S]*?)\\end\{align\*\}/g;
  let last = 0;
  for (const match of body.matchAll(pattern)) {
    out += body.slice(last, match.index).split(/\n\s*\n/).map(paragraph).join('');
    last = match.index + match[0].length;
    if (match[2] !== undefined) out += `<h3>${plain(match[2])}</h3>`;
    else if (match[3] !== undefined) out += `<p>${mathOf(match[3], true)}</p>`;
    else if (match[4] !== undefined) out += `<div class="align"><math displaystyle="true"><mtable>${rowsOf(match[4]).map(alignRow).join('')}</mtable></math></div>`;
  }
  return out + body.slice(last).split(/\n\s*\n/).map(paragraph).join('');
}
