"""Builtins over one or two columns, or over a matrix, as NumPy does them: sorting, counting, selecting, drawing."""

import inputs
import numpy as np

from small import Problem


def column(sizes):
    return np.arange(1, sizes["rows"] + 1, dtype=np.float64) ** 2 % 1000003 / 1000003


def keys(X):
    return np.floor(X * 100.99) + 1


# What programs get in place of the column alone.
COLUMNS = {
    "builtin-table": lambda X: [keys(X)],
    "builtin-table-pairs": lambda X: [keys(X), np.floor(X * 1000 % 11) + 1],
    "builtin-aggregate": lambda X: [keys(X), X.copy()],
    "builtin-transformencode": lambda X: [np.floor(X * 1000)],
    "builtin-remove-empty": lambda X: [X * (X > 0.5)],
}


def over_columns(program, sizes, run, result, given=lambda columns: columns):
    """Runs what is `given` of the program's columns, of which the first gets another first cell in each repetition."""
    columns = COLUMNS.get(program, lambda X: [X])(column(sizes))

    def prepare(r):
        columns[0][0] = r + 1 if columns[0].max() > 1 else r / 1000
        return given(columns)
    return Problem(prepare, run, result)


def drawn(run):
    generator = np.random.default_rng(1)
    return lambda k, sizes: Problem(lambda r: (generator, sizes["rows"]), run, len)


def counts(*columns):
    K, *others = [c.astype(np.int64) for c in columns]
    return np.bincount(K * 12 + others[0], minlength=102 * 12).reshape(-1, 12).sum(1) if others else np.bincount(K)


def means(K, X):
    K = K.astype(np.int64)
    return np.bincount(K, weights=X) / np.maximum(np.bincount(K), 1)


def matrix(sizes):
    rows, columns = sizes["rows"], sizes["cols"]
    return (np.arange(1, rows * columns + 1, dtype=np.float64) * 7919 % 1009).reshape(rows, columns)


def with_first_cell(others, run, result):
    """`run` of a matrix, whose first cell is another one in each repetition, and of `others` that belong to it."""
    def problem(k, sizes):
        X, *more = matrix(sizes), *others(sizes["rows"])

        def prepare(r):
            X[0, 0] = r
            return X, *more
        return Problem(prepare, run, result)
    return problem


def sparse(others, run):
    """`run` of a sparse matrix, whose first cell is another one in each repetition, and of `others` that are made of it; its sum counts."""
    def problem(k, sizes):
        X = inputs.scatter(sizes["rows"], sizes["cols"], sizes["density"])
        more = others(X)

        def prepare(r):
            X[0, 0] = r + 1
            return X, *more
        return Problem(prepare, run, lambda Y: float(Y.sum()))
    return problem


def sparse_table(k, sizes):
    X, places = inputs.scattered(sizes["rows"], sizes["cols"], sizes["density"])

    def prepare(r):
        X[0] = r + 1
        return X, places, (sizes["rows"], sizes["cols"])
    return Problem(prepare, inputs.compressed, lambda Y: float(Y.sum()))


def dense_times_sparse(k, sizes):
    X = inputs.scatter(sizes["rows"], sizes["cols"], sizes["density"])
    D = matrix({"rows": 200, "cols": sizes["rows"]})

    def prepare(r):
        D[0, 0] = r + 1
        return D, X
    return Problem(prepare, lambda D, X: D @ X, lambda Y: float(Y.sum()))


def weighted(table):
    return float(table @ np.arange(len(table)))


# On columns: what is timed, and the number of what it returns.
OVER_COLUMNS = {
    "builtin-order": (np.sort, lambda y: y[0] + y[len(y) // 2 - 1]),
    "builtin-order-index": (np.argsort, lambda y: float((y + 1).sum())),
    "builtin-table": (counts, weighted),
    "builtin-table-pairs": (counts, weighted),
    "builtin-aggregate": (means, weighted),
    "builtin-transformencode": (lambda X: np.unique(X, return_inverse=True)[1], lambda codes: codes.max() + 1.0),
    "builtin-quantile": (lambda X: np.quantile(X, 0.3, method="inverted_cdf"), float),
    "builtin-remove-empty": (lambda P: P[P != 0], lambda y: float(y.sum())),
    "builtin-cumsum": (np.cumsum, lambda y: y[-1]),
}

BUILTINS = {
    program: lambda k, sizes, program=program: over_columns(program, sizes, *OVER_COLUMNS[program]) for program in OVER_COLUMNS
} | {
    "builtin-rand": drawn(lambda generator, n: generator.random(n)),
    "builtin-rand-normal": drawn(lambda generator, n: generator.standard_normal(n)),
    "builtin-gather": with_first_cell(lambda n: [np.arange(1, n + 1) * 104729 % n], lambda X, places: X[places],
                                      lambda Y: float(Y[:len(Y) // 2].sum())),
    "builtin-sparse-table": sparse_table,
    "builtin-sparse-sum": sparse(lambda X: [X.T.tocsr()], lambda X, Z: X + Z),
    "builtin-sparse-product": sparse(lambda X: [], lambda X: X @ X),
    "builtin-dense-times-sparse": dense_times_sparse,
    "builtin-product": with_first_cell(lambda n: [], lambda X: X @ X, lambda Y: float(Y.sum())),
}
