"""Computes the golden values of the functions that prepare data and measure quality, and writes them as NAME.out.

Needs what make.py needs, and pandas: `python3 test/golden/make_preparation.py` from the root of the repository. Each function here computes
the values of the script of the same name with NumPy, SciPy, scikit-learn, pandas and statsmodels.
"""
import pathlib
import warnings

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial.distance import cdist
from scipy.special import expit, logsumexp, softmax
from scipy.stats import skew
from sklearn import metrics
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from statsmodels.tsa.holtwinters import ExponentialSmoothing, SimpleExpSmoothing

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "examples/data"


def load(name):
    return np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)


class Lines:
    """What a script prints: cells one below the other, and texts."""

    def __init__(self):
        self.lines = []

    def __call__(self, *values):
        for value in values:
            if isinstance(value, str):
                self.lines.append(value)
            else:
                self.lines += [number(v) for v in np.asarray(value, dtype=float).ravel().tolist()]

    def store(self, name):
        (HERE / f"{name}.out").write_text("".join(line + "\n" for line in self.lines))


def number(value):
    return "NaN" if value != value else repr(value).replace("inf", "Infinity")


def greys(above, rows=None):
    """A sparse matrix: the dark cells of the digits."""
    X = load("digits")[:rows, :64]
    return X * (X > above)


def quartile(v, p):
    """The cell at place ceil(p n), which NumPy calls inverted_cdf."""
    return np.nanquantile(v, p, axis=0, method="inverted_cdf")


def quantile_of_column(v, p):
    """Quantile of a column for a single probability: of an even number of cells, the mean of two neighbours."""
    v = np.sort(v[~np.isnan(v)])
    n = len(v)
    place = max(int(np.ceil(p * n)), 1)
    return v[place - 1] if n % 2 else (v[place - 1] + v[min(place, n - 1)]) / 2


def scale():
    out = Lines()
    data = load("iris")
    X = np.c_[data[:, :4] + 2, np.full(150, 0.1), data[:, 0]]
    X[6, 5] = np.nan
    for center in (0, 1):
        for scale in (0, 1):
            means, factors = np.zeros(6), np.ones(6)
            if center:
                means[:5] = StandardScaler(with_std=False).fit(X[:, :5]).mean_
            if scale:
                deviation = np.sqrt(((X[:, :5] - means[:5]) ** 2).sum(axis=0) / 149)
                factors[:5] = np.where(deviation > 1e-12, deviation, 1)
                if center:
                    peer = StandardScaler().fit(X[:, :4])
                    assert np.allclose(factors[:4], peer.scale_ * np.sqrt(150 / 149))
            Y = (X - means) / factors
            sums = (Y[:, :5] ** 3).sum(axis=0)
            out(Y[0], Y[74], sums, f"{center} {scale}")
            if center:
                out(means)
            if scale:
                out(factors)
            out((X[19:21] * 2 - means) / factors)
    S = greys(12)
    deviation = S.std(axis=0, ddof=1)
    factors = np.where(deviation > 0, deviation, 1)
    out((((S - S.mean(axis=0)) / factors)[:50] ** 2).sum(axis=0), factors)
    deviation = np.sqrt((S ** 2).sum(axis=0) / (len(S) - 1))
    out((S / np.where(deviation > 0, deviation, 1)).sum())
    out(np.zeros(3), np.ones(3), np.ones(3), [1, 2, np.inf, 4])
    out.store("scale")


def normalize():
    out = Lines()
    data = load("iris")
    X = np.c_[data[:, :4] - 3, np.full(150, 0.1), data[:, 0]]
    X[6, 5] = np.nan
    peer = MinMaxScaler().fit(X)
    Y = peer.transform(X)
    out(Y[0], Y[6], Y[74], Y[7:].sum(axis=0), peer.data_min_, peer.data_max_, peer.transform(X[19:21] * 2), 0)
    out(MinMaxScaler().fit_transform(greys(12)).sum(), 0, 0)
    out.store("normalize")


def scale_robust():
    out = Lines()
    data = load("iris")
    X = np.c_[data[:, :4], np.full(150, 0.1), data[:, 0]]
    X[6:9, 5] = np.nan

    def fitted(X):
        q1, med, q3 = (quartile(X, p) for p in (0.25, 0.5, 0.75))
        return lambda X: (X - med) / np.where(q3 > q1, q3 - q1, 1), med, q1, q3
    transform, *quartiles = fitted(X)
    Y = transform(X)
    out(Y[0], Y[6], Y[74], Y[9:].sum(axis=0), *quartiles, transform(X[19:21] * 2))
    out(*fitted(X[:149, :4])[1:])
    S = greys(7)
    transform, med, q1, q3 = fitted(S)
    out(med, q3 - q1, transform(S).sum(), 0, 0, 4, -2)
    out.store("scale-robust")


def split():
    out = Lines()
    data = load("iris")
    X, y = data[:, :4], data[:, 4]
    out("43 107 43 107", X[:43].sum(axis=0), X[43:].sum(axis=0), y[:43].sum(), "29", "60 40", 0, 0, 0, "TRUE")
    mixed = data[10:][np.argsort((np.arange(11, 151) * 37) % 101, kind="stable")]
    train, test = [], []
    for k in (1, 2, 3):
        rows = mixed[mixed[:, 4] == k]
        size = int(0.7 * len(rows) + 1e-9)
        train.append(rows[:size])
        test.append(rows[size:])
    out([len(r) for r in train], [len(r) for r in test])
    train, test = np.vstack(train), np.vstack(test)
    out(train[:3, :4], test[:3, :4], train[:, :4].T @ train[:, 4], test[:, :4].T @ test[:, 4])
    out([2, -1, 1, 1], [4, -1, 3, 1, 5, 1])
    out([3, 1, 1, 2], [1, 1, np.nan, 2])
    out.store("split")


def activations():
    out = Lines()
    X = np.array([[1, 2, 3], [1000, 1000, 0], [-1000, -1001, -1002], [0, 0, 0]], dtype=float)
    out(softmax(X, axis=1), expit(X / 100), expit(0.3), logsumexp(X), logsumexp(X, axis=1), logsumexp(X, axis=0), 1)
    out(-np.inf, np.inf, 3, 3)
    S = greys(12)
    out(softmax(S[:100], axis=1).sum(axis=0), logsumexp(S[:20], axis=1))
    labels = load("digits")[:, 64:] + 1
    onehot = OneHotEncoder(categories=[list(range(1, 13))], handle_unknown="ignore").fit_transform(labels)
    out(onehot.sum(axis=0), [0, 1, 1, 0, 0, 0])
    out.store("activations")


def dist():
    out = Lines()
    X = load("iris")[:, :4]
    D = cdist(X, X)
    out(D[:4, :6], D[149, 139:150], D.sum(), 0)
    close = 1e6 + np.array([[0, 0], [0.001, 0.001], [3, 4]])
    out(cdist(close, close))
    out([0, np.nan, 1, np.nan, np.nan, np.nan, 1, np.nan, 0], 0)
    S = greys(12, 80)
    out(cdist(S, S)[0], cdist(S, S).sum())
    out.store("dist")


def quality_of_classes():
    out = Lines()
    data = load("iris")
    y = data[:, 4].astype(int)
    yhat = (1 + (data[:, 2] > 2.5) + (data[:, 3] > 1.65) * (data[:, 2] > 2.5)).astype(int)
    out(100 * metrics.accuracy_score(y, yhat), 100 * metrics.balanced_accuracy_score(y[19:], yhat[19:]))
    out([100 * metrics.balanced_accuracy_score(y[59:], yhat[59:])] * 2)
    counts = metrics.confusion_matrix(y[19:], yhat[19:]).T
    out(counts, counts / counts.sum(axis=0))
    out([1, 0, 0, 0, 0, 0, 1, 0, 0], [0.5, 0, 0, 0, 0, 0, 0.5, 0, 0])
    out(metrics.f1_score(y[59:] - 1, yhat[59:] - 1, pos_label=1), 1, 0)
    out.store("quality-of-classes")


def quality_of_numbers():
    out = Lines()
    data = load("diabetes")
    X = data[:, 10]
    Y = 150 + 3 * (data[:, 2] - data[:, 2].mean())
    P = [0, 0.1, 0.5, 0.9, 1]
    square, absolute, size = (X - Y) ** 2, np.abs(X - Y), np.abs(X) + np.abs(Y)
    out(metrics.mean_squared_error(X, Y), quartile(square, P))
    out(metrics.root_mean_squared_error(X, Y), np.sqrt(quartile(square, P)))
    out(metrics.root_mean_squared_error(X, Y) / np.ptp(X), np.sqrt(quartile(square, P)) / np.ptp(X))
    out(metrics.mean_absolute_error(X, Y), quartile(absolute, P))
    out(metrics.mean_absolute_percentage_error(X, Y), quartile(absolute / X, P))
    out((2 * absolute / size).mean(), quartile(2 * absolute / size, P))
    modified = 2 * absolute / np.maximum(size + 1e-10, 0.5 + 1e-10)
    out(modified.mean(), quartile(modified, P))
    out(10 * np.log10(X.max() ** 2 / square.mean()), np.inf, "0 0")
    A, B = greys(12, 200), greys(13, 200)
    size = A + B
    shares = np.where(size > 0, 2 * np.abs(A - B) / np.where(size > 0, size, 1), 0)
    out(shares.mean(), quartile(shares.ravel(), P), np.where(A > 0, np.abs(A - B) / np.where(A > 0, A, 1), 0).mean())
    out(10 * np.log10(A.max() ** 2 / ((A - B) ** 2).mean()), quartile(A.ravel(), [0.7, 0.9, 0.99]), np.inf)
    out.store("quality-of-numbers")


def moments():
    out = Lines()
    X = load("iris")[:, :4]
    b1 = lambda v: skew(v) * ((len(v) - 1) / len(v)) ** 1.5
    C = np.corrcoef(X, rowvar=False)
    out(b1(X[:, 0]), b1(X.ravel()), C, C)
    C = np.full((3, 3), np.nan)
    C[:2, :2] = np.corrcoef(X[:20, :2], rowvar=False)
    out(C)
    S = greys(12)
    out(b1(S.ravel()), np.corrcoef(S[:, 9:20], rowvar=False)[1])
    kept = VarianceThreshold().fit(S).get_support()
    out(str(kept.sum()), kept)
    kept = X.var(axis=0, ddof=1) > 0.5
    out(kept, X[:, kept].sum(axis=0), "4 x 0", "|" + ",".join(str(i + 1) for i in range(4) if X[49 + i, 0] > 5) + "|"
        + ",".join(str(i + 1) for i in range(4) if X[49 + i, 0] > 6))
    out.store("moments")


def sets():
    out = Lines()
    data = load("digits")
    X, Y = data[:30, 19] * 1.5, data[30:60, 20]
    out(np.intersect1d(X, Y), np.setdiff1d(X, Y), np.setdiff1d(Y, X), np.setxor1d(X, Y), np.union1d(X, Y))
    out("0 x 1", [-1, 2, 3], [-1, 2, 3, 4, 5], [-1, 2, 3], "0 0 3")
    out(np.nan, 1, [1, 2, np.nan], [1, 2], [1, 4], 2, 2)
    out.store("sets")


def impute():
    out = Lines()
    data = load("iris")
    X = np.c_[data[:, :4], np.floor(data[:, 0]), np.floor(data[:, 2] * 100)]
    X[(np.arange(1, 151)[:, None] * 5 + np.arange(1, 7) * 3) % 7 == 0] = np.nan

    def largest_mode(v):
        values, counts = np.unique(v[~np.isnan(v)], return_counts=True)
        return values[counts == counts.max()].max()
    modes = np.array([largest_mode(X[:, 4]), largest_mode(X[:, 5])])
    for strategy in ("mean", "median"):
        v = np.r_[SimpleImputer(strategy=strategy).fit(X[:, :4]).statistics_, modes]
        Y = np.where(np.isnan(X), v, X)
        out(v, Y.sum(axis=0))
        if strategy == "mean":
            out(Y[:7])
        out(Y[7:9])
    out(modes, Y[:, 4:].sum(axis=0), Y[7:9, 4:])
    out(0, np.zeros(12), [2, 0], [[2, 0], [1, 0], [2, 0], [1, -3], [2, 0]])
    S = greys(12)
    S[4:9, 19] = np.nan
    for strategy, shown in (("mean", True), ("median", False)):
        peer = SimpleImputer(strategy=strategy).fit(S)
        if shown:
            out(peer.statistics_)
        out(peer.transform(S).sum())
    modes = np.array([largest_mode(np.where(v >= 1, v, np.nan)) if (v >= 1).any() else 0 for v in S.T])
    out(modes, np.where(np.isnan(S), modes, S).sum())
    out.store("impute")


def repaired(X, bounds, method, most):
    """Searches for outliers until none is left or `most` times; bounds gives statistics, lower and upper bound."""
    rest, Y, count = X.copy(), X.copy(), 0
    while True:
        statistics, lower, upper = bounds(rest)
        with np.errstate(invalid="ignore"):
            out = (rest < lower) | (rest > upper)
        if method == 0:
            rest = Y = rest[~out.any(axis=1)]
        else:
            rest[out] = np.nan
            Y[out] = 0 if method == 1 else np.nan
        count += 1
        if not out.any() or count == most:
            return Y, statistics, lambda X: once(X, lower, upper, method)


def once(X, lower, upper, method):
    out = (X < lower) | (X > upper)
    return X[~out.any(axis=1)] if method == 0 else np.where(out, 0 if method == 1 else np.nan, X)


def by_quartiles(X):
    q1, q3 = (np.array([quantile_of_column(v, p) for v in X.T]) for p in (0.25, 0.75))
    return (q1, q3, q3 - q1), q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)


def by_deviation(factor):
    def bounds(X):
        mean, sd = np.nanmean(X, axis=0), np.nanstd(X, axis=0, ddof=1)
        return (mean, sd), mean - factor * sd, mean + factor * sd
    return bounds


def outliers():
    out = Lines()
    X = load("diabetes")[:, 2:8]
    above = X.max(axis=0) - X.mean(axis=0) > X.mean(axis=0) - X.min(axis=0)
    out(np.where(above, X.max(axis=0), X.min(axis=0))[1:], np.where(above, X.min(axis=0), X.max(axis=0))[1:])
    X[4, 0] = np.nan
    for method in range(3):
        for most in range(2):
            for bounds in (by_quartiles, by_deviation(2)):
                Y, statistics, apply = repaired(X, bounds, method, most)
                out(f"{len(Y)} {float(np.isnan(Y).sum())} {float((Y == 0).sum())}", np.nansum(Y, axis=0), *statistics)
                Z = apply(X[199:] * 1.2)
                out(f"{len(Z)} {float(np.nansum(Z))}")
    out("outlierByIQR: search 1 found 1 outliers", [1, 2, 3, 4, 5, 6, 7, 0])
    one = np.array([1, 2, 3, 4, 5, 6, 7, 800.0])[:, None]
    Y, _, _ = repaired(one, by_deviation(2), 1, 0)
    out("outlierBySd: search 1 found 1 outliers", "outlierBySd: search 2 found 0 outliers", np.c_[Y, np.full(8, 0.5)], 1, 2)
    S = greys(12, 300)
    Y, (_, sd), _ = repaired(S, by_deviation(3), 1, 1)
    out(Y.sum(), sd)
    lower, upper = (np.array([quantile_of_column(v, p) for v in S.T]) for p in (0.1, 0.9))
    out(lower, upper, np.clip(S, lower, upper).sum())
    lower, upper = (np.array([quantile_of_column(v, p) for v in X.T]) for p in (0.05, 0.95))
    Y = np.clip(X, lower, upper)
    out(lower, upper, Y[:5], Y[5:].sum())
    out(np.clip(np.array([[0, 50, np.nan, 100, 3, 0], [1, 1, 1, 1, 1, 9]]), lower, upper))
    out.store("outliers")


def univar():
    out = Lines()

    def of_numbers(v):
        n = len(v)
        sd = v.std(ddof=1)
        skewness = np.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
        quarter = n / 4
        # The middle half, cells at its ends in part.
        weight = np.clip(np.minimum(np.arange(1, n + 1) - quarter, n - quarter - np.arange(n)), 0, 1)
        return [v.min(), v.max(), np.ptp(v), v.mean(), v.var(ddof=1), sd, stats.sem(v), stats.variation(v, ddof=1),
                skew(v) * ((n - 1) / n) ** 1.5, (stats.kurtosis(v) + 3) * ((n - 1) / n) ** 2 - 3, skewness,
                2 * skewness * np.sqrt((n * n - 1) / ((n - 3) * (n + 5))), np.median(v),
                (np.sort(v) * weight).sum() / weight.sum(), 0, 0, 0]

    def of_categories(v):
        values, counts = np.unique(v, return_counts=True)
        return [0] * 14 + [v.max(), values[counts == counts.max()].max(), (counts == counts.max()).sum()]
    X = load("diabetes")[:150, 2:7]
    out(np.array([of_numbers(v) for v in X.T] + [of_categories(load("iris")[:, 4])]).T)
    out(np.array([of_numbers(v) for v in greys(12)[:, 19:24].T]).T, of_categories(load("digits")[:, 64] + 1))
    out.store("univar")


def bivar():
    out = Lines()
    iris = load("iris")
    half_up = lambda v: np.floor(v + 0.5)
    X = np.c_[iris[:, :2], iris[:, 4], half_up(iris[:, 2]), half_up(2 * iris[:, 3]) + 1]

    def numbers(i, j):
        x, y = X[:, i - 1], X[:, j - 1]
        return [i, j, stats.pearsonr(x, y)[0], np.cov(x, y)[0, 1], x.std(ddof=1), y.std(ddof=1)]

    def mixed(i, j, number, category):
        y, g = X[:, number - 1], X[:, category - 1]
        groups = [y[g == k] for k in np.unique(g)]
        f, p = stats.f_oneway(*groups)
        between = sum(len(v) * (v.mean() - y.mean()) ** 2 for v in groups)
        within = sum(((v - v.mean()) ** 2).sum() for v in groups)
        degrees = len(groups) - 1, len(y) - len(groups)
        return [i, j, np.sqrt(between / ((y - y.mean()) ** 2).sum()), f, p, between, within, *degrees, between / degrees[0],
                within / degrees[1]]

    def categories(i, j):
        table = stats.contingency.crosstab(X[:, i - 1], X[:, j - 1]).count
        chi2, p, degrees, _ = stats.chi2_contingency(table, correction=False)
        return [i, j, chi2, degrees, p, stats.contingency.association(table, method="cramer")]
    out("1 5 6 2", np.array([numbers(1, 2)]).T)
    out(np.array([mixed(1, 3, 1, 3), mixed(1, 4, 1, 4), mixed(1, 5, 1, 5), mixed(3, 2, 2, 3), mixed(4, 2, 2, 4)]).T)
    out(np.array([categories(i, j) for i in (3, 4) for j in (3, 4, 5)]).T)
    out(np.array([[4, j, stats.spearmanr(X[:, 3], X[:, j - 1])[0]] for j in (4, 5)]).T)
    out("bivar: columns 6 and 3: categories", np.zeros(6), [6, 3, 0, 0, 1, 0], np.zeros(3))
    out.store("bivar")


def time_series():
    out = Lines()
    data = load("iris")
    X = np.where((np.arange(1, 151)[:, None] // 4 + np.arange(5)) % 5 < 2, np.nan, data - 1)
    Y = pd.DataFrame(X).ffill().bfill().to_numpy()
    out(Y.sum(axis=0), Y[:12], pd.DataFrame(X).bfill().ffill().to_numpy().sum(axis=0))
    out([0, 0, np.inf, np.inf, 0, 0], 0)

    def statistics(x):
        missing = np.isnan(x)
        edges = np.diff(np.r_[0, missing, 0])
        lengths = np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
        if not len(lengths):
            return [len(x)] + [0] * 7
        values, counts = np.unique(lengths, return_counts=True)
        largest = lambda weight: values[weight == weight.max()].max()
        return [len(x), missing.sum(), missing.mean(), len(lengths), lengths.mean(), lengths.max(), largest(counts),
                largest(counts * values)]
    short = np.array([np.nan, 1, np.nan, np.nan, 2, 3, np.nan])
    out(statistics(X[:, 0]), statistics(X[:, 3]), statistics(data[:, 0]), statistics(np.array([np.nan])))
    out("statsNA: length of the series 7", "  missing cells         4, 57.14 %",
        "  gaps                  3, mean length 1.33, longest 2", "  most frequent length  1", "  length with most      2",
        "  cells 1 to 3: 2 missing, 66.67 %", "  cells 4 to 6: 1 missing, 33.33 %", "  cells 7 to 7: 1 missing, 100.00 %",
        "  gaps of length 1: 2", "  gaps of length 2: 1", statistics(short))

    def forecast(x, alpha):
        model = SimpleExpSmoothing(x, initialization_method="known", initial_level=x[0])
        return float(model.fit(smoothing_level=alpha, optimized=False).forecast(1)[0])
    for alpha in (0, 0.25, 0.5, 0.75, 1):
        out([forecast(data[:, 2], alpha)] * 2)
    out(forecast(load("digits")[:, 19], 0.1), 7)
    out.store("time-series")


def encode():
    out = Lines()
    iris = load("iris")
    X = np.c_[iris[:, 4], iris[:, 0], np.floor(iris[:, 0])]
    X[2:9, 2] = np.nan
    shares = np.zeros((3, 7))
    for j in (0, 2):
        for category, share in pd.Series(X[:, j]).value_counts(normalize=True).items():
            shares[j, int(category) - 1] = share
    apply = lambda X: np.c_[pd.Series(X[:, 0]).map(lambda v: shares[0, int(v) - 1] if v == v and v <= 7 else v - v), X[:, 1],
                            pd.Series(X[:, 2]).map(lambda v: shares[2, int(v) - 1] if v == v and v <= 7 else v - v)]
    Y = apply(X)
    out(shares, Y[:12], np.nansum(Y, axis=0), apply(np.array([[2, 1.5, 9], [np.nan, 3, 7]])), 0)

    size, species = np.floor(iris[:, 2] + 0.5), iris[:, 4].copy()
    species[9:14] = np.nan
    size[99:101] = np.nan
    pairs = pd.DataFrame({"size": size, "species": species}).dropna()
    for threshold in range(1, 6):
        found = np.zeros(7)
        for category, group in pairs.groupby("size"):
            counts = group.species.value_counts()
            if counts.max() / counts.sum() >= threshold / 5:
                found[int(category) - 1] = counts[counts == counts.max()].index.max()
        by = np.array([found[int(v) - 1] if v == v else 0 for v in size])
        Z = np.where(by > 0, by, species)
        out(f"{float(np.isnan(Z).sum())} {float((np.nan_to_num(Z) * np.arange(1, 151)).sum())}", found)
        out(np.where(np.r_[found, 0, 0] > 0, np.r_[found, 0, 0], np.nan))
    out.store("encode")


def relations():
    out = Lines()
    iris = load("iris")
    sums = lambda M: [*M.shape, M.sum(), (M * np.arange(1, len(M) + 1)[:, None]).sum(), (M * np.arange(1, M.shape[1] + 1)).sum()]
    for rows in (iris[:, 0] == 5.1, iris[:, 0] != 5.1, iris[:, 2] < 4.5, iris[:, 2] > 4.5, iris[:, 2] <= 4.5, iris[:, 2] >= 4.5):
        out(sums(iris[rows]))
    out("0 x 5")

    def grouped(X, col):
        groups = [(key, group.drop(columns=col).to_numpy().ravel()) for key, group in pd.DataFrame(X).groupby(col)]
        Y = np.zeros((len(groups), 1 + max(len(cells) for _, cells in groups)))
        for row, (key, cells) in zip(Y, groups):
            row[0] = key
            row[1:len(cells) + 1] = cells
        return Y
    X = np.c_[iris[:, 1], iris[:, 4], np.arange(1, 151)]
    out(sums(grouped(X, 0)), sums(grouped(X, 1)), grouped(X[:10], 0), np.unique(X[:9, 0]), X[0, 2], X[0, :2])

    def joined(A, left, B, right):
        a, b = pd.DataFrame(A).add_prefix("a"), pd.DataFrame(B).add_prefix("b")
        a["rowA"], b["rowB"] = range(len(a)), range(len(b))
        pairs = a.merge(b, left_on=f"a{left}", right_on=f"b{right}").sort_values([f"a{left}", "rowA", "rowB"])
        return pairs.drop(columns=["rowA", "rowB"]).to_numpy()
    A = np.c_[np.arange(1, 61), iris[:60, 0] - 5]
    B = np.c_[iris[90:, 0] - 5, np.arange(101, 161), iris[90:, 1]]
    out(sums(joined(A, 1, B, 0)), sums(joined(A, 1, B, 0)), joined(A[:9], 1, B[:40], 0), "0 x 5")
    out([1, np.nan, 1, 2, np.inf, 2], [np.nan, 6, 2, np.inf, 2, np.inf], 3, 3)
    out.store("relations")


def sampling():
    out = Lines()
    iris = load("iris")
    X, y = iris[:, :4], iris[:, 4]
    out([40, 50, 35], 0, 0, 0)
    S = X[:50] + 0.001 * np.outer(np.arange(1, 51), [1, -2, 3, 5])
    nearest = NearestNeighbors(n_neighbors=6).fit(S).kneighbors(S, return_distance=False)
    direction = S[nearest[:, 1]] - S
    out("150 x 4", direction / np.linalg.norm(direction, axis=1, keepdims=True), "TRUE", "TRUE")
    category = np.floor(4 * S[:, 0] + 0.5)
    squares = cdist(S, S) ** 2 + np.median(S.std(axis=0, ddof=1)) ** 2 * (category[:, None] != category)
    np.fill_diagonal(squares, np.inf)
    for row in squares:
        values, counts = np.unique(category[np.argsort(row)[:5]], return_counts=True)
        out(values[counts == counts.max()].max())

    def links(X, y):
        """The rows of the most frequent class that are in Tomek links, from 1."""
        nearest = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X, return_distance=False)[:, 1]
        values, counts = np.unique(y, return_counts=True)
        most = values[counts == counts.max()].max()
        mutual = nearest[nearest] == np.arange(len(X))
        return np.flatnonzero(mutual & (y[nearest] != y) & (y == most)) + 1
    P = X + 0.00001 * np.outer(np.arange(1, 151), [1, -2, 3, 5])
    dropped = links(P[50:140], y[50:140])
    kept = np.delete(np.c_[P, y][50:140], dropped - 1, axis=0)
    out(dropped, kept[:, :4].sum(axis=0), [0, (kept[:, 4] == 2).sum(), (kept[:, 4] == 3).sum()])
    out(links(P, y), "0 100")
    digits = load("digits")[:1200]
    D = greys(13, 1200) * (1 + 0.0001 * np.arange(1, 1201))[:, None]
    out(links(D, digits[:, 64] > 4))
    out.store("sampling")


def ema():
    out = Lines()
    iris = load("iris")[:, :2]
    alpha, beta, gamma = 0.3, 0.2, 0.4

    def expected(x, level, trend, season):
        """What statsmodels expects of each number, and after the last one; its seasons follow errors of expectations."""
        more = {"seasonal": "add", "seasonal_periods": len(season), "initial_seasonal": season} if len(season) else {}
        model = ExponentialSmoothing(x, trend="add", initialization_method="known", initial_level=level, initial_trend=trend, **more)
        weights = {"smoothing_seasonal": gamma * (1 - alpha)} if len(season) else {}
        fit = model.fit(smoothing_level=alpha, smoothing_trend=fit_trend, optimized=False, **weights)
        return np.r_[fit.fittedvalues, fit.forecast(1)]

    def smoothed(x, mode):
        nonlocal fit_trend
        fit_trend = 0 if mode == "single" else beta
        missing = np.isnan(x)
        begin = pd.Series(x).ffill().bfill().to_numpy()
        # A missing number is what was expected of it: all before it are needed.
        numbers = begin.copy() if mode != "triple" else np.r_[begin[:7], x[7:]]
        first = 7 if mode == "triple" else 1
        time = np.arange(7)
        slope, intercept = np.polyfit(time, begin[:7], 1)
        start = {"single": (begin[0], 0, []), "double": (begin[0], begin[1] - begin[0], []),
                 "triple": (intercept + 6 * slope, slope, begin[:7] - intercept - slope * time)}[mode]
        for t in range(first, len(x)):
            if missing[t]:
                numbers[t] = 0
                numbers[t] = expected(numbers[first:t + 1], *start)[-2] if t > first else start[0] + start[1] + sum(start[2][:1])
        forecasts = expected(numbers[first:], *start)
        return np.r_[numbers[:7], forecasts[:-1]] if mode == "triple" else np.r_[numbers[0], forecasts[1:]]
    fit_trend = beta
    gaps = np.where((np.arange(1, 151)[:, None] // 2 + np.arange(2)) % 7 == 3, np.nan, iris)
    for mode in ("single", "double", "triple"):
        for X, shown in ((iris, 0), (gaps, 1)):
            Y = np.column_stack([smoothed(v, mode) for v in X.T])
            out(Y[:20, shown], (Y * np.arange(1, 151)[:, None]).sum())
    out(0, iris[0, 1], 7.5)
    out.store("ema")


warnings.simplefilter("ignore", RuntimeWarning)
scale()
normalize()
scale_robust()
split()
activations()
dist()
quality_of_classes()
quality_of_numbers()
moments()
sets()
impute()
outliers()
univar()
bivar()
time_series()
encode()
relations()
sampling()
ema()
