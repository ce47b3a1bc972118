"""Calls of captured functions: which go to a program that is there, and what they hold."""

import collections
import copy
import functools
import gc
import pickle
import unittest
import weakref

import numpy as np

import tokamak as tk


class Calls(unittest.TestCase):
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

    def test_objects_are_told_apart_by_what_they_hold(self):
        class Decaying:
            def __init__(self):
                self.rate, self.parts, self.weights, self.cells = 1.0, [1.0, {"a": 2.0}], tk.asarray([1.0, 2.0]), np.ones(2)

            @tk.jit
            def step(self, x):
                return x * self.rate * self.parts[0] * self.parts[1]["a"] * self.weights * float(self.cells[0])

        class Slotted:
            __slots__ = ("rate",)

            @tk.jit
            def step(self, x):
                return x * self.rate
        x, model, slotted = np.array([1.0, 1.0]), Decaying(), Slotted()

        def check():
            expected = model.rate * model.parts[0] * model.parts[1]["a"] * np.asarray(model.weights) * model.cells[0]
            np.testing.assert_allclose(np.asarray(model.step(x)), expected, rtol=1e-15)
        for _ in range(30):
            model.rate *= 0.9
            check()
            slotted.rate = model.rate
            self.assertEqual(float(slotted.step(x)[0]), model.rate)
        model.parts[0] = 5.0
        check()
        model.parts[1]["a"] = 7.0
        check()
        model.weights += 10.0
        check()
        model.weights[0] = 3.0
        check()
        model.cells[0] = 4.0
        check()
        model.cells = np.full(2, 5.0)
        check()

    def test_what_is_like_before_is_not_captured_anew(self):
        class Model:
            def __init__(self):
                self.rate, self.layers, self.itself = 2.0, [np.ones(2), tk.ones(2)], self

            @tk.jit
            def step(self, x):
                return x * self.rate * self.layers[0] * self.layers[1]
        model = Model()
        for _ in range(3):
            model.step(np.ones(2))
        self.assertEqual(Model.step.traces(), 1)
        alive = weakref.ref(model)
        del model
        gc.collect()
        self.assertIsNone(alive())
        Model().step(np.ones(2))
        self.assertEqual(Model.step.traces(), 1, "that of an object that is gone is gone, too")

    def test_tuples_with_names(self):
        Pair = collections.namedtuple("Pair", "first second")

        @tk.jit
        def f(x, pair):
            return x * pair.first, pair.second, type(pair).__name__
        x = np.ones(1)
        for first, second in ((0.0, 1), (-0.0, 1), (1, 0), (1.0, 0), (1.0, 0.5)):
            product, other, name = f(x, Pair(first, second))
            self.assertEqual(str(float(product[0])), str(float(first)))
            self.assertEqual((float(other), name), (second, "Pair"))
        np.testing.assert_array_equal(np.asarray(f(x, Pair(np.full(1, 3.0), tk.asarray(4)))[0]), [3.0])
        kinds = tk.jit(lambda x, pair: (x, type(pair.second).__name__))
        self.assertEqual([kinds(x, Pair(1, second))[1] for second in (1, True, 0, False)], ["int", "bool", "int", "bool"])

    def test_results_are_of_their_call(self):
        table = np.arange(3)

        @tk.jit
        def f(x):
            return x * 2, tk.arange(3), table, [1, {2}]
        first = f(np.ones(2))
        first[1][0], first[2][0] = 99, 99
        first[3].append(5)
        first[3][1].add(3)
        for _ in range(2):
            _, array, cells, parts = f(np.ones(2))
            self.assertEqual((np.asarray(array).tolist(), cells.tolist(), parts), ([0, 1, 2], [0, 1, 2], [1, {2}]))

    def test_static_arguments_of_each_kind(self):
        @tk.jit(static="n")
        def by_position(x, /, n=2):
            return x * n

        @tk.jit(static=("n", "rest"))
        def behind_others(x, *rest, n=2):
            return x * n + sum(rest)

        @tk.jit(static="n")
        def arrays_behind(x, *rest, n=2):
            return x * n + sum(rest)

        @tk.jit(static="sizes")
        def listed(x, sizes, **named):
            return x * sum(sizes) + sum(named.values())
        x = np.ones(1)
        self.assertEqual([float(by_position(x)[0]), float(by_position(x, 3)[0]), float(by_position(x, n=4)[0])], [2, 3, 4])
        self.assertEqual([float(behind_others(x)[0]), float(behind_others(x, 0.5, n=4)[0]), float(behind_others(x, 1, 2)[0])], [2, 4.5, 5])
        self.assertEqual([float(arrays_behind(x, 0.5, n=4)[0]), float(arrays_behind(x, 1.5, n=4)[0])], [4.5, 5.5])
        self.assertEqual(arrays_behind.traces(), 1)
        self.assertEqual([float(each[0]) for each in (listed(x, [1, 2]), listed(x, [1, 3], y=0.5), listed(sizes=[1, 3], x=x))], [3, 4.5, 4])

    def test_a_captured_function_changes_no_array_of_another(self):
        @tk.jit
        def inner(x):
            x[0] = 5.0
            return x

        @tk.jit
        def outer(x):
            y = inner(x)
            return x + y
        self.assertEqual(np.asarray(outer(np.ones(2))).tolist(), [6.0, 2.0])

if __name__ == "__main__":
    unittest.main()
