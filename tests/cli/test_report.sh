#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pawl run --report: what it says when the page is missing, before the run, and the file it writes.
. "$(dirname "$0")/lib.sh"

export PAWL_DATA="$work/nowhere"
expect 2 run pendulum --report a.html
grep -q "the page report.html is not there (sought in $work/nowhere)" err || complain "no word of the missing page"
grep -q "cmake --build build --target page" err || complain "no word of how to make the page"
[ ! -e a.html ] || complain "a report without a page"
expect 2 run robot-6r-brake --report a.html
grep -q "report-space.html is not there" err || complain "a scene in space has a page of its own"

mkdir data
export PAWL_DATA="$work/data"
echo '<html><!--pawl:run--></html>' >data/report.html
expect 2 run pendulum --report a.pdf
grep -q -- '--report a.pdf: the name must end in .html' err || complain "any name is taken"
expect 2 run pendulum --report a.html --checkpoint c --every 1
grep -q "without checkpoints" err || complain "checkpoints and reports"

expect 0 run pothole-wheel --report a.html --until 2 -o a.csv --columns "t, x"
grep -q 'wrote a.html' err || complain "no word of the report"
grep -q '"to":"right_edge"' a.html || complain "the report has no events"
grep -q '"status": "ok"' a.html || complain "the report has no summary"
grep -q 'left_edge:' a.html || complain "the report has no text of the model"
[ "$(head -n 1 a.csv)" = t,x ] || complain "--columns is not for -o alone"
"$pawl" run - --report b.html --quiet <"$models/oscillator.yaml" || complain "a model on standard input has no report"
grep -q '"name":"oscillator"' b.html || complain "another model"

# A long run: thinned, small, and the same bits each time.
expect 0 run oscillator --report long.html --until 100 --step 1e-4
expect 0 run oscillator --report again.html --until 100 --step 1e-4
[ "$(wc -c <long.html)" -lt 2000000 ] || complain "a long run has a large report"
strip() { sed 's/"wall_seconds": [^,]*//g' "$1"; }
[ "$(strip long.html | cksum)" = "$(strip again.html | cksum)" ] || complain "two runs, two reports"
finish
