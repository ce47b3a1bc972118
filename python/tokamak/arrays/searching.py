"""The order of cells, places of cells, and different cells."""

import collections

from . import elementwise, graph, manipulation, types
from .array import Array, apply
from .elementwise import node_of
from .reductions import argmax, argmin, axes_of, count_nonzero, cumulative_sum  # noqa: F401: some are of this chapter of the standard


def _size(node, dimension):
    """Of a dimension, as a vector of one integer that is no part of the structure."""
    return graph.Node("Shape", (node,), types.int64, (1,), (("start", dimension), ("end", dimension + 1)))


def _slice(node, start, end, size):
    """A part of a vector whose bounds are independent of its size."""
    return graph.Node("Slice", (node, graph.integers((start,)), graph.integers((end,))), node.dtype, (size,))


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
    pair = graph.Node("TopK", (held, _size(held, dimension)), None, None, (("axis", dimension), ("largest", int(descending))))
    return graph.selected(pair, 0, held.dtype, node.shape), graph.selected(pair, 1, types.int64, node.shape)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """Cells in order along an axis."""
    found = _ordered(x, axis, descending)
    return Array(node_of(x)) if found is None else elementwise.astype(Array(found[0]), node_of(x).dtype)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """The places of cells in order along an axis."""
    found = _ordered(x, axis, descending)
    return elementwise.filled(0, types.int64, node_of(x).shape) if found is None else Array(found[1])


def _computed(name, *nodes):
    """Arrays of nodes whose sizes depend on cells: these are computed now, in one program."""
    if any(node.is_traced for node in nodes):
        raise graph.CaptureError(f"the result of {name} has a shape that depends on cells, which are unknown while a function is captured")
    graph.evaluate(nodes)
    return tuple(Array(graph.leaf(node.value)) for node in nodes)


def nonzero(x, /):
    """Places of cells other than 0, one array for each dimension."""
    node = node_of(x)
    if not node.shape:
        raise ValueError("an array without dimensions has no places")
    (places,) = _computed("nonzero", graph.Node("NonZero", (node,), types.int64, (len(node.shape), None)))
    return tuple(Array(graph.leaf(each)) for each in places._cells())


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Where cells of the second go in the first, which is in order, or is so by `sorter`."""
    if side not in ("left", "right"):
        raise ValueError(f"side is 'left' or 'right', not {side!r}")
    first, second = elementwise.nodes_of(x1, x2)
    if len(first.shape) != 1:
        raise ValueError("cells go into an array with one dimension")
    if sorter is not None:
        first = node_of(manipulation.take(Array(first), sorter))
    return apply("SearchSorted", types.int64, second.shape, first, second, right=int(side == "right"))


def isin(x1, x2, /, *, invert=False):
    """Whether cells of the first are among those of the second."""
    first, second = elementwise.nodes_of(x1, x2)
    if 0 in second.shape:
        return elementwise.filled(invert, types.bool, first.shape)
    choices = sort(manipulation.reshape(Array(second), (-1,)))
    places = elementwise.minimum(searchsorted(choices, Array(first)), choices.size - 1)
    nearest = apply("Gather", first.dtype, first.shape, choices._node, places._node, axis=0)
    return (elementwise.not_equal if invert else elementwise.equal)(nearest, Array(first))


AllResult = collections.namedtuple("unique_all_result", "values indices inverse_indices counts")
CountsResult = collections.namedtuple("unique_counts_result", "values counts")
InverseResult = collections.namedtuple("unique_inverse_result", "values inverse_indices")


def _unique(name, x, *parts):
    """The parts of unique_all that are asked for: sorted cells begin a run of equal ones where they differ from the one before."""
    node = node_of(x)
    if 0 in node.shape:
        shapes = {"values": ((0,), node.dtype), "inverse_indices": (node.shape, types.int64)}
        return tuple(elementwise.filled(0, dtype, shape) for shape, dtype in (shapes.get(each, ((0,), types.int64)) for each in parts))
    cells, places = map(Array, _ordered(manipulation.reshape(Array(node), (-1,)), 0, False))
    is_first = elementwise.filled(True, types.bool, (1,))
    later, earlier = (Array(_slice(cells._node, *bounds, cells.size - 1)) for bounds in ((1, _LAST), (0, -1)))
    is_first = manipulation.concat([is_first, elementwise.not_equal(later, earlier)])
    found = graph.Node("NonZero", (is_first._node,), types.int64, (1, None))
    starts = graph.Node("Squeeze", (found, graph.integers((0,))), types.int64, (None,))

    def at_starts(array, dtype):
        return graph.Node("Gather", (elementwise.cast(array._node, dtype), starts), dtype, (None,), (("axis", 0),))

    def counts():
        ends = graph.Node("Concat", (_slice(starts, 1, _LAST, None), _size(cells._node, 0)), types.int64, (None,), (("axis", 0),))
        return graph.Node("Sub", (ends, starts), types.int64, (None,))

    def inverse():
        runs = cumulative_sum(elementwise.astype(is_first, types.int64)) - 1
        back = apply("ScatterElements", types.int64, cells.shape, runs._node, places._node, runs._node, axis=0)
        return manipulation.reshape(back, node.shape)._node
    makers = {"values": lambda: at_starts(cells, node.dtype), "indices": lambda: at_starts(places, types.int64), "counts": counts,
              "inverse_indices": inverse}
    return _computed(name, *(makers[each]() for each in parts))


_LAST = (1 << 63) - 1  # of a part that goes to the end


def unique_all(x, /):
    """Different cells in order, where each stands first, which of them each cell is, and how often they are there. Each NaN is one
    of its own."""
    return AllResult(*_unique("unique_all", x, *AllResult._fields))


def unique_counts(x, /):
    """Different cells, and how often they are there."""
    return CountsResult(*_unique("unique_counts", x, *CountsResult._fields))


def unique_inverse(x, /):
    """Different cells, and which of them each cell is."""
    return InverseResult(*_unique("unique_inverse", x, *InverseResult._fields))


def unique_values(x, /):
    """Different cells."""
    return _unique("unique_values", x, "values")[0]
