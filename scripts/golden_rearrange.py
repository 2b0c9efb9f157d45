#!/usr/bin/env python3
"""Records what einops makes of patterns, as the golden cases of the tests of tensor-kernels.

    python scripts/golden_rearrange.py > crates/tensor-kernels/tests/data/rearrange.jsonl

Needs einops and PyTorch (recorded with einops 0.8.2 and PyTorch 2.15). The output is the same at
every run. Each line is one case:

    op        rearrange, repeat, or min, max, sum, mean, prod: reduce
    base      the input is arange(...).view(base); for prod its elements are arange(...) % 3 + 1
    permute   then permuted, unless the key is missing
    step      then every step-th index of each dimension is taken, unless the key is missing
    pattern, sizes
    shape, values    of the result; null is NaN
    strides   if it is a view of the input, of rearrange and repeat, and has elements
    refused   instead of a result: the reason
"""

import json
import random
import warnings

import einops
import torch

warnings.simplefilter("ignore")
REDUCTIONS = ["min", "max", "sum", "mean", "prod"]

# Each is: op, base shape, pattern, sizes.
GOOD = [
    ("rearrange", [2, 3, 4, 2], "b h w c -> b c h w", {}),
    ("rearrange", [2, 3, 4, 2], "b h w c -> (b h) w c", {}),
    ("rearrange", [2, 3, 4, 2], "b h w c -> h (b w) c", {}),
    ("rearrange", [2, 3, 4, 2], "b h w c -> b (c h w)", {}),
    ("rearrange", [1, 4, 6, 2], "b (h1 h) (w1 w) c -> (b h1 w1) h w c", {"h1": 2, "w1": 3}),
    ("rearrange", [1, 4, 6, 2], "b (h h1) (w w1) c -> b h w (c h1 w1)", {"h1": 2, "w1": 3}),
    ("rearrange", [2, 6, 2], "b (h w) c -> b c h w", {"h": 2}),
    ("rearrange", [2, 6, 2], "b (h w) c -> b c h w", {"h": 2, "w": 3, "b": 2}),
    ("rearrange", [], "->", {}),
    ("rearrange", [], " -> 1 () 1", {}),
    ("rearrange", [1, 1], "1 () -> ", {}),
    ("rearrange", [1, 3], "1 a->a", {}),
    ("rearrange", [3], "(1 a 1) -> (a 1) 01", {}),
    ("rearrange", [3], "  a   ->  a  ", {}),
    ("rearrange", [1], "(1) -> (1 1)", {}),
    ("rearrange", [3, 1, 2], "a()b->b(a)", {}),
    ("rearrange", [6, 2], "(a b)c->(c a)b", {"a": 3}),
    ("rearrange", [2, 3, 4], "... -> ...", {}),
    ("rearrange", [2, 3, 4], "... -> (...)", {}),
    ("rearrange", [], "... -> (...)", {}),
    ("rearrange", [], "... -> ...", {}),
    ("rearrange", [3], "a ... -> a (...)", {}),
    ("rearrange", [2, 3, 4], "a ... -> ... a", {}),
    ("rearrange", [2, 3, 4], "... a -> a (...)", {}),
    ("rearrange", [2, 3, 4], "a ... b -> (b ... a)", {}),
    ("rearrange", [2, 6, 4], "... (a b) c -> c (a ...) b", {"b": 3}),
    ("rearrange", [2, 3], "a if -> if a", {}),
    ("rearrange", [2, 3], "a a1 -> a1 a", {}),
    ("rearrange", [2, 3], "A a -> a A", {}),
    ("rearrange", [2, 3], "a_1 a__b -> a__b a_1", {}),
    ("rearrange", [2, 3], "höhe ширина -> ширина höhe", {}),
    ("rearrange", [0, 3], "a b -> (b a)", {}),
    ("rearrange", [0, 3], "a (b c) -> c b a", {"c": 3}),
    ("rearrange", [0], "(a b) -> a b", {"a": 4}),
    ("rearrange", [0], "(a b) -> a b", {"a": 0, "b": 7}),
    ("rearrange", [2, 0], "a b -> a b 1", {}),
    ("rearrange", [1, 1, 1], "a b c -> (c b) a", {}),
    ("rearrange", [2, 1, 3], "a b c -> (a b) c", {}),
    ("repeat", [2, 3], "h w -> h w c", {"c": 3}),
    ("repeat", [2, 3], "h w -> (r h) w", {"r": 2}),
    ("repeat", [2, 3], "h w -> (h2 h) (w3 w)", {"h2": 2, "w3": 3}),
    ("repeat", [2, 3], "h w -> (h h2) (w w2)", {"h2": 2, "w2": 2}),
    ("repeat", [2, 3], "h w -> h w 3", {}),
    ("repeat", [2, 3], "h w -> 2 h 2 (w 2)", {}),
    ("repeat", [2, 3], "h w -> (2 3) h w", {}),
    ("repeat", [2, 3], "h w -> h w 1 (1 1)", {}),
    ("repeat", [2, 3], "h w -> w h", {}),
    ("repeat", [2, 3], "... -> ... 2", {}),
    ("repeat", [2, 3], "... -> (... 2)", {}),
    ("repeat", [2, 3], "a ... -> (2 ...) n a", {"n": 2}),
    ("repeat", [], "-> 3", {}),
    ("repeat", [], "-> (a b)", {"a": 2, "b": 2}),
    ("repeat", [], "... -> ... a", {"a": 2}),
    ("repeat", [3], "a -> a b", {"b": 0}),
    ("repeat", [3], "a -> (a b)", {"b": 0}),
    ("repeat", [0], "a -> (a b)", {"b": 2}),
    ("repeat", [3], "a -> (a b)", {"b": 1}),
    ("repeat", [3], "a -> a b", {"b": 1, "a": 3}),
    ("repeat", [1], "1 -> 4", {}),
    ("repeat", [4], "(a b) -> b (a c) d", {"a": 2, "c": 3, "d": 1}),
    ("max", [4, 3, 2], "t b c -> b c", {}),
    ("max", [1, 2, 4, 4], "b c (h1 h2) (w1 w2) -> b c h1 w1", {"h2": 2, "w2": 2}),
    ("max", [1, 2, 4, 4], "b c (h1 2) (w1 2) -> b c h1 w1", {}),
    ("max", [1, 2, 4, 4], "b c (h1 h2) (w1 w2) -> c (w1 b) h1", {"h1": 2, "w1": 2}),
    ("mean", [2, 3, 2, 2], "b c h w -> b c", {}),
    ("mean", [2, 3, 2, 2], "b c h w -> 1 c 1 1", {}),
    ("mean", [2, 3, 2, 2], "b c h w -> b c () ()", {}),
    ("sum", [2, 3, 2], "... c -> c", {}),
    ("sum", [2, 3, 2], "... c -> ...", {}),
    ("sum", [2, 3, 2], "... -> ", {}),
    ("sum", [2, 3, 2], "... -> (...)", {}),
    ("sum", [2, 3, 2], "a b c -> c b a", {}),
    ("mean", [2, 3, 2], "a b c -> (c b a)", {}),
    ("sum", [], "->", {}),
    ("sum", [], "... -> 1", {}),
    ("sum", [6], "6 -> ", {}),
    ("sum", [6], "(2 3) -> 1", {}),
    ("sum", [6], "(2 a) -> a", {"a": 3}),
    ("prod", [2, 3, 2], "a b c -> b", {}),
    ("min", [2, 3, 2], "a b c -> c a", {}),
    ("sum", [0, 3], "a b -> b", {}),
    ("prod", [0, 3], "a b -> b", {}),
    ("max", [0, 3], "a b -> a", {}),
    ("min", [0, 3], "a b -> a b", {}),
    ("sum", [1, 3], "1 a -> a", {}),
    ("sum", [2, 3], "axis b -> b", {}),
]

REFUSED = [
    ("rearrange", [2, 3], "a b", {}),
    ("rearrange", [2, 3], "a b -> b a -> a b", {}),
    ("rearrange", [2, 3], "a b - > b a", {}),
    ("rearrange", [2, 3], "a b --> b a", {}),
    ("rearrange", [2, 3], "a b <-> b a", {}),
    ("rearrange", [2, 3], "a b → b a", {}),
    ("rearrange", [2, 3], "a,b -> b a", {}),
    ("rearrange", [2, 3], "a\tb -> b a", {}),
    ("rearrange", [2, 3], "a b -> b a\n", {}),
    ("rearrange", [2, 3], "a b -> b a?", {}),
    ("rearrange", [2, 3], "a b -> [b a]", {}),
    ("rearrange", [2, 3], "a b -> b", {}),
    ("rearrange", [2, 3], "a b -> a b c", {}),
    ("rearrange", [2, 3], "a b -> a b c", {"c": 2}),
    ("rearrange", [2, 3], "a a -> a a", {}),
    ("rearrange", [2, 3], "a b -> a b b", {}),
    ("rearrange", [2, 3], "a b -> (a b a)", {}),
    ("rearrange", [2, 3], "2 3 -> 3 2", {}),
    ("rearrange", [2, 3], "a 3 -> 3 a", {}),
    ("rearrange", [2, 3], "a b -> a b 2", {}),
    ("rearrange", [2, 3], "a b -> (a 2) b", {}),
    ("rearrange", [2, 3], "a b -> 0 a b", {}),
    ("rearrange", [2, 3], "a b -> ((a b))", {}),
    ("rearrange", [2, 3], "(a (b)) -> a b", {}),
    ("rearrange", [2, 3], "a b -> (a b", {}),
    ("rearrange", [2, 3], "a b -> a b)", {}),
    ("rearrange", [2, 3], "(a b -> a b", {}),
    ("rearrange", [2, 3], "a b -> )a b(", {}),
    ("rearrange", [2, 3], "a ... -> a", {}),
    ("rearrange", [2, 3], "a b -> a b ...", {}),
    ("rearrange", [2, 3], "a b -> (a b ...)", {}),
    ("rearrange", [2, 3], "... ... -> ...", {}),
    ("rearrange", [2, 3], "... -> ... ...", {}),
    ("rearrange", [2, 3], "... -> (... ...)", {}),
    ("rearrange", [2, 3], "(...) -> ...", {}),
    ("rearrange", [2, 3], "(a ...) -> a ...", {}),
    ("rearrange", [2, 3], "a .. -> a ..", {}),
    ("rearrange", [2, 3], ". . . -> . . .", {}),
    ("rearrange", [2, 3], ".... -> ....", {}),
    ("rearrange", [2, 3], "a... -> ... a", {}),
    ("rearrange", [2, 3], "a ...b -> (b ...)a", {}),
    ("rearrange", [2, 3], "a. b -> b a.", {}),
    ("rearrange", [2, 3], "a.b -> a.b", {}),
    ("rearrange", [2, 3], "_ b -> b _", {}),
    ("rearrange", [2, 3], "_a b -> b _a", {}),
    ("rearrange", [2, 3], "a_ b -> b a_", {}),
    ("rearrange", [2, 3], "2a b -> b 2a", {}),
    ("rearrange", [2, 3], "1a b -> b 1a", {}),
    ("rearrange", [2, 3], "1_0 b -> b 1_0", {}),
    ("rearrange", [2, 3], "a b c -> a b c", {}),
    ("rearrange", [2, 3], "a -> a", {}),
    ("rearrange", [2, 3], "->", {}),
    ("rearrange", [], "a -> a", {}),
    ("rearrange", [2], "a b ... -> a b ...", {}),
    ("rearrange", [2, 3], "1 a -> a", {}),
    ("rearrange", [2, 3], "() a -> a", {}),
    ("rearrange", [2, 3], "(1) a -> a", {}),
    ("rearrange", [0, 3], "1 a -> a", {}),
    ("rearrange", [2, 3], "a b -> b a", {"a": 3}),
    ("rearrange", [2, 3], "a b -> b a", {"c": 3}),
    ("rearrange", [2, 3], "a b -> b a", {"_": 3}),
    ("rearrange", [2, 3], "a b -> b a", {"": 3}),
    ("rearrange", [2, 3], "... -> ...", {"...": 3}),
    ("rearrange", [2, 1, 3], "a 1 b -> b a", {"1": 1}),
    ("rearrange", [2, 3], "a (b c) -> a b c", {}),
    ("rearrange", [2, 3], "a (b c) -> a b c", {"b": 2}),
    ("rearrange", [2, 3], "a (b c) -> a b c", {"b": 0}),
    ("rearrange", [2, 0], "a (b c) -> a b c", {"b": 0}),
    ("rearrange", [2, 3], "a (b c) -> a b c", {"b": 2, "c": 2}),
    ("rearrange", [2, 8], "a (b c d) -> a b c d", {"c": 2}),
    ("rearrange", [2, 8], "a (b c d) -> a b c d", {"c": 3, "d": 2}),
    ("rearrange", [2, 8], "a (b c) -> a b c", {"b": 2**63 - 1, "c": 2**63 - 1}),
    ("rearrange", [2, 8], "a (b c d) -> a b c d", {"b": 2**62, "c": 2**62}),
    ("repeat", [2, 3], "a b -> a", {}),
    ("repeat", [2, 3], "a b -> a b c", {}),
    ("repeat", [2, 3], "a b -> a b 0", {}),
    ("repeat", [2, 3], "a b -> a b -1", {}),
    ("repeat", [2, 3], "2 b -> b 2", {}),
    ("repeat", [2, 3], "a ... -> a 2", {}),
    ("repeat", [2, 3], "a b -> a b ... 2", {}),
    ("repeat", [2, 3], "a b -> (a a) b", {}),
    ("repeat", [2, 3], "a b -> a b c c", {"c": 2}),
    ("repeat", [2, 3], "a b -> a b c", {"c": 2, "d": 2}),
    ("repeat", [2, 3], "a b -> a b 99999999999999999999999", {}),
    ("max", [2, 3], "a b -> a b c", {}),
    ("max", [2, 3], "a b -> a c", {"c": 3}),
    ("max", [2, 3], "a b -> a 3", {}),
    ("max", [2, 3], "a 2 -> a", {}),
    ("max", [2, 3], "a 0 -> a", {}),
    ("max", [2, 3], "a b -> ...", {}),
    ("max", [2, 3], "a a -> ", {}),
    ("max", [2, 3], "a (b c) -> a b", {}),
    ("max", [2, 3], "a b -> a", {"c": 1}),
    ("max", [0, 3], "a b -> b", {}),
    ("min", [0, 3], "a b -> ", {}),
    ("max", [2, 3], "(...) -> ", {}),
]


def made(case):
    """The input of a case."""
    base = case["base"]
    count = torch.Size(base).numel()
    x = torch.arange(count, dtype=torch.float64)
    if case["op"] == "prod":
        x = x % 3 + 1
    x = x.view(base)
    if "permute" in case:
        x = x.permute(case["permute"])
    if "step" in case:
        x = x[tuple(slice(None, None, step) for step in case["step"])]
    return x


def applied(case, x):
    pattern, sizes = case["pattern"], case["sizes"]
    if case["op"] == "rearrange":
        return einops.rearrange(x, pattern, **sizes)
    if case["op"] == "repeat":
        return einops.repeat(x, pattern, **sizes)
    return einops.reduce(x, pattern, case["op"], **sizes)


def numbers(y):
    """JSON has no NaN: it is null."""
    values = y.flatten().tolist()
    return [None if v != v else int(v) if v == int(v) else v for v in values]


def recorded(case):
    """The case with einops' answer."""
    x = made(case)
    try:
        y = applied(case, x)
    except Exception as e:  # einops' own, and those of Python and PyTorch that it lets through
        return case | {"refused": reason(e)}
    answer = {"shape": list(y.shape), "values": numbers(y)}
    is_view = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    if case["op"] not in REDUCTIONS and y.numel() > 0 and is_view:
        answer["strides"] = list(y.stride())
    return case | answer


def reason(error):
    """What einops says about the pattern, without sets of names, whose order differs by run."""
    text = str(error).strip()
    if isinstance(error, einops.EinopsError):
        text = text.split("Additional info: ")[-1].split("\n", 1)[-1]
    else:
        text = text.splitlines()[0]
    return text.strip().split(" {")[0][:80]


def listed(cases, is_refused):
    for op, base, pattern, sizes in cases:
        case = recorded({"op": op, "base": base, "pattern": pattern, "sizes": sizes})
        assert ("refused" in case) == is_refused, case
        yield case


def grouped(rng, axes):
    """The axes in groups: lists of names, where a group of one need not have parentheses."""
    groups = []
    for axis in axes:
        if groups and rng.random() < 0.4:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        groups.insert(rng.randint(0, len(groups)), [])
    return groups


def text(rng, groups):
    def one(group):
        if not group:
            return rng.choice(["1", "()", "( 1 )"])
        if group == ["..."] or (len(group) == 1 and rng.random() < 0.8):
            return group[0]
        return "(" + " ".join(group) + ")"

    return " ".join(one(group) for group in groups)


def given(rng, groups, sizes):
    """Sizes of all but one axis of each group, and sometimes of that one."""
    names = {}
    for group in groups:
        spare = rng.choice(group) if group and rng.random() < 0.85 else None
        named = [axis for axis in group if axis in sizes and axis != spare]
        names |= {axis: sizes[axis] for axis in named if len(group) > 1 or rng.random() < 0.1}
    return names


def drawn(rng):
    """A random case, almost always one that einops accepts."""
    op = rng.choice(["rearrange"] * 4 + ["repeat"] * 3 + REDUCTIONS)
    names = rng.sample(["a", "b", "c", "d", "h1", "w_2", "if"], rng.randint(0, 5))
    small = [1, 2, 2, 2, 3, 3, 4, 0 if rng.random() < 0.2 else 2]
    sizes = {name: rng.choice(small) for name in names}
    left = grouped(rng, names)
    ellipsis = [rng.choice([1, 2, 2, 3]) for _ in range(rng.choice([0, 1, 2]))]
    has_ellipsis = rng.random() < 0.4
    kept = list(names)
    if op in REDUCTIONS:
        kept = [name for name in names if rng.random() < 0.5]
        for group in left:
            if rng.random() < 0.2:
                group.append(str(rng.choice([2, 3])))
    added = []
    if op == "repeat":
        added = rng.sample(["r", "s", "2", "3"], rng.choice([0, 1, 1, 2]))
        sizes |= {name: rng.choice([1, 2, 3]) for name in added if name.isalpha()}
    right = kept + added
    if has_ellipsis:
        left.insert(rng.randint(0, len(left)), ["..."])
        if op not in REDUCTIONS or rng.random() < 0.7:
            right.append("...")
    if rng.random() < 0.8:
        rng.shuffle(right)
    right = grouped(rng, right)

    def size(group):
        return torch.Size([sizes[axis] if axis in sizes else int(axis) for axis in group]).numel()

    shape = []
    for group in left:
        shape += ellipsis if group == ["..."] else [size(group)]
    names_given = given(rng, left, sizes) | {name: sizes[name] for name in added if name in sizes}
    pattern = text(rng, left) + rng.choice([" -> ", "->"]) + text(rng, right)
    case = {"op": op, "base": shape, "pattern": pattern, "sizes": names_given}
    return strided(rng, case) if rng.random() < 0.5 else case


def strided(rng, case):
    """The same with an input of this shape that is permuted or has steps."""
    shape = case["base"]
    if rng.random() < 0.4 and shape:
        case["step"] = [rng.choice([1, 1, 2]) for _ in shape]
        shape = [n * step for n, step in zip(shape, case["step"])]
    permute = rng.sample(range(len(shape)), len(shape))
    base = [0] * len(shape)
    for at, dim in enumerate(permute):
        base[dim] = shape[at]
    return case | {"base": base, "permute": permute}


def mutated(rng, case):
    """The same with one character removed, added or changed."""
    pattern = case["pattern"]
    at = rng.randrange(len(pattern))
    put = rng.choice(["", " ", "a", "1", "2", "_", "(", ")", ".", "-", ">", "x"])
    return case | {"pattern": pattern[:at] + put + pattern[at + rng.choice([0, 1]) :]}


def random_cases(rng, count, elements):
    while count > 0:
        case = drawn(rng)
        if torch.Size(case["base"]).numel() > 400:
            continue
        case = recorded(mutated(rng, case) if rng.random() < 0.25 else case)
        if len(case.get("values", [])) <= elements:
            count -= 1
            yield case


def main():
    for case in listed(GOOD, False):
        print(json.dumps(case, ensure_ascii=False))
    for case in listed(REFUSED, True):
        print(json.dumps(case, ensure_ascii=False))
    for case in random_cases(random.Random(2026), 1000, 40):
        print(json.dumps(case, ensure_ascii=False))


if __name__ == "__main__":
    main()
