"""The order of cells, places of cells, and different cells."""

import collections

import numpy as np

from . import elementwise, graph, manipulation, types
from .array import Array, apply
from .elementwise import node_of
from .reductions import argmax, argmin, axes_of, count_nonzero  # noqa: F401: of this chapter of the standard


def _ordered(x, axis, descending):
    """(cells, places) in order, those of equal cells as they were; None where there is nothing to order."""
    node = node_of(x)
    elementwise.require(node.dtype, "biuf", "sort")
    if not node.shape:
        raise ValueError("an array without dimensions has no order")
    (dimension,) = axes_of(axis, len(node.shape))
    if 0 in node.shape:
        return None
    held = elementwise.cast(node, types.uint8) if node.dtype == types.bool else node
    pair = graph.Node("TopK", (held, graph.integers([node.shape[dimension]])), None, None,
                      (("axis", dimension), ("largest", int(descending))))
    return graph.selected(pair, 0, held.dtype, node.shape), graph.selected(pair, 1, types.int64, node.shape)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """Cells in order along an axis."""
    found = _ordered(x, axis, descending)
    return Array(node_of(x)) if found is None else elementwise.astype(Array(found[0]), node_of(x).dtype)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The places of cells in order along an axis."""
    found = _ordered(x, axis, descending)
    return elementwise.filled(0, types.int64, node_of(x).shape) if found is None else Array(found[1])


def _known(x, name):
    """Cells of an array whose result has a size that depends on them."""
    node = node_of(x)
    if node.is_traced:
        raise graph.CaptureError(f"the result of {name} has a shape that depends on cells, which are unknown while a function is captured")
    return Array(node)._cells()


def nonzero(x, /):
    """Places of cells other than 0, one array for each dimension."""
    if not node_of(x).shape:
        raise ValueError("an array without dimensions has no places")
    return tuple(Array(graph.leaf(places)) for places in np.nonzero(_known(x, "nonzero")))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where cells of the second go in the first, which is in order, or is so by `sorter`."""
    if side not in ("left", "right"):
        raise ValueError(f"side is 'left' or 'right', not {side!r}")
    first, second = elementwise.nodes_of(x1, x2)
    if len(first.shape) != 1:
        raise ValueError("cells go into an array with one dimension")
    first = Array(first) if sorter is None else manipulation.take(Array(first), sorter)
    if first._node.is_traced or second.is_traced:
        others = manipulation.expand_dims(Array(second), axis=len(second.shape))
        is_before = elementwise.less(first, others) if side == "left" else elementwise.less_equal(first, others)
        return count_nonzero(is_before, axis=-1)
    return Array(graph.leaf(np.asarray(np.searchsorted(first._cells(), Array(second)._cells(), side))))


def isin(x1, x2, /, *, invert=False):
    """Whether cells of the first are among those of the second."""
    first, second = elementwise.nodes_of(x1, x2)
    found = np.isin(_known(Array(first), "isin"), _known(Array(second), "isin"), invert=invert)
    return Array(graph.leaf(np.asarray(found)))


AllResult = collections.namedtuple("unique_all_result", "values indices inverse_indices counts")
CountsResult = collections.namedtuple("unique_counts_result", "values counts")
InverseResult = collections.namedtuple("unique_inverse_result", "values inverse_indices")


def unique_all(x, /):
    """Different cells in order, where each stands first, which of them each cell is, and how often they are there. Each NaN is one
    of its own."""
    cells = _known(x, "unique_all")
    values, first, inverse, counts = np.unique(cells, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
    return AllResult(*(Array(graph.leaf(each)) for each in (values, first, inverse.reshape(cells.shape), counts)))


def unique_counts(x, /):
    """Different cells, and how often they are there."""
    found = unique_all(x)
    return CountsResult(found.values, found.counts)


def unique_inverse(x, /):
    """Different cells, and which of them each cell is."""
    found = unique_all(x)
    return InverseResult(found.values, found.inverse_indices)


def unique_values(x, /):
    """Different cells."""
    return unique_all(x).values
