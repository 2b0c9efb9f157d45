#!/usr/bin/env bash
# The tests of core and kernels under AddressSanitizer and LeakSanitizer: accesses outside of buffers and to freed memory, leaks, at every SIMD
# level of this CPU.
#
#   scripts/sanitize.sh                                         tensor-core and tensor-kernels
#   scripts/sanitize.sh -p tensor-kernels --test conformance    whatever `cargo test` can be asked for
#
# Needs a nightly toolchain, for -Zsanitizer. Exit code 0: nothing found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo +nightly --version > /dev/null 2>&1; then
  echo "sanitize: there is no nightly toolchain, which -Zsanitizer needs (rustup toolchain install nightly --profile minimal)" >&2
  exit 2
fi

what=("$@")
if (($# == 0)); then what=(-p tensor-core -p tensor-kernels --lib --tests); fi

# Some tests are not for a sanitizer: one limits the address space, of which it reserves terabytes, three the stack, of which it needs a multiple;
# and what rayon hangs on a thread that becomes part of a pool is never freed.
skip=()
for test in where_no_thread_can_start_the_caller_does_the_work a_small_stack_is_enough reductions_inside_each_other_need_little_of_the_stack \
  a_reduction_needs_little_of_the_stack in_a_pool_of_the_calling_thread; do
  skip+=(--skip "$test")
done

export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=address"
# Memory that is not there is an error value, which tests ask for.
export ASAN_OPTIONS=allocator_may_return_null=1:${ASAN_OPTIONS:-}
# Unoptimised and instrumented frames.
export RUST_MIN_STACK=${RUST_MIN_STACK:-16777216}
export PROPTEST_CASES=${PROPTEST_CASES:-64}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/sanitize
# With a target named, flags are for the program only, not for build scripts.
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
exec cargo +nightly test --target "$host" --no-fail-fast "${what[@]}" -- "${skip[@]}"
