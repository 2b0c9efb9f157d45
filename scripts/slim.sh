#!/usr/bin/env bash
# Checks that tensor-kernels without its default features stays a small dependency.
#
#   scripts/slim.sh           checks, and prints the crates that are counted
#   scripts/slim.sh --help
#
# - Beside pulp, and the crates that pulp needs, it has at most four dependencies outside of this
#   workspace.
# - No crate in it needs `syn`: parsing Rust takes longer to compile than the copies.
#
# What is counted is what a program compiles on this platform: normal and build dependencies, of all
# crates, without those of tests. Nothing is compiled, and the network is not used if the crates of
# Cargo.lock are there.
#
# Exit code 0: it is small. 1: it is not. 2: bad arguments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly MOST=4

usage() {
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"
}

case ${1-} in
  '') ;;
  -h | --help)
    usage
    exit
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac

# What tensor-kernels needs without its default features: a crate a line, with its depth.
tree=$(
  cargo tree --locked --edges no-dev --prefix depth --no-dedupe \
    -p tensor-kernels --no-default-features
)

# crates [pulp]: the names and versions in the tree, or in the part of it from pulp on, each once.
# Members of the workspace have a path.
crates() {
  awk -v of="${1-}" '
    match($0, /^[0-9]+/) {
      depth = substr($0, 1, RLENGTH) + 0
      crate = substr($0, RLENGTH + 1)
      if (inside && depth <= top) inside = 0
      if (!inside && (of == "" || crate ~ "^" of " ")) { inside = 1; top = depth }
      if (inside && crate !~ /\(\//) print crate
    }' <<< "$tree" |
    cut -d ' ' -f 1,2 | sort -u
}

all=$(crates)
beside=$(comm -23 <(echo "$all") <(crates pulp))
count=$(grep -c . <<< "$beside" || true)
status=0

if ! grep -q '^pulp ' <<< "$all"; then
  echo 'slim: pulp is not in the tree of tensor-kernels; is this script out of date?' >&2
  exit 1
fi
if ((count > MOST)); then
  echo "slim: tensor-kernels --no-default-features needs $count crates beside those of pulp;" \
    "at most $MOST are allowed:" >&2
  status=1
fi
printf '%s\n' "$beside"
if grep -q '^syn ' <<< "$all"; then
  {
    echo 'slim: tensor-kernels --no-default-features needs syn:'
    cargo tree --locked --edges no-dev -p tensor-kernels --no-default-features --invert syn
  } >&2
  status=1
fi
exit "$status"
