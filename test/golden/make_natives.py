"""Computes the golden values of the builtins with NumPy and SciPy and writes them as natives.json.

Needs a virtual environment with numpy and scipy: `python3 test/golden/make_natives.py` from the root of the repository.
test/run_natives.py compares them; it needs neither. A case is an expression over X and the other inputs, an input that
X stands for, and the cells of the result; of large results only weighted sums of the cells are kept.
"""
import json
import pathlib

import numpy as np
import scipy.linalg
from scipy import stats

HERE = pathlib.Path(__file__).parent
LARGE = 60
rng = np.random.default_rng(20240611)


def sparse(rows, columns, density):
    return np.where(rng.random((rows, columns)) < density, np.round(rng.normal(0, 3, (rows, columns)), 2), 0.0)


nan, inf = np.nan, np.inf
square = np.round(rng.normal(0, 2, (5, 5)), 2)
inputs = {
    "dense": np.round(rng.normal(0, 3, (5, 4)), 2),
    "sparse": sparse(40, 30, 0.1),
    "ultrasparse": sparse(60, 50, 0.004),
    "noRows": np.zeros((0, 3)),
    "noColumns": np.zeros((3, 0)),
    "one": np.array([[2.5]]),
    "zero": np.array([[0.0]]),
    "column": np.array([[3.0], [-1.5], [0.0], [7.25], [3.0], [-0.5], [2.0]]),
    "row": np.array([[1.5, -2.0, 0.0, 4.0, 4.0, -8.5]]),
    "special": np.array([[1.0, nan, -2.0], [inf, 0.5, 0.0], [-inf, 2.0, 3.0], [4.0, -1.0, nan]]),
    "square": square,
    "definite": square @ square.T + np.eye(5),
    "tall": np.round(rng.normal(0, 2, (8, 3)), 2),
    "weights": np.array([[1.0], [2.0], [1.0], [3.0], [1.0], [1.0], [3.0]]),
    "even": np.array([[4.0], [1.0], [3.0], [2.0], [8.0], [5.0]]),
    "groups": np.array([[1.0], [2.0], [1.0], [4.0], [2.0], [2.0], [1.0]]),
    "repeats": np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0], [1.0, 2.0, nan], [2.0, 1.0, nan]]),
}
cases = []


def case(dml, function, on):
    for name in on:
        with np.errstate(all="ignore"):
            value = np.atleast_2d(np.asarray(function(inputs[name].copy()), dtype=float))
        entry = {"dml": dml, "X": name, "rows": value.shape[0], "columns": value.shape[1]}
        if value.size > LARGE:
            assert np.isfinite(value).all(), (dml, name)
            weights = (np.arange(value.size) % 97 + 1).reshape(value.shape)
            entry["sums"] = [value.sum(), (value * weights).sum(), np.abs(value).sum()]
        else:
            entry["cells"] = value.ravel().tolist()
        cases.append(entry)


ALL = ["dense", "sparse", "ultrasparse", "noRows", "noColumns", "one", "zero", "column", "row", "special"]
FINITE = [name for name in ALL if name != "special"]
FILLED = [name for name in ALL if inputs[name].size > 0]
FILLED_FINITE = [name for name in FINITE if inputs[name].size > 0]


def cells():
    half_up = lambda X: np.where(np.isnan(X), 0, np.clip(np.floor(X + 0.5), -2.0**63, 2.0**63))
    truncate = lambda Q: np.where(np.isfinite(Q), np.copysign(np.floor(np.abs(Q)), Q), Q)
    for dml, function in {
        "abs(X)": np.abs, "sign(X)": np.sign, "sqrt(abs(X))": lambda X: np.sqrt(np.abs(X)), "exp(X / 4)": lambda X: np.exp(X / 4),
        "log(abs(X) + 1)": lambda X: np.log(np.abs(X) + 1), "log(abs(X) + 2, 10)": lambda X: np.log10(np.abs(X) + 2),
        "sigmoid(X)": lambda X: 1 / (1 + np.exp(-X)), "sin(X)": np.sin, "cos(X)": np.cos, "tan(X)": np.tan, "asin(X / 20)": lambda X: np.arcsin(X / 20),
        "acos(X / 20)": lambda X: np.arccos(X / 20), "atan(X)": np.arctan, "sinh(X / 4)": lambda X: np.sinh(X / 4),
        "cosh(X / 4)": lambda X: np.cosh(X / 4), "tanh(X)": np.tanh, "round(X)": half_up, "floor(X)": np.floor,
        "ceil(X)": np.ceil, "ceiling(X)": np.ceil, "is.na(X)": np.isnan, "is.nan(X)": np.isnan, "is.infinite(X)": np.isinf, "!X": lambda X: X == 0,
        "-X": np.negative, "X + 2": lambda X: X + 2, "3 - X": lambda X: 3 - X, "X * 1.5": lambda X: X * 1.5, "X / 4": lambda X: X / 4,
        "1 / (abs(X) + 1)": lambda X: 1 / (np.abs(X) + 1), "X^2": lambda X: X * X, "abs(X)^1.5": lambda X: np.abs(X) ** 1.5,
        "X %% 2": lambda X: np.fmod(X, 2), "X %/% 2": lambda X: truncate(X / 2),
        "min(X, 1)": lambda X: np.minimum(X, 1), "max(X, 1)": lambda X: np.maximum(X, 1), "pmax(X, X * 2, 1)": lambda X: np.maximum(np.maximum(X, X * 2), 1),
        "X == 3": lambda X: X == 3, "X != 3": lambda X: X != 3, "X < 1": lambda X: X < 1, "X <= 1": lambda X: X <= 1,
        "X > 1": lambda X: X > 1, "X >= 1": lambda X: X >= 1, "X & 1": lambda X: X != 0, "X | 0": lambda X: X != 0,
        "xor(X, 1)": lambda X: X == 0, "ppred(X, 1, \">\")": lambda X: X > 1,
        "ifelse(X > 0, X, -1)": lambda X: np.where(X > 0, X, -1),
    }.items():
        case(dml, function, ALL)
    integers = lambda f: lambda X: np.vectorize(lambda x: float(f(int(x))), otypes=[float])(X)
    for dml, function in {"bitwAnd(X, 6)": lambda x: x & 6, "bitwOr(X, 6)": lambda x: x | 6, "bitwXor(X, 6)": lambda x: x ^ 6,
                          "bitwShiftL(X, 3)": lambda x: x << 3, "bitwShiftR(X, 1)": lambda x: x >> 1}.items():
        case(dml, integers(function), FINITE)


def aggregates():
    def guarded(function, empty):
        def result(X, axis=None):
            if X.size if axis is None else X.shape[axis]:
                return function(X, axis=axis)
            return np.full(() if axis is None else X.shape[1 - axis], empty)
        return result
    spread = lambda power: lambda X, axis=None: np.zeros(() if axis is None else X.shape[1 - axis]) + (
        np.var(X, axis=axis, ddof=1) ** power if (X.size if axis is None else X.shape[axis]) > 1 else 0.0)
    functions = {"Sums": (guarded(np.sum, 0), "sum"), "Means": (guarded(np.mean, nan), "mean"), "Mins": (guarded(np.min, inf), "min"),
                 "Maxs": (guarded(np.max, -inf), "max"), "Prods": (guarded(np.prod, 1), "prod"),
                 "Vars": (spread(1), "var"), "Sds": (spread(0.5), "sd")}
    for name, (function, full) in functions.items():
        on = [n for n in ALL if name not in ("Vars", "Sds") or n not in ("noRows", "noColumns")]
        case(f"{full}(X)", function, on)
        case(f"row{name}(X)", lambda X, f=function: f(X, axis=1).reshape(-1, 1), on)
        case(f"col{name}(X)", lambda X, f=function: f(X, axis=0).reshape(1, -1), on)
    last = lambda better: lambda X: np.array([[max(j for j in range(len(row)) if row[j] == better(row)) + 1] for row in X], dtype=float).reshape(-1, 1)
    case("rowIndexMax(X)", last(max), FILLED_FINITE)
    case("rowIndexMin(X)", last(min), FILLED_FINITE)
    for name, accumulate in {"cumsum": np.add, "cumprod": np.multiply, "cummin": np.minimum, "cummax": np.maximum}.items():
        case(f"{name}(X)", lambda X, a=accumulate: a.accumulate(X, axis=0) if X.size else X, ALL)
    case("rowcumsum(X)", lambda X: np.cumsum(X, axis=1), ALL)

    def recurrence(X):
        y, previous = [], 0
        for a, b in X:
            previous = a if not y else a + b * previous
            y.append([previous])
        return np.array(y)
    case("cumsumprod(X[,1:2])", lambda X: recurrence(X[:, :2]), ["dense", "tall", "sparse"])
    case("trace(X)", np.trace, ["square", "definite", "one", "zero"])
    case("mean(X, W)", lambda X: (X * inputs["weights"]).sum() / inputs["weights"].sum(), ["column"])
    case("length(X) + 100 * nrow(X) + 10000 * ncol(X)", lambda X: X.size + 100 * X.shape[0] + 10000 * X.shape[1], ALL)


def ordered(X, keys, decreasing, index):
    # NaN is larger than every number; equal rows stay in their order, with reverse=True, too.
    rank = lambda x: (1, 0) if np.isnan(x) else (0, x)
    rows = list(range(len(X)))
    for key in reversed(keys):
        rows.sort(key=lambda i: rank(X[i, key]), reverse=decreasing)
    return np.array([[i + 1.0] for i in rows]).reshape(-1, 1) if index else X[rows]


def reorganisations():
    case("t(X)", np.transpose, ALL)
    case("rev(X)", lambda X: X[::-1], ALL)
    case("roll(X, 2)", lambda X: np.roll(X, 2, axis=0), ALL)
    case("diag(X)", lambda X: np.diag(X).reshape(-1, 1), ["square", "definite"])
    case("diag(X)", lambda X: np.diag(X.ravel()), ["column", "weights", "one"])
    case("cbind(X, X * 2)", lambda X: np.c_[X, X * 2], ALL)
    case("rbind(X, X * 2, X)", lambda X: np.r_[X, X * 2, X], ALL)
    case("matrix(X, rows=ncol(X), cols=nrow(X))", lambda X: X.reshape(X.shape[::-1]), ALL)
    case("matrix(X, rows=ncol(X), cols=nrow(X), byrow=FALSE)", lambda X: X.reshape(X.shape[::-1], order="F") if X.size else X.T, ALL)
    for dml, function in {"lower.tri(X)": lambda X: np.tril(np.ones_like(X), -1), "lower.tri(target=X, diag=TRUE)": lambda X: np.tril(np.ones_like(X)),
                          "lower.tri(target=X, values=TRUE)": lambda X: np.tril(X, -1), "upper.tri(X)": lambda X: np.triu(np.ones_like(X), 1),
                          "upper.tri(target=X, diag=TRUE, values=TRUE)": np.triu}.items():
        case(dml, function, ["square", "one"])
    case("X[2:3,]", lambda X: X[1:3], ["dense", "sparse", "ultrasparse", "column", "special"])
    case("X[,2:3]", lambda X: X[:, 1:3], ["dense", "sparse", "ultrasparse", "row", "special"])
    case("X[3,2]", lambda X: X[2:3, 1:2], ["dense", "sparse", "ultrasparse", "special"])

    def replaced(X):
        X[1:3, 1:2] = 9
        return X
    case("insertCells(X)", replaced, ["dense", "sparse", "ultrasparse", "special"])
    for key in ("1", "3"):
        case(f"order(target=X, by={key})", lambda X, k=int(key): ordered(X, [k - 1], False, False), ["dense", "sparse", "special", "repeats"])
        case(f"order(target=X, by={key}, decreasing=TRUE)", lambda X, k=int(key): ordered(X, [k - 1], True, False), ["dense", "sparse", "special", "repeats"])
    case("order(target=X, by=1, index.return=TRUE)", lambda X: ordered(X, [0], False, True), ["dense", "sparse", "column", "special", "repeats", "one"])
    case("order(target=X, by=1, decreasing=TRUE, index.return=TRUE)", lambda X: ordered(X, [0], True, True), ["dense", "sparse", "column", "special", "repeats"])
    case("order(target=X, by=matrix(\"2 1\", rows=1, cols=2))", lambda X: ordered(X, [1, 0], False, False), ["dense", "sparse", "special", "repeats"])

    def without_empty(X, axis):
        kept = X[(X != 0).any(axis=1)] if axis == 0 else X[:, (X != 0).any(axis=0)]
        return kept if kept.shape[axis] else np.zeros((1, X.shape[1]) if axis == 0 else (X.shape[0], 1))
    case("removeEmpty(target=X, margin=\"rows\")", lambda X: without_empty(X, 0), ALL)
    case("removeEmpty(target=X, margin=\"cols\")", lambda X: without_empty(X, 1), ALL)
    case("removeEmpty(target=X, margin=\"rows\", select=X[,2] > 0)", lambda X: X[X[:, 1] > 0], ["dense", "sparse", "special"])
    case("removeEmpty(target=X, margin=\"cols\", select=X[2,] != 0)", lambda X: X[:, X[1] != 0], ["dense", "sparse", "special"])
    case("removeEmpty(target=X * 0, margin=\"rows\", empty.return=FALSE)", lambda X: np.zeros((0, X.shape[1])), FINITE)
    case("replace(target=X, pattern=NaN, replacement=-9)", lambda X: np.where(np.isnan(X), -9, X), ALL)
    case("replace(target=X, pattern=0, replacement=7)", lambda X: np.where(X == 0, 7, X), ALL)
    case("replace(target=X, pattern=3, replacement=0)", lambda X: np.where(X == 3, 0, X), ALL)
    case("replace(target=X, pattern=Inf, replacement=1)", lambda X: np.where(X == inf, 1, X), ["special"])
    operators = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "<": np.less, ">=": np.greater_equal, "==": np.equal,
                 "min": np.minimum, "max": np.maximum}
    for name, function in operators.items():
        case(f"outer(X, t(X + 1), \"{name}\")", lambda X, f=function: f(X, (X + 1).T), ["column", "one", "even"])
    case("outer(X, t(seq(1, 3)), \"^\")", lambda X: X ** np.array([[1.0, 2.0, 3.0]]), ["column", "even"])


def tables():
    def table(rows, columns, weights, shape=None):
        size = shape or (int(rows.max()), int(columns.max()))
        result = np.zeros(size)
        for i, j, w in zip(rows.ravel(), columns.ravel(), weights.ravel()):
            if int(i) <= size[0] and int(j) <= size[1]:
                result[int(i) - 1, int(j) - 1] += w
        return result
    ones = np.ones((7, 1))
    on = ["groups", "weights"]
    case("table(X, G)", lambda X: table(X, inputs["groups"], ones), on)
    case("table(X, G, 3, 2)", lambda X: table(X, inputs["groups"], ones, (3, 2)), on)
    case("table(X, G, W)", lambda X: table(X, inputs["groups"], inputs["weights"]), on)
    case("table(X, G, W, 5, 6)", lambda X: table(X, inputs["groups"], inputs["weights"], (5, 6)), on)
    case("table(X, 1)", lambda X: table(X, ones, ones), on)
    case("table(X, G, 2.5)", lambda X: table(X, inputs["groups"], ones * 2.5), on)
    case("table(seq(1, nrow(X)), X)", lambda X: table(np.arange(1.0, 8), X, ones), on)
    case("table(seq(1, nrow(X)), X, nrow(X), 400)", lambda X: table(np.arange(1.0, 8), X, ones, (7, 400)), on)
    distinct = lambda x: sorted(set(v for v in x if not np.isnan(v))) + ([nan] if np.isnan(x).any() else [])

    def padded(groups):
        longest = max(map(len, groups))
        return np.array([g + [0.0] * (longest - len(g)) for g in groups])
    on = ["repeats", "dense", "special", "column", "row", "one"]
    case("unique(X)", lambda X: np.array(distinct(X.ravel())).reshape(-1, 1), on + ["sparse"])
    case("unique(X, dir=\"r\")", lambda X: padded([distinct(r) for r in X]), on)
    case("unique(X, dir=\"c\")", lambda X: padded([distinct(c) for c in X.T]).T, on)
    case("countDistinct(X)", lambda X: len(distinct(X.ravel())), on + ["sparse"])
    case("countDistinctApprox(X, type=\"KMV\")", lambda X: len(distinct(X.ravel())), on)
    for dml in ("rowCountDistinct(X)", "countDistinct(X, dir=\"r\")", "rowCountDistinctApprox(X)"):
        case(dml, lambda X: np.array([[len(distinct(r))] for r in X]), on + ["sparse"])
    for dml in ("colCountDistinct(X)", "countDistinct(X, dir=\"c\")", "colCountDistinctApprox(X)"):
        case(dml, lambda X: np.array([[len(distinct(c)) for c in X.T]]), on + ["sparse"])
    case("contains(target=X, pattern=3)", lambda X: (X == 3).any(), ALL)
    case("contains(target=X, pattern=NaN)", lambda X: np.isnan(X).any(), ALL)
    case("contains(target=X, pattern=X[2,])", lambda X: 1, ["dense", "sparse", "special"])
    case("contains(target=X, pattern=X[2,] + 1)", lambda X: 0, ["dense"])

    groups = inputs["groups"].ravel()
    per_group = lambda X, f, empty=0.0: np.array([[f(X[groups == g, j]) if (groups == g).any() else empty for j in range(X.shape[1])]
                                                  for g in range(1, 5)])
    moment = lambda k: lambda x: ((x - x.mean()) ** k).mean()
    for fn, function, empty in (("sum", np.sum, 0), ("count", len, 0), ("mean", np.mean, 0), ("min", np.min, 0), ("max", np.max, 0),
                                ("variance", lambda x: x.var(ddof=1) if len(x) > 1 else 0, 0)):
        case(f"aggregate(target=X, groups=G, fn=\"{fn}\")", lambda X, f=function, e=empty: per_group(X, f, e), ["column"])
        case(f"aggregate(target=cbind(X, X^2), groups=G, fn=\"{fn}\", ngroups=2)",
             lambda X, f=function, e=empty: per_group(np.c_[X, X**2], f, e)[:2], ["column"])
    for k in (2, 3, 4):
        case(f"aggregate(target=X, groups=G, fn=\"centralmoment\", order={k})", lambda X, k=k: per_group(X, moment(k), nan), ["column"])
    w = inputs["weights"]
    weighted = lambda f: lambda X: np.array([[f(X[groups == g], w[groups == g]) if (groups == g).any() else 0] for g in range(1, 5)])
    case("aggregate(target=X, groups=G, fn=\"sum\", weights=W)", weighted(lambda x, w: (x * w).sum()), ["column"])
    case("aggregate(target=X, groups=G, fn=\"count\", weights=W)", weighted(lambda x, w: w.sum()), ["column"])
    case("aggregate(target=X, groups=G, fn=\"mean\", weights=W, ngroups=4)", weighted(lambda x, w: (x * w).sum() / w.sum()), ["column"])


def statistics():
    repeated = lambda X: np.repeat(X.ravel(), inputs["weights"].ravel().astype(int)) if X.size == 7 else X.ravel()

    def quantile(values, p):
        s, n = np.sort(values), len(values)
        position = max(int(np.ceil(p * n)), 1)
        average = n % 2 == 0 and position < n and p > 0
        return (s[position - 1] + s[position]) / 2 if average else s[position - 1]
    for p in (0, 0.25, 0.5, 0.9, 1):
        case(f"quantile(X, {p})", lambda X, p=p: quantile(X.ravel(), p), ["column", "even"])
        case(f"quantile(X, W, {p})", lambda X, p=p: quantile(repeated(X), p), ["column"])
    case("quantile(X, matrix(\"0.1 0.5 0.75\", rows=3, cols=1))",
         lambda X: np.array([[np.sort(X.ravel())[int(np.ceil(p * X.size)) - 1]] for p in (0.1, 0.5, 0.75)]), ["column", "even"])
    case("median(X)", np.median, ["column", "even", "one"])
    case("median(X, W)", lambda X: np.median(repeated(X)), ["column"])

    def interquartile_mean(values):
        s, n = np.sort(values), len(values)
        total = 0.0
        for i, v in enumerate(s):
            total += v * max(0.0, min(i + 1, 0.75 * n) - max(i, 0.25 * n))
        return total / (n / 2)
    case("interQuartileMean(X)", lambda X: interquartile_mean(X.ravel()), ["column", "even"])
    case("interQuartileMean(X, W)", lambda X: interquartile_mean(repeated(X)), ["column"])
    for k in range(5):
        function = lambda values, k=k: len(values) if k == 0 else values.mean() if k == 1 else ((values - values.mean()) ** k).mean()
        case(f"moment(X, {k})", lambda X, f=function: f(X.ravel()), ["column", "even"])
        case(f"moment(X, W, {k})", lambda X, f=function: f(repeated(X)), ["column"])
    case("cov(X, G)", lambda X: np.cov(X.ravel(), inputs["groups"].ravel())[0, 1], ["column", "weights"])
    case("cov(X, G, W)", lambda X: np.cov(repeated(X), repeated(inputs["groups"]))[0, 1], ["column"])
    number = ["one"]  # X is 2.5
    x = "as.scalar(X)"
    for dml, value in {
        f"pnorm({x})": stats.norm.cdf(2.5), f"pnorm(target={x}, lower.tail=FALSE)": stats.norm.sf(2.5),
        f"pnorm(target=-9, mean={x}, sd=2)": stats.norm.cdf(-9, 2.5, 2), "1e20 * pnorm(target=9, lower.tail=FALSE)": 1e20 * stats.norm.sf(9),
        f"cdf(target={x}, dist=\"normal\", mean=1, sd=3)": stats.norm.cdf(2.5, 1, 3), f"pexp({x})": stats.expon.cdf(2.5),
        f"pexp(target={x}, rate=0.2, lower.tail=FALSE)": stats.expon.sf(2.5, scale=5), f"cdf(target={x}, dist=\"exp\", rate=3)": stats.expon.cdf(2.5, scale=1 / 3),
        f"pchisq(target={x}, df=1)": stats.chi2.cdf(2.5, 1), f"pchisq(target={x}, df=7)": stats.chi2.cdf(2.5, 7), "pchisq(target=120, df=100, lower.tail=FALSE)": stats.chi2.sf(120, 100),
        "pchisq(target=-1, df=3)": 0, f"cdf(target={x}, dist=\"chisq\", df=4)": stats.chi2.cdf(2.5, 4), f"pf(target={x}, df1=3, df2=11)": stats.f.cdf(2.5, 3, 11),
        "pf(target=0.3, df1=40, df2=90, lower.tail=FALSE)": stats.f.sf(0.3, 40, 90), f"pt(target={x}, df=5)": stats.t.cdf(2.5, 5),
        "pt(target=-0.3, df=1)": stats.t.cdf(-0.3, 1), f"pt(target={x}, df=300, lower.tail=FALSE)": stats.t.sf(2.5, 300),
        "qnorm(0.975)": stats.norm.ppf(0.975), "qnorm(target=1e-12, mean=3, sd=2)": stats.norm.ppf(1e-12, 3, 2), "qnorm(0.5)": 0, "qnorm(0)": -inf, "qnorm(1)": inf,
        "qexp(target=0.3, rate=2)": stats.expon.ppf(0.3, scale=0.5), "qchisq(target=0.95, df=3)": stats.chi2.ppf(0.95, 3), "qchisq(target=0.001, df=1)": stats.chi2.ppf(0.001, 1), "qchisq(target=0, df=1)": 0,
        "qf(target=0.9, df1=3, df2=20)": stats.f.ppf(0.9, 3, 20), "qt(target=0.05, df=4)": stats.t.ppf(0.05, 4), "qt(target=0.5, df=4)": 0,
        "icdf(target=0.2, dist=\"normal\", mean=1, sd=2)": stats.norm.ppf(0.2, 1, 2), "icdf(target=0.2, dist=\"t\", df=9)": stats.t.ppf(0.2, 9),
        f"as.scalar(X) * mean(seq(1, 10))": 2.5 * 5.5, "sum(seq(1, 2, 0.25))": 7.5,
    }.items():
        case(dml, lambda X, v=value: v, number)


def linear_algebra():
    b = np.arange(1.0, 6).reshape(-1, 1)
    case("X %*% t(X)", lambda X: X @ X.T, ALL[:9])
    case("t(X) %*% X", lambda X: X.T @ X, ALL[:9])
    case("X %*% seq(1, ncol(X))", lambda X: X @ np.arange(1.0, X.shape[1] + 1).reshape(-1, 1), ["dense", "sparse", "ultrasparse", "row"])
    case("t(X) %*% seq(1, nrow(X))", lambda X: X.T @ np.arange(1.0, X.shape[0] + 1).reshape(-1, 1), ["dense", "sparse", "ultrasparse", "column"])
    case("X %*% (t(X) + 1)", lambda X: X @ (X.T + 1), ["dense", "sparse", "ultrasparse"])
    case("(t(X) + 1) %*% X", lambda X: (X.T + 1) @ X, ["dense", "sparse", "ultrasparse"])
    case("t(X) %*% (X + 1)", lambda X: X.T @ (X + 1), ["dense", "sparse", "ultrasparse"])
    case("t(X + 1) %*% X", lambda X: (X + 1).T @ X, ["dense", "sparse", "ultrasparse"])
    case("(X + 1) %*% t(X)", lambda X: (X + 1) @ X.T, ["dense", "sparse", "ultrasparse"])
    case("solve(X, seq(1, 5))", lambda X: np.linalg.solve(X, b), ["square", "definite"])
    case("solve(X, seq(1, 8))", lambda X: np.linalg.lstsq(X, np.arange(1.0, 9).reshape(-1, 1), rcond=None)[0], ["tall"])
    case("inv(X)", np.linalg.inv, ["square", "definite", "one"])
    case("det(X)", np.linalg.det, ["square", "definite", "one", "zero"])
    case("cholesky(X)", np.linalg.cholesky, ["definite", "one"])
    case("eigenValues(X + t(X))", lambda X: np.linalg.eigvalsh(X + X.T).reshape(-1, 1), ["square", "definite", "one"])
    case("eigenProduct(X + t(X))", lambda X: X + X.T, ["square", "definite", "one"])
    # Triangular: not symmetric, but with real eigenvalues.
    case("eigenValues(X * lower.tri(target=X, diag=TRUE))", lambda X: np.sort(np.diag(X)).reshape(-1, 1), ["square", "definite"])
    case("eigenResidual(X * lower.tri(target=X, diag=TRUE))", lambda X: 0, ["square", "definite"])
    case("singularValues(X)", lambda X: np.linalg.svd(X, compute_uv=False).reshape(-1, 1), ["square", "tall", "dense", "sparse"])
    case("svdProduct(X)", lambda X: X, ["square", "tall", "dense", "sparse", "row"])
    case("svdProduct(t(X))", np.transpose, ["tall", "sparse"])

    def householder(X):
        R, H = X.copy(), np.zeros((X.shape[0], min(X.shape)))
        for j in range(min(X.shape)):
            a = R[j:, j].copy()
            norm = -np.linalg.norm(a) if a[0] > 0 else np.linalg.norm(a)
            if norm == 0:
                continue
            a[0] -= norm
            H[j:, j] = a / -norm
            R[j:] -= np.outer(a, a @ R[j:]) * 2 / (a @ a)
        return H, np.triu(R)
    case("qrH(X)", lambda X: householder(X)[0], ["square", "tall", "definite"])
    case("qrR(X)", lambda X: householder(X)[1], ["square", "tall", "definite"])
    for k, name in enumerate(("luP", "luL", "luU")):
        lu = lambda X, k=k: (lambda P, L, U: (P.T, L, U))(*scipy.linalg.lu(X))[k]
        case(f"{name}(X)", lu, ["square", "definite"])


cells()
aggregates()
reorganisations()
tables()
statistics()
linear_algebra()


def text(number):
    return "NaN" if np.isnan(number) else ("-Inf" if number < 0 else "Inf") if np.isinf(number) else f"{number + 0.0:.17g}"


def numbers(values):
    return " ".join(map(text, values))


lines = ['{"inputs": {']
lines.append(",\n".join(f'  "{name}": [{X.shape[0]}, {X.shape[1]}, "{numbers(X.ravel())}"]' for name, X in inputs.items()))
lines.append('}, "cases": [')
rows = []
for entry in cases:
    kind = "cells" if "cells" in entry else "sums"
    rows.append(f'  [{json.dumps(entry["dml"])}, "{entry["X"]}", {entry["rows"]}, {entry["columns"]}, "{kind}", "{numbers(entry[kind])}"]')
lines.append(",\n".join(rows))
lines.append("]}")
(HERE / "natives.json").write_text("\n".join(lines) + "\n")
print(len(cases), "cases")
