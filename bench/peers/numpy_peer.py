"""The NumPy and SciPy peer, written as one writes them. Threads of its BLAS come from the environment."""

import numpy as np

import process
from expressions import expressions

CHUNK = 1 << 15  # entries of a sparse matrix at once: what is gathered for them stays in the cache


class NumPyLibrary:
    exp, log, tanh, maximum = np.exp, np.log, np.tanh, np.maximum

    row_max = staticmethod(lambda X: X.max(axis=1))
    row_min = staticmethod(lambda X: X.min(axis=1))
    number_type = staticmethod(lambda mask: mask.astype(float))
    compiled = staticmethod(lambda function: function)

    @staticmethod
    def log_normal_tail(t):
        import scipy.special  # most programs start faster without
        return scipy.special.log_ndtr(t)


class NumPyKernels:
    """Arrays, and the kernels of expressions.py and on sparse matrices."""
    compiles = False
    maximum = np.maximum
    order, zeros = staticmethod(np.arange), staticmethod(lambda *shape: np.zeros(shape))

    def __init__(self):
        self.__dict__ |= expressions(NumPyLibrary)

    def ready(self, values):
        return values

    def array(self, a):
        return a

    def with_first_cell(self, X, value):
        X[0, 0] = value
        return X

    def shifted(self, X, r):
        return X + X.dtype.type(r)

    def number_type(self, mask):
        return mask.astype(float)

    def array_of(self, value, size):
        return np.full(size, value)

    def square_product(self, A):
        return A @ A

    def ridge(self, X, y, reg):
        return np.linalg.solve(X.T @ X + reg * np.eye(X.shape[1]), X.T @ y)

    def scalar_loop(self, n, x):
        s = 0.0
        for i in range(1, n + 1):
            s = s * 0.999 + x / i
        return s

    def sparse(self, X):
        X.transpose_in_rows = X.T.tocsr()
        X.transpose_in_rows.transpose_in_rows = X
        for matrix in (X, X.transpose_in_rows):
            matrix.row_numbers = np.repeat(np.arange(matrix.shape[0], dtype=np.int32), np.diff(matrix.indptr))
        return X

    def rows(self, X):
        return X.shape[0]

    def transposed(self, X):
        return X.transpose_in_rows

    def sparse_product(self, X, v):
        return X @ v

    def sparse_normal_product(self, X, v):
        return X.T @ (X @ v)

    def products_at(self, X, U, V):
        """The cells of U %*% t(V) at the entries of X."""
        out = np.empty(X.nnz)
        for begin in range(0, X.nnz, CHUNK):
            part = slice(begin, begin + CHUNK)
            np.einsum("ij,ij->i", U[X.row_numbers[part]], V[X.indices[part]], out=out[part])
        return out

    def with_entries(self, X, entries):
        return type(X)((entries, X.indices, X.indptr), shape=X.shape)

    def sampled_log(self, X, U, V, small):
        return X.data @ np.log(self.products_at(X, U, V) + small)

    def quotient_product(self, X, W, H):
        return self.with_entries(X, X.data / (self.products_at(X, W, H) + 1e-8)) @ H

    def sampled_product(self, X, U, V):
        return self.with_entries(X, self.products_at(X, U, V)) @ V

    def sampled_error_product(self, X, U, V):
        return self.with_entries(X, self.products_at(X, U, V) - X.data) @ V

    def squared_error(self, X, U, V):
        errors = self.products_at(X, U, V) - X.data
        return errors @ errors


if __name__ == "__main__":
    process.main(NumPyKernels())
