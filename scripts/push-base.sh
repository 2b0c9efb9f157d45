#!/usr/bin/env bash
# Prints the commit that a push is compared with.
#
#   scripts/push-base.sh BEFORE      BEFORE is where the branch stood: github.event.before
#
# That is BEFORE if HEAD was reached from there, so that a push of several commits is judged as a whole. A new branch (BEFORE is all zeros) and one that
# was rewritten are compared with the commit before HEAD; standard error says so. Exit code 2: there is no such commit either.
set -euo pipefail

before=${1:?usage: scripts/push-base.sh BEFORE}
if [[ $before =~ ^0+$ ]]; then
  why="the branch is new"
elif git merge-base --is-ancestor "$before" HEAD 2> /dev/null; then
  git rev-parse --verify "$before^{commit}"
  exit
else
  why="HEAD was not reached from $before, where the branch stood"
fi
if ! base=$(git rev-parse --verify --quiet HEAD~1); then
  echo "push-base: $why, and HEAD is the first commit: there is nothing to compare with" >&2
  exit 2
fi
echo "push-base: $why; comparing with the commit before HEAD, $base" >&2
echo "$base"
