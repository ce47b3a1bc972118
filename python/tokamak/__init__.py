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

    model, labels = tk.library.kmeans(np.random.rand(1000, 3), k=5)   # algorithms that come along

help(program.loss) says what a function takes; program.loss.explain(...) shows what became of it.
"""

from ._errors import CompileError, Error, InternalError, RunError
from ._process import memory, set_memory, set_threads
from ._program import Program, compile
from . import arrays, library
from .arrays import *  # noqa: F403: the functions of the Array API standard
from ._native import version as _version

__version__ = _version()
__all__ = [*arrays.__all__, "CompileError", "Error", "InternalError", "Program", "RunError", "compile", "library", "memory",
           "set_memory", "set_threads"]
