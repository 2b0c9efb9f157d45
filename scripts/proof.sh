#!/usr/bin/env bash
# Proves that records and comparisons find regressions, and find none where there is none.
#
#   scripts/proof.sh                 both of the following
#   scripts/proof.sh damage          for each damage below: damage a copy of this folder, record,
#                                    and compare with the record of the undamaged code
#   scripts/proof.sh damage NAME     only the damage of that name
#   scripts/proof.sh same [N]        N times (10) two records of one build: no regression with the
#                                    default settings, at most one in ten comparisons with
#                                    --fail-on all; counts must be equal
#
# Records are quick ones, on one thread. The last lines are the verdicts; exit code 0 if all of them
# are as they should be.
set -euo pipefail
# Relative to the current folder, as cargo does it; builds run in another folder.
if [[ ${CARGO_TARGET_DIR:-/} != /* ]]; then CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Name, file in crates/tensor-kernels/src, function, line that is inserted at the beginning of its
# body, and what the comparison must print.
damages() {
  cat << 'TABLE'
portable|exec/simd_level.rs|fn detect|if true { return Self::Scalar }|SIMD level v[34] -> scalar
unfused|nest.rs|fn is_fusible|if true { return false }|path transpose -> batched_transpose
allocation|nest.rs|fn with_nest|drop(std::hint::black_box(vec![0u8; 64]));|allocator instructions
transpose|plan/copy/strategies.rs|fn is_transpose|if true { return false }|path transpose -> [a-z]
TABLE
}

folder=$(mktemp -d "${TMPDIR:-/tmp}/proof.XXXXXX")
trap 'rm -rf "$folder"' EXIT
copy=$folder/copy
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/proof
verdicts=$folder/verdicts
unset TENSOR_SIMD

say() {
  printf '[%d s] %s\n' "$SECONDS" "$*"
}

# verdict right|WRONG WORDS
verdict() {
  printf '%-6s %s\n' "$1" "$2" >> "$verdicts"
  say "$1: $2"
}

# Copies the files of the repository, with uncommitted changes.
copy_folder() {
  rm -rf "$copy"
  mkdir -p "$copy"
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    if [[ -e $file ]]; then printf '%s\0' "$file"; fi
  done | tar --create --null --files-from=- --file=- | tar --extract --directory="$copy" --file=-
}

build() {
  say "building: $1"
  (cd "$copy" && cargo build --quiet --release --package tensor-bench) \
    > "$folder/build.log" 2>&1 || {
    cat "$folder/build.log" >&2
    exit 1
  }
  cp "$CARGO_TARGET_DIR/release/tensor-bench" "$folder/$1"
}

# record BUILD NAME
record() {
  say "$("$folder/$1" record --quick --counts always --commit "$1" --out "$folder/$2.json" 2>&1)"
}

# compare BASE NEW ARGUMENTS: writes $folder/found; succeeds or fails like the comparison, and exits
# if there is no comparison.
compare() {
  local code=0
  "$folder/undamaged" compare "$folder/$1.json" "$folder/$2.json" "${@:3}" \
    > "$folder/found" 2> "$folder/error" || code=$?
  if ((code > 1)); then
    cat "$folder/error" >&2
    exit 1
  fi
  return "$code"
}

undamaged() {
  if [[ ! -e $folder/undamaged ]]; then
    copy_folder
    build undamaged
    record undamaged undamaged
  fi
}

damage() {
  local name=$1 file=crates/tensor-kernels/src/$2 function=$3 line=$4 expected=$5
  copy_folder
  # The signature may have several lines; the body begins after the first line that ends in a brace.
  awk -v function_name="$function" -v line="$line" '
    { print }
    index($0, function_name "(") || index($0, function_name "<") { inside = 1 }
    inside && /{$/ { print line; inside = 0 }' "$file" > "$copy/$file"
  if cmp --silent "$file" "$copy/$file"; then
    verdict WRONG "$name: there is no '$function' in $file any more"
    return
  fi
  build "$name"
  record "$name" "$name"
  if compare undamaged "$name"; then
    verdict WRONG "$name: not found"
  elif ! grep -qE "$expected" "$folder/found"; then
    cat "$folder/found"
    verdict WRONG "$name: found, but not named: no '$expected'"
  else
    local first
    first=$(grep -oE -m 1 "$expected.*" "$folder/found")
    verdict right "$name: $(tail -n 1 "$folder/found"); among them: $first"
  fi
}

damaged() {
  undamaged
  local name file function line expected
  while IFS='|' read -r name file function line expected <&3; do
    if [[ -z $1 || $1 == "$name" ]]; then damage "$name" "$file" "$function" "$line" "$expected"; fi
  done 3< <(damages)
}

# All counts of a record, in order.
counts() {
  grep -E '"(instructions|l1_misses|ll_misses|cycles|allocator)":' "$folder/$1.json"
}

same() {
  local times=$1 default=0 all=0 unequal=0 at
  undamaged
  cp "$folder/undamaged.json" "$folder/0.json"
  for ((at = 1; at <= times; at++)); do
    record undamaged "$at"
    compare $((at - 1)) "$at" || { default=$((default + 1)); cat "$folder/found"; }
    compare $((at - 1)) "$at" --fail-on all || { all=$((all + 1)); cat "$folder/found"; }
    cmp --silent <(counts $((at - 1))) <(counts "$at") || unequal=$((unequal + 1))
  done
  word() { if (($1 <= $2)); then echo right; else echo WRONG; fi; }
  verdict "$(word "$default" 0)" \
    "same build, default settings: regressions in $default of $times comparisons"
  verdict "$(word "$all" $((times / 10)))" \
    "same build, --fail-on all: regressions in $all of $times comparisons"
  verdict "$(word "$unequal" 0)" "same build: counts differ in $unequal of $times comparisons"
}

case ${1-both} in
  damage) damaged "${2-}" ;;
  same) same "${2-10}" ;;
  both)
    damaged ""
    same 10
    ;;
  *)
    sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac

printf '\n'
cat "$verdicts"
! grep -q '^WRONG' "$verdicts"
