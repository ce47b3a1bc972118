"""Functions that make arrays."""

import numpy as np

from .._convert import cells_of
from . import elementwise, graph, types
from .array import Array, apply
from .elementwise import check_device, node_of


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    """An array of cells that are there: numbers, nested lists of them, an array of NumPy or of another package with __dlpack__.

    Cells of a NumPy array are not copied if they lie row by row: who changes them later changes this array, too; copy=True copies."""
    check_device(device)
    if isinstance(obj, Array):
        if dtype is not None and types.checked(dtype) != obj.dtype:
            if copy is False:
                raise ValueError("another type takes a copy")
            return elementwise.astype(obj, dtype)
        return Array(graph.leaf(obj._cells().copy()) if copy and not obj._node.is_traced else obj._node)
    if isinstance(obj, (list, tuple)):
        traced = _with_arrays(obj)
        if traced is not None:
            return traced if dtype is None else elementwise.astype(traced, dtype)
    if hasattr(obj, "__dlpack__") and not isinstance(obj, np.ndarray) and not hasattr(obj, "__array__"):
        obj = np.from_dlpack(obj)
    cells = cells_of(obj)
    if dtype is None and not hasattr(obj, "dtype") and cells.dtype.kind == "i":
        dtype = types.int64
    wanted = types.checked(cells.dtype if dtype is None else dtype)
    converted = cells if cells.dtype == wanted and cells.dtype.isnative else cells.astype(wanted)
    if not converted.flags.c_contiguous:
        converted = np.ascontiguousarray(converted).reshape(converted.shape)
    if copy is False and (converted is not cells or not isinstance(obj, np.ndarray) and not hasattr(obj, "__array__")):
        raise ValueError("these cells take a copy")
    if copy and converted is cells and hasattr(obj, "dtype"):
        converted = converted.copy()
    if converted.dtype is not wanted:
        converted = converted.view(wanted)
    return Array(graph.leaf(converted))


def _with_arrays(obj):
    """Lists with arrays in them are stacked."""
    from .manipulation import stack

    if not any(isinstance(each, (Array, list, tuple)) for each in obj):
        return None
    parts = [each if isinstance(each, Array) else _with_arrays(each) if isinstance(each, (list, tuple)) else None for each in obj]
    if all(each is None for each in parts):
        return None
    return stack([part if part is not None else asarray(each) for part, each in zip(parts, obj)])


def from_dlpack(x, /, *, device=None, copy=None):
    """An array over the cells of another package's."""
    check_device(device)
    return asarray(np.from_dlpack(x), copy=copy)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    """Numbers from `start` to before `stop`."""
    check_device(device)
    start, stop = (0, start) if stop is None else (start, stop)
    if dtype is None:
        dtype = types.int64 if all(isinstance(each, (int, np.integer)) for each in (start, stop, step)) else types.float64
    return Array(graph.leaf(np.arange(start, stop, step).astype(types.checked(dtype), copy=False)))


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    """`num` numbers at equal distances."""
    check_device(device)
    return Array(graph.leaf(np.linspace(start, stop, num, endpoint=endpoint).astype(types.checked(dtype or types.float64), copy=False)))


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    """Ones on a diagonal, else zeros."""
    check_device(device)
    return Array(graph.leaf(np.eye(n_rows, n_cols, k, dtype=types.checked(dtype or types.float64))))


def full(shape, fill_value, *, dtype=None, device=None):
    """All cells are one number."""
    check_device(device)
    shape = tuple(size.__index__() for size in ((shape,) if hasattr(shape, "__index__") else shape))
    if any(size < 0 for size in shape):
        raise ValueError(f"sizes are not negative: {shape}")
    if isinstance(fill_value, Array):
        node = elementwise.cast(fill_value._node, types.checked(dtype or fill_value.dtype))
        return apply("Expand", node.dtype, shape, node, graph.integers(shape)) if shape else Array(node)
    if isinstance(fill_value, complex):
        types.checked(np.complex128)
    if dtype is None:
        dtype = types.bool if isinstance(fill_value, (bool, np.bool_)) else types.int64 if isinstance(fill_value, int) else types.float64
    return elementwise.filled(fill_value, types.checked(dtype), shape)


def empty(shape, *, dtype=None, device=None):
    """An array whose cells don't matter."""
    return zeros(shape, dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    """Zeros."""
    return full(shape, 0, dtype=dtype or types.float64, device=device)


def ones(shape, *, dtype=None, device=None):
    """Ones."""
    return full(shape, 1, dtype=dtype or types.float64, device=device)


def empty_like(x, /, *, dtype=None, device=None):
    """An array of this shape whose cells don't matter."""
    return empty(x.shape, dtype=dtype or x.dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """An array of this shape, all cells of which are one number."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def zeros_like(x, /, *, dtype=None, device=None):
    """Zeros of this shape."""
    return zeros(x.shape, dtype=dtype or x.dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None):
    """Ones of this shape."""
    return ones(x.shape, dtype=dtype or x.dtype, device=device)


def _triangle(x, k, upper):
    node = node_of(x)
    if len(node.shape) < 2:
        raise ValueError("a matrix has two dimensions")
    rows, columns = node.shape[-2:]
    distance = np.arange(columns) - np.arange(rows)[:, None]
    inside = Array(graph.leaf(distance >= k if upper else distance <= k))
    return elementwise.where(inside, Array(node), elementwise.filled(0, node.dtype, ()))


def tril(x, /, *, k=0):
    """Cells on a diagonal and below; the others are 0."""
    return _triangle(x, k, False)


def triu(x, /, *, k=0):
    """Cells on a diagonal and above; the others are 0."""
    return _triangle(x, k, True)
