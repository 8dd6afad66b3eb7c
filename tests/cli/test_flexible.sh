#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Flexible bodies: what takes two runs to see.
. "$(dirname "$0")/lib.sh"

# The two methods agree in the first contact phase of the beam and go apart later: Bruels, Acary and
# Cardona, sec. 6.2, "the solutions tend to diverge later on".
for method in nsga-pva nsga-pvv; do
  expect 0 run bouncing-beam --method "$method" --until 1 --record 1e-3 --quiet \
    --columns "t, x[4]" -o "$method.csv"
  grep -v t "$method.csv" | sort -t , -k 1,1g -u >"$method.txt"
done
apart=$(paste -d , nsga-pva.txt nsga-pvv.txt | awk -F , '
  { d = $2 - $4; d = d < 0 ? -d : d }
  $1 <= 0.348 && d > early { early = d }
  $1 >= 0.9 && d > late { late = d }
  END { print (early < 1e-3), (late > 1e-2), (NR > 900) }')
same "$apart" "1 1 1"

# One line by an element type is the same beam, and its expansion runs to the same bits.
cat >used.yaml <<'END'
model: used
parameters: {g: 10}
use:
  b: {element: beam, E: 2.1e11, A: 1e-4, I: 8.33e-10, rho: 7800, start: pinned, gravity: [0, -g]}
simulate: {method: ga-pva, until: 0.01, step: 5e-6, rho: 0.8, record: 1e-3}
END
expect 0 run used.yaml --quiet -o used.csv
expect 0 models --expand used.yaml
cp out written.yaml
lacks written.yaml "use:"
expect 0 run written.yaml --quiet -o written.csv
cmp -s used.csv written.csv || complain "the expansion does not run to the same bits"
expect 0 run bouncing-beam --until 0.01 --record 1e-3 --quiet -o beam.csv
apart=$(tail -n 1 used.csv | cut -d , -f 1-27 | tr , '\n' >a
  tail -n 1 beam.csv | cut -d , -f 1-27 | tr , '\n' | paste - a |
    awk '{ d = $1 - $2; d = d < 0 ? -d : d; if (d > m) m = d } END { print (m < 1e-9), NR }')
same "$apart" "1 27"
expect 0 models --elements
has out euler-beam
expect 0 models --elements rod
has out "torsion constant"
expect 2 models --elements rood
has err "no element type is called 'rood'"
expect 1 models --expand nowhere.yaml

# Every model expands to a text that is the same model; one that is put together, too: springs and
# forces that share a name, two forces on one coordinate, the table of a part in another folder.
mkdir part
printf 's,z\n0,0\n1,2\n' >part/road.csv
cat >part/leg.yaml <<'END'
model: leg
parameters: {k: 3}
coordinates: {x: 1}
mass: {x: 1}
tables: {road: {file: road.csv, x: s, y: z, outside: hold}}
forces: {motor: {on: x^2, value: 1}, x: road(x) - k}
springs: {s: {along: x, stiffness: k}}
END
cat >composed.yaml <<'END'
model: composed
include: {l: part/leg.yaml, r: part/leg.yaml}
forces: {motor: {on: l_x, value: 1}, l_x: -t}
springs: {s: {along: l_x - r_x, stiffness: 7}}
END
cat >plain.yaml <<'END'
model: plain
include: part/leg.yaml
forces: {x: 2, motor: {on: x, value: 1}}
springs: {s: {along: x, stiffness: 1}}
END
for model in composed.yaml plain.yaml "$models"/*.yaml; do
  case $model in */elastic-bar.yaml) fewer="-p N=3" ;; *) fewer="" ;; esac
  expect 0 equations "$model" $fewer
  cp out equations.txt
  expect 0 models --expand "$model"
  cp out written.yaml
  expect 0 equations written.yaml $fewer
  cmp -s out equations.txt || complain "$model: the expansion has other equations"
done
expect 0 models --expand composed.yaml
has out "  l_motor:"
has out "  r_s:"
has out "file: part/road.csv"

# Elements that begin as rigid bodies: m v^2/2 + J w^2/2 about the middle, and no strain.
begins() {
  printf 'model: begins\nuse: {b: {%s}}\nsimulate: {until: 1e-6, step: 1e-6}\n' "$1" >begins.yaml
  expect 0 run begins.yaml -q -o begins.csv
  awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "kinetic") k = i; if ($i == "potential") p = i } }
    NR == 2 { d = $k - want; exit !(d < 1e-9 && d > -1e-9 && $p < 1e-9 && $p > -1e-9) }' begins.csv ||
    complain "$1: not a rigid motion: $(sed -n 2p begins.csv)"
}
begins "element: beam, from: [1, 0], to: [1, 2], elements: 5, E: 2e11, I: 1e-9, A: 1e-3, rho: 1000, velocity: [1, 0.5], spin: 3" \
  $(awk 'BEGIN { printf "%.15g", 0.5*2*((1 - 3)^2 + 0.25) + 0.5*(2*4/12 + 2*1e-6)*9 }')
begins "element: euler-beam, to: [3, 4], elements: 5, E: 2e11, I: 1e-9, A: 1e-3, rho: 1000, velocity: 1, spin: 2" \
  $(awk 'BEGIN { printf "%.15g", 0.5*5*((1 + 2*2.5)^2 + 4*25/12) }')
begins "element: rod, to: 2, elements: 5, E: 2e11, A: 1e-3, J: 1e-6, rho: 1000, velocity: 3, spin: 20" \
  $(awk 'BEGIN { printf "%.15g", 0.5*2*9 + 0.5*2e-3*400 }')
# A beam that turns about its end is longer by rho w^2 L^3/(3 E) all the time.
printf '%s\n' 'model: turns' 'use: {b: {element: beam, elements: 16, E: 2e9, I: 1e-9, A: 1e-4, rho: 2000, start: pinned, spin: 10}}' \
  'constraints: {hub: "b_th[0] = 10*t"}' 'outputs: {radius: "hypot(b_x[16], b_y[16])"}' \
  'simulate: {method: ga-pva, until: 0.1, step: 1e-4, rho: 0.5}' >turns.yaml
expect 0 run turns.yaml -q -o turns.csv
awk -F, 'NR == 1 { k = NF; for (i = 1; i <= NF; i++) if ($i == "radius") k = i } NR > 1 { s += $k - 1; n++ }
  END { d = s/n/(2000*100/3/2e9) - 1; exit !(d < 0.01 && d > -0.01) }' turns.csv || complain "a beam that turns has another length"

# Rest positions: the weight on the stops, small motions, a load that grows, and none at all.
expect 0 equilibrium beam-on-stops --json
paths
awk -v a="$(field rows.0.multiplier)" -v b="$(field rows.1.multiplier)" -v c="$(field rows.2.multiplier)" \
  -v d="$(field rows.3.multiplier)" -v e="$(field rows.4.multiplier)" \
  'BEGIN { s = a + b + c + d + e - 7.6518; exit !(s < 1e-9 && s > -1e-9) }' || complain "not the weight"
expect 0 equilibrium pendulum
has out "theta               -1.57079632679"
has out "natural frequency 3.01511345 rad/s"
has out "shape           theta 1, x 1"
expect 0 check pendulum
has out "can rest at         x = "
has out "natural frequency 3.01511345 rad/s"
expect 0 equilibrium pendulum --vary m=1..3:2
[ "$(grep -c '^[123],' out)" -eq 3 ] || complain "not three positions: $(cat out)"
# A parameter that changes the number of coordinates: each mesh begins at its own start.
printf '%s\n' 'model: mesh' 'parameters: {n: 4}' \
  'use: {b: {element: beam, elements: n, E: 2e9, I: 1e-8, A: 1e-3, rho: 1000, start: clamped, gravity: [0, -9.81]}}' >mesh.yaml
expect 0 equilibrium mesh.yaml -p n=6 --json
paths
alone=$(field "coordinates.b_y[6]")
expect 0 equilibrium mesh.yaml --vary n=2..6:2 --json
paths
same "$(field "coordinates.b_y[6]")" "$alone"
expect 2 equilibrium pendulum --vary m=1..3
has err "expected NAME=FROM..TO:STEPS"
printf '%s\n' 'model: lag' 'coordinates: {x: 1}' 'mass: {x: 1}' 'states: {z: {rate: x - 2*z}}' 'forces: {x: -9*x}' >lag.yaml
expect 0 equilibrium lag.yaml
has out "decay             2 1/s, time constant 0.5 s"
lacks out "natural frequency 0"
expect 1 equilibrium torsion-line
has err "'phi1' would still move with an acceleration of 240"
expect 1 equilibrium torsion-line --json
paths
same "$(field status)" failed
finish
