#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A run that is killed again and again and goes on from its checkpoints ends with the same bits as one that was never
# interrupted; checkpoints that are damaged or of another run are refused with the reason.
. "$(dirname "$0")/lib.sh"

cat >model.yaml <<'END'
model: both
parameters: {g: 9.81, c: 30, e: 0.8}
coordinates: {x: {start: 1}, y: {start: 0, rate: 1}, z: {start: 0.3}}
mass: {x: 1, y: 1, z: 2}
potential: g*x + c*(y - z)^2/2 + 5*z^2
forces: {y: 3*sin(7*t)}
constraints:
  tie: {equation: "y + x/10 = 0.1 + 0.3*t", engaged: false, when: "y", direction: up, for: 0.11}
locks:
  hold: {lock: z, when: z', direction: down, for: 0.05, after: 0.01}
contacts:
  floor: {gap: x, restitution: e}
outputs: {s: y + z, a: z''}
simulate: {method: nsga-pva, until: 30, step: 1e-4}
END
sed '/^contacts/,/^  floor/d; s/nsga-pva/rk4/' model.yaml >locks.yaml
if "$pawl" run pendulum --until 0.01 --quiet -o probe.h5 2>err; then hdf5=yes; else hdf5=no; fi
rm -f probe.h5
steps="--until 30"
kills=20
outputs="-o k.csv"
[ "$hdf5" = no ] || outputs="$outputs -o k.h5"
if [ -n "$sanitized" ]; then
  steps="--until 30 --step 1e-3"
  kills=5
fi

# outcome: what must be the same, of the JSON read last.
outcome() {
  grep -E '^(final|energy|residual|events|steps|smaller_steps|warnings)' paths
}

# go MODEL ARGUMENTS...: one run into k.*.
go() {
  # shellcheck disable=SC2086 # several words
  exec "$pawl" run "$@" $outputs $steps --columns "t, x, z, z', lambda(hold), energy, s, a" --plot k.svg \
    --record 5e-3 --checkpoint k.point --every 0.2 --json --quiet >out 2>err </dev/null
}

# survive MODEL SEED: kills the run at random moments, restarts it, and compares.
survive() {
  rm -f k.* whole.*
  (go "$1") || complain "the whole run of $1 fails: $(cat err)"
  paths
  outcome >whole.outcome
  for ending in csv h5 svg; do
    [ ! -f "k.$ending" ] || mv "k.$ending" "whole.$ending"
  done
  rm -f k.*
  round=0
  code=137
  while [ "$code" -ne 0 ] && [ "$round" -lt 200 ]; do
    restart=
    [ ! -f k.point ] || restart="--restart k.point"
    # shellcheck disable=SC2086 # none or two words
    (go "$1" $restart) &
    process=$!
    if [ "$round" -lt "$kills" ]; then
      sleep "$(awk -v seed="$2$round" 'BEGIN { srand(seed); print 0.02 + 0.3 * rand() }')"
      kill -9 "$process" 2>/dev/null
    fi
    wait "$process" 2>/dev/null
    code=$?
    if [ "$code" -ne 0 ] && [ "$code" -ne 137 ]; then
      complain "restart $round of $1: exit code $code: $(cat err)"
      return
    fi
    round=$((round + 1))
  done
  [ "$round" -gt 2 ] || complain "$1 ended after $round rounds; nothing was tried"
  echo "$1: $round rounds"
  paths
  outcome >k.outcome
  for ending in csv h5 svg outcome; do
    if [ -f "whole.$ending" ]; then
      cmp "whole.$ending" "k.$ending" || complain "$1: $ending differs from that of the whole run"
    fi
  done
  same "$(find . -name 'k.*' ! -name k.csv ! -name k.h5 ! -name k.svg ! -name k.point ! -name k.outcome)" ""
}
survive model.yaml 1
survive locks.yaml 2

# An interrupted run has complete results, and goes on all the same; HDF5, too.
rm -f k.*
steps="--until 1e3"
(go model.yaml) &
process=$!
while [ ! -f k.point ] && kill -0 "$process" 2>/dev/null; do sleep 0.05; done
kill -TERM "$process"
wait "$process"
same "$?" 130
steps="--until 3 --step 1e-3"
# shellcheck disable=SC2086 # several words
expect 2 run model.yaml $outputs --columns t --restart k.point --until 1e3
has err "k.point: the saved run cannot go on, it was another one: record is 0, was 0.005; samples"

# ---- what is refused ----------------------------------------------------------------------------
rm -f k.*
again="--step 1e-3 --until 3 --checkpoint p --every 0.7 --quiet"
# shellcheck disable=SC2086
expect 0 run model.yaml -o k.csv $again
cp k.csv whole.csv
# shellcheck disable=SC2086
expect 0 run model.yaml -o k.csv $again --restart p
cmp whole.csv k.csv || complain "a complete run that goes on from its last checkpoint differs"
refused() { # TEXT ARGUMENTS...
  text=$1
  shift
  # shellcheck disable=SC2086
  expect 2 run "$@" $again
  has err "$text"
  cmp whole.csv k.csv || complain "a refused restart has changed k.csv"
}
again="--until 3 --checkpoint q --every 0.7 --quiet"
refused "step is 0.002, was 0.001" model.yaml -o k.csv --restart p --step 2e-3
again="--step 1e-3 --until 3 --checkpoint q --every 0.7 --quiet"
refused "parameter e is 0.5, was 0.8" model.yaml -o k.csv --restart p -p e=0.5
refused "method is nsga-pvv, was nsga-pva" model.yaml -o k.csv --restart p --method nsga-pvv
refused "p: its run wrote its samples with -o k.csv; to go on, give the same (2 -o given)" model.yaml -o k.csv -o l.csv --restart p
refused "p: its run wrote its samples with -o k.csv; to go on, give the same (0 -o given)" model.yaml --restart p
# A byte of the samples that changed, far before their end; the length is the same.
cp k.csv k.csv.part
printf '7' | dd of=k.csv.part bs=1 seek=3000 conv=notrunc 2>/dev/null
mv k.csv kept.csv
# shellcheck disable=SC2086
expect 2 run model.yaml -o k.csv --restart p $again
has err "k.csv.part': it is not the file that the run wrote, or was changed"
mv kept.csv k.csv
rm k.csv.part
refused "k.csv': it has other columns" model.yaml -o k.csv --restart p --columns "t, x"
refused "cannot go on with" model.yaml -o other.csv --restart p
sed 's/c: 30/c: 31/' model.yaml >changed.yaml
refused "parameter c is 31, was 30; the text of the model has changed" changed.yaml -o k.csv --restart p
sed 's/^outputs.*/outputs: {s: y + z}/' model.yaml >changed.yaml
refused "the text of the model has changed" changed.yaml -o k.csv --restart p
head -c 1000 p >cut
refused "cut: is damaged: it has 1000 bytes" model.yaml -o k.csv --restart cut
{ head -c 900 p; printf '!'; tail -c +902 p; } >spoilt
refused "spoilt: is damaged: its checksum is wrong" model.yaml -o k.csv --restart spoilt
refused "model.yaml: is no checkpoint" model.yaml -o k.csv --restart model.yaml
refused "none: No such file" model.yaml -o k.csv --restart none
again="--step 1e-3 --checkpoint q --every 0.7 --quiet"
refused "until is 2, was 3; it may only grow" model.yaml -o k.csv --restart p --until 2
expect 2 run model.yaml --checkpoint p
has err "--every is missing"
expect 2 run model.yaml --checkpoint p --every 0
has err "a positive number"
expect 2 run model.yaml -o - --checkpoint p --every 1
has err "needs a file"

# ---- cost and traces ----------------------------------------------------------------------------
# 30000 of them are due, each of which waits for the disk; and what a killed run left is taken away.
: >.many.pawl-tmp
timeout 120 "$pawl" run pendulum --until 30 -o many.csv --checkpoint many --every 1e-3 --quiet 2>err
same "$?" 0
[ -s many ] || complain "no checkpoint was written"
same "$(find . -name '.*pawl-tmp')" ""

# ---- warnings -----------------------------------------------------------------------------------
# What was warned of before the checkpoint is warned of after a restart, once.
cat >twice.yaml <<'END'
model: twice
coordinates: {x: {start: 0.1}, y: {start: 0.2}}
mass: {x: 1, y: 1}
potential: (x - y)^2 + x^2
locks:
  one: {lock: x, at: 0.2, for: 0.3}
  two: {lock: 2*x, at: 0.3, for: 0.1}
simulate: {method: rk4, until: 1, step: 1e-3}
END
expect 0 run twice.yaml --checkpoint w --every 0.7 --json --quiet
cp err warned
paths
grep '^warnings' paths >warned.json
has warned "redundant constraints: 'two'"
expect 0 run twice.yaml --restart w --json --quiet
cmp warned err || complain "a restart warns of something else: $(cat err)"
paths
grep '^warnings' paths >again.json
cmp warned.json again.json || complain "the same in JSON"
expect 1 run twice.yaml --restart w --strict --quiet

# ---- a longer run -------------------------------------------------------------------------------
expect 0 run model.yaml -o long.csv --step 1e-3 --until 5 --quiet
expect 0 run model.yaml -o k.csv --step 1e-3 --until 5 --quiet --restart p
cmp long.csv k.csv || complain "a run that goes on to a later end differs from one that was to go there"
if [ "$hdf5" = yes ]; then
  expect 0 run model.yaml -o h.h5 --step 1e-3 --until 3 --quiet --checkpoint p --every 0.7
  expect 0 run model.yaml -o h.h5 --step 1e-3 --until 5 --quiet --restart p
  expect 0 run model.yaml -o long.h5 --step 1e-3 --until 5 --quiet
  cmp long.h5 h.h5 || complain "the same with HDF5"
  cp k.csv other.h5
  expect 2 run model.yaml -o other.h5 --step 1e-3 --until 5 --quiet --restart p
  has err "p: cannot go on with 'other.h5': neither it nor 'other.h5.rows' holds what the run wrote"
  cmp k.csv other.h5 || complain "a refused restart has changed a file"
fi
finish
