#!/usr/bin/env bash
# Compares the methods of tensors of run-time dtypes with those of typed ones, as `cargo doc` has
# documented them: the only ones missing are those that need the element type at compile time, which
# stand in the list below.
#
#   scripts/any_methods.sh            after `cargo doc`
#   scripts/any_methods.sh --help
#
# Exit code 0: the list is right. 1: it is not, with what is wrong. 2: no documentation.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly PAGES=${CARGO_TARGET_DIR:-target}/doc/tensor_kernels

# Typed memory comes in by `AnyTensor::from(Tensor::from_vec(…))`; functions of elements run inside
# of `with_tensor!`, and so are guards and mutable views used; `to_dtype` and `copy_into` convert.
readonly TYPED='as_tensor cast cast_into data_ptr from_fn from_nested from_owner
from_owner_mut from_slice from_vec from_vec_with_layout map map_inplace map_into operand read
target write zip3_inplace zip3_into zip3_map zip_inplace zip_into zip_map'

if (($#)); then
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"
  [[ $1 == --help ]]
  exit
fi
if [[ ! -f $PAGES/trait.TensorExt.html ]]; then
  echo "any_methods: no documentation in $PAGES; run cargo doc first" >&2
  exit 2
fi

# methods PAGE...: the methods of types and traits, without that of `AsOperand` and those of an
# optional feature.
methods() {
  (cd "$PAGES" && grep -oh 'id="\(ty\)\?method\.[a-z0-9_]*"' "$@") |
    sed 's/.*method\.//; s/"//' | grep -vxE 'as_operand|(from|into)_ndarray' | sort -u
}

missing=$(comm -23 \
  <(methods trait.TensorExt.html trait.TensorMutExt.html struct.TensorBase.html) \
  <(methods trait.AnyTensorExt.html enum.AnyTensorBase.html))
if ! wrong=$(diff <(tr ' ' '\n' <<< "$TYPED" | sort) <(cat <<< "$missing")); then
  printf 'any_methods: < is no longer missing, > is missing in AnyTensor:\n%s\n' "$wrong" >&2
  exit 1
fi
