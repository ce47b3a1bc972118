"""@jit: a function of arrays as one compiled program, with its loops and branches.

    @tk.jit
    def root(x):
        y = x
        while abs(y * y - x) > 1e-12:
            y = (y + x / y) / 2
        return y

    root(tk.asarray(2.0))
"""

import copy
import dis
import functools
import inspect
import os
import threading
import traceback
import types as python_types
import warnings
from collections import OrderedDict

import numpy as np

from .. import _native, _process
from .._convert import cells_of
from . import capture, changes, graph, types
from .array import Array
from .graph import CaptureError
from .objects import CONTAINERS, Constants

_MOST_TRACES = 256
_programs = OrderedDict()  # model -> function, for traces whose shapes differ
_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: _lock._at_fork_reinit())


def jit(function=None, /, *, static=()):
    """Compiles a function of arrays: the first call for arguments of other types, shapes or constants captures what it does with
    them, and later ones run the program that was made.

    Arrays and floats are inputs of the program. Integers, bools, texts and None are constants, and so are arguments that `static`
    names, and objects with what their attributes hold: calls with others capture anew. Lists, tuples and dicts may hold all of these,
    as arguments and as results. Globals and variables of an enclosing function are what they are when the function is captured.

    `if`, `while`, `for` over a range or an array, break, continue and return become part of the program where they depend on arrays;
    other loops are written out, and so is one over unrolled(...). What can't be captured raises CaptureError, which names the line.
    What a function does beside computing, such as print, happens when it is captured."""
    if function is None:
        return functools.partial(jit, static=static)
    return Jit(function, (static,) if isinstance(static, str) else tuple(static))


class Jit(_native.TracedCall):
    """A function that is compiled when it is called."""

    def __init__(self, function, static):
        functools.update_wrapper(self, function)
        self._function, self._static = function, static
        self._captured = self._reason = None
        self._traces, self._lock = OrderedDict(), threading.RLock()
        self._signature = inspect.signature(function) if static else None

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def _call(self, *arguments, **options):
        """Of calls that are like no other one yet."""
        generation = _native.generation_of_traced_calls()
        call = self._bound(arguments, options)
        if any(isinstance(leaf, Array) and leaf._node.is_traced for leaf in call.leaves):
            given, named = call.rebuilt(lambda leaf: Array(leaf._node) if isinstance(leaf, Array) else leaf)  # no argument is changed
            return self._traced_function()(*given, **named)
        trace, values = self._found(call)
        if trace.function and not self._static:
            self._remember(generation, arguments, options, trace.function, trace.taken, [node.value for node in trace.constants],
                           None if trace.results is None else trace.result)
        return trace.call(values)

    def __reduce__(self):
        return self.__qualname__  # as functions are: copies are the same one, and a pickle has its name

    def explain(self, *arguments, show="fusion", **options):
        """What the function becomes for these arguments; it is compiled anew and run for that. show: one or several of program,
        image, fusion, schedule, loops, llvm, asm, with commas between."""
        from .._program import Explanation

        trace, values = self._found(self._bound(arguments, options))
        return Explanation(trace.explanation(show, values))

    def traces(self):
        """How often the function was captured."""
        return len(self._traces)

    def _bound(self, arguments, options):
        if not self._static:
            return _Call(arguments, options, [False] * len(arguments), ())
        bound = self._signature.bind(*arguments, **options)
        names = []
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [name] * len(bound.arguments.get(name, ()))
            else:
                names.append(name)
        return _Call(bound.args, bound.kwargs, [name in self._static for name in names[:len(bound.args)]], self._static)

    def _found(self, call):
        values = [leaf._cells() if isinstance(leaf, Array) else leaf if leaf.__class__ is np.ndarray else cells_of(leaf)
                  for leaf in call.leaves]
        key = (call.structure, *[(value.dtype, value.shape) for value in values])
        trace = self._traces.get(key)
        if trace is None:
            with self._lock:
                trace = self._traces[key] = self._trace(call, values)
                for other, each in list(self._traces.items()):
                    if any(identity.reference() is None for identity in each.identities):
                        del self._traces[other]
                if len(self._traces) > _MOST_TRACES:
                    self._traces.popitem(last=False)
        return trace, values

    def _traced_function(self):
        if self._captured is None:
            self._captured, self._reason = capture.captured(self._function)
            if self._reason and _has_loop(self._function):
                warnings.warn(f"{self._function.__qualname__}: each step of its loops becomes a part of the program of its own: "
                              f"{self._reason}", RuntimeWarning, stacklevel=5)
        return self._captured

    def _trace(self, call, values):
        function = self._traced_function()
        placeholders = [graph.placeholder(types.checked(value.dtype), value.shape, is_weak=leaf.__class__ is float)
                        for leaf, value in zip(call.leaves, values)]
        inputs = iter(placeholders)
        try:
            with changes.Capture():
                given, named = call.rebuilt(lambda leaf: Array(next(inputs)))
                results = function(*given, **named)
            return _Trace(placeholders, results, call.identities)
        except CaptureError as error:
            place = self._place(error)
            raise CaptureError(f"{place}{error}") from None

    def _called(self):
        return getattr(self._function, "__qualname__", None) or repr(self._function)

    def _place(self, error):
        """The line of the function that could not be captured, with its text."""
        if self._reason:
            return f"{self._called()}: its loops and branches are not captured: {self._reason}\n"
        code = self._traced_function().__code__
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == code.co_filename]
        if not frames:
            return f"{self._called()}: "
        frame = frames[-1]
        return f"{frame.filename}:{frame.lineno}: in {self._function.__name__}: {frame.line}\n"


def _has_loop(function):
    return (isinstance(function, python_types.FunctionType) and function.__name__ != "<lambda>" and
            any(each.opname == "FOR_ITER" for each in dis.get_instructions(function)))


def _is_leaf(thing):
    return isinstance(thing, (Array, np.ndarray, float, np.floating))


class _Call:
    """The arguments of a call: arrays among them, and what else decides what is captured."""

    def __init__(self, arguments, options, is_static, static):
        self.arguments, self.options, self.is_static, self.static = arguments, options, is_static, static
        self.leaves, constants = [], Constants()

        def key(thing, is_static):
            return constants.key(thing) if is_static else _flat(thing, self.leaves.append, constants)
        positional = tuple(map(key, arguments, is_static))
        named = tuple((name, key(each, name in static)) for name, each in options.items())
        self.structure, self.identities = (_process.threads(), positional, named), constants.identities

    def rebuilt(self, take):
        """(positional arguments, named ones) with what `take` makes of each array."""
        given = [each if is_static else _rebuilt(each, take) for each, is_static in zip(self.arguments, self.is_static)]
        return given, {name: each if name in self.static else _rebuilt(each, take) for name, each in self.options.items()}


def _is_container(kind):
    return kind in (tuple, list, dict) or issubclass(kind, tuple) and hasattr(kind, "_fields")


def _flat(thing, add, constants):
    """What is left of arguments without their arrays, to tell calls apart."""
    kind = thing.__class__
    if _is_leaf(thing):
        add(thing)
        return float if kind is float else None
    if not _is_container(kind):
        return constants.key(thing)
    if kind is dict:
        return (dict, *[(constants.key(name), _flat(each, add, constants)) for name, each in thing.items()])
    return (kind, *[_flat(each, add, constants) for each in thing])


def _rebuilt(thing, take):
    kind = thing.__class__
    if _is_leaf(thing):
        return take(thing)
    if not _is_container(kind):
        return thing
    if kind is dict:
        return {name: _rebuilt(each, take) for name, each in thing.items()}
    parts = [_rebuilt(each, take) for each in thing]
    return kind(parts) if kind in (tuple, list) else kind(*parts)


class _Trace:
    """A function as it is for arguments of certain types and shapes."""

    def __init__(self, placeholders, results, identities):
        self.identities, self.outputs = identities, []
        self.results = _results(results, self.outputs)
        own = set(placeholders)
        targets = list(dict.fromkeys(self.outputs))
        order, outside = graph.ordered(targets, lambda node: node.value is not None or node.op == "input")
        order.sort(key=graph.serial_of)
        if any(node.op == "input" and node not in own for node in outside):
            raise CaptureError("a value of a loop or branch is used outside of it: assign it to a variable that the loop carries, or "
                               "write the loop out with unrolled(...)")
        self.constants = [node for node in outside if node.value is not None]
        used = set(outside)
        self.taken = [i for i, node in enumerate(placeholders) if node in used]
        self.count = len(targets)
        self.places = [targets.index(node) for node in self.outputs]
        self.model = graph.model_of(order, [*(placeholders[i] for i in self.taken), *self.constants], targets) if targets else None
        self.function = _function(self.model) if targets else None
        del self.outputs

    def arguments(self, values):
        return [*[values[i] for i in self.taken], *[node.value for node in self.constants]]

    def call(self, values):
        return self.result(self.function(*self.arguments(values)) if self.function else ())

    def result(self, found):
        """Of what the program gives."""
        if self.count == 1:
            found = (found,)
        if self.results is None:  # one array
            return Array(graph.leaf(np.asarray(found[0])))
        arrays = iter([Array(graph.leaf(np.asarray(found[place]))) for place in self.places])
        return _filled_in(self.results, arrays)

    def explanation(self, show, values):
        if self.model is None:
            return "nothing is computed\n"
        return graph.compiled(self.model).explanation(show, *self.arguments(values))


def _function(content):
    key = _process.threads(), content
    with _lock:
        found = _programs.get(key)
    if found is None:
        found = graph.compiled(content)
    with _lock:
        _programs[key] = found
        _programs.move_to_end(key)
        if len(_programs) > _MOST_TRACES:
            _programs.popitem(last=False)
    return found


_ARRAY = object()


def _results(thing, outputs):
    """The structure of results with _ARRAY for each array that is computed; None: it is one array."""
    def structure(each):
        if isinstance(each, Array) and (each._node.is_traced or each._node.value is None):
            outputs.append(each._node)
            return _ARRAY
        if each.__class__ in (tuple, list):
            return each.__class__(map(structure, each))
        if isinstance(each, tuple):  # with names
            return type(each)(*map(structure, each))
        if each.__class__ is dict:
            return {name: structure(value) for name, value in each.items()}
        return each
    made = structure(thing)
    return None if made is _ARRAY else made


def _filled_in(structure, arrays):
    """For each call anew: who changes a result changes no other call's."""
    if structure is _ARRAY:
        return next(arrays)
    if structure.__class__ in (tuple, list):
        return structure.__class__([_filled_in(each, arrays) for each in structure])
    if isinstance(structure, tuple):
        return type(structure)(*[_filled_in(each, arrays) for each in structure])
    if structure.__class__ is dict:
        return {name: _filled_in(each, arrays) for name, each in structure.items()}
    return copy.copy(structure) if isinstance(structure, (Array, np.ndarray, *CONTAINERS)) else structure
