#!/usr/bin/env python3
"""Records what PyTorch's constructors of tensors give, and item().

    scripts/golden_construct.py > crates/tensor-kernels/tests/data/construct.jsonl

Needs PyTorch (recorded with 2.15). A result is [shape, strides, values], or the first line of the
error. The base of zeros_like and the like has a shape, of which the dimensions are permuted.
"""

import json
import sys

import torch

DTYPES = {
    "bool": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16,
    "i32": torch.int32, "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16,
    "f32": torch.float32, "f64": torch.float64,
}
NUMBERS = [name for name in DTYPES if name != "bool"]
FLOATS = ["f16", "bf16", "f32", "f64"]
SIGNED = ["i8", "i16", "i32", "i64", *FLOATS]

BASES = [([2, 3], [0, 1]), ([2, 3], [1, 0]), ([2, 3, 4], [2, 0, 1]), ([0, 3], [1, 0]), ([], [])]


def base(shape, order, dtype):
    return torch.zeros(shape, dtype=dtype).permute(order)


def record(op, name, args, run):
    try:
        result = run(DTYPES[name])
        values = result.double().flatten().tolist() if isinstance(result, torch.Tensor) else result
        shape = [list(result.shape), list(result.stride()), values] if isinstance(
            result, torch.Tensor) else [[], [], [float(result)]]
        outcome = {"ok": shape}
    except (RuntimeError, ValueError) as refused:
        outcome = {"error": str(refused).splitlines()[0]}
    json.dump({"op": op, "dtype": name, "args": args, **outcome}, sys.stdout,
              separators=(",", ":"))
    print()


def main():
    for args, names in [
        ([0, 10, 3], NUMBERS), ([5, 0, -2], SIGNED), ([0, 1, 0.25], FLOATS), ([1, 1, 1], NUMBERS),
        ([0, 1, 0.1], ["f32", "f64"]), ([-1.5, 2.0, 0.5], FLOATS), ([0, 5, 0], NUMBERS),
        ([5, 0, 1], NUMBERS), ([0.0, 0.3, 0.1], FLOATS), ([0, 10, 0.1], FLOATS),
        ([0, 2.5, 1], NUMBERS), ([0.5, 5, 1.5], NUMBERS), ([0, 3, 0.5], NUMBERS),
        ([-0.5, 3, 0.7], SIGNED), ([250, 260, 1], NUMBERS), ([3, -4.5, -1.25], SIGNED),
        ([0.1, 0.1, 0.1], FLOATS), ([1e9, 5e9, 1e9], ["i64", "f32", "f64"]),
    ]:
        for name in names:
            record("arange", name, args, lambda t, a=args: torch.arange(*a, dtype=t))
    for args, names in [
        ([0, 1, 5], FLOATS), ([-3, 3, 7], SIGNED), ([0, 10, 4], NUMBERS), ([5, 5, 3], NUMBERS),
        ([2, 9, 1], NUMBERS), ([2, 9, 0], NUMBERS), ([0, 100, 7], ["i32", "i64", "f32", "f64"]),
        ([1, -1, 9], FLOATS), ([0, 1, 11], ["f32", "f64"]),
    ]:
        for name in names:
            record("linspace", name, args,
                   lambda t, a=args: torch.linspace(a[0], a[1], a[2], dtype=t))
    for name in DTYPES:
        for args in [[3, 3], [2, 4], [4, 2], [0, 3], [1, 1]]:
            record("eye", name, args, lambda t, a=args: torch.eye(*a, dtype=t))
        for shape in [[], [3], [2, 0], [2, 3, 1]]:
            record("ones", name, shape, lambda t, s=shape: torch.ones(s, dtype=t))
            record("full", name, shape, lambda t, s=shape: torch.full(s, 2, dtype=t))
        for shape, order in BASES:
            args = [shape, order]
            like = lambda t, s=shape, o=order: base(s, o, t)
            record("zeros_like", name, args, lambda t: torch.zeros_like(like(t)))
            record("ones_like", name, args, lambda t: torch.ones_like(like(t)))
            record("full_like", name, args, lambda t: torch.full_like(like(t), 3))
        for shape in [[], [1], [1, 1, 1], [2], [0]]:
            record("item", name, shape, lambda t, s=shape: torch.ones(s, dtype=t).item())


main()
