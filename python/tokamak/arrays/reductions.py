"""Functions of many cells: over all of an array, or along some of its dimensions."""

import builtins
import math

from . import elementwise, graph, types
from .array import Array, apply
from .elementwise import node_of


def axes_of(axis, rank):
    """Sorted places of dimensions. Raises IndexError if there is none of such a number, ValueError if one is named twice."""
    if axis is None:
        return tuple(range(rank))
    numbers = axis if isinstance(axis, (tuple, list)) else (axis,)
    result = []
    for number in numbers:
        number = number.__index__()
        if not -rank <= number < rank:
            raise IndexError(f"axis {number} of an array with {rank} dimensions")
        result.append(number % rank)
    if len(set(result)) != len(result):
        raise ValueError(f"an axis is named twice: {axis}")
    return tuple(sorted(result))


def reduced_shape(shape, axes, keepdims):
    if keepdims:
        return tuple(1 if i in axes else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def _reduce(op, node, axis, keepdims):
    axes = axes_of(axis, len(node.shape))
    if not axes:  # each cell alone
        return Array(node)
    shape = reduced_shape(node.shape, axes, keepdims)
    return apply(op, node.dtype, shape, node, graph.integers(axes), keepdims=int(keepdims))


def _count(node, axis):
    return math.prod(node.shape[i] for i in axes_of(axis, len(node.shape)))


def _total_type(node, dtype):
    """That of sums: integers are summed in 64 bits."""
    if dtype is not None:
        return types.checked(dtype)
    if node.dtype.kind == "i":
        return types.int64
    return types.uint64 if node.dtype.kind == "u" else node.dtype


def _total(op, name):
    def function(x, /, *, axis=None, dtype=None, keepdims=False):
        node = node_of(x)
        if node.dtype == types.bool and dtype is None:
            raise TypeError(f"{name} takes arrays of numbers; astype makes a bool one")
        return _reduce(op, elementwise.cast(node, _total_type(node, dtype)), axis, keepdims)
    function.__name__ = function.__qualname__ = name
    return function


sum = _total("ReduceSum", "sum")
sum.__doc__ = "The sum of cells."
prod = _total("ReduceProd", "prod")
prod.__doc__ = "The product of cells."


def mean(x, /, *, axis=None, keepdims=False):
    """The mean of cells."""
    node = node_of(x)
    elementwise.require(node.dtype, "f", "mean")
    return _reduce("ReduceMean", node, axis, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The mean of squared distances from the mean; the number of cells is taken less `correction`."""
    node = node_of(x)
    elementwise.require(node.dtype, "f", "var")
    distance = elementwise.subtract(x, mean(x, axis=axis, keepdims=True))
    total = sum(elementwise.multiply(distance, distance), axis=axis, keepdims=keepdims)
    count = _count(node, axis) - correction
    return elementwise.divide(total, float(builtins.max(count, 0)))


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """The root of var()."""
    return elementwise.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def _extreme(op, name):
    def function(x, /, *, axis=None, keepdims=False):
        node = node_of(x)
        elementwise.require(node.dtype, "iuf", name)
        if _count(node, axis) == 0 and 0 not in reduced_shape(node.shape, axes_of(axis, len(node.shape)), False):
            raise ValueError(f"{name} of no cells")
        return _reduce(op, node, axis, keepdims)
    function.__name__ = function.__qualname__ = name
    return function


max = _extreme("ReduceMax", "max")
max.__doc__ = "The greatest of cells; NaN if one is."
min = _extreme("ReduceMin", "min")
min.__doc__ = "The least of cells; NaN if one is."


def _truth(x):
    return elementwise.cast(elementwise.cast(node_of(x), types.bool), types.int32)


def all(x, /, *, axis=None, keepdims=False):
    """Whether no cell is 0 or false."""
    node = _truth(x)
    return elementwise.greater(_reduce("ReduceMin", node, axis, keepdims), 0) if _has_cells(node, axis) else \
        elementwise.equal(_reduce("ReduceSum", node, axis, keepdims), 0)


def any(x, /, *, axis=None, keepdims=False):
    """Whether a cell is other than 0 or false."""
    node = _truth(x)
    return elementwise.greater(_reduce("ReduceMax" if _has_cells(node, axis) else "ReduceSum", node, axis, keepdims), 0)


def _has_cells(node, axis):
    return _count(node, axis) > 0


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """How many cells are other than 0."""
    return sum(elementwise.astype(elementwise.astype(x, types.bool, copy=False), types.int64), axis=axis, keepdims=keepdims)


def _place(op, name):
    def function(x, /, *, axis=None, keepdims=False):
        node = node_of(x)
        elementwise.require(node.dtype, "iuf", name)
        rank = len(node.shape)
        if axis is None:
            flat = manipulation.reshape(Array(node), (-1,)) if 0 not in node.shape else Array(node)
            if flat.size == 0:
                raise ValueError(f"{name} of no cells")
            place = apply(op, types.int64, (), flat._node, axis=0, keepdims=0)
            return manipulation.reshape(place, (1,) * rank) if keepdims else place
        (dimension,) = axes_of(axis, rank)
        shape = reduced_shape(node.shape, (dimension,), keepdims)
        if node.shape[dimension] == 0:
            raise ValueError(f"{name} of no cells")
        return apply(op, types.int64, shape, node, axis=dimension, keepdims=int(keepdims))
    function.__name__ = function.__qualname__ = name
    return function


argmax = _place("ArgMax", "argmax")
argmax.__doc__ = "The place of the first greatest cell, from 0."
argmin = _place("ArgMin", "argmin")
argmin.__doc__ = "The place of the first least cell, from 0."


def _running(op, neutral, name):
    def function(x, /, *, axis=None, dtype=None, include_initial=False):
        node = node_of(x)
        elementwise.require(node.dtype, "iuf", name)
        rank = len(node.shape)
        if rank == 0:
            raise ValueError(f"{name} of an array without dimensions")
        if axis is None and rank != 1:
            raise ValueError(f"{name} of an array with {rank} dimensions needs an axis")
        (dimension,) = axes_of(0 if axis is None else axis, rank)
        node = elementwise.cast(node, _total_type(node, dtype))
        result = apply(op, node.dtype, node.shape, node, graph.integer(dimension))
        if include_initial:
            shape = tuple(1 if i == dimension else size for i, size in enumerate(node.shape))
            result = manipulation.concat([elementwise.filled(neutral, node.dtype, shape), result], axis=dimension)
        return result
    function.__name__ = function.__qualname__ = name
    return function


cumulative_sum = _running("CumSum", 0, "cumulative_sum")
cumulative_sum.__doc__ = "Sums of all cells up to each."
cumulative_prod = _running("CumProd", 1, "cumulative_prod")
cumulative_prod.__doc__ = "Products of all cells up to each."

from . import manipulation  # noqa: E402: it needs what stands above
