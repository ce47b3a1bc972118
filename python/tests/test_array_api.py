"""Arrays against the Python array API standard, version 2024.12.

Each function of the standard is called with arguments that a generator draws over its whole signature: dtypes, shapes of
rank 0 to 5 with sizes of 0 and 1, broadcasting, strides, special values, keywords. What it returns is compared with what
array-api-strict returns: dtype, shape and elements. Elements that can be exact have to be exact; others lie within a few
units in the last place, within the bound of an error analysis, or satisfy the equation that defines them. What the
standard leaves unspecified isn't compared. array_api_differences.toml lists what is missing or differs on purpose."""

import functools
import itertools
import math
import operator
import os
import pathlib
import tomllib
import unittest
import warnings
import zlib

import array_api_strict as strict
import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tokamak as xp

VERSION = "2024.12"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # says that this isn't the newest version
    strict.set_array_api_strict_flags(api_version=VERSION)

LIST = pathlib.Path(__file__).with_name("array_api_differences.toml")
DIFFERENCES = tomllib.loads(LIST.read_text())
MOST_DIFFERENCES = 0.05

FUNCTIONS = """
    arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros zeros_like

    astype can_cast finfo iinfo isdtype result_type

    broadcast_arrays broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze stack tile unstack

    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
    bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater
    greater_equal hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not
    logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow real reciprocal remainder round
    sign signbit sin sinh square sqrt subtract tan tanh trunc

    take take_along_axis  matmul matrix_transpose tensordot vecdot  argmax argmin count_nonzero nonzero searchsorted where
    unique_all unique_counts unique_inverse unique_values  argsort sort
    cumulative_prod cumulative_sum max mean min prod std sum var  all any diff

    __array_namespace_info__ info.capabilities info.default_device info.default_dtypes info.devices info.dtypes

    linalg.cholesky linalg.cross linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul
    linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose linalg.outer linalg.pinv linalg.qr
    linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm

    fft.fft fft.ifft fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfftn fft.irfftn fft.hfft fft.ihfft fft.fftfreq fft.rfftfreq
    fft.fftshift fft.ifftshift

    array.dtype array.device array.mT array.ndim array.shape array.size array.T array.to_device
    array.__abs__ array.__add__ array.__and__ array.__array_namespace__ array.__bool__ array.__complex__ array.__dlpack__
    array.__dlpack_device__ array.__eq__ array.__float__ array.__floordiv__ array.__ge__ array.__getitem__ array.__gt__
    array.__index__ array.__int__ array.__invert__ array.__le__ array.__lshift__ array.__lt__ array.__matmul__ array.__mod__
    array.__mul__ array.__ne__ array.__neg__ array.__or__ array.__pos__ array.__pow__ array.__rshift__ array.__setitem__
    array.__sub__ array.__truediv__ array.__xor__
    array.__iadd__ array.__iand__ array.__ifloordiv__ array.__ilshift__ array.__imatmul__ array.__imod__ array.__imul__
    array.__ior__ array.__ipow__ array.__irshift__ array.__isub__ array.__itruediv__ array.__ixor__
    array.__radd__ array.__rand__ array.__rfloordiv__ array.__rlshift__ array.__rmatmul__ array.__rmod__ array.__rmul__
    array.__ror__ array.__rpow__ array.__rrshift__ array.__rsub__ array.__rtruediv__ array.__rxor__
""".split()

BOOLEAN = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGER = SIGNED + UNSIGNED
FLOATING = ("float32", "float64")
NUMERIC = INTEGER + FLOATING
BITS = BOOLEAN + INTEGER
ALL = BOOLEAN + NUMERIC
COMPLEX = ("complex64", "complex128")
EXAMPLES = int(os.environ.get("TOKAMAK_EXAMPLES", 8))  # of each function; each compiles a program or more


class Device:
    """An argument that stands for the namespace's default device."""

    def __repr__(self):
        return "<the default device>"


DEVICE = Device()


def promoted(*dtypes):
    """The name of the dtype to which the standard promotes, or None where it doesn't."""
    try:
        return name_of(strict.result_type(*(getattr(strict, dtype) for dtype in dtypes)))
    except TypeError:
        return None


def name_of(dtype):
    return next(name for name in ALL + COMPLEX if getattr(strict, name) == dtype)


PROMOTED = {pair: promoted(*pair) for pair in itertools.product(ALL, ALL)}


@functools.cache
def pairs(dtypes):
    """Pairs of these dtypes for which the standard has a promotion."""
    return [pair for pair in itertools.product(dtypes, dtypes) if PROMOTED[pair]]


@functools.cache
def often_floating(choices):
    """There are many more integer dtypes than floating ones, which have the special values, so that those are drawn as often."""
    floating = [each for each in choices if each in FLOATING or each[0] in FLOATING]
    rest = len(choices) - len(floating)
    return choices + tuple(floating) * (rest // len(floating) if floating else 0)


# --- calls -----------------------------------------------------------------------------------------------------------------

def set_item(x, key, value):
    x[key] = value
    return x


METHODS = {
    "__array_namespace__": lambda x, **options: x.__array_namespace__(**options), "__bool__": bool, "__complex__": complex,
    "__float__": float, "__int__": int, "__setitem__": set_item, "__rmatmul__": lambda x, other: x.__rmatmul__(other),
    "to_device": lambda x, device: x.to_device(device), "__dlpack_device__": lambda x: x.__dlpack_device__(),
}


def is_reflected(name):
    return name.startswith("array.__r") and name != "array.__rshift__"


def is_in_place(name):
    return name.startswith("array.__i") and name not in ("array.__index__", "array.__int__", "array.__invert__")


def located(namespace, name):
    """The function of that name. Operators are called as programs do, so that Python's own dispatch takes part."""
    owner, _, leaf = name.rpartition(".")
    if owner == "array":
        if leaf in METHODS:
            return METHODS[leaf]
        if is_reflected(name):
            plain = getattr(operator, leaf.replace("__r", "__", 1))
            return lambda x, other: plain(other, x)
        return getattr(operator, leaf) if leaf.startswith("__") else operator.attrgetter(leaf)
    if owner == "info":
        return getattr(namespace.__array_namespace_info__(), leaf)
    return getattr(getattr(namespace, owner) if owner else namespace, leaf)


def is_there(name):
    owner, _, leaf = name.rpartition(".")
    if owner == "array":
        return hasattr(xp.asarray(np.zeros((2, 2))), leaf)
    if owner == "info":
        return hasattr(xp.__array_namespace_info__(), leaf)
    return hasattr(getattr(xp, owner, None) if owner else xp, leaf)


def taken_by(namespace, value):
    """The argument as the namespace takes it: arguments are drawn as arrays and dtypes of NumPy."""
    if isinstance(value, np.ndarray):
        return namespace.asarray(value)
    if isinstance(value, np.dtype):
        return getattr(namespace, value.name)
    if isinstance(value, Device):
        return namespace.__array_namespace_info__().default_device()
    if isinstance(value, (tuple, list)):
        return type(value)(taken_by(namespace, each) for each in value)
    return value


def called(namespace, name, arguments, options):
    return located(namespace, name)(*(taken_by(namespace, each) for each in arguments),
                                    **{key: taken_by(namespace, each) for key, each in options.items()})


# --- rules: which elements agree -------------------------------------------------------------------------------------------
# Each gets ours, theirs and the arguments, and returns an array of booleans.

def is_nan(x):
    return np.isnan(x) if x.dtype.kind in "fc" else np.zeros(x.shape, bool)


def equal(ours, theirs, *arguments):
    return (ours == theirs) | (is_nan(ours) & is_nan(theirs))


def exact(ours, theirs, *arguments):
    """Zeros have the same sign, too; NaNs may differ."""
    if theirs.dtype.kind != "f":
        return equal(ours, theirs)
    return ((ours == theirs) & (np.signbit(ours) == np.signbit(theirs))) | (is_nan(ours) & is_nan(theirs))


def anything(ours, theirs, *arguments):
    return np.ones(theirs.shape, bool)


def wider(dtype):
    """A dtype in which rounding errors don't matter to one of dtype."""
    return np.float64 if dtype == np.float32 else np.longdouble


def places(x):
    """Numbers of the representable values, in their order, so that neighbours differ by 1 and both zeros are 0."""
    bits = x.view({4: np.int32, 8: np.int64}[x.dtype.itemsize]).astype(np.int64)
    return np.where(bits >= 0, bits, np.iinfo(f"int{8 * x.dtype.itemsize}").min - bits)


def ulps(most, function):
    """Ours is at most that many representable values from the correctly rounded result of a function of NumPy, with its sign."""
    def rule(ours, theirs, *arguments):
        wide = [np.asarray(each).astype(theirs.dtype).astype(wider(theirs.dtype)) for each in arguments]
        right = np.asarray(function(*wide)).astype(theirs.dtype)
        our, their = places(ours.copy()), places(right)
        apart = np.maximum(our, their).astype(np.uint64) - np.minimum(our, their).astype(np.uint64)
        return ((apart <= most) & (np.signbit(ours) == np.signbit(right))) | (is_nan(ours) & is_nan(right))
    return rule


def within(right, bound):
    """Ours differs from right by at most the bound where both are finite."""
    def rule(ours, theirs, *arguments):
        small = np.finfo(theirs.dtype).smallest_normal if theirs.dtype.kind in "fc" else 0
        return np.where(np.isfinite(right) & np.isfinite(ours), np.abs(ours - right) <= bound + small, equal(ours, right))
    return rule


# --- generator -------------------------------------------------------------------------------------------------------------

SEEDS = st.integers(0, 2 ** 32 - 1)


def special_values(dtype):
    limits = np.finfo(dtype)
    return np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, 2, -3, 0.5, -2.5, limits.max, limits.min, limits.smallest_normal,
                     -limits.smallest_subnormal], dtype)


class Draw:
    """An example of a function, which follows from a seed.

    Hypothesis draws the seeds only. Where it draws the structure, too, many of the few examples repeat one another in it: its
    search varies an example that it had by copying parts of it, which is of use where it minimises failures, and not here."""

    def __init__(self, seed, name):
        self.random = np.random.default_rng([seed, zlib.crc32(name.encode())])

    def one(self, choices):
        return choices[self.random.integers(len(choices))]

    def dtype(self, dtypes):
        return self.one(often_floating(tuple(dtypes)))

    def dtypes(self, dtypes):
        """Two of them, which promote."""
        return self.one(often_floating(tuple(pairs(dtypes))))

    def integer(self, least, most):
        return int(self.random.integers(least, most, endpoint=True))

    def flag(self):
        return self.chance(0.5)

    def chance(self, probability):
        return self.random.random() < probability

    def options(self, **choices):
        """Some of these keywords, each with one of its values."""
        return {key: self.one(values) for key, values in choices.items() if self.flag()}

    def sizes(self, rank, least=0):
        sizes = [max(least, int(size)) for size in self.random.choice(5, rank, p=[0.06, 0.2, 0.28, 0.26, 0.2])]
        if 0 < rank <= 3 and self.chance(0.2):  # loops over vectors, with a rest
            sizes[self.random.integers(rank)] = int(self.random.integers(5, 70))
        return tuple(sizes)

    def shape(self, least_rank=0, most_rank=5, least=0):
        return self.sizes(self.integer(least_rank, most_rank), least)

    def narrower(self, shape):
        """A shape that broadcasts to this one."""
        shape = tuple(1 if self.chance(0.2) else size for size in shape)
        return shape[self.random.integers(len(shape) + 1):] if self.chance(0.3) else shape

    def shapes(self, count):
        """Shapes that broadcast with one another."""
        shape = self.shape()
        return [self.narrower(shape) if self.chance(0.6) else shape for _ in range(count)]

    def array(self, dtype, shape, elements="any"):
        """Elements: any; finite; moderate: no sum of them overflows, NaN and infinities among them; plain: and those not;
        ordered: neither NaN nor -0; normal: as they say, so that matrices aren't singular; small: small integers;
        factors: near 1."""
        kind = np.dtype(dtype).kind
        if kind == "b":
            values = self.random.random(shape) < self.random.choice([0.5, 0.1, 0.9])
        elif kind in "iu":
            values = self.integers(dtype, shape, elements)
        elif kind == "c":
            values = self.random.normal(size=shape) + 1j * self.random.normal(size=shape)
        else:
            values = self.floats(dtype, shape, elements)
        return self.laid_out(np.asarray(values).astype(dtype))

    def integers(self, dtype, shape, elements):
        limits = np.iinfo(dtype)
        style = self.random.random()
        if style < 0.4 or elements in ("small", "factors"):
            return self.random.integers(max(limits.min, -4), 5, shape)
        values = self.random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        if style < 0.7:
            extremes = np.array([limits.min, limits.max, limits.min + 1, limits.max - 1, 0, 1], dtype)
            values = np.where(self.random.random(shape) < 0.5, self.random.choice(extremes, shape), values)
        return values

    def floats(self, dtype, shape, elements):
        style = self.random.random()
        limits = np.finfo(dtype)
        if elements == "factors":
            return np.exp2(self.random.uniform(-1, 1, shape)) * self.random.choice([-1, 1], shape)
        if (style < 0.25 and elements != "normal") or elements == "small":
            values = self.random.integers(-8, 9, shape) / (1 if elements == "small" else 2)
        elif style < 0.5 and elements in ("any", "finite", "ordered"):
            most = limits.maxexp - 1
            values = np.exp2(self.random.uniform(-most, most, shape)) * self.random.choice([-1, 1], shape)
        else:
            values = self.random.normal(size=shape) * self.random.choice([1, 1e-3, 30])
        if elements in ("plain", "normal", "small") or self.chance(0.25):
            return values
        specials = [0, 1, -1]
        if elements != "ordered":
            specials += 3 * [-0.0]
        if elements in ("any", "finite", "ordered"):
            specials += [limits.max, limits.min, limits.smallest_normal, limits.smallest_subnormal]
        if elements in ("any", "ordered", "moderate"):
            specials += [np.inf, -np.inf]
        if elements in ("any", "moderate"):
            specials += 3 * [np.nan]
        return np.where(self.random.random(shape) < self.random.choice([0.15, 0.6]), self.random.choice(specials, shape), values)

    def laid_out(self, values):
        """The same elements, at times with other strides than a new array has."""
        style = self.random.integers(8) if values.ndim else None
        if style == 0:
            return np.asfortranarray(values)
        if style == 1:
            wide = np.zeros([2 * size for size in values.shape], values.dtype)
            every_other = (slice(None, None, 2),) * values.ndim
            wide[every_other] = values
            return wide[every_other]
        if style == 2:
            return np.flip(np.flip(values).copy())
        return values

    def scalar(self, dtype, elements="any"):
        """A Python scalar that the standard lets take part with an array of dtype."""
        value = self.array(dtype, (), elements).item()
        return self.one((0, 2, -1)) if isinstance(value, float) and self.chance(0.3) else value

    def operands(self, name, dtypes, elements="any"):
        """Two arguments of a function or operator, of which one may be a scalar where that is allowed."""
        if is_in_place(name):
            first, second = self.one(often_floating(tuple(pair for pair in pairs(dtypes) if PROMOTED[pair] == pair[0])))
            shape = self.shape()
            x1, x2 = self.array(first, shape, elements), self.array(second, self.narrower(shape), elements)
        else:
            first, second = self.dtypes(dtypes)
            shape1, shape2 = self.shapes(2)
            x1, x2 = self.array(first, shape1, elements), self.array(second, shape2, elements)
        if is_reflected(name) or self.chance(0.2):
            x2 = self.scalar(first, elements)
            if not name.startswith("array.") and self.flag():
                return x2, x1
        return x1, x2

    def axis(self, rank):
        return self.integer(-rank, rank - 1)

    def axes(self, rank):
        """What a reduction takes: None, an axis, or several."""
        if not rank or self.chance(0.25):
            return None
        if self.flag():
            return self.axis(rank)
        chosen = self.random.permutation(rank)[:self.integer(1, rank)]
        return tuple(int(axis) - rank * self.chance(0.4) for axis in chosen)

    def index(self, shape, newaxis=True):
        """Integers, slices, an ellipsis and new axes."""
        count = self.integer(0, len(shape))
        ellipsis = count < len(shape) or self.chance(0.2)
        before = int(self.random.integers(count + 1)) if ellipsis else count
        indexed = shape[:before] + shape[len(shape) - (count - before):]
        key = [self.place(size) for size in indexed]
        if ellipsis:
            key.insert(before, ...)
        if newaxis:
            for _ in range(self.one((0, 0, 1, 2))):
                key.insert(self.random.integers(len(key) + 1), None)
        return key[0] if len(key) == 1 and self.flag() else tuple(key)

    def place(self, size):
        if size and self.chance(0.35):
            return int(self.random.integers(-size, size))
        if not size:
            return slice(None, None, self.one((None, 1, -1, 2)))
        start, stop = (None if self.chance(0.3) else int(self.random.integers(-size, size + last)) for last in (0, 1))
        return slice(start, stop, self.one((None, 1, 2, 3, -1, -2)))


# --- comparison ------------------------------------------------------------------------------------------------------------

GENERATED = settings(deadline=None, derandomize=True, database=None, phases=[Phase.generate], report_multiple_bugs=False,
                     suppress_health_check=list(HealthCheck), print_blob=False)


class Comparison(unittest.TestCase):
    def check(self, name, example, examples=EXAMPLES, always=lambda: None):
        """Runs the example, which compares the function once, with many draws; or finds it missing or different as listed.
        Always compares what isn't left to chance."""
        owner = name.rpartition(".")[0]
        if name in DIFFERENCES["missing"] or owner in DIFFERENCES["extensions"]:
            self.assertFalse(is_there(name), f"{name} is there, but {LIST.name} says that it's missing")
            return

        @settings(GENERATED, max_examples=examples)
        @given(SEEDS)
        def run(seed):
            example(Draw(seed, name))

        def compare():
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                always()
                run()
        if name in DIFFERENCES["differs"]:
            with self.assertRaisesRegex(Exception, DIFFERENCES["differs"][name]["failure"]):
                compare()
        else:
            compare()

    def both(self, name, arguments, options):
        """What the function returns, ours and theirs; arguments stay as they are."""
        before = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        given_to_us = list(arguments)
        if is_in_place(name) or name == "array.__setitem__":
            given_to_us[0] = arguments[0].copy(order="K")
        try:
            ours = called(xp, name, given_to_us, options)
        except Exception as error:
            error.add_note(self.described(name, arguments, options))
            raise
        theirs = called(strict, name, [each.copy() if isinstance(each, np.ndarray) else each for each in arguments], options)
        self.values(ours)  # arrays may be lazy
        for now, was in zip(arguments, before):
            if isinstance(was, np.ndarray):
                self.assertTrue(exact(now, was).all(), f"{self.described(name, before, options)} changes its argument")
        return ours, theirs

    def expect(self, name, arguments, options=None, rule=exact, specified=None):
        """Compares one call. Specified, of their result and the arguments, says which elements the standard specifies."""
        options = options or {}
        ours, theirs = self.both(name, arguments, options)
        self.agree(self.described(name, arguments, options), ours, theirs, rule, specified,
                   arguments[::-1] if is_reflected(name) else arguments)

    def described(self, name, arguments, options):
        words = [self.shown(each) for each in arguments] + [f"{key}={self.shown(each)}" for key, each in options.items()]
        return f"{name}({', '.join(words)})"

    def shown(self, value):
        if isinstance(value, np.ndarray):
            return f"{value.dtype}{list(value.shape)} {value.tolist()}"
        if isinstance(value, (list, tuple)):
            return f"({', '.join(map(self.shown, value))})"
        return repr(value)

    def values(self, x):
        if isinstance(x, (tuple, list)):
            return [self.values(each) for each in x]
        return np.asarray(x) if hasattr(x, "shape") else x

    def is_array(self, call, ours, dtype, shape):
        """Checks dtype and shape, and returns the elements."""
        self.assertTrue(hasattr(ours, "shape"), f"{call} is {ours!r}, which isn't an array")
        self.assertTrue(ours.dtype == getattr(xp, dtype), f"{call} has dtype {ours.dtype}, not {dtype}")
        self.assertEqual(tuple(ours.shape), shape, f"shape of {call}")
        values = np.asarray(ours)
        self.assertEqual((values.dtype.name, values.shape), (dtype, shape), f"dtype and shape of the elements of {call}")
        return values

    def agree(self, call, ours, theirs, rule=exact, specified=None, arguments=()):
        if isinstance(theirs, (tuple, list)):
            self.assertIsInstance(ours, (tuple, list), call)
            self.assertEqual(len(ours), len(theirs), f"length of {call}")
            if hasattr(theirs, "_fields"):
                self.assertEqual(ours._fields, theirs._fields, call)
            for number, (our, their) in enumerate(zip(ours, theirs)):
                self.agree(f"{call}[{number}]", our, their, rule, specified, arguments)
        elif hasattr(theirs, "shape"):
            theirs = np.asarray(theirs)
            values = self.is_array(call, ours, theirs.dtype.name, theirs.shape)
            good = np.asarray(rule(values, theirs, *arguments))
            if specified is not None:
                good = good | ~np.asarray(specified(theirs, *arguments), bool)
            if not good.all():
                place = tuple(int(index[0]) for index in np.nonzero(~good)) if good.ndim else ()
                self.fail(f"{call}\nis          {values.tolist()}\nand strict  {theirs.tolist()}\n"
                          f"at {list(place)}: {values[place]!r} instead of {theirs[place]!r}")
        elif type(theirs).__name__ == "DType":
            self.assertTrue(ours == getattr(xp, name_of(theirs)), f"{call} is {ours}, not {name_of(theirs)}")
        else:
            self.assertIs(type(ours), type(theirs), call)
            self.assertTrue(ours == theirs or (ours != ours and theirs != theirs), f"{call} is {ours!r}, not {theirs!r}")

    def unary(self, name, dtypes, rule=exact, elements="any", specified=None, least_rank=0, most_rank=5):
        def example(draw):
            x = draw.array(draw.dtype(dtypes), draw.shape(least_rank, most_rank), elements)
            self.expect(name, [x], rule=rule, specified=specified)

        def special():
            for dtype in set(FLOATING) & set(dtypes):
                self.expect(name, [special_values(dtype)], rule=rule, specified=specified)
        self.check(name, example, always=special if elements == "any" and least_rank <= 1 <= most_rank else lambda: None)

    def binary(self, name, dtypes, rule=exact, elements="any", specified=None, second=None):
        """Second, where given, is what the last argument is replaced by, of the draw and the arguments."""
        def example(draw):
            x1, x2 = draw.operands(name, dtypes, elements)
            if second:
                x1, x2 = second(draw, x1, x2, is_reflected(name))
            self.expect(name, [x1, x2], rule=rule, specified=specified)

        def special():
            """Each special value with each."""
            for dtype in set(FLOATING) & set(dtypes):
                values = special_values(dtype)
                if is_reflected(name):
                    for value in values:
                        self.expect(name, [values, value.item()], rule=rule, specified=specified)
                else:
                    first = np.repeat(values[:, None], values.size, 1) if is_in_place(name) else values[:, None]
                    self.expect(name, [first, values], rule=rule, specified=specified)
        self.check(name, example, always=special)


class TheList(unittest.TestCase):
    """What the tests cover, and what the list of differences may say."""

    def test_every_function_has_a_test(self):
        tested = {name.removeprefix("test_") for group in Comparison.__subclasses__() for name in vars(group)
                  if name.startswith("test_")}
        self.assertEqual(tested, {name.replace(".", "_") for name in FUNCTIONS})

    def test_functions_are_those_of_array_api_strict(self):
        others = {"Device", "broadcast_shapes", "isin", "e", "inf", "nan", "newaxis", "pi"}  # some are of a later version
        theirs = {name for name in strict.__all__ if not name.startswith("__") and callable(getattr(strict, name, None))
                  and "strict" not in name.lower()} - others
        theirs |= {f"{part}.{name}" for part in ("linalg", "fft") for name in getattr(strict, part).__all__}
        theirs -= {"linalg.eig", "linalg.eigvals"}
        ours = {name for name in FUNCTIONS if not name.startswith(("array.", "info.", "__"))}
        self.assertEqual(ours, theirs - set(ALL + COMPLEX))

    def test_list_is_short(self):
        listed = [name for table in DIFFERENCES.values() for name in table]
        self.assertLessEqual(len(listed), MOST_DIFFERENCES * len(FUNCTIONS), listed)

    def test_list_names_functions_with_a_reason(self):
        self.assertLessEqual(set(DIFFERENCES["missing"]) | set(DIFFERENCES["differs"]), set(FUNCTIONS))
        self.assertLessEqual(set(DIFFERENCES["extensions"]), {"linalg", "fft"})
        for entry in [*DIFFERENCES["missing"].values(), *DIFFERENCES["extensions"].values()]:
            self.assertGreater(len(entry), 10)
        for entry in DIFFERENCES["differs"].values():
            self.assertEqual(set(entry), {"reason", "failure"})

    def test_listed_extensions_are_missing(self):
        for extension in DIFFERENCES["extensions"]:
            self.assertFalse(hasattr(xp, extension), extension)


class NamesOfTheNamespace(unittest.TestCase):
    def test_version(self):
        self.assertGreaterEqual(xp.__array_api_version__, VERSION)

    def test_constants(self):
        self.assertEqual((xp.e, xp.pi, xp.inf), (math.e, math.pi, math.inf))
        self.assertTrue(math.isnan(xp.nan))
        self.assertTrue(all(isinstance(each, float) for each in (xp.e, xp.pi, xp.inf, xp.nan)))
        self.assertIsNone(xp.newaxis)

    def test_dtypes(self):
        dtypes = [getattr(xp, name) for name in ALL]
        for (number, one), (other_number, other) in itertools.product(enumerate(dtypes), repeat=2):
            self.assertEqual(one == other, number == other_number, (one, other))
            self.assertEqual(one != other, number != other_number, (one, other))
        for name, dtype in zip(ALL, dtypes):
            self.assertTrue(xp.asarray(np.zeros(2, name)).dtype == dtype, name)


# --- elements --------------------------------------------------------------------------------------------------------------

def least(dtype):
    return np.iinfo(dtype).min if dtype.kind == "i" else None


def negatable(theirs, x):
    return x != least(x.dtype) if x.dtype.kind == "i" else np.ones(x.shape, bool)


def divisor_is_not_zero(theirs, x1, x2):
    return np.asarray(x2) != 0 if theirs.dtype.kind in "iu" else np.True_


def divisible(theirs, x1, x2):
    overflows = (np.asarray(x1) == least(theirs.dtype)) & (np.asarray(x2) == -1) if theirs.dtype.kind == "i" else False
    return divisor_is_not_zero(theirs, x1, x2) & ~np.asarray(overflows)


def power_fits(theirs, x1, x2):
    if theirs.dtype.kind == "f":
        return np.True_
    return np.abs(np.asarray(x1, float)) ** np.asarray(x2, float) < float(np.iinfo(theirs.dtype).max) / 2


def floor_divided(ours, theirs, x1, x2):
    """The standard allows for both floor(x1 / x2) and Python's //, which differ by infinities and roundings."""
    x1, x2 = (np.asarray(each).astype(theirs.dtype) for each in (x1, x2))
    return exact(ours, theirs) | exact(ours, np.floor(x1 / x2) if theirs.dtype.kind == "f" else theirs)


def power(ours, theirs, x1, x2):
    return (ulps(8, np.power) if theirs.dtype.kind == "f" else exact)(ours, theirs, x1, x2)


def log_of_sum(ours, theirs, x1, x2):
    """Where the result is near 0, the larger argument says what can be reached."""
    x1, x2 = (np.asarray(each).astype(theirs.dtype).astype(wider(theirs.dtype)) for each in (x1, x2))
    right = np.asarray(np.logaddexp(x1, x2)).astype(theirs.dtype)
    largest = np.maximum(np.maximum(np.abs(x1), np.abs(x2)), 1)
    return within(right, 4 * np.finfo(theirs.dtype).eps * np.where(np.isfinite(largest), largest, 0))(ours, right)


def replaced_second(limit):
    """Replaces the operation's second operand by integers from 0 to below the limit, which is of the result's bits."""
    def second(draw, x1, x2, reflected):
        dtypes = [each.dtype.name for each in (x1, x2) if isinstance(each, np.ndarray)]
        if dtypes[0] in FLOATING:
            return x1, x2
        most = limit(np.iinfo(PROMOTED[dtypes[0], dtypes[-1]]).bits)

        def drawn(like):
            if isinstance(like, np.ndarray):
                return np.asarray(draw.random.integers(0, most, like.shape)).astype(like.dtype)
            return int(draw.random.integers(0, most))
        return (drawn(x1), x2) if reflected else (x1, drawn(x2))
    return second


SHIFT = replaced_second(lambda bits: bits)
EXPONENT = replaced_second(lambda bits: 7)
CLOSE = 4  # units in the last place


class Elementwise(Comparison):
    def test_abs(self): self.unary("abs", NUMERIC, specified=negatable)
    def test_acos(self): self.unary("acos", FLOATING, ulps(CLOSE, np.arccos))
    def test_acosh(self): self.unary("acosh", FLOATING, ulps(CLOSE, np.arccosh))
    def test_add(self): self.binary("add", NUMERIC)
    def test_asin(self): self.unary("asin", FLOATING, ulps(CLOSE, np.arcsin))
    def test_asinh(self): self.unary("asinh", FLOATING, ulps(CLOSE, np.arcsinh))
    def test_atan(self): self.unary("atan", FLOATING, ulps(CLOSE, np.arctan))
    def test_atan2(self): self.binary("atan2", FLOATING, ulps(CLOSE, np.arctan2))
    def test_atanh(self): self.unary("atanh", FLOATING, ulps(CLOSE, np.arctanh))
    def test_bitwise_and(self): self.binary("bitwise_and", BITS)
    def test_bitwise_left_shift(self): self.binary("bitwise_left_shift", INTEGER, second=SHIFT)
    def test_bitwise_invert(self): self.unary("bitwise_invert", BITS)
    def test_bitwise_or(self): self.binary("bitwise_or", BITS)
    def test_bitwise_right_shift(self): self.binary("bitwise_right_shift", INTEGER, second=SHIFT)
    def test_bitwise_xor(self): self.binary("bitwise_xor", BITS)
    def test_ceil(self): self.unary("ceil", NUMERIC)

    def test_clip(self):
        def example(draw):
            dtype = draw.dtype(NUMERIC)
            shape, least_shape, most_shape = draw.shapes(3)
            lower, upper = (draw.scalar(dtype, "small") if draw.chance(0.25) else draw.array(dtype, each, "ordered")
                            for each in (least_shape, most_shape))
            if np.size(upper):
                lowest = np.min(upper).astype(dtype)
                lower = np.asarray(np.minimum(lower, lowest)) if isinstance(lower, np.ndarray) else min(lower, lowest.item())
            if dtype in FLOATING and isinstance(lower, np.ndarray) and draw.chance(0.1):
                lower = np.where(draw.random.random(lower.shape) < 0.3, np.nan, lower).astype(dtype)
            bounds = draw.one(((lower, upper), (lower,), (lower, None), (None, upper), (None, None), ()))
            self.expect("clip", [draw.array(dtype, shape), *bounds], rule=equal)
        self.check("clip", example)

    def test_conj(self): self.unary("conj", COMPLEX + NUMERIC)
    def test_copysign(self): self.binary("copysign", FLOATING)
    def test_cos(self): self.unary("cos", FLOATING, ulps(CLOSE, np.cos))
    def test_cosh(self): self.unary("cosh", FLOATING, ulps(CLOSE, np.cosh))
    def test_divide(self): self.binary("divide", FLOATING)
    def test_equal(self): self.binary("equal", ALL)
    def test_exp(self): self.unary("exp", FLOATING, ulps(CLOSE, np.exp))
    def test_expm1(self): self.unary("expm1", FLOATING, ulps(CLOSE, np.expm1))
    def test_floor(self): self.unary("floor", NUMERIC)
    def test_floor_divide(self): self.binary("floor_divide", NUMERIC, floor_divided, specified=divisible)
    def test_greater(self): self.binary("greater", NUMERIC)
    def test_greater_equal(self): self.binary("greater_equal", NUMERIC)
    def test_hypot(self): self.binary("hypot", FLOATING, ulps(CLOSE, np.hypot))
    def test_imag(self): self.unary("imag", COMPLEX)
    def test_isfinite(self): self.unary("isfinite", NUMERIC)
    def test_isinf(self): self.unary("isinf", NUMERIC)
    def test_isnan(self): self.unary("isnan", NUMERIC)
    def test_less(self): self.binary("less", NUMERIC)
    def test_less_equal(self): self.binary("less_equal", NUMERIC)
    def test_log(self): self.unary("log", FLOATING, ulps(CLOSE, np.log))
    def test_log10(self): self.unary("log10", FLOATING, ulps(CLOSE, np.log10))
    def test_log1p(self): self.unary("log1p", FLOATING, ulps(CLOSE, np.log1p))
    def test_log2(self): self.unary("log2", FLOATING, ulps(CLOSE, np.log2))
    def test_logaddexp(self): self.binary("logaddexp", FLOATING, log_of_sum)
    def test_logical_and(self): self.binary("logical_and", BOOLEAN)
    def test_logical_not(self): self.unary("logical_not", BOOLEAN)
    def test_logical_or(self): self.binary("logical_or", BOOLEAN)
    def test_logical_xor(self): self.binary("logical_xor", BOOLEAN)
    def test_maximum(self): self.binary("maximum", NUMERIC, equal)
    def test_minimum(self): self.binary("minimum", NUMERIC, equal)
    def test_multiply(self): self.binary("multiply", NUMERIC)
    def test_negative(self): self.unary("negative", NUMERIC, specified=negatable)
    def test_nextafter(self):
        def same_dtype(draw, x1, x2, reflected):
            return (x1, x2.astype(x1.dtype)) if isinstance(x1, np.ndarray) and isinstance(x2, np.ndarray) else (x1, x2)
        self.binary("nextafter", FLOATING, second=same_dtype)

    def test_not_equal(self): self.binary("not_equal", ALL)
    def test_positive(self): self.unary("positive", NUMERIC)
    def test_pow(self): self.binary("pow", NUMERIC, power, specified=power_fits, second=EXPONENT)
    def test_real(self): self.unary("real", COMPLEX + FLOATING)
    def test_reciprocal(self): self.unary("reciprocal", FLOATING)
    def test_remainder(self): self.binary("remainder", NUMERIC, specified=divisor_is_not_zero)
    def test_round(self): self.unary("round", NUMERIC)
    def test_sign(self): self.unary("sign", NUMERIC, equal)
    def test_signbit(self): self.unary("signbit", FLOATING)
    def test_sin(self): self.unary("sin", FLOATING, ulps(CLOSE, np.sin))
    def test_sinh(self): self.unary("sinh", FLOATING, ulps(CLOSE, np.sinh))
    def test_sqrt(self): self.unary("sqrt", FLOATING)
    def test_square(self): self.unary("square", NUMERIC)
    def test_subtract(self): self.binary("subtract", NUMERIC)
    def test_tan(self): self.unary("tan", FLOATING, ulps(CLOSE, np.tan))
    def test_tanh(self): self.unary("tanh", FLOATING, ulps(CLOSE, np.tanh))
    def test_trunc(self): self.unary("trunc", NUMERIC)


# --- the array object ------------------------------------------------------------------------------------------------------

class Operators(Comparison):
    def test_array___abs__(self): self.unary("array.__abs__", NUMERIC, specified=negatable)
    def test_array___add__(self): self.binary("array.__add__", NUMERIC)
    def test_array___and__(self): self.binary("array.__and__", BITS)
    def test_array___eq__(self): self.binary("array.__eq__", ALL)
    def test_array___floordiv__(self): self.binary("array.__floordiv__", NUMERIC, floor_divided, specified=divisible)
    def test_array___ge__(self): self.binary("array.__ge__", NUMERIC)
    def test_array___gt__(self): self.binary("array.__gt__", NUMERIC)
    def test_array___invert__(self): self.unary("array.__invert__", BITS)
    def test_array___le__(self): self.binary("array.__le__", NUMERIC)
    def test_array___lshift__(self): self.binary("array.__lshift__", INTEGER, second=SHIFT)
    def test_array___lt__(self): self.binary("array.__lt__", NUMERIC)
    def test_array___mod__(self): self.binary("array.__mod__", NUMERIC, specified=divisor_is_not_zero)
    def test_array___mul__(self): self.binary("array.__mul__", NUMERIC)
    def test_array___ne__(self): self.binary("array.__ne__", ALL)
    def test_array___neg__(self): self.unary("array.__neg__", NUMERIC, specified=negatable)
    def test_array___or__(self): self.binary("array.__or__", BITS)
    def test_array___pos__(self): self.unary("array.__pos__", NUMERIC)
    def test_array___pow__(self): self.binary("array.__pow__", NUMERIC, power, specified=power_fits, second=EXPONENT)
    def test_array___rshift__(self): self.binary("array.__rshift__", INTEGER, second=SHIFT)
    def test_array___sub__(self): self.binary("array.__sub__", NUMERIC)
    def test_array___truediv__(self): self.binary("array.__truediv__", FLOATING)
    def test_array___xor__(self): self.binary("array.__xor__", BITS)

    def test_array___iadd__(self): self.binary("array.__iadd__", NUMERIC)
    def test_array___iand__(self): self.binary("array.__iand__", BITS)
    def test_array___ifloordiv__(self): self.binary("array.__ifloordiv__", NUMERIC, floor_divided, specified=divisible)
    def test_array___ilshift__(self): self.binary("array.__ilshift__", INTEGER, second=SHIFT)
    def test_array___imod__(self): self.binary("array.__imod__", NUMERIC, specified=divisor_is_not_zero)
    def test_array___imul__(self): self.binary("array.__imul__", NUMERIC)
    def test_array___ior__(self): self.binary("array.__ior__", BITS)
    def test_array___ipow__(self): self.binary("array.__ipow__", NUMERIC, power, specified=power_fits, second=EXPONENT)
    def test_array___irshift__(self): self.binary("array.__irshift__", INTEGER, second=SHIFT)
    def test_array___isub__(self): self.binary("array.__isub__", NUMERIC)
    def test_array___itruediv__(self): self.binary("array.__itruediv__", FLOATING)
    def test_array___ixor__(self): self.binary("array.__ixor__", BITS)

    def test_array___radd__(self): self.binary("array.__radd__", NUMERIC)
    def test_array___rand__(self): self.binary("array.__rand__", BITS)
    def test_array___rfloordiv__(self): self.binary("array.__rfloordiv__", NUMERIC, floor_divided, specified=divisible)
    def test_array___rlshift__(self): self.binary("array.__rlshift__", INTEGER, second=SHIFT)
    def test_array___rmod__(self): self.binary("array.__rmod__", NUMERIC, specified=divisor_is_not_zero)
    def test_array___rmul__(self): self.binary("array.__rmul__", NUMERIC)
    def test_array___ror__(self): self.binary("array.__ror__", BITS)
    def test_array___rpow__(self): self.binary("array.__rpow__", NUMERIC, power, specified=power_fits, second=EXPONENT)
    def test_array___rrshift__(self): self.binary("array.__rrshift__", INTEGER, second=SHIFT)
    def test_array___rsub__(self): self.binary("array.__rsub__", NUMERIC)
    def test_array___rtruediv__(self): self.binary("array.__rtruediv__", FLOATING)
    def test_array___rxor__(self): self.binary("array.__rxor__", BITS)


class ArrayObject(Comparison):
    def test_array_dtype(self): self.unary("array.dtype", ALL)
    def test_array_ndim(self): self.unary("array.ndim", ALL)
    def test_array_shape(self): self.unary("array.shape", ALL)
    def test_array_size(self): self.unary("array.size", ALL)
    def test_array_T(self): self.unary("array.T", ALL, least_rank=2, most_rank=2)
    def test_array_mT(self): self.unary("array.mT", ALL, least_rank=2)
    def test_array___bool__(self): self.unary("array.__bool__", ALL, most_rank=0)
    def test_array___complex__(self): self.unary("array.__complex__", ALL, elements="plain", most_rank=0)
    def test_array___float__(self): self.unary("array.__float__", ALL, most_rank=0)
    def test_array___int__(self): self.unary("array.__int__", ALL, elements="plain", most_rank=0)
    def test_array___index__(self): self.unary("array.__index__", INTEGER, most_rank=0)

    def drawn(self, name, example):
        """The example gets an array of ours and its elements."""
        def with_array(draw):
            values = draw.array(draw.dtype(ALL), draw.shape())
            example(xp.asarray(values), values)
        self.check(name, with_array)

    def test_array_device(self):
        def example(x, values):
            self.assertTrue(x.device == xp.__array_namespace_info__().default_device())
        self.drawn("array.device", example)

    def test_array_to_device(self):
        def example(x, values):
            self.agree("to_device", x.to_device(x.device), strict.asarray(values.copy()))
        self.drawn("array.to_device", example)

    def test_array___array_namespace__(self):
        def example(x, values):
            self.assertIs(x.__array_namespace__(), xp)
            self.assertIs(x.__array_namespace__(api_version=VERSION), xp)
        self.drawn("array.__array_namespace__", example)

    def test_array___dlpack__(self):
        def example(x, values):
            taken = np.from_dlpack(x)
            self.assertEqual((taken.dtype, taken.shape), (values.dtype, values.shape))
            self.assertTrue(exact(taken, values).all())
            for capsule in (x.__dlpack__(), x.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=True)):
                self.assertEqual(type(capsule).__name__, "PyCapsule")
        self.drawn("array.__dlpack__", example)

    def test_array___dlpack_device__(self):
        def example(x, values):
            kind, number = x.__dlpack_device__()
            self.assertEqual((int(kind), number), (1, 0))
        self.drawn("array.__dlpack_device__", example)

    def test_array___getitem__(self):
        def example(draw):
            way = draw.one(("places", "places", "places", "mask", "integers"))
            x = draw.array(draw.dtype(ALL), draw.shape(1 if way == "integers" else 0, least=int(way == "integers")))
            if way == "places":
                key = draw.index(x.shape)
            elif way == "mask":
                key = draw.array("bool", x.shape[:draw.integer(0, x.ndim)])
            else:
                shape, dtype = draw.shape(0, 3), draw.one(INTEGER)
                key = [draw.array("int64", draw.narrower(shape)) % (2 * size) - size for size in x.shape]
                key = [each % size if dtype in UNSIGNED else each for each, size in zip(key, x.shape)]
                key = tuple(int(each.flat[0]) if each.size and draw.chance(0.3) else each.astype(dtype) for each in key)
                if all(isinstance(each, int) for each in key):
                    return
                key = key[0] if len(key) == 1 else key
            self.expect("array.__getitem__", [x, key])
        self.check("array.__getitem__", example, 60)

    def test_array___setitem__(self):
        def example(draw):
            dtype = draw.dtype(ALL)
            x = draw.array(dtype, draw.shape())
            if draw.chance(0.3):
                key = draw.array("bool", x.shape[:draw.integer(0, x.ndim)] if x.ndim else ())
                value = draw.scalar(dtype) if draw.flag() else draw.array(dtype, ())
            else:
                key = draw.index(x.shape, newaxis=False)
                value = draw.scalar(dtype) if draw.chance(0.3) else draw.array(dtype, draw.narrower(x[key].shape))
            self.expect("array.__setitem__", [x, key, value])
        self.check("array.__setitem__", example, 60)


# --- creation and dtypes ---------------------------------------------------------------------------------------------------

DTYPES = tuple(map(np.dtype, ALL))


class Creation(Comparison):
    def created(self, name, rule=exact):
        """Functions of a shape."""
        def example(draw):
            shape = draw.integer(0, 5) if draw.chance(0.2) else draw.shape()
            self.expect(name, [shape], draw.options(dtype=DTYPES, device=(None, DEVICE)), rule)
        self.check(name, example)

    def like(self, name, rule=exact):
        def example(draw):
            x = draw.array(draw.dtype(ALL), draw.shape())
            self.expect(name, [x], draw.options(dtype=DTYPES, device=(None, DEVICE)), rule)
        self.check(name, example)

    def test_empty(self): self.created("empty", rule=anything)
    def test_ones(self): self.created("ones")
    def test_zeros(self): self.created("zeros")
    def test_empty_like(self): self.like("empty_like", anything)
    def test_ones_like(self): self.like("ones_like")
    def test_zeros_like(self): self.like("zeros_like")

    def test_arange(self):
        def example(draw):
            whole = draw.flag()
            numbers = [int(each) if whole else int(each) / 4 for each in draw.random.integers(-12, 13, 3)]
            options = draw.options(dtype=[np.dtype(each) for each in (SIGNED + FLOATING if whole else FLOATING)],
                                   device=(None, DEVICE))
            numbers[2] = numbers[2] or 1
            self.expect("arange", numbers[:draw.integer(1, 3)], options)
        self.check("arange", example)

    def test_asarray(self):
        def example(draw):
            dtype = draw.dtype(ALL)
            if draw.flag():
                x = draw.array(dtype, draw.shape())
                dtypes = [each for each in DTYPES if PROMOTED[dtype, each.name] == each.name]
            else:
                x = draw.array({"b": "bool", "i": "int64", "u": "int64", "f": "float64"}[np.dtype(dtype).kind],
                               draw.shape(0, 3, 1), "small").tolist()
                dtypes = [np.dtype(each) for each in (SIGNED + FLOATING if dtype in INTEGER else
                                                      FLOATING if dtype in FLOATING else BOOLEAN)]
            self.expect("asarray", [x], draw.options(dtype=dtypes, device=(None, DEVICE), copy=(None, True)))
        self.check("asarray", example)

    def test_eye(self):
        def example(draw):
            counts = [draw.integer(0, 6) for _ in range(draw.integer(1, 2))]
            if len(counts) == 1 and draw.flag():
                counts.append(None)
            self.expect("eye", counts, draw.options(k=range(-4, 5), dtype=[np.dtype(each) for each in NUMERIC],
                                                    device=(None, DEVICE)))
        self.check("eye", example)

    def test_from_dlpack(self):
        def example(draw):
            values = draw.array(draw.dtype(ALL), draw.shape())
            x = xp.asarray(values) if draw.flag() else values
            self.agree("from_dlpack", xp.from_dlpack(x, **draw.options(copy=(None, True))), strict.from_dlpack(values.copy()))
        self.check("from_dlpack", example)

    def filled(self, name):
        def example(draw):
            dtype = draw.dtype(ALL)
            kinds = BOOLEAN if dtype == "bool" else INTEGER if dtype in INTEGER else FLOATING
            value = draw.scalar("int8" if dtype in SIGNED else dtype, "any" if dtype in FLOATING else "small")
            options = draw.options(dtype=[np.dtype(each) for each in kinds if each in SIGNED or each not in INTEGER],
                                   device=(None, DEVICE))
            first = draw.array(dtype, draw.shape()) if name == "full_like" else draw.shape()
            self.expect(name, [first, value], options)
        self.check(name, example)

    def test_full(self): self.filled("full")
    def test_full_like(self): self.filled("full_like")

    def test_linspace(self):
        def example(draw):
            start, stop = (draw.scalar("float64", "plain") if draw.flag() else draw.integer(-9, 9) for _ in range(2))
            bound = 4 * max(abs(start), abs(stop))

            def rule(ours, theirs, *arguments):
                return np.abs(ours - theirs) <= bound * np.finfo(theirs.dtype).eps
            self.expect("linspace", [start, stop, draw.integer(0, 40)],
                        draw.options(dtype=[np.dtype(each) for each in FLOATING], endpoint=(True, False), device=(None, DEVICE)), rule)
        self.check("linspace", example)

    def test_meshgrid(self):
        def example(draw):
            dtype = draw.dtype(NUMERIC)
            self.expect("meshgrid", [draw.array(dtype, draw.sizes(1)[:1]) for _ in range(draw.integer(1, 3))],
                        draw.options(indexing=("xy", "ij")))
        self.check("meshgrid", example)

    def triangle(self, name):
        def example(draw):
            self.expect(name, [draw.array(draw.dtype(ALL), draw.shape(2))], draw.options(k=range(-4, 5)))
        self.check(name, example)

    def test_tril(self): self.triangle("tril")
    def test_triu(self): self.triangle("triu")


KINDS = (BOOLEAN, INTEGER, FLOATING)


class DataTypes(Comparison):
    def test_astype(self):
        def example(draw):
            before, after = draw.dtype(ALL), draw.dtype(ALL)
            x = draw.array(before, draw.shape())
            if before in FLOATING and after in INTEGER:  # out of range isn't specified
                limits = np.iinfo(after)
                x = np.nan_to_num(x, nan=-0.75)
                x = np.where((x > max(limits.min, -2.0 ** 62)) & (x < min(limits.max, 2.0 ** 62)), x, 0.75).astype(before)
            options = draw.options(copy=(True, False), device=(None, DEVICE))
            self.expect("astype", [x, np.dtype(after)], options)
            ours = xp.asarray(x)
            self.assertIs(xp.astype(ours, ours.dtype, copy=False), ours)
        self.check("astype", example, 60)

    def test_can_cast(self):
        def example(draw):
            kind = draw.one(KINDS)
            before, after = draw.one(kind), np.dtype(draw.one(kind))
            before = np.dtype(before) if draw.flag() else draw.array(before, draw.shape())
            self.expect("can_cast", [before, after])
        self.check("can_cast", example)

    def limits(self, name, dtypes, attributes):
        def example(draw):
            dtype = draw.dtype(dtypes)
            x = np.dtype(dtype) if draw.flag() else draw.array(dtype, draw.shape())
            ours, theirs = self.both(name, [x], {})
            self.assertTrue(ours.dtype == getattr(xp, dtype))
            for attribute in attributes:
                self.assertEqual(getattr(ours, attribute), getattr(theirs, attribute), attribute)
        self.check(name, example)

    def test_finfo(self): self.limits("finfo", FLOATING, ("bits", "eps", "max", "min", "smallest_normal"))
    def test_iinfo(self): self.limits("iinfo", INTEGER, ("bits", "max", "min"))

    def test_isdtype(self):
        kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")

        def example(draw):
            asked = [draw.one((*kinds, *DTYPES)) for _ in range(draw.integer(1, 3))]
            self.expect("isdtype", [draw.one(DTYPES), asked[0] if len(asked) == 1 else tuple(asked)])
        self.check("isdtype", example, 100)

    def test_result_type(self):
        def example(draw):
            first = draw.dtype(ALL)
            dtypes = [first, *(draw.one([each for each in ALL if PROMOTED[first, each]]) for _ in range(draw.integer(0, 2)))]
            if promoted(*dtypes) is None:
                return
            arguments = [np.dtype(each) if draw.flag() else draw.array(each, draw.shape(0, 2)) for each in dtypes]
            arguments += [draw.scalar(first, "small") for _ in range(draw.one((0, 0, 1, 2)))]
            if all(not isinstance(each, int) or each >= 0 or promoted(*dtypes) in SIGNED + FLOATING for each in arguments):
                self.expect("result_type", [arguments[place] for place in draw.random.permutation(len(arguments))])
        self.check("result_type", example)


class Inspection(Comparison):
    def test___array_namespace_info__(self):
        def example(draw):
            self.assertIsNotNone(xp.__array_namespace_info__())
        self.check("__array_namespace_info__", example, 1)

    def test_info_capabilities(self):
        def example(draw):
            found = xp.__array_namespace_info__().capabilities()
            self.assertIs(type(found["boolean indexing"]), bool)
            self.assertIs(type(found["data-dependent shapes"]), bool)
            self.assertTrue(found["max dimensions"] is None or found["max dimensions"] >= 5)
        self.check("info.capabilities", example, 1)

    def test_info_default_device(self):
        def example(draw):
            info = xp.__array_namespace_info__()
            self.assertTrue(xp.zeros(3).device == info.default_device())
        self.check("info.default_device", example, 1)

    def test_info_devices(self):
        def example(draw):
            info = xp.__array_namespace_info__()
            self.assertIn(info.default_device(), info.devices())
        self.check("info.devices", example, 1)

    def test_info_default_dtypes(self):
        def example(draw):
            options = draw.options(device=(None, DEVICE))
            ours, theirs = self.both("info.default_dtypes", [], options)
            for kind, dtype in theirs.items():
                if kind != "complex floating":
                    self.assertTrue(ours[kind] == getattr(xp, name_of(dtype)), kind)
        self.check("info.default_dtypes", example)

    def test_info_dtypes(self):
        kinds = ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric")

        def example(draw):
            options = draw.options(device=(None, DEVICE), kind=(None, *kinds, ("bool", "integral"), ("real floating",), ()))
            ours, theirs = ({name: dtype for name, dtype in found.items() if name not in COMPLEX}
                            for found in self.both("info.dtypes", [], options))
            self.assertEqual(set(ours), set(theirs), options)
            for name, dtype in ours.items():
                self.assertTrue(dtype == getattr(xp, name), name)
        self.check("info.dtypes", example)


# --- shapes and places -----------------------------------------------------------------------------------------------------

class Manipulation(Comparison):
    def with_array(self, name, arguments, ranks=(0, 5), least=0):
        """The function of an array and what the arguments, of the draw and the array, are; options are their last dictionary."""
        def example(draw):
            x = draw.array(draw.dtype(ALL), draw.shape(*ranks, least))
            further = arguments(draw, x)
            options = further.pop() if further and isinstance(further[-1], dict) else {}
            self.expect(name, [x, *further], options)
        self.check(name, example)

    def test_broadcast_arrays(self):
        def example(draw):
            self.expect("broadcast_arrays", [draw.array(draw.dtype(ALL), shape) for shape in draw.shapes(draw.integer(1, 3))])
        self.check("broadcast_arrays", example)

    def test_broadcast_to(self):
        def example(draw):
            shape = draw.shape()
            self.expect("broadcast_to", [draw.array(draw.dtype(ALL), draw.narrower(shape)), shape])
        self.check("broadcast_to", example)

    def test_concat(self):
        def example(draw):
            shape = draw.shape(1)
            axis = draw.one((None, *range(-len(shape), len(shape))))
            first = draw.dtype(ALL)
            arrays = []
            for _ in range(draw.integer(1, 3)):
                sizes = list(draw.shape() if axis is None else shape)
                if axis is not None:
                    sizes[axis] = int(draw.random.integers(0, 4))
                dtype = draw.one([each for each in ALL if PROMOTED[first, each] == first])
                arrays.append(draw.array(dtype if arrays else first, tuple(sizes)))
            options = {} if axis == 0 and draw.flag() else {"axis": axis}
            self.expect("concat", [arrays if draw.flag() else tuple(arrays)], options)
        self.check("concat", example)

    def test_expand_dims(self): self.with_array("expand_dims", lambda draw, x: [{"axis": draw.axis(x.ndim + 1)}])
    def test_flip(self): self.with_array("flip", lambda draw, x: [{"axis": draw.axes(x.ndim)} if draw.flag() else {}])

    def test_moveaxis(self):
        def arguments(draw, x):
            count = draw.integer(1, x.ndim)
            source, destination = (tuple(int(axis) - x.ndim * draw.chance(0.3) for axis in draw.random.permutation(x.ndim)[:count])
                                   for _ in range(2))
            return [source[0], destination[0]] if count == 1 and draw.flag() else [source, destination]
        self.with_array("moveaxis", arguments, (1, 5))

    def test_permute_dims(self):
        self.with_array("permute_dims", lambda draw, x: [tuple(map(int, draw.random.permutation(x.ndim)))])

    def test_repeat(self):
        def arguments(draw, x):
            axis = draw.one((None, *range(-x.ndim, x.ndim)))
            size = x.size if axis is None else x.shape[axis]
            counts = draw.random.integers(0, 4, draw.one((size, 1))).astype(draw.one(("int64", "int32", "uint8")))
            return [draw.integer(0, 3) if draw.flag() else counts, {} if axis is None and draw.flag() else {"axis": axis}]
        self.with_array("repeat", arguments, (0, 4))

    def test_reshape(self):
        def arguments(draw, x):
            sizes = [x.shape[axis] for axis in draw.random.permutation(x.ndim)]
            while len(sizes) > 1 and draw.chance(0.4):
                sizes[-2:] = [sizes[-2] * sizes[-1]]
            sizes.insert(draw.integer(0, len(sizes)), 1)
            if x.size and draw.flag():
                sizes[draw.integer(0, len(sizes) - 1)] = -1
            shape = () if x.size == 1 and draw.flag() else tuple(sizes)
            return [shape, draw.options(copy=(None, True))]
        self.with_array("reshape", arguments)

    def test_roll(self):
        def arguments(draw, x):
            axis = draw.axes(x.ndim)
            shift = draw.integer(-7, 7)
            if isinstance(axis, tuple) and draw.flag():
                shift = tuple(draw.integer(-7, 7) for _ in axis)
            return [shift, {} if axis is None and draw.flag() else {"axis": axis}]
        self.with_array("roll", arguments)

    def test_squeeze(self):
        def example(draw):
            sizes = list(draw.shape(1))
            axes = draw.axes(len(sizes)) or 0
            for axis in axes if isinstance(axes, tuple) else (axes,):
                sizes[axis] = 1
            self.expect("squeeze", [draw.array(draw.dtype(ALL), tuple(sizes)), axes])
        self.check("squeeze", example)

    def test_stack(self):
        def example(draw):
            shape, first = draw.shape(0, 4), draw.dtype(ALL)
            dtypes = [first, *(draw.one([each for each in ALL if PROMOTED[first, each] == first]) for _ in range(draw.integer(0, 2)))]
            arrays = [draw.array(dtype, shape) for dtype in dtypes]
            self.expect("stack", [arrays if draw.flag() else tuple(arrays)], {"axis": draw.axis(len(shape) + 1)} if draw.flag() else {})
        self.check("stack", example)

    def test_tile(self):
        self.with_array("tile", lambda draw, x: [tuple(draw.integer(0, 3) for _ in range(draw.integer(0, 4)))], (0, 3))

    def test_unstack(self):
        self.with_array("unstack", lambda draw, x: [{"axis": draw.axis(x.ndim)} if draw.flag() else {}], (1, 4))


class IndexingAndSearching(Comparison):
    def test_take(self):
        def example(draw):
            x = draw.array(draw.dtype(ALL), draw.shape(1, least=1))
            axis = draw.axis(x.ndim)
            dtype, size = draw.one(("int64", "int64", "int32", "uint8")), x.shape[axis]
            indices = draw.random.integers(0 if dtype == "uint8" else -size, size, draw.integer(0, 6)).astype(dtype)
            self.expect("take", [x, indices], {} if x.ndim == 1 and draw.flag() else {"axis": axis})
        self.check("take", example)

    def test_take_along_axis(self):
        def example(draw):
            x = draw.array(draw.dtype(ALL), draw.shape(1, least=1))
            axis = draw.axis(x.ndim)
            sizes = [1 if draw.chance(0.2) else size for size in x.shape]
            sizes[axis] = draw.integer(0, 4)
            indices = draw.laid_out(draw.random.integers(-x.shape[axis], x.shape[axis], sizes).astype(draw.one(("int64", "int32"))))
            self.expect("take_along_axis", [x, indices], {} if axis == -1 and draw.flag() else {"axis": axis})
        self.check("take_along_axis", example)

    def place_of_extreme(self, name):
        def example(draw):
            x = draw.array(draw.dtype(NUMERIC), draw.shape(least=1), draw.one(("ordered", "small", "finite")))
            axis = draw.one((None, *range(-x.ndim, x.ndim)))
            self.expect(name, [x], ({} if axis is None and draw.flag() else {"axis": axis}) | draw.options(keepdims=(True, False)))
        self.check(name, example)

    def test_argmax(self): self.place_of_extreme("argmax")
    def test_argmin(self): self.place_of_extreme("argmin")

    def test_count_nonzero(self):
        def example(draw):
            x = draw.array(draw.dtype(ALL), draw.shape())
            self.expect("count_nonzero", [x], {"axis": draw.axes(x.ndim)} | draw.options(keepdims=(True, False)))
        self.check("count_nonzero", example)

    def test_nonzero(self): self.unary("nonzero", ALL, least_rank=1)

    def test_searchsorted(self):
        def example(draw):
            first, second = draw.dtypes(NUMERIC)
            elements = draw.one(("small", "ordered"))
            x1, x2 = draw.array(first, draw.sizes(1), elements), draw.array(second, draw.shape(0, 4), elements)
            options = draw.options(side=("left", "right"))
            if draw.flag():
                x1 = np.sort(x1)
            else:
                options["sorter"] = np.argsort(x1, kind="stable").astype(draw.one(("int64", "int32")))
            self.expect("searchsorted", [x1, x2], options)
        self.check("searchsorted", example)

    def test_where(self):
        def example(draw):
            first, second = draw.dtypes(ALL)
            shapes = draw.shapes(3)
            x1, x2 = draw.array(first, shapes[1]), draw.array(second, shapes[2])
            if draw.chance(0.3):
                x1, x2 = draw.one(((x1, draw.scalar(first)), (draw.scalar(second), x2)))
            self.expect("where", [draw.array("bool", shapes[0]), x1, x2])
        self.check("where", example)

    def unique(self, name, fields):
        """Their order isn't specified, nor which zero stands for both, so that the parts are checked against one another."""
        def example(draw):
            x = draw.array(draw.dtype(ALL), draw.shape(0, 4))
            ours, theirs = self.both(name, [x], {})
            if fields:
                self.assertEqual(ours._fields, theirs._fields)
            else:
                ours, theirs = (ours,), (theirs,)
            call = self.described(name, [x], {})
            parts = {}
            for field, our, their in zip(("values", *fields), ours, theirs):
                self.assertEqual(tuple(our.shape), their.shape, f"{field} of {call}")
                parts[field] = self.is_array(f"{field} of {call}", our, x.dtype.name if field == "values" else "int64", their.shape)
            values = parts["values"]
            self.assertTrue(equal(np.sort(values), np.sort(np.asarray(theirs[0]))).all(), f"{call} has the values {values}")
            if "indices" in parts:
                flat = x.reshape(-1)
                self.assertTrue(equal(flat[parts["indices"]], values).all(), call)
                first = [np.flatnonzero(flat == value)[0] for value in values if value == value]
                self.assertEqual(parts["indices"][~is_nan(values)].tolist(), first, f"first occurrences: {call}")
                self.assertEqual(len(set(parts["indices"].tolist())), values.size, call)
            if "inverse_indices" in parts:
                self.assertTrue(equal(values[parts["inverse_indices"]], x).all(), f"inverse indices of {call}")
            if "counts" in parts:
                counts = [np.count_nonzero(x == value) if value == value else 1 for value in values]
                self.assertEqual(parts["counts"].tolist(), counts, f"counts of {call}")
        self.check(name, example)

    def test_unique_all(self): self.unique("unique_all", ("indices", "inverse_indices", "counts"))
    def test_unique_counts(self): self.unique("unique_counts", ("counts",))
    def test_unique_inverse(self): self.unique("unique_inverse", ("inverse_indices",))
    def test_unique_values(self): self.unique("unique_values", ())

    def sorted(self, name, elements):
        def example(draw):
            x = draw.array(draw.dtype(NUMERIC), draw.shape(1), draw.one(elements))
            options = draw.options(descending=(True, False), stable=(True, False), axis=range(-x.ndim, x.ndim))
            if name == "sort" or options.get("stable", True):
                self.expect(name, [x], options, equal)
            else:  # equal elements may come in any order
                ours, theirs = self.both(name, [x], options)
                places = self.is_array(self.described(name, [x], options), ours, "int64", x.shape)
                axis = options.get("axis", -1)
                for indices in (places, np.asarray(theirs)):
                    self.assertTrue((np.sort(indices, axis) == np.sort(np.argsort(x, axis), axis)).all(), "each place once")
                found, right = (np.take_along_axis(x, indices, axis) for indices in (places, np.asarray(theirs)))
                self.assertTrue(equal(found, right).all(), self.described(name, [x], options))
        self.check(name, example)

    def test_argsort(self): self.sorted("argsort", ("ordered", "small"))
    def test_sort(self): self.sorted("sort", ("ordered", "small", "finite"))


# --- statistics ------------------------------------------------------------------------------------------------------------

def count_of(shape, axis):
    """How many elements a reduction over the axis puts together."""
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(shape[each] for each in axes)


def wide(x, dtype=None):
    return np.asarray(x).astype(dtype or x.dtype).astype(wider(np.dtype(dtype or x.dtype)))


class Statistics(Comparison):
    def reduced(self, name, dtypes, rule, elements="any", least=0, converts=False, options=lambda draw, x: {}):
        """Rule, of the options, the array and the result's dtype, gives the rule of comparison."""
        def example(draw):
            x = draw.array(draw.dtype(dtypes), draw.shape(least=least), elements)
            axis = draw.axes(x.ndim)
            named = ({} if axis is None and draw.flag() else {"axis": axis}) | draw.options(keepdims=(True, False)) | options(draw, x)
            if converts and draw.chance(0.4):
                named["dtype"] = np.dtype(draw.one(next(kind for kind in (SIGNED, UNSIGNED, FLOATING) if x.dtype.name in kind)))
            where = {"axis": axis, "keepdims": named.get("keepdims", False)}

            def ruled(ours, theirs, *arguments):
                return rule(x, theirs.dtype, where, named)(ours, theirs)
            self.expect(name, [x], named, ruled)
        self.check(name, example)

    def test_max(self): self.reduced("max", NUMERIC, lambda *call: equal, least=1)
    def test_min(self): self.reduced("min", NUMERIC, lambda *call: equal, least=1)
    def test_all(self): self.reduced("all", ALL, lambda *call: equal)
    def test_any(self): self.reduced("any", ALL, lambda *call: equal)

    def test_sum(self):
        def rule(x, dtype, where, options):
            if dtype.kind != "f":
                return exact
            x = wide(x, dtype)
            finite = np.where(np.isfinite(x), np.abs(x), 0)
            return within(np.sum(x, **where), count_of(x.shape, where["axis"]) * np.finfo(dtype).eps * np.sum(finite, **where))
        self.reduced("sum", NUMERIC, rule, "moderate", converts=True)

    def test_prod(self):
        def rule(x, dtype, where, options):
            if dtype.kind != "f":
                return exact
            right = np.prod(wide(x, dtype), **where)
            return within(right, count_of(x.shape, where["axis"]) * np.finfo(dtype).eps * np.abs(right))
        self.reduced("prod", NUMERIC, rule, "factors", converts=True)

    def test_mean(self):
        def rule(x, dtype, where, options):
            x = wide(x)
            finite = np.where(np.isfinite(x), np.abs(x), 0)
            count = count_of(x.shape, where["axis"])
            return within(np.mean(x, **where), (count + 2) * np.finfo(dtype).eps * np.sum(finite, **where) / max(count, 1))
        self.reduced("mean", FLOATING, rule, "moderate")

    def spread(self, name):
        def options(draw, x):
            return draw.options(correction=(0, 1, 1.0, 0.5, -1, 2))

        def rule(x, dtype, where, options):
            count = count_of(x.shape, where["axis"])
            divisor = count - options.get("correction", 0)
            if divisor <= 0:  # NaN by the standard, at times infinite by NumPy
                return lambda ours, theirs: ~np.isfinite(ours)
            if not count:
                return anything
            x = wide(x)
            squares = np.sum((x - np.mean(x, axis=where["axis"], keepdims=True)) ** 2, **where)
            finite = np.where(np.isfinite(x), x, 0)
            bound = (count + 4) * np.finfo(dtype).eps * np.sum(finite ** 2, **where) / divisor
            right = within(squares / divisor, 2 * bound)
            return right if name == "var" else lambda ours, theirs: right(ours.astype(x.dtype) ** 2, theirs) & ~(ours < 0)
        self.reduced(name, FLOATING, rule, "moderate", options=options)

    def test_std(self): self.spread("std")
    def test_var(self): self.spread("var")

    def cumulative(self, name, accumulate, elements):
        def example(draw):
            x = draw.array(draw.dtype(NUMERIC), draw.shape(1), elements)
            axis = draw.axis(x.ndim)
            options = ({} if x.ndim == 1 and draw.flag() else {"axis": axis}) | draw.options(include_initial=(True, False))
            if draw.chance(0.4):
                options["dtype"] = np.dtype(draw.one(next(kind for kind in (SIGNED, UNSIGNED, FLOATING) if x.dtype.name in kind)))

            def rule(ours, theirs, *arguments):
                if theirs.dtype.kind != "f":
                    return exact(ours, theirs)
                terms = wide(x, theirs.dtype)
                if options.get("include_initial"):
                    edge = [(each == axis % x.ndim, 0) for each in range(x.ndim)]
                    terms = np.pad(terms, edge, constant_values=accumulate.identity)
                bound = accumulate.accumulate(np.where(np.isfinite(terms), np.abs(terms), 0), axis)
                return within(accumulate.accumulate(terms, axis), x.shape[axis] * np.finfo(theirs.dtype).eps * bound)(ours, theirs)
            self.expect(name, [x], options, rule)
        self.check(name, example)

    def test_cumulative_sum(self): self.cumulative("cumulative_sum", np.add, "moderate")
    def test_cumulative_prod(self): self.cumulative("cumulative_prod", np.multiply, "factors")

    def test_diff(self):
        def example(draw):
            x = draw.array(draw.dtype(NUMERIC), draw.shape(1))
            axis = draw.axis(x.ndim)
            ends = {}
            for end in ("prepend", "append"):
                if draw.chance(0.3):
                    sizes = list(x.shape)
                    sizes[axis] = draw.integer(0, 3)
                    ends[end] = draw.array(x.dtype.name, tuple(sizes))
            most = x.shape[axis] + sum(each.shape[axis] for each in ends.values())
            if most:
                options = {"n": draw.integer(1, min(most, 3))} if draw.flag() else {}
                self.expect("diff", [x], ({} if axis == -1 and draw.flag() else {"axis": axis}) | options | ends)
        self.check("diff", example)


# --- linear algebra --------------------------------------------------------------------------------------------------------

def epsilon(dtype):
    return np.finfo(dtype).eps


def product_rule(multiply, terms):
    """Sums of products: exact for integers; else within the usual bound, of what multiply makes of absolute values."""
    def rule(ours, theirs, x1, x2):
        if theirs.dtype.kind != "f":
            return exact(ours, theirs)
        x1, x2 = wide(x1, theirs.dtype), wide(x2, theirs.dtype)
        sizes = [np.where(np.isfinite(x), np.abs(x), 0) for x in (x1, x2)]
        zero1, zero2, wild1, wild2 = (np.asarray(each, float) for each in (x1 == 0, x2 == 0, ~np.isfinite(x1), ~np.isfinite(x2)))
        skipped = multiply(zero1, wild2) + multiply(wild1, zero2) > 0  # libraries of linear algebra may leave out zeros
        return skipped | within(multiply(x1, x2), (terms + 1) * epsilon(theirs.dtype) * multiply(*sizes))(ours, theirs)
    return rule


class Products(Comparison):
    """The functions that stand in the namespace and in the extension, and the operators."""

    def matrix_product(self, name):
        def example(draw):
            first, second = draw.one(often_floating(tuple(pair for pair in pairs(NUMERIC)
                                                         if not is_in_place(name) or PROMOTED[pair] == pair[0])))
            batch1, batch2 = (shape[:3] for shape in draw.shapes(2))
            rows, inner, columns = (draw.sizes(1)[0] for _ in range(3))
            kind = draw.one(("matrices", "matrices", "matrices", "vector first", "vector second", "vectors"))
            if is_in_place(name):
                batch2, columns, kind = (), inner, "matrices"
            shape1 = (inner,) if kind in ("vector first", "vectors") else (*np.broadcast_shapes(batch1)[:2], rows, inner)
            shape2 = (inner,) if kind in ("vector second", "vectors") else (*batch2[-2:], inner, columns)
            try:
                np.broadcast_shapes(shape1[:-2], shape2[:-2])
            except ValueError:
                shape2 = shape2[-2:]
            x1, x2 = draw.array(first, shape1, "moderate"), draw.array(second, shape2, "moderate")
            self.expect(name, [x2, x1] if is_reflected(name) else [x1, x2], rule=product_rule(np.matmul, inner))
        self.check(name, example)

    def test_matmul(self): self.matrix_product("matmul")
    def test_linalg_matmul(self): self.matrix_product("linalg.matmul")
    def test_array___matmul__(self): self.matrix_product("array.__matmul__")
    def test_array___rmatmul__(self): self.matrix_product("array.__rmatmul__")
    def test_array___imatmul__(self): self.matrix_product("array.__imatmul__")
    def test_matrix_transpose(self): self.unary("matrix_transpose", ALL, least_rank=2)
    def test_linalg_matrix_transpose(self): self.unary("linalg.matrix_transpose", ALL, least_rank=2)

    def tensor_product(self, name):
        def example(draw):
            first, second = draw.dtypes(NUMERIC)
            count = draw.integer(0, 2)
            shared = draw.shape(count, count)
            shape1, shape2 = draw.shape(0, 2) + shared, shared + draw.shape(0, 2)
            axes = count
            x1, x2 = draw.array(first, shape1, "moderate"), draw.array(second, shape2, "moderate")
            if draw.flag():
                order1, order2 = draw.random.permutation(x1.ndim), draw.random.permutation(x2.ndim)
                x1, x2 = np.transpose(x1, order1), np.transpose(x2, order2)
                axes = ([order1.tolist().index(axis) for axis in range(x1.ndim - count, x1.ndim)],
                        [order2.tolist().index(axis) - x2.ndim * draw.chance(0.3) for axis in range(count)])
                axes = tuple(map(tuple, axes)) if draw.flag() else axes
            rule = product_rule(lambda a, b: np.tensordot(a, b, axes), math.prod(shared))
            self.expect(name, [x1, x2], {} if axes == 2 and draw.flag() else {"axes": axes}, rule)
        self.check(name, example)

    def test_tensordot(self): self.tensor_product("tensordot")
    def test_linalg_tensordot(self): self.tensor_product("linalg.tensordot")

    def vector_product(self, name):
        def example(draw):
            first, second = draw.dtypes(NUMERIC)
            shapes = [list(shape) for shape in draw.shapes(2)]
            axis = -draw.integer(1, min(map(len, shapes))) if min(map(len, shapes)) else None
            if axis is None:
                shapes, axis = [[3], [3]], -1
            size = draw.sizes(1)[0]
            for shape in shapes:
                shape[axis] = size
            x1, x2 = (draw.array(dtype, tuple(shape), "moderate") for dtype, shape in zip((first, second), shapes))
            rule = product_rule(lambda a, b: np.sum(a * b, axis=axis), size)
            self.expect(name, [x1, x2], {} if axis == -1 and draw.flag() else {"axis": axis}, rule)
        self.check(name, example)

    def test_vecdot(self): self.vector_product("vecdot")
    def test_linalg_vecdot(self): self.vector_product("linalg.vecdot")


def transposed(x):
    return np.swapaxes(x, -1, -2)


def size_of(x):
    """The Frobenius norm of each matrix, to be compared with its elements."""
    return np.sqrt(np.sum(np.asarray(x, np.float64) ** 2, axis=(-2, -1), keepdims=True))


class LinearAlgebra(Comparison):
    def matrices(self, draw, square=True, elements="plain"):
        """A stack of matrices, whose sizes are 1 to 4 and rarely up to 12."""
        batch = draw.shape(0, 2)
        rows = draw.integer(1, 12 if draw.chance(0.15) else 4)
        columns = rows if square else draw.integer(1, 6)
        return draw.array(draw.one(FLOATING), (*(min(size, 4) for size in batch), rows, columns), elements)

    def computed(self, name, arguments, options=None):
        """Ours as arrays of NumPy, with dtypes and shapes compared."""
        ours, theirs = self.both(name, arguments, options or {})
        self.agree(self.described(name, arguments, options or {}), ours, theirs, anything)
        return [np.asarray(each) for each in ours] if isinstance(ours, tuple) else np.asarray(ours)

    def near(self, name, left, right, scale, dtype, factor=20):
        """Scale is what the difference is compared with, times a multiple of the dtype's epsilon."""
        wrong = np.abs(np.asarray(left, np.float64) - right) > factor * epsilon(dtype) * scale + np.finfo(dtype).smallest_normal
        self.assertFalse(wrong.any(), f"{name}: {np.asarray(left).tolist()} instead of {np.asarray(right).tolist()}")

    def orthonormal(self, name, x):
        wide = x.astype(np.float64)
        self.near(f"{name}: columns are orthonormal", transposed(wide) @ wide, np.eye(x.shape[-1]), x.shape[-2], x.dtype)

    def test_linalg_cholesky(self):
        def example(draw):
            x = self.matrices(draw)
            x = (x @ transposed(x) + np.eye(x.shape[-1], dtype=x.dtype)).astype(x.dtype)
            options = draw.options(upper=(True, False))
            factor = self.computed("linalg.cholesky", [x], options).astype(np.float64)
            factor = transposed(factor) if options.get("upper") else factor
            self.assertTrue((np.triu(factor, 1) == 0).all(), "triangular")
            self.assertTrue((np.diagonal(factor, axis1=-2, axis2=-1) > 0).all(), "a positive diagonal")
            self.near("product of factors", factor @ transposed(factor), x, x.shape[-1] * size_of(x), x.dtype)
        self.check("linalg.cholesky", example)

    def test_linalg_cross(self):
        def example(draw):
            first, second = draw.dtypes(NUMERIC)
            shapes = [list(shape) for shape in draw.shapes(2)]
            axis = -draw.integer(1, min(map(len, shapes))) if min(map(len, shapes)) else None
            if axis is None:
                shapes, axis = [[3], [3]], -1
            for shape in shapes:
                shape[axis] = 3
            x1, x2 = (draw.array(dtype, tuple(shape), "plain") for dtype, shape in zip((first, second), shapes))

            def rule(ours, theirs, *arguments):
                if theirs.dtype.kind != "f":
                    return exact(ours, theirs)
                (a, b, c), (d, e, f) = (np.moveaxis(np.broadcast_to(wide(x, theirs.dtype), theirs.shape), axis, 0) for x in (x1, x2))
                right = np.stack([b * f - c * e, c * d - a * f, a * e - b * d], axis)
                bound = np.stack([abs(b * f) + abs(c * e), abs(c * d) + abs(a * f), abs(a * e) + abs(b * d)], axis)
                return within(right, 3 * epsilon(theirs.dtype) * bound)(ours, theirs)
            self.expect("linalg.cross", [x1, x2], {} if axis == -1 and draw.flag() else {"axis": axis}, rule)
        self.check("linalg.cross", example)

    def test_linalg_det(self):
        def example(draw):
            x = self.matrices(draw)
            right = np.linalg.det(x.astype(np.float64))
            bound = np.prod(np.sqrt(np.sum(x.astype(np.float64) ** 2, axis=-1)), axis=-1)
            self.near("linalg.det", self.computed("linalg.det", [x]), right, x.shape[-1] ** 2 * bound, x.dtype)
        self.check("linalg.det", example)

    def test_linalg_slogdet(self):
        def example(draw):
            x = self.matrices(draw)
            if draw.chance(0.2):
                x = np.zeros_like(x)
            sign, logarithm = self.computed("linalg.slogdet", [x])
            self.assertTrue(np.isin(sign, (-1, 0, 1)).all(), sign)
            self.assertTrue(((sign == 0) == (logarithm == -np.inf)).all(), (sign, logarithm))
            right = np.linalg.det(x.astype(np.float64))
            bound = np.prod(np.sqrt(np.sum(x.astype(np.float64) ** 2, axis=-1)), axis=-1)
            self.near("linalg.slogdet", sign * np.exp(logarithm.astype(np.float64)), right,
                      x.shape[-1] ** 2 * bound + np.abs(right * np.log(np.abs(right) + (right == 0))), x.dtype)
        self.check("linalg.slogdet", example)

    def test_linalg_diagonal(self):
        def example(draw):
            self.expect("linalg.diagonal", [draw.array(draw.dtype(ALL), draw.shape(2))], draw.options(offset=range(-3, 4)))
        self.check("linalg.diagonal", example)

    def symmetric(self, draw):
        x = self.matrices(draw)
        return (x + transposed(x)) / 2

    def test_linalg_eigh(self):
        def example(draw):
            x = self.symmetric(draw)
            values, vectors = self.computed("linalg.eigh", [x])
            self.orthonormal("linalg.eigh", vectors)
            wide = vectors.astype(np.float64)
            self.near("x v = v w", x.astype(np.float64) @ wide, wide * values[..., None, :], x.shape[-1] * size_of(x), x.dtype)
        self.check("linalg.eigh", example)

    def test_linalg_eigvalsh(self):
        def example(draw):
            x = self.symmetric(draw)
            right = np.linalg.eigvalsh(x.astype(np.float64))
            self.near("linalg.eigvalsh", np.sort(self.computed("linalg.eigvalsh", [x]), -1), right,
                      x.shape[-1] * size_of(x)[..., 0], x.dtype)
        self.check("linalg.eigvalsh", example)

    def test_linalg_inv(self):
        def example(draw):
            x = self.matrices(draw, elements="normal")
            x = x + np.eye(x.shape[-1], dtype=x.dtype) * x.dtype.type(draw.one((0, 8)))
            found = self.computed("linalg.inv", [x]).astype(np.float64)
            self.near("x times its inverse", x.astype(np.float64) @ found, np.eye(x.shape[-1]),
                      x.shape[-1] * size_of(x) * size_of(found), x.dtype)
        self.check("linalg.inv", example)

    def test_linalg_matrix_norm(self):
        def example(draw):
            x = self.matrices(draw, square=False)
            options = draw.options(ord=("fro", "nuc", 1, 2, np.inf, -1, -2, -np.inf), keepdims=(True, False))
            right = np.linalg.norm(x.astype(np.float64), axis=(-2, -1), **({"ord": "fro"} | options))
            scale = size_of(x).reshape(right.shape) * max(x.shape[-2:])
            self.near("linalg.matrix_norm", self.computed("linalg.matrix_norm", [x], options), right, scale, x.dtype)
        self.check("linalg.matrix_norm", example)

    def test_linalg_matrix_power(self):
        def example(draw):
            x = self.matrices(draw, elements="normal")
            power = draw.integer(-3, 5)
            found = self.computed("linalg.matrix_power", [x, power]).astype(np.float64)
            plain = np.linalg.matrix_power(x.astype(np.float64), abs(power))
            scale = max(abs(power), 1) * x.shape[-1] ** 2 * np.maximum(size_of(x), 1e-300) ** abs(power)
            if power >= 0:
                self.near("linalg.matrix_power", found, plain, scale, x.dtype)
            else:
                condition = np.linalg.cond(x.astype(np.float64))[..., None, None] ** abs(power)
                self.near("inverse power times power", found @ plain, np.eye(x.shape[-1]), x.shape[-1] ** 2 * condition, x.dtype)
        self.check("linalg.matrix_power", example)

    def of_known_rank(self, draw):
        """Matrices with one element in some rows and columns, whose singular values these are."""
        x = self.matrices(draw, square=False)
        for place in np.ndindex(x.shape[:-2]):
            x[place] = 0
            rows, columns = (draw.random.permutation(size) for size in x.shape[-2:])
            for row, column in zip(rows, columns):
                x[place][row, column] = draw.random.choice([0, 2, -1, 0.0078125])
        return x

    def tolerance(self, draw, x):
        if draw.flag():
            return {}
        return {"rtol": draw.one((0.25, 0.001)) if draw.flag() else np.asarray(draw.random.choice([0.25, 0.001], x.shape[:-2]), x.dtype)}

    def test_linalg_matrix_rank(self):
        def example(draw):
            x = self.of_known_rank(draw)
            self.expect("linalg.matrix_rank", [x], self.tolerance(draw, x))
        self.check("linalg.matrix_rank", example)

    def test_linalg_outer(self):
        def example(draw):
            first, second = draw.dtypes(NUMERIC)
            self.expect("linalg.outer", [draw.array(first, draw.sizes(1)), draw.array(second, draw.sizes(1))])
        self.check("linalg.outer", example)

    def test_linalg_pinv(self):
        def example(draw):
            x = self.matrices(draw, square=False) if draw.flag() else self.of_known_rank(draw)
            options = self.tolerance(draw, x) if draw.flag() else {}
            right = np.linalg.pinv(x.astype(np.float64), options.get("rtol", max(x.shape[-2:]) * epsilon(x.dtype)))
            found = self.computed("linalg.pinv", [x], options)
            self.near("linalg.pinv", found, right, max(x.shape[-2:]) * size_of(x) * np.maximum(size_of(right), 1e-300) ** 2, x.dtype)
        self.check("linalg.pinv", example)

    def test_linalg_qr(self):
        def example(draw):
            x = self.matrices(draw, square=False)
            Q, R = self.computed("linalg.qr", [x], draw.options(mode=("reduced", "complete")))
            self.orthonormal("linalg.qr", Q)
            self.assertTrue((np.tril(R, -1) == 0).all(), "triangular")
            self.near("Q R = x", Q.astype(np.float64) @ R, x, max(x.shape[-2:]) * size_of(x), x.dtype)
        self.check("linalg.qr", example)

    def test_linalg_solve(self):
        def example(draw):
            x1 = self.matrices(draw, elements="normal")
            x1 = x1 + np.eye(x1.shape[-1], dtype=x1.dtype) * x1.dtype.type(draw.one((0, 8)))
            batch = draw.narrower(x1.shape[:-2]) if draw.flag() else x1.shape[:-2]
            shape = x1.shape[-1:] if draw.chance(0.3) else (*batch, x1.shape[-1], draw.sizes(1, 1)[0])
            x2 = draw.array(draw.one(FLOATING), shape, "plain")
            found = self.computed("linalg.solve", [x1, x2])
            dtype = found.dtype
            found, right, matrix = (each.astype(np.float64) for each in (found, x2, x1))
            found, right = (each[..., None] if len(shape) == 1 else each for each in (found, right))
            scale = x1.shape[-1] * (size_of(matrix) * size_of(found) + size_of(right))
            self.near("x1 times the solution", matrix @ found, np.broadcast_to(right, found.shape), scale, dtype)
        self.check("linalg.solve", example)

    def test_linalg_svd(self):
        def example(draw):
            x = self.matrices(draw, square=False)
            U, S, Vh = self.computed("linalg.svd", [x], draw.options(full_matrices=(True, False)))
            self.orthonormal("linalg.svd: U", U)
            self.orthonormal("linalg.svd: V", transposed(Vh))
            self.assertTrue((S >= 0).all() and (np.diff(S) <= 0).all(), "singular values descend")
            count = S.shape[-1]
            self.near("U S Vh = x", (U[..., :count].astype(np.float64) * S[..., None, :]) @ Vh[..., :count, :], x,
                      max(x.shape[-2:]) * size_of(x), x.dtype)
        self.check("linalg.svd", example)

    def test_linalg_svdvals(self):
        def example(draw):
            x = self.matrices(draw, square=False)
            right = np.linalg.svd(x.astype(np.float64), compute_uv=False)
            self.near("linalg.svdvals", self.computed("linalg.svdvals", [x]), right, max(x.shape[-2:]) * size_of(x)[..., 0], x.dtype)
        self.check("linalg.svdvals", example)

    def test_linalg_trace(self):
        def example(draw):
            x = draw.array(draw.dtype(NUMERIC), draw.shape(2), "plain")
            options = draw.options(offset=range(-3, 4), dtype=[np.dtype(each) for each in next(
                kind for kind in (SIGNED, UNSIGNED, FLOATING) if x.dtype.name in kind)])

            def rule(ours, theirs, *arguments):
                if theirs.dtype.kind != "f":
                    return exact(ours, theirs)
                diagonal = np.diagonal(wide(x, theirs.dtype), options.get("offset", 0), -2, -1)
                return within(diagonal.sum(-1), x.shape[-1] * epsilon(theirs.dtype) * np.abs(diagonal).sum(-1))(ours, theirs)
            self.expect("linalg.trace", [x], options, rule)
        self.check("linalg.trace", example)

    def test_linalg_vector_norm(self):
        def example(draw):
            x = draw.array(draw.one(FLOATING), draw.shape(least=1), "factors")
            options = {"axis": draw.axes(x.ndim)} | draw.options(keepdims=(True, False), ord=(0, 1, 2, 3, -1, -2, 2.5, np.inf, -np.inf))
            where = {"axis": options["axis"], "keepdims": options.get("keepdims", False)}
            sizes, order = np.abs(x.astype(np.float64)), options.get("ord", 2)
            if math.isinf(order):
                right = (np.max if order > 0 else np.min)(sizes, **where)
            else:
                right = np.sum(sizes != 0, **where) if order == 0 else np.sum(sizes ** order, **where) ** (1 / order)
            found = self.computed("linalg.vector_norm", [x], options)
            self.near("linalg.vector_norm", found, right, (count_of(x.shape, options["axis"]) + 4) * right, x.dtype, 2)
        self.check("linalg.vector_norm", example)


# --- Fourier transforms ----------------------------------------------------------------------------------------------------

class Fourier(Comparison):
    def transform(self, name, dtypes, several=False):
        def example(draw):
            x = draw.array(draw.dtype(dtypes), draw.shape(1, 3, 2), "plain")
            options = draw.options(norm=("backward", "ortho", "forward"))
            if several:
                axes = tuple(map(int, draw.random.permutation(x.ndim)[:draw.integer(1, x.ndim)]))
                options |= {"axes": axes} | draw.options(s=[tuple(draw.integer(2, 6) for _ in axes)])
            else:
                options |= draw.options(axis=range(-x.ndim, x.ndim), n=(2, 3, 4, 7))
            bound = 10 * epsilon(x.dtype) * np.sum(np.abs(x)) * (1 + max(x.shape))

            def rule(ours, theirs, *arguments):
                return np.abs(ours - theirs) <= bound
            self.expect(name, [x], options, rule)
        self.check(name, example)

    def test_fft_fft(self): self.transform("fft.fft", COMPLEX)
    def test_fft_ifft(self): self.transform("fft.ifft", COMPLEX)
    def test_fft_fftn(self): self.transform("fft.fftn", COMPLEX, several=True)
    def test_fft_ifftn(self): self.transform("fft.ifftn", COMPLEX, several=True)
    def test_fft_rfft(self): self.transform("fft.rfft", FLOATING)
    def test_fft_irfft(self): self.transform("fft.irfft", COMPLEX)
    def test_fft_rfftn(self): self.transform("fft.rfftn", FLOATING, several=True)
    def test_fft_irfftn(self): self.transform("fft.irfftn", COMPLEX, several=True)
    def test_fft_hfft(self): self.transform("fft.hfft", COMPLEX)
    def test_fft_ihfft(self): self.transform("fft.ihfft", FLOATING)

    def frequencies(self, name):
        def example(draw):
            self.expect(name, [draw.integer(1, 20)], draw.options(d=(1.0, 0.25, 3.0), device=(None, DEVICE)),
                        lambda ours, theirs, *arguments: np.abs(ours - theirs) <= 4 * epsilon(theirs.dtype) * np.abs(theirs))
        self.check(name, example)

    def test_fft_fftfreq(self): self.frequencies("fft.fftfreq")
    def test_fft_rfftfreq(self): self.frequencies("fft.rfftfreq")

    def shifted(self, name):
        def example(draw):
            x = draw.array(draw.one(FLOATING + COMPLEX), draw.shape(1, 3))
            self.expect(name, [x], {"axes": draw.axes(x.ndim)})
        self.check(name, example)

    def test_fft_fftshift(self): self.shifted("fft.fftshift")
    def test_fft_ifftshift(self): self.shifted("fft.ifftshift")


# --- what has to be rejected -----------------------------------------------------------------------------------------------

MISTAKES = (TypeError, ValueError, IndexError)
ARITHMETIC = ("add", "subtract", "multiply", "floor_divide", "remainder", "pow", "maximum", "minimum", "equal", "not_equal",
              "less", "less_equal", "greater", "greater_equal")
OF_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
OF_NUMBERS = tuple(f"array.__{name}__" for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"))
IN_PLACE = tuple(f"array.__i{name}__" for name in ("add", "sub", "mul", "floordiv", "mod", "pow"))
OF_SQUARES = tuple(f"linalg.{name}" for name in ("cholesky", "det", "eigh", "eigvalsh", "inv", "slogdet"))
REDUCTIONS = ("all", "any", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var", "argmax", "argmin")


def ones(*shape, dtype="float64"):
    return np.ones(shape, dtype)


class Rejections(unittest.TestCase):
    """Arguments that array-api-strict doesn't take are rejected by the call, not when a lazy result is evaluated."""

    def rejects(self, name, *arguments, **options):
        if name in DIFFERENCES["missing"] or name.partition(".")[0] in DIFFERENCES["extensions"]:
            return
        with self.subTest(name=name, arguments=repr(arguments), options=repr(options)):
            with self.assertRaises(Exception):
                called(strict, name, arguments, options)
            with self.assertRaises(MISTAKES), np.errstate(all="ignore"):
                called(xp, name, arguments, options)

    def test_dtypes_without_promotion(self):
        for name in ARITHMETIC + OF_NUMBERS + IN_PLACE:
            self.rejects(name, ones(2, dtype="int32"), ones(2, dtype="float32"))
            self.rejects(name, ones(2, dtype="float64"), ones(2, dtype="int8"))
            self.rejects(name, ones(2, dtype="int64"), ones(2, dtype="uint64"))
            self.rejects(name, ones(2, dtype="bool"), ones(2, dtype="int8"))
        for name in OF_BITS:
            self.rejects(name, ones(2, dtype="bool"), ones(2, dtype="int8"))
        self.rejects("where", ones(2, dtype="bool"), ones(2, dtype="int32"), ones(2, dtype="float32"))
        self.rejects("concat", [ones(2, dtype="int32"), ones(2, dtype="float32")])
        self.rejects("stack", [ones(2, dtype="int32"), ones(2, dtype="float32")])
        self.rejects("result_type", np.dtype("int32"), np.dtype("float32"))
        self.rejects("meshgrid", ones(2, dtype="int32"), ones(2, dtype="float32"))

    def test_results_that_do_not_fit_in_place(self):
        for name in IN_PLACE:
            self.rejects(name, ones(2, dtype="int8"), ones(2, dtype="int16"))
            self.rejects(name, ones(2, dtype="float32"), ones(2, dtype="float64"))

    def test_scalars_of_another_kind(self):
        for name in ARITHMETIC + OF_NUMBERS:
            self.rejects(name, ones(2, dtype="int32"), 1.5)
            self.rejects(name, ones(2, dtype="bool"), 1)
        for name in ARITHMETIC:
            self.rejects(name, 1, 2)
            self.rejects(name, 1.5, ones(2, dtype="int32"))
        self.rejects("where", ones(2, dtype="bool"), ones(2, dtype="int32"), 1.5)
        self.rejects("clip", ones(2, dtype="int32"), 0.5)
        self.rejects("add", ones(2, dtype="float32"), "one")

    def test_axes_out_of_range(self):
        x = ones(2, 3)
        for axis in (2, -3):
            for name in REDUCTIONS + ("cumulative_sum", "cumulative_prod", "sort", "argsort", "flip", "unstack", "diff",
                                      "squeeze", "linalg.vector_norm"):
                self.rejects(name, x, axis=axis)
            self.rejects("roll", x, 1, axis=axis)
            self.rejects("repeat", x, 2, axis=axis)
            self.rejects("moveaxis", x, 0, axis)
            self.rejects("take", x, ones(1, dtype="int64"), axis=axis)
            self.rejects("take_along_axis", x, ones(1, 1, dtype="int64"), axis=axis)
            self.rejects("concat", [x, x], axis=axis)
        for axis in (3, -4):
            self.rejects("expand_dims", x, axis=axis)
            self.rejects("stack", [x, x], axis=axis)
        self.rejects("vecdot", x, x, axis=-3)
        self.rejects("linalg.cross", ones(3), ones(3), axis=-2)

    def test_axes_that_are_not_distinct(self):
        for name in ("sum", "max", "all", "flip", "count_nonzero"):
            self.rejects(name, ones(2, 3), axis=(0, 0))
            self.rejects(name, ones(2, 3), axis=(1, -1))
        self.rejects("permute_dims", ones(2, 3), (0, 0))
        self.rejects("permute_dims", ones(2, 3), (0,))
        self.rejects("moveaxis", ones(2, 3), (0, 0), (0, 1))
        self.rejects("moveaxis", ones(2, 3), (0, 1), (0,))

    def test_shapes_that_do_not_broadcast(self):
        for name in ARITHMETIC + OF_NUMBERS + IN_PLACE + ("divide", "atan2", "copysign", "broadcast_arrays", "array.__truediv__"):
            self.rejects(name, ones(2, 3), ones(2, 4))
        for name in IN_PLACE:
            self.rejects(name, ones(3), ones(2, 3))
            self.rejects(name, ones(1, 3), ones(2, 3))
        self.rejects("where", ones(2, dtype="bool"), ones(3), ones(3))
        self.rejects("clip", ones(2), ones(3), ones(3))
        for shape in ((4,), (3, 2), (), (0,), (2,)):
            self.rejects("broadcast_to", ones(3), shape)
        self.rejects("array.__setitem__", ones(3), slice(None), ones(2))

    def test_shapes_that_do_not_match(self):
        for name in ("matmul", "array.__matmul__", "linalg.matmul"):
            self.rejects(name, ones(2, 3), ones(2, 3))
            self.rejects(name, ones(3), ones(2))
            self.rejects(name, ones(), ones(3))
            self.rejects(name, ones(2, 2, 3), ones(3, 3, 2))
        self.rejects("vecdot", ones(3), ones(2))
        self.rejects("tensordot", ones(2, 3), ones(3, 2))
        self.rejects("tensordot", ones(2, 3), ones(2, 3), axes=((0, 1), (0,)))
        self.rejects("concat", [ones(2, 3), ones(2, 4)])
        self.rejects("concat", [ones(2, 3), ones(2)])
        self.rejects("stack", [ones(2, 3), ones(2, 4)])
        self.rejects("reshape", ones(2, 3), (4,))
        self.rejects("reshape", ones(2, 3), (-1, -1))
        self.rejects("reshape", ones(2, 3), (4, -1))
        self.rejects("squeeze", ones(2, 3), axis=0)
        for name in OF_SQUARES:
            self.rejects(name, ones(2, 3))
            self.rejects(name, ones(3))
        self.rejects("linalg.matrix_power", ones(2, 3), 2)
        self.rejects("linalg.solve", ones(2, 2), ones(3))
        self.rejects("linalg.cross", ones(2), ones(2))

    def test_ranks(self):
        self.rejects("nonzero", ones())
        self.rejects("matrix_transpose", ones(3))
        self.rejects("array.mT", ones(3))
        self.rejects("array.T", ones(2, 3, 4))
        self.rejects("array.T", ones(3))
        self.rejects("tril", ones(3))
        self.rejects("triu", ones(3))
        self.rejects("take", ones(2, 3), ones(1, dtype="int64"))
        self.rejects("cumulative_sum", ones(2, 3))
        self.rejects("cumulative_prod", ones(2, 3))
        self.rejects("linalg.outer", ones(2, 2), ones(2))
        self.rejects("linalg.matrix_rank", ones(3))
        for name in ("array.__bool__", "array.__float__", "array.__int__", "array.__index__", "array.__complex__"):
            self.rejects(name, ones(2, dtype="int64"))
        self.rejects("array.__index__", ones())

    def test_indices(self):
        for key in (2, -3, (0, 3), (0, 0, 0), (..., 0, ...), 0.5, "a", ones(3, dtype="bool"), ones(2, 2, dtype="bool"),
                    (ones(1), ones(1)), (slice(None), slice(None), slice(None))):
            self.rejects("array.__getitem__", ones(2, 3), key)
        for key in ((2, 0), (0, -4), (0, 0, 0), (0.5, 0), ones(3, dtype="bool")):
            self.rejects("array.__setitem__", ones(2, 3), key, 1.0)

    def test_values_of_keywords(self):
        self.rejects("meshgrid", ones(2), ones(2), indexing="ji")
        self.rejects("searchsorted", ones(2), ones(2), side="middle")
        self.rejects("linspace", 0.0, 1.0, -1)
        self.rejects("linalg.qr", ones(2, 2), mode="neither")
        self.rejects("isdtype", np.dtype("int8"), "numbers")
        self.rejects("zeros", (2, -1))
        self.rejects("asarray", [1, 2], copy=False)
        with self.assertRaises(MISTAKES):
            xp.asarray(ones(2)).__array_namespace__(api_version="1999.12")


if __name__ == "__main__":
    unittest.main()
