"""What can't be captured or isn't followed, and what users are told of it."""

import unittest
import warnings

import numpy as np

import tokamak as tk
from capturing import CapturingCase


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
