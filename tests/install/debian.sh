#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The Debian package: it is made, holds what it should, names the libraries that it needs, and its
# program runs from where it was unpacked.
# usage: debian.sh CMAKE BUILD-FOLDER VERSION SCRATCH-FOLDER
set -eu
cmake=$1 build=$2 version=$3 scratch=$4
cpack=$(dirname -- "$cmake")/cpack
for program in "$cpack" dpkg-deb dpkg-shlibdeps; do
  command -v "$program" >/dev/null || { echo "no $program"; exit 77; }
done
rm -rf "$scratch"
mkdir -p "$scratch"
(cd "$build" && umask 022 && "$cpack" -G DEB -B "$scratch/pack") >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
deb=$(find "$scratch/pack" -maxdepth 1 -name '*.deb')
case ${deb##*/} in
  pawl_"$version"_*.deb) ;;
  *) echo "the package is called $deb"; exit 1 ;;
esac

dpkg-deb -c "$deb" >"$scratch/content"
for file in usr/bin/pawl usr/include/pawl/pawl.h usr/share/man/man1/pawl.1.gz usr/share/doc/pawl/copyright \
    usr/share/doc/pawl/docs/results.md usr/share/pawl/models/pendulum.yaml \
    usr/share/bash-completion/completions/pawl usr/share/zsh/vendor-completions/_pawl \
    usr/share/fish/vendor_completions.d/pawl.fish; do
  grep -q " \./$file\$" "$scratch/content" || { echo "not in the package: $file"; exit 1; }
done
# What lintian would say first: owners, permissions, places.
awk '$2 != "root/root" { print "owner: " $0; bad = 1 }
     $1 !~ /^l/ && (substr($1, 6, 1) == "w" || substr($1, 9, 1) == "w") { print "permissions: " $0; bad = 1 }
     $6 !~ /^\.\/(usr\/.*)?$/ { print "place: " $0; bad = 1 }
     END { exit bad }' "$scratch/content"
dpkg-deb -f "$deb" >"$scratch/control"
for line in '^Package: pawl$' "^Version: $version\$" '^Depends: .*libyaml' '^Depends: .*libexpat' '^Section: science$' \
    '^Maintainer: pawl developers$' '^Description: '; do
  grep -q "$line" "$scratch/control" || { echo "the control file lacks $line:"; cat "$scratch/control"; exit 1; }
done
if command -v lintian >/dev/null; then
  lintian --fail-on error --suppress-tags no-changelog,no-copyright-file "$deb"
fi

dpkg-deb -x "$deb" "$scratch/root"
cd "$scratch"
"$scratch/root/usr/bin/pawl" run "$scratch/root/usr/share/pawl/models/pendulum.yaml" -q -o p.csv --plot p.pdf
[ -s p.csv ] && [ -s p.pdf ]
