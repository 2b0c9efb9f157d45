#!/usr/bin/env bash
# The tests of core and kernels under valgrind's memcheck: reads of memory that was never written, accesses outside of buffers, leaks.
#
#   scripts/memcheck.sh                                         tensor-core and tensor-kernels
#   scripts/memcheck.sh -p tensor-kernels --test conformance    whatever `cargo test` can be asked for
#
# valgrind hides AVX-512 from the program, so the best level tested is v3 (AVX2); scripts/sanitize.sh covers the others. Tests are optimised, or they
# would take an hour, and random ones try fewer cases (PROPTEST_CASES). Exit code 0: nothing found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v valgrind > /dev/null; then
  echo "memcheck: valgrind is not installed (Debian, Ubuntu: apt-get install valgrind; Fedora: dnf install valgrind)" >&2
  exit 2
fi

host=$(rustc -vV | sed -n 's/^host: //p')
runner=CARGO_TARGET_$(tr 'a-z-' 'A-Z_' <<< "$host")_RUNNER
what=("$@")
if (($# == 0)); then what=(-p tensor-core -p tensor-kernels --lib --tests); fi

# Threads take turns under valgrind; fair turns, or one that waits for another may wait long.
export "$runner"="valgrind --quiet --fair-sched=yes --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite"
export PROPTEST_CASES=${PROPTEST_CASES:-16}
# Names and lines in what valgrind reports. A directory of its own, so that other builds stay as they are.
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/memcheck
unset TENSOR_SIMD
# What rayon hangs on a thread that becomes part of a pool is never freed: a leak of its own, that one test meets.
exec cargo test --release --no-fail-fast "${what[@]}" -- --test-threads=1 --skip in_a_pool_of_the_calling_thread
