#!/usr/bin/env bash
# Compares the checked out code with a base: builds both, records both on this machine, compares.
#
#   scripts/perf.sh origin/main              compare with the merge base of origin/main and HEAD
#   scripts/perf.sh HEAD~1 --fail-on all     further arguments are passed to `compare`
#
# The comparison goes to standard output and, as markdown, to target/perf/comparison.md, which has
# the reason if there is none. The records are in the same folder. Exit code 1: there is a
# regression; accepted changes are in benches/accepted.txt. 2: nothing was compared. PERF_RECORD has
# the options of `record`: --quick --counts always by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# == 0)); then
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
folder=$PWD/target/perf
mkdir -p "$folder"

# The first line of the comment, by which the workflow finds the comment of an earlier run.
marker='<!-- tensor-bench perf -->'

# not_compared REASON: writes the reason in place of a comparison.
not_compared() {
  printf '%s\n### Performance: nothing was compared\n\n%s\n' "$marker" "$1" \
    > "$folder/comparison.md"
}

# give_up REASON
give_up() {
  not_compared "$1"
  printf 'perf: %s\n' "$1" >&2
  exit 2
}

# The results of an earlier run must not remain, however this run ends.
rm -f "$folder"/{base,new}{,2}.json
not_compared 'The run ended too early; its log says where.'

base=$(git merge-base "$1" HEAD) || give_up "There is no commit that '$1' and HEAD have in common."
shift
read -ra options <<< "${PERF_RECORD---quick --counts always}"

# build FOLDER NAME
build() {
  (cd "$1" &&
    cargo build --quiet --release --package tensor-bench --target-dir "$folder/target") ||
    give_up "The $2 build fails."
  cp "$folder/target/release/tensor-bench" "$folder/$2"
}

# record BUILD NAME
record() {
  local commit=()
  if [[ $1 == base ]]; then commit=(--commit "$base"); fi
  "$folder/$1" record "${options[@]}" "${commit[@]}" --out "$folder/$2.json" ||
    give_up "The $1 build cannot be recorded."
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
  give_up "The base, $base, has no command 'record': there is nothing to compare with."
fi
record base base
record new new

# compare ARGUMENTS: writes $folder/found.md; fails if there is a regression.
compare=("$folder/new" compare "$folder/base.json" "$folder/new.json"
  --allow benches/accepted.txt "$@")
compare() {
  local code=0
  "${compare[@]}" "$@" --format markdown > "$folder/found.md" 2> "$folder/error" || code=$?
  if ((code > 1)); then
    give_up "The records cannot be compared: $(< "$folder/error")"
  fi
  return "$code"
}

# After a regression, a second pair of records in the other order: times changed by chance do not
# change again.
again=()
if ! compare; then
  record new new2
  record base base2
  again=(--again "$folder/base2.json" "$folder/new2.json")
  compare "${again[@]}" || true
fi
{
  printf '%s\n' "$marker"
  cat "$folder/found.md"
} > "$folder/comparison.md"
"${compare[@]}" "${again[@]}"
