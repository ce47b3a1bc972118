"""Random DML expressions of a wanted shape, each with what is known of its cells.

A difference between two engines counts as a mistake only where the language allows none, so every expression carries
  size      no finite cell is larger in magnitude
  unit      all cells are multiples of 2^unit (None: not known); sums of few such cells are exact in every order
  error     how far a right implementation may be off; 0: elementwise operators of exact cells, the same bits everywhere
  special   cells may be NaN or infinite
Operators that amplify errors without bound (comparisons, rounding, sorting, table) are only applied to exact cells, and
an expression whose error grows over ERROR_LIMIT is dropped for another one.

    expressions = Expressions(random.Random(7))
    expressions.matrix(3, 5, depth=4).text    # "(x1 + exp((x2 / (1 + abs(x2)))))"
"""

import dataclasses
import math

ERROR_LIMIT = 1e-9
SIZE_LIMIT = 1e9
CELL_LIMIT = 40_000
PRODUCT_LIMIT = 400_000
EPSILON = 2.0 ** -52


@dataclasses.dataclass(frozen=True)
class Unknown:
    """A number of rows that only the run tells; equal to itself alone."""
    number: int
    most: int


def most(dimension):
    return dimension.most if isinstance(dimension, Unknown) else dimension


@dataclasses.dataclass(frozen=True)
class Value:
    text: str
    rows: object = None  # None: a scalar
    columns: object = None
    size: float = 1.0
    unit: int | None = 0
    error: float = 0.0
    special: bool = False

    @property
    def exact(self):
        return self.error == 0

    @property
    def acceptable(self):
        return self.error <= ERROR_LIMIT and self.size <= SIZE_LIMIT

    def having(self, text, **changes):
        return dataclasses.replace(self, text=text, **changes)


def common_unit(*values):
    units = [v.unit for v in values]
    return None if None in units else min(units)


def join(text, *values):
    """Any of the values, cell by cell."""
    return values[0].having(text, size=max(v.size for v in values), unit=common_unit(*values),
                            error=max(v.error for v in values), special=any(v.special for v in values))


def summed(value, count, text, **shape):
    """The sum of so many cells."""
    size = value.size * max(count, 1)
    if value.exact and value.unit is not None and size < 2.0 ** (52 + value.unit):
        return value.having(text, size=size, **shape)
    error = count * value.error + size * EPSILON * 4
    return value.having(text, size=size, unit=None, error=error, **shape)


def product(a, b, text, **shape):
    unit = None if None in (a.unit, b.unit) else a.unit + b.unit
    error = a.error * b.size + b.error * a.size
    error += a.size * b.size * EPSILON if error else 0
    return a.having(text, size=a.size * b.size, unit=unit, error=error, special=a.special or b.special, **shape)


def total(a, b, text, **shape):
    error = a.error + b.error
    error += (a.size + b.size) * EPSILON if error else 0
    return a.having(text, size=a.size + b.size, unit=common_unit(a, b), error=error,
                    special=a.special or b.special, **shape)


def smooth(value, text, size, slope, inexact=True):
    """A function of bounded slope; inexact where implementations may differ in the last bits."""
    error = value.error * slope + (size * EPSILON * 4 if inexact or value.error else 0)
    return value.having(text, size=size, unit=None, error=error)


# Functions on a value within the limits a generator of operands gives it: (text, size of the operand, its bound, slope).
SMOOTH = [
    ("exp({})", 6, math.exp(6), math.exp(6)), ("sinh({})", 6, math.sinh(6), math.cosh(6)),
    ("cosh({})", 6, math.cosh(6), math.sinh(6)), ("tan({})", 1, 1.6, 3.5), ("asin(({} * 0.9))", 1, 1.2, 2.3),
    ("acos(({} * 0.9))", 1, 3.0, 2.3), ("sin({})", 1e4, 1, 1), ("cos({})", 1e4, 1, 1), ("tanh({})", 1e6, 1, 1),
    ("atan({})", 1e6, 1.6, 1), ("sigmoid({})", 1e6, 1, 0.25), ("log((abs({}) + 0.5))", 1e6, 15, 2),
    ("log((abs({}) + 0.5), 2)", 1e6, 21, 3), ("sqrt((abs({}) + 0.25))", 1e6, 1001, 1), ("(2 ^ {})", 6, 64, 45),
    ("((abs({}) + 0.5) ^ 0.3)", 1e6, 64, 1), ("((abs({}) + 0.5) ^ (-1.5))", 1e6, 3, 9), ("({} ^ 3)", 40, 64000, 4800),
]
SPECIALS = ["NaN", "Inf", "(-Inf)", "(0 * (-1))", "5.0e-324", "1.0e-310"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">=", "&", "|"]


class Expressions:
    def __init__(self, random):
        self.random = random
        self.variables = {}   # name -> Value
        self.sizes = {}       # known size -> texts that give it
        self.inner = [1, 2, 3, 5]

    # ---- sizes and literals

    def dimension(self, dimension):
        """A text for a number of rows or columns."""
        texts = [] if isinstance(dimension, Unknown) else [str(dimension)] + self.sizes.get(dimension, [])
        for name, value in self.variables.items():
            if value.rows == dimension and value.rows is not None:
                texts.append(f"nrow({name})")
            if value.columns == dimension and value.rows is not None:
                texts.append(f"ncol({name})")
        return self.random.choice(texts)

    def number(self):
        value = self.random.choice([0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5, 2.5, -3.25, 7])
        return Value(str(value) if value >= 0 else f"({value})", size=abs(value), unit=-2)

    def leaf(self, rows, columns):
        r, c = self.dimension(rows), self.dimension(columns)
        n = self.random.randrange(7)
        seed = self.random.randrange(1, 1000)
        if n == 0:
            fill = self.number()
            return fill.having(f"matrix({fill.text}, {r}, {c})", rows=rows, columns=columns)
        if n == 1:
            return Value(f"rand(rows={r}, cols={c}, min=-2, max=3, seed={seed})", rows, columns, 3, None)
        if n == 2 and columns == 1 and isinstance(rows, int) and rows > 0:
            return Value(f"seq(1, {r})", rows, columns, rows, 0)
        if n == 3 and isinstance(rows, int) and isinstance(columns, int) and 0 < rows * columns <= 12:
            cells = [self.random.choice([0, 1, -1, 2, 0.5, 3, -4]) for _ in range(rows * columns)]
            return Value(f'matrix("{" ".join(map(str, cells))}", {r}, {c})', rows, columns, 4, -1)
        sparsity = self.random.choice(["", "", ", sparsity=0.3"])
        text = f"floor(rand(rows={r}, cols={c}, min=-8, max=9, seed={seed}{sparsity}))"
        if n == 4:
            text = f"({text} / 4)"
        value = Value(text, rows, columns, 9, -2 if n == 4 else 0)
        if n == 5 and self.random.random() < 0.4:
            test = self.random.choice([-3, 0, 1, 2])
            special = self.random.choice(SPECIALS)
            return value.having(f"ifelse(({text} == {test}), {special}, {text})", special=True, unit=None)
        return value

    # ---- matrices

    def matrix(self, rows, columns, depth, exact=False):
        """An expression of this shape."""
        for _ in range(6):
            value = self.attempt(rows, columns, depth, exact)
            if value is not None and value.acceptable and (value.exact or not exact):
                return value
        return self.leaf(rows, columns)

    def attempt(self, rows, columns, depth, exact):
        same = [v for v in self.variables.values() if v.rows == rows and v.columns == columns
                and v.rows is not None and (v.exact or not exact)]
        if same and self.random.random() < (0.3 if depth > 0 else 0.85):
            return self.random.choice(same)
        if depth <= 0:
            return self.leaf(rows, columns)
        choices = [self.binary] * 5 + [self.unary] * 4 + [self.broadcast] * 4 + [self.choice] * 2 + [self.contraction] * 3
        choices += [self.scan, self.reorganised, self.scaled, self.scaled, self.row_pattern, self.replaced]
        if columns == 1:
            choices += [self.row_aggregate] * 4 + [self.row_index, self.gradient, self.gradient]
        if rows == 1:
            choices += [self.column_aggregate] * 4
        if isinstance(rows, int) and isinstance(columns, int) and rows > 0 and columns > 0:
            choices += [self.piece, self.piece, self.bound, self.reshaped, self.counted, self.outer]
        return self.random.choice(choices)(rows, columns, depth - 1, exact)

    def bounded(self, rows, columns, depth, exact, size):
        """An expression with no cell larger than size; NaN and infinities remain."""
        value = self.matrix(rows, columns, depth, exact)
        if value.size <= size:
            return value
        if size >= 6 and self.random.random() < 0.5:
            return value.having(f"max(min({value.text}, {size}), (-{size}))", size=size, unit=common_unit(value, Value("")))
        return value.having(f"({value.text} / (1 + abs({value.text})))", size=1, unit=None,
                            error=2 * value.error * (1 + value.size * EPSILON) + (EPSILON if value.error else 0))

    def unary(self, rows, columns, depth, exact):
        kind = self.random.randrange(4)
        if kind < 2 and not exact:
            text, size, bound, slope = self.random.choice(SMOOTH)
            operand = self.bounded(rows, columns, depth, False, size)
            return smooth(operand, text.format(operand.text), bound, slope)
        name = self.random.choice(["-", "abs", "abs", "sign", "round", "floor", "ceil", "!", "is.nan", "is.infinite", "sqrt", "square"])
        v = self.matrix(rows, columns, depth, exact or name not in ("-", "abs", "square"))
        if name == "-":
            return v.having(f"(-{v.text})")
        if name == "abs":
            return v.having(f"abs({v.text})")
        if name == "square":
            return product(v, v, f"({v.text} ^ 2)")
        if name == "sqrt":
            return v.having(f"sqrt({v.text})", unit=None, size=max(1, v.size), special=True)
        text = f"(!{v.text})" if name == "!" else f"{name}({v.text})"
        if name == "round" and v.special:
            return v.having(text, size=2.0 ** 63)  # infinity rounds to the largest integer
        return v.having(text, unit=0, size=v.size + 1 if name in ("round", "floor", "ceil") else 1)

    def combined(self, a, b, depth, exact, **shape):
        """A binary operator; `shape` where the result has not that of a."""
        kind = self.random.randrange(10)
        if kind < 3:
            return total(a, b, f"({a.text} {self.random.choice('+-')} {b.text})", **shape)
        if kind < 5:
            return product(a, b, f"({a.text} * {b.text})", **shape)
        if kind == 5:
            return join(f"{self.random.choice(['min', 'max'])}({a.text}, {b.text})", a, b).having(
                f"{self.random.choice(['min', 'max'])}({a.text}, {b.text})", **shape)
        if kind == 6:
            error = a.error + a.size * b.error
            error += a.size * EPSILON * 4 if error else 0
            return a.having(f"({a.text} / (1 + abs({b.text})))", unit=None, error=error, special=a.special or b.special, **shape)
        if not (a.exact and b.exact):
            return None
        if kind == 7:
            operator = self.random.choice(["%%", "%/%", "/"])
            if operator == "%%":
                return join("", a, b).having(f"({a.text} %% {b.text})", special=True, **shape)
            if b.unit is None or b.special:
                return None
            return a.having(f"({a.text} {operator} {b.text})", size=a.size / 2.0 ** b.unit, special=True,
                            unit=0 if operator == "%/%" else None, **shape)
        text = f"({a.text} {self.random.choice(COMPARISONS)} {b.text})" if kind == 8 else f"xor({a.text}, {b.text})"
        return a.having(text, size=1, unit=0, special=False, **shape)

    def binary(self, rows, columns, depth, exact):
        return self.combined(self.matrix(rows, columns, depth, exact), self.matrix(rows, columns, depth, exact), depth, exact)

    def broadcast(self, rows, columns, depth, exact):
        vector = (rows, 1) if self.random.random() < 0.5 else (1, columns)
        return self.combined(self.matrix(rows, columns, depth, exact), self.matrix(*vector, depth, exact), depth, exact)

    def scaled(self, rows, columns, depth, exact):
        a, b = self.matrix(rows, columns, depth, exact), self.scalar(depth, exact)
        return self.combined(b, a, depth, exact, rows=rows, columns=columns) if self.random.random() < 0.5 \
            else self.combined(a, b, depth, exact)

    def choice(self, rows, columns, depth, exact):
        def operand():
            if self.random.random() < 0.3:
                return self.scalar(depth, exact)
            return self.matrix(rows, columns, depth, exact)
        test, yes, no = self.matrix(rows, columns, depth, True), operand(), operand()
        return join("", yes, no).having(f"ifelse({test.text}, {yes.text}, {no.text})", rows=rows, columns=columns)

    def replaced(self, rows, columns, depth, exact):
        v = self.matrix(rows, columns, depth, True)
        pattern, by = self.random.choice(["NaN", "0", "1", "Inf"]), self.number()
        return join("", v, by).having(f"replace(target={v.text}, pattern={pattern}, replacement={by.text})")

    def contraction(self, rows, columns, depth, exact):
        inner = self.random.choice(self.inner)
        if most(rows) * most(columns) * most(inner) > PRODUCT_LIMIT or \
                most(inner) * max(most(rows), most(columns)) > CELL_LIMIT:
            return None
        if self.random.random() < 0.3:
            a = self.matrix(inner, rows, depth, exact)
            left = a.having(f"t({a.text})", rows=rows, columns=inner)
        else:
            left = self.matrix(rows, inner, depth, exact)
        if self.random.random() < 0.3:
            b = self.matrix(columns, inner, depth, exact)
            right = b.having(f"t({b.text})")
        else:
            right = self.matrix(inner, columns, depth, exact)
        one = product(left, right, "")
        return summed(one, most(inner), f"({left.text} %*% {right.text})", rows=rows, columns=columns)

    def gradient(self, rows, columns, depth, exact):
        """t(X) %*% (w * (X %*% v)), with and without w."""
        inner = self.random.choice(self.inner)
        if most(rows) * most(inner) > CELL_LIMIT or isinstance(rows, Unknown):
            return None
        x, v = self.matrix(inner, rows, 0, exact), self.matrix(rows, 1, depth, exact)
        weighted = summed(product(x, v, ""), most(rows), f"({x.text} %*% {v.text})", columns=1)
        if self.random.random() < 0.6:
            weighted = self.combined(weighted, self.matrix(inner, 1, depth, exact), depth, exact)
        if weighted is None:
            return None
        return summed(product(x, weighted, ""), most(inner), f"(t({x.text}) %*% {weighted.text})", rows=rows, columns=1)

    def row_pattern(self, rows, columns, depth, exact):
        """X minus or over an aggregate of its rows or columns."""
        x = self.matrix(rows, columns, depth, exact)
        name = self.random.choice(["rowMaxs", "rowMins", "colMaxs", "colMins", "rowSums", "colSums", "rowMeans"])
        length = rows if name.startswith("col") else columns
        if most(length) == 0 or isinstance(length, Unknown):
            return None
        b = x.having(f"{name}({x.text})") if "M" in name and "Mean" not in name \
            else summed(x, most(length), f"{name}({x.text})").having(f"{name}({x.text})", unit=None)
        return self.combined(x, b, depth, exact)

    def aggregated(self, v, count, prefix, shape, exact):
        name = self.random.choice(["Sums", "Sums", "Maxs", "Mins", "Means", "Vars", "Sds", "Prods"])
        return self.aggregate(v, count, prefix + name, name[:-1].lower(), exact, **shape)

    def aggregate(self, v, count, name, kind, exact, **shape):
        text = f"{name}({v.text})"
        known = count if isinstance(count, int) else most(count)
        if kind == "sum":
            return summed(v, known, text, **shape)
        if kind in ("max", "min"):
            return v.having(text, special=v.special or known == 0 or isinstance(count, Unknown), **shape)
        if kind == "mean":
            return summed(v, known, text, **shape).having(text, size=v.size, unit=None, special=True, **shape)
        if exact:
            return None
        if kind == "prod":
            if known * math.log(max(v.size, 1.0)) > 14:
                return None
            size = max(v.size, 1.0) ** known
            return v.having(text, size=size, unit=None, error=known * size * (v.error + EPSILON), **shape)
        error = 8 * v.size * (v.error + v.size * EPSILON * 8)
        if kind == "var":
            return v.having(text, size=4 * v.size * v.size + 1, unit=None, error=error, special=True, **shape)
        return v.having(f"sqrt((0.01 + {name.replace('Sds', 'Vars').replace('sd', 'var')}({v.text})))", size=2 * v.size + 1,
                        unit=None, error=error * 10, special=True, **shape)

    def row_aggregate(self, rows, columns, depth, exact):
        width = self.random.choice(self.inner)
        if most(rows) * most(width) > CELL_LIMIT:
            return None
        return self.aggregated(self.matrix(rows, width, depth, exact), width, "row", {"rows": rows, "columns": 1}, exact)

    def column_aggregate(self, rows, columns, depth, exact):
        height = self.random.choice(self.inner)
        if most(columns) * most(height) > CELL_LIMIT:
            return None
        return self.aggregated(self.matrix(height, columns, depth, exact), height, "col", {"rows": 1, "columns": columns}, exact)

    def row_index(self, rows, columns, depth, exact):
        width = self.random.choice(self.inner)
        if most(rows) * most(width) > CELL_LIMIT:
            return None
        x = self.matrix(rows, width, depth, True)
        return Value(f"{self.random.choice(['rowIndexMax', 'rowIndexMin'])}({x.text})", rows, 1, max(1, most(width)), 0)

    def scan(self, rows, columns, depth, exact):
        v = self.matrix(rows, columns, depth, exact)
        name = self.random.choice(["cumsum", "rowcumsum", "cummin", "cummax", "cumprod"])
        if name == "cumprod":
            v = self.bounded(rows, columns, depth, False, 1)
            return v.having(f"cumprod({v.text})", unit=None, error=most(rows) * (v.error + EPSILON))
        if "sum" in name:
            return summed(v, most(columns if name.startswith("row") else rows), f"{name}({v.text})")
        return v.having(f"{name}({v.text})")

    def reorganised(self, rows, columns, depth, exact):
        kind = self.random.choice(["t", "rev", "roll", "order", "lower", "upper", "diag"])
        if kind == "t" or kind == "diag" and not (rows == columns or columns == 1):
            v = self.matrix(columns, rows, depth, exact)
            return v.having(f"t({v.text})", rows=rows, columns=columns)
        if kind == "diag":
            if columns == 1 and rows != 1 and most(rows) > 100:
                return None
            v = self.matrix(rows, rows if columns == 1 and rows != 1 else 1, depth, exact)
            return v.having(f"diag({v.text})", rows=rows, columns=columns)
        v = self.matrix(rows, columns, depth, exact or kind == "order")
        if kind == "order" and most(columns) > 0 and not isinstance(columns, Unknown) and not v.special:
            by = self.random.randint(1, columns)
            decreasing = self.random.choice(["TRUE", "FALSE"])
            return v.having(f"order(target={v.text}, by={by}, decreasing={decreasing}, index.return=FALSE)")
        if kind in ("lower", "upper") and rows == columns:
            options = f"diag={self.random.choice(['TRUE', 'FALSE'])}, values={self.random.choice(['TRUE', 'FALSE'])}"
            return join("", v, Value("")).having(f"{kind}.tri(target={v.text}, {options})", rows=rows, columns=columns)
        if kind == "roll" and most(rows) > 0 and not isinstance(rows, Unknown):
            return v.having(f"roll({v.text}, {self.random.randint(-2, 3)})")
        return v.having(f"rev({v.text})")

    # ---- shapes with known sizes

    def piece(self, rows, columns, depth, exact):
        up, left = self.random.randint(0, 3), self.random.randint(0, 3)
        larger = [v for v in self.variables.values() if v.rows is not None and isinstance(v.rows, int) and isinstance(v.columns, int)
                  and v.rows >= rows and v.columns >= columns and (v.exact or not exact)]
        if not larger:
            return None
        v = self.random.choice(larger)
        up, left = min(up, v.rows - rows), min(left, v.columns - columns)
        r = str(up + 1) if rows == 1 else f"{up + 1}:{up + rows}"
        c = str(left + 1) if columns == 1 else f"{left + 1}:{left + columns}"
        r = "" if rows == v.rows and self.random.random() < 0.5 else r
        c = "" if columns == v.columns and self.random.random() < 0.5 else c
        return v.having(f"{v.text}[{r}, {c}]", rows=rows, columns=columns)

    def bound(self, rows, columns, depth, exact):
        if self.random.random() < 0.5:
            cut = self.random.randint(0, columns)
            parts = [self.matrix(rows, n, depth, exact) for n in (cut, columns - cut)]
            return join("", *parts).having(f"cbind({parts[0].text}, {parts[1].text})", columns=columns)
        cut = self.random.randint(0, rows)
        parts = [self.matrix(n, columns, depth, exact) for n in (cut, rows - cut)]
        return join("", *parts).having(f"rbind({parts[0].text}, {parts[1].text})", rows=rows)

    def reshaped(self, rows, columns, depth, exact):
        divisors = [d for d in range(1, 9) if rows * columns % d == 0]
        height = self.random.choice(divisors)
        v = self.matrix(height, rows * columns // height, depth, exact)
        byrow = self.random.choice(["", "", ", byrow=FALSE"])
        return v.having(f"matrix({v.text}, {self.dimension(rows)}, {self.dimension(columns)}{byrow})", rows=rows, columns=columns)

    def counted(self, rows, columns, depth, exact):
        """A contingency table of keys that lie within the wanted shape."""
        n = self.random.choice([1, 5, 17])
        keys = []
        for limit in (rows, columns):
            v = self.matrix(n, 1, depth, True)
            keys.append(f"replace(target=(1 + (abs(floor({v.text})) %% {limit})), pattern=NaN, replacement=1)")
        return Value(f"table({keys[0]}, {keys[1]}, {rows}, {columns})", rows, columns, n, 0)

    def outer(self, rows, columns, depth, exact):
        u, v = self.matrix(rows, 1, depth, exact), self.matrix(1, columns, depth, exact)
        operator = self.random.choice(["+", "-", "*", "min", "max"] + (["<", "==", ">="] if u.exact and v.exact else []))
        text = f'outer({u.text}, {v.text}, "{operator}")'
        shape = {"rows": rows, "columns": columns}
        if operator == "*":
            return product(u, v, text, **shape)
        if operator in ("+", "-"):
            return total(u, v, text, **shape)
        return join("", u, v).having(text, **shape) if operator in ("min", "max") else Value(text, rows, columns)

    # ---- scalars

    def scalar(self, depth, exact=False):
        for _ in range(6):
            value = self.attempt_scalar(depth, exact)
            if value is not None and value.acceptable and (value.exact or not exact):
                return value
        return self.number()

    def attempt_scalar(self, depth, exact):
        known = [v for v in self.variables.values() if v.rows is None and (v.exact or not exact)]
        if known and self.random.random() < 0.4:
            return self.random.choice(known)
        if depth <= 0:
            return self.number()
        kind = self.random.randrange(6)
        rows, columns = self.random.choice(self.inner), self.random.choice(self.inner)
        if most(rows) * most(columns) > CELL_LIMIT:
            rows, columns = 1, 1
        shape = {"rows": None, "columns": None}
        if kind < 3:
            v = self.matrix(rows, columns, depth - 1, exact)
            count = most(rows) * most(columns)
            name = self.random.choice(["sum", "sum", "min", "max", "mean", "prod", "var", "sd"])
            return self.aggregate(v, count, name, name, exact, **shape)
        if kind == 3:
            v = self.matrix(1, 1, depth - 1, exact)
            return v.having(f"as.scalar({v.text})", **shape)
        if kind == 4:
            text, size, bound, slope = self.random.choice(SMOOTH)
            v = self.scalar(depth - 1, False)
            return smooth(v, text.format(v.text), bound, slope) if v.size <= size else None
        a, b = self.scalar(depth - 1, exact), self.scalar(depth - 1, exact)
        operator = self.random.choice(["+", "-", "*", "min", "max"])
        if operator == "*":
            return product(a, b, f"({a.text} * {b.text})")
        return total(a, b, f"({a.text} {operator} {b.text})") if operator in "+-" \
            else join(f"{operator}({a.text}, {b.text})", a, b)
