"""The scikit-learn peer: scikit_learn_peer.py BENCHMARK REPETITIONS ROWS COLUMNS, with the output of HandWritten.cpp."""

import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge

from numpy_peer import classification, values


def body(name, rows, columns):
    """A function of the number of the repetition that does what is measured."""
    X = values(rows * columns, 7919, 1009).reshape(rows, columns)
    y = values(rows, 104729, 997)
    if name == "multilogreg":
        X, Y = classification(rows, columns)

        def train(r):
            model = LogisticRegression(C=1 / (0.01 + 1e-9 * r), fit_intercept=False, tol=1e-4, max_iter=100).fit(X, Y)
            scores = X @ model.coef_.T
            highest = scores.max(axis=1, keepdims=True)
            total = highest + np.log(np.exp(scores - highest).sum(axis=1, keepdims=True))
            return np.sum(total[:, 0] - scores[np.arange(rows), Y - 1])
        return train
    if name == "kmeans":
        return lambda r: KMeans(10, n_init=1, max_iter=20, tol=0, random_state=r, algorithm="lloyd").fit(X).inertia_
    if name == "linreg-ds":
        return lambda r: Ridge(alpha=1 + 1e-9 * r, fit_intercept=False, solver="cholesky").fit(X, y).coef_.sum()
    raise ValueError(f"no benchmark {name}")


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    name, repetitions, rows, columns = sys.argv[1], *map(int, sys.argv[2:5])
    run = body(name, rows, columns)
    result = run(0)
    for r in range(1, repetitions + 1):
        start = time.perf_counter_ns()
        result = run(r)
        print("ns", time.perf_counter_ns() - start)
    print(f"result {result:.17g}")


main()
