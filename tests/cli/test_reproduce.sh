#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pawl reproduce: the benchmark passes, and says so in the same way to people and to programs.
. "$(dirname "$0")/lib.sh"

expect 0 reproduce new --json
paths
same "$(field papers.0.name)" new
same "$(field failed)" 0
near "$(field checks)" 300 100
same "$(field papers.0.cases.0.method)" event-driven:rk4
same "$(field papers.0.cases.0.origin)" "closed form"
same "$(field papers.0.cases.0.checks.0.what)" "time of the kink [s]"
near "$(field papers.0.cases.0.checks.0.value)" 3.165151389911680 1e-8
near "$(field papers.0.cases.0.checks.0.reference)" 3.165151389911680 1e-14
near "$(field papers.0.cases.0.checks.0.difference)" 0 1e-8
near "$(field papers.0.cases.0.checks.0.allowed)" 1e-8 0
same "$(field papers.0.cases.0.checks.0.pass)" true
# A time-stepping method: its constant is at least that of the step size shown.
same "$(field papers.0.cases.2.method)" nsga-pvv
near "$(field papers.0.cases.2.checks.0.constant_allowed)" 2 0
awk -v c="$(field papers.0.cases.2.checks.0.constant)" \
  -v d="$(field papers.0.cases.2.checks.0.difference)" \
  'BEGIN { exit !(c >= (d < 0 ? -d : d) / 1e-3 - 1e-9 && c <= 2) }' || complain "the constant"

# The table: every line of a check says pass, and the last line counts them.
expect 0 reproduce new
same "$(grep -c ' pass$' out)" "$(field checks)"
same "$(tail -n 1 out | sed 's/, in .*//')" "$(field checks) checks, 0 failed"
lacks out FAIL
[ -s err ] && complain "printed on standard error: $(cat err)"

expect 0 reproduce --help
has out "patil"
has out "bruls"
has out "mueller"
has out "pekarek"
has out "kovanda"
has out "locks"
expect 2 reproduce nosuch
has err "'nosuch'"
expect 2 reproduce --frob

# The models that stand in docs/benchmark.md run as the benchmark's do.
awk '/^```yaml/ { n++; next } /^```/ { next } n && /^(model|parameters|coordinates|mass|potential|forces|constraints|contacts|simulate| )/ {
  print >("page" n ".yaml") }' "$models/../docs/benchmark.md"
expect 0 run page1.yaml --method event-driven --json
paths
near "$(field final.q.x)" 1.181818181818182 1e-8
expect 0 run page2.yaml --method event-driven --json
paths
near "$(field final.q.y)" 2.119602311954264 1e-7
expect 0 run page3.yaml --method event-driven --json
paths
near "$(field final.q.x)" -0.112676173621 1e-7
expect 0 run page4.yaml --method event-driven --json
paths
near "$(field final.q.x)" 5.677782872563 1e-9
expect 0 run page7.yaml --method event-driven --smooth dopri --json
paths
near "$(field final.q.y)" 0.0363865053704 1e-9

# --- the page: figures of a paper with the reference values of its checks, and all checks ---
expect 0 reproduce kovanda --out page
has err "wrote page/index.html"
same "$(grep -c '<figure>' page/index.html)" 6
same "$(grep -c '<svg ' page/index.html)" 6
same "$(ls page)" index.html
has page/index.html "<b>Figure 5.</b>"
has page/index.html "<circle" # a reference value
has page/index.html "<code>pawl run two-mass-control --method taylor</code>"
lacks page/index.html "not drawn"
lacks page/index.html "FAIL"
lacks page/index.html "http://www.example"
checks=$(sed -n 's/.*: \([0-9]*\) checks, 0 failed; 6 figures.*/\1/p' page/index.html)
same "$(grep -c '<td>pass</tr>' page/index.html)" "$checks"
expect 2 reproduce kovanda --out page --json
has err "one of them"
expect 1 reproduce kovanda --out no/such
has err "cannot be made"

# Compiled expressions and steps do not change a digit. A few quick papers: each method of each case
# is a text for the compiler.
if [ -z "$sanitized" ] && command -v cc >/dev/null; then
  for native in on off; do
    XDG_CACHE_HOME=$work/cache expect 0 reproduce locks states contacts friction --native $native --json
    sed 's/"seconds": *[0-9.e-]*//' out >native-$native
  done
  cmp native-on native-off || complain "reproduce --native on: other digits"
  same "$(ls cache/pawl | grep -c '\.so$' | sed 's/^[1-9].*/some/')" some
fi
expect 2 reproduce --native perhaps
has err "auto, on or off"

# Everything takes a quarter of a minute in release, and too long with sanitizers.
if [ -z "$sanitized" ]; then
  expect 0 reproduce
  grep FAIL out >&2
  has out "== patil"
  has out "== bruls"
  has out "== mueller"
  has out "== pekarek"
  has out "== kovanda"
  has out "== locks"
  has out ", 0 failed, in"
fi
finish
