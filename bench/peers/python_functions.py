"""For numba, which keeps what it compiles of functions in files: with loops, as its users write them."""

import math

import numpy as np
from numba import njit, prange


def scale(X):
    return X + 1


def score(X, w):
    return np.sum(np.maximum(1 - X @ w, 0) ** 2)


def kmeans(X, centres):
    rows, columns = X.shape
    count = centres.shape[0]
    parts = 64  # each thread adds into its own
    for _ in range(10):
        sums, members = np.zeros((parts, count, columns)), np.zeros((parts, count))
        for part in prange(parts):
            for i in range(part * rows // parts, (part + 1) * rows // parts):
                nearest, least = 0, np.inf
                for c in range(count):
                    distance = 0.0
                    for j in range(columns):
                        distance += centres[c, j] * (centres[c, j] - 2.0 * X[i, j])
                    if distance < least:
                        nearest, least = c, distance
                members[part, nearest] += 1
                for j in range(columns):
                    sums[part, nearest, j] += X[i, j]
        for c in range(count):
            size = max(members[:, c].sum(), 1.0)
            for j in range(columns):
                centres = centres.copy() if c == 0 and j == 0 else centres
                centres[c, j] = sums[:, c, j].sum() / size
    return centres.sum()


def logistic(X, y, w):
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-(X @ w)))
        w = w - 0.5 * (X.T @ (p - y)) / X.shape[0]
    return w.sum()


def attention(Q, K, V):
    totals = np.zeros(Q.shape[0])
    for h in prange(Q.shape[0]):
        scores = Q[h] @ K[h].T / np.float32(math.sqrt(Q.shape[2]))
        for i in range(scores.shape[0]):
            scores[i] = np.exp(scores[i] - scores[i].max())
            scores[i] /= scores[i].sum()
        totals[h] = (scores @ V[h]).sum()
    return totals.sum()


@njit(inline="always")
def normal(x):
    k = 1.0 / (1.0 + 0.2316419 * abs(x))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    upper = math.exp(-0.5 * x * x) * 0.3989422804014327 * tail
    return 1.0 - upper if x > 0.0 else upper


def black_scholes(spot, strike, years):
    rate, volatility, total = 0.02, 0.3, 0.0
    for i in prange(spot.shape[0]):
        spread = volatility * math.sqrt(years[i])
        first = (math.log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / spread
        total += spot[i] * normal(first) - strike[i] * math.exp(-rate * years[i]) * normal(first - spread)
    return total


def image_filter(image):
    total = 0.0
    for i in prange(1, image.shape[0] - 1):
        for j in range(1, image.shape[1] - 1):
            across = (image[i - 1, j + 1] + 2.0 * image[i, j + 1] + image[i + 1, j + 1] -
                      image[i - 1, j - 1] - 2.0 * image[i, j - 1] - image[i + 1, j - 1])
            down = (image[i + 1, j - 1] + 2.0 * image[i + 1, j] + image[i + 1, j + 1] -
                    image[i - 1, j - 1] - 2.0 * image[i - 1, j] - image[i - 1, j + 1])
            total += math.sqrt(across * across + down * down)
    return total


def product_sum(x, y, z):
    total = 0.0
    for i in prange(x.shape[0]):
        total += x[i] * y[i] * z[i]
    return total
