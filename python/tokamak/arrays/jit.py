"""@jit: a function of arrays as one compiled program, with its loops and branches.

    @tk.jit
    def root(x):
        y = x
        while abs(y * y - x) > 1e-12:
            y = (y + x / y) / 2
        return y

    root(tk.asarray(2.0))
"""

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
from . import capture, graph, types
from .array import Array
from .control import array_of
from .graph import CaptureError

_MOST_TRACES = 256
_programs = OrderedDict()  # model -> function, for traces whose shapes differ
_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: _lock._at_fork_reinit())


def jit(function=None, /, *, static=()):
    """Compiles a function of arrays: the first call for arguments of other types, shapes or constants captures what it does with
    them, and later ones run the program that was made.

    Arrays and floats are inputs of the program. Integers, bools, texts and None are constants, and so are arguments that `static`
    names: calls with others capture anew. Lists, tuples and dicts may hold all of these, as arguments and as results.

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
        arguments, options, leaves, structure = self._bound(arguments, options)
        if any(isinstance(leaf, Array) and leaf._node.is_traced for leaf in leaves):
            return self._traced_function()(*arguments, **options)
        trace, values = self._found(arguments, options, leaves, structure)
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

        arguments, options, leaves, structure = self._bound(arguments, options)
        trace, values = self._found(arguments, options, leaves, structure)
        return Explanation(trace.explanation(show, values))

    def traces(self):
        """How often the function was captured."""
        return len(self._traces)

    def _bound(self, arguments, options):
        """(positional, named, arrays among them, what else decides what is captured)"""
        if self._static:
            bound = self._signature.bind(*arguments, **options)
            options = dict(zip(bound.arguments, bound.args)) | bound.kwargs
            arguments = ()
        leaves = []
        positional = tuple(_flat(each, leaves.append) for each in arguments)
        named = tuple((name, (type(each), repr(each), each) if name in self._static else _flat(each, leaves.append))
                      for name, each in options.items())
        return arguments, options, leaves, (_process.threads(), positional, named)

    def _found(self, arguments, options, leaves, structure):
        values = [leaf._cells() if isinstance(leaf, Array) else leaf if leaf.__class__ is np.ndarray else np.asarray(leaf) for leaf in leaves]
        key = (structure, *[(value.dtype, value.shape) for value in values])
        trace = self._traces.get(key)
        if trace is None:
            with self._lock:
                trace = self._traces[key] = self._trace(arguments, options, leaves, values)
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

    def _trace(self, arguments, options, leaves, values):
        placeholders = [graph.placeholder(types.checked(value.dtype), value.shape, is_weak=leaf.__class__ is float)
                        for leaf, value in zip(leaves, values)]
        inputs = iter(placeholders)
        def take(leaf):
            return Array(next(inputs))
        given = [_rebuilt(each, take) for each in arguments]
        named = {name: each if name in self._static else _rebuilt(each, take) for name, each in options.items()}
        try:
            results = self._traced_function()(*given, **named)
            return _Trace(placeholders, results)
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


def _flat(thing, add):
    """What is left of arguments without their arrays, to tell calls apart."""
    kind = thing.__class__
    if _is_leaf(thing):
        add(thing)
        return float if kind is float else None
    if kind in (tuple, list):
        return (kind, *[_flat(each, add) for each in thing])
    if kind is dict:
        return (dict, *[(name, _flat(each, add)) for name, each in thing.items()])
    hash(thing)
    own = getattr(thing, "__dict__", None)
    if own is None or isinstance(thing, (type, python_types.FunctionType, python_types.ModuleType)):
        return kind, thing
    return kind, thing, tuple((name, id(each)) for name, each in own.items())  # an object whose attributes change is another constant


def _rebuilt(thing, take):
    kind = thing.__class__
    if _is_leaf(thing):
        return take(thing)
    if kind in (tuple, list):
        return kind(_rebuilt(each, take) for each in thing)
    if kind is dict:
        return {name: _rebuilt(each, take) for name, each in thing.items()}
    return thing


class _Trace:
    """A function as it is for arguments of certain types and shapes."""

    def __init__(self, placeholders, results):
        self.structure, self.outputs = [], []
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
    """The structure of results with _ARRAY for each array; None: it is one array."""
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
    if structure is _ARRAY:
        return next(arrays)
    if structure.__class__ in (tuple, list):
        return structure.__class__([_filled_in(each, arrays) for each in structure])
    if isinstance(structure, tuple):
        return type(structure)(*[_filled_in(each, arrays) for each in structure])
    if structure.__class__ is dict:
        return {name: _filled_in(each, arrays) for name, each in structure.items()}
    return structure
