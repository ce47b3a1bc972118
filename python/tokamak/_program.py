"""Programs: scripts and models whose functions are called from Python."""

import collections
import inspect
import keyword
import os
import signal
import threading

import numpy as np

from . import _convert, _errors, _native, _process

_native.set_up(_errors.BY_STATUS, _convert.value, _convert.frame, _convert.sparse)

_PRECISIONS = {None: 0, "double": 1, "single": 2}
_is_ready_for_interrupts = False


def compile(source, *, threads=None, precision=None, seed=None, libraries=(), cache=None, disable=(), sparse=False):
    """Compiles a script in DML, or an ONNX model, and returns a Program, whose attributes are the script's functions. That of a
    model is main, which takes its inputs and gives its outputs.

    source      the path of a file .dml or .onnx, or the text of a script
    threads     how many a call may use; None: as set_threads says, or all cores that the process may use
    precision   of scripts: "double", "single", or None: single in calls that are given arrays of float32 and none of float64
    seed        of random numbers without a seed of their own, in each call, at least 0; None: other numbers in each call
    libraries   folders with more functions: a script's NAME(...) calls m_NAME of the file NAME.dml
    cache       folder for compiled code; None: the user's, shared by all processes; "off": none
    disable     names of optimisations to leave out, to see what they do
    sparse      True: matrices that are kept as sparse come back as scipy.sparse.csr_matrix; False: all come back dense

    Mistakes raise CompileError, which shows the line of the script."""
    text = None if isinstance(source, os.PathLike) else _text(source)
    name = os.fspath(source) if text is None else "<text>"
    if precision not in _PRECISIONS:
        raise ValueError(f"precision is 'double', 'single' or None, not {precision!r}")
    threads = _process.checked_threads(threads) or _process.threads() or 0
    seed = None if seed is None else _process.checked_integer(seed, "seed", 0, (1 << 63) - 1)
    cache = cache if cache in (None, "off") else os.path.abspath(os.fsdecode(cache))  # now: the working folder may change until a call
    _prepare_interrupts()
    native = _native.Script(name, text, threads, _PRECISIONS[precision], seed, cache,
                            ":".join(os.fsdecode(each) for each in _several(libraries)), ",".join(_several(disable)), bool(sparse))
    return Program(native, name)


def _text(source):
    if not isinstance(source, str):
        raise TypeError(f"expected the path of a script or its text, got {type(source).__name__}")
    if "\0" in source:
        raise ValueError(f"a script is text without NUL, which is at position {source.index(chr(0))}")
    try:
        source.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"a script is text that UTF-8 can write; half a character is at position {error.start}") from None
    is_path = source.endswith((".dml", ".onnx")) and "\n" not in source
    return None if is_path else source


def _several(words):
    return (words,) if isinstance(words, (str, bytes, os.PathLike)) else words


def _prepare_interrupts():
    """Ctrl-C stops calls as long as Python itself handles it."""
    global _is_ready_for_interrupts
    if (not _is_ready_for_interrupts and threading.current_thread() is threading.main_thread() and
            signal.getsignal(signal.SIGINT) is signal.default_int_handler):
        _native.handle_interrupts()
        _is_ready_for_interrupts = True


class Program:
    """A compiled script or model. Its functions are attributes; those of Tokamak's library are found, too, by function(name)."""

    def __init__(self, native, name):
        self._native, self._name = native, name
        self._functions = {each: _function(native, each) for each in native.names()}
        for each, made in self._functions.items():
            if not hasattr(type(self), each):
                setattr(self, each, made)

    def function(self, name):
        """The function of this name, of the script or of the library."""
        if name not in self._functions:
            self._functions[name] = _function(self._native, name)
        return self._functions[name]

    def run(self, **arguments):
        """Runs the script's statements; $name in them is what is given here as name=..."""
        texts = {name: _argument_text(argument) for name, argument in arguments.items() if argument is not None}
        self._native.run(list(texts), list(texts.values()))

    def stats(self):
        """What compiling took so far, by name; times in milliseconds."""
        return Report("compilation", {name + (" (ms)" if name.endswith("time") else ""):
                                      round(count / 1e6, 3) if name.endswith("time") else count
                                      for name, count in self._native.counts().items()})

    def __dir__(self):
        return [*super().__dir__(), *self._functions]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.function(name)
        except _errors.Error as error:
            raise AttributeError(str(error)) from None

    def __repr__(self):
        functions = "\n".join("  " + function.__doc__.partition("\n")[0] for function in self._functions.values())
        return f"Program {self._name}" + (f" with\n{functions}" if functions else "")


def _argument_text(argument):
    if isinstance(argument, (bool, np.bool_)):
        return "TRUE" if argument else "FALSE"
    return str(argument)


class Report(dict):
    """Numbers by name, shown as a table."""

    def __init__(self, title, numbers):
        super().__init__(numbers)
        self._title = title

    def __repr__(self):
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {number:>10}" for name, number in self.items())

    def _repr_html_(self):
        rows = "".join(f"<tr><td>{name}</td><td style='text-align:right'>{number}</td></tr>" for name, number in self.items())
        return f"<table><caption>{self._title}</caption>{rows}</table>"


class Explanation(str):
    """A text whose repr is itself, so that a session shows it as it is."""

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        escaped = self.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f"<pre>{escaped}</pre>"


_NUMBERS = {"TRUE": True, "FALSE": False}


class _Default:
    """Of a parameter, shown as the script has it."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def _default(text):
    if text is None:
        return inspect.Parameter.empty
    if text in _NUMBERS:
        return _NUMBERS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    is_text = len(text) >= 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_text else _Default(text)


def _python_name(name):
    """Names that Python reserves end with an underscore: lambda_."""
    return name + "_" if keyword.iskeyword(name) else name


def _signature(native):
    """Parameters whose names can't be written in Python are left out: they are passed as **{"a.b": 1}."""
    parameters = [inspect.Parameter(_python_name(name), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=_default(text), annotation=kind)
                  for name, kind, text in native.parameters if name.isidentifier()]
    required = [p for p in parameters if p.default is inspect.Parameter.empty]
    optional = [p for p in parameters if p.default is not inspect.Parameter.empty]
    if parameters != required + optional:
        optional = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in optional]
    results = ", ".join(f"{name}: {kind}" for name, kind, _ in native.results)
    return inspect.Signature(required + optional, return_annotation=f"({results})" if results else None)


def _function(script, name):
    native = _native.Function(script, name)
    results = [result for result, _, _ in native.results]
    reserved = {name + "_": name for name, _, _ in native.parameters if keyword.iskeyword(name)}
    named = None
    if len(results) > 1:
        title = name.replace(".", "_").replace("::", "_")
        is_plain = title.isidentifier() and not keyword.iskeyword(title) and not title.startswith("_")
        named = collections.namedtuple(title if is_plain else "results", results, rename=True)._make

    if reserved:
        def function(*arguments, **options):
            result = native(*arguments, **{reserved.get(option, option): value for option, value in options.items()})
            return named(result) if named else result
    elif named:
        def function(*arguments, **options):
            return named(native(*arguments, **options))
    else:
        function = native

    def explain(*arguments, show="fusion", **options):
        """What the function becomes for these arguments, with which it is compiled and called anew. show: one or several of
        program, image, fusion, schedule, loops, llvm, asm, recompile, with commas between."""
        options = {reserved.get(option, option): value for option, value in options.items()}
        return Explanation(native.explanation(show, *arguments, **options))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = native.signature + ("\n\n" + native.comment if native.comment else "")
    function.__signature__ = _signature(native)
    function.__module__ = None
    function.explain = explain
    return function
