"""Lazy arrays with the functions of the Array API standard (https://data-apis.org/array-api/): nothing runs until a cell is asked
for; then all that it needs is planned, fused and compiled as one program, which is kept for graphs of the same structure.

    import tokamak as tk

    x = tk.asarray(numpy_array)                       # no copy
    distance = tk.sqrt(tk.sum((x - tk.mean(x, axis=0)) ** 2, axis=1))
    print(distance[0])                                # runs one fused program

All names are in `tokamak`, too. What the standard has and this doesn't: complex numbers, and with them real, imag, conj and fft."""

import math

from .array import Array
from .creation import (arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, ones, ones_like, tril, triu,
                       zeros, zeros_like)
from .elementwise import (abs, acos, acosh, add, asin, asinh, astype, atan, atan2, atanh, bitwise_and, bitwise_invert,
                          bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor, ceil, clip, conj, copysign, cos, cosh, divide,
                          equal, exp, expm1, floor, floor_divide, greater, greater_equal, hypot, isfinite, isinf, isnan, less,
                          less_equal, log, log1p, log2, log10, logaddexp, logical_and, logical_not, logical_or, logical_xor, maximum,
                          minimum, multiply, negative, nextafter, not_equal, positive, pow, real, reciprocal, remainder, round, sign,
                          signbit, sin, sinh, sqrt, square, subtract, tan, tanh, trunc, where)
from .control import unrolled
from .graph import CaptureError
from .jit import jit
from .manipulation import (broadcast_arrays, broadcast_shapes, broadcast_to, concat, diff, expand_dims, flip, matmul, matrix_transpose,
                           meshgrid, moveaxis, permute_dims, repeat, reshape, roll, squeeze, stack, take, take_along_axis, tensordot,
                           tile, unstack, vecdot)
from .reductions import (all, any, argmax, argmin, count_nonzero, cumulative_prod, cumulative_sum, max, mean, min, prod, std, sum,
                         var)
from .searching import (argsort, isin, nonzero, searchsorted, sort, unique_all, unique_counts, unique_inverse, unique_values)
from .types import (bool, can_cast, finfo, float32, float64, iinfo, int8, int16, int32, int64, isdtype, uint8, uint16, uint32, uint64)
from . import graph as _graph, linalg, types as _types
from .elementwise import node_of as _node_of

__all__ = [name for name in dir() if not name.startswith("_")] + ["e", "inf", "nan", "newaxis", "pi", "result_type", "evaluate",
                                                                  "explain", "__array_namespace_info__", "__array_api_version__"]
API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
__array_api_version__ = API_VERSIONS[-1]
e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi


def result_type(*arrays_and_dtypes):
    """The type that results where arrays, types and numbers of Python meet."""
    from functools import reduce

    if not arrays_and_dtypes:
        raise ValueError("expected at least one array or type")
    is_number = [isinstance(each, (True.__class__, int, float)) for each in arrays_and_dtypes]
    found = [_types.checked(getattr(each, "dtype", each)) for each, number in zip(arrays_and_dtypes, is_number) if not number]
    if not found:
        raise ValueError("expected at least one array or type beside numbers")
    dtype = reduce(_types.promoted, found)
    for each, number in zip(arrays_and_dtypes, is_number):
        if number:
            _types.type_of_scalar(each, dtype)
    return dtype


def evaluate(*arrays):
    """Computes the cells of arrays now, in one program."""
    _graph.evaluate([_node_of(array) for array in arrays])


def explain(*arrays, show="fusion"):
    """What becomes of the graph of arrays whose cells were not asked for yet; it is compiled anew and run for that, and the arrays
    stay as they are. show: as of a function's explain()."""
    from .._program import Explanation

    return Explanation(_graph.explanation([_node_of(array) for array in arrays], show))


class __array_namespace_info__:
    """What of the standard is there."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self):
        return "cpu"

    def devices(self):
        return ["cpu"]

    def default_dtypes(self, *, device=None):
        return {**_types.DEFAULTS, "complex floating": None}

    def dtypes(self, *, device=None, kind=None):
        return {dtype.name: dtype for dtype in _types.ALL if kind is None or isdtype(dtype, kind)}
