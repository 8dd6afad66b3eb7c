#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Robots in URDF on the command line.
. "$(dirname "$0")/lib.sh"
robots=$models/../tests/model/urdf

# --- import, and a run of either ---
expect 0 import "$robots/arm.urdf" -q -o arm.yaml
same "$(cat err)" ""
has arm.yaml "revolute: [link1, link2]"
expect 0 run arm.yaml -q --until 0.2 -o a.csv
expect 0 run "$robots/arm.urdf" -q --until 0.2 -o b.csv
cmp a.csv b.csv || complain "a robot and its import move differently"
expect 0 import "$robots/arm.urdf"
has out "model: arm"
has err "pawl: note: "
"$pawl" import - <"$robots/arm.urdf" >out 2>err || complain "no import from standard input"
has out "model: arm"
expect 2 import "$robots/arm.urdf" -o "$robots/arm.urdf"
has err "would replace the robot"
expect 2 import nowhere.urdf
has err "cannot read nowhere.urdf"
expect 2 import arm.yaml
has err "arm.yaml:1:1: this is no URDF"
expect 2 import "$robots/broken.urdf" -o broken.yaml
has err "broken.urdf:3:3: this is not XML"
[ ! -e broken.yaml ] || complain "a broken robot left a file"

# --- limits and the base ---
expect 0 check "$robots/gripper.urdf" --limits
has err "starts at its limit 0.005"
has out "contacts included"
expect 0 import "$robots/gripper.urdf" -q --floating
grep -q weld out && complain "a floating base is welded"

# --- masses that no body has ---
expect 0 import "$robots/bad-inertia.urdf" -o bad.yaml
has err "pawl: warning: $robots/bad-inertia.urdf:3: link 'thin', moved by joint 'j1'"
rm -f bad.yaml
expect 2 import "$robots/bad-inertia.urdf" --strict -o bad.yaml
has err "pawl: $robots/bad-inertia.urdf:3: link 'thin', moved by joint 'j1'"
[ ! -e bad.yaml ] || complain "--strict wrote a robot with bad masses"
expect 2 run "$robots/bad-inertia.urdf" --strict
expect 0 import "$robots/arm.urdf" --strict -q

# --- a model around a robot ---
expect 0 run "$models/robots/desk-arm-brake.yaml" -q -o brake.csv --json
has out '"yaw.brake"'
expect 0 models --expand "$models/robots/desk-arm-brake.yaml"
cp out whole.yaml
expect 0 run whole.yaml -q -o whole.csv
cmp brake.csv whole.csv || complain "an expanded robot moves differently"

finish
