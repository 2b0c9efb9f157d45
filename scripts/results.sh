#!/usr/bin/env bash
# Measures the figures that the repository publishes: writes results/ and refreshes the tables of
# the README. The machine should be idle.
#
#   scripts/results.sh             everything, about twenty minutes
#   scripts/results.sh --quick     options are passed to both suites; the report is not refreshed
#
# Replaces the text between `<!-- NAME -->` and `<!-- /NAME -->` in the README, after everything has
# been measured.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bench=(cargo run --quiet --release -p tensor-bench --features peers --)
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# need NAME...: checks that the README has both markers of each name, once and in order.
need() {
  local name markers
  for name in "$@"; do
    markers=$(grep -xE "<!-- /?$name -->" README.md || true)
    if [[ $markers != "<!-- $name -->"$'\n'"<!-- /$name -->" ]]; then
      printf 'results: README.md needs a line "<!-- %s -->" and after it a line "<!-- /%s -->"\n' \
        "$name" "$name" >&2
      exit 2
    fi
  done
}

# refresh NAME COMMAND: puts $output into the README as the output of COMMAND.
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
  "${bench[@]}" suite "benches/suite/$suite.json" --threads 1,2 --peers \
    --record "results/$suite.json" "$@"
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
