"""The algorithms that come with Tokamak, as functions:

    from tokamak import library
    centres, labels = library.kmeans(X, k=5)

dir(library) lists them, help(library.kmeans) says what one takes and gives."""

import threading

from . import _native, _process
from ._program import compile as _compile

_lock = threading.Lock()
_programs = {}  # by number of threads


def __getattr__(name):
    if name.startswith("_") or name not in _native.library_names():
        raise AttributeError(f"the library has no function {name!r}")
    with _lock:
        threads = _process.threads()
        if threads not in _programs:
            _programs[threads] = _compile("")
        return _programs[threads].function(name)


def __dir__():
    return _native.library_names()
