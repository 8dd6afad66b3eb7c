#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pawl converge: distances by hand, and the orders that theory promises.
. "$(dirname "$0")/lib.sh"

# order METHOD_NUMBER WINDOW PART NORM EXPECTED TOLERANCE
order() {
  near "$(field "methods.$1.$2.$3.$4.order")" "$5" "$6"
}

# --- Hausdorff distances by hand. The rate x' falls from 1 to 1/2 at 3 s; nsga-pva makes of it the
# line from (t_n, 1) to (t_n + h, 1/2). The corners (3, 1) and (3, 1/2) of the true graph are at
# (3 - t_n)/2 and (t_n + h - 3)/2 over sqrt(h^2 + 1/4) from it. At the steps themselves both agree.
expect 0 converge kinked-track --methods nsga-pva --steps 0.7,0.65,0.62 --json
paths
graph=methods.0.whole_run.v.hausdorff.distances
near "$(field $graph.0)" 0.290619 1e-5 # t_n = 2.8: 0.5/2 / sqrt(0.74)
near "$(field $graph.1)" 0.243884 1e-5 # t_n = 2.6: 0.4/2 / sqrt(0.6725)
near "$(field $graph.2)" 0.326431 1e-5 # t_n = 2.48: 0.52/2 / sqrt(0.6344)
same "$(field methods.0.whole_run.v.l1.exact)" true
same "$(field methods.0.whole_run.q.l1.exact)" true

# --- smooth motion ---
expect 0 converge pendulum --methods ga-p,ga-pva,rk4 --steps 4e-3:5e-4:8 --until 0.5 --json
paths
same "$(field model)" pendulum
same "$(field reference)" "rk4 at 1/10 of each step"
same "$(field methods.0.status)" ok
near "$(field methods.0.steps.0)" 0.004 1e-15
near "$(field methods.0.steps.7)" 0.0005 1e-15
for part in q v; do
  for norm in l1 hausdorff; do
    order 0 whole_run $part $norm 2 0.1
    order 1 whole_run $part $norm 2 0.1
  done
done
order 2 whole_run q l1 4 0.2
same "$(field methods.0.before_first_switch.q.l1.order)" "" # nothing switches

# --- before the first switch, and across it ---
expect 0 converge cam-follower --methods nsga-pva,nsga-pvv,moreau-jean --steps 8e-3:1e-3:10 --until 2 --json
paths
order 0 before_first_switch q l1 2 0.1
order 0 before_first_switch v hausdorff 2 0.1
order 1 before_first_switch q l1 1 0.1
order 2 before_first_switch q l1 1 0.1
order 0 whole_run v hausdorff 1 0.5 # ten sizes: its standard error is near 0.2
expect 0 converge cam-follower --methods event-driven,event-driven:ga-pva --steps 4e-2:1e-2:8 --until 2 --json
paths
same "$(field methods.1.method)" event-driven:ga-pva
order 0 before_first_switch q l1 4 0.1
order 0 whole_run q l1 4 0.1
order 0 whole_run v hausdorff 4 0.1
order 1 whole_run q l1 2 0.1

# --- the table, a method that refuses, and a motion that every method has exactly ---
expect 0 converge kinked-track --methods rk4,nsga-pvv --steps 3.1e-2,2.3e-2,1.7e-2
has out "rk4                method rk4 cannot handle"
grep -q '^nsga-pvv  *before first switch  *exact  *exact  *exact  *exact  *3$' out ||
  complain "the rows of nsga-pvv: $(cat out)"
expect 0 converge oscillator --methods ga-p --until 1 # the default steps
grep -qE '^ga-p +whole run +(2.0|1.9).* 24$' out || complain "oscillator: $(cat out)"

# --- wrong calls ---
expect 0 help converge
has out "Hausdorff"
expect 2 converge
for steps in 1e-3 1e-3,2e-3 1e-3,0,2e-3 1e-3,a,2e-3 1e-3:2e-3:4 1e-2:1e-3:2 1e-2:1e-3 1e-2:1e-3:900 '1e-2,1e-3,' ''; do
  expect 2 converge pendulum --methods ga-p --steps "$steps"
  has err "--steps"
done
expect 2 converge pendulum --methods foo
has err "unknown method 'foo'"
# --- a picture: the order in the legend, marks for every step, the fitted line ---
expect 0 converge oscillator --methods ga-p,rk4 --steps 0.1:0.01:6 --until 3 --plot o.svg
has err "wrote o.svg"
has o.svg ">whole run<"
has o.svg ">step [s]<"
has o.svg ">time of the run [s]<"
has o.svg ">L1 distance of v<"
grep -q '>ga-p  *2\.0[0-9] ± ' o.svg || complain "the order of ga-p is not in the legend"
grep -q '>rk4  *4\.[0-9]* ± ' o.svg || complain "the order of rk4 is not in the legend"
same "$(grep -c 'class="expected"' o.svg)" 4 # two methods, q and v
expect 1 converge oscillator --methods ga-p --plot no-such-folder/o.svg
has err "no-such-folder/o.svg: cannot be written"
same "$(cat out)" "" # known before the first step
expect 2 converge oscillator --methods ga-p --plot o.gif
has err "must end in .svg, .pdf or .png"
finish
