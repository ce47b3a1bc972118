"""Tokamak compiles whole machine-learning programs to fused native code. Call functions of DML, the R-like language of
Apache SystemDS, with NumPy arrays:

    import numpy as np
    import tokamak as tk

    program = tk.compile('''
    # The mean squared error of a linear model.
    loss = function(matrix[double] X, matrix[double] y, matrix[double] w, double lambda = 0.1) return (double loss) {
      loss = mean((X %*% w - y)^2) + lambda * sum(w^2)
    }''')
    program.loss(np.ones((4, 2)), np.ones(4), np.zeros(2))          # 1.0

    x = tk.asarray(np.random.rand(1000, 3))                           # lazy arrays of the array API standard, and @tk.jit
    float(tk.sum(tk.exp(x) * 2))                                      # one fused program

    model, labels = tk.library.kmeans(np.random.rand(1000, 3), k=5)   # algorithms that come along

help(program.loss) says what a function takes; program.loss.explain(...) shows what became of it.
"""

from ._errors import CompileError, Error, InternalError, PlaceError, RunError
from ._process import memory, set_memory, set_threads
from ._program import Program, compile
from . import library
from ._native import version as _version

__version__ = _version()
__all__ = ["CompileError", "Error", "InternalError", "PlaceError", "Program", "RunError", "compile", "library", "memory",
           "set_memory", "set_threads"]
_OF_ARRAYS = ("__array_namespace_info__", "__array_api_version__")


def __getattr__(name):
    """Functions of arrays (tokamak/arrays): who only calls programs doesn't wait until they are imported."""
    if name.startswith("_") and name not in _OF_ARRAYS:
        raise AttributeError(name)
    import importlib

    arrays = importlib.import_module(".arrays", __name__)
    globals().update({each: getattr(arrays, each) for each in arrays.__all__}, arrays=arrays)
    if name not in globals():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals()[name]


def __dir__():
    from . import arrays

    return sorted({*globals(), *arrays.__all__})
