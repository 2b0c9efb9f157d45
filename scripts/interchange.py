"""What `scripts/interchange.sh` runs: NumPy, PyTorch and safetensors beside this library.

    interchange.py FOLDER_OF_PROGRAMS EMPTY_FOLDER
"""

import ctypes
import gc
import itertools
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import safetensors.torch
import torch

PROGRAMS, WORK = Path(sys.argv[1]), Path(sys.argv[2])
NUMPY = "bool u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 c8 c16".split()
TORCH = [
    torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.int8, torch.int16,
    torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64,
    torch.complex64,
]
SHAPES = [(), (1,), (7,), (0, 3), (3, 4), (2, 3, 4), (64, 33, 17)]
RANDOM = np.random.default_rng(2026)
checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"interchange: {what}")


def array(name, shape):
    """Random bits; of bool 0 and 1."""
    dtype = np.dtype(name)
    if name == "bool":
        return RANDOM.integers(0, 2, shape).astype(bool)
    count = int(np.prod(shape)) * dtype.itemsize
    return RANDOM.integers(0, 256, count, np.uint8).view(dtype).reshape(shape)


def tensor(dtype, shape):
    numbers = RANDOM.integers(0, 2 if dtype == torch.bool else 100, shape)
    return torch.as_tensor(numbers).to(dtype)


def same(a, b):
    """Same dtype but for the byte order, shape and bits."""
    native = [np.ascontiguousarray(x.astype(x.dtype.newbyteorder("="))) for x in (a, b)]
    return (
        a.shape == b.shape
        and native[0].dtype == native[1].dtype
        and native[0].tobytes() == native[1].tobytes()
    )


def copy(source, target, *options):
    """By this library: loads one file, saves the other."""
    subprocess.run([PROGRAMS / "interchange", source, target, *options], check=True)


def npy():
    for name, shape in itertools.product(NUMPY, SHAPES):
        for order, byte_order in itertools.product("CF", "<>"):
            given = array(name, shape)
            given = given.astype(given.dtype.newbyteorder(byte_order), order=order)
            np.save(WORK / "theirs.npy", given)
            for options in ((), ("map", "transpose"), ("fortran",)):
                if options and shape != SHAPES[-1] and order == "F":
                    continue
                copy(WORK / "theirs.npy", WORK / "ours.npy", *options)
                found = np.load(WORK / "ours.npy")
                expected = given.T if "transpose" in options else given
                check(same(found, expected), f"npy {given.dtype} {shape} {order} {options}")
                check("fortran" not in options or found.flags.f_contiguous, "fortran order")


def npz():
    arrays = {
        f"{name} {shape}": np.asfortranarray(array(name, shape)) if name[0] == "i"
        else array(name, shape)
        for name, shape in itertools.product(NUMPY, SHAPES)
    }
    ways = itertools.product((np.savez, np.savez_compressed), ("deflate", "store"), ("map", "read"))
    for save, *options in ways:
        save(WORK / "theirs.npz", **arrays)
        copy(WORK / "theirs.npz", WORK / "ours.npz", *options)
        with np.load(WORK / "ours.npz") as found:
            check(set(found) == set(arrays), "names of npz")
            for name, expected in arrays.items():
                check(same(found[name], expected), f"npz {name}")


def safetensors_files():
    tensors = {
        f"{str(dtype)[6:]} {shape}": tensor(dtype, shape)
        for dtype, shape in itertools.product(TORCH, SHAPES)
    }
    safetensors.torch.save_file(tensors, WORK / "theirs.safetensors")
    for options in ((), ("map",), ("map", "transpose")):
        copy(WORK / "theirs.safetensors", WORK / "ours.safetensors", *options)
        found = safetensors.torch.load_file(WORK / "ours.safetensors")
        check(set(found) == set(tensors), "names of safetensors")
        for name, expected in tensors.items():
            if "transpose" in options:
                expected = expected.permute(tuple(reversed(range(expected.ndim))))
            check(found[name].dtype == expected.dtype, f"safetensors {name}")
            check(torch.equal(found[name], expected), f"safetensors {name}")


class Bridge:
    """This library, with pointers to DLPack tensors."""

    def __init__(self):
        self.library = ctypes.CDLL(str(PROGRAMS / "libdlpack.so"))
        for name in ("reverse_versioned", "reverse_unversioned"):
            function = getattr(self.library, name)
            function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_void_p
        self.library.last_error.restype = ctypes.c_char_p

    def reversed(self, producer, versioned=True):
        """The same memory, with the dimensions in reverse order."""
        capsule = producer.__dlpack__(max_version=(1, 1)) if versioned else producer.__dlpack__()
        name = NAMES[versioned]
        python = ctypes.pythonapi
        python.PyCapsule_GetPointer.restype = ctypes.c_void_p
        python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
        pointer = python.PyCapsule_GetPointer(capsule, name)
        python.PyCapsule_SetName(capsule, USED[name])
        reverse = "reverse_versioned" if versioned else "reverse_unversioned"
        found = getattr(self.library, reverse)(pointer)
        if found is None:
            raise TypeError(self.library.last_error().decode())
        return Capsule(found, name)


# Capsules keep pointers to their names.
NAMES = {True: b"dltensor_versioned", False: b"dltensor"}
USED = {name: b"used_" + name for name in NAMES.values()}


class Capsule:
    """A producer of one tensor."""

    def __init__(self, pointer, name):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = new(pointer, name, None)

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


class Owner(np.ndarray):
    """An array of which one can see when it is freed."""


def dlpack_numpy(bridge):
    for name, shape, versioned in itertools.product(NUMPY, SHAPES, (True, False)):
        given = array(name, shape)
        found = np.from_dlpack(bridge.reversed(given, versioned))
        check(same(found, given.T), f"DLPack {name} {shape}")
        check(given.size == 0 or np.shares_memory(found, given), f"DLPack copied {name} {shape}")
    given = array("f4", (4, 6))[::-1, ::2]
    found = np.from_dlpack(bridge.reversed(given))
    check(same(found, given.T) and found.strides == given.T.strides, "DLPack negative strides")
    found[0, 0] = 7
    check(given[0, 0] == 7, "DLPack writes")
    given.flags.writeable = False
    check(not np.from_dlpack(bridge.reversed(given)).flags.writeable, "DLPack read-only")


def dlpack_torch(bridge):
    for dtype, shape, versioned in itertools.product(TORCH, SHAPES, (True, False)):
        given = tensor(dtype, shape)
        found = torch.from_dlpack(bridge.reversed(given, versioned))
        check(torch.equal(found, given.permute(tuple(reversed(range(given.ndim))))), f"DLPack {dtype}")
        check(found.data_ptr() == given.data_ptr() or given.numel() == 0, f"DLPack copied {dtype}")
    expanded = torch.arange(3).expand(4, 3)
    check(torch.from_dlpack(bridge.reversed(expanded)).stride() == (1, 0), "DLPack stride 0")
    try:
        bridge.reversed(torch.ones(3).to(torch.float8_e4m3fn))
        check(False, "DLPack took float8")
    except TypeError as error:
        check("DLPack: dtype of code 10" in str(error), f"DLPack: {error}")


def dlpack_frees(bridge):
    """The memory lives as long as the last of the three that share it, and no longer."""
    given = array("f8", (100, 100)).view(Owner)
    freed = []
    weakref.finalize(given, freed.append, True)
    found = np.from_dlpack(bridge.reversed(given))
    expected = np.array(given).T
    del given
    gc.collect()
    check(not freed and same(found, expected), "DLPack freed too early")
    del found
    gc.collect()
    check(freed == [True], "DLPack did not free")


def main():
    npy()
    npz()
    safetensors_files()
    bridge = Bridge()
    dlpack_numpy(bridge)
    dlpack_torch(bridge)
    dlpack_frees(bridge)
    versions = f"NumPy {np.__version__}, PyTorch {torch.__version__}"
    print(f"{checks} checks against {versions}, safetensors {safetensors.__version__}: all passed")


if __name__ == "__main__":
    main()
