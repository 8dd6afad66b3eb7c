#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pawl compare: distances from a reference, measures of a run, and methods that refuse; pawl bench of named models.
. "$(dirname "$0")/lib.sh"

# --- distances that can be worked out by hand: x = t, against files with other lines ---
cat >glide.yaml <<'MODEL'
model: glide
coordinates: {x: {rate: 1}}
mass: {x: 1}
simulate: {until: 1, step: 0.1}
MODEL
awk 'BEGIN { print "t,x,x'\''"; for (k = 0; k <= 4; k++) print k / 4 "," k / 4 + 0.5 ",1.25" }' >shifted.csv
expect 0 compare glide.yaml --methods rk4 --reference shifted.csv --json
paths
same "$(field model)" glide
same "$(field reference)" shifted.csv
near "$(field methods.0.end_error_q)" 0.5 1e-12
near "$(field methods.0.l1_q)" 0.5 1e-12
near "$(field methods.0.end_error_v)" 0.25 1e-12
near "$(field methods.0.l1_v)" 0.25 1e-12
# Columns in another order and further ones; x = 2 t has the mean error 1/2 and the last one 1.
awk 'BEGIN { print "t,\"other, quoted\",x'\'',x"; for (k = 0; k <= 8; k++) print k / 8 ",7,1," k / 4 }' >twice.csv
expect 0 compare glide.yaml --methods rk4 --reference twice.csv --json
paths
near "$(field methods.0.end_error_q)" 1 1e-12
near "$(field methods.0.l1_q)" 0.5 1e-12
near "$(field methods.0.end_error_v)" 0 1e-12

# --- a cubic between samples: x = cos 2 t from samples 0.1 apart is good to (0.2)^4/384 ---
expect 0 run oscillator --method rk4 --step 1e-4 --record 0.1 --until 3 --quiet -o o.csv
expect 0 compare oscillator --methods rk4 --step 1e-3 --until 3 --reference o.csv --json
paths
near "$(field methods.0.l1_q)" 0 5e-6

# --- a run against a file of itself ---
expect 0 run pothole-wheel --method nsga-pva --quiet -o w.csv
expect 0 compare pothole-wheel --methods nsga-pva --reference w.csv --json
paths
near "$(field methods.0.l1_q)" 0 0
near "$(field methods.0.end_error_v)" 0 0

# --- the measures, on the kinked track: index 3 is a saw, the others are not ---
expect 0 compare kinked-track -p l=3.0001 --methods ga-p,ga-v,nsga-pvv,event-driven:ga-p --json
paths
same "$(field reference)" "event-driven over rk4 with step 0.0002 s"
near "$(field methods.0.oscillation_v)" 2 0.05
near "$(field methods.1.oscillation_v)" 0 0.01
near "$(field methods.2.oscillation_v)" 0 0.01
near "$(field methods.2.oscillation_lambda)" 0 0.01
near "$(field methods.0.energy_change)" -0.25 1e-6
near "$(field methods.1.residual.position)" 9e-4 2e-4 # (h - 0.0001)/2
near "$(field methods.2.residual_after_tenth.velocity)" 0 1e-12
same "$(field methods.2.events)" 1
same "$(field methods.2.steps)" 3000
near "$(field methods.2.newton_iterations_per_step)" 2 2
near "$(field methods.2.microseconds_per_step)" 5000 5000
same "$(field methods.3.method)" event-driven:ga-p
near "$(field methods.3.end_error_q)" 0 1e-9
expect 0 compare kinked-track -p l=3.0001 --methods ga-a,event-driven --impact none --json
paths
near "$(field methods.0.energy_change)" 0 1e-12
near "$(field methods.0.residual.velocity)" 1 1e-9
near "$(field methods.0.end_error_q)" 1.5 1e-3
same "$(field methods.1.status)" failed # only ga-a knows a switch without a jump

# --- residuals after the first tenth leave out the start ---
expect 0 compare pendulum --methods ga-p --until 5 --json
paths
near "$(field methods.0.residual.acceleration)" 5.0564607 1e-3 # a second program of the method
near "$(field methods.0.residual_after_tenth.acceleration)" 0.05 0.05 # 0.9^n has died out

# --- other references ---
expect 0 compare cam-follower --methods nsga-pva --until 2 --reference event-driven:rk4@1e-4 --json
paths
same "$(field reference)" "event-driven over rk4 with step 0.0001 s"
near "$(field methods.0.end_error_q)" 2e-3 2e-3
expect 0 compare pendulum --methods ga-p --until 0.1 --json
paths
same "$(field reference)" "rk4 with step 0.0002 s"
expect 0 compare bouncing-pendulum --methods moreau-jean --until 0.5 --json
paths
same "$(field methods.0.status)" ok

# --- a method that refuses gets its message, and the others go on ---
expect 0 compare kinked-track --methods rk4,nsga-pvv --until 4
has out "rk4                method rk4 cannot handle the switching constraints"
grep -q '^nsga-pvv  *[0-9.e+-]* ' out || complain "nsga-pvv has no row: $(cat out)"
expect 0 compare kinked-track --methods rk4,nsga-pvv --until 4 --json
paths
same "$(field methods.0.status)" failed
has out "cannot handle the switching constraints"
same "$(field methods.1.status)" ok
expect 1 compare kinked-track --methods rk4
expect 0 compare pothole-wheel --until 1 # every method
has out "us/step"
has out "residuals in the whole run"

# --- wrong calls ---
expect 0 help compare
has out "second differences"
expect 2 compare
expect 2 compare pendulum --methods
expect 2 compare pendulum --methods ga-p,foo
has err "unknown method 'foo'"
expect 2 compare pendulum --reference rk4@-1
expect 2 compare pendulum --reference foo@1e-3
has err "unknown method 'foo'"
expect 1 compare pendulum --reference nosuch.csv
has err "nosuch.csv"
expect 2 compare pendulum --reference glide.yaml
expect 2 compare pendulum --reference shifted.csv
has err "lacks columns of the model"
expect 2 compare glide.yaml --reference shifted.csv --until 2
has err "ends at t = 1"
printf 't,x,x'\''\n0,0,1\n1,one,1\n' >broken.csv
expect 2 compare glide.yaml --reference broken.csv
has err "broken.csv: line 3"
printf 't,x,x'\''\n0,0,1\n' >short.csv
expect 2 compare glide.yaml --reference short.csv
: >empty.csv
expect 2 compare glide.yaml --reference empty.csv
# --- a picture: errors over time for every method that ran ---
expect 0 compare oscillator --methods ga-p,rk4,php --until 1 --plot o.pdf
has o.pdf "(error of the coordinates)"
expect 0 compare oscillator --methods ga-p,rk4,nsga-pva --until 1 --plot o.svg --json
paths
same "$(grep -c '>rk4<' o.svg)" 2
same "$(grep -c 'class="curve"' o.svg)" 6
# What is below rounding is drawn as rounding: the axis of errors has no exponents below.
expect 0 compare kinked-track --methods event-driven,nsga-pva --plot k.svg -q
same "$(cat err)" ""
has k.svg ">10⁻¹⁶<"
grep -E '>10⁻(²|³|⁴|⁵|⁶|⁷|⁸|⁹)(⁰|¹|²|³|⁴|⁵|⁶|⁷|⁸|⁹)<' k.svg && complain "the axis goes far below rounding"
expect 2 compare oscillator --plot o.gif

# --- bench: named models, methods and parameters; a file of the name of an example is that file ---
expect 0 bench chain -p N=4 --methods ga-p,nsga-pva,exponential --until 0.01 --json
paths
same "$(field unit.model)" planar-3r
same "$(field models.0.model)" chain
same "$(field models.0.method)" ga-p
same "$(field models.0.coordinates)" 12
same "$(field models.0.steps)" 10
near "$(field models.0.factorizations_per_step)" 1 1
near "$(field models.1.relative_to_unit)" 5e5 5e5
same "$(field models.1.method)" nsga-pva
lacks out exponential # refuses the chain
same "$(field status)" ok
cp glide.yaml planar-3r
expect 0 bench planar-3r --methods rk4 --json
paths
same "$(field models.0.model)" glide
rm planar-3r
expect 2 bench --methods rk4 -p N=4
has err "for models that are named"
expect 2 bench nowhere
has err "neither a file nor an example"

finish
