"""The extension `linalg` of the standard. Decompositions are LAPACK's, as in DML."""

import collections
import math

import numpy as np

from . import elementwise, graph, manipulation, reductions, types
from .array import Array, apply
from .creation import tril, triu
from .elementwise import node_of
from .manipulation import matmul, matrix_transpose, tensordot, vecdot  # noqa: F401: of both

EighResult = collections.namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = collections.namedtuple("QRResult", "Q R")
SlogdetResult = collections.namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = collections.namedtuple("SVDResult", "U S Vh")


def _matrices(x, name, is_square=False):
    node = node_of(x)
    elementwise.require(node.dtype, "f", name)
    if len(node.shape) < 2:
        raise ValueError(f"{name} takes matrices, not an array of shape {node.shape}")
    if is_square and node.shape[-1] != node.shape[-2]:
        raise ValueError(f"{name} takes square matrices, not {node.shape[-2]} x {node.shape[-1]}")
    return Array(node)


def _each_matrix(function, shapes, *arrays):
    """Results of a function of matrices for each of those in the last two dimensions. `shapes`: of one matrix's results."""
    leading = elementwise.broadcast_shape(*[x.shape[:-2] for x in arrays])
    if not leading and all(size for x in arrays for size in x.shape):
        return function(*arrays)
    count = math.prod(leading)
    if count == 0 or any(0 in x.shape[-2:] for x in arrays):
        return tuple(elementwise.filled(0, arrays[0].dtype, leading + shape) for shape in shapes)
    flat = [manipulation.reshape(manipulation.broadcast_to(x, leading + x.shape[-2:]), (count,) + x.shape[-2:]) for x in arrays]
    results = [function(*[x[i, ...] for x in flat]) for i in range(count)]
    return tuple(manipulation.reshape(manipulation.stack(parts), leading + shape) for parts, shape in zip(zip(*results), shapes))


def solve(x1, x2, /):
    """The x with x1 @ x = x2: of a vector, or of the columns of matrices."""
    first, second = map(Array, elementwise.nodes_of(x1, x2))
    _matrices(first, "solve", is_square=True)
    is_vector = second.ndim == 1
    second = manipulation.expand_dims(second, axis=1) if is_vector else second
    if second.ndim < 1 or second.shape[-2] != first.shape[-1]:
        raise ValueError(f"solve of shapes {first.shape} and {node_of(x2).shape}")
    shape = (first.shape[-1], second.shape[-1])
    (result,) = _each_matrix(lambda a, b: (apply("Solve", a.dtype, shape, a._node, b._node),), (shape,), first, second)
    return manipulation.squeeze(result, axis=-1) if is_vector else result


def inv(x, /):
    """The inverse of square matrices."""
    x = _matrices(x, "inv", is_square=True)
    shape = x.shape[-2:]
    return _each_matrix(lambda a: (apply("Inverse", a.dtype, shape, a._node),), (shape,), x)[0]


def cholesky(x, /, *, upper=False):
    """The triangle L with x = L @ L.mT, or its transpose."""
    x = _matrices(x, "cholesky", is_square=True)
    x = _symmetric(matrix_transpose(x) if upper else x)
    shape = x.shape[-2:]
    (lower,) = _each_matrix(lambda a: (apply("Cholesky", a.dtype, shape, a._node),), (shape,), x)
    return matrix_transpose(lower) if upper else lower


def _symmetric(x):
    """By the lower triangle."""
    return elementwise.add(tril(x), matrix_transpose(tril(x, k=-1)))


def eigh(x, /):
    """Eigenvalues of symmetric matrices, ascending, and eigenvectors in the columns."""
    x = _matrices(x, "eigh", is_square=True)
    size = x.shape[-1]

    def of_one(a):
        pair = graph.Node("Eigen", (a._node,), None, None)
        values = Array(graph.selected(pair, 0, a.dtype, (size, 1)))
        return manipulation.reshape(values, (size,)), Array(graph.selected(pair, 1, a.dtype, (size, size)))
    return EighResult(*_each_matrix(of_one, ((size,), (size, size)), _symmetric(x)))


def eigvalsh(x, /):
    """Eigenvalues of symmetric matrices, ascending."""
    return eigh(x).eigenvalues


def svd(x, /, *, full_matrices=True):
    """U, S and Vh with x = U @ diag(S) @ Vh; S is descending."""
    x = _matrices(x, "svd")
    rows, columns = x.shape[-2:]
    k = min(rows, columns)

    def of_one(a):
        triple = graph.Node("Svd", (a._node,), None, None)
        values = Array(graph.selected(triple, 1, a.dtype, (k, k)))
        left, right = Array(graph.selected(triple, 0, a.dtype, (rows, k))), Array(graph.selected(triple, 2, a.dtype, (columns, k)))
        if full_matrices:
            left, right = _with_all_columns(left), _with_all_columns(right)
        return left, diagonal(values), matrix_transpose(right)
    if full_matrices and k == 0:
        leading = x.shape[:-2]
        return SVDResult(_identity(leading, rows, x.dtype), elementwise.filled(0, x.dtype, leading + (0,)),
                         _identity(leading, columns, x.dtype))
    left, right = (rows, columns) if full_matrices else (k, k)
    return SVDResult(*_each_matrix(of_one, ((rows, left), (k,), (right, columns)), x))


def _with_all_columns(basis):
    """Orthonormal columns with others that complete the basis."""
    rows, columns = basis.shape
    return basis if rows == columns else manipulation.concat([basis, qr(basis, mode="complete").Q[:, columns:]], axis=1)


def svdvals(x, /):
    """Singular values, descending."""
    return svd(x, full_matrices=False).S


def _identity(leading, size, dtype):
    return manipulation.broadcast_to(Array(graph.leaf(np.eye(size, dtype=dtype))), leading + (size, size))


def qr(x, /, *, mode="reduced"):
    """Q with orthonormal columns and the upper triangle R with x = Q @ R."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is 'reduced' or 'complete', not {mode!r}")
    x = _matrices(x, "qr")
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    size = k if mode == "reduced" else rows
    if k == 0:
        return QRResult(_identity(x.shape[:-2], rows, x.dtype)[..., :size], elementwise.filled(0, x.dtype, x.shape[:-2] + (size, columns)))

    def of_one(a):
        pair = graph.Node("Qr", (elementwise.cast(a._node, types.float64),), None, None)
        reflections = Array(graph.selected(pair, 0, types.float64, (rows, k)))
        right = Array(graph.selected(pair, 1, types.float64, (rows, columns)))
        return (elementwise.astype(_product_of_reflections(reflections, size), a.dtype),
                elementwise.astype(right[:size, :], a.dtype))
    return QRResult(*_each_matrix(of_one, ((rows, size), (size, columns)), x))


def _product_of_reflections(reflections, size):
    """The first columns of the product of all I - h h' / h[j], where h is column j: I - V inverse(S) V' with V = h / h[j] and the upper
    triangle S of V' V, in which the diagonal is 1 / h[j]. A column of 0 stands for no reflection."""
    rows, k = reflections.shape
    factors = diagonal(reflections)
    is_none = elementwise.equal(factors, 0.0)
    factors = elementwise.where(is_none, 1.0, factors)
    vectors = elementwise.divide(reflections, factors)
    on_diagonal = elementwise.where(Array(graph.leaf(np.eye(k, dtype=bool))), elementwise.divide(1.0, factors), 0.0)
    triangle = elementwise.add(triu(matmul(matrix_transpose(vectors), vectors), k=1), on_diagonal)
    identity = Array(graph.leaf(np.eye(rows, size)))
    return elementwise.subtract(identity, matmul(vectors, solve(triangle, matrix_transpose(vectors[:size, :]))))


def slogdet(x, /):
    """Sign and logarithm of the magnitude of determinants."""
    x = _matrices(x, "slogdet", is_square=True)
    size = x.shape[-1]
    if size == 0:
        return SlogdetResult(elementwise.filled(1, x.dtype, x.shape[:-2]), elementwise.filled(0, x.dtype, x.shape[:-2]))

    def of_one(a):
        triple = graph.Node("Lu", (elementwise.cast(a._node, types.float64),), None, None)
        permutation, upper = (Array(graph.selected(triple, i, types.float64, (size, size))) for i in (0, 2))
        factors = diagonal(upper)
        places = reductions.argmax(permutation, axis=1)
        is_swapped = elementwise.greater(manipulation.expand_dims(places, axis=1), places)
        swaps = reductions.sum(triu(elementwise.astype(is_swapped, types.int64), k=1))
        sign = elementwise.multiply(elementwise.astype(1 - 2 * (swaps % 2), types.float64), reductions.prod(elementwise.sign(factors)))
        logarithm = reductions.sum(elementwise.log(elementwise.abs(factors)))
        return elementwise.astype(sign, a.dtype), elementwise.astype(logarithm, a.dtype)
    return SlogdetResult(*_each_matrix(of_one, ((), ()), x))


def det(x, /):
    """Determinants of square matrices."""
    x = _matrices(x, "det", is_square=True)
    if x.shape[-1] == 0:
        return elementwise.filled(1, x.dtype, x.shape[:-2])
    return elementwise.filled(0, x.dtype, x.shape[:-2]) if 0 in x.shape else apply("Det", x.dtype, x.shape[:-2], x._node)


def pinv(x, /, *, rtol=None):
    """The pseudo-inverse; singular values of at most rtol times the largest count as 0."""
    x = _matrices(x, "pinv")
    if 0 in x.shape:
        return elementwise.filled(0, x.dtype, x.shape[:-2] + (x.shape[-1], x.shape[-2]))
    left, values, right = svd(x, full_matrices=False)
    limit = elementwise.multiply(values[..., :1], _tolerance(rtol, x))
    inverse = elementwise.where(elementwise.greater(values, limit), elementwise.divide(1.0, values), 0.0)
    return matmul(elementwise.multiply(matrix_transpose(right), manipulation.expand_dims(inverse, axis=-2)), matrix_transpose(left))


def _tolerance(rtol, x):
    if rtol is None:
        return max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    return manipulation.expand_dims(rtol, axis=-1) if isinstance(rtol, Array) and rtol.ndim else rtol


def matrix_rank(x, /, *, rtol=None):
    """How many singular values are more than rtol times the largest."""
    x = _matrices(x, "matrix_rank")
    values = svdvals(x)
    if 0 in x.shape:
        return elementwise.filled(0, types.int64, x.shape[:-2])
    return reductions.count_nonzero(elementwise.greater(values, elementwise.multiply(values[..., :1], _tolerance(rtol, x))), axis=-1)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Norms of matrices: 'fro', 'nuc', 1, 2, inf and their negatives."""
    x = _matrices(x, "matrix_norm")
    absolute = elementwise.abs(x)
    if ord == "fro":
        result = elementwise.sqrt(reductions.sum(elementwise.multiply(x, x), axis=(-2, -1), keepdims=True))
    elif ord in ("nuc", 2, -2):
        values = svdvals(x)
        function = {"nuc": reductions.sum, 2: reductions.max, -2: reductions.min}[ord]
        result = manipulation.expand_dims(function(values, axis=-1, keepdims=True), axis=-1)
    elif ord in (1, -1, math.inf, -math.inf):
        along, across = (-2, -1) if ord in (1, -1) else (-1, -2)
        sums = reductions.sum(absolute, axis=along, keepdims=True)
        result = (reductions.max if ord > 0 else reductions.min)(sums, axis=across, keepdims=True)
    else:
        raise ValueError(f"ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, not {ord!r}")
    return result if keepdims else manipulation.squeeze(result, axis=(-2, -1))


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Norms of cells along axes: any power, inf, -inf, or 0, which counts cells other than 0."""
    node = node_of(x)
    elementwise.require(node.dtype, "f", "vector_norm")
    absolute = elementwise.abs(x)
    if ord in (math.inf, -math.inf):
        return (reductions.max if ord > 0 else reductions.min)(absolute, axis=axis, keepdims=keepdims)
    if ord == 0:
        return elementwise.astype(reductions.count_nonzero(x, axis=axis, keepdims=keepdims), node.dtype)
    if ord == 2:
        return elementwise.sqrt(reductions.sum(elementwise.multiply(x, x), axis=axis, keepdims=keepdims))
    if ord == 1:
        return reductions.sum(absolute, axis=axis, keepdims=keepdims)
    total = reductions.sum(elementwise.pow(absolute, float(ord)), axis=axis, keepdims=keepdims)
    return elementwise.pow(total, 1 / ord)


def matrix_power(x, n, /):
    """A square matrix times itself; of a negative power its inverse."""
    x = _matrices(x, "matrix_power", is_square=True)
    if n < 0:
        return matrix_power(inv(x), -n)
    size = x.shape[-1]
    result = _identity(x.shape[:-2], size, x.dtype) if n == 0 else None
    while n:
        if n & 1:
            result = x if result is None else matmul(result, x)
        n >>= 1
        if n:
            x = matmul(x, x)
    return result


def diagonal(x, /, *, offset=0):
    """Cells of a diagonal of matrices."""
    node = node_of(x)
    if len(node.shape) < 2:
        raise ValueError("a matrix has two dimensions")
    rows, columns = node.shape[-2:]
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    places = np.arange(count) * (columns + 1) + (offset if offset >= 0 else -offset * columns)
    flat = manipulation.reshape(Array(node), node.shape[:-2] + (rows * columns,))
    return manipulation.take(flat, Array(graph.leaf(places)), axis=-1)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of diagonals."""
    return reductions.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def outer(x1, x2, /):
    """All products of a cell of the one and a cell of the other vector."""
    first, second = node_of(x1), node_of(x2)
    if len(first.shape) != 1 or len(second.shape) != 1:
        raise ValueError("outer takes vectors")
    return elementwise.multiply(manipulation.expand_dims(Array(first), axis=1), Array(second))


def cross(x1, x2, /, *, axis=-1):
    """Cross products of vectors of three cells along an axis."""
    first, second = map(Array, elementwise.nodes_of(x1, x2))
    elementwise.require(first.dtype, "iuf", "cross")
    if not -min(first.ndim, second.ndim) <= axis < min(first.ndim, second.ndim) or first.shape[axis] != 3 or second.shape[axis] != 3:
        raise ValueError(f"cross takes vectors of three cells along axis {axis}, not shapes {first.shape} and {second.shape}")
    first, second = manipulation.broadcast_arrays(first, second) if axis < 0 or first.ndim == second.ndim else (first, second)
    a, b = manipulation.unstack(first, axis=axis), manipulation.unstack(second, axis=axis)
    parts = [elementwise.subtract(elementwise.multiply(a[i], b[j]), elementwise.multiply(a[j], b[i])) for i, j in ((1, 2), (2, 0), (0, 1))]
    return manipulation.stack(parts, axis=axis)
