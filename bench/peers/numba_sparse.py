"""Loops on compressed rows for the Numba peer."""

import numba
import numpy as np

from numba_dense import inner, loops, part


@inner
def cell(U, V, i, j):
    s = 0.0
    for c in range(U.shape[1]):
        s += U[i, c] * V[j, c]
    return s


@loops
def product(offsets, columns, entries, v):
    out = np.empty(len(offsets) - 1)
    for i in numba.prange(len(out)):
        s = 0.0
        for p in range(offsets[i], offsets[i + 1]):
            s += entries[p] * v[columns[p]]
        out[i] = s
    return out


@loops
def normal_product(offsets, columns, entries, v):
    n, count = len(offsets) - 1, numba.get_num_threads()
    parts = np.zeros((count, len(v)))
    for t in numba.prange(count):
        out, (begin, end) = np.zeros(len(v)), part(n, t, count)
        for i in range(begin, end):
            s = 0.0
            for p in range(offsets[i], offsets[i + 1]):
                s += entries[p] * v[columns[p]]
            for p in range(offsets[i], offsets[i + 1]):
                out[columns[p]] += entries[p] * s
        parts[t] = out
    return parts.sum(0)


@loops
def sampled_log(offsets, columns, entries, U, V, small):
    total = 0.0
    for i in numba.prange(len(offsets) - 1):
        for p in range(offsets[i], offsets[i + 1]):
            total += entries[p] * np.log(cell(U, V, i, columns[p]) + small)
    return total


@loops
def squared_error(offsets, columns, entries, U, V):
    total = 0.0
    for i in numba.prange(len(offsets) - 1):
        for p in range(offsets[i], offsets[i + 1]):
            total += (cell(U, V, i, columns[p]) - entries[p])**2
    return total


@loops
def quotient_product(offsets, columns, entries, W, H):
    out = np.zeros(W.shape)
    for i in numba.prange(len(W)):
        for p in range(offsets[i], offsets[i + 1]):
            j = columns[p]
            q = entries[p] / (cell(W, H, i, j) + 1e-8)
            for c in range(W.shape[1]):
                out[i, c] += q * H[j, c]
    return out


@loops
def sampled_product(offsets, columns, entries, U, V):
    out = np.zeros(U.shape)
    for i in numba.prange(len(U)):
        for p in range(offsets[i], offsets[i + 1]):
            j = columns[p]
            q = cell(U, V, i, j)
            for c in range(U.shape[1]):
                out[i, c] += q * V[j, c]
    return out


@loops
def sampled_error_product(offsets, columns, entries, U, V):
    out = np.zeros(U.shape)
    for i in numba.prange(len(U)):
        for p in range(offsets[i], offsets[i + 1]):
            j = columns[p]
            q = cell(U, V, i, j) - entries[p]
            for c in range(U.shape[1]):
                out[i, c] += q * V[j, c]
    return out
