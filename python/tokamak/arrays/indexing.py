"""x[key] and x[key] = value: integers, slices, ..., None, arrays of integers and masks."""

import math

import numpy as np

from . import elementwise, graph, manipulation, types
from .array import Array, apply
from .elementwise import node_of


def _is_mask(each):
    return isinstance(each, (bool, np.bool_)) or isinstance(each, (Array, np.ndarray)) and each.dtype == types.bool


def _is_places(each):
    return isinstance(each, (Array, np.ndarray)) and not _is_mask(each)


def _is_integer(each):
    return not isinstance(each, (bool, np.bool_, slice, Array, np.ndarray)) and hasattr(each, "__index__")


def _full_key(key, rank):
    """One entry for each dimension, and None for each new one."""
    key = key if isinstance(key, tuple) else (key,)
    for each in key:
        if not (each is None or each is Ellipsis or isinstance(each, slice) or _is_mask(each) or _is_places(each) or _is_integer(each)):
            raise IndexError(f"an index is an integer, a slice, ..., None, an array of integers or a mask, not {each!r}")
    if key.count(Ellipsis) if not any(isinstance(each, (Array, np.ndarray)) for each in key) else sum(each is Ellipsis for each in key):
        place = next(i for i, each in enumerate(key) if each is Ellipsis)
        if any(each is Ellipsis for each in key[place + 1:]):
            raise IndexError("an index has one ... at most")
    else:
        place, key = len(key), (*key, Ellipsis)
    taken = sum(each is not None and each is not Ellipsis for each in key)
    if taken > rank:
        raise IndexError(f"{taken} indices of an array with {rank} dimensions")
    return key[:place] + (slice(None),) * (rank - taken) + key[place + 1:]


def _place(index, size, dimension):
    index = index.__index__()
    if not -size <= index < size:
        raise IndexError(f"index {index} of dimension {dimension}, which has {size} parts")
    return index % size


def part(x, key):
    """x[key]"""
    node = x._node
    if _is_mask(key):
        return _masked(node, key)
    if isinstance(key, tuple) and any(_is_mask(each) for each in key):
        raise IndexError("a mask is the only index")
    key = _full_key(key, len(node.shape))
    result, new_places, places, dimension = Array(node), [], {}, 0
    position = 0  # in the result
    slices = []
    for each in key:
        if each is None:
            new_places.append(position)
            position += 1
            continue
        size = result.shape[dimension]
        if isinstance(each, slice):
            if each != slice(None):
                slices.append((dimension, _bounds(each, size)))
            dimension += 1
            position += 1
        elif _is_places(each) and each.ndim:
            places[dimension] = each
            dimension += 1
            position += 1
        else:
            if isinstance(each, Array) and each._node.value is None:  # need not be known now
                index = elementwise.cast(each._node, types.int64)
            else:
                index = graph.scalar(_place(each, size, dimension), types.int64)
            if places or any(_is_places(other) and other.ndim for other in key):
                places[dimension] = Array(index)
                dimension += 1
                continue
            result, slices = _sliced(result, slices), []
            shape = result.shape[:dimension] + result.shape[dimension + 1:]
            result = apply("Gather", node.dtype, shape, result._node, index, axis=dimension) \
                if 0 not in shape else elementwise.filled(0, node.dtype, shape)
    result = _sliced(result, slices)
    if places:
        if new_places:
            raise IndexError("None beside arrays of integers is not supported; expand_dims makes dimensions")
        result = _taken(result, places)
    if new_places:
        result = manipulation.expand_dims(result, axis=tuple(new_places))
    return result


def _bounds(each, size):
    for bound in (each.start, each.stop, each.step):
        if isinstance(bound, Array) and bound._node.is_traced:
            raise graph.CaptureError("the bounds of a slice are computed by the captured function, so that the result's shape is "
                                     "unknown; take(x, places) takes computed places")
    return range(*each.indices(size))


def _sliced(x, slices):
    """Slices are (dimension, range); those that are whole stay."""
    slices = [(dimension, taken) for dimension, taken in slices if taken != range(x.shape[dimension])]
    if not slices:
        return x
    shape = list(x.shape)
    for dimension, taken in slices:
        shape[dimension] = len(taken)
    if 0 in shape:
        return elementwise.filled(0, x.dtype, tuple(shape))
    if all(taken.step > 0 for _, taken in slices):
        places = [range(size) for size in x.shape]
        for dimension, taken in slices:
            places[dimension] = taken
        return apply("Part", x.dtype, tuple(shape), x._node, starts=tuple(taken.start for taken in places), sizes=tuple(shape),
                     steps=tuple(taken.step for taken in places))
    lowest = -(1 << 62)
    ends = [taken.stop if taken.stop >= 0 else lowest for _, taken in slices]
    return apply("Slice", x.dtype, tuple(shape), x._node, graph.integers([taken.start for _, taken in slices]), graph.integers(ends),
                 graph.integers([dimension for dimension, _ in slices]), graph.integers([taken.step for _, taken in slices]))


def _taken(x, places):
    """Arrays of integers, broadcast against each other, take cells of their dimensions."""
    dimensions = sorted(places)
    arrays = [places[i] for i in dimensions]
    for each in arrays:
        if not types.is_integer(each.dtype):
            raise IndexError(f"an index of {each.dtype}; arrays of integers and masks are indices")
    if len(dimensions) == 1:
        return manipulation.take(x, arrays[0], axis=dimensions[0])
    arrays = manipulation.broadcast_arrays(*[manipulation.checked_places(each, x.shape[i]) for i, each in zip(dimensions, arrays)])
    shape = arrays[0].shape
    rest = [i for i in range(x.ndim) if i not in dimensions]
    moved = manipulation.permute_dims(x, (*dimensions, *rest))
    tail = moved.shape[len(dimensions):]
    if 0 in shape + tail:
        result = elementwise.filled(0, x.dtype, shape + tail)
    else:
        indices = manipulation.stack(arrays, axis=-1)
        result = apply("GatherND", x.dtype, shape + tail, moved._node, indices._node)
    if dimensions == list(range(dimensions[0], dimensions[-1] + 1)) and dimensions[0]:  # neighbours stay where they are
        front, count = dimensions[0], len(shape)
        result = manipulation.permute_dims(result, (*range(count, count + front), *range(count), *range(count + front, result.ndim)))
    return result


def _masked(node, mask):
    """The cells, or parts, where the mask holds: how many there are is known only when it is computed."""
    mask = node_of(mask) if isinstance(mask, (Array, np.ndarray)) else graph.leaf(np.asarray(mask))
    rank = len(mask.shape)
    if mask.shape != node.shape[:rank]:
        raise IndexError(f"a mask of shape {mask.shape} for an array of shape {node.shape}")
    if mask.is_traced:
        raise graph.CaptureError("how many cells a mask takes is unknown while a function is captured; where(mask, x, other) keeps the shape")
    rest = node.shape[rank:]
    count = int(np.count_nonzero(Array(mask)._cells()))
    if count == 0 or 0 in rest:
        return elementwise.filled(0, node.dtype, (count,) + rest)
    flat = manipulation.reshape(Array(node), (math.prod(mask.shape),) + rest)
    chosen = manipulation.reshape(Array(mask), (math.prod(mask.shape),))
    return apply("Compress", node.dtype, (count,) + rest, flat._node, chosen._node, axis=0)


def with_part(x, key, value):
    """What x is after x[key] = value."""
    node = x._node
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        value = Array(graph.scalar(value, types.type_of_scalar(value, node.dtype)))
    else:
        value = Array(node_of(value))
        if value.dtype != node.dtype:
            if types.promoted(value.dtype, node.dtype) != node.dtype:
                raise TypeError(f"cells of {value.dtype} don't fit an array of {node.dtype}")
            value = elementwise.astype(value, node.dtype)
    if _is_mask(key):
        return _with_masked(node, key, value)
    if any(isinstance(each, Array) and each._node.is_traced for each in (key if isinstance(key, tuple) else (key,))):
        return _with_computed_place(node, key, value)
    if any(_is_mask(each) for each in (key if isinstance(key, tuple) else (key,))):
        raise IndexError("a mask is the only index")
    plain = tuple(np.asarray(each) if isinstance(each, Array) else each for each in (key if isinstance(key, tuple) else (key,)))
    _full_key(plain, len(node.shape))
    count = math.prod(node.shape)
    numbers = np.arange(count).reshape(node.shape)[plain]
    if elementwise.broadcast_shape(value.shape, numbers.shape) != numbers.shape:
        raise ValueError(f"cells of shape {value.shape} for a part of shape {numbers.shape}")
    value = manipulation.broadcast_to(value, numbers.shape)
    if numbers.size == 0:
        return Array(node)
    if numbers.size == count and np.array_equal(numbers.ravel(), np.arange(count)):
        return manipulation.reshape(value, node.shape)
    return _scattered(node, numbers.reshape(-1), value)


def _scattered(node, numbers, value):
    """With cells at these places of the cells in one row; of a place that is named twice the last cell counts."""
    places, last = np.unique(numbers[::-1], return_index=True)
    if len(places) != len(numbers):
        value = manipulation.take(manipulation.reshape(value, (-1,)), Array(graph.leaf(len(numbers) - 1 - last)))
        numbers = places
    flat = manipulation.reshape(Array(node), (-1,))
    cells = manipulation.reshape(value, (-1,))
    result = apply("ScatterElements", node.dtype, flat.shape, flat._node, graph.leaf(np.ascontiguousarray(numbers)), cells._node, axis=0)
    return manipulation.reshape(result, node.shape)


def _with_computed_place(node, key, value):
    """Integers that need not be known now, along the first dimensions."""
    key = _full_key(key, len(node.shape))
    mask = None
    for dimension, each in enumerate(key):
        if isinstance(each, slice) and each == slice(None):
            continue
        if isinstance(each, slice) or each is None or _is_places(each) and each.ndim:
            raise graph.CaptureError("beside a computed place only whole dimensions can be assigned to")
        size = node.shape[dimension]
        shape = [1] * len(node.shape)
        shape[dimension] = size
        if isinstance(each, Array):
            index = manipulation.checked_places(each, size)
        else:
            index = Array(graph.scalar(_place(each, size, dimension), types.int64))
        index = elementwise.where(elementwise.less(index, 0), elementwise.add(index, size), index)
        here = elementwise.equal(Array(graph.leaf(np.arange(size).reshape(shape))), index)
        mask = here if mask is None else elementwise.logical_and(mask, here)
    rest = tuple(size for size, each in zip(node.shape, key) if isinstance(each, slice))
    value = manipulation.broadcast_to(value, rest)
    value = manipulation.reshape(value, tuple(size if isinstance(each, slice) else 1 for size, each in zip(node.shape, key)))
    return elementwise.where(mask, value, Array(node))


def _with_masked(node, mask, value):
    mask = Array(node_of(mask) if isinstance(mask, (Array, np.ndarray)) else graph.leaf(np.asarray(mask)))
    if mask.shape != node.shape[:mask.ndim]:
        raise IndexError(f"a mask of shape {mask.shape} for an array of shape {node.shape}")
    wide = manipulation.reshape(mask, mask.shape + (1,) * (len(node.shape) - mask.ndim))
    if value.ndim <= len(node.shape) - mask.ndim:  # the same for each place
        return elementwise.where(wide, value, Array(node))
    if mask._node.is_traced:
        raise graph.CaptureError("how many cells a mask takes is unknown while a function is captured")
    numbers = np.arange(math.prod(node.shape)).reshape(node.shape)[mask._cells()]
    return _scattered(node, numbers.reshape(-1), manipulation.broadcast_to(value, numbers.shape)) if numbers.size else Array(node)
