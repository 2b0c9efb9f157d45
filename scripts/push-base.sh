#!/usr/bin/env bash
# Prints the commit that a push is compared with.
#
#   scripts/push-base.sh BEFORE      BEFORE: the old head of the branch, github.event.before
#
# That is BEFORE if it is an ancestor of HEAD, so that a push of several commits is compared as a
# whole. A new branch (BEFORE is all zeros) and a rewritten one are compared with the parent of
# HEAD, with a note on standard error. Exit code 2: HEAD has no parent.
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
