#!/usr/bin/env bash
# Fuzzes every target of fuzz/ for a while, under AddressSanitizer.
#
#   scripts/fuzz.sh           one minute each
#   scripts/fuzz.sh 600       ten minutes each
#
# Needs a nightly toolchain and cargo-fuzz (cargo install cargo-fuzz). What was found lies in fuzz/artifacts. Exit code 0: nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo +nightly fuzz --version > /dev/null 2>&1; then
  echo "fuzz: a nightly toolchain and cargo-fuzz are needed (rustup toolchain install nightly; cargo install cargo-fuzz)" >&2
  exit 2
fi
for target in views files; do
  cargo +nightly fuzz run "$target" -- -max_total_time="${1-60}" -rss_limit_mb=4096
done
