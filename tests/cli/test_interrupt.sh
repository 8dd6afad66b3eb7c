#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C and a hang-up: the run ends after the present step, and what was computed until then is written, whole.
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
