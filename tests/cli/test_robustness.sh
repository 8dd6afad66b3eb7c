# SPDX-License-Identifier: Apache-2.0
# The table of docs/robustness.md: each of its commands ends and says as written there.
here=$(cd -- "$(dirname -- "$0")" && pwd)
. "$here/lib.sh"
page=$here/../../docs/robustness.md
rows=0

# | `model` | `pawl COMMAND OPTIONS` | before | exit N: `text` |
sed -n 's/^| `\([^`]*\)` | `pawl \([^`]*\)` | .* | exit \([0-9]*\): `\([^`]*\)` |$/\1\t\3\t\2\t\4/p' "$page" >table
while IFS="$(printf '\t')" read -r model code command text; do
  eval "set -- $command"
  first=$1
  shift
  expect "$code" "$first" "$here/robustness/$model.yaml" "$@"
  cat out err >said
  has said "$text"
  rows=$((rows + 1))
done <table
[ "$rows" -eq "$(grep -c '^| `' "$page")" ] || complain "$rows rows are read of $(grep -c '^| `' "$page")"
for model in "$here"/robustness/*.yaml; do
  grep -q "^| \`$(basename "$model" .yaml)\`" "$page" || complain "$model is not in the table"
done
finish
