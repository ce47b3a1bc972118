"""The PyTorch peer: every kernel of expressions.py is one function that torch.compile compiles."""

import dataclasses

import torch

import process
from expressions import expressions


def compiled(function):
    """Numbers become arrays of no dimension: they are constants to torch.compile otherwise."""
    inner = torch.compile(function, dynamic=False)

    def call(*arguments):
        return inner(*(torch.tensor(a, dtype=torch.float64) if isinstance(a, float) else a for a in arguments))
    return call


class TorchLibrary:
    exp, log, tanh = torch.exp, torch.log, torch.tanh
    log_normal_tail = torch.special.log_ndtr
    compiled = staticmethod(compiled)

    maximum = staticmethod(lambda x, least: torch.clamp(x, min=least))
    row_max = staticmethod(lambda X: X.amax(1))
    row_min = staticmethod(lambda X: X.amin(1))
    number_type = staticmethod(lambda mask: mask.to(torch.float64))


@dataclasses.dataclass
class Sparse:
    shape: tuple
    offsets: torch.Tensor
    row_numbers: torch.Tensor
    column_numbers: torch.Tensor
    entries: torch.Tensor
    transposed: "Sparse" = None

    def __post_init__(self):
        self.matrix = self.with_entries(self.entries)

    def with_entries(self, entries):
        return torch.sparse_csr_tensor(self.offsets, self.column_numbers, entries, self.shape, check_invariants=False)


@compiled
def logarithms_at(rows, columns, entries, U, V, small):
    return (entries * torch.log((U[rows] * V[columns]).sum(1) + small)).sum()


@compiled
def quotients_at(rows, columns, entries, U, V):
    return entries / ((U[rows] * V[columns]).sum(1) + 1e-8)


@compiled
def products_at(rows, columns, U, V):
    return (U[rows] * V[columns]).sum(1)


@compiled
def errors_at(rows, columns, entries, U, V):
    return (U[rows] * V[columns]).sum(1) - entries


class TorchKernels:
    compiles = True
    order = staticmethod(torch.arange)

    def __init__(self):
        self.__dict__ |= expressions(TorchLibrary)

    def ready(self, values):
        return values

    def array(self, a):
        return torch.from_numpy(a)

    def zeros(self, *shape):
        return torch.zeros(shape, dtype=torch.float64)

    def maximum(self, x, least):
        return torch.clamp(x, min=least)

    def with_first_cell(self, X, value):
        X[0, 0] = value
        return X

    def shifted(self, X, r):
        return X + r

    def number_type(self, mask):
        return mask.to(torch.float64)

    def array_of(self, value, size):
        return torch.full((size,), value, dtype=torch.float64)

    def sparse(self, X):
        def form(X):
            coordinates = X.tocoo()
            return Sparse(X.shape, *(torch.from_numpy(a) for a in (X.indptr, coordinates.row, X.indices, X.data)))
        one, other = form(X), form(X.T.tocsr())
        one.transposed, other.transposed = other, one
        return one

    def rows(self, X):
        return X.shape[0]

    def transposed(self, X):
        return X.transposed

    def sparse_product(self, X, v):
        return X.matrix @ v

    def sparse_normal_product(self, X, v):
        return X.transposed.matrix @ (X.matrix @ v)

    def sampled_log(self, X, U, V, small):
        return logarithms_at(X.row_numbers, X.column_numbers, X.entries, U, V, small)

    def quotient_product(self, X, W, H):
        return X.with_entries(quotients_at(X.row_numbers, X.column_numbers, X.entries, W, H)) @ H

    def sampled_product(self, X, U, V):
        return X.with_entries(products_at(X.row_numbers, X.column_numbers, U, V)) @ V

    def sampled_error_product(self, X, U, V):
        return X.with_entries(errors_at(X.row_numbers, X.column_numbers, X.entries, U, V)) @ V

    def squared_error(self, X, U, V):
        errors = errors_at(X.row_numbers, X.column_numbers, X.entries, U, V)
        return (errors * errors).sum()


if __name__ == "__main__":
    torch.set_num_threads(process.arguments()[1]["threads"])
    process.main(TorchKernels())
