"""Programs of the Array API standard, the same text for every peer: array_programs.py PEER ROW THREADS prints `ns N` for each
repetition after the first and `result R`. PEER is tokamak, numpy, jax, numba or torch; each compiles the whole program, but NumPy."""

import math
import os
import sys
import time

PEER, ROW, THREADS = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-THREADS:])  # the one limit that all peers keep


def repeat(count, step, *state):
    """`step` so many times; JAX has its own loop, without which it writes all steps out."""
    if PEER == "jax":
        import jax
        return jax.lax.fori_loop(0, count, lambda _, values: step(*values), state)
    for _ in range(count):
        state = step(*state)
    return state


def kmeans(xp, X, centres):
    def step(centres):
        distances = xp.sum(centres * centres, axis=1) - 2.0 * (X @ centres.T)
        nearest = xp.argmin(distances, axis=1)
        member = xp.astype(xp.expand_dims(nearest, axis=1) == xp.arange(centres.shape[0]), X.dtype)
        count = xp.sum(member, axis=0)
        return (member.T @ X / xp.expand_dims(xp.maximum(count, xp.ones_like(count)), axis=1),)
    return xp.sum(repeat(10, step, centres)[0])


def logistic(xp, X, y, w):
    def step(w):
        p = 1.0 / (1.0 + xp.exp(-(X @ w)))
        return (w - 0.5 * (X.T @ (p - y)) / X.shape[0],)
    return xp.sum(repeat(50, step, w)[0])


def attention(xp, Q, K, V):
    scores = Q @ xp.permute_dims(K, (0, 2, 1)) / math.sqrt(Q.shape[2])
    weights = xp.exp(scores - xp.max(scores, axis=2, keepdims=True))
    return xp.sum((weights / xp.sum(weights, axis=2, keepdims=True)) @ V)


def black_scholes(xp, spot, strike, years):
    rate, volatility = 0.02, 0.3

    def normal(x):  # M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 26.2.17
        k = 1.0 / (1.0 + 0.2316419 * xp.abs(x))
        tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
        upper = xp.exp(-0.5 * x * x) * 0.3989422804014327 * tail
        return xp.where(x > 0.0, 1.0 - upper, upper)
    spread = volatility * xp.sqrt(years)
    first = (xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    return xp.sum(spot * normal(first) - strike * xp.exp(-rate * years) * normal(first - spread))


def image_filter(xp, image):
    def shifted(row, column):
        return image[row:image.shape[0] - 2 + row, column:image.shape[1] - 2 + column]
    across = shifted(0, 2) + 2.0 * shifted(1, 2) + shifted(2, 2) - shifted(0, 0) - 2.0 * shifted(1, 0) - shifted(2, 0)
    down = shifted(2, 0) + 2.0 * shifted(2, 1) + shifted(2, 2) - shifted(0, 0) - 2.0 * shifted(0, 1) - shifted(0, 2)
    return xp.sum(xp.sqrt(across * across + down * down))


def product_sum(xp, x, y, z):
    return xp.sum(x * y * z)


def inputs(random):
    if ROW == "arrays-kmeans":
        X = random.random((200_000, 20))
        return kmeans, [X, X[:8]]
    if ROW == "arrays-logistic":
        X = random.standard_normal((100_000, 20))
        return logistic, [X, (X[:, 0] > 0.2).astype(float), random.standard_normal(20) * 0]
    if ROW == "arrays-attention":
        return attention, [random.standard_normal((8, 512, 64)).astype("float32") for _ in range(3)]
    if ROW == "arrays-black-scholes":
        return black_scholes, [50 + 50 * random.random(2_000_000), 50 + 50 * random.random(2_000_000), 0.1 + random.random(2_000_000)]
    if ROW == "arrays-image-filter":
        return image_filter, [random.random((2000, 2000))]
    return product_sum, [random.random(10_000_000) for _ in range(3)]


def compiled(program, arrays):
    """A function without arguments that gives a number."""
    if PEER == "numpy":
        import numpy as np
        return lambda: float(program(np, *arrays))
    if PEER == "tokamak":
        import tokamak as tk
        tk.set_threads(THREADS)
        function = tk.jit(lambda *given: program(tk, *given))
        held = [tk.asarray(each) for each in arrays]
        return lambda: float(function(*held))
    if PEER == "jax":
        import jax
        jax.config.update("jax_enable_x64", True)
        function = jax.jit(lambda *given: program(jax.numpy, *given))
        held = [jax.device_put(each) for each in arrays]
        return lambda: float(function(*held))
    if PEER == "torch":
        import array_api_compat.torch
        import torch
        torch.set_num_threads(THREADS)
        function = torch.compile(lambda *given: program(array_api_compat.torch, *given))
        held = [torch.from_numpy(each) for each in arrays]
        return lambda: float(function(*held))
    import numba
    import python_functions
    numba.set_num_threads(THREADS)
    function = numba.njit(parallel=True)(getattr(python_functions, program.__name__))
    return lambda: float(function(*arrays))


def main():
    import numpy as np
    program, arrays = inputs(np.random.default_rng(7))
    run = compiled(program, arrays)
    result, times = run(), []
    run()
    for _ in range(5):
        began = time.perf_counter_ns()
        result = run()
        times.append(time.perf_counter_ns() - began)
    for each in times:
        print("ns", each)
    print("result", result)


main()
