#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds consumer/ against the installed library twice, through pkg-config and find_package.
# usage: package.sh CMAKE C-COMPILER PREFIX VERSION SCRATCH-FOLDER
set -eu
cmake=$1 cc=$2 prefix=$3 version=$4 scratch=$5
source=$(dirname -- "$0")/consumer
rm -rf "$scratch"
mkdir -p "$scratch"

# check PROGRAM: it must find the library and say what is expected.
check() {
  said=$(LD_LIBRARY_PATH=$libdir "$1")
  echo "$said"
  [ "$said" = "pawl $version: 2 coordinates, 1 rows" ]
}

pc=$(find "$prefix" -name pawl.pc)
libdir=$(dirname -- "$(dirname -- "$pc")")
PKG_CONFIG_PATH=$(dirname -- "$pc")
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion pawl)" = "$version" ]
# eval: pkg-config writes the flags for a shell, with blanks in folder names escaped.
eval "set -- $(pkg-config --cflags --libs pawl)"
"$cc" -std=c17 -Wall -Werror "$source/consumer.c" "$@" -o "$scratch/by-pkg-config"
check "$scratch/by-pkg-config"

"$cmake" -S "$source" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="$version" \
         -DCMAKE_C_COMPILER="$cc" >"$scratch/log"
"$cmake" --build "$scratch/build" >>"$scratch/log"
check "$scratch/build/consumer"
