"""Lazy arrays beside the standard's functions (test_array_api.py): what runs when, and what is planned anew."""

import copy
import gc
import pickle
import threading
import unittest
import weakref

import numpy as np

import tokamak as tk
from counting import Counted


class Evaluation(unittest.TestCase):
    def test_nothing_runs_before_a_cell_is_asked_for(self):
        with Counted() as counted:
            x = tk.asarray([1.0, 2.0])
            y = tk.sum(tk.exp(x) * 2 + 1)
            self.assertEqual((y.shape, y.dtype), ((), tk.float64))
        self.assertEqual(counted.evaluations, 0)
        with Counted() as counted:
            self.assertAlmostEqual(float(y), 2 * (np.e + np.e ** 2) + 2)
            self.assertAlmostEqual(float(y), 2 * (np.e + np.e ** 2) + 2)
        self.assertEqual(counted.evaluations, 1)

    def test_cells_of_numpy_are_not_copied(self):
        cells = np.arange(6.0).reshape(2, 3)
        x = tk.asarray(cells)
        self.assertTrue(np.shares_memory(np.asarray(x), cells))
        self.assertFalse(np.shares_memory(np.asarray(tk.asarray(cells, copy=True)), cells))
        self.assertTrue(np.shares_memory(np.from_dlpack(x), cells))

    def test_a_loop_of_equal_steps_plans_once(self):
        X, y, w = tk.asarray(np.ones((20, 3))), tk.asarray(np.arange(20.0)), tk.asarray(np.zeros(3))

        def step(w):
            rest = X @ w - y
            w = w - 0.01 * (X.T @ rest) / 20.0
            return w, float(tk.sum(rest * rest))
        w, first = step(w)
        w, _ = step(w)  # from here on the step before is part of the graph
        with Counted() as counted:
            for _ in range(10_000):
                w, last = step(w)
        self.assertEqual((counted.programs, counted.evaluations), (0, 10_000))
        self.assertLess(last, first)

    def test_shapes_that_change_share_a_program(self):
        with Counted() as counted:
            for size in range(8):
                x, y = tk.asarray(np.ones((3 + size, 2 + size))), tk.asarray(np.ones(2 + size))
                for _ in range(20):
                    self.assertEqual(float(tk.sum((x * y + 0.25) ** 2)), 1.5625 * x.size)
        self.assertLessEqual(counted.programs, 1)

    def test_numbers_that_change_become_inputs(self):
        x = tk.asarray(np.ones(4))
        with Counted() as counted:
            for i in range(100):
                self.assertEqual(float(tk.sum(x * i + 7)), 4 * i + 28)
        self.assertLessEqual(counted.programs, 2)
        self.assertEqual(str(float(tk.max(x * 0.0))), "0.0")
        self.assertEqual(str(float(tk.max(x * -0.0))), "-0.0")

    def test_a_graph_that_nobody_asks_for_does_not_grow_without_end(self):
        x = tk.asarray(np.zeros(5))
        for _ in range(5000):
            x = x * 0.5 + 1.0
        self.assertLessEqual(x._node.depth, 1000)
        np.testing.assert_allclose(np.asarray(x), 2.0)

    def test_what_a_caller_holds_is_computed_once(self):
        x = tk.asarray(np.random.default_rng(1).random((50, 50)))
        product = x @ x
        float(tk.sum(product))
        self.assertIsNotNone(product._node.value)

    def test_large_cells_that_are_cheap_are_computed_again(self):
        x = tk.asarray(np.ones(100_000))
        shifted = x + 1.0
        float(tk.sum(shifted))
        self.assertIsNone(shifted._node.value)
        float(tk.max(shifted))
        self.assertIsNotNone(shifted._node.value)

    def test_evaluate_computes_several_at_once(self):
        x = tk.asarray(np.arange(5.0))
        a, b = x + 1, x * 2
        with Counted() as counted:
            tk.evaluate(a, b)
            self.assertEqual((float(a[4]), float(b[4])), (5.0, 8.0))
        self.assertLessEqual(counted.evaluations, 3)
        self.assertIsNotNone(a._node.value)

    def test_memory_goes_with_the_arrays(self):
        def held():
            cells = np.ones(10)
            x = tk.asarray(cells)
            return weakref.ref(cells), x * 2, x
        cells, *arrays = held()
        gc.collect()
        self.assertIsNotNone(cells())
        del arrays
        self.assertIsNone(cells())

    def test_long_graphs_are_freed(self):
        cells = np.ones(3)
        alive = weakref.ref(cells)

        @tk.jit
        def f(x):
            y = x
            for _ in tk.unrolled(range(20_000)):  # while it is captured nothing cuts the chain
                y = y + 0.0
            raise OverflowError
        with self.assertRaises(OverflowError):
            f(cells)
        del cells
        gc.collect()
        self.assertIsNone(alive())

    def test_what_collecting_garbage_evaluates(self):
        """Whenever it is collected: nodes that are about to be computed lose the inputs that they have then."""
        class Evaluating:
            def __init__(self, array):
                self.array, self.itself = array, self

            def __del__(self):
                seen.append(float(self.array))
        seen, former = [], gc.get_threshold()
        try:
            for objects in range(40):
                gc.disable()
                gc.collect()
                array = tk.asarray(1.0)
                for _ in range(30):
                    array = array + 1
                after = array * 2
                Evaluating(array)
                del array
                gc.set_threshold(gc.get_count()[0] + objects)
                gc.enable()
                self.assertEqual(float(after), 62)
                gc.collect()
            self.assertEqual(seen, [31] * 40)
        finally:
            gc.set_threshold(*former)
            gc.enable()

    def test_threads(self):
        x, results = tk.asarray(np.arange(1000.0)), {}

        def run(number):
            results[number] = [float(tk.sum(x * number + i)) for i in range(50)]
        threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for number, found in results.items():
            self.assertEqual(found, [499_500.0 * number + 1000 * i for i in range(50)])

    def test_explain_shows_the_fused_operator(self):
        x = tk.asarray(np.ones((1000, 10)))
        text = tk.explain(tk.sum(tk.exp(x) * 2))
        self.assertIn("block_0", text)
        self.assertIn("nothing is computed", tk.explain(x))

    def test_errors_name_what_is_wrong(self):
        x = tk.asarray(np.ones((2, 3)))
        with self.assertRaisesRegex(ValueError, r"shapes \(2, 3\), \(4,\) can't be broadcast"):
            x + tk.asarray(np.ones(4))
        with self.assertRaisesRegex(TypeError, "int64 and float64 have no common type; convert one of them with astype"):
            tk.asarray([1, 2]) + tk.asarray([1.0, 2.0])
        with self.assertRaisesRegex(TypeError, "a float beside an array of int64"):
            tk.asarray([1, 2]) + 0.5
        with self.assertRaisesRegex(ValueError, "3 columns, 2 rows"):
            x @ x
        with self.assertRaisesRegex(TypeError, "complex numbers are not supported"):
            tk.asarray([1j])
        with self.assertRaises(tk.RunError):
            np.asarray(tk.linalg.solve(tk.asarray(np.zeros((2, 2))), tk.asarray(np.ones(2))))

    def test_copies_and_pickles(self):
        x = tk.asarray([1.0, 2.0]) + 1
        for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            self.assertEqual(np.asarray(other).tolist(), [2.0, 3.0])
        other[0] = 9.0
        self.assertEqual((float(other[0]), float(x[0])), (9.0, 2.0))

    def test_cells_can_not_be_changed_from_outside(self):
        x = tk.asarray(np.ones(3))
        with self.assertRaises(ValueError):
            np.asarray(x)[0] = 5.0
        cells = np.ones(3)
        copied = tk.asarray(tk.asarray(cells), copy=True)
        lazy = tk.asarray(cells)
        copies = [copied, tk.astype(lazy, tk.float64), copy.deepcopy(lazy), tk.asarray(cells, copy=True)]
        cells[0] = 9.0
        self.assertEqual([float(each[0]) for each in copies], [1.0] * 4)
        self.assertEqual(float(lazy[0]), 9.0)

    def test_masked_cells(self):
        masked = np.ma.masked_array([1.0, 99.0], [False, True])
        for function in (tk.asarray, tk.jit(lambda x: x + 1), lambda x: tk.asarray([1.0, 2.0]) + x, tk.exp):
            with self.assertRaisesRegex(TypeError, r"\.filled"):
                function(masked)
        self.assertEqual(np.asarray(tk.asarray(np.ma.masked_array([1.0, 2.0]))).tolist(), [1.0, 2.0])

    def test_cells_of_the_other_byte_order(self):
        cells = np.arange(3, dtype=">f8")
        for x in (tk.asarray(cells), tk.asarray([0.0] * 3) + cells, tk.jit(lambda x: x + 0.0)(cells), tk.asarray([0, 1, 2], dtype=">f8")):
            self.assertEqual((x.dtype, np.asarray(x).tolist()), (tk.float64, [0.0, 1.0, 2.0]))
        self.assertEqual(np.asarray(tk.zeros(2, dtype=">i4")).dtype, np.dtype("int32"))

    def test_rests_are_exact(self):
        rng = np.random.default_rng(3)
        for dtype in (np.float64, np.float32):
            a, b = np.round(rng.random(2000) * 100 - 50, 1).astype(dtype), np.round(rng.random(2000) * 10 - 5.05, 1).astype(dtype)
            b[b == 0] = 1
            np.testing.assert_array_equal(np.asarray(tk.asarray(a) % tk.asarray(b)), a % b)
            np.testing.assert_array_equal(np.asarray(tk.asarray(a) // tk.asarray(b)), a // b)

    def test_large_exponents(self):
        base, exponent = np.array([0, 1, -1, -1, 2], dtype=np.int8), np.array([8, 100, 101, 100, 9], dtype=np.int8)
        self.assertEqual(np.asarray(tk.pow(tk.asarray(base), tk.asarray(exponent))).tolist(), [0, 1, -1, 1, 0])
        for kind in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64):
            base = np.array([0, 1, 3, 7, 100, 125, 2, 2], dtype=kind)
            exponent = np.array([100, 101, 100, 127, 126, 65, 64, 7], dtype=kind)
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(np.asarray(tk.asarray(base) ** tk.asarray(exponent)), base ** exponent)
                np.testing.assert_array_equal(np.asarray(tk.asarray(base) ** 100), base ** 100)
                np.testing.assert_array_equal(np.asarray(3 ** tk.asarray(exponent)), 3 ** exponent)
                self.assertEqual(int(tk.asarray(base)[2] ** 100), int((base[2:3] ** 100)[0]))

    def test_negative_exponents(self):
        """NumPy refuses them; here it does so where they are known, and else results lose their fractions."""
        base, exponent = tk.asarray([1, -1, -1, 3, 2]), tk.asarray([-5, -3, -2, -1, -70])
        self.assertEqual(np.asarray(base ** exponent).tolist(), [1, -1, 1, 0, 0])
        with self.assertRaisesRegex(ValueError, "integers to the power of -3 are no integers"):
            base ** -3
        self.assertEqual(np.asarray(tk.astype(base, tk.float64) ** -1).tolist(), [1, -1, -1, 1 / 3, 0.5])

    def test_numpy_on_one_side(self):
        x = tk.asarray([1.0, 2.0])
        self.assertIsInstance(np.ones(2) + x, tk.Array)
        self.assertEqual(np.asarray(np.ones((3, 2)) @ x).tolist(), [3.0] * 3)
        self.assertEqual(np.asarray(tk.asarray(np.ones((3, 2))) @ np.array([1.0, 2.0])).tolist(), [3.0] * 3)
        with self.assertRaises(TypeError):
            x @ 2.0

    def test_functions_of_numpy_that_call_methods(self):
        x = tk.asarray([[1.0, 2.0], [3.0, 6.0]])
        for function in (np.sum, np.mean, np.max, np.min):
            self.assertIsInstance(function(x), tk.Array)
            for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}):
                np.testing.assert_array_equal(np.asarray(function(x, **options)), function(np.asarray(x), **options))
        self.assertEqual(np.mean(x, dtype=np.float32).dtype, tk.float32)
        with self.assertRaisesRegex(TypeError, "results are new arrays"):
            np.sum(x, out=np.zeros(()))

    def test_functions_of_scripts_take_arrays(self):
        program = tk.compile("f = function(matrix[double] X) return (double s) { s = sum(X) }")
        self.assertEqual(program.f(tk.asarray(np.ones((2, 2))) + 1), 8.0)

if __name__ == "__main__":
    unittest.main()
