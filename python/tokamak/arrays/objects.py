"""Objects of Python beside arrays that captured functions read and change: which are looked into, and what tells calls with them apart.

    constants = Constants()
    key = constants.key(model)          # equal for calls that are captured alike; doesn't keep the model alive
"""

import array
import collections.abc
import functools
import io
import os
import random
import sys
import types as python_types
import warnings
import weakref
import zlib

import numpy as np

from .array import Array

CONTAINERS = (list, dict, set, bytearray, collections.deque, array.array)
FUNCTIONS = (python_types.FunctionType, python_types.BuiltinFunctionType, type, python_types.ModuleType)
_SMALL = 1 << 16  # bytes of arrays of NumPy that are compared rather than taken for what they were
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ())) - {"__main__"}
_LIBRARIES = _STANDARD | {"numpy", "scipy", "pandas", "pyarrow", "tokamak"}


def is_library(name):
    """Whether a module of this name is Python's or one whose objects hold nothing that captured functions change."""
    return (name or "").partition(".")[0] in _LIBRARIES


@functools.lru_cache(maxsize=4096)
def is_installed(name):
    """The same of functions and classes: also what others wrote, which is in a folder of packages."""
    top = (name or "").partition(".")[0]
    path = getattr(sys.modules.get(top), "__file__", None) or ""
    return is_library(top) or any(f"{os.sep}{folder}{os.sep}" in path for folder in ("site-packages", "dist-packages"))


def attributes_of(thing):
    """(name, value) of what an object of a class of users holds; None: it is another object."""
    kind = type(thing)
    if is_library(kind.__module__) and kind is not python_types.SimpleNamespace or isinstance(thing, FUNCTIONS):
        return None
    slots = [name for each in kind.__mro__ for name in _names(each.__dict__.get("__slots__", ()))]
    own = getattr(thing, "__dict__", None)
    if own is None and not slots:
        return None
    held = [(name, getattr(thing, name)) for name in slots if name not in ("__dict__", "__weakref__") and hasattr(thing, name)]
    return [*held, *(own or {}).items()]


def _names(slots):
    return (slots,) if isinstance(slots, str) else slots


class Identity:
    """Tells one object from all others, without keeping it alive if it can be referred to weakly."""

    def __init__(self, thing):
        self._number = id(thing)
        try:
            self.reference = weakref.ref(thing)
        except TypeError:
            self.reference = lambda: thing

    def __hash__(self):
        return self._number

    def __eq__(self, other):
        thing = self.reference()
        return isinstance(other, Identity) and thing is not None and other.reference() is thing


class Constants:
    """Keys of what isn't an input of a captured function: of one call."""

    def __init__(self):
        self.identities, self._seen = [], {}

    def key(self, thing):
        kind = thing.__class__
        if kind in (int, bool, str, bytes) or thing is None:
            return kind, thing
        if isinstance(thing, (float, complex, np.generic)):
            return kind, repr(thing)
        if isinstance(thing, Array):
            return Array, thing._node
        if id(thing) in self._seen:
            return "again", self._seen[id(thing)]
        self._seen[id(thing)] = len(self._seen)
        if isinstance(thing, np.ndarray):
            same = thing.tobytes() if thing.nbytes <= _SMALL and not thing.dtype.hasobject else self._identity(thing)
            return kind, same, thing.dtype.str, thing.shape
        if isinstance(thing, python_types.MethodType):
            return kind, thing.__func__, self.key(thing.__self__)
        if isinstance(thing, functools.partial):
            return kind, self.key(thing.func), self.key(thing.args), self.key(thing.keywords)
        attributes = attributes_of(thing)
        attributes = () if attributes is None else tuple((name, self.key(each)) for name, each in attributes)
        if isinstance(thing, dict):
            return kind, tuple((self.key(name), self.key(each)) for name, each in thing.items()), attributes
        if isinstance(thing, (set, frozenset)):
            return kind, frozenset(map(self.key, thing)), attributes
        if isinstance(thing, (tuple, *CONTAINERS)):
            return kind, tuple(map(self.key, thing)), attributes
        return kind, self._itself(thing), attributes

    def _itself(self, thing):
        """What compares as its class wants, if that compares."""
        if isinstance(thing, FUNCTIONS):
            return thing
        try:
            hash(thing)
        except TypeError:
            return self._identity(thing)
        return self._identity(thing) if type(thing).__eq__ is object.__eq__ else thing

    def _identity(self, thing):
        made = Identity(thing)
        self.identities.append(made)
        return made


#===- what functions change ------------------------------------------------------------------------------------------===

class Surroundings:
    """What functions can reach beside arrays, as it is now: containers, objects of classes of users, cells of small arrays of NumPy,
    iterators, generators of random numbers, and globals.

        surroundings = Surroundings(body)
        body()
        surroundings.change()            # what has changed, in words, or None
        surroundings.restore()           # False: not all of it

    `has_iterators`: variables are iterators, which nothing sets back."""

    def __init__(self, *functions):
        self._kept, self._seen = [], {}
        self._variables = {id(cell) for function in functions for cell in function.__closure__ or ()}  # of the captured function
        self._waiting = [content for function in functions for content in _contents(function)]
        self._names = {id(_content(cell)): name for function in functions
                       for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ())}
        self._near = {id(each) for each in self._waiting if isinstance(each, collections.abc.Iterator) and not isinstance(each, io.IOBase)}
        for function in functions:
            self._look_at_code(function.__code__, function.__globals__)
        while self._waiting:
            thing = self._waiting.pop()
            if thing.__class__ not in _PLAIN and id(thing) not in self._seen:
                self._seen[id(thing)] = thing
                self._look_at(thing)

    @property
    def has_iterators(self):
        return bool(self._near)

    def change(self):
        for thing, before, state, _ in self._kept:
            if not _is_same(before, state()):
                kind = type(thing).__name__
                is_object = attributes_of(thing) is not None
                what = f"an object of {kind}" if is_object else "an array of NumPy" if isinstance(thing, np.ndarray) else f"a {kind}"
                return f"variable {self._names[id(thing)]!r}, {what}" if id(thing) in self._names else what
        return None

    def restore(self):
        is_whole = True
        for _, before, state, put in self._kept:
            if not _is_same(before, state()):
                if put is None:
                    is_whole = False
                else:
                    put(before)
        return is_whole

    def _keep(self, thing, state, put):
        self._kept.append((thing, state(), state, put))

    def _look_at(self, thing):
        if isinstance(thing, python_types.FunctionType):
            if not is_installed(thing.__module__):
                for cell in thing.__closure__ or ():
                    if id(cell) not in self._variables:
                        self._keep_cell(thing, cell)
                self._waiting += _contents(thing)
                self._look_at_code(thing.__code__, thing.__globals__)
            return
        if isinstance(thing, (python_types.MethodType, python_types.BuiltinMethodType)):
            self._waiting += [thing.__self__, *([thing.__func__] if isinstance(thing, python_types.MethodType) else [])]
            return
        if isinstance(thing, functools.partial):
            self._waiting += [thing.func, *thing.args, *thing.keywords.values()]
            return
        if isinstance(thing, type):
            if not is_installed(thing.__module__):
                self._look_at_class(thing)
            return
        if isinstance(thing, np.ndarray):
            self._look_at_cells(thing)
        elif isinstance(thing, dict):
            self._keep(thing, lambda: list(thing.items()), lambda items: (thing.clear(), thing.update(items)))
            self._waiting += [*thing.keys(), *thing.values()]
        elif isinstance(thing, set):
            self._keep(thing, lambda: set(thing), lambda parts: (thing.clear(), thing.update(parts)))
            self._waiting += thing
        elif isinstance(thing, (list, bytearray, array.array)):
            self._keep(thing, lambda: thing[:], lambda parts: thing.__setitem__(slice(None), parts))
        elif isinstance(thing, collections.deque):
            self._keep(thing, lambda: list(thing), lambda parts: (thing.clear(), thing.extend(parts)))
        elif isinstance(thing, np.random.Generator):
            self._waiting.append(thing.bit_generator)
        elif isinstance(thing, np.random.BitGenerator):
            drawn = thing.state
            self._keep(thing, lambda: repr(thing.state), lambda _: setattr(thing, "state", drawn))
        elif isinstance(thing, np.random.RandomState):
            taken = thing.get_state()
            self._keep(thing, lambda: repr(thing.get_state()), lambda _: thing.set_state(taken))
        elif isinstance(thing, random.Random):
            self._keep(thing, thing.getstate, thing.setstate)
        elif isinstance(thing, python_types.GeneratorType):
            self._keep(thing, lambda: thing.gi_frame and [thing.gi_frame.f_lasti, *thing.gi_frame.f_locals.values()], None)
        elif isinstance(thing, collections.abc.Iterator):
            self._keep(thing, lambda: _place_of(thing, id(thing) in self._near), None)
        if isinstance(thing, (list, tuple, frozenset, collections.deque)):
            self._waiting += thing
        wrapped = getattr(thing, "__dict__", {}).get("__wrapped__")  # of what decorators made
        if wrapped is not None:
            self._waiting.append(wrapped)
        self._look_at_attributes(thing)

    def _look_at_attributes(self, thing):
        attributes = attributes_of(thing)
        if attributes is None:
            return
        self._keep(thing, lambda: attributes_of(thing), lambda before: _set_attributes(thing, before))
        self._waiting += [type(thing), *(value for _, value in attributes)]

    def _look_at_class(self, kind):
        def own():
            return [(name, each) for name, each in vars(kind).items() if not name.startswith("__")]
        self._keep(kind, own, lambda before: _set_attributes(kind, before, own()))
        self._waiting += [*kind.__bases__, *(getattr(each, "fget", None) or getattr(each, "__func__", None) or each for _, each in own())]

    def _look_at_cells(self, thing):
        if thing.dtype.hasobject:
            self._keep(thing, lambda: list(thing.flat), lambda parts: thing.flat.__setitem__(slice(None), parts))
            self._waiting += list(thing.flat)
        elif thing.nbytes <= _SMALL:
            self._keep(thing, thing.tobytes, lambda cells: thing.__setitem__(..., np.frombuffer(cells, thing.dtype).reshape(thing.shape)))
        else:
            self._keep(thing, lambda: zlib.crc32(np.ascontiguousarray(thing).data.cast("B")), None)

    def _keep_cell(self, function, cell):
        def put(before):
            cell.cell_contents, = before
        self._keep(function, lambda: [_content(cell)], put)

    def _look_at_code(self, code, names):
        """Globals that it names, and of modules what it names of them."""
        used = set(_names_in(code))
        found = [(name, names[name]) for name in used if name in names]
        self._keep(_Globals(), lambda: [(name, names[name]) for name, _ in found if name in names], names.update)
        for _, each in found:
            self._waiting += self._parts_of(each, used)

    def _parts_of(self, thing, used, depth=2):
        if not isinstance(thing, python_types.ModuleType):
            return [thing]
        if not depth:
            return []
        parts = [vars(thing)[name] for name in used if name in vars(thing)]
        return [part for each in parts for part in self._parts_of(each, used, depth - 1)]


_PLAIN = frozenset((int, float, bool, str, bytes, complex, type(None), slice, range, Array))


class _Globals:
    """Stands for them where they are named."""


_Globals.__name__ = "global variable"


def _contents(function):
    return [content for content in map(_content, function.__closure__ or ()) if content is not None]


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # a variable without a value
        return None


def _names_in(code):
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, python_types.CodeType):
            yield from _names_in(each)


def _set_attributes(thing, before, now=None):
    now = attributes_of(thing) if now is None else now
    for name in dict(now).keys() - dict(before).keys():
        delattr(thing, name)
    for name, value in before:
        if dict(now).get(name, thing) is not value:
            object.__setattr__(thing, name, value) if not isinstance(thing, type) else setattr(thing, name, value)


def _place_of(iterator, is_near):
    """What tells how far an iterator is, where it says so; one that is a variable and doesn't is never the same."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return repr(iterator.__reduce__()[1:])
    except Exception:  # of any class: then nothing is known
        return object() if is_near else None


def _is_same(one, other):
    """Parts are compared as objects, and numbers and texts by what they are."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, set):
        return {id(each) for each in one} == {id(each) for each in other} or one == other
    if isinstance(one, (bytes, bytearray, array.array, str, int, bool)):
        return one == other
    return isinstance(one, float) and repr(one) == repr(other)
