#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pawl check and pawl equations: what a model amounts to.
. "$(dirname "$0")/lib.sh"

expect 0 check pendulum
for text in "coordinates         3" "constraint rows     2" "degrees of freedom  1" "ready to run"; do
  has out "$text"
done
has out "factorisation       dense"
expect 0 check elastic-bar
has out "factorisation       band"
expect 0 check elastic-bar --json
paths
same "$(field factorisation)" band
expect 0 check chain -p N=20
has out "factorisation       blocks"
expect 0 check bouncing-bar # of php: the normal form with its k and the bound 36/L^2
has out 'projection          normal form along y, k = 72; Lemma 1 asks for more than 36'
expect 0 check bouncing-bar -p L=0.5 --json
paths
same "$(field normal_form.along)" y
near "$(field normal_form.k_c)" 144 1e-4

expect 0 check pendulum --json
paths
same "$(field coordinates)" 3
same "$(field constraint_rows)" 2
same "$(field degrees_of_freedom)" 1
same "$(field redundant_rows)" 0
near "$(field energy)" 60 1e-12
same "$(field problem)" ""

# Rate equations: degrees of freedom at two levels, and what can be integrated.
expect 0 check skater
has out "degrees of freedom  3 of position, 2 of velocity: 1 rate equation"
lacks out "integrable"
expect 0 check rolling-disc --json
paths
same "$(field degrees_of_freedom)" 3
same "$(field degrees_of_freedom_position)" 5
cat >rolls.yaml <<'MODEL'
model: rolls
coordinates: {x: {rate: 1}, phi: {rate: 2}, psi: }
mass: {x: 1, phi: 1, psi: 1}
constraints: {roll: {rate: "x' = phi'/2"}, blade: {rate: "psi'*cos(phi) = 0*x'"}}
MODEL
expect 0 check rolls.yaml
has out "integrable          rate equation 'roll' (row 1)"
expect 0 check rolls.yaml --json
paths
same "$(field integrable.0.constraint)" roll
# A heap that rubs: slips of contacts that stick are no rate equations, and hundreds of contacts
# take no search for a rest without friction.
cat >heap.yaml <<'MODEL'
model: heap
parameters: {B: 2, r: 0.1, s: 2*r, d: sqrt(4*r^2 - s^2/4)}
coordinates:
  x[k=1..B,i=1..B-k+1]: {start: s*(i + (k-1)/2)}
  y[k=1..B,i=1..B-k+1]: {start: r + d*(k-1)}
  p[k=1..B,i=1..B-k+1]:
define:
  u[k=2..B,i=1..B-k+1,j=0..1]: x[k,i] - x[k-1,i+j]
  v[k=2..B,i=1..B-k+1,j=0..1]: y[k,i] - y[k-1,i+j]
mass: {'x[k=1..B,i=1..B-k+1]': 1, 'y[k=1..B,i=1..B-k+1]': 1, 'p[k=1..B,i=1..B-k+1]': r^2/2}
potential: {for k=1..B: {for i=1..B-k+1: '9.81*y[k,i]'}}
contacts:
  ground[i=1..B]: {gap: 'y[1,i] - r', friction: 0.8, slip: "x[1,i]' + r*p[1,i]'"}
  pair[k=2..B,i=1..B-k+1,j=0..1]: {gap: 'hypot(u[k,i,j], v[k,i,j]) - 2*r', friction: 0.8,
    slip: "(v[k,i,j]*u[k,i,j]' - u[k,i,j]*v[k,i,j]')/(2*r) + r*(p[k,i]' + p[k-1,i+j]')"}
  left[k=1..B,i=1..B-k+1]: {gap: 'x[k,i] - s + r', friction: 0.8, slip: "y[k,i]' + r*p[k,i]'"}
  right[k=1..B,i=1..B-k+1]: {gap: '(B+1)*s - r - x[k,i]', friction: 0.8, slip: "y[k,i]' - r*p[k,i]'"}
MODEL
expect 0 check heap.yaml
has out "degrees of freedom  9"
lacks out "integrable"
expect 0 check heap.yaml -p B=12
has out "ready to run"
lacks out "can rest at"
has out "accelerations       and multipliers without contacts that rub"
expect 0 equations skater
has out "skater: M q'' = f + G^T lambda, g = 0, A q' + b = 0"
has out "G[blade,1; x] = -sin(phi)"
has out "gamma[blade,1] = -phi'*(y'*sin(phi) + x'*cos(phi))"
has out "rate equation blade: y'*cos(phi) = x'*sin(phi)"
expect 0 equations skater --latex
has out "A(q,t)"
has out 'rate equation blade: $\dot{y}\,\cos\left(\phi \right) = \dot{x}\,\sin\left(\phi \right)$'

cat >twice.yaml <<'MODEL'
model: twice
coordinates: {x: {start: 1}, y: {start: 1}}
mass: {x: 1, y: 1}
constraints: {first: x = y, second: 2*y = 2*x}
MODEL
expect 0 check twice.yaml --json
paths
same "$(field redundant_rows)" 1
same "$(field degrees_of_freedom)" 1
has out "'second' (row 1)"

sed 's/y: {start: 1}/y: {start: 0}/' twice.yaml >off.yaml
expect 1 check off.yaml --json
paths
same "$(field ready)" false
has out "off by"
has err "'first' (row 1)"
expect 0 check off.yaml --project
has out "ready to run"

# The model is judged, not the method that it would be run with.
cat >floor.yaml <<'MODEL'
model: floor
coordinates: {y: {start: 1}}
mass: {y: 1}
potential: 9.81*y
contacts: {table: {gap: y - 0.5, restitution: 0.25}}
outputs: {N: lambda(table)}
simulate: {until: 3}
MODEL
expect 0 check floor.yaml
has out "ready to run"
expect 0 check floor.yaml --method ga-p
has err "warning: method ga-p cannot handle the contacts of 'floor'"
expect 1 check floor.yaml --method ga-p --strict
expect 2 check floor.yaml --method ga-q

# A contact: its gap among the equations, and its force in outputs, which carries the weight at rest.
expect 0 equations floor.yaml
has out "contact table: gap"
has out "0.5"
has out ">= 0, restitution 0.25"
expect 0 equations floor.yaml --latex
has out "contact table: gap"
expect 0 run floor.yaml --method nsga-pva -o floor.csv --columns "t, N, lambda(table)"
near "$(tail -n 1 floor.csv | cut -d , -f 2)" 9.81 1e-9
near "$(tail -n 1 floor.csv | cut -d , -f 3)" 9.81 1e-9
sed 's/lambda(table)/"lambda(table, 2)"/' floor.yaml >two.yaml
expect 2 run two.yaml
has err "has one row"

# The printed equations of the 3R pendulum, read back: the mass matrix and M q'' - f at Mueller's
# state before the first lock, q1 from the downward vertical (numbers of an independent derivation).
expect 0 equations planar-3r
for text in "Mass matrix" "M[q1,q1] = " "M[q3,q3] = " "Forces" "f[q1] = "; do
  has out "$text"
done

# value ENTRY: an entry such as M[q1,q2] as a number; entries go on over indented lines.
value() {
  expression=$(awk -v entry="$1" '
    found && (/^ *[A-Za-z]+\[/ || /^ *$/) { exit }
    found { printf " %s", $0 }
    index($0, entry " = ") { found = 1; sub(/^[^=]*= /, ""); printf "%s", $0 }' out |
    sed "s/q\\([123]\\)'/w\\1/g")
  awk "BEGIN {
    L = 1; m = 108; J = 9.36; g = 9.81; phi0 = -atan2(1, 0)
    q1 = 0.0826744326886986; q2 = -0.20336357675783023; q3 = -0.26909589195040745
    w1 = -1.9122426918527147; w2 = -0.3080797948505646; w3 = 1.6337513513663213
    printf \"%.15g\", $expression }"
}
near "$(value 'M[q1,q1]')" 950.6853118187053 1e-9
near "$(value 'M[q1,q2]')" 491.5792853589169 1e-9
near "$(value 'M[q1,q3]')" 136.50102303859336 1e-9
near "$(value 'M[q2,q2]')" 284.83325889912845 1e-9
near "$(value 'M[q2,q3]')" 88.41662944956423 1e-9
near "$(value 'M[q3,q3]')" 36.36 1e-9
# M q'' with q'' = (-8.113670479779737, 15.511932007749044, 2.6936706513026962)
near "$(value 'f[q1]')" 279.485900474 1e-7
near "$(value 'f[q2]')" 667.967089336 1e-7
near "$(value 'f[q3]')" 361.930288169 1e-7

expect 0 equations planar-3r --latex
has out '\begin{document}'
has out '\cos'
has out '\end{document}'
expect 0 equations pendulum
has out "theta"
expect 2 equations chain -p N=20
has err "40"
# Definition 1 of Mueller: a change at a regular point, and one at a change point of a linkage, where the
# crank is locked just when all links are in one line.
expect 0 check planar-3r-lock
has out "regular at t = 0.8 s: degrees of freedom 3 -> 2 (local), 3 -> 2 (differential)"
has out "regular at t = 1.3 s: degrees of freedom 2 -> 1 (local), 2 -> 1 (differential)"
cat >line.yaml <<'END'
model: line
coordinates: {x: , y: , s: {rate: 1}}
mass: {x: 1, y: 1, s: 1}
constraints: {cross: x*y = 0}
locks: {stop: {lock: s, at: 0.5}}
simulate: {until: 1, step: 0.1}
END
expect 0 check line.yaml --json
paths
same "$(field changes.0.regular)" false
same "$(field changes.0.local_before)" 2
same "$(field changes.0.local_after)" 1
same "$(field changes.0.differential_before)" 3
same "$(field changes.0.differential_after)" 2

# Regions away from the run: a gap and an overlap that the motion along y = 0 does not meet, and a
# region where nothing is. The places are always the same.
cat >beside.yaml <<'MODEL'
model: beside
coordinates: {x: {rate: 1}, y: {}}
mass: {x: 1, y: 1}
constraints:
  track:
    modes:
      near: {where: x < 3.005, equation: y = 0}
      far: {where: x > 3.005 + y, equation: y = 0}
simulate: {until: 6, step: 0.01}
MODEL
expect 0 check beside.yaml --json
paths
same "$(field ready)" true
grep -qE "warning: beside.yaml:5:3: constraint 'track': (away from the motion no region|regions overlap)" err ||
  complain "no word about a gap beside the motion: $(cat err)"
cp err first
expect 0 check beside.yaml
cmp -s err first || complain "other places in a second run"
expect 1 check beside.yaml --strict
sed 's/3.005 + y/3.005/' beside.yaml >good.yaml
expect 0 check good.yaml --strict
sed 's/      far:/      never: {where: x > 1e3, equation: y = 0}\n      far:/' good.yaml >empty.yaml
expect 0 check empty.yaml
has err "in region 'never'; is it empty"

# An equation for the guesses of a start holds there alone: nothing happens at an instant.
printf '%s\n' 'model: begin' 'coordinates: {x: {start: 1, guess: rate}, y: {rate: 1}}' 'mass: {x: 1, y: 2}' \
  'potential: x^2 + (x - y)^2' "constraints: {begin: {rate: \"x' + y' = 3\", assemble: rate}}" >begin.yaml
expect 0 check begin.yaml
has out "method              exponential (the equations are linear)"
has out "x                   start 1, rate 2"
has out "begin released: 2 degrees of freedom, undamped"
lacks out "begin engaged"

finish
