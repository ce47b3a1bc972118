"""The numbers that the programs in bench/programs compute for themselves, for peers in Python: the same bits.

They follow from the number of a cell by whole numbers, a remainder and a division. In f32 the product is rounded to f32
first, as DML under --precision=f32 does it.
"""

import numpy as np

ELEMENTS = {"f64": np.float64, "f32": np.float32}
CHUNK = 1 << 22


def values(rows, columns, factor, modulus, element="f64"):
    """A matrix whose cell number i, from 1, is i * factor mod modulus / modulus."""
    size, kind = rows * columns, ELEMENTS[element]
    out = np.empty(size, kind)
    for begin in range(0, size, CHUNK):
        end = min(begin + CHUNK, size)
        whole = np.arange(begin + 1, end + 1, dtype=np.int64)
        if element == "f64":
            rest = whole * factor % modulus
        else:
            rest = (whole.astype(kind) * kind(factor)).astype(np.int64) % modulus
        out[begin:end] = rest.astype(kind) / kind(modulus)
    return out.reshape(rows, columns)


def vector(rows, factor, modulus, element="f64"):
    return values(rows, 1, factor, modulus, element)[:, 0]


def signs(rows):
    """Labels -1 and 1, which depend on nothing."""
    return np.where(np.arange(1, rows + 1, dtype=np.int64) * 104729 % 997 < 498, 1.0, -1.0)


def probit_signs(X):
    """Labels -1 and 1 that depend on the first two features, centred, and on chance."""
    chance = np.arange(1, len(X) + 1, dtype=np.int64) ** 2 % 1000003 / 1000003
    return np.where(X[:, 0] + X[:, 1] + chance * 2 - 1 > 0, 1.0, -1.0)


def classes(X):
    """Five classes, from 1, that depend on the first two features, centred, and on chance."""
    chance = np.arange(1, len(X) + 1, dtype=np.int64) ** 2 % 1000003 / 1000003
    return np.floor((chance * 4 + X[:, 0] + X[:, 1] + 1) * 5 / 6).astype(int) + 1


def graph(nodes, degree):
    """Every node links to `degree` others; columns sum to 1."""
    import scipy.sparse
    source = np.tile(np.arange(nodes, dtype=np.int64), degree)
    target = np.concatenate([((np.arange(1, nodes + 1, dtype=np.int64) * (7919 + 2 * k)) + 104729 * k) % nodes
                             for k in range(degree)])
    return scipy.sparse.csr_matrix((np.full(len(source), 1 / degree), (target, source)), shape=(nodes, nodes))


def scattered(rows, columns, density):
    """rows x columns x density entries, and their pseudo-random places: rows and columns."""
    p = np.arange(1, round(rows * columns * density) + 1, dtype=np.int64)
    a = p * 7919 % 1000003
    b = (a * a + p) % 999983
    return p * 7919 % 1009 / 1009 + 0.5, ((b * 7907 + p * 31) % rows, (b + p) * 104729 % columns)


def compressed(entries, places, shape):
    """A matrix of compressed rows; entries at the same place are added up."""
    import scipy.sparse
    return scipy.sparse.csr_matrix(scipy.sparse.coo_matrix((entries, places), shape=shape))


def scatter(rows, columns, density):
    """A matrix of `scattered` entries."""
    return compressed(*scattered(rows, columns, density), (rows, columns))
