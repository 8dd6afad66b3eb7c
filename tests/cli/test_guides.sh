#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The pages of docs/guides/ are true: their files are made, their commands are run, and the output has the lines that
# the page shows, in that order. test_guides.sh PAWL INCLUDE LIBRARY FLAGS PAGE...; FLAGS of the compiler, or ''.
#
# In a page, a block ```yaml or ```c whose first line names a file (`# arm.yaml`, `// loop.c`) is that file. A block
# ```console has commands, `$ command`, each followed by lines of its output; `...` stands for any text: on a line
# of its own for any lines.
set -u
pawl=$1 include=$2 library=$3 flags=$4
shift 4
work=$(mktemp -d "${TMPDIR:-/tmp}/pawl-guides.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$pawl" "$work/bin/pawl"
cat > "$work/bin/pkg-config" << END
#!/bin/sh
echo "-I$include $flags -L$(dirname "$library") -lpawl -Wl,-rpath,$(dirname "$library")"
END
chmod +x "$work/bin/pkg-config"
PATH=$work/bin:$PATH
bad=0

# Cuts a page into files, and numbered commands: N.sh with what it runs, N.out with what it shows.
cut_page() {
  awk '
    /^```/ { if (kind != "") { kind = ""; if (out) close(out); out = ""; next }
             kind = substr($0, 4); first = 1; next }
    kind == "yaml" || kind == "c" {
      if (first && $0 ~ /^(#|\/\/) [a-z][a-z0-9-]*\.(yaml|c)$/) out = $2
      first = 0
      if (out) print > out
    }
    kind == "console" && /^\$ / { n++; print substr($0, 3) > (n ".sh"); printf "" > (n ".out"); next }
    kind == "console" && n { print > (n ".out") }
  ' "$1"
}

# Says which line of FILE1 is not in FILE2 behind those before it.
lines_missing() {
  awk '
    function fits(line, wanted,   count, parts, i, at) {
      count = split(wanted, parts, /\.\.\./)
      if (substr(line, 1, length(parts[1])) != parts[1]) return 0
      at = length(parts[1]) + 1
      for (i = 2; i <= count; i++) {
        if (parts[i] == "") { at = length(line) + 1; continue }
        k = index(substr(line, at), parts[i])
        if (!k) return 0
        at += k - 1 + length(parts[i])
      }
      return at > length(line) || wanted ~ /\.\.\.$/
    }
    NR == FNR { if ($0 !~ /^(\.\.\.)?$/) wanted[++count] = $0; next }
    next_one < count && fits($0, wanted[next_one + 1]) { next_one++ }
    END { if (next_one < count) { print wanted[next_one + 1]; exit 1 } }' "$1" "$2"
}

run_page() {
  folder=$work/$(basename "$1" .md)
  mkdir "$folder"
  cd "$folder" || exit 1
  cut_page "$1"
  n=1
  while [ -f $n.sh ]; do
    sh $n.sh > $n.got 2>&1 < /dev/null
    if ! missing=$(lines_missing $n.out $n.got); then
      printf '%s: $ %s\n  shows: %s\n  but pawl says:\n' "$1" "$(cat $n.sh)" "$missing" >&2
      sed 's/^/    /' $n.got >&2
      bad=1
    fi
    n=$((n + 1))
  done
  commands=$((commands + n - 1))
  cd / || exit 1
}

commands=0
for page; do run_page "$page"; done
echo "$commands commands on $# pages"
[ $commands -gt 0 ] || bad=1
exit $bad
