#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles each public header alone, as C17 and as C++17, without a warning.
# usage: headers.sh INCLUDE-FOLDER C-COMPILER C++-COMPILER
include=$1 cc=$2 cxx=$3 failed=0

# alone HEADER COMPILER LANGUAGE STANDARD
alone() {
  # Twice, so that a header without its guard is found too.
  printf '#include "pawl/%s"\n#include "pawl/%s"\n' "$1" "$1" |
    "$2" -x "$3" "-std=$4" -I "$include" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
         -fsyntax-only - || { echo "pawl/$1 does not stand alone as $4"; failed=1; }
}

if [ -z "$cxx" ]; then
  echo "no C++ compiler"
  exit 77
fi
count=0
for header in "$include"/pawl/*.h; do
  alone "${header##*/}" "$cc" c c17
  alone "${header##*/}" "$cxx" c++ c++17
  count=$((count + 1))
done
echo "$count headers"
[ "$count" -gt 0 ] && [ "$failed" = 0 ]
