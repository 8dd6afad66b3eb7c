#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every model that comes with pawl: listed, printed as it is in models/, checked, and run with its
# own settings by every method.
. "$(dirname "$0")/lib.sh"

expect 0 models
names=$(awk '{ print $1 }' out)
same "$(echo "$names" | sort | tr '\n' ' ')" \
  "$(cd "$models" && ls *.yaml | sed 's/\.yaml$//' | sort | tr '\n' ' ')"
for name in $names; do
  expect 0 models "$name"
  cmp -s out "$models/$name.yaml" || complain "pawl models $name is not models/$name.yaml"
  expect 0 check "$name" --json
  paths
  same "$(field model)" "$name"
  same "$(field ready)" true
  for method in ga-p rk4; do
    expect 0 run "$models/$name.yaml" --method $method --json -o "$name.csv"
    paths
    same "$(field status)" ok
    same "$(field method)" $method
    # At the models' own steps nothing drifts by more than a thousandth.
    awk -v drift="$(field energy.max_drift)" -v start="$(field energy.start)" 'BEGIN {
      exit !(drift != "" && drift <= 1e-3 * (1 + (start < 0 ? -start : start)))
    }' || complain "$name with $method: energy drifts by $(field energy.max_drift)"
    near "$(field residual.position)" 0 2e-7
    [ "$(wc -l <"$name.csv")" -gt 2 ] || complain "$name.csv has no samples"
  done
done
finish
