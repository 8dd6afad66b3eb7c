#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a locale with a decimal comma and runs the test and the program in it.
# usage: locale.sh TEST-PROGRAM PAWL SCRATCH-FOLDER
set -eu
program=$1 pawl=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch"
"$pawl" run pendulum --until 0.1 -o plain.csv

# localedef warns of what does not matter here and may say so with its exit code.
localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>localedef.log || true
if [ ! -f de_DE.UTF-8/LC_NUMERIC ]; then
  cat localedef.log
  echo "no locale with a decimal comma can be made here"
  exit 77
fi
# In a build with sanitizers: the C library itself never frees what it read from LOCPATH.
LOCPATH=$scratch LC_ALL=de_DE.UTF-8 ASAN_OPTIONS=detect_leaks=0
export LOCPATH LC_ALL ASAN_OPTIONS
"$pawl" run pendulum --until 0.1 -o comma.csv
cmp plain.csv comma.csv
"$program" "$scratch"
