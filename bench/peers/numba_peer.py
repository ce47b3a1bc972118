"""The Numba peer: the loops of numba_dense.py and numba_sparse.py; what is left to NumPy is small."""

import numba

import numba_dense
import numba_sparse
import process
from numpy_peer import NumPyKernels


def of_matrix(loop):
    return staticmethod(lambda X, *others: loop(X.indptr, X.indices, X.data, *others))


@numba.njit(cache=True)
def scalar_loop(n, x):
    s = 0.0
    for i in range(1, n + 1):
        s = s * 0.999 + x / i
    return s


class NumbaKernels(NumPyKernels):
    compiles = True
    sparse_product = of_matrix(numba_sparse.product)
    sparse_normal_product = of_matrix(numba_sparse.normal_product)
    sampled_log = of_matrix(numba_sparse.sampled_log)
    squared_error = of_matrix(numba_sparse.squared_error)
    quotient_product = of_matrix(numba_sparse.quotient_product)
    sampled_product = of_matrix(numba_sparse.sampled_product)
    sampled_error_product = of_matrix(numba_sparse.sampled_error_product)

    def __init__(self):
        super().__init__()
        self.__dict__ |= numba_dense.KERNELS | {"scalar_loop": scalar_loop}


if __name__ == "__main__":
    numba.set_num_threads(process.arguments()[1]["threads"])
    process.main(NumbaKernels())
