"""Functions of arrays beside what array-api-strict shows of them (test_array_api.py): which are lazy and can be captured, which run as one
program, and isin, which the standard got later."""

import unittest

import numpy as np

import tokamak as tk
from counting import Counted

SEED = 7


class KnownShapes(unittest.TestCase):
    """Results whose shape is known run when they are asked for, and are parts of captured functions."""

    def check(self, function, expected, *arguments):
        """`expected`: what the parts of the result are, or a function of them that holds."""
        with Counted() as counted:
            lazy = function(*map(tk.asarray, arguments))
        self.assertEqual(counted.evaluations, 0)
        for found in (lazy, tk.jit(function)(*arguments)):
            parts = [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]
            expected(*parts)

    def test_searchsorted(self):
        rng = np.random.default_rng(SEED)
        for dtype in (np.int8, np.uint64, np.float32, np.float64):
            cells = np.sort(rng.integers(0, 50, 40).astype(dtype))
            others = rng.integers(0, 60, (3, 4, 2)).astype(dtype)
            for side in ("left", "right"):
                self.check(lambda x, y: tk.searchsorted(x, y, side=side),
                           lambda found: np.testing.assert_array_equal(found, np.searchsorted(cells, others, side)), cells, others)
        order = np.array([2, 0, 1])
        self.check(lambda x, y: tk.searchsorted(x, y, sorter=tk.asarray(order)),
                   lambda found: self.assertEqual(found.tolist(), [1, 3]), np.array([2, 3, 1]), np.array([2, 9]))
        big = 2 ** 53
        self.check(lambda x, y: tk.searchsorted(x, y), lambda found: self.assertEqual(found.tolist(), [1, 2, 3]),
                   np.array([big, big + 1, big + 2]), np.array([big + 1, big + 2, big + 3]))
        self.check(lambda x, y: tk.searchsorted(x, y), lambda found: self.assertEqual(found.tolist(), [0, 2, 2]),
                   np.array([0.0, 1.0, np.nan]), np.array([-0.0, np.inf, np.nan]))
        self.check(lambda x, y: tk.searchsorted(x, y), lambda found: self.assertEqual(found.tolist(), [0]), np.ones(0), np.ones(1))

    def test_isin(self):
        rng = np.random.default_rng(SEED)
        for dtype in (bool, np.int8, np.uint16, np.int64, np.float32, np.float64):
            for shape in ((), (5,), (2, 3), (2, 0, 3), (2, 1, 2, 1, 2)):
                cells = np.asarray(rng.integers(-3, 4, shape).astype(dtype))
                for choices in (np.asarray(rng.integers(-3, 4, (2, 2)).astype(dtype)), np.ones((), dtype), np.ones(0, dtype)):
                    for invert in (False, True):
                        with self.subTest(dtype=dtype, shape=shape, choices=choices.shape, invert=invert):
                            self.check(lambda x, y: tk.isin(x, y, invert=invert), lambda found: np.testing.assert_array_equal(
                                found, np.isin(cells, choices, invert=invert)), cells, choices)
        self.check(tk.isin, lambda found: self.assertEqual(found.tolist(), [True, False, True, False]),
                   np.array([-0.0, np.nan, np.inf, 1.0]), np.array([np.inf, np.nan, 0.0]))

    def test_places_that_are_not_there(self):
        m, x = np.arange(12.0).reshape(3, 4), np.arange(3.0)
        one, seven = np.array([1]), np.array([7])

        def assigned(x, i):
            x[i] = 7.0
            return x

        def assigned_in_a_matrix(x, i):
            x[1, i] = 7.0
            return x
        for function, array, place, names in (
                (lambda m, i: m[one, i], m, seven, "index 7 .* 4 places"), (lambda m, i: m[i, one], m, seven - 11, "index -4 .* 3 places"),
                (lambda m, i: tk.take_along_axis(m, tk.reshape(i, (1, 1)), axis=1), m, seven, "index 7 .* 4 places"),
                (lambda x, i: x[i], x, np.array([0, 5]), "index 5 .* 3 places"), (lambda x, i: x[i], x, np.array([-4]), "index -4 .* 3"),
                (lambda x, i: x[i], x, np.asarray(3), "index 3"), (lambda x, i: tk.take(x, i), x, seven, "index 7 .* 3 places"),
                (assigned, x, np.asarray(5), "index 5"), (assigned, x, np.asarray(-4), "index -4"),
                (assigned_in_a_matrix, m, np.asarray(4), "index 4")):
            for call in (function, tk.jit(function), lambda x, i: function(x, i + 0)):
                with self.subTest(names=names), self.assertRaisesRegex(IndexError, names):
                    np.asarray(call(tk.asarray(array), tk.asarray(place)))
        with self.assertRaises(tk.RunError):
            np.asarray(tk.asarray(x)[tk.asarray(seven) + 0])
        for i in (-3, 2):
            np.testing.assert_array_equal(np.asarray(tk.jit(assigned)(x, np.asarray(i))), assigned(x.copy(), i))
        self.check(lambda m, i: m[i, i], lambda found: self.assertEqual(found.tolist(), [11.0, 5.0]), m, np.array([-1, 1]))

    def test_decompositions(self):
        rng = np.random.default_rng(SEED)
        for shape in ((4, 4), (5, 3), (3, 5), (2, 3, 4), (1, 1), (3, 1)):
            x = rng.standard_normal(shape)
            rows = shape[-2]
            for mode in ("reduced", "complete"):
                def right(Q, R):
                    self.assertEqual(Q.shape[-1], rows if mode == "complete" else min(shape[-2:]))
                    np.testing.assert_allclose(Q @ R, x, atol=1e-12)
                    np.testing.assert_allclose(np.swapaxes(Q, -1, -2) @ Q, np.broadcast_to(np.eye(Q.shape[-1]), Q.shape[:-2] + Q.shape[-1:] * 2),
                                               atol=1e-12)
                self.check(lambda x: tuple(tk.linalg.qr(x, mode=mode)), right, x)

            def whole(U, S, Vh):
                k = S.shape[-1]
                np.testing.assert_allclose((U[..., :k] * S[..., None, :]) @ Vh[..., :k, :], x, atol=1e-12)
                for basis in (U, Vh):
                    self.assertEqual(basis.shape[-1], basis.shape[-2])
                    np.testing.assert_allclose(basis @ np.swapaxes(basis, -1, -2), np.broadcast_to(np.eye(basis.shape[-1]), basis.shape),
                                               atol=1e-12)
            self.check(lambda x: tuple(tk.linalg.svd(x)), whole, x)
        for x in (rng.standard_normal((6, 6)), rng.standard_normal((2, 3, 3)), np.diag(np.full(200, 1e-5)), np.ones((3, 3)), np.zeros((1, 1)),
                  np.eye(4)[[1, 0, 3, 2]], np.eye(3)[[1, 0, 2]], np.zeros((2, 0, 0))):
            sign, logarithm = np.linalg.slogdet(x)

            def same(found, found_logarithm):
                np.testing.assert_array_equal(found, sign)
                np.testing.assert_allclose(found_logarithm, logarithm, rtol=1e-12, atol=1e-12)
            self.check(lambda x: tuple(tk.linalg.slogdet(x)), same, x)
        for shape in ((0, 3), (3, 0), (2, 0, 2)):
            x = np.zeros(shape)
            for ours, theirs in ((tk.linalg.qr, np.linalg.qr), (tk.linalg.svd, np.linalg.svd)):
                for mine, other in zip(ours(tk.asarray(x)), theirs(x)):
                    np.testing.assert_array_equal(np.asarray(mine), other)
            mine, other = np.asarray(tk.linalg.qr(tk.asarray(x), mode="complete").Q), np.linalg.qr(x, mode="complete").Q
            np.testing.assert_array_equal(mine, other)

    def test_products_of_integers_wrap(self):
        rng = np.random.default_rng(SEED)
        for dtype in (np.int8, np.uint32, np.int64, np.uint64):
            cells = rng.integers(1, 100, (30, 3)).astype(dtype) | 1
            expected = np.cumprod(cells, axis=0, dtype=np.uint64 if cells.dtype.kind == "u" else np.int64)
            self.check(lambda x: tk.cumulative_prod(x, axis=0), lambda found: np.testing.assert_array_equal(found, expected), cells)


class UnknownShapes(unittest.TestCase):
    """Results whose shape depends on cells run at once, together with what they are computed of, as one program."""

    def test_unique_is_one_program(self):
        x = tk.asarray(np.array([[3.0, -0.0, np.nan], [0.0, np.nan, 3.0]]))
        with Counted() as counted:
            found = tk.unique_all(x + 1.0)
        self.assertEqual(counted.evaluations, 1)
        self.assertEqual(np.asarray(found.values).tolist()[:2], [1.0, 4.0])
        self.assertEqual(np.asarray(found.counts).tolist(), [2, 2, 1, 1])
        self.assertEqual(np.asarray(found.indices).tolist(), [1, 0, 2, 4])
        self.assertEqual(np.asarray(found.inverse_indices).tolist(), [[1, 0, 2], [0, 3, 1]])
        self.assertEqual(np.asarray(tk.unique_values(tk.asarray([True, True]))).tolist(), [True])
        with Counted() as counted:
            for size in range(1, 30):
                tk.unique_counts(tk.asarray(np.arange(size)))
        self.assertLessEqual(counted.programs, 1)

    def test_nonzero_is_one_program(self):
        x = np.array([[0.0, np.nan], [-0.0, 5.0]])
        with Counted() as counted:
            found = tk.nonzero(tk.asarray(x) * 1.0)
        self.assertEqual(counted.evaluations, 1)
        self.assertEqual([np.asarray(each).tolist() for each in found], [[0, 1], [1, 1]])

    def test_captured_functions_have_none(self):
        for function in (tk.unique_values, tk.nonzero):
            with self.assertRaisesRegex(tk.CaptureError, "shape that depends on cells"):
                tk.jit(function)(np.ones(3))


if __name__ == "__main__":
    unittest.main()
