"""The algorithms that come with Tokamak, as functions:

    from tokamak import library
    centres, labels = library.kmeans(X, k=5)

dir(library) lists them, help(library.kmeans) says what one takes and gives."""

import os
import threading

from . import _native, _process
from ._program import compile as _compile

_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: _lock._at_fork_reinit())
_programs = {}  # by number of threads
_BUILTINS = {"sigmoid"}  # what scripts call by these names is part of the language, whatever the library has


def __getattr__(name):
    if name.startswith("_") or name not in __dir__():
        raise AttributeError(f"the library has no function {name!r}")
    with _lock:
        threads = _process.threads()
        if threads not in _programs:
            _programs[threads] = _compile("")
        return _programs[threads].function(name)


def __dir__():
    return [name for name in _native.library_names() if name not in _BUILTINS]
