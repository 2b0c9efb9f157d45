#!/usr/bin/env bash
# Measures what the repository says about speed, on a machine that does nothing else: writes results/ and refreshes the tables of the README.
#
#   scripts/results.sh             everything, some twenty minutes
#   scripts/results.sh --quick     options are handed to both suites; the report is then left as it is
#
# What stands between `<!-- NAME -->` and `<!-- /NAME -->` in the README is replaced, only after all of it has been measured.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bench=(cargo run --quiet --release -p tensor-bench --features peers --)
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# need NAME...: each has its two markers in the README, once and in order; asked before anything is measured.
need() {
  local name markers
  for name in "$@"; do
    markers=$(grep -xE "<!-- /?$name -->" README.md || true)
    if [[ $markers != "<!-- $name -->"$'\n'"<!-- /$name -->" ]]; then
      printf 'results: README.md needs one line "<!-- %s -->" and behind it one line "<!-- /%s -->"\n' "$name" "$name" >&2
      exit 2
    fi
  done
}

# refresh NAME COMMAND: what is in $output, as what COMMAND prints.
refresh() {
  local readme
  need "$1"
  readme=$(awk -v name="$1" -v command="$2" -v output="$output" '
    $0 == "<!-- /" name " -->" { skip = 0 }
    !skip { print }
    $0 == "<!-- " name " -->" {
      skip = 1
      print "```text\n$ " command
      while ((getline line < output) > 0) print line
      print "```"
    }' README.md)
  printf '%s\n' "$readme" > README.md
}

need results
if (($# == 0)); then need report; fi

for suite in copy elementwise; do
  "${bench[@]}" suite "benches/suite/$suite.json" --threads 1,2 --peers --record "results/$suite.json" "$@"
done

for suite in copy elementwise; do
  "${bench[@]}" results --cases "results/$suite.json" > "results/$suite.txt"
done
"${bench[@]}" results results/copy.json results/elementwise.json > "$output"
refresh results "cargo run --release -- results results/copy.json results/elementwise.json"

if (($# == 0)); then
  "${bench[@]}" report > "$output"
  refresh report "cargo run --release"
fi
