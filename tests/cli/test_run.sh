#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pawl run: what it prints and writes.
. "$(dirname "$0")/lib.sh"

# --- --json: one object with the fields that programs rely on ---
expect 0 run pendulum --json --until 1
paths
same "$(field model)" pendulum
same "$(field method)" ga-p
same "$(field status)" ok
near "$(field step)" 0.002 0
same "$(field steps)" 500
near "$(field newton_iterations)" 600 200
near "$(field factorizations)" 600 200
near "$(field wall_seconds)" 500 500
near "$(field final.t)" 1 0
# The reference, and h^2 times the constant of this scheme.
near "$(field final.q.theta)" 10.824839998058165 1e-3
near "$(field final.q.x)" -0.16990600794372768 1e-3
near "$(field final.v.theta)" 11.269798959562733 2e-3
near "$(field energy.start)" 60 1e-12
near "$(field energy.end)" 60 1e-2
near "$(field energy.max_drift)" 0.005 0.005
near "$(field residual.position)" 0 1e-10
has out '"events": []'
has err 'pendulum: ga-p, 500 steps' # the summary for people goes to standard error

same "$(field method_reason)" stated

# --- no method is stated: auto takes one that keeps what the model states, and says why ---
cat > track.yaml <<'END'
model: track
coordinates: {x: {rate: 1}, y: }
kinetic: (x'^2 + y'^2)/2
constraints:
  track:
    impact: bisector
    modes:
      flat: {where: x < 0.3, equation: y = 0}
      ramp: {where: 0.3 < x < 0.6, equation: y = x - 0.3}
      air: {where: x > 0.6, equation: none}
END
cat > push.yaml <<'END'
model: push
coordinates: {x: {rate: 1}}
mass: {x: 1}
forces: {x: 'if(t < 0.3337, 1, 0) - 2*max(0, x - 0.9)'}
END
expect 0 run push.yaml --json --method rk4 --step 0.01 --until 1
paths
same "$(field kinks)" 2
has err '2 steps ended at a kink'
expect 0 run push.yaml --json --method nsga-pva --step 0.01 --until 1
paths
same "$(field kinks)" 1
expect 0 run track.yaml --json
paths
same "$(field method)" event-driven
same "$(field options.smooth)" exponential
has out '"method_reason": "the equations are linear between the instants that are located"'
has err 'method event-driven over exponential: the equations are linear'
near "$(field final.q.x)" 0.794974746830583 1e-9
near "$(field energy.max_drift)" 0 1e-12
expect 0 run track.yaml --rtol 1e-6 --quiet
has err 'warning: --rtol 1e-6: the method event-driven over exponential, chosen by auto, has no use for it'
expect 1 run track.yaml --rtol 1e-6 --quiet --strict
expect 2 run track.yaml --form minimal -o form.csv
has err '--form minimal: the method event-driven over exponential, chosen by auto, has no use for it; these have: rk4, dopri'
[ ! -e form.csv ] && [ ! -e form.csv.part ] || complain 'a refused run leaves files'
expect 2 run track.yaml --method ga-p
has err "method ga-p cannot handle impact laws other than post (constraint 'track') of 'track'"
has err 'these can: ga-v-implicit, nsga-pvv, ga-pva, nsga-pva, moreau-jean, event-driven'
expect 0 check track.yaml
has out 'method              event-driven over exponential (the equations are linear'

# --- settings over those of the model, in both spellings ---
expect 0 run planar-3r --json --quiet --method=ga-p --step 1e-3 --until=0.4 -p phi0=-pi/2
paths
same "$(field method)" ga-p
same "$(field steps)" 400
near "$(field final.q.q1)" 0.47802968620668485 1e-4 # Mueller's pendulum hanging down, reference
[ -s err ] && complain "--quiet printed: $(cat err)"

# --- a parameter as an expression changes the motion as the formula says ---
expect 0 run two-mass-free --json -p 'm1=5*2/4' --until 1
paths
near "$(field final.q.s1)" -0.208073418273571 1e-6 # cos(sqrt(10/2.5))/2

# --- several outputs at once; a file is the same however it is asked for ---
mkdir many
expect 0 run pendulum --until 0.1 -o many/a.csv -o many/b.csv -o many/c.h5 --plot many/d.svg
same "$(ls many | tr '\n' ' ')" "a.csv b.csv c.h5 d.svg "
cmp -s many/a.csv many/b.csv || complain "the two CSV files differ"
check_csv many/a.csv 19
same "$(wc -l <many/a.csv | tr -d ' ')" 52
head -n 1 many/a.csv >header
has header "t,x,y,theta,x',y',theta',x'',y'',theta'',\"lambda(pin,1)\",\"lambda(pin,2)\",kinetic"
has header ",energy,residual.position,residual.velocity,residual.acceleration,pull"
near "$(awk -F , 'NR == 52 { print $1 }' many/a.csv)" 0.1 0
expect 0 run pendulum --until 0.1 -o - --quiet
cmp -s out many/a.csv || complain "-o - and -o a.csv differ"

same "$(od -An -tx1 -N 8 many/c.h5 | tr -d ' ')" 894844460d0a1a0a
if command -v h5dump >/dev/null; then
  h5dump -H many/c.h5 >dump || complain "h5dump cannot read the file"
  has dump 'DATASET "theta"'
  has dump 'ATTRIBUTE "unit"'
fi

has many/d.svg '<svg'
has many/d.svg '</svg>'
has many/d.svg 'theta'

# --- chosen columns ---
expect 0 run pendulum --until 0.01 --columns "t, theta', lambda(pin)" -o chosen.csv
same "$(head -n 1 chosen.csv)" "t,theta',\"lambda(pin,1)\",\"lambda(pin,2)\""
check_csv chosen.csv 4
expect 2 run pendulum --columns "t, tehta" -o wrong.csv
has err "'tehta' is not a column of this run; did you mean 'theta'?"
expect 2 run pendulum --columns t
[ -e wrong.csv ] && complain "wrong.csv was written"

# --- both sides of a jump: two rows with its time, whatever the method ---
for method in event-driven nsga-pvv; do
  expect 0 run kinked-track --method $method --columns "t, x', y', energy" -o jump.csv
  awk -F , 'seen && $1 == t { twice++; before = v; after = $2 } { t = $1; v = $2; seen = 1 }
    END { exit !(twice == 1 && before > 0.999 && after < 0.501) }' jump.csv ||
    complain "$method: not two rows at the jump"
done
expect 0 run kinked-track --method nsga-pvv -o jump.csv # a reference with jumps is no worse
expect 0 compare kinked-track --methods nsga-pvv --reference jump.csv --json
paths
near "$(field methods.0.end_error_v)" 0 1e-12
near "$(field methods.0.l1_v)" 0 1e-12

# --- what was run is in the JSON ---
expect 0 run pendulum --json --until 0.1 --rho 0.5 -p L=2
paths
near "$(field options.rho)" 0.5 0
same "$(field options.method)" ga-p
near "$(field parameters.L)" 2 0

# --- a picture of more samples than are kept: about the size of a small one ---
expect 0 run oscillator --method rk4 --step 1e-3 --until 100 --plot many.svg --quiet
expect 0 run oscillator --method rk4 --step 5e-3 --until 100 --plot few.svg --quiet
many=$(wc -c <many.svg) few=$(wc -c <few.svg)
[ "$many" -gt $((few / 2)) ] && [ "$many" -lt $((few * 2)) ] || complain "pictures of $many and $few bytes"

# --- the record interval ---
expect 0 run planar-3r -o r.csv
same "$(wc -l <r.csv | tr -d ' ')" 82

# --- a model in a file, by its path ---
expect 0 run "$models/oscillator.yaml" --json --until 1
paths
near "$(field final.q.x)" -0.416146836547142 1e-5 # cos 2

# --- a model from standard input: the same motion, and messages that say where it came from ---
expect 0 run "$models/oscillator.yaml" --until 1 -o file.csv
"$pawl" run - --until 1 -o stdin.csv <"$models/oscillator.yaml" 2>err || complain "run -: $(cat err)"
cmp -s file.csv stdin.csv || complain "a model from standard input moves differently"
mkfifo pipe
cat "$models/oscillator.yaml" >pipe &
"$pawl" run pipe --until 1 -o pipe.csv 2>err || complain "run pipe: $(cat err)"
cmp -s file.csv pipe.csv || complain "a model from a pipe moves differently"
for command in run check equations compare converge; do
  printf 'model: bad\ncoordinates: {x: {}}\npotential: y\n' | "$pawl" "$command" - >out 2>err
  same "$?" 2
  has err "<stdin>:3:12: in 'y': unknown name 'y'"
done

# --- a failing run: exit code 1, and what was computed is there, whole ---
cat >pit.yaml <<'MODEL'
model: pit
coordinates: {depth: {start: 1, rate: -2}}
mass: {depth: 1}
potential: 1e-3*sqrt(depth)
simulate: {step: 0.01, until: 2}
MODEL
mkdir partial
expect 1 run pit.yaml -o partial/pit.csv -o partial/pit.h5 --json
has err "pit.yaml:4"
has err "t = 0."
paths
same "$(field status)" failed
near "$(field final.t)" 0.5 0.011
check_csv partial/pit.csv 10
near "$(tail -n 1 partial/pit.csv | cut -d , -f 1)" 0.5 0.03
same "$(ls partial | tr '\n' ' ')" "pit.csv pit.h5 "

# --- a start off the constraints, and --project ---
cat >off.yaml <<'MODEL'
model: off
coordinates: {x: {start: 3}, y: {start: 4.5}}
mass: {x: 1, y: 1}
constraints: {rod: x^2 + y^2 = 25}
MODEL
expect 1 run off.yaml -o off.csv
has err "constraint 'rod' (row 1): its position is off by 4.25"
has err "--project"
[ -e off.csv ] && complain "off.csv was written for a run that did not start"
expect 0 run off.yaml --project --json --until 0.1
paths
near "$(field final.q.x)" 2.7735009811261455 1e-9 # 5 (2, 3)/sqrt(13)
near "$(field final.q.y)" 4.160251471689218 1e-9
has err "projected x: 3 -> 2.773500981"
has err "projected y: 4.5 -> 4.160251472"
lacks err "projected x'"
near "$(field projected.y.from)" 4.5 0
near "$(field projected.y.to)" 4.160251471689218 1e-9
has err "off at the stated start: 'rod' by 4.25"
near "$(field off_at_start.rod)" 4.25 0
expect 0 check off.yaml --project
has err "projected y: 4.5 -> 4.160251472"
expect 1 compare off.yaml --methods ga-p,rk4 --until 0.1
expect 0 compare off.yaml --methods ga-p,rk4 --until 0.1 --project --json
paths
same "$(field methods.1.status)" ok

# --- --keep: the rate of a crank stays, the slider follows (at a right angle s' = -r phi') ---
cat >crank.yaml <<'MODEL'
model: crank
parameters: {r: 0.1, l: 0.3}
coordinates: {phi: {start: pi/2, rate: -10}, s: {start: sqrt(l^2 - r^2)}, p: {start: 0.35}}
kinetic: 0.01/2*phi'^2 + s'^2/2 + p'^2/2
constraints: {rod: (s - r*cos(phi))^2 + (r*sin(phi))^2 = l^2}
contacts: {hit: {gap: p - s}}
simulate: {method: nsga-pva, until: 1e-3}
MODEL
expect 0 run crank.yaml --project
has err "projected phi': -10 -> -5"
expect 0 run crank.yaml --project --keep "phi'" --json
paths
near "$(field "projected.s'.to")" 1 1e-12
lacks err "projected phi'"
lacks err "projected p'"
expect 1 run crank.yaml --project --keep "phi', s'"
has err "cannot be projected while phi', s' is kept: 'rod' (row 1) is off by -0.566"
expect 2 run crank.yaml --project --keep "ph'"
has err "'ph'' is neither a coordinate nor a rate"
expect 2 run crank.yaml --keep "phi'"
expect 0 run off.yaml --project --keep x --until 0.1 --json # 3, 4, 5
paths
near "$(field projected.y.to)" 4 1e-12
lacks err "projected x"
sed 's/25/-25/' off.yaml >never.yaml
expect 1 check never.yaml --project --keep x

# --- a redundant row: a warning that names it ---
cat >twice.yaml <<'MODEL'
model: twice
coordinates: {x: {}, y: {}, z: {}}
mass: {x: 1, y: 1, z: 1}
constraints: {first: x = y, alone: z = 0, second: 2*y = 2*x}
MODEL
expect 0 run twice.yaml
has err "warning: redundant constraints: 'second' (row 1)"
has err "not unique are the multipliers of 'first' (row 1), 'second' (row 1)"
expect 1 run twice.yaml --strict --json
has err "--strict: 1 warning"
paths
same "$(field status)" failed
expect 1 check twice.yaml --strict
expect 0 run pendulum --until 0.1 --strict

# --- switches and impacts in the JSON, with the numbers of the papers' examples ---
expect 0 run kinked-track --json
paths
same "$(field 'events.0.constraint')" track
same "$(field 'events.0.from')" flat
same "$(field 'events.0.to')" ramp
near "$(field 'events.0.t')" 3 1e-11
near "$(field 'events.0.impulse.0')" 0.5 1e-11
near "$(field 'events.0.energy_lost')" 0.25 1e-11
near "$(field 'events.0.v_before.0')" 1 1e-11
near "$(field 'events.0.v_after.1')" 0.5 1e-11
same "$(field 'events.1.t')" ""
expect 0 run kinked-track --json --impact bisector
paths
near "$(field energy.end)" 0.5 1e-12
expect 0 run pothole-wheel --json
paths
same "$(field 'events.2.to')" after
near "$(field 'events.1.t')" 1.7645822642 1e-8
near "$(field 'events.1.energy_lost')" 3.1708709919 1e-7
expect 0 run bouncing-pendulum --json --until 1
paths
same "$(field 'events.0.constraint')" stop
near "$(field 'events.0.t')" 0.35118652540156553 1e-3
near "$(field 'events.1.t')" 0.9447410575195277 3e-3

# --- rk4 past the end of a mechanism's reach: never without a word ---
cat >drag.yaml <<'MODEL'
model: drag
coordinates: {x: {rate: 1}, y: {start: 1}}
mass: {x: 1, y: 1}
constraints: {circle: x^2 + y^2 = 1, wall: x = t}
simulate: {method: rk4, step: 0.25, until: 3}
MODEL
"$pawl" run drag.yaml >out 2>err
grep -qE 'drifted|depend|singular' err || complain "the drift was not mentioned: $(cat err)"

# --- energy is a balance: works by name, columns by name, a drift that none explains warns ---
cat >damped.yaml <<'MODEL'
model: damped
coordinates: {x: {start: 1}}
mass: {x: 1}
potential: 2*x^2
dissipation: 0.2*x'^2
simulate: {method: rk4, step: 0.01, until: 3}
MODEL
expect 0 run damped.yaml --json --strict --columns "t, work, energy.drift" -o works.csv
paths
near "$(field energy.work.dissipation)" -1.4319537131 1e-8
near "$(field energy.max_drift)" 0 1e-8
has err 'dissipation -1.431954 J; largest drift'
same "$(head -n 1 works.csv)" "t,work.dissipation,energy.drift"
expect 0 run damped.yaml --json --no-balance
paths
near "$(field energy.max_drift)" 1.4319537131 1e-8
expect 1 run oscillator --method rk4 --step 0.75 --until 30 --strict --quiet
has err 'the energy drifts by more than 1% of what the run has moved'
# A body that two rough corners hold at rest: what the tolerance of positions leaves is no motion, and
# the work along it no warning.
cat >jammed.yaml <<'MODEL'
model: jammed
coordinates: {x: 1.3, y: 0.7, p: 0.4}
mass: {x: 1, y: 1, p: 0.1}
forces: {x: -1.3121725197783392, y: -6.929141610081208, p: -1.3105046950976873}
functions:
  along(a, b, n, m): (x - 1.3 + a*(cos(p) - cos(0.4)) - b*(sin(p) - sin(0.4)))*n + (y - 0.7 + a*(sin(p) - sin(0.4)) + b*(cos(p) - cos(0.4)))*m
contacts:
  one: {gap: "along(-0.274394647748421, 0.4063390580375646, -0.9086426152817187, 0.41757466122119813)", friction: 1.5, slip: "along(-0.274394647748421, 0.4063390580375646, -0.41757466122119813, -0.9086426152817187)"}
  two: {gap: "along(-0.632367601667494, -0.044319791858457136, -0.1307078285585615, 0.9914209315691825)", friction: 1.5, slip: "along(-0.632367601667494, -0.044319791858457136, -0.9914209315691825, -0.1307078285585615)"}
simulate: {method: nsga-pva, until: 0.01, step: 0.001}
MODEL
expect 0 run jammed.yaml
has err "several motions obey the laws of friction at contact 'one', 'two'"
lacks err "the energy drifts"
printf '%s\n' 'model: leap' 'coordinates: {x: {rate: 1}}' 'mass: {x: 1}' \
  'potential: "0.3*floor(x*2)"' 'simulate: {until: 1.2}' > leap.yaml
expect 1 run leap.yaml --strict --quiet
has err 'the leaps named above are in it'
lacks err 'smaller rtol'

# Hits at one instant are told together: of them one takes what another gives, and nothing is lost.
expect 0 run newtons-cradle --until 0.3
has err 'pair[1], pair[2] and 2 more hit at 0.229438 s'
lacks err 'J lost'
lacks err 'J gained'

# So is all else of that instant; what rounding has changed of a start is not told.
expect 0 run gripper --until 0.6
has err 'table_1, table_2 open and inner, outer hit at 0.580175 s (0.1495 J lost)'
lacks err 'assembled'

# States and inputs: columns, JSON, check, equations, a run that goes on from a checkpoint.
expect 0 run pid-pendulum-sampled --until 0.5 -o pid.csv --json
paths
same "$(head -n 1 pid.csv | cut -d, -f1-7)" "t,phi,phi',phi'',u,I,ticks"
near "$(field final.q.phi)" 1.8051762452226945 1e-9
near "$(field final.inputs.ticks)" 51 0
expect 0 run motor-clutch --until 0.5 --json
paths
near "$(field final.states.i)" 18.596194829845928 1e-7
expect 0 check motor-clutch
has out 'states              2 with a rate'
has out 'degrees of freedom 2 -> 1 (local)'
expect 0 equations motor-clutch
has out "state i: i' = (U - R*i - k*theta')/L"
expect 2 inverse motor-clutch --motion phi=t
has err 'has first-order states'
expect 2 run motor-clutch --method php
has err 'cannot handle states and inputs'

# --- what the fuzzer of runs begins with runs to its end, and letters of scripts/fuzz are as many as methods ---
for seed in "$(dirname "$0")"/../fuzz/seeds/*.yaml; do
  expect 0 run "$seed" --quiet
done
methods=$(grep -c '^PAWL_METHOD' "$(dirname "$0")/../../src/step/methods.def")
letters=$(sed -n 's/.*for method in \(.*\); do.*/\1/p' "$(dirname "$0")/../../scripts/fuzz" | wc -w)
same "$letters" $((methods + 1))

finish
