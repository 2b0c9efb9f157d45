#!/usr/bin/env python3
"""Records PyTorch's answers to operations that move elements, and to further reductions.

    scripts/golden_movement.py FOLDER

Writes movement.jsonl and reductions.jsonl, the records that the tests of tensor-kernels replay from
crates/tensor-core/tests/data. Needs PyTorch (recorded with 2.15). The same seed gives the same
cases; values of floats may differ in the last places between versions of PyTorch.

A tensor is a row-major base with values, or 0, 1, 2, ... if it has none; then its dimensions are
permuted, and one of them is taken in steps: {"base": [2, 3], "values": [...], "permute": [1, 0],
"step": [0, 2]}.
"""

import json
import math
import random
import sys
import warnings
from pathlib import Path

import torch

INF, NAN = math.inf, math.nan


def numel(shape):
    return math.prod(shape)


def number(value):
    """JSON has no numbers that are not finite."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def build(spec, dtype=torch.int64):
    values = spec.get("values", list(range(numel(spec["base"]))))
    tensor = torch.tensor([float(v) if isinstance(v, str) else v for v in values], dtype=dtype)
    tensor = tensor.view(spec["base"])
    if "permute" in spec:
        tensor = tensor.permute(spec["permute"])
    if "step" in spec:
        dim, step = spec["step"]
        tensor = tensor[(slice(None),) * dim + (slice(None, None, step),)]
    return tensor


def random_shape(rng, most_rank=4, least_rank=0):
    sizes = [0, 1, 2, 2, 3, 3, 4, 5]
    return [rng.choice(sizes) for _ in range(rng.randint(least_rank, most_rank))]


def of_shape(rng, shape, values=None):
    """A tensor of this shape, perhaps permuted and perhaps taken in steps."""
    spec, base = {}, list(shape)
    if base and values is None and rng.random() < 0.3 and 0 not in base:
        dim = rng.randrange(len(base))
        spec["step"] = [dim, 2]
        base[dim] = 2 * base[dim] - rng.randint(0, 1)
    if len(base) > 1 and values is None and rng.random() < 0.6:
        order = rng.sample(range(len(base)), len(base))
        spec["permute"] = order
        inner = [0] * len(base)
        for position, dim in enumerate(order):
            inner[dim] = base[position]
        base = inner
    return {"base": base, **({"values": values} if values is not None else {}), **spec}


def indices(rng, shape, size, lowest=0):
    values = [rng.randint(lowest, size - 1) if size > lowest else 0 for _ in range(numel(shape))]
    if values and rng.random() < 0.08:
        values[rng.randrange(len(values))] = rng.choice([size, -size - 1, size + 5])
    return {"base": shape, "values": values}


def mask(rng, shape):
    return {"base": shape, "values": [rng.randint(0, 1) for _ in range(numel(shape))]}


def any_dim(rng, ndim):
    """A dimension, rarely one that does not exist."""
    if rng.random() < 0.05:
        return rng.choice([ndim, -ndim - 1, 7])
    return rng.randint(-max(ndim, 1), max(ndim, 1) - 1)


def case_cat(rng):
    shape = random_shape(rng, least_rank=1)
    dim, parts = rng.randint(-len(shape), len(shape) - 1), []
    for _ in range(rng.randint(0 if rng.random() < 0.1 else 1, 4)):
        part = list(shape)
        part[dim] = rng.randint(0, 3)
        if rng.random() < 0.05:
            part = rng.choice([[0], [], part + [2], [4] * len(part)])
        parts.append(of_shape(rng, part))
    return [parts, any_dim(rng, len(shape)) if rng.random() < 0.1 else dim]


def case_stack(rng):
    shape = random_shape(rng, most_rank=3)
    parts = [of_shape(rng, shape) for _ in range(rng.randint(0 if rng.random() < 0.1 else 1, 4))]
    if parts and rng.random() < 0.08:
        parts[-1] = of_shape(rng, random_shape(rng))
    return [parts, any_dim(rng, len(shape) + 1)]


def case_pad(rng):
    mode = rng.choice(["constant", "constant", "reflect", "replicate", "circular"])
    if mode == "constant":
        shape = random_shape(rng)
        length = 2 * rng.randint(0, len(shape) + (rng.random() < 0.1)) + (rng.random() < 0.05)
        return [of_shape(rng, shape), [rng.randint(-2, 3) for _ in range(length)], mode, 77]
    padded = rng.randint(1, 3)
    shape = [rng.randint(2, 4) for _ in range(padded + rng.randint(1, 2))]
    lowest = -1 if mode != "circular" and rng.random() < 0.3 else 0
    return [of_shape(rng, shape), [rng.randint(lowest, 4) for _ in range(2 * padded)], mode, 0]


def case_roll(rng):
    shape = random_shape(rng)
    if rng.random() < 0.3:
        return [of_shape(rng, shape), [rng.randint(-7, 7)], []]
    count = rng.randint(1, 4)
    dims = [any_dim(rng, len(shape)) for _ in range(count + (rng.random() < 0.05))]
    return [of_shape(rng, shape), [rng.randint(-7, 7) for _ in range(count)], dims]


def case_repeat_interleave(rng):
    shape = random_shape(rng, most_rank=3, least_rank=1)
    dim = rng.choice([None, any_dim(rng, len(shape))])
    return [of_shape(rng, shape), rng.randint(0, 3), dim]


def case_repeat_interleave_each(rng):
    shape = random_shape(rng, most_rank=3, least_rank=1)
    dim = rng.choice([None, rng.randint(-len(shape), len(shape) - 1)])
    size = numel(shape) if dim is None else shape[dim]
    size += rng.random() < 0.05
    lowest = -1 if rng.random() < 0.05 else 0
    repeats = {"base": [size], "values": [rng.randint(lowest, 2) for _ in range(size)]}
    return [of_shape(rng, shape), repeats, dim]


def case_index_select(rng):
    shape = random_shape(rng)
    dim = any_dim(rng, len(shape))
    size = shape[dim] if shape and -len(shape) <= dim < len(shape) else 1
    count = rng.choice([[], [1], [0], [rng.randint(1, 6)], [rng.randint(1, 6)]])
    return [of_shape(rng, shape), dim, indices(rng, count, size)]


def case_take(rng):
    shape = random_shape(rng)
    size = numel(shape)
    return [of_shape(rng, shape), indices(rng, random_shape(rng, 2), size, -size)]


def case_gather(rng):
    shape = random_shape(rng)
    dim = any_dim(rng, len(shape))
    wrapped = dim % len(shape) if shape else 0
    sizes = [rng.randint(0, size + (rng.random() < 0.05)) for size in shape]
    if shape:
        sizes[wrapped] = rng.randint(0, 4)
    if rng.random() < 0.05:
        sizes = sizes + [1]
    return [of_shape(rng, shape), dim, indices(rng, sizes, shape[wrapped] if shape else 1)]


def case_take_along_dim(rng):
    shape = random_shape(rng, least_rank=1)
    dim = rng.randint(-len(shape), len(shape) - 1)
    sizes = [rng.choice([size, 1]) for size in shape]
    sizes[dim] = rng.randint(0, 4)
    if rng.random() < 0.05:
        sizes = sizes[1:]
    # An index out of range is not refused by every version of PyTorch.
    values = [rng.randint(0, max(shape[dim] - 1, 0)) for _ in range(numel(sizes))]
    if shape[dim] == 0 and values:
        return None
    return [of_shape(rng, shape), {"base": sizes, "values": values}, dim]


def case_scatter(rng):
    """Indices do not repeat along the dimension: which one counts is not defined."""
    shape = random_shape(rng, most_rank=3)
    dim = rng.randint(-max(len(shape), 1), max(len(shape), 1) - 1)
    sizes = [rng.randint(0, size + (rng.random() < 0.04)) for size in shape]
    size = shape[dim] if shape else 1
    flat = []
    if shape:
        sizes[dim] = min(sizes[dim], size)
        wrapped = dim % len(shape)
        inner, count = numel(sizes[wrapped + 1 :]), sizes[wrapped]
        flat = [0] * numel(sizes)
        for outer in range(numel(sizes[:wrapped])):
            for column in range(inner):
                for row, index in enumerate(rng.sample(range(size), count)):
                    flat[(outer * count + row) * inner + column] = index
    else:
        flat = [0]
    if flat and rng.random() < 0.05:
        flat[-1] = rng.choice([size, -1])
    src = [s + rng.randint(0, 1) for s in sizes]
    if src and rng.random() < 0.05:
        src[0] = max(src[0] - 2, 0)
    return [of_shape(rng, shape), dim, {"base": sizes, "values": flat}, of_shape(rng, src)]


def case_scatter_value(rng):
    operand, dim, index, _ = case_scatter(rng)
    return [operand, dim, index, 99]


def broadcast_pair(rng):
    shape = random_shape(rng)
    other = [rng.choice([size, size, 1]) for size in shape][rng.randint(0, len(shape)) :]
    if other and rng.random() < 0.05:
        other[-1] += 1
    pair = [shape, other]
    rng.shuffle(pair)
    return pair


def case_masked_fill(rng):
    shape, masked = broadcast_pair(rng)
    return [of_shape(rng, shape), mask(rng, masked), 55]


def case_masked_select(rng):
    shape, masked = broadcast_pair(rng)
    return [of_shape(rng, shape), mask(rng, masked)]


def case_triangle(rng):
    shape = random_shape(rng, least_rank=1 if rng.random() < 0.05 else 2)
    return [of_shape(rng, shape), rng.randint(-4, 4)]


MOVEMENT = {
    "cat": (case_cat, lambda ts, d: torch.cat([build(t) for t in ts], d)),
    "stack": (case_stack, lambda ts, d: torch.stack([build(t) for t in ts], d)),
    "pad": (case_pad, lambda t, p, m, v: pad(t, p, m, v)),
    "roll": (case_roll, lambda t, s, d: torch.roll(build(t), s, d)),
    "repeat_interleave": (
        case_repeat_interleave,
        lambda t, n, d: torch.repeat_interleave(build(t), n, dim=d),
    ),
    "repeat_interleave_each": (
        case_repeat_interleave_each,
        lambda t, n, d: torch.repeat_interleave(build(t), build(n), dim=d),
    ),
    "index_select": (case_index_select, lambda t, d, i: torch.index_select(build(t), d, build(i))),
    "take": (case_take, lambda t, i: torch.take(build(t), build(i))),
    "gather": (case_gather, lambda t, d, i: torch.gather(build(t), d, build(i))),
    "take_along_dim": (
        case_take_along_dim,
        lambda t, i, d: torch.take_along_dim(build(t), build(i), d),
    ),
    "scatter": (case_scatter, lambda t, d, i, s: build(t).scatter(d, build(i), build(s))),
    "scatter_value": (case_scatter_value, lambda t, d, i, v: build(t).scatter(d, build(i), v)),
    "masked_fill": (
        case_masked_fill,
        lambda t, m, v: build(t).masked_fill(build(m, torch.bool), v),
    ),
    "masked_select": (
        case_masked_select,
        lambda t, m: build(t).masked_select(build(m, torch.bool)),
    ),
    "tril": (case_triangle, lambda t, d: torch.tril(build(t), d)),
    "triu": (case_triangle, lambda t, d: torch.triu(build(t), d)),
}


def pad(spec, padding, mode, value):
    if mode == "constant":
        return torch.nn.functional.pad(build(spec), padding, value=value)
    # Not all modes exist for integers.
    padded = torch.nn.functional.pad(build(spec).double(), padding, mode=mode)
    return padded.long()


# Numbers of no more than 7 bits, so that both libraries read the same ones.
SPECIAL = [INF, -INF, NAN, 0.0]


def floats(rng, shape, special=0.1):
    spec = of_shape(rng, shape)
    choose = lambda: (
        number(rng.choice(SPECIAL)) if rng.random() < special else rng.randint(-64, 64) / 8
    )
    return {**spec, "values": [choose() for _ in range(numel(spec["base"]))]}


def some_dims(rng, ndim):
    """One to all dimensions, rarely one twice or one that does not exist."""
    if rng.random() < 0.05:
        return [any_dim(rng, ndim), any_dim(rng, ndim)]
    dims = rng.sample(range(ndim), rng.randint(1, ndim)) if ndim else [0]
    return [d - ndim if ndim and rng.random() < 0.3 else d for d in dims]


def case_along(rng):
    shape = random_shape(rng)
    return [floats(rng, shape, rng.choice([0, 0, 0.1])), any_dim(rng, len(shape))]


def case_over(rng):
    shape = random_shape(rng)
    x = floats(rng, shape, rng.choice([0, 0, 0.1]))
    return [x, some_dims(rng, len(shape)), rng.random() < 0.4]


def case_var(rng):
    return [*case_over(rng), rng.choice([1, 1, 0, 2, 0.5, 3])]


def case_norm(rng):
    return [*case_over(rng), number(rng.choice([0.0, 1.0, 2.0, 3.0, 0.5, INF, -INF, -1.0, 2.5]))]


def case_truth(rng):
    shape = random_shape(rng)
    x = {"base": shape, "values": [rng.choice([0, 0, 1, -3]) for _ in range(numel(shape))]}
    return [x, some_dims(rng, len(shape)), rng.random() < 0.4]


def case_cumsum(rng):
    shape = random_shape(rng)
    return [of_shape(rng, shape), any_dim(rng, len(shape))]


def case_isclose(rng):
    shape, other = broadcast_pair(rng)
    a, b = floats(rng, shape, 0.3), floats(rng, other, 0.3)
    if numel(shape) == numel(b["base"]) and rng.random() < 0.5:
        b["values"] = list(a["values"])
    tolerances = [rng.choice([0.0, 1e-5, 0.5, -1.0 if rng.random() < 0.1 else 0.1])] * 2
    return [a, b, *tolerances, rng.random() < 0.5]


def f64(spec):
    return build(spec, torch.float64)


def vector_norm(x, dims, keep, p):
    return torch.linalg.vector_norm(f64(x), float(p), dims, keep)


REDUCTIONS = {
    "softmax": (case_along, lambda x, d: torch.softmax(f64(x), d)),
    "log_softmax": (case_along, lambda x, d: torch.log_softmax(f64(x), d)),
    "logsumexp": (case_over, lambda x, d, k: torch.logsumexp(f64(x), d, k)),
    "var": (case_var, lambda x, d, k, c: torch.var(f64(x), d, correction=c, keepdim=k)),
    "std": (case_var, lambda x, d, k, c: torch.std(f64(x), d, correction=c, keepdim=k)),
    "norm": (case_norm, vector_norm),
    "any": (case_truth, lambda x, d, k: torch.any(build(x), d, k).long()),
    "all": (case_truth, lambda x, d, k: torch.all(build(x), d, k).long()),
    "cumsum": (case_along, lambda x, d: torch.cumsum(f64(x), d)),
    "cumsum_int": (case_cumsum, lambda x, d: torch.cumsum(build(x), d)),
    "isclose": (
        case_isclose,
        lambda a, b, r, t, n: torch.isclose(f64(a), f64(b), rtol=r, atol=t, equal_nan=n).long(),
    ),
}


def record(op, rng, case, function):
    args = case(rng)
    if args is None:
        return None
    try:
        result = function(*args)
    except (RuntimeError, IndexError, ValueError, NotImplementedError) as refused:
        text = str(refused).splitlines()[0]
        # A library of PyTorch's that refuses before PyTorch does, and what it cannot do.
        if isinstance(refused, NotImplementedError) or "axis_dim" in text or "INDICES" in text:
            return None
        return {"op": op, "args": args, "error": text}
    values = [number(value) for value in result.flatten().tolist()]
    ok = {"shape": list(result.shape), "strides": list(result.stride()), "values": values}
    return {"op": op, "args": args, "ok": ok}


def write(path, table, count, seed):
    rng = random.Random(seed)
    with path.open("w") as out:
        for op, (case, function) in table.items():
            for _ in range(count):
                if (line := record(op, rng, case, function)) is not None:
                    out.write(json.dumps(line, separators=(",", ":")) + "\n")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    write(folder / "movement.jsonl", MOVEMENT, 60, seed=13)
    write(folder / "reductions.jsonl", REDUCTIONS, 50, seed=14)


if __name__ == "__main__":
    main()
