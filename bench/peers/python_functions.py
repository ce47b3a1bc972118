"""For numba, which keeps what it compiles of functions in files."""

import numpy as np


def scale(X):
    return X + 1


def score(X, w):
    return np.sum(np.maximum(1 - X @ w, 0) ** 2)
