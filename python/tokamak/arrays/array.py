"""Lazy arrays: what is computed with them becomes a graph, and runs when a cell is asked for.

    x = asarray([1.0, 2.0])
    y = (x * 2 + 1).sum()        # nothing has run yet
    float(y)                     # 8.0: planned, fused and compiled as one program, which is kept
"""

import operator

import numpy as np

from .. import _native
from . import changes, graph, types


class Array(_native.ArrayBase):
    """An array of the Array API standard: of bool, integers or floats, with any number of dimensions.

    It is made by asarray() and by functions of arrays, and doesn't change but by x[...] = and x += . Its cells are computed when
    they are asked for: by float(x), print(x), numpy.asarray(x), if x: ..."""

    __slots__ = ()
    __array_ufunc__ = None  # arrays of NumPy on the left leave operators to this class
    __array_priority__ = 1000

    #===- what is known without cells --------------------------------------------------------------------------------===

    @property
    def dtype(self):
        return self._node.dtype

    @property
    def shape(self):
        return self._node.shape

    @property
    def ndim(self):
        return len(self._node.shape)

    @property
    def size(self):
        count = 1
        for size in self._node.shape:
            count *= size
        return count

    @property
    def device(self):
        return "cpu"

    def to_device(self, device, /, *, stream=None):
        if device != "cpu" or stream is not None:
            raise ValueError(f"arrays are on the device 'cpu', and not on {device!r}")
        return self

    def __array_namespace__(self, /, *, api_version=None):
        import tokamak

        if api_version is not None and api_version not in tokamak.arrays.API_VERSIONS:
            raise ValueError(f"the standard's version is one of {', '.join(tokamak.arrays.API_VERSIONS)}, not {api_version!r}")
        return tokamak

    def __len__(self):
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    #===- cells ------------------------------------------------------------------------------------------------------===

    def _cells(self):
        node = self._node
        if node.value is None:
            graph.evaluate([node])
        return node.value

    def __array__(self, dtype=None, copy=None):
        cells = self._cells()
        if dtype is not None and np.dtype(dtype) != cells.dtype:
            if copy is False:
                raise ValueError("another type takes a copy")
            return cells.astype(dtype)
        if copy:
            return cells.copy()
        cells = cells.view()
        cells.flags.writeable = False  # other arrays may have the same cells
        return cells

    def __dlpack__(self, /, *, stream=None, max_version=None, dl_device=None, copy=None):
        if stream is not None:
            raise ValueError("arrays of the device 'cpu' have no streams")
        cells = self._cells()
        if copy or not cells.flags.writeable:
            if copy is False:
                raise BufferError("cells that may not be written take a copy")
            cells = cells.copy()
        return cells.__dlpack__() if max_version is None else _exported(cells, max_version, dl_device)

    def __dlpack_device__(self):
        return (1, 0)  # kDLCPU

    def __bool__(self):
        return bool(self._only_cell("a truth value"))

    def __int__(self):
        return int(self._only_cell("a number"))

    def __float__(self):
        return float(self._only_cell("a number"))

    def __complex__(self):
        return complex(self._only_cell("a number"))

    def __index__(self):
        if not types.is_integer(self.dtype):
            raise TypeError(f"an array of {self.dtype} is no index")
        return operator.index(self._only_cell("an index"))

    def _only_cell(self, what):
        if self.shape:
            raise TypeError(f"an array of shape {self.shape} is not {what}: only one without dimensions is")
        return self._cells()[()]

    def item(self):
        """The only cell as a number of Python."""
        if self.size != 1:
            raise ValueError(f"an array of shape {self.shape} has not one cell")
        return self._cells().item()

    def __repr__(self):
        if self._node.is_traced:
            return f"Array(captured, dtype={self.dtype}, shape={self.shape})"
        return np.array2string(self._cells(), separator=", ", prefix="Array(", suffix=f", dtype={self.dtype})",
                               threshold=200).join(("Array(", f", dtype={self.dtype})"))

    def __hash__(self):
        if self._node.is_traced:  # a loop over known numbers can be written out
            raise graph.CaptureError("an array has no hash: as a key take a number that is known while the function is captured")
        raise TypeError("unhashable type: 'Array'")

    def __iter__(self):
        if not self.shape:
            raise TypeError("an array without dimensions has no parts")
        return (self[i] for i in range(self.shape[0]))

    def __reduce__(self):
        return _restored, (self._cells(),)

    def __copy__(self):
        return Array(self._node)

    def __deepcopy__(self, memo):
        return creation.asarray(self, copy=True)

    #===- operators --------------------------------------------------------------------------------------------------===

    @property
    def T(self):
        if self.ndim != 2:
            raise ValueError(f"T is of matrices; an array of shape {self.shape} has mT or permute_dims")
        return manipulation.matrix_transpose(self)

    @property
    def mT(self):
        return manipulation.matrix_transpose(self)

    def __getitem__(self, key):
        return indexing.part(self, key)

    def __setitem__(self, key, value):
        self._become(indexing.with_part(self, key, value))

    def _become(self, other):
        """Assignments to parts and operators such as += make another array, which this name then stands for."""
        if other.shape != self.shape:
            raise ValueError(f"the result's shape {other.shape} is not {self.shape}")
        if other.dtype != self.dtype:
            raise TypeError(f"the result is of {other.dtype}, the array of {self.dtype}")
        changes.give(self, other._node)
        return self

    # numpy.sum(x) and the like call these, with all that they know.

    def sum(self, /, *, axis=None, dtype=None, out=None, keepdims=False):
        _refuse(out)
        return reductions.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def mean(self, /, *, axis=None, dtype=None, out=None, keepdims=False):
        _refuse(out)
        return reductions.mean(self if dtype is None else self.astype(dtype), axis=axis, keepdims=keepdims)

    def max(self, /, *, axis=None, out=None, keepdims=False):
        _refuse(out)
        return reductions.max(self, axis=axis, keepdims=keepdims)

    def min(self, /, *, axis=None, out=None, keepdims=False):
        _refuse(out)
        return reductions.min(self, axis=axis, keepdims=keepdims)

    def reshape(self, shape, /):
        return manipulation.reshape(self, shape)

    def astype(self, dtype, /, *, copy=True):
        return elementwise.astype(self, dtype, copy=copy)


_native.set_up_arrays(Array)


def _refuse(out):
    if out is not None:
        raise TypeError("results are new arrays: out can't be given; assign what the function returns")


def _exported(cells, max_version, dl_device):
    options = {"max_version": max_version} | ({"dl_device": dl_device} if dl_device is not None else {})
    try:
        return cells.__dlpack__(**options)
    except TypeError:  # NumPy before 2.1
        return cells.__dlpack__()


def _restored(cells):
    return Array(graph.leaf(cells))


def _binary(name):
    def forward(self, other):
        return function(self, other) if _is_operand(other) else NotImplemented

    def backward(self, other):
        return function(other, self) if _is_operand(other) else NotImplemented

    def in_place(self, other):
        if not _is_operand(other):
            return NotImplemented
        result = function(self, other)
        return result if self._node.is_weak else self._become(result)  # numbers of Python don't change: their names do
    function = getattr(elementwise, name)
    return forward, backward, in_place


def _is_operand(thing):
    return isinstance(thing, (Array, bool, int, float, np.ndarray, np.generic))


def apply(op, dtype, shape, *inputs, **attributes):
    """The array that an operator of ONNX makes of nodes."""
    return Array(graph.Node(op, inputs, dtype, shape, tuple(attributes.items())))


from . import creation, elementwise, indexing, manipulation, reductions  # noqa: E402: they need the class

for _name, _function in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
                         "mod": "remainder", "pow": "pow", "and": "_and", "or": "_or", "xor": "_xor",
                         "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift"}.items():
    for _kind, _method in zip(("__{}__", "__r{}__", "__i{}__"), _binary(_function)):
        setattr(Array, _kind.format(_name), _method)
for _name, _function in {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    setattr(Array, f"__{_name}__", _binary(_function)[0])
Array.__matmul__ = lambda self, other: manipulation.matmul(self, other) if isinstance(other, (Array, np.ndarray)) else NotImplemented
Array.__imatmul__ = lambda self, other: self._become(self @ other)
Array.__rmatmul__ = lambda self, other: manipulation.matmul(other, self) if isinstance(other, (Array, np.ndarray)) else NotImplemented
Array.__neg__, Array.__pos__, Array.__abs__ = elementwise.negative, elementwise.positive, elementwise.abs
Array.__invert__ = elementwise._not
