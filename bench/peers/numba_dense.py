"""Loops on dense matrices for the Numba peer: fused by hand, compiled by LLVM with its fast mathematics, parallel over rows."""

import math

import numba
import numpy as np

LOG_ROOT_2_PI = 0.91893853320467274
ROOT_HALF = math.sqrt(0.5)

loops = numba.njit(parallel=True, fastmath=True, cache=True)
inner = numba.njit(fastmath=True, cache=True, inline="always")


@inner
def part(n, t, count):
    return n * t // count, n * (t + 1) // count


@loops
def sum_of_product(X, Y, Z):
    x, y, z, total = X.ravel(), Y.ravel(), Z.ravel(), 0.0
    for i in numba.prange(x.size):
        total += x[i] * y[i] * z[i]
    return total


@loops
def sum_pair(X, Y, Z):
    x, y, z, first, second = X.ravel(), Y.ravel(), Z.ravel(), 0.0, 0.0
    for i in numba.prange(x.size):
        first += x[i] * y[i]
        second += x[i] * z[i]
    return first + second


@loops
def sum_of_squares(X):
    x, total = X.ravel(), 0.0
    for i in numba.prange(x.size):
        total += x[i] * x[i]
    return total


@loops
def normal_product(X, v):
    (n, m), count = X.shape, numba.get_num_threads()
    parts = np.zeros((count, m))
    for t in numba.prange(count):
        out, (begin, end) = np.zeros(m, X.dtype), part(n, t, count)
        for i in range(begin, end):
            s = X[i, 0] * v[0]
            for j in range(1, m):
                s += X[i, j] * v[j]
            for j in range(m):
                out[j] += X[i, j] * s
        parts[t] = out
    return parts.sum(0)


@loops
def weighted_product(X, w, v):
    (n, m), count = X.shape, numba.get_num_threads()
    parts = np.zeros((count, m))
    for t in numba.prange(count):
        out, (begin, end) = np.zeros(m, X.dtype), part(n, t, count)
        for i in range(begin, end):
            s = X[i, 0] * v[0]
            for j in range(1, m):
                s += X[i, j] * v[j]
            s *= w[i]
            for j in range(m):
                out[j] += X[i, j] * s
        parts[t] = out
    return parts.sum(0)


@loops
def transposed_product(X, y):
    (n, m), count = X.shape, numba.get_num_threads()
    parts = np.zeros((count, m))
    for t in numba.prange(count):
        out, (begin, end) = np.zeros(m), part(n, t, count)
        for i in range(begin, end):
            for j in range(m):
                out[j] += X[i, j] * y[i]
        parts[t] = out
    return parts.sum(0)


@loops
def product(X, v):
    out = np.empty(len(X))
    for i in numba.prange(len(X)):
        s = 0.0
        for j in range(X.shape[1]):
            s += X[i, j] * v[j]
        out[i] = s
    return out


@loops
def row_shares(X):
    (n, m), count = X.shape, numba.get_num_threads()
    parts = np.zeros((count, m))
    for t in numba.prange(count):
        out, (begin, end) = np.zeros(m, X.dtype), part(n, t, count)
        for i in range(begin, end):
            s = X[i, 0]
            for j in range(1, m):
                s += X[i, j]
            s = 1 / s
            for j in range(m):
                out[j] += X[i, j] * s
        parts[t] = out
    return parts.sum(0)


@loops
def row_softmax(X):
    n, m = X.shape
    out = np.empty((n, m), X.dtype)
    for i in numba.prange(n):
        highest = X[i, 0]
        for j in range(1, m):
            highest = max(highest, X[i, j])
        s = X[i, 0] * 0
        for j in range(m):
            out[i, j] = np.exp(X[i, j] - highest)
            s += out[i, j]
        s = 1 / s
        for j in range(m):
            out[i, j] *= s
    return out


@loops
def class_hessian(X, P, V):
    (n, m), k, count = X.shape, P.shape[1], numba.get_num_threads()
    T = np.ascontiguousarray(V.T)
    parts = np.zeros((count, k, m))
    for t in numba.prange(count):
        out, q, (begin, end) = np.zeros((k, m)), np.zeros(k), part(n, t, count)
        for i in range(begin, end):
            total = 0.0
            for c in range(k):
                s = 0.0
                for j in range(m):
                    s += X[i, j] * T[c, j]
                q[c] = P[i, c] * s
                total += q[c]
            for c in range(k):
                s = q[c] - P[i, c] * total
                for j in range(m):
                    out[c, j] += X[i, j] * s
        parts[t] = out
    return parts.sum(0).T


@loops
def nearest(X, C):
    (n, m), k = X.shape, len(C)
    squares, least, chosen = (C * C).sum(1), np.empty(n), np.empty((n, k))
    for i in numba.prange(n):
        d = np.empty(k)
        smallest = np.inf
        for c in range(k):
            s = 0.0
            for j in range(m):
                s += X[i, j] * C[c, j]
            d[c] = squares[c] - 2 * s
            smallest = min(smallest, d[c])
        least[i] = smallest
        for c in range(k):
            chosen[i, c] = 1.0 if d[c] <= smallest else 0.0
    return least, chosen


@loops
def kmeans_step(X, C):
    (n, m), k, count = X.shape, len(C), numba.get_num_threads()
    squares = (C * C).sum(1)
    sums, counts, totals = np.zeros((count, k, m)), np.zeros((count, k)), np.zeros(count)
    for t in numba.prange(count):
        sum_t, count_t, total, (begin, end) = np.zeros((k, m)), np.zeros(k), 0.0, part(n, t, count)
        for i in range(begin, end):
            smallest, at = np.inf, 0
            for c in range(k):
                s = 0.0
                for j in range(m):
                    s += X[i, j] * C[c, j]
                d = squares[c] - 2 * s
                if d < smallest:
                    smallest, at = d, c
            total += smallest
            count_t[at] += 1
            for j in range(m):
                sum_t[at, j] += X[i, j]
        sums[t], counts[t], totals[t] = sum_t, count_t, total
    return sums.sum(0), counts.sum(0), totals.sum()


@loops
def svm_line(Y, Xw, Xd, step):
    g, h = 0.0, 0.0
    for i in numba.prange(len(Y)):
        out = 1 - Y[i] * (Xw[i] + step * Xd[i])
        if out > 0:
            g += out * Y[i] * Xd[i]
            h += Xd[i] * Xd[i]
    return g, h


@loops
def svm_descent(X, Y, Xw):
    (n, m), count = X.shape, numba.get_num_threads()
    parts = np.zeros((count, m))
    for t in numba.prange(count):
        out, (begin, end) = np.zeros(m), part(n, t, count)
        for i in range(begin, end):
            s = max(1 - Y[i] * Xw[i], 0.0) * Y[i]
            for j in range(m):
                out[j] += X[i, j] * s
        parts[t] = out
    return parts.sum(0)


@loops
def class_probabilities(X, B):
    (n, m), k = X.shape, B.shape[1]
    T = np.ascontiguousarray(B.T)
    P, scores, loss = np.empty((n, k)), np.empty((n, k)), 0.0
    for i in numba.prange(n):
        highest = 0.0
        for c in range(k):
            s = 0.0
            for j in range(m):
                s += X[i, j] * T[c, j]
            scores[i, c] = s
            highest = max(highest, s)
        total = np.exp(-highest)
        for c in range(k):
            P[i, c] = np.exp(scores[i, c] - highest)
            total += P[i, c]
        for c in range(k):
            P[i, c] /= total
        loss += highest + np.log(total)
    return P, scores, loss


@loops
def class_gradient(X, P, T):
    (n, m), k, count = X.shape, P.shape[1], numba.get_num_threads()
    parts = np.zeros((count, k, m))
    for t in numba.prange(count):
        out, (begin, end) = np.zeros((k, m)), part(n, t, count)
        for i in range(begin, end):
            for c in range(k):
                s = P[i, c] - T[i, c]
                for j in range(m):
                    out[c, j] += X[i, j] * s
        parts[t] = out
    return parts.sum(0).T


@inner
def log_normal_tail(t):
    if t > -35:
        return math.log(0.5 * math.erfc(-t * ROOT_HALF))
    return -0.5 * t * t - LOG_ROOT_2_PI - math.log(-t)


@loops
def probit_loss(eta, s):
    total = 0.0
    for i in numba.prange(len(s)):
        total -= log_normal_tail(s[i] * eta[i])
    return total


@loops
def probit_score(eta, s):
    g, w = np.empty(len(s)), np.empty(len(s))
    for i in numba.prange(len(s)):
        t = s[i] * eta[i]
        h = math.exp(-0.5 * t * t - LOG_ROOT_2_PI - log_normal_tail(t))
        g[i] = s[i] * h
        w[i] = h * (h + t)
    return g, w


@loops
def weighted_squares(X, w):
    (n, m), count = X.shape, numba.get_num_threads()
    parts = np.zeros((count, m))
    for t in numba.prange(count):
        out, (begin, end) = np.zeros(m), part(n, t, count)
        for i in range(begin, end):
            for j in range(m):
                out[j] += X[i, j] * X[i, j] * w[i]
        parts[t] = out
    return parts.sum(0)


KERNELS = {f.__name__: f for f in (
    sum_of_product, sum_pair, sum_of_squares, normal_product, weighted_product, transposed_product, product, row_shares,
    row_softmax, class_hessian, nearest, kmeans_step, svm_line, svm_descent, class_probabilities, class_gradient,
    probit_loss, probit_score, weighted_squares)}
