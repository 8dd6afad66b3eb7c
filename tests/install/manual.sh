#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Help, manual page and completion are made of the tables of the commands: every option of a table is
# in all of them and is taken by its command, and the page is one that man reads without a word.
# usage: manual.sh PAWL SCRATCH-FOLDER
set -u
pawl=$1 scratch=$2 failed=0
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1
bad() {
  echo "$*"
  failed=1
}

"$pawl" help --man >pawl.1 || bad "no manual page"
for shell in bash zsh fish; do
  "$pawl" help --completion $shell >completion.$shell || bad "no completion for $shell"
done
"$pawl" help --completion csh 2>err && bad "csh is not known"
if command -v groff >/dev/null; then
  groff -man -Tutf8 -ww pawl.1 >page.txt 2>warnings || bad "groff fails"
  [ -s warnings ] && bad "$(cat warnings)"
fi

commands=$("$pawl" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 11 ] || bad "commands: $commands"
for command in $commands; do
  "$pawl" "$command" --help >short || bad "$command --help fails"
  "$pawl" help "$command" >full || bad "help $command fails"
  head -1 short | grep -q "^usage: pawl $command" || bad "$command --help: $(head -1 short)"
  [ "$(wc -l <short)" -le 45 ] || bad "$command --help has $(wc -l <short) lines"
  [ "$(awk '{ if (length > 100) n++ } END { print n + 0 }' full)" = 0 ] || bad "help $command is too wide"
  for option in $(sed -n 's/^  \(-[^ ]*\),* *\(--[a-z-]*\)*.*/\1 \2/p' full | tr -d ,); do
    grep -q -- "$(echo "$option" | sed 's/-/\\\\-/g')" pawl.1 || bad "$command $option: not in the manual page"
    grep -q -- "$command:$option)\|$option " completion.bash || bad "$command $option: not completed by bash"
    grep -q -- "'\*$option=*\[" completion.zsh || bad "$command $option: not completed by zsh"
    grep -q -- "from $command' -[sl] ${option##*-}\|from $command' -l ${option#--} " completion.fish ||
      bad "$command $option: not completed by fish"
    # An unknown option is refused with these words; one of the table is not.
    [ "$command" = models ] && continue # each of its options stands alone
    "$pawl" "$command" no-such-model "$option" 1 >said 2>&1
    grep -q "unknown option" said && bad "$command does not take $option"
  done
done

# What bash offers behind each command: every option of its table, and nothing else.
if command -v bash >/dev/null; then
  for command in $commands; do
    "$pawl" help "$command" | sed -n 's/^  \(-[^ ,]*\),* *\(--[a-z-]*\)*.*/\1 \2/p' | tr ' ' '\n' | sed '/^$/d' |
      { cat; echo --help; } | sort -u >wanted
    printf 'source ./completion.bash\nCOMP_WORDS=(pawl %s -) COMP_CWORD=2\n_pawl\nprintf "%%s\\n" "${COMPREPLY[@]}"\n' "$command" |
      bash | sort -u >said
    cmp -s said wanted || bad "$command: bash offers $(diff said wanted)"
  done
fi

# The scripts of shells that are here are read without a mistake.
if command -v bash >/dev/null; then
  cat >try.bash <<'SCRIPT'
set -u
source ./completion.bash
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pawl; echo "${COMPREPLY[*]:-}"; }
try pawl ru
try pawl run --metho
try pawl run oscillator --method rk
try pawl run oscilla
try pawl help conv
try pawl run oscillator --method = rk
try pawl run oscillator --method =
try pawl compare oscillator --methods dopri,rk
try pawl reproduce kov
try pawl plot oscilla
try pawl help --completion z
try pawl --ver
SCRIPT
  bash try.bash 2>&1 | sed 's/^auto .*rk4.*/all methods/' >said
  printf '%s\n' run --method rk4 oscillator converge rk4 'all methods' dopri,rk4 kovanda '' zsh --version >wanted
  cmp -s said wanted || bad "bash completes: $(cat said)"
fi
for shell in zsh fish; do
  if command -v $shell >/dev/null; then
    $shell -n completion.$shell || bad "$shell cannot read its script"
  fi
done
exit $failed
