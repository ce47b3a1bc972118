"""Scalars, cells and small arrays, one after the other, as Python and NumPy do them: `rows` times in a repetition."""

import dataclasses
from collections.abc import Callable

import numpy as np


@dataclasses.dataclass
class Problem:
    """In repetition r, `run(*prepare(r))` is timed; `result` makes a number of what it returns."""
    prepare: Callable
    run: Callable
    result: Callable = float


def square(factor):
    return (np.arange(1, 101) * factor % 101 / 101).reshape(10, 10)


def scalars(k, sizes):
    n = sizes["rows"]
    return Problem(lambda r: (n, 1.0 + r), k.scalar_loop)


def loop(step, start):
    """`start(r)` is what `step` is applied to, again and again."""
    def make(k, sizes):
        def run(*state):
            for i in range(sizes["rows"]):
                state = step(i, *state)
            return state[0]
        return Problem(start, run, lambda A: float(A.sum()))
    return make


def read(k, sizes):
    A, n = square(7), sizes["rows"]

    def run(s):
        for i in range(n):
            s = s * 0.5 + A[i % 10, 3]
        return s
    return Problem(lambda r: (float(r),), run)


def write(i, A):
    A[i % 10, 3] = i
    return A,


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def halved(a):
    return a * 0.5 + 1


def calls(k, sizes):
    def run(s):
        for _ in range(sizes["rows"]):
            s = halved(s)
        return s
    return Problem(lambda r: (float(r),), run)


def append(k, sizes):
    def run(r):
        collected = []
        for i in range(sizes["rows"]):
            collected.append(i + r)
        return collected
    return Problem(lambda r: (r,), run, lambda collected: float(sum(collected)))


def append_column(i, A):
    return np.concatenate([A, A[:, :1] + 1], axis=1),


def growing(i, A):
    """A matrix of another size in each step."""
    return (np.arange(1.0, 101 + i) * 0.5 + A.sum() * 1e-3)[:, None],


SMALL = {
    "small-scalars": scalars, "small-read": read, "small-append": append, "small-calls": calls,
    "small-recursion": lambda k, sizes: Problem(lambda r: (sizes["rows"],), fibonacci),
    "small-cells": loop(lambda i, A, B: (A * 0.5 + B, B), lambda r: (square(7) + r, square(13))),
    "small-product": loop(lambda i, A, B: (A @ B, B), lambda r: (square(7) + r, square(13) / square(13).sum(0))),
    "small-write": loop(write, lambda r: (square(7),)),
    "small-append-column": loop(append_column, lambda r: (np.arange(1.0, 1001)[:, None] + r,)),
    "small-growing": loop(growing, lambda r: (np.full((100, 1), 1.0 + r),)),
}
