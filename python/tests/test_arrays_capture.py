"""Functions of arrays that are captured with their loops, branches and assignments do what they do as functions of Python."""

import collections
import functools
import heapq
import unittest

import numpy as np

import tokamak as tk
from capturing import CapturingCase


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


class Captured(CapturingCase):
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

    def test_effects_of_what_steps_call_happen_once_for_each(self):
        class Counter:
            def __init__(self):
                self.n = 0

            def bump(self):
                self.n += 1

        def deleted(x):
            parts = [1.0, 2.0, 3.0, 4.0]
            for i in range(3):
                x = x + parts[0]
                del parts[0]
            return x * len(parts)

        def pushed(x):
            heap, push = [], heapq.heappush
            for i in range(3):
                push(heap, 3 - i)
            return x * heap[0] + len(heap)

        def queued(x):
            queue, cells, bytes_ = collections.deque(), np.zeros(1), bytearray(1)
            for i in range(3):
                queue.append(i)
                cells[0] += 1
                bytes_[0] += 1
            return x * len(queue) + cells * bytes_[0]

        def nested(x):
            out = []

            def add(value):
                out.append(value)
            for i in range(3):
                add(x * (2 + i))
            return out[0] + out[1] + out[2]

        def iterated(x):
            numbers = iter([1.0, 2.0, 3.0, 4.0])
            for i in range(3):
                x = x + next(numbers)
            return x * next(numbers)

        def generated(x):
            numbers = (k * 1.5 for k in range(5))
            for i in range(3):
                x = x + next(numbers)
            return x

        def random(x):
            generator = np.random.default_rng(3)
            for i in range(3):
                x = x + generator.random()
            return x + generator.random()

        def counted(x):
            counter = Counter()
            for i in range(3):
                counter.bump()
            return x * counter.n
        for function in (deleted, pushed, queued, nested, iterated, generated, random, counted):
            with self.subTest(function=function.__name__):
                self.agrees(function, np.array([1.0, 2.0]))

    def test_other_names_see_changes_in_place(self):
        def in_a_loop(x):
            y = x
            for i in range(3):
                y += x
            return x

        def in_a_branch(x):
            y = x
            if x[0] > 0:
                y[0] = 7
            return x

        def in_a_list(x):
            parts = [x * 1, x * 2]
            y = parts[0]
            for i in range(150):
                y += 1
            return parts[0] + y

        def of_a_function_that_is_called(x):
            def change(part):
                part[1] = 50.0
            parts = [x * 1, x * 2]
            for part in parts:
                if part[0] > 0:
                    change(part)
            return parts[0] + parts[1]

        def from_step_to_step(x):
            before, now = x, x * 1
            for i in range(3):
                before = now
                now += 2
            return before

        def while_it_is_small(x):
            y = z = x * 1
            while y[0] < 10:
                y *= 2
                if y[0] > 5:
                    y[1] = 0
            return z

        def renamed(x):
            for i in range(3):
                x[0] = 0
                x = x + 1
            return x

        def renamed_while_it_is_small(x):
            while x[0] < 5:
                x[1] = 0
                x = x + 1
            return x

        def returned(x):
            y = x * 1
            z = y
            if x[0] > 0:
                y += 1
                return z
            y += 2
            return z

        def within_a_branch(x):
            y = x * 1
            z = y
            if x[0] > -5:
                while y[0] < 10:
                    y += 3
            return z

        def swapped(x):
            y, z = x, x + 1
            for i in range(5):
                y[0] += 1
                y, z = z, y
            return y - 2 * z

        def kept(x):
            best = x
            for i in range(3):
                x = x * 2
                if x[0] < 3:
                    best = x
            return best + x
        for function in (in_a_loop, in_a_branch, in_a_list, of_a_function_that_is_called, from_step_to_step, while_it_is_small, renamed,
                         renamed_while_it_is_small, returned, within_a_branch, swapped, kept):
            for cells in ([1.0, 2.0], [-1.0, 2.0]):
                with self.subTest(function=function.__name__, cells=cells):
                    expected = function(np.array(cells)) if cells[0] > 0 or function is not while_it_is_small else None
                    if expected is not None:
                        np.testing.assert_array_equal(np.asarray(tk.jit(function)(np.array(cells))), expected)

    def test_what_one_side_assigns_is_not_read_by_the_other(self):
        def function(x):
            y = x * 2
            if x[0] > 0:
                y = x
                z = y + 1
            else:
                z = y * 3
            return z
        for cells in ([1.0, 2.0], [-1.0, 2.0]):
            self.agrees(function, np.array(cells))

    def test_numbers_do_not_change_in_place(self):
        def function(x, factor):
            total, first = 0, factor
            factor += 1
            for i in range(4):
                before = i
                i += 1
                total = total + before * i
            return x * total + first * factor
        self.agrees(function, np.array([1.0, 2.0]), 2.5)

    def test_numbers_of_a_loop_stay_numbers(self):
        def last(x):
            for i in range(3):
                x = x + i
            return x * i

        def halved(x):
            n, m = 7, 7
            for i in range(2):
                n = n // 2
                m = (m + i) % 5
            return x * n + m
        for function in (last, halved):
            self.agrees(function, np.array([1.0, 2.0]))

    def test_chains_of_comparisons(self):
        def counted(x):
            calls = []

            def following():
                calls.append(1)
                return len(calls)
            between = 0 < following() < 5
            never = 3 < following() < following()
            return x * len(calls) + int(between) + int(never)

        def over_arrays(x):
            return x * 2 if 0 < x[0] <= x[1] < 5 else x
        for cells in ([1.0, 2.0], [-1.0, 2.0], [2.0, 1.0], [1.0, 7.0]):
            self.agrees(counted, np.array(cells))
            self.agrees(over_arrays, np.array(cells))

    def test_a_range_of_ones_own(self):
        def function(x):
            def range(n):
                return [10, 20]
            for i in range(3):
                x = x + i
            return x
        self.agrees(function, np.array([1.0]))

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

    def test_whole_numbers_divide_to_floats(self):
        def function(x):
            for i in range(3):
                x = x + i / 2
            return x
        self.agrees(function, np.array([1.0, 2.0]))

if __name__ == "__main__":
    unittest.main()
