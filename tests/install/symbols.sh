#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library exports the functions that its headers declare and nothing else, and uses nothing that
# prints, ends the program or changes its locale.
# usage: symbols.sh NM PREFIX
set -eu
nm=$1 prefix=$2
library=$(find "$prefix" -name libpawl.so)

# Declarations may run over several lines: one line for all, then one for each PAWL_API.
declared=$(grep -hv '^#' "$prefix"/include/pawl/*.h | tr '\n' ' ' | sed 's/PAWL_API/\n&/g' |
           sed -n 's/^PAWL_API[^(;]*[ *]\(pawl_[A-Za-z0-9_]*\)(.*/\1/p' | LC_ALL=C sort -u)
exported=$("$nm" -D --defined-only "$library" | sed 's/.* //; s/@.*//' | LC_ALL=C sort -u)
if [ -z "$declared" ] || [ "$declared" != "$exported" ]; then
  echo "declared with PAWL_API but not exported, or the other way round:"
  printf '%s\n' "$declared" "$exported" | LC_ALL=C sort | uniq -u
  exit 1
fi
if echo "$exported" | grep -v '^pawl_'; then
  echo "exported without the prefix pawl_"
  exit 1
fi
# Files are written through descriptors, so no function that writes to a stream is needed either.
forbidden='abort|_?exit|_Exit|quick_exit|__assert_fail|(__)?v?f?printf(_chk)?|f?put[cs]|putchar'
forbidden="$forbidden|fwrite|perror|setlocale|uselocale"
if "$nm" -D --undefined-only "$library" | sed 's/.* //; s/@.*//' | grep -xE "$forbidden"; then
  echo "a library must leave that to the program"
  exit 1
fi
echo "$(echo "$exported" | wc -l) functions"
