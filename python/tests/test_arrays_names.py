"""Captured functions of random statements, in which several names stand for one array that changes in place: they give what they give of
NumPy's arrays, or say why they can't be captured."""

import importlib.util
import os
import pathlib
import random
import sys
import tempfile
import unittest

import numpy as np

import tokamak as tk

EXAMPLES = 20 * int(os.environ.get("TOKAMAK_EXAMPLES", 8))
NAMES = "abcd"


class Statements:
    """Of one function, in lines."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_of(self, *choices):
        return self.random.choice(choices)

    def name(self):
        return self.random.choice(NAMES)

    def condition(self):
        return f"{self.name()}[{self.random.randrange(2)}] {self.one_of('<', '>')} {self.one_of(0.5, 1.0, 2.5)}"

    def expression(self):
        return f"{self.name()} {self.one_of('+ 1.0', '* 0.5', '* 1.0', '- ' + self.name())}"

    def statement(self, depth):
        item = f"items[{self.random.randrange(2)}]"
        kind = self.random.random() if depth else self.random.random() * 0.8
        if kind < 0.2:
            return [f"{self.name()} = {self.name()}"]
        if kind < 0.4:
            return [f"{self.name()} = {self.expression()}"]
        if kind < 0.55:
            return [f"{self.name()} {self.one_of('+=', '*=')} {self.one_of('1.0', '0.5', self.name())}"]
        if kind < 0.65:
            return [f"{self.name()}[{self.random.randrange(2)}] = {self.one_of('3.0', self.name() + '[0]')}"]
        if kind < 0.8:
            return [self.one_of(f"{item} = {self.name()}", f"{item}[0] = 4.0", f"{self.name()} = {item}", "n += 1")]
        if kind < 0.9:
            other = ["else:", *self.block(depth - 1)] if self.random.random() < 0.5 else []
            return [f"if {self.condition()}:", *self.block(depth - 1), *other]
        if kind < 0.95:
            return [f"for i{depth} in range({self.one_of(1, 2, 3, 120)}):", *self.block(depth - 1)]
        return [f"k{depth} = 0", f"while k{depth} < 3 and {self.condition()}:", *self.block(depth - 1), f"    k{depth} += 1"]

    def block(self, depth):
        return ["    " + line for _ in range(self.random.randrange(1, 4)) for line in self.statement(depth)]


def function_text(seed):
    statements = Statements(seed)
    results = statements.one_of("a, b, c, d, n", "a, n", "b, items[0]", "a, b", "c, items[1]")
    lines = [f"def function_{seed}(a, b):", "    c, d, n = a, b * 2.0, 0", "    items = [a, b]", *statements.block(2), *statements.block(2)]
    return "\n".join([*lines, f"    return {results}", "", ""])


class Names(unittest.TestCase):
    def test_random_functions(self):
        captured = 0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "random_functions.py")
            path.write_text("".join(map(function_text, range(EXAMPLES))))
            description = importlib.util.spec_from_file_location("random_functions", path)
            module = importlib.util.module_from_spec(description)
            sys.modules["random_functions"] = module
            description.loader.exec_module(module)
            for seed in range(EXAMPLES):
                function = getattr(module, f"function_{seed}")
                for cells in ([0.25, 1.5], [2.0, 0.75]):
                    with self.subTest(text=function_text(seed), cells=cells), np.errstate(all="ignore"):
                        x, y = np.array(cells), np.array([1.0, 0.5])
                        expected = function(x.copy(), y.copy())
                        try:
                            found = tk.jit(function)(x, y)
                        except tk.CaptureError:
                            continue
                        captured += 1
                        for one, other in zip(found, expected):
                            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9)
        self.assertGreater(captured, EXAMPLES, "half of them are captured")


if __name__ == "__main__":
    unittest.main()
