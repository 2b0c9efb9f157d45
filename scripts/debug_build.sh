#!/usr/bin/env bash
# Checks that a debug build of a program is usable when this library is optimised in it:
#
#   [profile.dev.package.tensor-kernels]
#   opt-level = 3
#   debug = false
#   debug-assertions = false
#
# Builds a program in a temporary folder, once for release and once for debugging with these lines,
# and times some operations on 4 million elements in both. Exit code 1: one takes more than twice as
# long in the debug build, in the best of three attempts. Sums along rows of 2000 elements, softmax
# of halves and comparisons in another order are printed, but not judged: they take three to five
# times as long, as each row or part is started more slowly.
#
#   scripts/debug_build.sh
#   scripts/debug_build.sh --unoptimized    without the lines: prints what that costs, fails never
#   scripts/debug_build.sh --help
set -euo pipefail
readonly ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd) ATTEMPTS=3

unoptimized=false
case ${1-} in
  "") ;;
  --unoptimized) unoptimized=true ;;
  *)
    sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"
    [[ $1 == --help ]] && exit 0 || exit 2
    ;;
esac

folder=${DEBUG_BUILD_FOLDER:-$(mktemp -d)}
[[ -n ${DEBUG_BUILD_FOLDER-} ]] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/src"
cat > "$folder/Cargo.toml" << EOF
[package]
name = "debug-build"
version = "0.1.0"
edition = "2024"

[dependencies]
half = "2.6"
tensor-kernels = { path = "$ROOT/crates/tensor-kernels" }

[workspace]
EOF
if ! $unoptimized; then
  sed -n 's/^#   \(\[profile.*\|.* = .*\)$/\1/p' "${BASH_SOURCE[0]}" >> "$folder/Cargo.toml"
fi

cat > "$folder/src/main.rs" << 'EOF'
use std::{hint::black_box, time::Instant};
use tensor_kernels::{Error, Tensor, TensorExt};

/// Prints the name and the time in microseconds, the best of some repetitions.
fn time<T>(name: &str, mut f: impl FnMut() -> Result<T, Error>) -> Result<(), Error> {
    let mut best = f64::INFINITY;
    for _ in 0..40 {
        let start = Instant::now();
        black_box(f()?);
        best = best.min(start.elapsed().as_secs_f64());
        if best > 0.1 {
            break;
        }
    }
    println!("{name} {:.0}", best * 1e6);
    Ok(())
}

fn main() -> Result<(), Error> {
    let x = Tensor::<f32>::full([2000, 2000], 0.5)?;
    let t = x.t()?;
    time("exp", || x.exp())?;
    time("add_transposed", || Ok(&x + &t))?;
    time("contiguous", || t.contiguous())?;
    time("sum", || x.sum_all())?;
    time("sum_rows", || x.sum(1))?;
    time("sum_columns", || x.sum(0))?;
    time("to_vec", || t.to_vec())?;
    let bytes = Tensor::<u8>::full([2000, 2000], 7)?;
    time("u8_to_f32", || bytes.cast::<f32>())?;
    time("add_u8", || Ok(&bytes + &bytes.t()?))?;
    let halves = x.cast::<half::f16>()?;
    time("exp_f16", || halves.exp())?;
    time("add_f16", || Ok(&halves + &halves.t()?))?;
    time("sum_f16", || halves.sum_all())?;
    time("f16_to_f32", || halves.cast::<f32>())?;
    time("softmax_f16", || halves.softmax(1))?;
    let numbers = Tensor::<i32>::full([2000, 2000], 7)?;
    time("max_i32", || numbers.max_all())?;
    let is_small = numbers.elem_lt(9)?;
    time("where_cond", || is_small.where_cond(&x, &t))?;
    time("equal", || x.equal(&t))?;
    time("softmax", || x.softmax(1))?;
    time("cumsum", || x.cumsum(0))
}
EOF

unset CARGO_TARGET_DIR
(cd "$folder" && cargo build -q --release && cargo build -q)

# compare: prints operation, release, debug and their ratio; fails if a ratio is above 2.
compare() {
  join <("$folder/target/release/debug-build" | sort) <("$folder/target/debug/debug-build" | sort) |
    awk -v free="$unoptimized" '
      BEGIN { printf "%-16s %12s %12s %8s\n", "operation", "release us", "debug us", "ratio" }
      { ratio = $3 / $2; printf "%-16s %12d %12d %8.2f\n", $1, $2, $3, ratio }
      ratio > 2 && $1 !~ /^(sum_rows|equal|softmax_f16)$/ { slow = 1 }
      END { exit slow && free == "false" }'
}

for ((attempt = 1; attempt <= ATTEMPTS; attempt++)); do
  compare && exit 0
done
echo "an operation takes more than twice as long as in a release build" >&2
exit 1
