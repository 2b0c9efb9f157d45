#!/usr/bin/env bash
# Measures what the repository says about speed, on a machine that does nothing else: writes
# results/, the tables of docs/performance.md and of README.md, and the README's picture.
#
#   scripts/results.sh             everything, some twenty minutes
#   scripts/results.sh --quick     options are handed to both suites; the report is left as it is
#
# Replaces the text between `<!-- NAME -->` and `<!-- /NAME -->`, after everything has been
# measured.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bench=(cargo run --quiet --release -p tensor-bench --features peers --)
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# need FILE NAME...: checks that the file has both markers of each name, once and in order.
need() {
  local file=$1 name markers
  shift
  for name in "$@"; do
    markers=$(grep -xE "<!-- /?$name -->" "$file" || true)
    if [[ $markers != "<!-- $name -->"$'\n'"<!-- /$name -->" ]]; then
      printf 'results: %s needs one line "<!-- %s -->" and behind it one line "<!-- /%s -->"\n' \
        "$file" "$name" "$name" >&2
      exit 2
    fi
  done
}

# refresh FILE NAME [COMMAND]: what is in $output; with a COMMAND, as what it prints.
refresh() {
  local text
  need "$1" "$2"
  text=$(awk -v name="$2" -v command="${3-}" -v output="$output" '
    $0 == "<!-- /" name " -->" { skip = 0 }
    !skip { print }
    $0 == "<!-- " name " -->" {
      skip = 1
      if (command) print "```text\n$ " command
      while ((getline line < output) > 0) print line
      if (command) print "```"
    }' "$1")
  printf '%s\n' "$text" > "$1"
}

need docs/performance.md results
if (($# == 0)); then need docs/performance.md report; fi
need README.md copies slowdown
if (($# == 0)); then need README.md excerpt; fi

for suite in copy elementwise; do
  "${bench[@]}" suite "benches/suite/$suite.json" --threads 1,2 --peers \
    --record "results/$suite.json" "$@"
done

for suite in copy elementwise; do
  "${bench[@]}" results --cases "results/$suite.json" > "results/$suite.txt"
done
"${bench[@]}" results results/copy.json results/elementwise.json > "$output"
refresh docs/performance.md results \
  "cargo run --release -- results results/copy.json results/elementwise.json"

if (($# == 0)); then
  "${bench[@]}" report > "$output"
  refresh docs/performance.md report "cargo run --release"
  # The title of one table, and the table.
  excerpt=$(awk -v RS= '/^Elementwise, 2x/ { left = 2 }
    left-- > 0 { print (left ? $0 "\n" : $0) }' "$output")
  printf '%s\n' "$excerpt" > "$output"
  refresh README.md excerpt "cargo run --release"
fi

# Of the recorded results, beside what docs/performance.md has of PyTorch, NumPy and candle.
scripts/figures.sh table > "$output"
refresh README.md copies
scripts/figures.sh slowdown > "$output"
refresh README.md slowdown
scripts/figures.sh picture > "$output"
cat "$output" > docs/images/copies.svg
