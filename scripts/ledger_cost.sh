#!/usr/bin/env bash
# Counts what the ledger of copies costs while no scope is open: instructions of contiguous(),
# reshape() and to_vec() that copy, counted by callgrind, in three states.
#
#   scripts/ledger_cost.sh          needs valgrind; builds twice in a temporary folder
#   scripts/ledger_cost.sh --help
#
# - without: the library without its feature `ledger`
# - off: the library with it, no scope was ever opened
# - closed: the same, after a scope was opened and closed
#
# Exit code 1: a call takes over 1 % more instructions with the ledger than without. A load of the
# counter, a comparison and a branch are 2 to 4; the rest is what the compiler does differently
# around them.
set -euo pipefail
readonly ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) CALLS=1000

if (($#)); then
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"
  [[ $1 == --help ]] && exit 0 || exit 2
fi
if ! command -v valgrind > /dev/null; then
  echo "ledger_cost: valgrind is missing; scripts/callgrind.sh --install-only installs it" >&2
  exit 2
fi

folder=${LEDGER_COST_FOLDER:-$(mktemp -d)}
[[ -n ${LEDGER_COST_FOLDER-} ]] || trap 'rm -rf "$folder"' EXIT
# program NAME FEATURES: a program that is counted, with these features of the library.
program() {
  local here=$folder/$1
  mkdir -p "$here/src"
  cat > "$here/Cargo.toml" << TOML
[package]
name = "ledger-cost"
version = "0.1.0"
edition = "2024"

[dependencies]
tensor-kernels = { path = "$ROOT/crates/tensor-kernels", default-features = false, features = [$2] }

[features]
ledger = []

[profile.release]
debug = 1

[workspace]
TOML
  cat > "$here/src/main.rs" << 'RUST'
use std::hint::black_box;
use tensor_kernels::{Error, Tensor, TensorExt};

#[inline(never)]
fn counted_contiguous(t: &Tensor<f32>) -> Result<(), Error> {
    black_box(t.contiguous()?);
    Ok(())
}

#[inline(never)]
fn counted_reshape(t: &Tensor<f32>) -> Result<(), Error> {
    black_box(t.reshape([-1])?);
    Ok(())
}

#[inline(never)]
fn counted_to_vec(t: &Tensor<f32>) -> Result<(), Error> {
    black_box(t.to_vec()?);
    Ok(())
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let calls = arguments.next().unwrap();
    let t = Tensor::arange(0.0f32, 1024.0, 1.0)?.view([32, 32])?.t()?;
    #[cfg(feature = "ledger")]
    if arguments.next().as_deref() == Some("closed") {
        tensor_kernels::CopyScope::AllThreads.count(|| counted_contiguous(&t)).0?;
    }
    for _ in 0..calls.parse().unwrap() {
        counted_contiguous(&t)?;
        counted_reshape(&t)?;
        counted_to_vec(&t)?;
    }
    Ok(())
}
RUST
  (cd "$here" && CARGO_TARGET_DIR=$folder/target-$1 cargo build -q --release ${3-})
}

# count PROGRAM OPERATION STATE CALLS: instructions of the program in all calls of an operation.
# Those of malloc are left out: how long it searches its lists depends on what the program allocated
# before.
count() {
  local out=$folder/callgrind.out
  valgrind --tool=callgrind --callgrind-out-file="$out" --toggle-collect="*counted_$2*" \
    "$folder/target-$1/release/ledger-cost" "$4" "$3" 2> /dev/null
  callgrind_annotate --threshold=100 --auto=no "$out" |
    awk '/\/ledger-cost\]$/ { gsub(/,/, "", $1); sum += $1 } END { print sum }'
}

# each PROGRAM OPERATION STATE: instructions of a call, without those of the first ones.
each() {
  local few many
  few=$(count "$1" "$2" "$3" 100)
  many=$(count "$1" "$2" "$3" $((100 + CALLS)))
  echo "$(((many - few) / CALLS))"
}

readonly FEATURES='"elementwise", "reductions", "half", "complex", "rayon", "avx512"'
program with-ledger "$FEATURES, \"ledger\"" --features=ledger
program no-ledger "$FEATURES"
failed=0
printf '%-12s %8s %8s %8s\n' operation without off closed
for operation in contiguous reshape to_vec; do
  without=$(each no-ledger "$operation" off)
  off=$(each with-ledger "$operation" off)
  closed=$(each with-ledger "$operation" closed)
  printf '%-12s %8d %8d %8d\n' "$operation" "$without" "$off" "$closed"
  if ((off > without + without / 100 || closed > without + without / 100)); then failed=1; fi
done
exit "$failed"
