#!/usr/bin/env python3
"""Writes the small files that the tests of `interchange` read.

    scripts/interchange_fixtures.py FOLDER

The folder is crates/tensor-core/tests/data/interchange. Needs NumPy, PyTorch and safetensors
(written with 2.4, 2.15 and 0.8).

The element with the number i, in C order, is i; of bool i % 2; of complex i - 2ij.
"""

import sys
from pathlib import Path

import numpy as np
import safetensors.torch
import torch

SHAPE = (2, 3)
NUMPY = "bool u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 c8 c16".split()
TORCH = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
    "complex64"
).split()


def numbers(name):
    numbers = np.arange(6).reshape(SHAPE)
    if name.startswith("c"):
        return (numbers - 2j * numbers).astype(name)
    return (numbers % 2 == 1) if name == "bool" else numbers.astype(name)


def arrays():
    """Every dtype, in C order and in Fortran order with the other byte order, by name."""
    for name in NUMPY:
        for order, byte_order in (("C", "<"), ("F", ">")):
            array = numbers(name)
            array = array.astype(array.dtype.newbyteorder(byte_order), order=order)
            yield f"{name}_{'c_little' if order == 'C' else 'fortran_big'}", array


def tensor(name):
    numbers = torch.arange(6).reshape(SHAPE)
    if name == "bool":
        return numbers % 2 == 1
    return torch.complex(1.0 * numbers, -2.0 * numbers) if name == "complex64" else \
        numbers.to(getattr(torch, name))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "numpy.npz", **dict(arrays()))
    np.savez(folder / "stored.npz", scalar=np.array(1.5), empty=np.zeros((0, 3), np.int16))
    np.save(folder / "fortran.npy", np.asfortranarray(numbers("f4")))
    np.save(folder / "structured.npy", np.zeros(2, [("x", "f4"), ("y", "i2")]))
    np.save(folder / "text.npy", np.array(["a", "bc"]))
    metadata = {"format": "pt", "author": "Größe"}
    tensors = {name: tensor(name) for name in TORCH}
    safetensors.torch.save_file(tensors, folder / "torch.safetensors", metadata)
    eights = {"scale": torch.ones(3).to(torch.float8_e4m3fn), "bias": torch.arange(3)}
    safetensors.torch.save_file(eights, folder / "float8.safetensors")


if __name__ == "__main__":
    main()
