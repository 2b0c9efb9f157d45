#!/usr/bin/env python3
"""Records PyTorch's type promotion, and operations on every pair of dtypes.

    scripts/golden_promotion.py > crates/tensor-kernels/tests/data/promotion.jsonl

Needs PyTorch (recorded with 2.15). A result is [dtype, values], or the first line of the error;
"Promotion" stands for the error of promote_types.
Values of complex numbers are pairs; values that are not finite are strings.
"""

import json
import math
import sys
import warnings

import torch

warnings.filterwarnings("ignore")

DTYPES = {
    "bool": torch.bool, "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32,
    "u64": torch.uint64, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
    "f64": torch.float64, "c64": torch.complex64, "c128": torch.complex128,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}

FIRST = {
    "bool": [True, False, True], "unsigned": [3, 1, 6], "signed": [-3, 1, 6],
    "float": [-1.5, 0.5, 6.25], "complex": [-1.5 + 2j, 0.5 - 1j, 3 + 0j],
}
SECOND = {
    "bool": [True, True, True], "unsigned": [2, 5, 1], "signed": [2, 5, 1],
    "float": [0.5, 2.0, 1.5], "complex": [0.5 + 1j, 2 - 0.5j, 1.5 + 0j],
}
# Numbers as arguments. JSON has no complex ones.
SCALARS = {"true": True, "3": 3, "2.5": 2.5, "1j": 1j}

T = torch
BINARY = {
    "add": T.add, "sub": T.sub, "mul": T.mul, "div": T.div,
    "div_floor": lambda a, b: T.div(a, b, rounding_mode="floor"),
    "div_trunc": lambda a, b: T.div(a, b, rounding_mode="trunc"),
    "rem": T.remainder, "pow": T.pow, "atan2": T.atan2, "minimum": T.minimum,
    "maximum": T.maximum, "eq": T.eq, "ne": T.ne, "lt": T.lt, "le": T.le, "gt": T.gt, "ge": T.ge,
    "logical_and": T.logical_and, "logical_or": T.logical_or, "logical_xor": T.logical_xor,
    "bitwise_and": T.bitwise_and, "bitwise_or": T.bitwise_or, "bitwise_xor": T.bitwise_xor,
    "shl": T.bitwise_left_shift, "shr": T.bitwise_right_shift,
    "where_cond": lambda a, b: T.where(T.tensor([True, False, True]), a, b),
    "cat": lambda a, b: T.cat([a, b]), "stack": lambda a, b: T.stack([a, b]),
    "add_inplace": lambda a, b: a.clone().add_(b), "div_inplace": lambda a, b: a.clone().div_(b),
    "copy_from": lambda a, b: a.clone().copy_(b),
}
WITH_VALUES = ["add", "sub", "mul", "div", "pow", "eq", "lt", "where_cond", "add_inplace"]
UNARY = {
    "neg": T.neg, "abs": T.abs, "sign": T.sign, "recip": T.reciprocal, "sqrt": T.sqrt,
    "rsqrt": T.rsqrt, "square": T.square, "exp": T.exp, "ln": T.log, "log2": T.log2,
    "log10": T.log10, "sin": T.sin, "cos": T.cos, "tanh": T.tanh, "sigmoid": T.sigmoid,
    "relu": T.relu, "gelu": T.nn.functional.gelu, "silu": T.nn.functional.silu, "floor": T.floor,
    "ceil": T.ceil, "round": T.round, "trunc": T.trunc, "is_nan": T.isnan,
    "logical_not": T.logical_not, "bitwise_not": T.bitwise_not,
    "sum": T.sum, "prod": T.prod, "mean": T.mean, "min": T.amin, "max": T.amax, "any": T.any,
    "all": T.all, "argmin": T.argmin, "argmax": T.argmax,
    "softmax": lambda x: T.softmax(x, 0), "log_softmax": lambda x: T.log_softmax(x, 0),
    "logsumexp": lambda x: T.logsumexp(x, 0), "var": T.var, "std": T.std,
    "norm": T.linalg.vector_norm, "cumsum": lambda x: T.cumsum(x, 0),
    "clamp": lambda x: T.clamp(x, 1, 2), "tril": lambda x: T.tril(x.view(1, 3)),
    "roll": lambda x: T.roll(x, 1, 0),
}


def kind(name):
    if name == "bool":
        return "bool"
    return {"u": "unsigned", "i": "signed", "c": "complex"}.get(name[0], "float")


def name_of(dtype):
    return NAMES.get(dtype, str(dtype).removeprefix("torch."))


def number(value, single):
    if isinstance(value, complex):
        return [number(value.real, single), number(value.imag, single)]
    if isinstance(value, float):
        digits = 9 if single else 13
        return str(value) if not math.isfinite(value) else float(f"{value:.{digits}g}")
    return value


def result(compute, in_full=False):
    try:
        value = compute()
    except Exception as refused:  # ZeroDivisionError is no RuntimeError
        text = str(refused).split("\n")[0]
        return text if in_full or not text.startswith("Promotion for") else "Promotion"
    if isinstance(value, torch.dtype):
        return name_of(value)
    values = value.flatten()
    if value.dtype not in NAMES:
        values = values.to(torch.complex64)
    single = value.dtype not in (torch.float64, torch.complex128)
    return [name_of(value.dtype), [number(v, single) for v in values.tolist()]]


def tensor(values, name):
    return torch.tensor(values[kind(name)], dtype=DTYPES[name])


def scalar_tensor(values, name):
    return torch.tensor(values[kind(name)][0], dtype=DTYPES[name])


def record(**fields):
    print(json.dumps(fields, separators=(",", ":")))


def pairs(op, ranks, compute):
    in_full = op == "promote_types"
    for a in DTYPES:
        results = {b: result(lambda: compute(a, b), in_full) for b in DTYPES}
        record(op=op, ranks=ranks, a=a, results=results)


def main():
    pairs("promote_types", "", lambda a, b: T.promote_types(DTYPES[a], DTYPES[b]))
    for a in DTYPES:
        cast = {b: T.can_cast(DTYPES[a], DTYPES[b]) for b in DTYPES}
        record(op="can_cast", ranks="", a=a, results=cast)
    builders = {"1": tensor, "0": scalar_tensor}
    for ranks in ["11", "10", "01", "00"]:
        first, second = (builders[rank] for rank in ranks)
        pairs("result_type", ranks, lambda a, b: T.result_type(first(FIRST, a), second(SECOND, b)))
        ops = BINARY if ranks == "11" else ["add", "mul", "div", "lt"]
        for op in ops:
            f = BINARY[op]
            pairs(op, ranks, lambda a, b: f(first(FIRST, a), second(SECOND, b)))
    for rank, build in builders.items():
        for a in DTYPES:
            x = build(FIRST, a)
            operations = {"result_type": T.result_type, **{op: BINARY[op] for op in WITH_VALUES}}
            for op, f in operations.items():
                results = {name: result(lambda: f(x, v)) for name, v in SCALARS.items()}
                record(op=op, ranks=rank + "v", a=a, results=results)
    for op, f in UNARY.items():
        results = {a: result(lambda: f(tensor(FIRST, a))) for a in DTYPES}
        record(op=op, ranks="1", a="", results=results)


if __name__ == "__main__":
    sys.exit(main())
