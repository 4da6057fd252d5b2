"""Arrays of the caller that the library reads and fills where they lie: on a GPU by DLPack, on the host of NumPy."""
import ctypes
import math
import sys

import numpy as np

from .errors import InputError, WrongType

CUDA, MANAGED = 2, 13  # of DLDeviceType
FLOAT = 2  # of DLDataTypeCode


class Tensor(ctypes.Structure):
    """DLTensor"""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def on_gpu(array):
    """Whether it is an array in the memory of a CUDA device."""
    ask = getattr(array, "__dlpack_device__", None)
    return ask is not None and int(ask()[0]) in (CUDA, MANAGED)


class Borrowed:
    """An array of float64 on a GPU: as long as this lives, `address` is that of its numbers.

    Its package lets CUDA's default stream wait for what makes it.
    """

    def __init__(self, name, array, shape, of="the unknowns of the trace"):
        try:
            self._capsule = array.__dlpack__(stream=1)
        except Exception as error:  # of its package
            raise WrongType(f"{name} is an array on a GPU that is not shared: {error}") from error
        tensor = Tensor.from_address(_pointer_of(self._capsule, b"dltensor"))
        found = tuple(tensor.shape[:tensor.ndim])
        if (tensor.code, tensor.bits, tensor.lanes) != (FLOAT, 64, 1):
            raise WrongType(f"{name} is on a GPU and not of float64; convert it")
        if found != shape:
            raise InputError(f"{name} has the shape {found}; it takes {shape}, {of}")
        if tensor.strides and any(n > 1 and tensor.strides[i] != math.prod(shape[i + 1:]) for i, n in enumerate(shape)):
            raise InputError(f"{name} is on a GPU and its numbers lie apart; give a contiguous copy")
        self.address = (tensor.data or 0) + tensor.byte_offset


class OfHost:
    """Likewise an array of NumPy, which is written to."""

    def __init__(self, name, array, shape, of="the unknowns of the trace"):
        if not isinstance(array, np.ndarray) or array.dtype != float:
            kind = f"an array of {array.dtype}" if isinstance(array, np.ndarray) else type(array).__name__
            raise WrongType(f"{name} is {kind}; a solver on the host fills arrays of NumPy, of float64")
        if array.shape != shape:
            raise InputError(f"{name} has the shape {array.shape}; it takes {shape}, {of}")
        if not (array.flags.c_contiguous and array.flags.writeable):
            raise InputError(f"{name} cannot be filled: its numbers lie apart, or it is read-only")
        self.address = array.ctypes.data


def on_host(name, array):
    """The array itself; one on a GPU is copied, as its package does it."""
    if not on_gpu(array) and not hasattr(array, "__cuda_array_interface__"):
        return array
    for copy in ("get", "cpu"):  # of CuPy, of PyTorch
        if hasattr(array, copy):
            return getattr(array, copy)()
    raise WrongType(f"{name} is an array on a GPU; copy it to the host")


def _package_of(array):
    return sys.modules.get(type(array).__module__.partition(".")[0])


def stacked(arrays):
    """Arrays of one package side by side, along a last axis."""
    return _package_of(arrays[0]).stack(arrays, -1)


def like(name, array):
    """An array of the same package, shape and type."""
    make = getattr(_package_of(array), "empty_like", None)
    if make is None:
        raise WrongType(f"{name} is a {type(array).__name__}, whose package has no empty_like; give the result's array: out")
    return make(array)
