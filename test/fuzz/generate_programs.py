#!/usr/bin/env python3
"""Prints a random DML program: the same one for the same seed, always.

usage: generate_programs.py SEED [COUNT]

Programs use expressions.py for their expressions and print all variables that are left at the end. What follows a line
`E name` has to be the same text on every engine; what follows `A name` may differ in the last digits.
"""

import random
import sys

from expressions import Expressions, Unknown, Value, common_unit, join, most, summed, CELL_LIMIT

SMALL = [1, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33, 40]
LARGE = [63, 64, 65, 66, 67, 68, 69, 70, 1000, 5000]


class ProgramGenerator:
    def __init__(self, seed, small=False):
        self.small = small
        self.random = random.Random(seed)
        self.expressions = Expressions(self.random)
        self.lines, self.functions, self.indent, self.names = [], [], 0, 0
        self.nesting = 0
        self.locked = set()  # carried by a loop around: only statements made for it may assign them

    # ---- text

    def emit(self, line):
        self.lines.append("  " * self.indent + line)

    def fresh(self, prefix):
        self.names += 1
        return f"{prefix}{self.names}"

    @property
    def variables(self):
        return self.expressions.variables

    def assign(self, name, value):
        self.emit(f"{name} = {value.text}")
        self.variables[name] = value.having(name)

    def pick(self, accept):
        names = [n for n, v in self.variables.items() if n not in self.locked and accept(v)]
        return self.random.choice(names) if names else None

    # ---- program

    def program(self):
        inner = [self.random.choice(SMALL) for _ in range(3)] + [1]
        if self.random.random() < 0.3:
            inner.append(self.random.choice(LARGE))
        if self.random.random() < 0.15:
            inner.append(0)
        self.expressions.inner = inner
        for size in set(inner):
            if self.random.random() < 0.4:
                name = self.fresh("n")
                opaque = self.random.choice([str(size), f"as.integer(sum(matrix(1, {size}, 1)))"])
                self.emit(f"{name} = {opaque}")
                self.expressions.sizes.setdefault(size, []).append(name)
        for _ in range(self.random.randint(2, 5)):
            rows, columns = self.shape()
            self.assign(self.fresh("x"), self.expressions.leaf(rows, columns))
        self.statements(self.random.randint(2, 4 if self.small else 9))
        if self.random.random() < 0.08:
            self.failure()
        for name in list(self.variables):
            self.show(name)
        return "\n".join(self.functions + self.lines) + "\n"

    def shape(self):
        while True:
            rows, columns = self.random.choice(self.expressions.inner), self.random.choice(self.expressions.inner)
            if most(rows) * most(columns) <= CELL_LIMIT:
                return rows, columns

    def statements(self, count):
        for _ in range(count):
            choices = [self.matrix_assignment] * 6 + [self.scalar_assignment] * 3 + [self.left_index, self.shown, self.dynamic]
            if self.nesting < 2:
                choices += [self.branch, self.for_loop, self.for_loop, self.while_loop]
            if self.nesting == 0:
                choices += [self.growth, self.call, self.parfor]
            self.random.choice(choices)()

    def matrix_assignment(self):
        self.assign(self.fresh("x"), self.expressions.matrix(*self.shape(), depth=self.random.randint(1, 4)))

    def scalar_assignment(self):
        self.assign(self.fresh("s"), self.expressions.scalar(self.random.randint(1, 4)))

    def left_index(self):
        name = self.pick(lambda v: v.rows is not None and isinstance(v.rows, int) and isinstance(v.columns, int)
                         and v.rows * v.columns > 0)
        if not name:
            return
        target = self.variables[name]
        top, left = self.random.randint(1, target.rows), self.random.randint(1, target.columns)
        bottom, right = self.random.randint(top, target.rows), self.random.randint(left, target.columns)
        if self.random.random() < 0.3:
            value, place = self.expressions.scalar(2), f"{top}, {left}"
        else:
            value = self.expressions.matrix(bottom - top + 1, right - left + 1, 2)
            place = f"{top}:{bottom}, {left}:{right}"
            if (top, bottom) == (1, target.rows) and self.random.random() < 0.7:
                place = f", {left}:{right}"
        self.emit(f"{name}[{place}] = {value.text}")
        self.variables[name] = join(name, target, value)

    def dynamic(self):
        """A matrix whose number of rows depends on the data."""
        rows, columns = self.shape()
        if rows == 0 or columns == 0 or isinstance(rows, Unknown):
            return
        source = self.expressions.matrix(rows, columns, 2, exact=True)
        size = Unknown(self.names, max(rows, 1))
        if source.special:
            return
        text = self.random.choice([f'removeEmpty(target={source.text}, margin="rows")',
                                   f'removeEmpty(target={source.text}, margin="rows", select=(rowSums({source.text}) > 0))'])
        self.assign(self.fresh("x"), source.having(text, rows=size, columns=columns))
        if most(size) * 40 <= CELL_LIMIT and self.nesting == 0:
            self.expressions.inner.append(size)

    def shown(self):
        name = self.pick(lambda v: True)
        if name:
            self.show(name)

    def show(self, name):
        value = self.variables[name]
        tag = "E" if value.exact else "A"
        self.emit(f'print("{tag} {name}")')
        if value.rows is None:
            self.emit(f'print("" + {name})')
        elif most(value.rows) * most(value.columns) <= 60:
            self.emit(f"print(toString({name}, decimal=12))")
        else:
            self.emit(f'print(nrow({name}) + " " + ncol({name}) + " " + min({name}) + " " + max({name}))')
            count = most(value.rows) * most(value.columns)
            for text, aggregate in ((f"sum({name})", summed(value, count, "")),
                                    (f"sum({name}[1, ])", summed(value, most(value.columns), ""))):
                if "[" not in text or isinstance(value.rows, int):
                    self.emit(f'print("{"E" if aggregate.exact else "A"} {name} sum")')
                    self.emit(f'print("" + {text})')

    # ---- control flow

    def condition(self):
        a, b = self.expressions.scalar(2, exact=True), self.expressions.scalar(1, exact=True)
        return f"({a.text} {self.random.choice(['<', '>', '==', '!=', '<=', '>='])} {b.text})"

    def scoped(self, body):
        """Runs body on an indented copy of the variables; those it defines are unknown behind it."""
        before, inner = dict(self.variables), list(self.expressions.inner)
        self.indent += 1
        self.nesting += 1
        body()
        self.nesting -= 1
        self.indent -= 1
        after = dict(self.variables)
        self.expressions.variables = {n: after[n] for n in before}
        self.expressions.inner = inner
        return before, after

    def branch(self):
        rows, columns = self.shape()
        name = self.fresh("x")
        carried = {}

        def side():
            self.statements(self.random.randint(0, 2))
            self.assign(name, self.expressions.matrix(rows, columns, 3))
            carried.setdefault("value", []).append(self.variables[name])

        self.emit(f"if ({self.condition()}) {{")
        before, yes = self.scoped(side)
        self.expressions.variables = dict(before)
        self.emit("} else {")
        _, no = self.scoped(side)
        self.emit("}")
        self.expressions.variables = {n: join(n, yes[n], no[n]) for n in before}
        self.variables[name] = join(name, *carried["value"])

    def loop(self, head, counter, close=None):
        """A loop with variables that it carries, each kept within bounds that hold at any iteration."""
        carried = []
        for _ in range(self.random.randint(1, 2)):
            rows, columns = self.shape() if self.random.random() < 0.7 else (None, None)
            name = self.fresh("x" if rows is not None else "s")
            start = self.expressions.number() if rows is None else \
                self.expressions.bounded(rows, columns, 1, True, 16)
            self.assign(name, start)
            exact = self.random.random() < 0.6
            self.variables[name] = Value(name, rows, columns, 20, 0 if exact else None, 0 if exact else 1e-10, True)
            if exact:
                self.emit(f"{name} = floor({name})")
            carried.append((name, exact))
        before = set(self.variables)
        self.emit(head)

        def body():
            if counter:
                self.variables[counter] = Value(counter, size=10, unit=0)
            locked = self.locked
            self.locked = set(self.variables)
            self.statements(self.random.randint(0, 3))
            for name, exact in carried:
                self.carry(name, exact, dict(carried))
            self.locked = locked
            if close:
                self.emit(close)

        self.scoped(body)
        self.emit("}")
        self.expressions.variables = {n: v for n, v in self.variables.items() if n in before}

    def carry(self, name, exact, carried):
        v = self.variables[name]
        clamp = "{0} = floor(max(min({1}, 16), (-16)))" if exact else "{0} = max(min((({0} * 0.5) + {1}), 16), (-16))"
        hidden = {} if exact else {n: self.variables.pop(n) for n, e in carried.items() if not e}
        for temporary in [n for n, t in self.variables.items() if not exact and not t.exact and n not in self.locked]:
            hidden[temporary] = self.variables.pop(temporary)
        value = self.expressions.scalar(2, exact) if v.rows is None else self.expressions.matrix(v.rows, v.columns, 3, exact)
        self.variables.update(hidden)
        if value.error > 4e-11:
            value = self.expressions.number() if v.rows is None else self.expressions.leaf(v.rows, v.columns)
        self.emit(clamp.format(name, value.text))

    def for_loop(self):
        counter = self.fresh("i")
        trips = self.random.choice(["1:3", "1:2", "1:5", "3:1", "seq(1, 7, 3)", "1:as.integer(sum(matrix(1, 4, 1)))"])
        self.loop(f"for ({counter} in {trips}) {{", counter)

    def while_loop(self):
        counter = self.fresh("k")
        self.emit(f"{counter} = 0")
        also = f" & {self.condition()}" if self.random.random() < 0.3 else ""
        self.loop(f"while (({counter} < {self.random.randint(1, 4)}){also}) {{", counter, f"{counter} = {counter} + 1")

    def growth(self):
        """A matrix that gains a column or a row with each iteration, and is used at each of its sizes."""
        rows = self.random.choice([r for r in self.expressions.inner])
        start, trips, name = self.random.choice([0, 1, 3]), self.random.randint(2, 6), self.fresh("x")
        if most(rows) * 9 > CELL_LIMIT:
            return
        wide = self.random.random() < 0.6
        shape = lambda length: (rows, length) if wide else (length, rows)
        self.assign(name, self.expressions.bounded(*shape(start), 1, True, 16))
        self.emit(f"{name} = floor({name})")
        length = Unknown(self.names, start + trips)
        counter, part = self.fresh("i"), self.fresh("x")
        self.emit(f"for ({counter} in 1:{trips}) {{")

        def body():
            self.variables[name] = Value(name, *shape(length), 17, 0, 0, True)
            self.expressions.inner = self.expressions.inner + [length] * 3
            for _ in range(self.random.randint(0, 2)):
                self.random.choice([self.matrix_assignment, self.scalar_assignment])()
            self.assign(part, self.expressions.matrix(*shape(1), 3, exact=True))
            self.emit(f"{part} = floor(max(min({part}, 16), (-16)))")
            self.emit(f"{name} = {'cbind' if wide else 'rbind'}({name}, {part})")

        self.scoped(body)
        self.emit("}")
        self.variables[name] = Value(name, *shape(start + trips), 17, 0, 0, True)

    def parfor(self):
        """Independent iterations, each of which sets one row."""
        columns, rows, name, counter = self.random.choice(self.expressions.inner), self.random.randint(1, 6), \
            self.fresh("x"), self.fresh("i")
        if isinstance(columns, Unknown) or columns == 0 or columns > 100:
            return
        self.assign(name, self.expressions.bounded(rows, columns, 1, False, 16))
        start = self.variables.pop(name)
        row = []
        self.emit(f"parfor ({counter} in 1:{rows}) {{")

        def body():
            self.variables[counter] = Value(counter, size=10)
            for _ in range(self.random.randint(0, 2)):
                self.random.choice([self.matrix_assignment, self.scalar_assignment])()
            row.append(self.expressions.matrix(1, columns, 3))
            self.emit(f"{name}[{counter}, ] = {row[0].text}")

        self.scoped(body)
        self.emit("}")
        self.variables[name] = join(name, start, row[0])

    def call(self):
        rows, columns = self.shape()
        argument = self.expressions.matrix(rows, columns, 2)
        scalar = self.expressions.scalar(2)
        name, outer_lines, outer_variables, outer_indent = self.fresh("f"), self.lines, self.variables, self.indent
        sizes, inner = self.expressions.sizes, self.expressions.inner
        self.lines, self.indent = [], 1
        self.expressions.sizes = {}
        self.expressions.inner = [s for s in inner if isinstance(s, int)] + [s for s in (rows, columns) if isinstance(s, Unknown)]
        self.expressions.variables = {"A": argument.having("A"), "b": scalar.having("b")}
        self.nesting += 1
        self.statements(self.random.randint(1, 3))
        result = self.expressions.matrix(rows, columns, 3)
        self.emit(f"R = {result.text}")
        number = self.expressions.scalar(3)
        self.emit(f"r = {number.text}")
        self.nesting -= 1
        body = self.lines
        self.lines, self.indent = outer_lines, outer_indent
        self.expressions.variables, self.expressions.sizes, self.expressions.inner = outer_variables, sizes, inner
        self.functions += [f"{name} = function(matrix[double] A, double b) return (matrix[double] R, double r) {{", *body, "}"]
        matrix_name, scalar_name = self.fresh("x"), self.fresh("s")
        self.emit(f"[{matrix_name}, {scalar_name}] = {name}({argument.text}, {scalar.text})")
        self.variables[matrix_name] = result.having(matrix_name)
        self.variables[scalar_name] = number.having(scalar_name)

    # ---- failures

    def failure(self):
        """A statement that ends the program with an error."""
        rows, columns = self.shape()
        x = self.expressions.matrix(rows, columns, 2)
        other = self.expressions.matrix(*self.shape(), depth=1)
        self.emit(self.random.choice([
            f"y = ({x.text} + cbind({x.text}, matrix(1, {self.expressions.dimension(rows)}, 2)))",
            f"y = ({x.text} %*% {other.text})",
            f"y = as.scalar(rbind({x.text}, {x.text}))",
            f'y = 1\nstop("value " + {self.expressions.scalar(2, True).text})',
            f"z = {x.text}\ny = z[nrow(z) + 1, 1]",
            f"y = {x.text}\ny[1, ncol(y) + 2] = 1",
            f"y = table(({x.text} * 0), 1)",
            f"if ({self.condition()}) {{\n  y = 1\n}}",
            f"y = solve({x.text}, {other.text})",
            f"y = 5 %/% as.integer({self.expressions.scalar(1, True).text})"]))
        self.emit('print("A y")\nprint(sum(as.matrix(y)))')


def program(seed, small=False):
    return ProgramGenerator(seed, small).program()


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    for seed in range(first, first + count):
        print(program(seed), end="")
