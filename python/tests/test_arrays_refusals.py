"""What can't be captured or isn't followed, and what users are told of it."""

import heapq
import unittest
import warnings

import numpy as np

import tokamak as tk
from capturing import CapturingCase


counted = 0


def count_globally():
    global counted
    counted += 1


class Refusals(CapturingCase):
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

        class Counter:
            __slots__ = "n"

            def bump(self):
                self.n += 1

        def method(x):
            counter = Counter()
            counter.n = 0
            if x[0] > 0:
                counter.bump()
            return x * counter.n

        def cells(x):
            weights = np.zeros(2)
            if x[0] > 0:
                weights[0] = 5
            return x * weights

        def deleted(x):
            parts = [x, x * 2]
            if x[0] > 0:
                del parts[0]
            return parts[0]

        def iterator(x):
            numbers = iter([1.0, 2.0])
            if x[0] > 0:
                x = x + next(numbers)
            return x + next(numbers)

        def random(x):
            generator = np.random.default_rng(3)
            while x[0] < 10:
                x = x + 1 + generator.random()
            return x

        def listed(x):
            kept = []

            def keep(part):
                kept.append(part)
            while x[0] < 10:
                x = x + 1
                keep(x)
            return kept[0]

        def heap(x):
            numbers, push = [3], heapq.heappush
            if x[0] > 0:
                push(numbers, 1)
            return x * numbers[0]

        def globally(x):
            if x[0] > 0:
                count_globally()
            return x * counted
        for function in (attribute, list_by_another_name, method, cells, deleted, iterator, random, listed, heap, globally):
            with self.subTest(function=function.__name__):
                self.assertRegex(self.refusal(tk.jit(function), np.array([-1.0, 2.0])), "a (branch|loop) over arrays changes")
        self.assertEqual(counted, 0)
        self.assertFalse(hasattr(held, "factor"))
        self.assertIn("variable 'weights', an array of NumPy, which", self.refusal(tk.jit(cells), np.ones(2)))
        self.assertIn("variable 'counter', an object of Counter, which", self.refusal(tk.jit(method), np.ones(2)))

    def test_effects_that_can_not_be_set_back(self):
        """The loop must not go on with an iterator that capturing has moved."""
        holder = type("Holder", (), {})()

        def function(x):
            holder.numbers = iter([1.0, 2.0, 3.0])
            for i in range(3):
                x = x + next(holder.numbers)
            return x
        self.assertIn("changes a list_iterator", self.refusal(tk.jit(function), np.array([1.0])))

        def growing(x):
            holder.numbers = iter([1.0, 2.0, 3.0])
            for i in range(3):
                x = tk.concat([x, x[:1] + next(holder.numbers)])
            return x
        self.assertIn("it has to stay the same", self.refusal(tk.jit(growing), np.array([1.0])))

    def test_other_names_for_what_may_have_changed(self):
        def on_one_side(x):
            y = x + 1
            if x[0] > 0:
                y = x
            y[0] = 9.0
            return x

        def in_the_first_step(x):
            y = x
            while y[0] < 10:
                y[1] = 5.0
                y = y + 1
            return x

        def by_an_expression(x, z):
            y = x if x[0] > 0 else z
            y += 1
            return z

        def after_a_loop(x):
            y = x
            while y[0] < 0:
                y = y + 1
            x += 1
            return y
        def after_two_loops(x):
            y = x
            while y[0] < 0:
                y = y + 1
            while y[0] < 0:
                y = y + 2
            x += 1
            return y
        for function, count in ((on_one_side, 1), (in_the_first_step, 1), (by_an_expression, 2), (after_a_loop, 1), (after_two_loops, 1)):
            with self.subTest(function=function.__name__):
                self.assertIn("may have changed by another name", self.refusal(tk.jit(function), *[np.ones(2)] * count))

    def test_arrays_from_outside_stay(self):
        buffer, model = tk.zeros(3), type("Model", (), {"w": tk.zeros(3)})()

        def part(x):
            buffer[0] = x[0]
            return x * 2

        def constant(x):
            buffer[0] = 1.0
            return x * 2

        def attribute(x):
            model.w += x
            return x

        def alias(x):
            y = x
            if x[0] > 0:
                y = buffer
            y[0] = 1.0
            return y
        for function in (part, constant, attribute, alias):
            with self.subTest(function=function.__name__):
                self.assertIn("from outside of the function is changed", self.refusal(tk.jit(function), np.ones(3)))
                self.assertEqual((np.asarray(buffer).tolist(), np.asarray(model.w).tolist()), ([0.0] * 3, [0.0] * 3))

    def test_raise_in_a_branch(self):
        def function(x):
            if tk.any(x < 0):
                raise ValueError("negative")
            return x
        self.assertIn("raise the exception where the function was called", self.refusal(tk.jit(function), np.ones(2)))

        def known(x, n):
            if n < 0:
                raise ValueError("negative")
            return x * n
        with self.assertRaisesRegex(ValueError, "negative"):
            tk.jit(known)(np.ones(2), -1)
        self.agrees(known, np.ones(2), 2)

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

    def test_refusals_name_the_line(self):
        x = tk.asarray([1.0, 2.0])

        @tk.jit
        def number(x):
            y = x + 1
            return float(y[0])
        text = self.refusal(number, x)
        self.assertIn("return float(y[0])", text)
        self.assertRegex(text, r"test_arrays_refusals\.py:\d+: in number: ")

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
