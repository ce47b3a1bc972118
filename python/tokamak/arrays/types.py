"""Element types of arrays, and which one results where two meet (the Array API standard, "Type Promotion Rules").

    float64 == np.dtype("float64")
    promoted(int32, int64)          # int64
    result_type(float32, 2.0)       # float32: a number of Python takes the array's type
"""

import dataclasses

import numpy as np

bool = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float32, float64 = np.dtype("float32"), np.dtype("float64")

SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
FLOATS = (float32, float64)
ALL = (bool, *SIGNED, *UNSIGNED, *FLOATS)
DEFAULTS = {"real floating": float64, "integral": int64, "indexing": int64}
_KINDS = {"bool": (bool,), "signed integer": SIGNED, "unsigned integer": UNSIGNED, "integral": SIGNED + UNSIGNED,
          "real floating": FLOATS, "complex floating": (), "numeric": SIGNED + UNSIGNED + FLOATS}


def _promotion_table():
    table = {}
    for family in (SIGNED, UNSIGNED, FLOATS, (bool,)):
        for i, first in enumerate(family):
            for j, second in enumerate(family):
                table[first, second] = family[max(i, j)]
    wider = {1: int16, 2: int32, 4: int64}  # of both signs: the next signed type that holds all of the unsigned one
    for signed in SIGNED:
        for unsigned in UNSIGNED:
            if unsigned.itemsize < 8:
                held = wider[unsigned.itemsize]
                table[signed, unsigned] = table[unsigned, signed] = held if held.itemsize > signed.itemsize else signed
    return table


_PROMOTED = _promotion_table()


def promoted(first, second):
    """The type that holds both. Raises TypeError where the standard has none: integers and floats, booleans and numbers."""
    if first is second:
        return first
    try:
        return _PROMOTED[first, second]
    except KeyError:
        raise TypeError(f"{first} and {second} have no common type; convert one of them with astype") from None


def checked(dtype):
    """The type that is meant. Raises TypeError if arrays can't have it."""
    found = np.dtype(dtype)
    if not found.isnative:
        found = found.newbyteorder("=")
    if found not in ALL:
        hint = ": complex numbers are not supported" if found.kind == "c" else ""
        raise TypeError(f"arrays are of bool, integers, float32 and float64, not of {found}{hint}")
    return found


def is_float(dtype):
    return dtype.kind == "f"


def is_integer(dtype):
    return dtype.kind in "iu"


def type_of_scalar(number, dtype):
    """What a number of Python is beside an array of `dtype`. Raises TypeError if its kind is higher, OverflowError if it doesn't fit."""
    kind = type(number)
    if kind is float or isinstance(number, float):
        if dtype.kind != "f":
            raise TypeError(f"a float beside an array of {dtype}; convert one of them with astype")
    elif kind is __builtins_bool:
        if dtype is not bool:
            raise TypeError(f"a bool beside an array of {dtype}; convert one of them with astype")
    elif isinstance(number, int):
        if dtype is bool:
            raise TypeError("an int beside an array of bool; convert one of them with astype")
        if dtype.kind != "f":
            limits = np.iinfo(dtype)
            if not limits.min <= number <= limits.max:
                raise OverflowError(f"{number} doesn't fit {dtype}")
    else:
        raise TypeError(f"expected an array or a number, got {kind.__name__}")
    return dtype


__builtins_bool = True.__class__


def isdtype(dtype, kind):
    """Whether a type is of a kind: a name such as "real floating", a type, or a tuple of these."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"{kind!r} is no kind of types; there are {', '.join(_KINDS)}")
        return dtype in _KINDS[kind]
    return dtype == kind


def can_cast(from_, to):
    """Whether promotion can make the one type, or that of an array, the other."""
    source, target = np.dtype(getattr(from_, "dtype", from_)), np.dtype(to)
    return (source, target) in _PROMOTED and _PROMOTED[source, target] == target


@dataclasses.dataclass(frozen=True)
class FloatLimits:
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


@dataclasses.dataclass(frozen=True)
class IntegerLimits:
    bits: int
    max: int
    min: int
    dtype: np.dtype


def finfo(type, /):
    """Limits of a type of floats, or of an array's."""
    found = np.finfo(np.dtype(getattr(type, "dtype", type)))
    return FloatLimits(found.bits, float(found.eps), float(found.max), float(found.min), float(found.smallest_normal), found.dtype)


def iinfo(type, /):
    """Limits of a type of integers, or of an array's."""
    found = np.iinfo(np.dtype(getattr(type, "dtype", type)))
    return IntegerLimits(found.bits, int(found.max), int(found.min), found.dtype)
