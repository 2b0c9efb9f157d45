#!/usr/bin/env bash
# Counts instructions with benches/instructions.rs. Installs valgrind and the runner of
# iai-callgrind first, if they are missing.
#
#   scripts/callgrind.sh                         count, compare with the last run, replace it
#   scripts/callgrind.sh --save-baseline=main    count and store the counts under a name
#   scripts/callgrind.sh --baseline=main         count and compare with those; exit code 3 if
#                                                something exceeds the limits
#   scripts/callgrind.sh --install-only          only install
#
# Arguments are passed to the runner. A baseline belongs to one compiler and one valgrind. The SIMD
# level is v3 at most, because valgrind hides AVX-512 from programs.
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
    echo "callgrind: valgrind is missing, and there is neither apt-get nor dnf to install it" >&2
    exit 2
  fi
fi

# Library and runner must have the same version, that of the lock file.
version=$(sed -n '/^name = "iai-callgrind"$/{n;s/^version = "\(.*\)"$/\1/p}' Cargo.lock)
if [[ $(iai-callgrind-runner --version 2> /dev/null || true) != *" $version" ]]; then
  cargo install --locked --version "$version" iai-callgrind-runner
fi
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin

if [[ ${1-} == --install-only ]]; then exit 0; fi
# valgrind does not support all instructions that target-cpu=native may use.
if [[ ${RUSTFLAGS-} == *target-cpu=native* ]]; then
  echo "callgrind: RUSTFLAGS has target-cpu=native; valgrind lacks some of its instructions" >&2
  exit 2
fi
exec cargo bench --package tensor-bench --bench instructions -- "$@"
