"""What variables of a captured function hold: arrays, numbers of Python, and nothing yet."""

import numbers

from . import elementwise, graph, types
from .array import Array
from .graph import CaptureError


class Undefined:
    """A variable before its first assignment."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def _fail(self, *_):
        raise CaptureError(f"variable {self._name!r} has no value here: it is assigned only in a loop or on one side of a branch "
                                "over arrays; assign it before")
    __getattr__ = __call__ = __iter__ = __len__ = __bool__ = __getitem__ = __setitem__ = __index__ = __float__ = _fail
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = _fail
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __pow__ = __rpow__ = __floordiv__ = __mod__ = __and__ = __or__ = __invert__ = _fail


def is_traced(x):
    return isinstance(x, Array) and x._node.is_traced


def is_number(x):
    return isinstance(x, numbers.Number)


def array_of(x):
    """An array, or a number of Python as one that takes others' types."""
    if isinstance(x, Array):
        return x
    dtype = types.bool if isinstance(x, bool) else types.int64 if isinstance(x, int) else types.float64
    node = graph.scalar(x, dtype)
    node.is_weak = dtype != types.bool
    return Array(node)


def condition_node(x, what):
    x = array_of(x)
    if x.dtype != types.bool or x.shape:
        raise CaptureError(f"{what} is one bool, not an array of {x.dtype} of shape {x.shape}")
    return x._node


def joined_type(first, second):
    """Of two nodes that one variable stands for, or None."""
    if first.dtype == second.dtype:
        return first.dtype
    if first.is_weak != second.is_weak:
        weak, strong = (first, second) if first.is_weak else (second, first)
        return strong.dtype if weak.dtype == types.int64 or types.is_float(strong.dtype) else None
    if first.is_weak:
        return types.float64
    return None


def zeros_of(like):
    node = array_of(like)._node
    zeros = elementwise.filled(0, node.dtype, node.shape)
    zeros._node.is_weak = node.is_weak
    return zeros


def placeholder_like(node):
    return graph.placeholder(node.dtype, node.shape, node.is_weak)


def described(value):
    return "without a value" if isinstance(value, Undefined) else "an array" if isinstance(value, Array) else f"a {type(value).__name__}"
