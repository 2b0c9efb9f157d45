#!/usr/bin/env bash
# Fuzzes the targets of fuzz/, under AddressSanitizer and with overflow checks.
#
#   scripts/fuzz.sh                         each target for 60 seconds of CPU time
#   scripts/fuzz.sh 900                     each for 900 seconds
#   scripts/fuzz.sh 900 layout index        these two only
#   scripts/fuzz.sh --corpus [TARGET...]    add to the seeds in fuzz/corpus, up to 40 and 4 KiB
#                                           a target, what earlier runs found
#   scripts/fuzz.sh --help
#
# Starts from the seeds in fuzz/corpus and fuzz/dictionaries; new inputs are added to
# target/fuzz/corpus, from which the next run continues. Stops at the first finding, which is
# written to fuzz/artifacts; `cargo +nightly fuzz run TARGET FILE` repeats it. The last lines are a
# table of target, seconds of CPU time, executions.
#
# Needs a nightly toolchain and cargo-fuzz. Exit code 0: no finding. 1: a finding. 2: a tool is
# missing.
set -euo pipefail
if [[ ${CARGO_TARGET_DIR:-/} != /* ]]; then CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly HOST=x86_64-unknown-linux-gnu
# The largest number and total size of the seeds of a target in the repository.
readonly SEED_BYTES=4096 SEEDS=40
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
# The library returns failed allocations as errors.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_odr_violation=0:${ASAN_OPTIONS-}
export LSAN_OPTIONS=suppressions=$PWD/fuzz/leaks.supp:print_suppressions=0:${LSAN_OPTIONS-}

usage() {
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"
}

missing() {
  printf 'fuzz: %s\n' "$1" >&2
  exit 2
}

all_targets() {
  sed -n '/^\[\[bin\]\]/{n;s/^name = "\(.*\)"$/\1/p}' fuzz/Cargo.toml
}

# take_targets NAME...: sets $targets; all of them if none is named.
take_targets() {
  local name
  mapfile -t targets < <(all_targets)
  for name in "$@"; do
    [[ " ${targets[*]} " == *" $name "* ]] || missing "no target is called $name"
  done
  if (($#)); then targets=("$@"); fi
}

build() {
  cargo +nightly --version > /dev/null 2>&1 ||
    missing "no nightly toolchain (rustup toolchain install nightly --profile minimal)"
  cargo fuzz --version > /dev/null 2>&1 || missing "no cargo-fuzz (cargo install cargo-fuzz)"
  local target
  for target in "${targets[@]}"; do
    cargo +nightly fuzz build "$target"
  done
}

# prepare TARGET: sets $program, $found (the corpus that runs write) and $seeds.
prepare() {
  program=$CARGO_TARGET_DIR/$HOST/release/$1
  found=$CARGO_TARGET_DIR/corpus/$1 seeds=fuzz/corpus/$1
  mkdir -p "$found" "$seeds" "fuzz/artifacts/$1"
}

# run TARGET SECONDS: libFuzzer limits wall time, so it is started again until the CPU time is used.
# Sets $used and $executions.
run() {
  local left options=(-rss_limit_mb=4096 -timeout=20 -print_final_stats=1
    "-artifact_prefix=fuzz/artifacts/$1/") log status=0 start
  prepare "$1"
  log=$CARGO_TARGET_DIR/$1.log
  if [[ -e fuzz/dictionaries/$1.dict ]]; then options+=("-dict=fuzz/dictionaries/$1.dict"); fi
  executions=0 used=0
  measure_cpu
  start=$cpu
  while ((used < $2 && status == 0)); do
    printf 'fuzz: %s, %d of %d s\n' "$1" "$used" "$2"
    # At least 5 seconds, because each start reads the corpus.
    left=$(($2 - used > 5 ? $2 - used : 5))
    "$program" "${options[@]}" "-max_total_time=$left" "$found" "$seeds" > "$log" 2>&1 ||
      status=$?
    measure_cpu
    used=$((cpu - start))
    executions=$((executions + $(executed "$log")))
  done
  if ((status)); then
    # The error without the frames of the fuzzer.
    grep -aE -A 3 'panicked at|^==[0-9]+==ERROR|^SUMMARY|^artifact_prefix' "$log" ||
      tail -n 40 "$log"
    printf 'fuzz: %s has a finding: see fuzz/artifacts/%s and %s\n' "$1" "$1" "$log"
  fi
  return "$status"
}

# Sets $cpu: the CPU time of all ended child processes, in seconds. Not in $(...): a subshell has no
# children.
measure_cpu() {
  local user system file=$CARGO_TARGET_DIR/times.$$
  times > "$file"
  { read -r _; read -r user system; } < "$file"
  rm "$file"
  cpu=$(($(whole_seconds "$user") + $(whole_seconds "$system")))
}

# whole_seconds 1m2.345s
whole_seconds() {
  local rest=${1#*m}
  echo $((${1%m*} * 60 + ${rest%%.*}))
}

executed() {
  awk '/^stat::number_of_executed_units:/ { sum = $2 } END { print sum + 0 }' "$1"
}

fuzz() {
  local target status=0 table=()
  for target in "${targets[@]}"; do
    run "$target" "$1" || status=1
    table+=("$(printf '%-14s %8d s %14d' "$target" "$used" "$executions")")
    if ((status)); then break; fi
  done
  printf '\n%-14s %10s %14s\n' target 'CPU time' executions
  printf '%s\n' "${table[@]}"
  return "$status"
}

# add_seeds TARGET: adds files of the minimised corpus up to the limits above. File names are hashes
# of the content, so the order is random.
add_seeds() {
  local few size total=0 count=0 file known
  prepare "$1"
  few=$(mktemp -d)
  "$program" -merge=1 "$few" "$seeds" "$found" > /dev/null 2>&1
  read -r count total < <(find "$seeds" -type f -printf '%s\n' |
    awk '{ sum += $1 } END { print NR, sum + 0 }')
  known=$(find "$seeds" -type f -exec sha1sum {} +)
  for file in "$few"/*; do
    size=$(wc -c < "$file")
    if [[ $known == *"${file##*/} "* ]]; then continue; fi
    if ((count < SEEDS && size <= SEED_BYTES / 8 && total + size <= SEED_BYTES)); then
      total=$((total + size)) count=$((count + 1))
      cp "$file" "$seeds/"
    fi
  done
  rm -rf "$few"
  printf 'fuzz: %s: %d seeds, %d bytes\n' "$1" "$count" "$total"
}

case ${1-60} in
  -h | --help) usage ;;
  --corpus)
    take_targets "${@:2}"
    build
    for target in "${targets[@]}"; do add_seeds "$target"; done
    ;;
  *[!0-9]*)
    usage >&2
    exit 2
    ;;
  *)
    take_targets "${@:2}"
    build
    fuzz "${1-60}"
    ;;
esac
