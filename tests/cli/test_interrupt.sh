#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C and a hang-up: the run ends at once, and what was computed until then is written, whole.
. "$(dirname "$0")/lib.sh"

# interrupt SIGNAL: a run of many hours is ended after a moment.
interrupt() {
  rm -f x.csv x.svg
  "$pawl" run pendulum --step 1e-6 --until 5e3 --record 1e-3 -o x.csv --plot x.svg --json \
    >out 2>err </dev/null &
  process=$!
  sleep 1
  kill -"$1" "$process"
  wait "$process"
  same "$?" 130
  has err "interrupted"
  check_csv x.csv 19
  has x.svg '</svg>'
  paths
  same "$(field status)" interrupted
  last=$(tail -n 1 x.csv | cut -d , -f 1)
  near "$(field final.t)" "$last" 1.001e-3 # no more than one sample interval behind the state
  awk -v t="$last" 'BEGIN { exit !(t > 0 && t < 5e3) }' || complain "the last time is $last"
  same "$(ls -A | tr '\n' ' ')" "err out paths x.csv x.svg "
}
: >paths
interrupt INT
interrupt TERM
interrupt HUP
: >paths

# --- inside a step: one of these would take minutes ---
inside() {
  rm -f x.csv
  "$pawl" run pendulum --method "$1" --step 1e5 --until 1e6 --rtol 1e-10 --atol 1e-12 -o x.csv >out 2>err </dev/null &
  process=$!
  sleep 1
  kill -INT "$process"
  (sleep 5; kill -KILL "$process" 2>/dev/null) &
  watch=$!
  wait "$process"
  same "$?" 130
  kill "$watch" 2>/dev/null
  has err "interrupted"
  check_csv x.csv 19
}
inside dopri # ida and ark give up by themselves after 20000 steps, which may be sooner

# --- rows at instants count in the summary: its residual is the largest of the column ---
expect 0 run stick-slip --method rk4 -o x.csv --json
paths
largest=$(awk -F, '!/^#/ && !column { for (i = 1; i <= NF; i++) if ($i ~ /^residual.velocity/) column = i; next }
  !/^#/ && $column > most { most = $column } END { print most }' x.csv)
near "$(field residual.velocity)" "$largest" 1e-20
awk -v r="$largest" 'BEGIN { exit !(r > 0) }' || complain "the residual is $largest: nothing is shown"
: >paths

# --- what a killed run leaves is replaced, and that is said ---
for ending in csv h5; do
  printf 'left over' >"stale.$ending.part"
  expect 0 run pendulum --until 0.1 -o "stale.$ending"
  [ -e "stale.$ending.part" ] && complain "stale.$ending.part is still there"
  has err "stale.$ending.part is of a run that did not end; it is replaced"
  [ -s "stale.$ending" ] || complain "no stale.$ending"
  expect 0 run pendulum --until 0.1 -o "stale.$ending"
  lacks err 'is replaced'
done

finish
