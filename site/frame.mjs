// SPDX-License-Identifier: Apache-2.0
// What is around the text of every page: title, navigation, style.

const groups = [
  ['Start', [['index.html', 'pawl'], ['guides/start.html', 'Five minutes'], ['guides/tutorial.html', 'Tutorial'],
    ['gallery/index.html', 'Gallery']]],
  ['Guides', [['guides/lock-a-joint.html', 'Lock a joint'], ['guides/hand-over-a-body.html', 'Hand over a body'],
    ['guides/choose-a-method.html', 'Choose a method'], ['guides/choose-an-impact-law.html', 'Choose an impact law'],
    ['guides/my-run-does-not-converge.html', 'My run does not converge'],
    ['guides/singular-positions.html', 'Singular positions'], ['guides/control-loop.html', 'Close a control loop'],
    ['guides/what-pawl-cannot-do.html', 'What pawl cannot do'],
    ['guides/other-tools.html', 'Other tools']]],
  ['Reference', [['model-format.html', 'Model format'], ['bodies.html', 'Bodies and joints'], ['results.html', 'Files and output'],
    ['methods-by-models.html', 'Methods by models'], ['guides/c-library.html', 'pawl from C'], ['c-api.html', 'C API'],
    ['benchmark.html', 'Benchmark'], ['robustness.html', 'Faults met'], ['architecture.html', 'Architecture']]],
  ['Theory', [['notation.html', 'Notation'], ['theory/equations.html', 'Equations'],
    ['theory/switching.html', 'Switching'], ['theory/events.html', 'Engaging, letting go'], ['theory/impact.html', 'The jump'],
    ['theory/transition.html', 'Its three forms'], ['theory/rows.html', 'Rows with bounds'],
    ['theory/contacts.html', 'Located contacts'], ['theory/friction.html', 'Dry friction'], ['theory/shapes.html', 'Contacts between shapes'],
    ['theory/motion-forms.html', 'Forms of motion'], ['theory/initial.html', 'Consistent start'],
    ['theory/rotations.html', 'Rotations'], ['theory/rate.html', 'Rate equations'], ['theory/states.html', 'States and inputs'], ['theory/tables.html', 'Tables'],
    ['theory/kinks.html', 'Kinks'], ['theory/poles.html', 'Poles'], ['theory/energy.html', 'Energy'], ['theory/freedom.html', 'Degrees of freedom'],
    ['theory/equilibrium.html', 'Rest positions'], ['theory/inverse.html', 'Inverse dynamics'],
    ['theory/linear.html', 'Linear models'], ['theory/squares.html', 'Sums of squares'], ['theory/elementary.html', 'Sine, cosine, exp'], ['theory/kkt.html', 'KKT solver'],
    ['theory/generalized-alpha.html', 'generalized-alpha'], ['theory/ga-p.html', 'ga-p'], ['theory/nsga.html', 'nsga'],
    ['theory/moreau-jean.html', 'moreau-jean'], ['theory/php.html', 'php'], ['theory/rk4.html', 'rk4'],
    ['theory/dopri.html', 'dopri'], ['theory/sundials.html', 'ark, ida']]],
  ['Papers', [['papers.html', 'Item by item'], ['errata.html', 'Errata']]],
];

export const inNavigation = new Set(groups.flatMap(([, entries]) => entries.map(([target]) => target)));

function entry([target, name], path, up) {
  return `<li><a href="${up}/${target}"${target === path ? ' aria-current="page"' : ''}>${name}</a></li>`;
}

function navigation(path, up) {
  return groups.map(([title, entries]) =>
    `<details${entries.some(([target]) => target === path) || title === 'Start' ? ' open' : ''}><summary>${title}</summary>` +
    `<ul>${entries.map((one) => entry(one, path, up)).join('')}</ul></details>`).join('\n');
}

export function frame({title, body, path, up}) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title.replace(/&/g, '&amp;').replace(/</g, '&lt;')}${title === 'pawl' ? '' : ' · pawl'}</title>
<link rel="stylesheet" href="${up}/style.css">
</head>
<body>
<a class="skip" href="#text">To the text</a>
<nav aria-label="Pages">
${navigation(path, up)}
</nav>
<main id="text">
${body}</main>
</body>
</html>
`;
}
