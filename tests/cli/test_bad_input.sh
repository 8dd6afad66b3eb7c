#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Models that are wrong: each a clear message, exit code 2 (or 1 where only the run can know), in
# bounded memory, with nothing written.
. "$(dirname "$0")/lib.sh"
mkdir results

# model LINES...: the file bad.yaml, for two coordinates of mass 1.
model() {
  {
    printf '%s\n' 'model: bad' 'coordinates: {x: {start: 1}, theta: {}}' 'mass: {x: 1, theta: 1}'
    printf '%s\n' "$@"
  } >bad.yaml
}

# refuse CODE TEXT [ARGUMENTS...]: pawl run bad.yaml fails with this text and writes nothing.
refuse() {
  wanted_code=$1
  text=$2
  shift 2
  expect_bounded "$wanted_code" run bad.yaml -o results/x.csv -o results/x.h5 --plot results/x.svg "$@"
  has err "$text"
  same "$(ls -A results)" ""
}

# repeat COUNT CHARACTER
repeat() {
  head -c "$1" /dev/zero | tr '\0' "$2"
}

# --- names ---
model 'potentail: x^2'
refuse 2 "bad.yaml:4:1: unknown key 'potentail' in a model; did you mean 'potential'?"
model 'potential: x^2 + thetta^2'
refuse 2 "bad.yaml:4:18: in 'x^2 + thetta^2': unknown name 'thetta'; did you mean 'theta'?"
model 'potentail: x^2' 'forces: {thetta: 1}' 'constraints: {c: y = 0}'
refuse 2 "bad.yaml:4:1:"
has err "bad.yaml:5:10:"
has err "bad.yaml:6:18:"
model 'simulate: {metod: rk4}'
refuse 2 "did you mean 'method'?"
model 'simulate: {method: rk5}'
refuse 2 "rk5"

# --- definitions that use themselves ---
model 'define: {a: b + 1, b: 2*a}' 'potential: a'
refuse 2 "uses itself: a -> b -> a"
model 'define: {a: a + 1}' 'potential: a'
refuse 2 "uses itself: a -> a"

# --- size ---
if truncate -s 100M big.yaml 2>/dev/null; then
  expect_bounded 2 run big.yaml -o results/x.csv
  has err "big.yaml: the file has 104857600 bytes; a model has at most"
fi
{
  printf '%s\n' 'model: bad' 'coordinates: {x: {}}' 'mass: {x: 1}'
  printf 'potential: '
  repeat 1000000 '('
  printf x
  repeat 1000000 ')'
  echo
} >bad.yaml
refuse 2 "bad.yaml:4:"
{
  printf '%s\n' 'model: bad' 'coordinates: {x: {}}' 'mass: {x: 1}'
  printf 'potential: '
  repeat 500000 '('
  printf x
  repeat 500000 ')'
  echo
} >bad.yaml
refuse 2 "nested more than"
{
  printf 'model: bad\npotential: '
  repeat 1000000 '['
  echo
} >bad.yaml
refuse 2 "nested more than"
{
  printf '%s\n' 'model: bad' 'coordinates: {x: {}}' 'mass: {x: 1}'
  printf 'potential: '
  repeat 1000000 '-'
  echo x
} >bad.yaml
refuse 2 "nested more than"
printf '%s\n' 'model: bad' 'parameters: {N: 2000000000}' 'coordinates: {"x[i=1..N]": {}}' \
  'mass: {"x[i=1..N]": 1}' >bad.yaml
refuse 2 "bad.yaml:3:"
: >bad.yaml
refuse 2 "empty"
head -c 100000 /dev/zero >bad.yaml
refuse 2 "bad.yaml:1:1:"
printf 'model: [bad\n' >bad.yaml
refuse 2 "bad.yaml:"

# --- numbers ---
printf '%s\n' 'model: bad' 'parameters: {m: .nan}' 'coordinates: {x: {}}' 'mass: {x: m}' >bad.yaml
refuse 2 "bad.yaml:2:17: '.nan' is not a finite number"
printf '%s\n' 'model: bad' 'parameters: {m: 1}' 'coordinates: {x: {}}' 'mass: {x: m}' >bad.yaml
refuse 2 "-p m=nan: 'nan' is not a finite number" -p m=nan
refuse 2 "-p m=0/0" -p m=0/0
refuse 2 "bad.yaml:4:11: the mass of 'x' is 0, must be > 0" -p m=0
refuse 2 "must be > 0" -p m=-1
model 'kinetic: 0*x'\''^2'
sed -i.orig 3d bad.yaml
refuse 1 "the mass matrix is singular at coordinate"
model 'potential: log(x - 1)'
refuse 1 "bad.yaml:4"

# --- modes ---
model 'constraints: {gate: {modes: {in: {where: x < 1, equation: x = 0}}}}'
refuse 2 "one mode with a region"
model 'constraints: {gate: {modes: {in: {where: x < 3, equation: none}, out: {where: x > 0, equation: x = 1}}}}'
refuse 2 "several regions hold it"
model 'constraints: {gate: {modes: {in: {where: x < 0, equation: none}, out: {where: x > 2, equation: x = 0}}}}'
refuse 2 "no region holds it"
model 'constraints: {gate: {modes: {in: {where: x < 3, equation: x = 0.5}, out: {where: x > 3, equation: none}}}}'
refuse 1 "constraint 'gate' (row 1)" --method event-driven

# --- constraints that contradict each other ---
model 'constraints: {left: x = 0, right: x = 1}'
refuse 1 "'left' (row 1)"
refuse 1 "contradict" --project
has err "'right' (row 1)"

# --- an event that comes more often than instants can be told apart, over which a run went on for ever ---
model 'events: {tick: {every: 1e-99}}'
for method in rk4 event-driven; do
  expect_bounded 1 run bad.yaml --method $method
  has err "event 'tick' happens every 1e-99 s; instants nearer than"
done

finish
