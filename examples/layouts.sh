#!/usr/bin/env bash
# Layouts of one's own, in layouts.json: are the results right, how fast is each, and what has a
# change made worse?
#
#   examples/layouts.sh
#
# It verifies and measures the layouts, records them, changes one of them as a careless commit
# might, records them again, and compares the two records: the comparison fails and names the
# layout. Then it accepts the change. TENSOR_BENCH names the program instead of building it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
read -ra bench <<< "${TENSOR_BENCH-cargo run --quiet --release -p tensor-bench --}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

say() { printf '\n== %s\n' "$*"; }

# record LAYOUTS NAME. A real record has instruction counts, too: they need valgrind.
record() {
  "${bench[@]}" record --cases "$1" --quick --counts never --out "$folder/$2.json"
}

# compare ARGUMENTS: prints the comparison and its exit code, 1 if something is worse.
compare() {
  local code=0
  "${bench[@]}" compare "$folder/base.json" "$folder/new.json" "$@" || code=$?
  printf 'exit code %d\n' "$code"
}

say 'Every result is compared with a reference; nothing is measured'
"${bench[@]}" suite layouts.json --verify

say 'Times, beside a naive loop and the fastest plain copy'
"${bench[@]}" suite layouts.json --quick

say 'The weights arrive transposed from now on'
record layouts.json base
sed 's/\[96, 64\], "ops": \[\]/[64, 96], "ops": [["permute", [1, 0]]]/' layouts.json \
  > "$folder/changed.json"
record "$folder/changed.json" new
compare

say 'The same, accepted with a reason'
echo 'model/weights any the file format stores them like this' > "$folder/accepted.txt"
compare --allow "$folder/accepted.txt"
