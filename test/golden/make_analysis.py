"""Computes the golden values of survival, slices and what else analyses data and models, with NumPy, SciPy, pandas,
scikit-learn and statsmodels.

Like make_models.py: `python3 test/golden/make_analysis.py [PART ...]` from the root of the repository writes the files NAME.out.
"""
import itertools
import sys

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial import distance
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import kneighbors_graph
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.duration.survfunc import SurvfuncRight, survdiff

from make_models import DATA, Printed, load


class Shown(Printed):
    """Matrices below their sizes."""

    def table(self, rows, columns=None):
        rows = np.asarray(rows, dtype=float)
        rows = rows.reshape(len(rows), -1) if columns is None else rows.reshape(-1, columns)
        self.lines.append(f"{rows.shape[0]} x {rows.shape[1]}")
        self.show(rows)

    def store(self, name):
        self.lines = [line.replace("nan", "NaN") for line in self.lines]
        super().store(name)


def survival_curve(time, event, alpha=0.05, error="greenwood", interval="log"):
    """Times of events, rows at risk, events, share that survives, its deviation and interval; medians of these shares."""
    moments = np.unique(time[event == 1])
    n = np.array([(time >= t).sum() for t in moments])
    d = np.array([((time == t) & (event == 1)).sum() for t in moments])
    S = np.cumprod(1 - d / n)
    with np.errstate(all="ignore"):
        if error == "greenwood":
            deviation = S * np.sqrt(np.cumsum(d / (n * (n - d))))
            if len(moments):
                peer = SurvfuncRight(time, event)
                assert np.allclose(peer.surv_prob, S) and np.allclose(peer.surv_prob_se[S > 0], deviation[S > 0])
        else:
            deviation = S * np.sqrt((1 - S) / n)
        z = stats.norm.ppf(1 - alpha / 2)
        away = z * deviation
        if interval == "plain":
            bounds = [S - away, S + away]
        elif interval == "log":
            bounds = [S * np.exp(-away / S), S * np.exp(away / S)]
        else:
            away = away / (S * np.log(S))
            bounds = [S ** np.exp(-away), S ** np.exp(away)]
    bounds = [np.clip(bound, 0, 1) for bound in bounds]
    medians = [half_time(moments, shares) for shares in (S, *bounds)]
    return np.column_stack([moments, n, d, S, deviation, *bounds]), medians


def half_time(moments, shares):
    reached = moments[shares <= 0.5 + 1e-9]
    below = moments[shares < 0.5 - 1e-9]
    if not len(reached):
        return np.nan
    return (reached[0] + below[0]) / 2 if len(below) else reached[0]


def survival(out, time, event, groups, strata, curves=True, **options):
    """O and M: all groups of all strata; groups and strata are arrays of factors."""
    tables, facts = [], []
    for stratum in sorted({tuple(row) for row in strata.tolist()}, key=lambda row: row[::-1]):
        for group in sorted({tuple(row) for row in groups.tolist()}, key=lambda row: row[::-1]):
            inside = (groups == group).all(axis=1) & (strata == stratum).all(axis=1)
            if inside.any():
                table, medians = survival_curve(time[inside], event[inside], **options)
                tables.append(table)
                facts.append([*group, *stratum, inside.sum(), event[inside].sum(), *medians])
    if curves:
        longest = max(1, max(len(table) for table in tables))
        out.table(np.hstack([np.pad(table, ((0, longest - len(table)), (0, 0))) for table in tables]))
    out.table(facts)


def comparison(out, time, event, group, strata, gehan):
    """T and T_GROUPS_OE: observed and expected events of groups, moment by moment."""
    names = np.unique(group)
    observed, expected, covariance = np.zeros(len(names)), np.zeros(len(names)), np.zeros((len(names),) * 2)
    for stratum in np.unique(strata):
        inside = strata == stratum
        for moment in np.unique(time[inside & (event == 1)]):
            n = np.array([(inside & (time >= moment) & (group == name)).sum() for name in names])
            d = np.array([(inside & (time == moment) & (event == 1) & (group == name)).sum() for name in names])
            weight = n.sum() / inside.sum() if gehan else 1
            share = n / n.sum()
            observed += weight * d
            expected += weight * d.sum() * share
            if n.sum() > 1:
                spread = d.sum() * (n.sum() - d.sum()) / (n.sum() - 1)
                covariance += weight ** 2 * spread * (np.diag(share) - np.outer(share, share))
    away = (observed - expected)[:-1]
    statistic = away @ np.linalg.solve(covariance[:-1, :-1], away)
    if not gehan or len(np.unique(strata)) == 1:
        peer = survdiff(time, event, group, weight_type="gb" if gehan else None, strata=strata)
        assert np.isclose(peer[0], statistic), (peer, statistic)
    squares = (observed - expected) ** 2
    out.table(np.column_stack([names, [(group == name).sum() for name in names], observed, expected, squares / expected,
                               squares / np.diag(covariance)]))
    degrees = len(names) - 1
    out.table([len(names), degrees, statistic, stats.chi2.sf(statistic, degrees)], columns=4)


def km():
    X, species = load("iris")
    time = np.floor(X[:, 0] * 3 + 0.5) + species
    event = (np.floor(X[:, 1] * 10) % 3 > 0).astype(int)
    wide = 1 + (X[:, 3] > 1.4)
    none = np.zeros((150, 0))
    out = Shown()
    nothing = [[0]]
    survival(out, time, event, none, none)
    out.table(nothing)
    out.table(nothing)
    survival(out, time, event, none, none, alpha=0.1, error="peto", interval="plain")
    survival(out, time, event, none, none, alpha=0.01, interval="log-log")
    column = np.atleast_2d
    survival(out, time, event, column(species).T, none)
    comparison(out, time, event, species, np.zeros(150), False)
    comparison(out, time, event, wide, np.zeros(150), True)
    survival(out, time, event, column(species).T, column(wide).T, interval="log-log")
    comparison(out, time, event, species, wide, False)
    comparison(out, time, event, wide, species, True)
    survival(out, time, event, np.column_stack([species, wide]), none, curves=False, error="peto")
    few = np.zeros((4, 0))
    survival(out, np.array([1.0, 2, 3, 4]), np.ones(4, dtype=int), few, few, curves=False)
    out.table([[2, 0, np.nan, np.nan, np.nan]])
    out.table(np.zeros((1, 7)))
    out.table([[1, 1, 3, np.nan, np.nan]])
    out.table([[3, 1, 1, 0, np.nan, np.nan, np.nan]])
    out.store("km")


def best_slices(X, e, k, min_rows, alpha, most=None):
    """The k best of all slices with a score above 0, by trying all; no two of the best may have the same score."""
    n, m = X.shape
    found = []
    for values in itertools.product(*(range(int(X[:, j].max()) + 1) for j in range(m))):
        values = np.array(values)
        asked = values > 0
        if 0 < asked.sum() <= (most or m):
            inside = (X[:, asked] == values[asked]).all(axis=1)
            size, errors = inside.sum(), e[inside].sum()
            if size >= min_rows and errors > 0:
                score = alpha * (errors / size / e.mean() - 1) - (1 - alpha) * (n / size - 1)
                if score > 0:
                    found.append((score, errors, e[inside].max(), size, values))
    found.sort(key=lambda each: -each[0])
    for better, worse in zip(found[:k], found[1:k + 1]):
        assert better[0] > worse[0] + 1e-9, (better, worse)
    return np.array([each[4] for each in found[:k]]).reshape(-1, m), np.array([each[:4] for each in found[:k]]).reshape(-1, 4)


def slice_line():
    data = np.column_stack(load("diabetes"))
    F = data[:, :5]
    low = F.min(axis=0)
    X = np.minimum(np.floor((F - low) / (F.max(axis=0) - low) * 3) + 1, 3)
    e = np.abs(data[:, 10] - data[:, 10].mean())
    out = Shown()

    def tried(*arguments, **options):
        slices, scores = best_slices(X, *arguments, **options)
        out.table(slices, 5)
        out.table(scores, 4)
        return slices
    tried(e, 6, 20, 0.95)
    out.lines.append("0 x 5")
    tried(e, 3, 4, 0.99)
    tried(e, 4, 10, 0.98, most=2)
    tried(e, 4, 10, 1, most=1)
    tried(e, 100, 60, 0.8)
    tried(e, 4, 400, 0.5)
    out.lines.append("0 x 5")
    tried(1 + 50 * ((X[:, 0] == 1) & (X[:, 1] == 1)) + e / 1000, 4, 24, 0.625)
    wrong = ((data[:, 10] > 140) != (data[:, 2] > 26)).astype(float)
    slices = tried(wrong, 3, 15, 0.97)
    inside = sum(((X == s) | (s == 0)).all(axis=1).astype(int) for s in slices[:2])
    out.line((inside > 0).sum(), wrong[inside > 0].sum(), (inside * np.arange(1, len(X) + 1)).sum())
    out.store("slice-line")


def hazards(out, time, event, X, alpha=0.05, covariance=False):
    """M, S and T."""
    n, D = X.shape
    model = PHReg(time, X, event, ties="breslow")
    fit = model.fit()
    b = fit.params
    information = -model.hessian(b)
    b = b + np.linalg.solve(information, model.score(b))  # one step more, for the last digits
    information = -model.hessian(b)
    C = np.linalg.inv(information)
    deviation = np.sqrt(np.diag(C))
    z = stats.norm.ppf(1 - alpha / 2)
    p = 2 * stats.norm.sf(np.abs(b / deviation))
    out.table(np.column_stack([b, np.exp(b), deviation, b / deviation, p, b - z * deviation, b + z * deviation]))
    value, value0 = model.loglike(b), model.loglike(np.zeros(D))
    out.table([[n], [event.sum()], [value], [2 * D - 2 * value], [1 - np.exp(2 * (value0 - value) / n)], [1 - np.exp(2 * value0 / n)]])
    gradient = model.score(np.zeros(D))
    score = gradient @ np.linalg.solve(-model.hessian(np.zeros(D)), gradient)
    tests = [[each, D, stats.chi2.sf(each, D)] for each in (b @ information @ b, 2 * (value - value0), score)]
    return tests, C


def cox():
    data = np.column_stack(load("diabetes"))
    out = Shown()
    time, event = data[:, 10], (data[:, 0] > 35).astype(int)
    tests, C = hazards(out, time, event, data[:, 2:6])
    out.table(tests)
    out.table(C)
    numbers = np.sort(np.unique(time, return_inverse=True)[1] + 1)
    out.line(numbers.max(), numbers.sum(), (np.sort(time) * np.arange(1, len(time) + 1)).sum())
    X, species = load("iris")
    X, species = X[:140], species[:140]
    event = (np.floor(X[:, 3] * 10) % 3 > 0).astype(int)
    levels = np.column_stack([species == k for k in (1, 2, 3)]).astype(float)
    tests, _ = hazards(out, X[:, 0], event, np.column_stack([X[:, 1], levels[:, 1:], X[:, 2]]), alpha=0.1)
    out.table(tests)
    out.line(6)
    hazards(out, X[:, 0], event, np.column_stack([X[:, 1], levels[:, [0, 2]]]))
    out.store("cox")


def quality_of_scores():
    X, y = load("breast-cancer")
    out = Shown()
    for scores in (X[:, 0], np.floor(X[:, 1] + 0.5), -X[:, 9], np.full(len(y), 0.5)):
        out.line(metrics.roc_auc_score(y, scores))
    for j in range(4):
        out.line(metrics.matthews_corrcoef(y > 0, X[:, j] > X[:, j].mean()))
    out.line(0)
    out.line(0)
    X, species = load("iris")
    predicted = 1 + (X[:, 2] > 2.5) + (X[:, 3] > 1.65)
    for k in (1, 2, 3):
        out.line(1 - metrics.precision_score(species == k, predicted == k))
    out.lines.append("0.5 NaN")
    out.store("quality-of-scores")


def nearest_rows():
    X = np.column_stack(load("diabetes"))[:, 2:9]
    n = len(X)
    graph = kneighbors_graph(X, 4).toarray()
    out = Shown()
    out.line(graph.sum(), (graph * graph.T).sum())
    numbers = np.arange(1, n + 1)
    out.line(((graph @ numbers) * numbers).sum())
    out.line(0, 10)
    holes = X.copy()
    places = [(7 * i - 1, i % 3) for i in range(1, 41)]
    for place in [*places, *((28 * i - 1, 4) for i in range(1, 11))]:
        holes[place] = np.nan
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    complete = ~np.isnan(holes).any(axis=1)
    for method in range(3):
        result = holes.copy()
        for i in np.flatnonzero(~complete):
            away = ((filled - filled[i]) ** 2).sum(axis=1)
            away[i] = np.inf
            if method > 0:
                away[~complete] = np.inf
            first, second = np.sort(away)[:2]
            assert second - first > 1e-9
            result[i] = np.where(np.isnan(holes[i]), filled[away.argmin()], holes[i])
        out.line(0)
        out.show([result[place] for place in places])
        out.line((result[:, 4] * numbers).sum())
    out.line(0, 50)
    out.store("nearest-rows")


def expanded(X, j):
    """All columns but j, the second one as indicators of its two categories, and ones."""
    parts = [X[:, [k]] if k != 1 else np.column_stack([X[:, 1] == 1, X[:, 1] == 2]) for k in range(X.shape[1]) if k != j]
    return np.column_stack([*parts, np.ones(len(X))])


def predicted(F, model, threshold, categories):
    """What a column becomes, and where that is sure enough."""
    if not categories:
        return F @ model, np.full(len(F), True)
    P = model.predict_proba(F[:, :-1])
    assert np.abs(P.max(axis=1) - threshold).min() > 1e-4
    return 1 + P.argmax(axis=1), P.max(axis=1) > threshold


def mice():
    data = np.column_stack(load("diabetes"))
    X = np.column_stack([data[:, :4], data[:, 6:8]])
    holes = X.copy()
    for i in range(1, 31):
        holes[9 * i - 1, 0] = holes[11 * i + 2, 1] = holes[13 * i, 3] = np.nan
    out = Shown()
    for threshold in (0.4, 0.9):
        X = holes[:360]
        missing = np.isnan(X)
        begin = np.nanmean(X, axis=0)
        begin[1] = stats.mode(X[:, 1], nan_policy="omit").mode
        filled, models, unsure = np.where(missing, begin, X), {}, None
        for _ in range(4):
            for j in (0, 1, 3):
                F, seen = expanded(filled, j), ~missing[:, j]
                if j == 1:
                    models[j] = LogisticRegression(C=1, tol=1e-12, max_iter=100000).fit(F[seen, :-1], X[seen, j])
                else:
                    penalty = 1e-7 * np.diag([*np.ones(F.shape[1] - 1), 0])
                    models[j] = np.linalg.solve(F[seen].T @ F[seen] + penalty, F[seen].T @ X[seen, j])
                value, sure = predicted(F, models[j], threshold, j == 1)
                filled[:, j] = np.where(missing[:, j] & sure, value, filled[:, j])
                if j == 1:
                    unsure = missing[:, j] & ~sure
        Y = filled.copy()
        Y[unsure, 1] = np.nan
        for i in range(1, 26):
            out.line(Y[9 * i - 1, 0], Y[11 * i + 2, 1], Y[13 * i, 3])
        Z = holes[360:]
        missing = np.isnan(Z)
        Z, unsure = np.where(missing, begin, Z), 0
        for j in (0, 1, 3):
            value, sure = predicted(expanded(Z, j), models[j], threshold, j == 1)
            Z[:, j] = np.where(missing[:, j] & sure, value, Z[:, j])
            if j == 1:
                unsure = missing[:, j] & ~sure
        Z[unsure, 1] = 0
        out.line(np.isnan(Y[:, 1]).sum(), 0)
        out.line((Z * np.arange(1, len(Z) + 1)[:, None]).sum())
    out.store("mice")


def nearest_windows(x, w):
    """Distances and places, from 0; constant windows are zeros."""
    W = np.lib.stride_tricks.sliding_window_view(x, w)
    W = W - W.mean(axis=1, keepdims=True)
    deviation = W.std(axis=1, keepdims=True)
    W = np.where(deviation > 1e-13 * np.abs(x).max(), W / np.where(deviation > 0, deviation, 1), 0)
    away = np.abs(np.subtract.outer(np.arange(len(W)), np.arange(len(W))))
    D = np.where(away <= -(-w // 4), np.inf, distance.cdist(W, W))
    return D.min(axis=1), D.argmin(axis=1)


def matrix_profile():
    x = np.column_stack(load("diabetes"))[:250, 2]
    out = Shown()
    for w in (4, 13, 22):
        D, place = nearest_windows(x, w)
        out.line(len(D), D.sum(), ((place + 1) * np.arange(1, len(D) + 1)).sum())
        for i in range(0, 201, 40):
            out.line(D[i], place[i] + 1)
    x = np.r_[np.full(10, 2), np.sin(np.arange(1, 1091) ** 1.4 / 20), np.full(10, 3)]
    D, place = nearest_windows(x, 10)
    out.line(len(D), D.sum(), place[499] + 1)
    out.line(D[0], D[-1])
    out.store("matrix-profile")


def adasyn():
    X, species = load("iris")
    X, rare = X[50:120], species[50:120] == 3
    out = Shown()
    for k in (2, 3, 4):
        near = kneighbors_graph(X, k).toarray()[rare]
        others = near @ ~rare
        counts = np.floor(others / others.sum() * (50 - 20) * 0.9 + 0.5)
        D = np.sort(distance.cdist(X[rare], X), axis=1)
        assert (D[:, k + 1] > D[:, k]).all(), "which rows are near must not depend on their order"
        out.lines.append(f"{70 + counts.sum():.0f} {70 + counts.sum():.0f} {20 + counts.sum():.0f} 0")
        out.line(counts.sum())
    out.line(70)
    out.line(80)
    out.lines.append("0 TRUE")
    out.store("adasyn")


def frame_sort():
    birds = pd.read_csv(DATA / "penguins.csv", na_values=["NA"], keep_default_na=False)
    out = Shown()
    for column, ascending in (("island", True), ("island", False), ("sex", True), ("sex", False)):
        S = birds.sort_values(column, ascending=ascending, kind="stable", na_position="last" if ascending else "first")
        places = S.index.to_numpy() + 1
        out.line((places * np.arange(1, len(birds) + 1)).sum())
        for i in range(2, len(birds), 67):
            text = S[column].iloc[i]
            out.line(text if isinstance(text, str) else "null", places[i])
    S = birds.sort_values("body_mass_g", kind="stable")
    for i in range(0, 334, 37):
        out.line(S["body_mass_g"].iloc[i], S["species"].iloc[i])
    out.store("frame-sort")


PARTS = [km, slice_line, cox, quality_of_scores, nearest_rows, mice, matrix_profile, adasyn, frame_sort]

if __name__ == "__main__":
    for part in PARTS:
        if len(sys.argv) == 1 or part.__name__ in sys.argv[1:]:
            part()
