#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty prefix and checks that all is there, and that the program runs from there.
# usage: files.sh CMAKE BUILD-FOLDER PREFIX
set -eu
cmake=$1 build=$2 prefix=$3
unset DESTDIR
rm -rf "$prefix"
"$cmake" --install "$build" --prefix "$prefix" >"$build/install.log"

# One file or more for each pattern, wherever the library folder is.
for pattern in '*/bin/pawl' '*/libpawl.so' '*/include/pawl/pawl.h' '*/include/pawl/simulate.def' \
    '*/pkgconfig/pawl.pc' '*/cmake/pawl/pawl-config.cmake' '*/cmake/pawl/pawl-config-version.cmake' \
    '*/share/pawl/models/*.yaml' '*/doc/pawl/LICENSE' '*/doc/pawl/README.md' \
    '*/doc/pawl/docs/results.md' '*/man/man1/pawl.1*' '*/bash-completion/completions/pawl' \
    '*/zsh/site-functions/_pawl' '*/fish/vendor_completions.d/pawl.fish'; do
  if [ -z "$(find "$prefix" -path "$pattern")" ]; then
    echo "not installed: $pattern"
    exit 1
  fi
done

# Nothing that is installed may know where it was built or is installed.
for file in $(cd "$prefix" && find . -name '*.pc' -o -name '*.cmake'); do
  if grep -F -e "$prefix" -e "$build" "$prefix/$file"; then
    echo "$file names a folder of this machine"
    exit 1
  fi
done

cd "$prefix"
bin/pawl --version
bin/pawl check share/pawl/models/pendulum.yaml
