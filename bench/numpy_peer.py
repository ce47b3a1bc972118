"""The NumPy peer: numpy_peer.py BENCHMARK REPETITIONS ROWS COLUMNS, with the output of HandWritten.cpp.

Written as one writes NumPy. The number of threads of its BLAS comes from the environment."""

import sys
import time

import numpy as np


def values(size, factor, modulus):
    return np.arange(1, size + 1, dtype=np.int64) * factor % modulus / modulus


def l2svm(X, Y, reg, iterations):
    w, Xw = np.zeros(X.shape[1]), np.zeros(X.shape[0])
    descent = X.T @ Y
    direction, squared = descent, descent @ descent
    for _ in range(iterations):
        Xd = X @ direction
        wd, dd, step = reg * (w @ direction), reg * (direction @ direction), 0.0
        for _ in range(20):
            out = 1 - Y * (Xw + step * Xd)
            violated = out > 0
            out = out * violated
            g = wd + step * dd - np.sum(out * Y * Xd)
            h = dd + np.sum(Xd * violated * Xd)
            step -= g / max(h, 1e-300)
            if not g * g > 1e-10 * h:
                break
        w = w + step * direction
        Xw = Xw + step * Xd
        descent = X.T @ (np.maximum(1 - Y * Xw, 0) * Y) - reg * w
        before, squared = squared, descent @ descent
        direction = descent + squared / before * direction
    return w.sum()


def linreg_cg(X, y, reg, iterations):
    residual = -(X.T @ y)
    direction, solution = -residual, np.zeros(X.shape[1])
    squared = residual @ residual
    for _ in range(iterations):
        q = X.T @ (X @ direction) + reg * direction
        step = squared / (direction @ q)
        solution = solution + step * direction
        residual = residual + step * q
        before, squared = squared, residual @ residual
        direction = -residual + squared / before * direction
    return solution.sum()


def body(name, rows, columns):
    """A function of the number of the repetition that does what is measured."""
    X = values(rows * columns, 7919, 1009).reshape(rows, columns)
    if name in ("sum-of-product", "sum-pair"):
        Y = values(rows * columns, 104729, 997).reshape(rows, columns)
        Z = values(rows * columns, 1299709, 991).reshape(rows, columns)

        def run(r):
            X[0, 0] = r
            return np.sum(X * Y * Z) if name == "sum-of-product" else np.sum(X * Y) + np.sum(X * Z)
        return run
    if name.startswith("chain"):
        w = values(rows, 104729, 997)
        return lambda r: np.sum(X.T @ (w * (X @ (np.arange(1, columns + 1) + float(r)))))
    if name == "l2svm":
        Y = np.where(np.arange(1, rows + 1, dtype=np.int64) * 104729 % 997 < 498, 1.0, -1.0)
        return lambda r: l2svm(X, Y, 1 + 1e-9 * r, 20)
    y = values(rows, 104729, 997)
    return lambda r: linreg_cg(X, y, 1 + 1e-9 * r, 20)


def main():
    name, repetitions, rows, columns = sys.argv[1], *map(int, sys.argv[2:5])
    run = body(name, rows, columns)
    result = run(0)
    for r in range(1, repetitions + 1):
        start = time.perf_counter_ns()
        result = run(r)
        print("ns", time.perf_counter_ns() - start)
    print(f"result {result:.17g}")


main()
