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

# refresh NAME COMMAND: what is in $output, as what COMMAND prints.
refresh() {
  local readme
  grep -q "^<!-- $1 -->\$" README.md && grep -q "^<!-- /$1 -->\$" README.md
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
