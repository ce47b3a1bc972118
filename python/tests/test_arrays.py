"""Lazy arrays beside the standard's functions (test_array_api.py): what runs when, what is planned anew, and functions that are
captured with their loops and branches."""

import copy
import functools
import gc
import pickle
import threading
import unittest
import warnings
import weakref

import numpy as np

import tokamak as tk
from tokamak.arrays import graph


class Counted:
    """How many programs are made and how often arrays are evaluated within."""

    def __enter__(self):
        self.before = graph.counts()
        return self

    def __exit__(self, *_):
        after = graph.counts()
        self.programs, self.evaluations = (after[name] - self.before[name] for name in ("programs", "evaluations"))


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
        cells[0] = 9.0
        self.assertEqual(float(copied[0]), 1.0)

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

    def test_numpy_on_the_left(self):
        x = tk.asarray([1.0, 2.0])
        self.assertIsInstance(np.ones(2) + x, tk.Array)
        self.assertEqual(np.asarray(np.ones((3, 2)) @ x).tolist(), [3.0] * 3)

    def test_functions_of_scripts_take_arrays(self):
        program = tk.compile("f = function(matrix[double] X) return (double s) { s = sum(X) }")
        self.assertEqual(program.f(tk.asarray(np.ones((2, 2))) + 1), 8.0)


#===- functions that are captured ------------------------------------------------------------------------------------===

@tk.jit
def root(x):
    y = x
    while tk.abs(y * y - x) > 1e-12:
        y = (y + x / y) / 2
    return y


@tk.jit
def sums(x, n):
    total, count = 0.0, 0
    for i in range(n):
        if tk.sum(x) * i > 3.0:
            break
        if i % 2 == 0:
            continue
        total = total + i * tk.sum(x)
        count += 1
    return total, count


def plain_sums(x, n):
    total, count = 0.0, 0
    for i in range(n):
        if x.sum() * i > 3.0:
            break
        if i % 2 == 0:
            continue
        total = total + i * x.sum()
        count += 1
    return total, count


@tk.jit
def several_returns(x):
    if tk.sum(x) > 0:
        return x * 2
    y = x
    for row in x:
        y = y + row
        if tk.max(y) < -100:
            return -y
    return y if tk.min(y) > -50 else y / 2


def plain_several_returns(x):
    if x.sum() > 0:
        return x * 2
    y = x
    for row in x:
        y = y + row
        if y.max() < -100:
            return -y
    return y if y.min() > -50 else y / 2


# The DML twin's loop, in the same order.
L2SVM = """
svm = function(matrix[double] X, matrix[double] Y, double lambda, double epsilon, int maxIterations)
    return (matrix[double] w, int i) {
  w = matrix(0, rows=ncol(X), cols=1)
  gradient = t(X) %*% Y
  s = gradient
  Xw = matrix(0, rows=nrow(X), cols=1)
  i = 0
  goesOn = TRUE
  while (goesOn & i < maxIterations) {
    step = 0.0
    Xd = X %*% s
    wd = lambda * sum(w * s)
    dd = lambda * sum(s * s)
    inner = TRUE
    while (inner) {
      out = 1 - Y * (Xw + step * Xd)
      sv = out > 0
      out = out * sv
      g = wd + step * dd - sum(out * Y * Xd)
      h = dd + sum(Xd * sv * Xd)
      step = step - g / h
      inner = g * g / h >= 0.0000000001
    }
    w = w + step * s
    Xw = Xw + step * Xd
    out = 1 - Y * Xw
    sv = out > 0
    out = sv * out
    objective = 0.5 * sum(out * out) + lambda / 2 * sum(w * w)
    next = t(X) %*% (out * Y) - lambda * w
    if (step * sum(s * gradient) < epsilon * objective) goesOn = FALSE
    s = sum(next * next) / sum(gradient * gradient) * s + next
    gradient = next
    i = i + 1
  }
}
"""


@tk.jit
def svm(X, Y, reg, epsilon, most):
    w = tk.zeros((X.shape[1], 1))
    gradient = X.T @ Y
    s = gradient
    Xw = tk.zeros((X.shape[0], 1))
    i = 0
    goes_on = True
    while goes_on and i < most:
        step = 0.0
        Xd = X @ s
        wd = reg * tk.sum(w * s)
        dd = reg * tk.sum(s * s)
        inner = True
        while inner:
            out = 1 - Y * (Xw + step * Xd)
            sv = tk.astype(out > 0, tk.float64)
            out = out * sv
            g = wd + step * dd - tk.sum(out * Y * Xd)
            h = dd + tk.sum(Xd * sv * Xd)
            step = step - g / h
            inner = g * g / h >= 0.0000000001
        w = w + step * s
        Xw = Xw + step * Xd
        out = 1 - Y * Xw
        sv = tk.astype(out > 0, tk.float64)
        out = sv * out
        objective = 0.5 * tk.sum(out * out) + reg / 2 * tk.sum(w * w)
        following = X.T @ (out * Y) - reg * w
        if step * tk.sum(s * gradient) < epsilon * objective:
            goes_on = False
        s = tk.sum(following * following) / tk.sum(gradient * gradient) * s + following
        gradient = following
        i += 1
    return w, i


class Captured(unittest.TestCase):
    def test_while(self):
        self.assertAlmostEqual(float(root(tk.asarray(2.0))), 2 ** 0.5)
        self.assertAlmostEqual(float(root(9.0)), 3.0)
        self.assertIn("while", root.explain(tk.asarray(2.0), show="program"))

    def test_for_with_jumps(self):
        x = np.array([0.1, 0.2])
        for n in (0, 1, 5, 20):
            for count in (n, tk.asarray(n)):
                with self.subTest(n=n):
                    total, steps = sums(x, count)
                    expected, expected_steps = plain_sums(x, n)
                    self.assertAlmostEqual(float(total), expected)
                    self.assertEqual(int(steps), expected_steps)

    def test_returns_from_loops_and_branches(self):
        for cells in ([1.0, 2.0], [-1.0, -2.0], [-100.0, -200.0], [-40.0, 5.0]):
            with self.subTest(cells=cells):
                x = np.array(cells)
                np.testing.assert_array_equal(np.asarray(several_returns(x)), plain_several_returns(x))

    def test_a_function_is_captured_once_for_shapes_and_types(self):
        calls = []

        @tk.jit
        def scaled(x, factor, offset=1):
            calls.append(x.shape)
            return x * factor + offset
        for size in (2, 3, 2, 3):
            for factor in (1.5, 2.5):
                np.testing.assert_array_equal(np.asarray(scaled(np.ones(size), factor)), np.full(size, factor + 1))
        self.assertEqual(calls, [(2,), (3,)])
        scaled(np.ones(2), 1.5, offset=2)  # integers are constants
        scaled(np.ones(2, dtype=np.float32), 1.5)
        self.assertEqual(len(calls), 4)
        self.assertEqual(scaled(np.ones(2, dtype=np.float32), 1.5).dtype, tk.float32)

    def test_calls_like_earlier_ones(self):
        """They go to a program without running code of Python: each kind of argument decides which."""
        @tk.jit
        def f(x, y=2, *, z=0.0, name="a"):
            return (x * int(y) + z, {"name": name, "kind": type(y).__name__})
        x = np.arange(3.0)
        for _ in range(3):
            for cells in (x, tk.asarray(x), tk.asarray(x) * 1.0, x.reshape(3, 1), x.astype(np.float32), x[::-1], x.astype(">f8").astype(float)):
                expected = np.asarray(cells)
                self.assertEqual(np.asarray(f(cells)[0]).tolist(), (expected * 2).tolist())
                self.assertEqual(np.asarray(f(cells)[0]).dtype, expected.dtype)
                self.assertEqual(np.asarray(f(cells, 3)[0]).tolist(), (expected * 3).tolist())
                self.assertEqual(np.asarray(f(cells, y=3)[0]).tolist(), (expected * 3).tolist())
                self.assertEqual(np.asarray(f(cells, z=0.5, y=3)[0]).tolist(), (expected * 3 + 0.5).tolist())
                self.assertEqual(np.asarray(f(cells, z=-0.5, y=3)[0]).tolist(), (expected * 3 - 0.5).tolist())
            self.assertEqual([f(x, 1)[1], f(x, True)[1], f(x, 1)[1]],
                             [{"name": "a", "kind": "int"}, {"name": "a", "kind": "bool"}, {"name": "a", "kind": "int"}])
            self.assertEqual([f(x, name=name)[1]["name"] for name in ("a", "b", "a")], ["a", "b", "a"])
        traces = f.traces()
        f(x, 3), f(tk.asarray(x), z=1.5, y=3)
        self.assertEqual(f.traces(), traces)
        with self.assertRaises(TypeError):
            f(x, unknown=1)

    def test_calls_after_the_threads_changed(self):
        @tk.jit
        def f(x):
            return tk.sum(x)
        x = np.ones(1000)
        try:
            for count in (1, 2, 1, 2):
                tk.set_threads(count)
                self.assertEqual(float(f(x)), 1000)
                self.assertEqual(float(f(x)), 1000)
            self.assertEqual(f.traces(), 2)
        finally:
            tk.set_threads(None)

    def test_what_calls_like_functions_do(self):
        class Holder:
            pass
        holder = Holder()
        f = tk.jit(lambda x: (x + 1, holder))
        holder.f = f  # a cycle through what a call gives
        f(np.ones(2)), f(np.ones(2))
        alive = weakref.ref(holder)
        del f, holder
        gc.collect()
        self.assertIsNone(alive())

        def power(exponent, x):
            return x ** exponent
        self.assertEqual(np.asarray(tk.jit(functools.partial(power, 2.0))(np.full(2, 3.0))).tolist(), [9, 9])
        g = tk.jit(power)
        self.assertIs(copy.copy(g), g)
        self.assertIs(copy.deepcopy(g), g)
        unpickled = pickle.loads(pickle.dumps(np.ones(3)))
        for _ in range(20):
            self.assertEqual(np.asarray(g(2.0, unpickled)).tolist(), [1, 1, 1])
        self.assertEqual(g.traces(), 1)

    def test_calls_hold_no_arrays(self):
        @tk.jit
        def f(x):
            return x + 1
        cells = np.ones(3)
        alive = weakref.ref(cells)
        for _ in range(3):
            result = f(tk.asarray(cells))
        del cells
        gc.collect()
        self.assertIsNone(alive())
        self.assertEqual(np.asarray(result).tolist(), [2, 2, 2])
        alive = weakref.ref(f)
        del f
        gc.collect()
        self.assertIsNone(alive())

    def test_vectors_beside_products_are_fused(self):
        """What is computed of X @ w and multiplied with X.T again is one pass over X, though vectors have one dimension."""
        @tk.jit
        def step(X, y, w):
            return w - 0.5 * (X.T @ (1 / (1 + tk.exp(-(X @ w))) - y)) / X.shape[0]
        X, y, w = np.random.default_rng(1).random((20_000, 20)), np.ones(20_000), np.full(20, 0.1)
        plan = str(step.explain(X, y, w))
        self.assertEqual(plan.count(" reads "), 2, plan)  # of the gradient, and of the twenty cells of the new w
        expected = w - 0.5 * (X.T @ (1 / (1 + np.exp(-(X @ w))) - y)) / 20_000
        np.testing.assert_allclose(np.asarray(step(X, y, w)), expected, rtol=1e-12)

    def test_gradients_of_a_picture_are_one_operator(self):
        @tk.jit
        def edges(image):
            down = image[2:, 1:-1] - image[:-2, 1:-1]
            across = image[1:-1, 2:] - image[1:-1, :-2]
            return tk.sum(tk.sqrt(down * down + across * across))
        image = np.random.default_rng(1).random((300, 400))
        plan = str(edges.explain(image))
        self.assertEqual(plan.count(" reads "), 1, plan)
        down, across = image[2:, 1:-1] - image[:-2, 1:-1], image[1:-1, 2:] - image[1:-1, :-2]
        np.testing.assert_allclose(float(edges(image)), np.sqrt(down ** 2 + across ** 2).sum(), rtol=1e-12)

    def test_the_same_bits_as_the_script(self):
        rng = np.random.default_rng(7)
        for rows, columns in ((300, 7), (2000, 30)):
            X = rng.standard_normal((rows, columns))
            Y = np.sign(X @ rng.standard_normal((columns, 1)) + 0.1 * rng.standard_normal((rows, 1)))
            expected = tk.compile(L2SVM).svm(X, Y, 1.0, 0.001, 100)
            w, steps = svm(X, Y, 1.0, 0.001, 100)
            self.assertEqual(int(steps), expected.i)
            self.assertGreater(expected.i, 3)
            np.testing.assert_array_equal(np.asarray(w).view(np.int64), expected.w.view(np.int64))

    def test_nested_structures_and_closures(self):
        offset = tk.asarray([1.0, 2.0])

        @tk.jit
        def parts(values):
            return {"sum": values["x"] + offset, "both": [values["x"], values["y"][0] * 2], "name": "kept"}
        found = parts({"x": tk.asarray([1.0, 1.0]), "y": (tk.asarray(3.0), None)})
        self.assertEqual(np.asarray(found["sum"]).tolist(), [2.0, 3.0])
        self.assertEqual((float(found["both"][1]), found["name"]), (6.0, "kept"))

    def test_a_captured_function_in_another(self):
        @tk.jit
        def both(x):
            return root(x) + 1
        self.assertAlmostEqual(float(both(tk.asarray(4.0))), 3.0)

    def test_lists_are_written_out(self):
        @tk.jit
        def listed(x):
            parts = []
            for i in range(4):
                parts.append(x * i)
            return tk.stack(parts)
        self.assertEqual(np.asarray(listed(tk.asarray([1.0, 2.0])))[3].tolist(), [3.0, 6.0])

    def test_assignment_to_parts(self):
        @tk.jit
        def running(x):
            for i in range(1, x.shape[0]):
                x[i] = x[i] + x[i - 1]
            return x
        given = tk.asarray([1.0, 2.0, 3.0])
        self.assertEqual(np.asarray(running(given)).tolist(), [1.0, 3.0, 6.0])
        self.assertEqual(np.asarray(given).tolist(), [1.0, 2.0, 3.0])

    def test_numbers_grow_to_floats(self):
        @tk.jit
        def total(x):
            s = 0
            for row in x:
                s = s + row
            return s
        self.assertEqual(float(total(tk.asarray([0.5, 1.0]))), 1.5)
        self.assertEqual(int(total(tk.asarray([1, 2]))), 3)
        self.assertEqual(total(tk.asarray(np.ones(2, dtype=np.float32))).dtype, tk.float32)

    def test_variables_of_a_loop_that_certainly_runs(self):
        @tk.jit
        def last(x):
            for row in x:
                y = row * 2
            return y
        self.assertEqual(float(last(tk.asarray([1.0, 4.0]))), 8.0)

        @tk.jit
        def halved(x):
            while True:
                y = x / 2
                x = y
                if y < 1:
                    break
            return y
        self.assertEqual(float(halved(tk.asarray(5.0))), 0.625)

    def test_loops_of_known_conditions_are_written_out(self):
        @tk.jit
        def powers(x, n):
            parts = {}
            while n > 0:
                parts[n] = x ** n
                n -= 1
            return parts
        found = powers(tk.asarray(2.0), 3)
        self.assertEqual({n: float(value) for n, value in found.items()}, {1: 2.0, 2: 4.0, 3: 8.0})

    def test_methods(self):
        class Model:
            def __init__(self, weights):
                self.weights = tk.asarray(weights)

            @tk.jit
            def predict(self, X):
                return X @ self.weights
        self.assertEqual(np.asarray(Model([1.0, 2.0]).predict(np.eye(2))).tolist(), [1.0, 2.0])

    def agrees(self, function, *arguments):
        np.testing.assert_array_equal(np.asarray(tk.jit(function)(*arguments)), function(*arguments))

    def test_variables_that_inner_functions_read(self):
        def function(x):
            factor = 1.0

            def scaled():
                return factor * x
            if x[0] > 0:
                factor = 2.0
            return scaled()
        self.agrees(function, np.array([-1.0, 2.0]))
        self.agrees(function, np.array([1.0, 2.0]))

    def test_variables_of_the_step_before(self):
        def function(x):
            for i in range(3):
                if i > 0:
                    x = x + before
                before = x * 2
            return x
        self.agrees(function, np.array([1.0, 2.0]))

    def test_effects_happen_once_for_each_known_step(self):
        counted = type("Counted", (), {"n": 0})()

        def function(x, factors):
            counted.n = 0
            for i in range(3):
                counted.n += 1
                x = x * factors[i]
            return x * counted.n
        self.agrees(function, np.array([1.0, 2.0]), (1.0, 2.0, 3.0))

    def test_effects_in_a_branch_over_arrays_are_refused(self):
        held = type("Held", (), {})()

        def attribute(x):
            if x[0] > 0:
                held.factor = 2.0
            return x

        def list_by_another_name(x):
            parts = []
            same = parts
            if x[0] > 0:
                same.append(1)
            return x * len(parts)

        def array_in_a_list(x):
            for part in [x * 1, x * 2]:
                if part[0] > 0:
                    self.changed(part)
            return x
        for function in (attribute, list_by_another_name, array_in_a_list):
            with self.subTest(function=function.__name__):
                self.refusal(tk.jit(function), np.array([-1.0, 2.0]))

    @staticmethod
    def changed(part):
        part[1] = 50.0

    def test_decorators_between(self):
        def doubled(function):
            @functools.wraps(function)
            def wrapped(*arguments):
                return function(*arguments) * 2
            return wrapped

        @tk.jit
        @doubled
        def function(x):
            return x + 1
        self.assertEqual(np.asarray(function(np.array([1.0, 2.0]))).tolist(), [4.0, 6.0])

    def test_recursion(self):
        def power(x, n):
            return x if n == 0 else power(x, n - 1) * 2
        self.agrees(power, np.array([1.0]), 3)

    def test_what_is_not_followed_still_runs(self):
        def walrus(x, n):
            while (n := n - 1) > 0:
                x = x * 2
            return x

        def attempted(x, table):
            for i in (0, 1, 2):
                try:
                    x = x + table[i]
                except KeyError:
                    return x * 100
            return x
        self.agrees(walrus, np.array([1.0]), 3)
        with self.assertWarnsRegex(RuntimeWarning, "within `try` .line 3 of the function. can't be followed"):
            self.agrees(attempted, np.array([1.0]), {0: 1.0})

        def branch(x):
            if (first := x[0]) > 0:
                return first
            return -first
        self.assertIn("an assignment by := (line 2 of the function) can't be followed", self.refusal(tk.jit(branch), np.array([1.0])))

    def test_loops_that_are_not_followed_warn(self):
        """As of functions that were typed in: nobody would see why they compile for so long."""
        names = {"tk": tk}
        exec("@tk.jit\ndef f(x):\n    for _ in range(3):\n        x = x + 1\n    return x\n\n@tk.jit\ndef g(x):\n    return x + 1", names)
        with self.assertWarnsRegex(RuntimeWarning, "f: each step of its loops .* its source can't be read") as seen:
            self.assertEqual(float(names["f"](1.0)), 4.0)
        self.assertEqual(seen.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(float(names["f"](1.0)), 4.0)
            self.assertEqual(float(names["g"](1.0)), 2.0)

    def test_constants_are_told_apart(self):
        @tk.jit(static="n")
        def scaled(x, n):
            return x * (100 if n is True else n)
        x = np.array([1.0])
        found = [float(scaled(x, n)[0]) for n in (1, True, 0.0, -0.0)]
        self.assertEqual([str(each) for each in found], ["1.0", "100.0", "0.0", "-0.0"])

        class Model:
            factor = 2.0

            @tk.jit
            def predict(self, x):
                return x * self.factor
        model = Model()
        self.assertEqual(float(model.predict(x)[0]), 2.0)
        model.factor = 5.0
        self.assertEqual(float(model.predict(x)[0]), 5.0)

    def test_whole_numbers_divide_to_floats(self):
        def function(x):
            for i in range(3):
                x = x + i / 2
            return x
        self.agrees(function, np.array([1.0, 2.0]))

    def test_explain_after_a_captured_array_has_its_cells(self):
        offset = tk.asarray([1.0, 2.0]) * 2

        @tk.jit
        def shifted(x):
            return x + offset
        shifted(np.ones(2))
        np.asarray(offset)
        self.assertIn("main", shifted.explain(np.ones(2), show="image"))

    def refusal(self, function, *arguments):
        with self.assertRaises(tk.CaptureError) as caught:
            function(*arguments)
        return str(caught.exception)

    def test_refusals_name_the_line(self):
        x = tk.asarray([1.0, 2.0])

        @tk.jit
        def number(x):
            y = x + 1
            return float(y[0])
        text = self.refusal(number, x)
        self.assertIn("return float(y[0])", text)
        self.assertRegex(text, r"test_arrays\.py:\d+: in number: ")

        @tk.jit
        def shapes(x):
            y = x
            if tk.sum(x) > 0:
                y = x[:1]
            return y
        text = self.refusal(shapes, x)
        self.assertIn("variable 'y' is an array of float64 of shape (1,) on one side of a branch, and of float64 of shape (2,)", text)
        self.assertIn("if tk.sum(x) > 0:", text)

        @tk.jit
        def types(x):
            y = tk.astype(x, tk.float32)
            while tk.sum(y) < 100:
                y = tk.astype(y, tk.float64) * 2
            return y
        text = self.refusal(types, x)
        self.assertIn("variable 'y'", text)

        @tk.jit
        def mask(x):
            return x[x > 1]
        self.assertIn("where(mask, x, other) keeps the shape", self.refusal(mask, x))

        @tk.jit
        def undefined(x):
            while tk.sum(x) < 100:
                x = x * 2
                last = x
            return last + 1
        with self.assertRaisesRegex(tk.CaptureError, "variable 'last' has no value here"):
            undefined(x)


if __name__ == "__main__":
    unittest.main()
