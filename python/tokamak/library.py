"""The algorithms that come with Tokamak, as functions:

    from tokamak import library
    centres, labels = library.kmeans(X, k=5)

dir(library) lists them, help(library.kmeans) says what one takes and gives."""

import threading

from . import _native
from ._program import compile as _compile

_lock = threading.Lock()
_program = None


def __getattr__(name):
    global _program
    if name.startswith("_") or name not in _native.library_names():
        raise AttributeError(f"the library has no function {name!r}")
    with _lock:
        if _program is None:
            _program = _compile("")
        return _program.function(name)


def __dir__():
    return _native.library_names()
