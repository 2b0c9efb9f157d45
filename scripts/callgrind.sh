#!/usr/bin/env bash
# Counts instructions with benches/instructions.rs, after installing what that needs and is missing: valgrind and iai-callgrind's runner.
#
#   scripts/callgrind.sh                                   count, compare with the last run, take its place
#   scripts/callgrind.sh --save-baseline=main              count and keep the counts under a name
#   scripts/callgrind.sh --baseline=main                   count and compare with those; exit code 3 if something is worse than the limits
#   scripts/callgrind.sh --install-only                    only install
#
# Arguments are handed to the runner. A baseline belongs to one compiler and one valgrind; counts are of the SIMD level v3 at best, because valgrind
# hides AVX-512 from programs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v valgrind > /dev/null; then
  sudo=()
  if ((EUID != 0)); then sudo=(sudo); fi
  if command -v apt-get > /dev/null; then
    "${sudo[@]}" apt-get update
    "${sudo[@]}" apt-get install --yes --no-install-recommends valgrind libc6-dbg
  elif command -v dnf > /dev/null; then
    "${sudo[@]}" dnf install --assumeyes valgrind
  else
    echo "callgrind: valgrind is not installed, and there is neither apt-get nor dnf to install it with" >&2
    exit 2
  fi
fi

# Library and runner must be of exactly one version: that of the lock file.
version=$(sed -n '/^name = "iai-callgrind"$/{n;s/^version = "\(.*\)"$/\1/p}' Cargo.lock)
if [[ $(iai-callgrind-runner --version 2> /dev/null || true) != *" $version" ]]; then
  cargo install --locked --version "$version" iai-callgrind-runner
fi
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

if [[ ${1-} == --install-only ]]; then exit 0; fi
# What this machine compiles for itself alone, valgrind may not know.
if [[ ${RUSTFLAGS-} == *target-cpu=native* ]]; then
  echo "callgrind: RUSTFLAGS asks for target-cpu=native, whose instructions valgrind does not all know" >&2
  exit 2
fi
exec cargo bench --package tensor-bench --bench instructions -- "$@"
