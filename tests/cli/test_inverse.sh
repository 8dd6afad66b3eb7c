#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pawl inverse: forces for a prescribed motion, from expressions and from a recorded run.
. "$(dirname "$0")/lib.sh"

cat >lift.yaml <<'END'
model: lift
parameters: {m: 2, g: 10, w: 3}
coordinates: {x: , y: }
mass: {x: m, y: m}
potential: m*g*y
constraints: {guide: x = 2*y}
locks: {rope: {lock: x + y, engaged: false}}
simulate: {until: 0.5, step: 0.25}
END
# x = 2 sin(w t), y = sin(w t): along the guide 5 m y'' = -m g + 2 F, F the force on x.
expect 0 inverse lift.yaml --motion "x=2*sin(w*t)" -o forces.csv
check_csv forces.csv 7
same "$(head -1 forces.csv)" "t,x,y,force(x),lambda(guide),lambda(rope),power"
near "$(awk -F , 'NR == 4 { print $4 }' forces.csv)" -34.887 1e-3
awk -F , 'NR > 1 { s = sin(3 * $1); c = cos(3 * $1); f = (20 - 90 * s) / 2
    d = $4 - f; e = $7 - 6 * c * f; if (d * d > 1e-18 || e * e > 1e-18) exit 1 }' forces.csv ||
  complain "the force is not (m g + 5 m y'')/2"
# The rope pulls both: 2 + 1 along the guide.
expect 0 inverse lift.yaml --motion "y=sin(w*t)" --drive rope --json
paths
near "$(field samples.2.3)" "$(awk 'BEGIN { print (20 - 90 * sin(1.5)) / 3 }')" 1e-3
same "$(field status)" ok
# Of a recorded fall nothing is asked.
expect 0 run lift.yaml --quiet -o run.csv
expect 0 inverse lift.yaml --from run.csv
awk -F , 'NR > 1 && ($4 * $4 > 1e-20 || $5 * $5 > 1e-20) { exit 1 }' out ||
  complain "a free motion needs forces"

expect 2 inverse lift.yaml
has err "a motion is needed"
expect 2 inverse lift.yaml --motion "z=t"
has err "no such coordinate"
expect 2 inverse lift.yaml --motion "y=t" --motion "y=2*t"
has err "given twice"
expect 2 inverse lift.yaml --motion "y=t" --drive pully
has err "neither a coordinate nor a constraint"
expect 2 inverse lift.yaml --motion "y=sn(t)"
has err "did you mean sin"
expect 2 inverse lift.yaml --motion "y=x"
has err "unknown name 'x'"
expect 1 inverse lift.yaml --motion "x=t" --motion "y=t"
has err "violates 'guide'"
expect 1 inverse planar-3r --motion "q1=t"
has err "do not determine 'q2'"
expect 2 inverse planar-3r --from run.csv
has err "lacks columns"
finish
