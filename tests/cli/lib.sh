# SPDX-License-Identifier: Apache-2.0
# What the scripts of this folder share. They are called as
#   script PAWL JSON_PATHS MODELS [sanitized]
# and work in a folder of their own, which is removed at the end.
set -u
pawl=$1
json_paths=$2
models=$3
sanitized=${4:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/pawl-cli.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
export OPENBLAS_NUM_THREADS=1 # threads ask for address space that the limits below count

complain() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect CODE ARGUMENTS...: runs pawl; what it prints is in the files `out` and `err`.
expect() {
  wanted=$1
  shift
  "$pawl" "$@" >out 2>err </dev/null
  code=$?
  if [ "$code" -ne "$wanted" ]; then
    complain "pawl $*: exit code $code, expected $wanted"
    sed 's/^/    /' err >&2
  fi
}

# expect_bounded CODE ARGUMENTS...: the same with 500 MB of address space.
expect_bounded() {
  if [ -n "$sanitized" ]; then # sanitizers map far more than they use
    expect "$@"
    return
  fi
  wanted=$1
  shift
  (
    ulimit -v 500000
    exec "$pawl" "$@" >out 2>err </dev/null
  )
  code=$?
  if [ "$code" -ne "$wanted" ]; then
    complain "pawl $* with 500 MB: exit code $code, expected $wanted"
    sed 's/^/    /' err >&2
  fi
}

# has FILE TEXT: the text is in the file, literally.
has() {
  if ! grep -qF -- "$2" "$1"; then
    complain "'$2' is not in '$1':"
    head -c 2000 "$1" | sed 's/^/    /' >&2
  fi
}

lacks() {
  if grep -qF -- "$2" "$1"; then
    complain "'$2' is in '$1'"
  fi
}

# paths: `out` is JSON; its leaves go to the file `paths`.
paths() {
  "$json_paths" <out >paths || complain "standard output is not JSON"
}

# field NAME: the value of one leaf of the JSON read last.
field() {
  awk -F '\t' -v name="$1" '$1 == name { print $2 }' paths
}

# near VALUE EXPECTED TOLERANCE
near() {
  awk -v a="$1" -v b="$2" -v tolerance="$3" 'BEGIN {
    d = a - b
    exit !(a != "" && (d < 0 ? -d : d) <= tolerance)
  }' || complain "'$1' is not within $3 of $2"
}

same() {
  [ "$1" = "$2" ] || complain "'$1' is not '$2'"
}

# check_csv FILE COLUMNS: a header, and lines of that many numbers, the last one ended too.
check_csv() {
  [ -f "$1" ] || {
    complain "$1 was not written"
    return
  }
  tail -c 1 "$1" | od -An -c | grep -q '\\n' || complain "the last line of $1 is not ended"
  awk -F , -v columns="$2" 'NR > 1 {
      if (NF != columns) exit 1
      for (k = 1; k <= NF; k++) if ($k !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) exit 1
    }
    END { if (NR < 2) exit 1 }' "$1" || complain "$1 is not a table of $2 numbers a line"
}

# finish: the result of the script.
finish() {
  [ "$failures" -eq 0 ] || echo "$failures failures" >&2
  exit $((failures > 0))
}
