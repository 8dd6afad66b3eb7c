#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How pawl is called, help, and what it says to a wrong call.
. "$(dirname "$0")/lib.sh"

expect 2
has err "usage: pawl COMMAND"
expect 0 --help
has out "usage: pawl COMMAND"
expect 0 --version
grep -qE '^pawl [0-9]+\.[0-9]+\.[0-9]+$' out || complain "--version printed: $(cat out)"
for command in run check equations bench models; do
  expect 0 "$command" --help
  has out "usage: pawl $command"
done
expect 0 run --help
for word in -p -o --plot --report --json --method --step --until "help run"; do
  has out "$word"
done
lacks out --rho
expect 0 help run
for word in -p -o --plot --json --project --method --step --until --rho --impact --smooth ga-p rk4 \
  nsga-pva event-driven moreau-jean; do
  has out "$word"
done

# usage TEXT ARGUMENTS...: exit code 2, the text in the message, nothing written.
mkdir empty
usage() {
  text=$1
  shift
  expect 2 "$@"
  has err "$text"
  [ -s out ] && complain "pawl $*: printed on standard output"
}
cd empty || exit 1
usage "unknown command 'simulate'" simulate
usage "unknown command 'simulate'" help simulate
usage "a model is missing" run
usage "unknown option '--frob'" run pendulum --frob
usage "a value is missing behind '--step'" run pendulum --step
usage "missing behind '-o'" run pendulum -o
usage "missing behind '--plot'" run pendulum --plot
usage "unexpected argument 'chain'" run pendulum chain
usage "step = 0" run pendulum --step 0 -o x.csv
usage "step = -1" run pendulum --step -1 -o x.csv
usage "'abc'" run pendulum --step abc -o x.csv
usage "until" run pendulum --until inf -o x.csv
usage "rho = 2" run pendulum --rho 2 -o x.csv
usage "1e15" run pendulum --step 1e-300 -o x.csv
usage "did you mean 'rk4'?" run pendulum --method rk5 -o x.csv
usage "cannot handle the switching constraints" run kinked-track --method rk4 -o x.csv
usage "cannot handle the contacts" run bouncing-pendulum --method dopri -o x.csv
usage "contact_law = hertz" run bouncing-pendulum --method event-driven --contact_law hertz -o x.csv
usage "smooth = nsga-pva" run kinked-track --smooth nsga-pva -o x.csv
usage "impact = sideways" run kinked-track --impact sideways -o x.csv
usage "between = curve" run kinked-track --between curve -o x.csv
usage "newton = half" run pendulum --newton half -o x.csv
usage "--form minimal: the method ga-p has no use for it" run pendulum --form minimal -o x.csv
usage "--form x: the method event-driven over ga-pv has no use" run kinked-track --smooth ga-pv --form x -o x.csv
usage "theta = 0.2" run bouncing-pendulum --method moreau-jean --theta 0.2 -o x.csv
usage "strategy = 4" run bouncing-pendulum --strategy 4 -o x.csv
usage "x.txt: the name must end in .csv or .h5 or .html" run pendulum -o x.txt
usage "'foo' is not a parameter" run pendulum -p foo=1 -o x.csv
usage "expected name=expression" run pendulum -p L -o x.csv
usage "'nan' is not a finite number" run pendulum -p L=nan -o x.csv
usage "'1/0' is not a finite number" run pendulum -p L=1/0 -o x.csv
usage "unknown name" run pendulum -p L=theta -o x.csv
usage "no example is called 'nosuch'" models nosuch

# --json prints an object also when it fails: status and message, with the same exit code.
json_failure() {
  wanted_code=$1
  text=$2
  shift 2
  expect "$wanted_code" "$@" --json
  paths
  same "$(field status)" failed
  field message >message
  has message "$text"
  has err "$text"
}
printf 'model: bad\ncoordinates: {x: {}}\npotential: y + z\n' >../bad.yaml
json_failure 2 "bad.yaml:3:12: in 'y + z': unknown name 'y'" run ../bad.yaml
json_failure 2 "unknown name 'y'" check ../bad.yaml
json_failure 2 "unknown name 'y'" compare ../bad.yaml
json_failure 2 "unknown name 'y'" converge ../bad.yaml
json_failure 2 "'nobody' is not a paper" reproduce nobody
json_failure 2 "unknown option '--frob'" bench --frob
json_failure 2 "would both write to standard output" run pendulum -o -
json_failure 2 "step = -1" run pendulum --step -1
json_failure 2 "neither a file nor an example" run nosuch.yaml
json_failure 1 "no method reached the end" compare kinked-track --methods rk4 --reference nsga-pvv@1e-2

# The model itself is never written over, under whatever name.
cp "$models/oscillator.yaml" ../model.csv
ln -s ../model.csv link.csv
ln ../model.csv hard.svg
usage "link.csv is the model itself" run ../model.csv -o link.csv
usage "hard.svg is the model itself" run link.csv --plot hard.svg
cmp -s ../model.csv "$models/oscillator.yaml" || complain "the model was written over"
rm link.csv hard.svg

# A model or a folder that is not there, before anything is computed.
expect 2 run nosuch.yaml -o x.csv
has err "nosuch.yaml"
expect 1 run pendulum -o nowhere/x.csv
has err "nowhere/x.csv"
expect 1 run pendulum --plot nowhere/x.svg
has err "nowhere/x.svg"
if [ "$(id -u)" -ne 0 ]; then # root may write everywhere
  mkdir closed
  chmod 555 closed
  expect 1 run pendulum -o closed/x.csv
  has err "closed/x.csv"
  rmdir closed
fi
rm -f out err paths message
same "$(ls -A)" ""
finish
