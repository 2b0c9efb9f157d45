#!/usr/bin/env bash
# Measures what the repository says about speed, on a machine that does nothing else: writes
# results/, the tables of docs/performance.md and of README.md, and the README's picture.
#
#   scripts/results.sh             everything, some two hours
#   scripts/results.sh --quick     options are handed to all suites; the report is left as it is
#   ONLY='copy sweep' scripts/results.sh
#                                  measures these suites again; of the others the recorded figures
#                                  stand: copy elementwise ttc random_copy random_elementwise
#                                  random_reduce sweep
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

need docs/performance.md results ttc populations
if (($# == 0)); then need docs/performance.md report; fi
need README.md populations copies slowdown
if (($# == 0)); then need README.md excerpt; fi

# The suites, each with the arguments that choose its cases. Random cases have a fixed seed, so that
# anyone can draw them; others are drawn while working on the library.
declare -A suites=(
  [copy]="benches/suite/copy.json --threads 1,2"
  [elementwise]="benches/suite/elementwise.json --threads 1,2"
  [ttc]="benches/suite/ttc.json"
  [random_copy]="--random copy --seed 2026 --count 300"
  [random_elementwise]="--random elementwise --seed 2026 --count 300"
  [random_reduce]="--random reduce --seed 2026 --count 300"
  [sweep]="--sweep"
)
named=(copy elementwise ttc)
drawn=(random_copy random_elementwise random_reduce sweep)

for suite in ${ONLY-"${named[@]}" "${drawn[@]}"}; do
  if [[ ! -v suites[$suite] ]]; then
    printf 'results: no suite is called %s: expected some of %s\n' \
      "$suite" "${named[*]} ${drawn[*]}" >&2
    exit 2
  fi
  read -ra cases <<< "${suites[$suite]}"
  "${bench[@]}" suite "${cases[@]}" --peers --record "results/$suite.json" "$@"
done

for suite in "${named[@]}" "${drawn[@]}"; do
  [[ -e results/$suite.json ]] || continue # not measured, and not in the repository
  "${bench[@]}" results --cases "results/$suite.json" > "results/$suite.txt"
done
"${bench[@]}" results results/copy.json results/elementwise.json > "$output"
refresh docs/performance.md results \
  "cargo run --release -- results results/copy.json results/elementwise.json"
if [[ -e results/ttc.json ]]; then
  "${bench[@]}" results results/ttc.json > "$output"
  refresh docs/performance.md ttc "cargo run --release -- results results/ttc.json"
fi
populations=()
for suite in "${drawn[@]}"; do
  [[ ! -e results/$suite.json ]] || populations+=("results/$suite.json")
done
if ((${#populations[@]} == ${#drawn[@]})); then
  "${bench[@]}" results --markdown "${populations[@]}" > "$output"
  refresh docs/performance.md populations
  refresh README.md populations
fi

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
