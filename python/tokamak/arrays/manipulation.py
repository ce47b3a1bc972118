"""Functions that move cells, and products of matrices."""

import math

import numpy as np

from . import elementwise, graph, types
from .array import Array, apply
from .elementwise import broadcast_shape, node_of
from .reductions import axes_of


def _axis(axis, rank):
    (dimension,) = axes_of(axis, rank)
    return dimension


def broadcast_to(x, /, shape):
    """The cells repeated along dimensions of size 1, and along new ones in front."""
    node, shape = node_of(x), tuple(shape)
    if broadcast_shape(node.shape, shape) != shape:
        raise ValueError(f"shape {node.shape} can't be broadcast to {shape}")
    return Array(node) if node.shape == shape else apply("Expand", node.dtype, shape, node, graph.integers(shape))


def broadcast_arrays(*arrays):
    """All arrays in the shape that they have together."""
    shape = broadcast_shape(*[node_of(x).shape for x in arrays])
    return tuple(broadcast_to(x, shape) for x in arrays)


def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes have together."""
    return broadcast_shape(*map(tuple, shapes)) if shapes else ()


def _one_type(arrays):
    if not arrays:
        raise ValueError("expected at least one array")
    dtype = node_of(arrays[0]).dtype
    for x in arrays[1:]:
        dtype = types.promoted(dtype, node_of(x).dtype)
    return [elementwise.cast(node_of(x), dtype) for x in arrays]


def concat(arrays, /, *, axis=0):
    """Arrays one behind the other along an axis; None: all cells in one row."""
    nodes = _one_type(list(arrays))
    if axis is None:
        nodes = [reshape(Array(node), (-1,))._node for node in nodes]
        axis = 0
    rank = len(nodes[0].shape)
    if rank == 0:
        raise ValueError("arrays without dimensions can't be joined; stack makes a dimension")
    dimension = _axis(axis, rank)
    for node in nodes[1:]:
        if len(node.shape) != rank or any(i != dimension and a != b for i, (a, b) in enumerate(zip(node.shape, nodes[0].shape))):
            raise ValueError(f"shapes {nodes[0].shape} and {node.shape} differ in other dimensions than {dimension}")
    shape = list(nodes[0].shape)
    shape[dimension] = sum(node.shape[dimension] for node in nodes)
    return Array(nodes[0]) if len(nodes) == 1 else apply("Concat", nodes[0].dtype, tuple(shape), *nodes, axis=dimension)


def stack(arrays, /, *, axis=0):
    """Arrays of one shape along a new axis."""
    arrays = [Array(node) for node in _one_type(list(arrays))]
    if any(x.shape != arrays[0].shape for x in arrays):
        raise ValueError("arrays of different shapes can't be stacked")
    dimension = _axis(axis, arrays[0].ndim + 1)
    return concat([expand_dims(x, axis=dimension) for x in arrays], axis=dimension)


def unstack(x, /, *, axis=0):
    """The parts along an axis."""
    node = node_of(x)
    if not node.shape:
        raise ValueError("an array without dimensions has no parts")
    dimension = _axis(axis, len(node.shape))
    before = (slice(None),) * dimension
    return tuple(Array(node)[before + (i,)] for i in range(node.shape[dimension]))


def expand_dims(x, /, *, axis=0):
    """With a new dimension of size 1 at this place."""
    node = node_of(x)
    axes = axes_of(axis, len(node.shape) + (len(axis) if isinstance(axis, tuple) else 1))
    shape = list(node.shape)
    for each in axes:
        shape.insert(each, 1)
    return apply("Unsqueeze", node.dtype, tuple(shape), node, graph.integers(axes))


def squeeze(x, /, axis):
    """Without dimensions of size 1."""
    node = node_of(x)
    axes = axes_of(axis, len(node.shape))
    if any(node.shape[i] != 1 for i in axes):
        raise ValueError(f"dimensions {axes} of shape {node.shape} are not all of size 1")
    shape = tuple(size for i, size in enumerate(node.shape) if i not in axes)
    return Array(node) if not axes else apply("Squeeze", node.dtype, shape, node, graph.integers(axes))


def reshape(x, /, shape, *, copy=None):
    """The same cells, row by row, in another shape; one size may be -1."""
    node = node_of(x)
    shape = [size.__index__() for size in ((shape,) if isinstance(shape, int) else shape)]
    if any(size < -1 for size in shape) or shape.count(-1) > 1:
        raise ValueError(f"sizes are not negative, but for one that is -1: {tuple(shape)}")
    count = math.prod(node.shape)
    if -1 in shape:
        rest = math.prod(size for size in shape if size != -1)
        if rest == 0 or count % rest:
            raise ValueError(f"{count} cells don't fit shape {tuple(shape)}")
        shape[shape.index(-1)] = count // rest
    shape = tuple(shape)
    if math.prod(shape) != count:
        raise ValueError(f"{count} cells don't fit shape {shape}")
    return Array(node) if shape == node.shape else apply("Reshape", node.dtype, shape, node, graph.integers(shape), allowzero=1)


def permute_dims(x, /, axes):
    """With dimensions in this order."""
    node, rank = node_of(x), len(node_of(x).shape)
    order = tuple(_axis(each, rank) for each in axes)
    if sorted(order) != list(range(rank)):
        raise ValueError(f"axes {tuple(axes)} don't name each of {rank} dimensions once")
    shape = tuple(node.shape[i] for i in order)
    return Array(node) if order == tuple(range(rank)) else apply("Transpose", node.dtype, shape, node, perm=order)


def matrix_transpose(x, /):
    """With the last two dimensions exchanged."""
    rank = len(node_of(x).shape)
    if rank < 2:
        raise ValueError("a matrix has two dimensions")
    return permute_dims(x, (*range(rank - 2), rank - 1, rank - 2))


def moveaxis(x, source, destination, /):
    """With dimensions at other places."""
    rank = len(node_of(x).shape)
    sources = [_axis(each, rank) for each in (source if isinstance(source, tuple) else (source,))]
    places = [_axis(each, rank) for each in (destination if isinstance(destination, tuple) else (destination,))]
    if len(sources) != len(places) or len(set(sources)) != len(sources) or len(set(places)) != len(places):
        raise ValueError("each axis goes to a place of its own")
    order = [i for i in range(rank) if i not in sources]
    for place, each in sorted(zip(places, sources)):
        order.insert(place, each)
    return permute_dims(x, order)


def flip(x, /, *, axis=None):
    """With cells in reverse order along axes."""
    node = node_of(x)
    axes = axes_of(axis, len(node.shape))
    if not axes or 0 in node.shape:
        return Array(node)
    count = len(axes)
    lowest = -(1 << 62)
    return apply("Slice", node.dtype, node.shape, node, graph.integers([-1] * count), graph.integers([lowest] * count),
                 graph.integers(axes), graph.integers([-1] * count))


def roll(x, /, shift, *, axis=None):
    """With cells moved on by so many places; those behind the last place come in front."""
    node = node_of(x)
    if axis is None:
        if isinstance(shift, tuple):
            raise TypeError("several shifts need an axis each")
        return reshape(roll(reshape(Array(node), (-1,)), shift, axis=0), node.shape) if math.prod(node.shape) else Array(node)
    shifts = shift if isinstance(shift, tuple) else (shift,)
    places = axis if isinstance(axis, tuple) else (axis,)
    if len(shifts) == 1:
        shifts *= len(places)
    if len(shifts) != len(places):
        raise ValueError("each axis has a shift of its own")
    result = Array(node)
    for moved, place in zip(shifts, places):
        dimension = _axis(place, len(node.shape))
        size = node.shape[dimension]
        if size == 0 or moved % size == 0:
            continue
        cut, before = size - moved % size, (slice(None),) * dimension
        result = concat([result[before + (slice(cut, None),)], result[before + (slice(None, cut),)]], axis=dimension)
    return result


def tile(x, repetitions, /):
    """The whole array, so many times along each dimension."""
    node, repetitions = node_of(x), tuple(repetitions)
    rank = max(len(node.shape), len(repetitions))
    x = reshape(Array(node), (1,) * (rank - len(node.shape)) + node.shape)
    repetitions = (1,) * (rank - len(repetitions)) + repetitions
    shape = tuple(size * count for size, count in zip(x.shape, repetitions))
    if all(count == 1 for count in repetitions):
        return x
    if 0 in shape:
        return elementwise.filled(0, node.dtype, shape)
    return apply("Tile", node.dtype, shape, x._node, graph.integers(repetitions))


def repeat(x, repeats, /, *, axis=None):
    """Each cell, or part along an axis, so many times."""
    node = node_of(x)
    x = Array(node)
    if axis is None:
        x, axis = reshape(x, (-1,)) if x.ndim != 1 else x, 0
    dimension = _axis(axis, x.ndim)
    size = x.shape[dimension]
    if isinstance(repeats, int):
        places = np.repeat(np.arange(size), repeats)
    else:
        counts = np.asarray(repeats)
        if counts.dtype.kind not in "iu" or counts.ndim > 1:
            raise TypeError("repeats are integers, one for each part")
        places = np.repeat(np.arange(size), counts)
    return take(x, Array(graph.leaf(places)), axis=dimension)


def checked_places(places, size):
    """Integers that are places of so many; others raise IndexError, now or when they are computed."""
    node = elementwise.cast(node_of(places), types.int64)
    if node.value is None:
        return apply("Gather", types.int64, node.shape, graph.leaf(np.arange(size)), node, axis=0) if 0 not in node.shape else Array(node)
    wrong = node.value[(node.value < -size) | (node.value >= size)]
    if wrong.size:
        raise IndexError(f"index {wrong.flat[0]} is out of bounds: there are {size} places")
    return Array(node)


def take(x, indices, /, *, axis=None):
    """Parts along an axis, at places from 0."""
    node, places = node_of(x), node_of(indices)
    if axis is None and len(node.shape) != 1:
        raise ValueError(f"take from an array with {len(node.shape)} dimensions needs an axis")
    dimension = _axis(0 if axis is None else axis, len(node.shape))
    if not types.is_integer(places.dtype):
        raise TypeError(f"places are integers, not {places.dtype}")
    shape = node.shape[:dimension] + places.shape + node.shape[dimension + 1:]
    if 0 in shape:
        return elementwise.filled(0, node.dtype, shape)
    places = elementwise.cast(places, types.int64)
    if places.value is not None:
        checked_places(Array(places), node.shape[dimension])
    return apply("Gather", node.dtype, shape, node, places, axis=dimension)


def take_along_axis(x, indices, /, *, axis=-1):
    """For each place the cell along an axis that the other array says."""
    node, places = node_of(x), node_of(indices)
    rank = len(node.shape)
    dimension = _axis(axis, rank)
    if len(places.shape) != rank:
        raise ValueError("places have as many dimensions as the array")
    if not types.is_integer(places.dtype):
        raise TypeError(f"places are integers, not {places.dtype}")
    shape = broadcast_shape(*[node.shape[:dimension] + (1,) + node.shape[dimension + 1:],
                              places.shape[:dimension] + (1,) + places.shape[dimension + 1:]])
    shape = shape[:dimension] + (places.shape[dimension],) + shape[dimension + 1:]
    if 0 in shape:
        return elementwise.filled(0, node.dtype, shape)
    x = broadcast_to(Array(node), shape[:dimension] + (node.shape[dimension],) + shape[dimension + 1:])
    indices = broadcast_to(checked_places(Array(places), node.shape[dimension]), shape)
    return apply("GatherElements", node.dtype, shape, x._node, indices._node, axis=dimension)


def meshgrid(*arrays, indexing="xy"):
    """Coordinates of a grid, from those of its axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    nodes = [node_of(x) for x in arrays]
    if len({node.dtype for node in nodes}) > 1:
        raise ValueError("the arrays of a grid have one type")
    sizes = tuple(node.shape[0] if node.shape else 1 for node in nodes)
    results = []
    for i, node in enumerate(nodes):
        shape = [1] * len(nodes)
        shape[i] = sizes[i]
        grid = broadcast_to(reshape(Array(node), tuple(shape)), sizes)
        if indexing == "xy" and len(nodes) > 1:
            grid = permute_dims(grid, (1, 0, *range(2, len(nodes))))
        results.append(grid)
    return tuple(results)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Differences between neighbours along an axis, `n` times."""
    node = node_of(x)
    dimension = _axis(axis, len(node.shape))
    parts = [each for each in (prepend, Array(node), append) if each is not None]
    result = concat(parts, axis=dimension) if len(parts) > 1 else Array(node)
    before = (slice(None),) * dimension
    for _ in range(n):
        upper, lower = result[before + (slice(1, None),)], result[before + (slice(None, -1),)]
        result = elementwise.not_equal(upper, lower) if node.dtype == types.bool else elementwise.subtract(upper, lower)
    return result


#===- products -------------------------------------------------------------------------------------------------------===

def _numbers(name, x1, x2):
    first, second = elementwise.nodes_of(x1, x2) if isinstance(x1, Array) or isinstance(x2, Array) else (node_of(x1), node_of(x2))
    elementwise.require(first.dtype, "iuf", name)
    return first, second


def matmul(x1, x2, /):
    """The product of matrices in the last two dimensions; a vector is a row on the left and a column on the right."""
    first, second = _numbers("matmul", x1, x2)
    if not first.shape or not second.shape:
        raise ValueError("matmul takes arrays with dimensions; multiply takes numbers")
    inner = second.shape[0] if len(second.shape) == 1 else second.shape[-2]
    if first.shape[-1] != inner:
        raise ValueError(f"matmul of shapes {first.shape} and {second.shape}: {first.shape[-1]} columns, {inner} rows")
    shape = broadcast_shape(first.shape[:-2], second.shape[:-2])
    shape += first.shape[-2:-1] if len(first.shape) > 1 else ()
    shape += second.shape[-1:] if len(second.shape) > 1 else ()
    if inner == 0 or 0 in shape:
        return elementwise.filled(0, first.dtype, shape)
    return apply("MatMul", first.dtype, shape, first, second)


def tensordot(x1, x2, /, *, axes=2):
    """Sums of products over dimensions of both."""
    first, second = _numbers("tensordot", x1, x2)
    rank1, rank2 = len(first.shape), len(second.shape)
    if isinstance(axes, int):
        if not 0 <= axes <= min(rank1, rank2):
            raise ValueError(f"{axes} dimensions to sum over, of {rank1} and {rank2}")
        own, others = tuple(range(rank1 - axes, rank1)), tuple(range(axes))
    else:
        own, others = (tuple(_axis(each, rank) for each in part) for part, rank in zip(axes, (rank1, rank2)))
    if len(own) != len(others) or any(first.shape[i] != second.shape[j] for i, j in zip(own, others)):
        raise ValueError(f"tensordot of shapes {first.shape} and {second.shape} over {axes}: sizes differ")
    free1 = tuple(i for i in range(rank1) if i not in own)
    free2 = tuple(i for i in range(rank2) if i not in others)
    shape1, shape2 = tuple(first.shape[i] for i in free1), tuple(second.shape[i] for i in free2)
    inner = math.prod(first.shape[i] for i in own)
    left = reshape(permute_dims(Array(first), free1 + own), (math.prod(shape1), inner))
    right = reshape(permute_dims(Array(second), others + free2), (inner, math.prod(shape2)))
    return reshape(matmul(left, right), shape1 + shape2)


def vecdot(x1, x2, /, *, axis=-1):
    """Sums of products along an axis."""
    first, second = _numbers("vecdot", x1, x2)
    if not first.shape or not second.shape:
        raise ValueError("vecdot takes arrays with dimensions")
    if not isinstance(axis, int) or not -min(len(first.shape), len(second.shape)) <= axis < 0:
        raise IndexError(f"axis {axis} of arrays with {len(first.shape)} and {len(second.shape)} dimensions; it counts from the last, -1")
    if first.shape[axis] != second.shape[axis]:
        raise ValueError(f"vecdot of {first.shape[axis]} and {second.shape[axis]} cells")
    product = elementwise.multiply(Array(first), Array(second))
    return reductions.sum(product, axis=axis, dtype=product.dtype)


from . import reductions  # noqa: E402: it needs what stands above
