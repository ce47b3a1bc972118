"""What the benchmarks compute, for peers in Python: the inputs of each program in bench/programs, and the part of it that is
timed, over the kernels `k` of a peer.
"""

import functools

import numpy as np

import algorithms
import inputs
from columns import BUILTINS
from small import SMALL, Problem


def algorithm(k, name):
    """That of the peer's own library, or else that of algorithms.py over its kernels."""
    return getattr(k, name, None) or functools.partial(getattr(algorithms, name), k)


def total(matrix):
    return float(matrix.sum())


def problem(program, k, sizes):
    """`sizes` holds rows, cols and what else the program is given, as numbers, and the element type."""
    rows, columns, element = sizes["rows"], sizes["cols"], sizes["element"]
    if program in SPARSE:
        return SPARSE[program](k, sizes)
    if program in SMALL:
        return SMALL[program](k, sizes)
    if program in BUILTINS:
        return BUILTINS[program](k, sizes)
    X = inputs.values(rows, columns, 7919, 1009, element)
    return DENSE[program](k, X, sizes)


def weights_of(X, element):
    return inputs.vector(len(X), 104729, 997, element)


def aggregate(name, operands):
    """A kernel that reduces X and other matrices of its size, of which a cell changes with each repetition."""
    def make(k, X, sizes):
        others = [inputs.values(*X.shape, *numbers, sizes["element"]) for numbers in ((104729, 997), (1299709, 991))]
        arrays = [k.array(a) for a in [X, *others][:operands]]

        def prepare(r):
            arrays[0] = k.with_first_cell(arrays[0], r)
            return arrays
        return Problem(prepare, getattr(k, name))
    return make


def vector_product(name, weighted):
    def make(k, X, sizes):
        line = np.arange(1, X.shape[1] + 1).astype(X.dtype)
        fixed = [k.array(X), *([k.array(weights_of(X, sizes["element"]))] if weighted else [])]
        return Problem(lambda r: (*fixed, k.array(line + X.dtype.type(r))), getattr(k, name), total)
    return make


def square_product(k, X, sizes):
    return Problem(lambda r: (X,), k.square_product, total)


def row_shares(k, X, sizes):
    array = [k.array(X + X.dtype.type(1))]

    def prepare(r):
        array[0] = k.with_first_cell(array[0], r)
        return array
    return Problem(prepare, k.row_shares, lambda q: float(np.asarray(q) @ np.arange(1, X.shape[1] + 1)))


def row_softmax(k, X, sizes):
    X = k.array(X)
    return Problem(lambda r: (k.shifted(X, r),), k.row_softmax, lambda P: float((P * P).sum()))


def logistic_inner(k, X, sizes):
    classes = sizes["classes"]
    P = k.array(inputs.values(len(X), classes, 104729, 997, sizes["element"]))
    V = np.arange(1, X.shape[1] * classes + 1).reshape(X.shape[1], classes) / 1000
    X = k.array(X)
    return Problem(lambda r: (X, P, k.array(V + r)), k.class_hessian, total)


def kmeans_distance(k, X, sizes):
    C, X = X[:10].copy(), k.array(X)
    return Problem(lambda r: (X, k.array(C + r / 1000)), k.nearest, lambda out: total(out[0]) + total(out[1]))


def linreg_cg(k, X, sizes):
    y, X = k.array(weights_of(X, "f64")), k.array(X)
    return Problem(lambda r: (X, y, 1 + 1e-9 * r, 20), algorithm(k, "linreg_cg"), total)


def linreg_ds(k, X, sizes):
    y, X = weights_of(X, "f64"), k.array(X)
    return Problem(lambda r: (X, y, 1 + 1e-9 * r), k.ridge, total)


def l2svm(k, X, sizes):
    X, Y = k.array(X), k.array(inputs.signs(len(X)))
    return Problem(lambda r: (X, Y, 1 + 1e-9 * r, 20), algorithm(k, "l2svm"), total)


def glm(k, X, sizes):
    X -= 0.5
    s, X = k.array(inputs.probit_signs(X)), k.array(X)
    return Problem(lambda r: (X, s, 0.01 + 1e-9 * r, 10, 1e-9), algorithm(k, "glm_probit"), lambda w: total(w * w))


def multilogreg(k, X, sizes):
    X -= 0.5
    Y = inputs.classes(X)
    T = k.array((Y[:, None] == np.arange(1, Y.max())).astype(float))
    X = k.array(X)
    return Problem(lambda r: (X, T, 0.01 + 1e-9 * r, 10), algorithm(k, "multilogreg"))


def kmeans(k, X, sizes):
    centres = {r: X[np.random.default_rng(r).choice(len(X), sizes["centres"], replace=False)]
               for r in range(sizes["reps"] + 1)}
    X = k.array(X)
    return Problem(lambda r: (X, k.array(centres[r]), 20), algorithm(k, "kmeans"))


def autoencoder(k, X, sizes):
    n, m = X.shape
    wide, narrow, kind = sizes["wide"], sizes["narrow"], X.dtype.type

    def weights(rows, columns, scale_of):
        draws = inputs.values(rows, columns, 7907, 1013, sizes["element"]) * kind(2) - kind(1)
        return k.array(draws * kind((6 / scale_of)**0.5))
    start = []
    for rows, columns, scale_of in ((wide, m, m + wide), (narrow, wide, wide + narrow), (wide, narrow, wide + narrow),
                                    (m, wide, m + narrow)):
        start += [weights(rows, columns, scale_of), k.array(np.zeros(rows, X.dtype))]
    X = k.array(X)
    return Problem(lambda r: (X, tuple(start), sizes["batch"], 0.0001 + 1e-6 * r, 0.9, 1), algorithm(k, "autoencoder"),
                   lambda out: total(out[0][0] ** 2) + total(out[0][6] ** 2) + total(out[1] ** 2))


def sparse_chain(k, sizes):
    X, line = k.sparse(inputs.scatter(sizes["rows"], sizes["cols"], sizes["density"])), np.arange(1, sizes["cols"] + 1)
    return Problem(lambda r: (X, k.array(line + float(r))), k.sparse_normal_product, total)


def sampled(k, sizes):
    rows, columns = sizes["rows"], sizes["cols"]
    X = k.sparse(inputs.scatter(rows, columns, sizes["density"]))
    U, V = [k.array(inputs.values(n, 100, *numbers)) for n, numbers in ((rows, (7919, 1009)), (columns, (104729, 997)))]

    def prepare(r):
        nonlocal U
        U = k.with_first_cell(U, r)
        return X, U, V, 1e-15
    return Problem(prepare, k.sampled_log)


def factorisation(k, sizes, algorithm, low, high):
    X, draw = k.sparse(inputs.scatter(sizes["rows"], sizes["cols"], sizes["density"])), np.random.default_rng(7)
    factors = [k.array(draw.uniform(low, high, (n, sizes["rank"]))) for n in (sizes["rows"], sizes["cols"])]
    return Problem(lambda r: (X, *factors), algorithm)


def pnmf(k, sizes):
    return factorisation(k, sizes, lambda *arrays: algorithm(k, "pnmf")(*arrays, 10), 0.01, 1.0)


def als(k, sizes):
    return factorisation(k, sizes, lambda *arrays: algorithm(k, "als")(*arrays, 0.1, 3), -0.5, 0.5)


def pagerank(k, sizes):
    G = k.sparse(inputs.graph(sizes["rows"], sizes["cols"]))
    return Problem(lambda r: (G, 0.85, 20), algorithm(k, "pagerank"), lambda p: float((p * p).sum()) * sizes["rows"])


DENSE = {
    "sum-of-product": aggregate("sum_of_product", 3), "sum-pair": aggregate("sum_pair", 3),
    "first-kernel": aggregate("sum_of_product", 3),
    "sum-of-squares": aggregate("sum_of_squares", 1), "normal-product": vector_product("normal_product", False),
    "weighted-product": vector_product("weighted_product", True), "row-shares": row_shares, "row-softmax": row_softmax,
    "logistic-inner": logistic_inner, "kmeans-distance": kmeans_distance, "linreg-cg": linreg_cg, "linreg-ds": linreg_ds,
    "l2svm": l2svm, "glm": glm, "multilogreg": multilogreg, "kmeans": kmeans, "square-product": square_product,
    "autoencoder": autoencoder,
}
SPARSE = {"sparse-chain": sparse_chain, "sampled": sampled, "pnmf": pnmf, "als": als, "pagerank": pagerank}
