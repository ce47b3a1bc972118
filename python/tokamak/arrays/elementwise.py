"""Functions of each cell, of one array or of several that are broadcast against each other."""

import functools
import math

import numpy as np

from .._convert import cells_of
from . import graph, types
from .array import Array, apply

_bool = bool


#===- operands -------------------------------------------------------------------------------------------------------===

def node_of(x):
    """Of an array, or of one of NumPy."""
    if isinstance(x, Array):
        return x._node
    if isinstance(x, (np.ndarray, np.generic)):
        cells = cells_of(x)
        return graph.leaf(np.asarray(cells, dtype=types.checked(cells.dtype)))
    raise TypeError(f"expected an array, got {type(x).__name__}")


def broadcast_shape(*shapes):
    """Raises ValueError if sizes differ and none of them is 1."""
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    rank = max(map(len, shapes))
    result = []
    for sizes in zip(*((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes)):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            raise ValueError(f"shapes {', '.join(map(str, shapes))} can't be broadcast")
        result.append(others.pop() if others else 1)
    return tuple(result)


def cast(node, dtype):
    """In another type; numbers of Python stay numbers."""
    if node.dtype is dtype or node.dtype == dtype:
        return node
    if node.op == "scalar":
        made = graph.scalar(np.asarray(node.attributes).astype(dtype).item(), dtype)
    elif dtype == types.bool:  # what is not 0, NaN too
        made = graph.Node("Not", (graph.Node("Equal", (node, graph.scalar(0, node.dtype)), dtype, node.shape),), dtype, node.shape)
    else:
        made = graph.Node("Cast", (node,), dtype, node.shape, (("to", _DATA_TYPES[dtype]),))
    made.is_weak = node.is_weak
    return made


_DATA_TYPES = graph.model.DATA_TYPES


def _is_scalar(x):
    return isinstance(x, (_bool, int, float)) and not isinstance(x, np.generic)


def pair(x1, x2):
    """Two operands as nodes of one type: numbers of Python take that of the array."""
    if x1.__class__ is Array:
        first = x1._node
        if x2.__class__ is Array:
            if first.dtype is x2._node.dtype:
                return first, x2._node
        elif x2.__class__ in _SCALARS and not first.is_weak:
            return first, graph.scalar(x2, types.type_of_scalar(x2, first.dtype))
    elif x2.__class__ is Array and x1.__class__ in _SCALARS and not x2._node.is_weak:
        second = x2._node
        return graph.scalar(x1, types.type_of_scalar(x1, second.dtype)), second
    return nodes_of(x1, x2)


_SCALARS = frozenset((float, int, _bool))


def nodes_of(*operands):
    """The same of any number of operands."""
    arrays = [None if _is_scalar(x) else node_of(x) for x in operands]
    strong = [node for node in arrays if node is not None and not node.is_weak]
    if strong:
        dtype = functools.reduce(types.promoted, [node.dtype for node in strong])
    elif any(node is not None for node in arrays):
        dtype = functools.reduce(_wider, [node.dtype for node in arrays if node is not None])
    else:
        raise TypeError("expected at least one array")
    result = []
    for x, node in zip(operands, arrays):
        if node is None and not strong:
            dtype = _wider(dtype, types.float64 if isinstance(x, float) else dtype)
    for x, node in zip(operands, arrays):
        if node is None:
            number = graph.scalar(x, types.type_of_scalar(x, dtype))
            number.is_weak = not strong
            result.append(number)
        elif node.dtype is dtype:
            result.append(node)
        else:
            if node.is_weak and strong and types.is_float(node.dtype) and not types.is_float(dtype):
                raise TypeError(f"a float beside an array of {dtype}; convert one of them with astype")
            result.append(cast(node, dtype))
    return result


def _wider(first, second):
    """Among numbers of Python in a captured function."""
    return types.float64 if types.float64 in (first, second) else first if first != types.bool else second


def made(op, dtype, *nodes, **attributes):
    first, last = nodes[0].shape, nodes[-1].shape
    if len(nodes) == 1 or len(nodes) == 2 and (first == last or not last):
        shape = first
    else:
        shape = broadcast_shape(*[node.shape for node in nodes])
    result = graph.Node(op, nodes, dtype, shape, tuple(attributes.items()))
    if result.is_traced or nodes[0].is_weak:
        result.is_weak = all(node.is_weak or node.op == "scalar" for node in nodes)
    return result


def require(dtype, kinds, name):
    if dtype.kind not in kinds:
        words = {"b": "bool", "i": "integers", "u": "integers", "f": "floats"}
        expected = ", ".join(dict.fromkeys(words[kind] for kind in kinds))
        raise TypeError(f"{name} takes arrays of {expected}, not of {dtype}")


#===- one array ------------------------------------------------------------------------------------------------------===

def _unary(name, op, kinds, summary, unchanged="", result=None):
    """`unchanged`: kinds of types whose cells stay as they are."""
    def function(x, /):
        node = node_of(x)
        require(node.dtype, kinds, name)
        if node.dtype.kind in unchanged:
            return Array(node) if result is None else filled(result[1], types.bool, node.shape)
        return Array(made(op, result[0] if result else node.dtype, node))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


def filled(value, dtype, shape):
    """All cells are one number."""
    number = graph.scalar(np.asarray(value, dtype=dtype).item(), dtype)
    return apply("Expand", dtype, shape, number, graph.integers(shape)) if shape else Array(number)


abs = _unary("abs", "Abs", "iuf", "The magnitude of each cell.", unchanged="u")
acos = _unary("acos", "Acos", "f", "The arc cosine of each cell.")
acosh = _unary("acosh", "Acosh", "f", "The inverse of cosh of each cell.")
asin = _unary("asin", "Asin", "f", "The arc sine of each cell.")
asinh = _unary("asinh", "Asinh", "f", "The inverse of sinh of each cell.")
atan = _unary("atan", "Atan", "f", "The arc tangent of each cell.")
atanh = _unary("atanh", "Atanh", "f", "The inverse of tanh of each cell.")
ceil = _unary("ceil", "Ceil", "iuf", "The next integer that is not less.", unchanged="iu")
cos = _unary("cos", "Cos", "f", "The cosine of each cell.")
cosh = _unary("cosh", "Cosh", "f", "The hyperbolic cosine of each cell.")
exp = _unary("exp", "Exp", "f", "e to the power of each cell.")
floor = _unary("floor", "Floor", "iuf", "The next integer that is not greater.", unchanged="iu")
isinf = _unary("isinf", "IsInf", "iuf", "Whether each cell is infinite.", unchanged="iu", result=(types.bool, False))
isnan = _unary("isnan", "IsNaN", "iuf", "Whether each cell is NaN.", unchanged="iu", result=(types.bool, False))
log = _unary("log", "Log", "f", "The natural logarithm of each cell.")
log1p = _unary("log1p", "Log1p", "f", "The natural logarithm of 1 + each cell, precise for small ones.")
logical_not = _unary("logical_not", "Not", "b", "Whether each cell is false.")
round = _unary("round", "Round", "iuf", "The nearest integer; of two, the even one.", unchanged="iu")
sin = _unary("sin", "Sin", "f", "The sine of each cell.")
sinh = _unary("sinh", "Sinh", "f", "The hyperbolic sine of each cell.")
sqrt = _unary("sqrt", "Sqrt", "f", "The square root of each cell.")
tan = _unary("tan", "Tan", "f", "The tangent of each cell.")
tanh = _unary("tanh", "Tanh", "f", "The hyperbolic tangent of each cell.")
_bitwise_not = _unary("bitwise_invert", "BitwiseNot", "iu", "")
_negated = _unary("negative", "Neg", "if", "")


def negative(x, /):
    """Each cell with the other sign; unsigned ones modulo 2 to the power of their bits."""
    return subtract(0, x) if node_of(x).dtype.kind == "u" else _negated(x)


def positive(x, /):
    """Each cell as it is."""
    node = node_of(x)
    require(node.dtype, "iuf", "positive")
    return Array(node)


def conj(x, /):
    """Each cell as it is: none is complex."""
    return positive(x)


def real(x, /):
    """Each cell as it is: none is complex."""
    return positive(x)


def bitwise_invert(x, /):
    """Each cell with all bits inverted; of bool, whether it is false."""
    return logical_not(x) if node_of(x).dtype == types.bool else _bitwise_not(x)


_not = bitwise_invert


def sign(x, /):
    """-1, 0 or 1 with the sign of each cell."""
    node = node_of(x)
    require(node.dtype, "iuf", "sign")
    if node.dtype.kind == "u":
        return astype(greater(x, 0), node.dtype)
    return Array(made("Sign", node.dtype, node))


def square(x, /):
    """Each cell times itself."""
    return multiply(x, x)


def reciprocal(x, /):
    """1 over each cell."""
    return divide(1, x)


def trunc(x, /):
    """Each cell without what stands behind the point."""
    if types.is_integer(node_of(x).dtype):
        return Array(node_of(x))
    return where(less(x, 0), ceil(x), floor(x))


def isfinite(x, /):
    """Whether each cell is neither infinite nor NaN."""
    dtype = node_of(x).dtype
    require(dtype, "iuf", "isfinite")
    if types.is_integer(dtype):
        return filled(True, types.bool, node_of(x).shape)
    return logical_not(logical_or(isnan(x), isinf(x)))


def _bits(x):
    """The bits of floats as signed integers."""
    node = node_of(x)
    dtype = types.int64 if node.dtype == types.float64 else types.int32
    return Array(made("BitCast", dtype, node, to=_DATA_TYPES[dtype]))


def _from_bits(x, dtype):
    return Array(made("BitCast", dtype, node_of(x), to=_DATA_TYPES[dtype]))


def signbit(x, /):
    """Whether each cell has a minus, be it one of 0 or of NaN."""
    require(node_of(x).dtype, "f", "signbit")
    return less(_bits(x), 0)


def expm1(x, /):
    """exp(x) - 1, precise for small x, too (W. Kahan's formula: see N. Higham, Accuracy and Stability, section 1.14.1)."""
    require(node_of(x).dtype, "f", "expm1")
    grown = exp(x)
    rest = subtract(grown, 1)
    near = where(equal(grown, 1), x, divide(multiply(rest, x), log(grown)))
    return where(less(abs(x), 1), near, rest)


def _logarithm(x, base):
    """Whole where the cell is a whole power of the base."""
    found = divide(log(x), math.log(base))
    nearest = round(found)
    return where(logical_and(equal(pow(float(base), nearest), x), isfinite(found)), nearest, found)


def log2(x, /):
    """The logarithm of each cell to the base 2."""
    return _logarithm(x, 2)


def log10(x, /):
    """The logarithm of each cell to the base 10."""
    return _logarithm(x, 10)


def astype(x, dtype, /, *, copy=True, device=None):
    """The cells in another type."""
    check_device(device)
    dtype = types.checked(dtype)
    node = node_of(x)
    if node.dtype == dtype and not copy:
        return x
    if node.dtype == dtype and node.value is not None:  # and are NumPy's, perhaps, which others may change
        return Array(graph.leaf(node.value.copy()))
    made = cast(node, dtype)
    if made is not node:
        made.is_weak = False
    return Array(made)


def check_device(device):
    if device not in (None, "cpu"):
        raise ValueError(f"arrays are on the device 'cpu', and not on {device!r}")


#===- two arrays -----------------------------------------------------------------------------------------------------===

def _binary(name, op, kinds, summary, result=None):
    def function(x1, x2, /):
        first, second = pair(x1, x2)
        if first.dtype.kind not in kinds:
            require(first.dtype, kinds, name)
        return Array(made(op, result or first.dtype, first, second))
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


add = _binary("add", "Add", "iuf", "Sums of cells.")
subtract = _binary("subtract", "Sub", "iuf", "Differences of cells.")
multiply = _binary("multiply", "Mul", "iuf", "Products of cells.")
_divide = _binary("divide", "Div", "f", "")
maximum = _binary("maximum", "Max", "iuf", "The greater of two cells; NaN if one is.")
minimum = _binary("minimum", "Min", "iuf", "The less of two cells; NaN if one is.")
equal = _binary("equal", "Equal", "biuf", "Whether cells are equal.", types.bool)
greater = _binary("greater", "Greater", "iuf", "Whether cells of the first are greater.", types.bool)
greater_equal = _binary("greater_equal", "GreaterOrEqual", "iuf", "Whether cells of the first are not less.", types.bool)
less = _binary("less", "Less", "iuf", "Whether cells of the first are less.", types.bool)
less_equal = _binary("less_equal", "LessOrEqual", "iuf", "Whether cells of the first are not greater.", types.bool)
logical_and = _binary("logical_and", "And", "b", "Whether both cells are true.")
logical_or = _binary("logical_or", "Or", "b", "Whether one of two cells is true.")
logical_xor = _binary("logical_xor", "Xor", "b", "Whether just one of two cells is true.")
_bits_and = _binary("bitwise_and", "BitwiseAnd", "iu", "")
_bits_or = _binary("bitwise_or", "BitwiseOr", "iu", "")
_bits_xor = _binary("bitwise_xor", "BitwiseXor", "iu", "")


def divide(x1, x2, /):
    """Quotients of cells."""
    if all(_is_scalar(x) or isinstance(x, Array) and x._node.is_weak for x in (x1, x2)):  # numbers of a captured function
        x1, x2 = (float(x) if _is_scalar(x) else Array(_weak(cast(x._node, types.float64))) for x in (x1, x2))
    return _divide(x1, x2)


def _weak(node):
    node.is_weak = True
    return node


def not_equal(x1, x2, /):
    """Whether cells differ."""
    return logical_not(equal(x1, x2))


def _of_bool(x1, x2):
    return any(isinstance(x, _bool) or not _is_scalar(x) and node_of(x).dtype == types.bool for x in (x1, x2))


def bitwise_and(x1, x2, /):
    """The bits that both have; of bool, whether both are true."""
    return logical_and(x1, x2) if _of_bool(x1, x2) else _bits_and(x1, x2)


def bitwise_or(x1, x2, /):
    """The bits that one has; of bool, whether one is true."""
    return logical_or(x1, x2) if _of_bool(x1, x2) else _bits_or(x1, x2)


def bitwise_xor(x1, x2, /):
    """The bits that just one has; of bool, whether just one is true."""
    return logical_xor(x1, x2) if _of_bool(x1, x2) else _bits_xor(x1, x2)


_and, _or, _xor = bitwise_and, bitwise_or, bitwise_xor


def _shift(x1, x2, direction):
    first, second = pair(x1, x2)
    require(first.dtype, "iu", "a shift")
    return Array(made("BitShift", first.dtype, first, second, direction=direction))


def bitwise_left_shift(x1, x2, /):
    """The bits of cells, moved to the left by so many places."""
    return _shift(x1, x2, "LEFT")


def bitwise_right_shift(x1, x2, /):
    """The bits of cells, moved to the right by so many places; the sign stays."""
    return _shift(x1, x2, "RIGHT")


def pow(x1, x2, /):
    """Cells of the first to the power of those of the second. An integer to a negative power of an array is 0, or 1 or -1 if it is one
    of these: no cell is known before the array is computed. A negative number as the power of integers is an error."""
    if isinstance(x2, int) and not isinstance(x2, _bool) and 0 <= x2 <= 3 and not _is_scalar(x1):
        require(node_of(x1).dtype, "iuf", "pow")
        return _constant_power(x1, x2)
    base, exponent = pair(x1, x2)
    require(base.dtype, "iuf", "pow")
    if types.is_float(base.dtype):
        return Array(made("Pow", base.dtype, base, exponent))
    if isinstance(x2, int) and x2 < 0:
        raise ValueError(f"pow: integers to the power of {x2} are no integers; convert them before, as in astype(x, float64)")
    return _integer_power(Array(base), x2 if isinstance(x2, int) and x2 >= 0 else Array(exponent))


def _constant_power(x, exponent):
    if exponent == 0:
        return filled(1, node_of(x).dtype, node_of(x).shape)
    result = Array(node_of(x))
    for bit in f"{exponent:b}"[1:]:
        result = multiply(result, result)
        if bit == "1":
            result = multiply(result, x)
    return result


def _integer_power(base, exponent):
    """By squaring; what doesn't fit wraps around. Numbers without signs do, but int64 without dimensions, which programs take for sizes,
    would be an error."""
    dtype = base.dtype
    if dtype.kind == "i":
        unsigned = np.dtype(f"u{dtype.itemsize}")
        if isinstance(exponent, int):
            return astype(_constant_power(astype(base, unsigned), exponent), dtype)
        result = astype(_integer_power(astype(base, unsigned), astype(exponent, unsigned)), dtype)
        is_unit = logical_or(equal(base, 1), equal(base, -1))
        return where(logical_or(greater_equal(exponent, 0), is_unit), result, multiply(base, 0))
    if isinstance(exponent, int):
        return _constant_power(base, exponent)
    result, square = add(multiply(exponent, 0), add(multiply(base, 0), 1)), base
    for bit in range(8 * dtype.itemsize):
        has_bit = not_equal(bitwise_and(exponent, 1 << bit), 0)
        result = where(has_bit, multiply(result, square), result)
        square = multiply(square, square)
    return result


def _truncated(x1, x2):
    first, second = pair(x1, x2)
    return Array(made("Div", first.dtype, first, second))


def _rest(x, y):
    """What is left of dividing, with the sign of the dividend, exactly: the product of the quotient and the divisor is computed with its
    rounding error (T. Dekker, "A floating-point technique for extending the available precision", 1971). 0 where the quotient is beyond
    what doubles count by ones."""
    if x.dtype == types.float32:
        return astype(_rest(astype(x, types.float64), astype(y, types.float64)), x.dtype)
    plain = Array(made("Mod", x.dtype, x._node, y._node, fmod=1))
    whole = trunc(divide(x, y))

    def halves(a):
        grown = multiply(a, 134217729.0)  # 2^27 + 1
        upper = subtract(grown, subtract(grown, a))
        return upper, subtract(a, upper)
    (upper1, lower1), (upper2, lower2) = halves(whole), halves(y)
    product = multiply(whole, y)
    error = add(add(subtract(multiply(upper1, upper2), product), multiply(upper1, lower2)), multiply(lower1, upper2))
    error = add(error, multiply(lower1, lower2))
    rest = subtract(subtract(x, product), error)
    divisor = where(less(x, 0), negative(abs(y)), abs(y))
    rest = where(less(multiply(sign(rest), sign(x)), 0), add(rest, divisor), rest)  # the quotient was rounded up
    rest = where(greater_equal(abs(rest), abs(y)), subtract(rest, divisor), rest)
    is_exact = logical_and(isfinite(rest), less(abs(whole), 2.0 ** 53))
    rest = where(is_exact, rest, plain)
    return where(logical_and(greater_equal(abs(rest), abs(y)), not_equal(y, 0)), 0.0, rest)


def remainder(x1, x2, /):
    """What is left of dividing, with the sign of the divisor."""
    first, second = pair(x1, x2)
    require(first.dtype, "iuf", "remainder")
    if types.is_integer(first.dtype):
        return Array(made("Mod", first.dtype, first, second))
    x, y = Array(first), Array(second)
    rest = _rest(x, y)
    differs = logical_and(not_equal(rest, 0), not_equal(less(rest, 0), less(y, 0)))
    return where(equal(rest, 0), copysign(0.0, y), where(differs, add(rest, y), rest))


def floor_divide(x1, x2, /):
    """The greatest integer that is not more than the quotient."""
    first, second = pair(x1, x2)
    require(first.dtype, "iuf", "floor_divide")
    x, y = Array(first), Array(second)
    if types.is_integer(first.dtype):
        quotient = _truncated(x, y)
        if first.dtype.kind == "u":
            return quotient
        is_inexact = logical_and(not_equal(multiply(quotient, y), x), not_equal(less(x, 0), less(y, 0)))
        return subtract(quotient, Array(cast(is_inexact._node, first.dtype)))
    # The quotient of what has no rest is nearly an integer, and is rounded to it: division alone could round up to the next.
    rest = _rest(x, y)
    differs = logical_and(not_equal(rest, 0), not_equal(less(rest, 0), less(y, 0)))
    quotient = subtract(divide(subtract(x, rest), y), Array(cast(differs._node, first.dtype)))
    lower = floor(quotient)
    nearest = where(greater(subtract(quotient, lower), 0.5), add(lower, 1), lower)
    plain = divide(x, y)
    whole = where(equal(quotient, 0), copysign(0.0, plain), nearest)
    return where(logical_or(equal(y, 0), logical_not(isfinite(plain))), plain, where(isinf(y), floor(plain), whole))


def copysign(x1, x2, /):
    """The magnitude of cells of the first with the signs of the second."""
    first, second = pair(x1, x2)
    require(first.dtype, "f", "copysign")
    magnitude = abs(Array(first))
    return where(signbit(Array(second)), negative(magnitude), magnitude)


def nextafter(x1, x2, /):
    """The float that follows a cell of the first in the direction of that of the second."""
    first, second = pair(x1, x2)
    require(first.dtype, "f", "nextafter")
    x, y = Array(first), Array(second)
    bits = _bits(x)
    away = equal(less(x, y), greater(x, 0))  # further from 0: the bits grow
    step = _from_bits(where(away, add(bits, 1), subtract(bits, 1)), first.dtype)
    least = _from_bits(add(multiply(bits, 0), 1), first.dtype)
    moved = where(equal(x, 0), copysign(least, y), step)
    result = where(equal(x, y), y, moved)
    return where(logical_or(isnan(x), isnan(y)), add(x, y), result)


def atan2(x1, x2, /):
    """The angle of the point (x2, x1), between -pi and pi."""
    first, second = pair(x1, x2)
    require(first.dtype, "f", "atan2")
    y, x = Array(first), Array(second)
    height, width = abs(y), abs(x)
    both_infinite = logical_and(isinf(y), isinf(x))
    steep = greater(height, width)
    ratio = divide(minimum(height, width), maximum(height, width))
    ratio = where(both_infinite, 1.0, where(logical_and(equal(y, 0), equal(x, 0)), 0.0, ratio))
    flat = atan(ratio)
    angle = where(steep, subtract(math.pi / 2, flat), flat)
    angle = where(signbit(x), subtract(math.pi, angle), angle)
    return where(logical_or(isnan(x), isnan(y)), add(x, y), copysign(angle, y))


def hypot(x1, x2, /):
    """The root of the sum of squares."""
    first, second = pair(x1, x2)
    require(first.dtype, "f", "hypot")
    x, y = abs(Array(first)), abs(Array(second))
    larger, smaller = maximum(x, y), minimum(x, y)
    ratio = where(equal(larger, 0), 0.0, divide(smaller, larger))
    scaled = multiply(larger, sqrt(add(1, multiply(ratio, ratio))))
    return where(logical_or(isinf(x), isinf(y)), math.inf, scaled)


def logaddexp(x1, x2, /):
    """log(exp(x1) + exp(x2)) without overflow."""
    first, second = pair(x1, x2)
    require(first.dtype, "f", "logaddexp")
    x, y = Array(first), Array(second)
    larger, distance = maximum(x, y), abs(subtract(x, y))
    return where(equal(x, y), add(x, math.log(2)), add(larger, log1p(exp(negative(distance)))))


#===- three arrays ---------------------------------------------------------------------------------------------------===

def where(condition, x1, x2, /):
    """Cells of x1 where the condition holds, else of x2."""
    node = node_of(condition)
    require(node.dtype, "b", "the condition of where")
    first, second = pair(x1, x2)
    return Array(made("Where", first.dtype, node, first, second))


def _within(bound, dtype):
    """Integers of another type, moved to the nearest that this one has."""
    own = node_of(bound).dtype
    if types.is_integer(dtype):
        limits, held = types.iinfo(dtype), types.iinfo(own)
        if limits.min > held.min:
            bound = maximum(bound, limits.min)
        if limits.max < held.max:
            bound = minimum(bound, limits.max)
    return astype(bound, dtype)


def clip(x, /, min=None, max=None):
    """Each cell, but no less than `min` and no more than `max`."""
    node = node_of(x)
    require(node.dtype, "iuf", "clip")
    result = Array(node)
    for bound, function in ((min, maximum), (max, minimum)):
        if bound is None:
            continue
        if not _is_scalar(bound) and node_of(bound).dtype != node.dtype:
            if node_of(bound).dtype.kind != node.dtype.kind and {"f"} & {node_of(bound).dtype.kind, node.dtype.kind}:
                raise TypeError(f"a bound of {node_of(bound).dtype} for an array of {node.dtype}")
            bound = _within(bound, node.dtype)
        result = function(result, bound)
    return result
