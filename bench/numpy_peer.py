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


def classification(rows, columns):
    """Centred features, and five classes that depend on two of them and on chance."""
    X = values(rows * columns, 7919, 1009).reshape(rows, columns) - 0.5
    chance = np.arange(1, rows + 1, dtype=np.int64) ** 2 % 1000003 / 1000003
    return X, np.floor((chance * 4 + X[:, 0] + X[:, 1] + 1) * 5 / 6).astype(int) + 1


def multilogreg(X, Y, reg, steps):
    """Newton steps by conjugate gradients; the negative logarithm of the likelihood."""
    n, m = X.shape
    K = Y.max() - 1
    T = (Y[:, None] == np.arange(1, K + 1)).astype(float)
    B = np.zeros((m, K))
    scores, first = X @ B, None
    for _ in range(steps):
        highest = np.maximum(scores.max(axis=1), 0)[:, None]
        E = np.exp(scores - highest)
        P = E / (E.sum(axis=1, keepdims=True) + np.exp(-highest))
        gradient = X.T @ (P - T) + reg * B
        S, R = np.zeros_like(B), -gradient
        V, squared = R, np.sum(R * R)
        norm = np.sqrt(squared)
        first = first or norm
        if norm <= 1e-3 * first:
            break
        for _ in range(20):
            if np.sqrt(squared) <= 0.1 * norm:
                break
            Q = P * (X @ V)
            HV = X.T @ (Q - P * Q.sum(axis=1, keepdims=True)) + reg * V
            length = squared / np.sum(V * HV)
            S, R = S + length * V, R - length * HV
            before, squared = squared, np.sum(R * R)
            V = R + squared / before * V
        B = B + S
        scores = X @ B
    highest = np.maximum(scores.max(axis=1), 0)[:, None]
    return np.sum(highest + np.log(np.exp(scores - highest).sum(axis=1, keepdims=True) + np.exp(-highest))) - np.sum(T * scores)


def kmeans(X, k, iterations, generator):
    """Lloyd's iterations from rows drawn at random; the sum of squared distances."""
    C = X[generator.choice(len(X), k, replace=False)]
    squares = np.einsum("ij,ij->i", X, X).sum()
    for _ in range(iterations):
        D = -2 * (X @ C.T) + np.sum(C * C, axis=1)
        nearest = D.argmin(axis=1)
        total = squares + D.min(axis=1).sum()
        P = (nearest[:, None] == np.arange(k)).astype(float)
        C = (P.T @ X) / np.maximum(P.sum(axis=0), 1)[:, None]
    return total


def graph(nodes, degree):
    """Every node links to `degree` others; columns sum to 1."""
    import scipy.sparse
    source = np.tile(np.arange(nodes, dtype=np.int64), degree)
    target = np.concatenate([((np.arange(1, nodes + 1, dtype=np.int64) * (7919 + 2 * k)) + 104729 * k) % nodes
                             for k in range(degree)])
    return scipy.sparse.csr_matrix((np.full(len(source), 1 / degree), (target, source)), shape=(nodes, nodes))


def pagerank(G, alpha, iterations):
    p = np.full(G.shape[0], 1 / G.shape[0])
    for _ in range(iterations):
        p = alpha * (G @ p) + (1 - alpha) * p.sum() / len(p)
    return np.sum(p * p) * len(p)


def body(name, rows, columns):
    """A function of the number of the repetition that does what is measured."""
    if name == "product":
        A = np.random.default_rng(1).random((rows, columns))
        return lambda r: (A @ A)[0, 0]
    if name == "pagerank":
        G = graph(rows, columns)
        return lambda r: pagerank(G, 0.85, 20)
    X = values(rows * columns, 7919, 1009).reshape(rows, columns)
    if name == "multilogreg":
        X, Y = classification(rows, columns)
        return lambda r: multilogreg(X, Y, 0.01 + 1e-9 * r, 10)
    if name == "kmeans":
        return lambda r: kmeans(X, 10, 20, np.random.default_rng(r))
    if name in ("sum-of-product", "sum-pair"):
        Y = values(rows * columns, 104729, 997).reshape(rows, columns)
        Z = values(rows * columns, 1299709, 991).reshape(rows, columns)

        def run(r):
            X[0, 0] = r
            return np.sum(X * Y * Z) if name == "sum-of-product" else np.sum(X * Y) + np.sum(X * Z)
        return run
    if name == "row-softmax":
        def softmax(r):
            E = np.exp(X - X.max(axis=1, keepdims=True))
            return (E / E.sum(axis=1, keepdims=True))[0, 0]
        return softmax
    if name == "logistic-inner":
        P = values(rows * 10, 104729, 997).reshape(rows, 10)

        def inner(r):
            Q = P * (X @ (np.arange(1, columns * 10 + 1).reshape(columns, 10) / 1000 + r))
            return np.sum(X.T @ (Q - P * Q.sum(axis=1, keepdims=True)))
        return inner
    if name == "kmeans-distance":
        def distance(r):
            C = X[:10] + r / 1000
            D = -2 * (X @ C.T) + np.sum(C * C, axis=1)
            m = D.min(axis=1)
            return np.sum(m) + np.sum(D <= m[:, None])
        return distance
    if name.startswith("chain"):
        w = values(rows, 104729, 997)
        return lambda r: np.sum(X.T @ (w * (X @ (np.arange(1, columns + 1) + float(r)))))
    if name == "l2svm":
        Y = np.where(np.arange(1, rows + 1, dtype=np.int64) * 104729 % 997 < 498, 1.0, -1.0)
        return lambda r: l2svm(X, Y, 1 + 1e-9 * r, 20)
    y = values(rows, 104729, 997)
    if name == "linreg-ds":
        return lambda r: np.linalg.solve(X.T @ X + (1 + 1e-9 * r) * np.eye(columns), X.T @ y).sum()
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
