#!/usr/bin/env bash
# Holds files and DLPack tensors against NumPy, PyTorch and safetensors: they read what this library
# wrote, and it reads what they wrote.
#
#   scripts/interchange.sh            makes a Python environment in target/interchange, once
#   PYTHON=FILE scripts/interchange.sh        takes this one, which has these libraries
#   scripts/interchange.sh --help
#
# Exit code 0: all elements arrived. 1: some did not, or a tool failed.
set -euo pipefail
readonly ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

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
    exit 1
    ;;
esac

cd "$ROOT"
target=${CARGO_TARGET_DIR:-$ROOT/target}
if [[ -z ${PYTHON-} ]]; then
  PYTHON=$target/interchange/bin/python
  if [[ ! -x $PYTHON ]]; then
    python3 -m venv "$target/interchange"
    "$PYTHON" -m pip install --quiet numpy safetensors torch \
      --extra-index-url https://download.pytorch.org/whl/cpu
  fi
fi
cargo build --quiet --locked -p tensor-core --features dlpack,npz,safetensors --examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$PYTHON" scripts/interchange.py "$target/debug/examples" "$work"
