#!/usr/bin/env bash
# Compares what is checked out here with a base: builds both, records both on this machine, compares.
#
#   scripts/perf.sh origin/main                     with the commit where this branch left main
#   scripts/perf.sh HEAD~1 --fail-on all            arguments are handed to `compare`
#
# The comparison goes to standard output and, as markdown, to target/perf/comparison.md; the records are beside it. Exit code 1: something has become
# worse; what was accepted beforehand stands in benches/accepted.txt. PERF_RECORD has the options of `record`: --quick --counts always by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# == 0)); then
  sed -n '2,7s/^# \?//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
base=$(git merge-base "$1" HEAD)
shift
read -ra options <<< "${PERF_RECORD---quick --counts always}"
folder=$PWD/target/perf
mkdir -p "$folder"

# build FOLDER NAME
build() {
  (cd "$1" && cargo build --quiet --release --package tensor-bench --target-dir "$folder/target")
  cp "$folder/target/release/tensor-bench" "$folder/$2"
}

tree=$folder/base-tree
remove_tree() {
  git worktree remove --force "$tree" 2> /dev/null || true
}
trap remove_tree EXIT
remove_tree
git worktree add --quiet --detach "$tree" "$base"
build "$tree" base
build . new

if ! "$folder/base" record --help > /dev/null 2>&1; then
  echo "perf: the base, $base, has no command 'record': there is nothing to compare with" >&2
  exit 2
fi
"$folder/base" record "${options[@]}" --commit "$base" --out "$folder/base.json"
"$folder/new" record "${options[@]}" --out "$folder/new.json"

compare=("$folder/new" compare "$folder/base.json" "$folder/new.json" --allow benches/accepted.txt "$@")
code=0
"${compare[@]}" --format markdown > "$folder/comparison.md" 2> "$folder/error" || code=$?
if ((code > 1)); then
  cat "$folder/error" >&2
  exit "$code"
fi
"${compare[@]}"
