"""The JAX peer: every kernel of expressions.py is one jitted function, in f64 or f32."""

import dataclasses
import functools

import process

process.limit_processors(process.arguments()[1]["threads"])  # what XLA's threads follow

import jax
import jax.numpy as jnp

from expressions import expressions

jax.config.update("jax_enable_x64", True)


@functools.partial(jax.tree_util.register_dataclass, data_fields=["row_numbers", "column_numbers", "entries"],
                   meta_fields=["shape"])
@dataclasses.dataclass
class Sparse:
    """Entries in the order of their rows, as JAX has no faster form for them."""
    row_numbers: jax.Array
    column_numbers: jax.Array
    entries: jax.Array
    shape: tuple

    def times(self, entries, V):
        """The product of a matrix with other entries at the same places, and a vector or matrix."""
        terms = entries.reshape(-1, *([1] * (V.ndim - 1))) * V[self.column_numbers]
        return jax.ops.segment_sum(terms, self.row_numbers, self.shape[0], indices_are_sorted=True)

    def products_at(self, U, V):
        return (U[self.row_numbers] * V[self.column_numbers]).sum(1)


class JaxLibrary:
    exp, log, tanh, maximum = jnp.exp, jnp.log, jnp.tanh, jnp.maximum
    log_normal_tail = jax.scipy.special.log_ndtr
    compiled = staticmethod(jax.jit)

    row_max = staticmethod(lambda X: X.max(1))
    row_min = staticmethod(lambda X: X.min(1))
    number_type = staticmethod(lambda mask: mask.astype(float))


def sparse_kernels():
    def sparse_product(X, v):
        return X.times(X.entries, v)

    def sparse_normal_product(X, v):
        s = sparse_product(X, v)
        return jax.ops.segment_sum(X.entries * s[X.row_numbers], X.column_numbers, X.shape[1])

    def sampled_log(X, U, V, small):
        return (X.entries * jnp.log(X.products_at(U, V) + small)).sum()

    def quotient_product(X, W, H):
        return X.times(X.entries / (X.products_at(W, H) + 1e-8), H)

    def sampled_product(X, U, V):
        return X.times(X.products_at(U, V), V)

    def sampled_error_product(X, U, V):
        return X.times(X.products_at(U, V) - X.entries, V)

    def squared_error(X, U, V):
        return ((X.products_at(U, V) - X.entries) ** 2).sum()

    functions = (sparse_product, sparse_normal_product, sampled_log, quotient_product, sampled_product,
                 sampled_error_product, squared_error)
    return {function.__name__: jax.jit(function) for function in functions}


class JaxKernels:
    compiles = True
    maximum = staticmethod(jnp.maximum)
    array, order = staticmethod(jnp.asarray), staticmethod(jnp.arange)

    def __init__(self):
        self.__dict__ |= expressions(JaxLibrary) | sparse_kernels()
        self.set_first_cell = jax.jit(lambda X, value: X.at[0, 0].set(value), donate_argnums=0)
        self.transposes = {}

    def ready(self, values):
        return jax.block_until_ready(values)

    def zeros(self, *shape):
        return jnp.zeros(shape)

    def with_first_cell(self, X, value):
        return self.set_first_cell(X, value)

    def shifted(self, X, r):
        return X + X.dtype.type(r)

    def number_type(self, mask):
        return mask.astype(float)

    def array_of(self, value, size):
        return jnp.full(size, value)

    def sparse(self, X):
        def form(X):
            coordinates = X.tocoo()
            return Sparse(jnp.asarray(coordinates.row), jnp.asarray(coordinates.col), jnp.asarray(coordinates.data), X.shape)
        both = form(X), form(X.T.tocsr())
        for one, other in (both, both[::-1]):
            self.transposes[id(one)] = other
        return both[0]

    def rows(self, X):
        return X.shape[0]

    def transposed(self, X):
        return self.transposes[id(X)]


if __name__ == "__main__":
    process.main(JaxKernels())
