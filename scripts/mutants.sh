#!/usr/bin/env bash
# Mutation testing: changes a random sample of places in the code, one at a time, and runs the quick
# tests of that crate in debug. For tensor-core these are all tests; for tensor-kernels the unit
# tests and the test programs differential, plans, memory, split and fault_allocation.
#
#   scripts/mutants.sh                          60 mutants of the default files
#   scripts/mutants.sh -n 20 -s 7               20, chosen with seed 7
#   scripts/mutants.sh 'crates/tensor-core/src/layout/*.rs'     of files that match these globs
#   scripts/mutants.sh -l                       list the sample, test nothing
#   scripts/mutants.sh -o FILE                  write the table to FILE (target/mutants/table.txt)
#   scripts/mutants.sh --help
#
# The same seed chooses the same mutants of the same code. The table has a line for each: caught,
# missed, timeout (counts as caught), unviable (does not compile); its head has command and sums.
# Logs are in target/mutants/mutants.out. Exit code 0: all mutants were tested.
#
# TENSOR_DIFFERENTIAL_CASES is the number of cases of the differential test (200).
#
# Needs cargo-mutants (cargo install --locked cargo-mutants) and python3.
set -euo pipefail
if [[ ${CARGO_TARGET_DIR:-/} != /* ]]; then CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly ASKED="scripts/mutants.sh $*"
count=60 seed=1 list=0 files=()
folder=${CARGO_TARGET_DIR:-$PWD/target}/mutants
table=$folder/table.txt

usage() {
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"
}

refuse() {
  printf 'mutants: %s\n' "$1" >&2
  exit 2
}

default_files() {
  local kernels=crates/tensor-kernels/src
  files=("$kernels"/nest.rs "$kernels/nest/**" "$kernels/plan/**" "$kernels/partition/**"
    "$kernels/run/**" "$kernels/kernel/**" 'crates/tensor-core/src/layout/**')
}

while (($#)); do
  case $1 in
    -n) count=${2:?"-n takes a number"} && shift ;;
    -s) seed=${2:?"-s takes a number"} && shift ;;
    -o) table=$(realpath -m "${2:?"-o takes a file"}") && shift ;;
    -l) list=1 ;;
    -h | --help) usage && exit ;;
    -*) usage >&2 && exit 2 ;;
    *) files+=("$1") ;;
  esac
  shift
done
[[ $count =~ ^[1-9][0-9]*$ ]] || refuse "$count is no number of mutants"
if ((${#files[@]} == 0)); then default_files; fi
cargo mutants --version > /dev/null 2>&1 ||
  refuse "no cargo-mutants (cargo install --locked cargo-mutants)"
command -v python3 > /dev/null || refuse "no python3"
mkdir -p "$folder"

# Tests are not mutated.
select_files=()
for file in "${files[@]}"; do select_files+=(--file "$file"); done
select_files+=(--exclude '**/tests.rs' --exclude '**/tests/**')

# Samples by a hash of each mutant, so that a new mutant does not change which others are chosen.
sample() {
  python3 -c '
import hashlib, sys
seed, count = sys.argv[1], int(sys.argv[2])
number = lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest()
for name in sorted(sorted(sys.stdin.read().splitlines(), key=number)[:count]):
    print(name)' "$seed" "$count"
}

# Writes the table from the outcomes of cargo-mutants.
write_table() {
  python3 -c '
import collections, json, sys
asked, seconds, *paths = sys.argv[1:]
words = {"CaughtMutant": "caught", "MissedMutant": "missed",
         "Timeout": "timeout", "Unviable": "unviable"}
rows = []
outcomes = [outcome for path in paths for outcome in json.load(open(path))["outcomes"]]
for outcome in outcomes:
    mutant = outcome["scenario"]
    if isinstance(mutant, dict):
        rows.append((words.get(outcome["summary"], outcome["summary"]), mutant["Mutant"]["name"]))
sums = collections.Counter(word for word, _ in rows)
tested = len(rows) - sums["unviable"]
killed = sums["caught"] + sums["timeout"]
share = f"{100 * killed / tested:.1f} %" if tested else "none"
print(f"# {asked}")
found = ", ".join(f"{sums[word]} {word}" for word in words.values())
print(f"# {found}; {killed} of {tested} killed: {share}")
print(f"# {seconds} s, {int(seconds) / max(len(rows), 1):.0f} s each")
for word, name in sorted(rows, key=lambda row: (row[0] != "missed", row[1])):
    print(f"{word:9} {name}")' "$ASKED" "$SECONDS" "$folder"/outcomes-*.json
}

cargo mutants --workspace --list --colors never "${select_files[@]}" > "$folder/all.txt"
[[ -s $folder/all.txt ]] || refuse "nothing to change in ${files[*]}"
sample < "$folder/all.txt" > "$folder/sample.txt"
if ((list)); then
  cat "$folder/sample.txt"
  exit
fi

# Mutants outside of the sample are marked as caught before. The filter --re cannot be used: it does
# not filter mutants that delete a field (cargo-mutants 27.1).
rm -rf "$folder"/mutants.out* "$folder"/outcomes-*.json
mkdir "$folder/mutants.out"
grep -vxFf "$folder/sample.txt" "$folder/all.txt" \
  > "$folder/mutants.out/previously_caught.txt" || true

export TENSOR_DIFFERENTIAL_CASES=${TENSOR_DIFFERENTIAL_CASES:-200}
export CARGO_TARGET_DIR=$folder/target

# Tests that build and run quickly; the other test programs of the kernels take minutes to build.
quick_tests() {
  case $1 in
    tensor-kernels)
      printf -- '--cargo-arg=%s\n' --lib --test=differential --test=plans --test=memory \
        --test=split --test=fault_allocation ;;
    *) printf -- '--cargo-arg=%s\n' --lib --tests ;;
  esac
}

SECONDS=0
for crate in tensor-core tensor-kernels; do
  grep -q "^crates/$crate/" "$folder/sample.txt" || continue
  mapfile -t tests < <(quick_tests "$crate")
  status=0
  cargo mutants --package "$crate" --colors never --no-shuffle --iterate --output "$folder" \
    "${select_files[@]}" --cargo-test-arg=--locked "${tests[@]}" || status=$?
  # 2: some were missed. 3: some ran into the time limit.
  ((status == 0 || status == 2 || status == 3)) || refuse "cargo-mutants ended with code $status"
  cp "$folder/mutants.out/outcomes.json" "$folder/outcomes-$crate.json"
done
write_table > "$table"
printf '\n'
cat "$table"
