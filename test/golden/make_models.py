"""Computes the golden values of the library's models with NumPy, SciPy, scikit-learn and statsmodels.

Like make.py, and with the same virtual environment: `python3 test/golden/make_models.py` from the root of the repository writes
the files NAME.out beside the scripts NAME.dml that print the same values; `make_models.py PART ...` runs only those functions.
"""
import pathlib
import sys

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.io import mmread
from scipy.optimize import least_squares
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.stats import multivariate_normal
from sklearn.cluster import DBSCAN
from sklearn.decomposition import PCA
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.tree import DecisionTreeClassifier

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "examples/data"


def load(name):
    data = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)
    return data[:, :-1], data[:, -1]


def last_class(y):
    """Digits as classes: 0 is the tenth."""
    return np.where(y == 0, 10, y)


def with_ones(X):
    return np.c_[X, np.ones(len(X))]


def ridge(X, y, reg, penalised):
    return np.linalg.solve(X.T @ X + reg * np.diag(penalised), X.T @ y)


class Printed:
    """What a script prints: one line for each call of line, one for each value of show."""

    def __init__(self):
        self.lines = []

    def line(self, *values):
        self.lines.append(" ".join(v if isinstance(v, str) else repr(float(v)) for v in values))

    def show(self, values):
        for value in np.asarray(values, dtype=float).ravel():
            self.line(value)

    def store(self, name):
        text = "\n".join(self.lines) + "\n"
        (HERE / f"{name}.out").write_text(text.replace("inf", "Infinity"))


def weighted(values):
    return (np.asarray(values) * np.arange(1, len(values) + 1)).sum()


def linear_predict():
    X, y = load("diabetes")
    out = Printed()
    for icpt in range(3):
        train, scale = X[:300], np.ones(10)
        if icpt == 2:
            scale = train.std(axis=0, ddof=1)
        if icpt:
            B = ridge(with_ones((train - train.mean(axis=0)) / scale), y[:300], 2.5, np.r_[np.ones(10), 0])
            if icpt == 1:
                B = ridge(with_ones(train), y[:300], 2.5, np.r_[np.ones(10), 0])
                expected = with_ones(X[300:]) @ B
            else:
                expected = with_ones((X[300:] - train.mean(axis=0)) / scale) @ B
        else:
            expected = X[300:] @ ridge(train, y[:300], 2.5, np.ones(10))
        out.show(expected[::20])
        truth = y[300:]
        residual = truth - expected
        total = ((truth - truth.mean()) ** 2).sum()
        for linear in (False, True):
            r2 = 1 - (residual ** 2).sum() / total if linear else ((expected - truth.mean()) ** 2).sum() / total
            values = [residual.mean(), ((residual - residual.mean()) ** 2).sum(), r2]
            out.line(f"lmPredictStats: mean response {truth.mean()}, standard deviation {truth.std(ddof=1)}")
            out.line(f"lmPredictStats: mean residual {values[0]}, sum of squares around it {values[1]}")
            out.line(f"lmPredictStats: R^2 {r2}, without the mean residual {1 - values[1] / total}")
            out.show(values)
    out.line("TRUE")
    expected, truth = X[:2].sum(axis=1) + 1, y[:2]
    residual = truth - expected
    total = ((truth - truth.mean()) ** 2).sum()
    unbiased = ((residual - residual.mean()) ** 2).sum()
    out.line(f"lmPredictStats: mean response {truth.mean()}, standard deviation {truth.std(ddof=1)}")
    out.line(f"lmPredictStats: mean residual {residual.mean()}, sum of squares around it {unbiased}")
    out.line(f"lmPredictStats: R^2 {1 - (residual ** 2).sum() / total}, without the mean residual {1 - unbiased / total}")
    out.store("linear-predict")


def softmax(scores):
    E = np.exp(scores - scores.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True)


def classifier_predict():
    X, y = load("iris")
    W = np.array([[1.01, -2, 0.5], [-1, 1.03, 0.5], [2, 0, 1.07], [-1, 1.1, 2], [3, -4, -9]])
    out = Printed()
    for m in (4, 5):
        D = X if m == 4 else with_ones(X)
        M = softmax(np.c_[D @ W[:m, :2], np.zeros(150)])
        out.show(M[:3])
        out.show(M[149])
        out.line(weighted(M.argmax(axis=1) + 1), 100 * (M.argmax(axis=1) + 1 == y).mean())
        scores = D @ W[:m]
        out.show(scores[74])
        out.line(weighted(scores.argmax(axis=1) + 1))
        out.show(scores[149])
        out.line(weighted(scores.argmax(axis=1) + 1))
        out.line(weighted(np.where(scores[:, 1] > 0, 1, -1)))
    out.show(softmax(np.c_[1000 * X[:2] @ W[:4, :2], np.zeros(2)]))
    missing = np.where(X == 0.2, 0, X)
    message = f"has {(X == 0.2).sum()} cells that are NaN; they stand for 0"
    M = softmax(np.c_[missing @ W[:4, :2], np.zeros(150)])
    out.line(f"multiLogRegPredict: X {message}")
    out.line(100 * (M.argmax(axis=1) + 1 == y).mean())
    out.line(f"msvmPredict: X {message}")
    out.line(weighted((missing @ W[:4]).argmax(axis=1) + 1))
    out.line(3, 0)
    out.store("classifier-predict")


def pca_transform():
    X, _ = load("iris")
    average, divisor = X[:100].mean(axis=0), X[:100].std(axis=0, ddof=1)
    P = PCA(n_components=2).fit((X[:100] - average) / divisor).components_.T
    P = P * np.sign(P[np.abs(P).argmax(axis=0), [0, 1]])
    Y = (X[100:] - average) / divisor @ P
    out = Printed()
    out.show(Y[0])
    out.show(Y[49])
    out.show(Y[49] @ P.T * divisor + average)
    out.show(X[149] @ P)
    out.show(Y[49] @ P.T)
    out.show(X[149] / divisor @ P)
    out.show((X[149] - average) @ P)
    out.line("TRUE")
    out.line("TRUE")
    out.store("pca-transform")


def kmeans_predict():
    X, _ = load("iris")
    C = X[[9, 59, 109]]
    nearest = NearestNeighbors(n_neighbors=1).fit(C).kneighbors(X)[1].ravel() + 1
    out = Printed()
    out.show([(nearest == k).sum() for k in (1, 2, 3)])
    out.line(weighted(nearest))
    out.line(2)
    out.line(0)
    out.store("kmeans-predict")


def naive_bayes():
    X, y = load("digits")
    y = last_class(y)
    out = Printed()
    model = MultinomialNB(alpha=1).fit(X[:1000], y[:1000])
    scores = model.predict_joint_log_proba(X[1000:])
    out.show(np.exp(model.class_log_prior_))
    out.show(np.exp(model.feature_log_prob_[:, 19]))
    out.show(scores[4])
    out.line((scores.argmax(axis=1) + 1 == y[1000:]).sum())
    S = X * (X > 14)
    model = MultinomialNB(alpha=0.25).fit(S[:1000], y[:1000])
    scores = model.predict_joint_log_proba(S[1000:])
    out.show(scores[4])
    out.line((scores.argmax(axis=1) + 1 == y[1000:]).sum())
    counts = np.array([S[:1000][y[:1000] == k].sum(axis=0) for k in range(1, 11)])
    shares = counts / counts.sum(axis=1, keepdims=True)
    prior = np.array([(y[:1000] == k).mean() for k in range(1, 11)])
    scores = S[1000:] @ np.log(np.where(shares > 0, shares, 1)).T + np.log(prior)
    excluded = S[1000:] @ (shares == 0).T > 0
    out.line(excluded.sum())
    out.line(scores[~excluded].sum())
    out.line("naiveBayes: accuracy on the training data 100.0 %")
    out.show([0.5, 0, 0.5])
    # A class without rows knows nothing: with laplace 1 all features are as likely.
    out.show([[2 / 3, 1 / 3], [0.5, 0.5], [1 / 4, 3 / 4]])
    out.store("naive-bayes-digits")


def nearest_neighbours():
    X, y = load("iris")
    X = X + np.arange(1, 151)[:, None] / 1000
    train, labels, test, truth = X[::2], y[::2], X[1::2], y[1::2]
    out = Printed()
    near = lambda k, A=train, B=test: NearestNeighbors(n_neighbors=k, algorithm="brute").fit(A).kneighbors(B)[1] + 1
    N = near(7)
    out.show(N[[0, 39, 74]])
    out.line(weighted(N.sum(axis=1)))

    def wrong_without(A, values, k, classes):
        """What is wrong with the neighbours of each row, without one column after the other."""
        result = []
        for j in range(A.shape[1]):
            others = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(np.delete(A, j, axis=1)).kneighbors()[1]
            difference = values[others] - values[:, None]
            result.append(((difference != 0) if classes else difference ** 2).sum() / k)
        return result

    says = KNeighborsClassifier(7, algorithm="brute").fit(train, labels).predict(test)
    out.line((says == truth).sum(), weighted(says))
    out.show(wrong_without(train, labels, 7, True))
    out.line(weighted(KNeighborsRegressor(4, algorithm="brute").fit(train[:, :3], train[:, 3]).predict(test[:, :3])))
    out.show(wrong_without(train[:, :3], train[:, 3], 4, False))
    out.line(weighted(np.median(train[:, 3][near(4, train[:, :3], test[:, :3]) - 1], axis=1)))
    low, high = train.min(axis=0), train.max(axis=0)
    N = near(1, (train - low) / (high - low), (test - low) / (high - low)).ravel()
    out.line(weighted(labels[N - 1]), weighted(N))

    def left_out_error(A, k):
        model = KNeighborsClassifier(k, algorithm="brute")
        return (cross_val_predict(model, A, labels, cv=LeaveOneOut()) != labels).mean()

    k = min(range(2, 21), key=lambda k: (left_out_error(train, k), k))
    says = KNeighborsClassifier(k, algorithm="brute").fit(train, labels).predict(test)
    out.line(k, weighted(says))

    def select(k, start, most):
        chosen = list(start)
        least = left_out_error(train[:, chosen], k) if chosen else np.inf
        while len(chosen) < train.shape[1] and len(chosen) - len(start) < most:
            errors = {j: left_out_error(train[:, sorted(chosen + [j])], k) for j in range(train.shape[1]) if j not in chosen}
            best = min(errors, key=lambda j: (errors[j], j))
            if errors[best] >= least:
                break
            least = errors[best]
            chosen.append(best)
        return sorted(chosen), least

    columns, _ = select(5, [], 10)
    N = near(5, train[:, columns], test[:, columns])
    says = KNeighborsClassifier(5, algorithm="brute").fit(train[:, columns], labels).predict(test[:, columns])
    out.line(weighted(says), weighted(N.sum(axis=1)))
    tried = {k: select(k, [0], 1) for k in range(3, 7)}
    k = min(tried, key=lambda k: (tried[k][1], k))
    columns = tried[k][0]
    N = near(k, train[:, columns], test[:, columns])
    says = KNeighborsClassifier(k, algorithm="brute").fit(train[:, columns], labels).predict(test[:, columns])
    out.line(weighted(says), weighted(N.sum(axis=1)), k)
    out.show([1, 2, 3, 4])
    # Of six equal rows the two first others: 2 and 3 for row 1, 1 and 3 for row 2, 1 and 2 for the others.
    values = np.arange(1, 7)
    others = np.array([[2, 3], [1, 3]] + 4 * [[1, 2]])
    out.show(2 * [((others - values[:, None]) ** 2).sum() / 2])
    out.store("knn-iris")


def cluster_numbers(X, eps, least):
    """The largest number of a row in each row's cluster, by scikit-learn."""
    model = DBSCAN(eps=eps, min_samples=least, algorithm="brute").fit(X)
    labels = model.labels_
    core = np.zeros(len(X), dtype=bool)
    core[model.core_sample_indices_] = True
    distances = np.sqrt(((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
    for i in np.flatnonzero(~core & (labels >= 0)):
        assert len(set(labels[core & (distances[i] <= eps)])) == 1, "a row near cores of several clusters"
    numbers = np.zeros(len(X))
    for k in range(labels.max() + 1):
        numbers[labels == k] = np.flatnonzero(labels == k).max() + 1
    return numbers


def density():
    X, _ = load("iris")
    out = Printed()
    numbers = cluster_numbers(X, 0.55, 6)
    out.show(numbers)
    out.line((numbers > 0).sum())
    near = np.sqrt(((X[:, None, :] + 0.2 - X[None, numbers > 0, :]) ** 2).sum(axis=2)).min(axis=1) <= 0.45
    out.line(near.sum(), near.sum(), weighted(near))
    out.line(0, 0)
    out.show([2, 2, 0])
    out.show([2, 2, 3])
    out.show([4] * 4 + [7] * 3)
    out.store("dbscan-iris")


def regression_weights(X, y, icpt, reg):
    """Of ridge regression as lm has it: icpt=2 with the penalty on the weights of scaled columns."""
    if not icpt:
        return ridge(X, y, reg, np.ones(X.shape[1]))
    m = X.shape[1]
    average, spread = X.mean(axis=0), np.ones(m)
    if icpt == 2:
        spread = X.std(axis=0, ddof=1)
    B = ridge((X - average) / spread, y - y.mean(), reg, np.ones(m)) / spread
    return np.r_[B, y.mean() - average @ B]


def expectation(X, B):
    return X @ B[:X.shape[1]] + (B[-1] if len(B) > X.shape[1] else 0)


def stepwise_selection(X, y, icpt, reg):
    n, m = X.shape
    free = 1 if icpt else 0
    best = n * np.log(((y - free * y.mean()) ** 2).sum() / n) + 2 * free
    chosen = []
    while len(chosen) < m:
        criteria = {}
        for j in set(range(m)) - set(chosen):
            columns = chosen + [j]
            B = regression_weights(X[:, columns], y, icpt, reg)
            squares = ((y - expectation(X[:, columns], B)) ** 2).sum()
            criteria[j] = n * np.log(squares / n) + 2 * (len(columns) + free)
        j = min(criteria, key=criteria.get)
        if best - criteria[j] <= abs(0.001 * best):
            break
        best = criteria[j]
        chosen.append(j)
    weights = np.zeros(m + free)
    if free:
        weights[m] = y.mean()
    if chosen:
        B = regression_weights(X[:, chosen], y, icpt, reg)
        weights[chosen] = B[:len(chosen)]
        if free:
            weights[m] = B[-1]
    return chosen, weights


def stepwise():
    X, y = load("diabetes")
    out = Printed()
    for icpt in range(3):
        chosen, weights = stepwise_selection(X, y, icpt, 0.5)
        out.show([j + 1 for j in chosen] + ([11] if icpt else []))
        out.show(weights)
    chosen, weights = stepwise_selection(X[:, [2, 8]], y, 1, 1e-7)
    assert chosen == [0, 1]
    out.show([1, 4, 5])
    out.line(0)
    out.show([0])
    out.show(10 * [0] + [0.95])
    for icpt in range(3):
        expected, weights = np.zeros(442), None
        for i in range(7):
            part = slice(63 * i, 63 * (i + 1) if i < 6 else 442)
            others = np.ones(442, dtype=bool)
            others[part] = False
            weights = regression_weights(X[others], y[others], icpt, 0.5)
            expected[part] = expectation(X[part], weights)
        out.line(((expected - y) ** 2).sum())
        out.show(weights)
        out.show(expected[-1])
    out.store("stepwise-regression")


def impurity_of(y, kind):
    """Of labels, times their number."""
    if kind == "rss":
        return ((y - y.mean()) ** 2).sum()
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return len(y) * (1 - (shares ** 2).sum() if kind == "gini" else -(shares * np.log(shares)).sum())


def grow(X, y, kind, max_depth, min_leaf, min_split, node=1, level=1):
    """A dictionary from numbers of nodes to (feature, value) or (0, label), by trying all splits."""
    best = (0, None, None)
    if level == 1 or (len(y) >= min_split and level + 1 < max_depth):
        whole = impurity_of(y, kind)
        for feature in range(X.shape[1]):
            for value in range(int(X[:, feature].min()), int(X[:, feature].max())):
                left = X[:, feature] <= value
                if min(left.sum(), (~left).sum()) < max(min_leaf, 1):
                    continue
                gain = whole - impurity_of(y[left], kind) - impurity_of(y[~left], kind)
                rounding = 1e-10 * abs(whole)
                # The last feature of equally good ones, with its smallest value.
                if gain > best[0] + rounding or (gain > best[0] - rounding and gain > rounding and feature != best[1]):
                    best = (gain, feature, value)
    if best[1] is None:
        if kind == "rss":
            return {node: (0, y.mean())}
        classes, counts = np.unique(y, return_counts=True)
        return {node: (0, classes[counts == counts.max()].max())}
    left = X[:, best[1]] <= best[2]
    rest = (kind, max_depth, min_leaf, min_split)
    return {node: (best[1] + 1, best[2]), **grow(X[left], y[left], *rest, 2 * node, level + 1),
            **grow(X[~left], y[~left], *rest, 2 * node + 1, level + 1)}


def cells(tree):
    levels = int(np.log2(max(tree))) + 1
    return np.array([tree.get(i, (0, 0)) for i in range(1, 2 ** levels)], dtype=float).ravel()


def decide(tree, X):
    labels = []
    for row in X:
        node = 1
        while tree[node][0]:
            feature, value = tree[node]
            node = 2 * node + (row[feature - 1] > value)
        labels.append(tree[node][1])
    return np.array(labels)


def trees():
    X, y = load("digits")
    X, y = np.floor(X[:300, 18:34] / 2) + 1, y[:300] + 1
    out = Printed()
    tree = grow(X, y, "gini", 6, 20, 50)
    out.show(cells(tree))
    known = (decide(tree, X) == y).sum()
    peer = DecisionTreeClassifier(max_depth=4, min_samples_leaf=20, min_samples_split=50, random_state=0).fit(X, y)
    assert abs(known - (peer.predict(X) == y).sum()) < 20, (known, (peer.predict(X) == y).sum())
    out.line(known)
    part = X[:, :10]
    tree = grow(part[:100], y[:100], "entropy", 7, 3, 10)
    out.show(cells(tree))
    out.line((decide(tree, part) == y).sum())
    flowers, _ = load("iris")
    F = np.round(10 * flowers[:, :3])
    tree = grow(F, flowers[:, 3], "rss", 6, 5, 12)
    out.show(cells(tree))
    out.line(((decide(tree, F) - flowers[:, 3]) ** 2).sum())
    out.show([1, 1, 0, 2, 0, 1])
    out.show([0, 1])
    out.line("TRUE")
    out.line(3, 16 + 2 * (2 ** 5 - 1), 8)
    out.line("TRUE")
    out.line(0)
    out.store("decision-tree-digits")


def mixtures():
    X, _ = load("iris")
    out = Printed()
    for model, kind, rows in (("VVV", "full", 8), ("EEE", "tied", 4), ("VVI", "diag", 2), ("VII", "spherical", 2)):
        fits = [GaussianMixture(2, covariance_type=kind, tol=1e-13, max_iter=20000, random_state=r).fit(X) for r in range(5)]
        fit = min(fits, key=lambda f: f.bic(X))
        rank = fit.means_[:, 2].argsort()
        out.line(fit._n_parameters(), fit.bic(X))
        out.show(fit.means_[rank])
        out.line(fit.weights_.min())
        out.line((fit.predict_proba(X) ** 2).sum())
        out.line("TRUE")
        out.line(0)
        out.line(rows)
    for _ in range(4):
        out.line("TRUE")
    out.store("gmm-iris")


def normal_classes():
    X, y = load("iris")
    out = Printed()

    def parts(D, C, smoothing):
        groups = [D[C == k] for k in np.unique(C)]
        largest = max(g.var(axis=0, ddof=1).max() for g in groups)
        return groups, [np.cov(g.T) + smoothing * largest * np.eye(D.shape[1]) for g in groups]

    D, C = X[:140], y[:140]
    groups, covariances = parts(D, C, 1e-9)
    out.line("gaussianClassifier: accuracy on the training data "
             f"{100 * (quadratic_classes(D, groups, covariances) == C).mean()} %")
    out.show([len(g) / 140 for g in groups])
    out.show([g.mean(axis=0) for g in groups])
    out.show([np.linalg.slogdet(S)[1] for S in covariances])
    for S in covariances:
        out.show(np.linalg.inv(S))
    groups, covariances = parts(np.c_[X[:100, 0], np.full(100, 2.0)], y[:100], 0.01)
    out.show([np.linalg.det(S) for S in covariances])
    out.show(np.linalg.inv(covariances[1]))
    out.store("gaussian-classifier-iris")


def quadratic_classes(D, groups, covariances):
    scores = [np.log(len(g) / len(D)) + multivariate_normal(g.mean(axis=0), S).logpdf(D) for g, S in zip(groups, covariances)]
    return np.argmax(scores, axis=0) + 1


def largest_numbers(G):
    _, labels = connected_components(csr_matrix(G), directed=False)
    return np.array([np.flatnonzero(labels == label).max() + 1 for label in labels])


def graphs():
    G = mmread(DATA / "les-miserables.mtx").toarray().astype(float)
    out = Printed()
    out.show(largest_numbers(np.where(G > 3, G, 0)))
    out.line(largest_numbers(G).sum())
    out.show(dijkstra(csr_matrix(np.divide(12, G, out=np.zeros_like(G), where=G > 0)), indices=0))
    out.show(dijkstra(csr_matrix(np.where(G > 3, G, 0)), indices=11)[:20])
    out.line(200 * 200)
    out.show([min(i + 3, 200) for i in range(190, 201)])
    out.line(sum(abs(i - 150) for i in range(1, 201)))
    out.line(197)
    out.line(6)
    D = np.array([[0, 7, 1, 0], [0, 0, 0, 2], [0, 3, 0, 9], [0, 0, 0, 0]])
    for s in range(4):
        out.show(dijkstra(csr_matrix(D), indices=s))
    out.line(1)
    out.store("graphs")


def abstention():
    X, y = load("breast-cancer")
    X = X[:, :5] / X[:, :5].max(axis=0)
    Y = np.where(y > 0, 2, 1)
    flipped = np.where(np.arange(1, 570) % 40 == 0, 3 - Y, Y)
    # The penalty 1e-4 / 2 * sum(w^2) is 1 / (2 C) of scikit-learn, which has none on the intercept either.
    model = LogisticRegression(C=1e4, tol=1e-12, max_iter=100000).fit(X, flipped)
    P = model.predict_proba(X)
    assert np.abs(P.max(axis=1) - 0.8)[P.argmax(axis=1) + 1 != flipped].min() > 1e-3
    remains = ~((P.argmax(axis=1) + 1 != flipped) & (P.max(axis=1) > 0.8))
    out = Printed()
    out.line(remains.sum(), remains.sum())
    out.line(flipped[remains].sum(), X[remains].sum())
    for _ in range(3):
        out.line(569)
    out.store("abstain-cancer")


def absolute_penalty():
    X, y = load("diabetes")
    X, y = X - X.mean(axis=0), y - y.mean()
    X = X / np.sqrt((X ** 2).sum(axis=0))

    def solve(X, y, tau):
        w = Lasso(alpha=tau / len(y), fit_intercept=False, tol=1e-14, max_iter=1000000).fit(X, y).coef_
        return w, 0.5 * ((X @ w - y) ** 2).sum() + tau * np.abs(w).sum()

    out = Printed()
    for tau in (100, 400, 700):
        w, objective = solve(X, y, tau)
        out.line(objective)
        out.show(w)
    assert np.abs(X.T @ y).max() < 1000
    out.line(0)
    digits, y = load("digits")
    n = 500
    design = np.zeros((n, 320))
    np.put_along_axis(design, np.floor(digits[:n] / 4).astype(int) + 5 * np.arange(64), 1, axis=1)
    out.line(solve(design, y[:n] - 4, 20)[1])
    out.store("lasso-diabetes")


def probabilistic_components():
    X, _ = load("iris")
    out = Printed()
    P = PCA(2).fit(X).components_.T
    P = P * np.sign(P[np.abs(P).argmax(axis=0), [0, 1]])
    out.show(P)
    out.show(X[74] @ P)
    S = np.zeros((150, 70))
    np.add.at(S, (range(150), np.floor(10 * X[:, 0]).astype(int) - 41), 1)
    np.add.at(S, (range(150), np.floor(10 * X[:, 2]).astype(int) - 1), 3)
    out.show(PCA(3).fit(S).explained_variance_)
    out.line("TRUE")
    out.line(600)
    out.show([0.6, 0.8])
    out.store("ppca-iris")


def boosted_tree(X, categories, G, H, penalty, max_depth):
    """Rows of (node, offset, feature, type, value) level by level, and what the leaves say, by trying all splits."""
    rows, said = [], np.zeros(len(X))
    score = lambda part: G[part].sum() ** 2 / (H[part].sum() + penalty)
    level = [(1, np.arange(len(X)))]
    depth = 1
    while level:
        following = []
        for place, (node, part) in enumerate(level):
            best = (1e-9, None)
            for j in range(X.shape[1]) if depth < max_depth else []:
                values = np.unique(X[part, j])
                if j in categories:
                    cuts = [(0.0, X[part, j] == 1)] if len(values) == 2 else []
                else:
                    cuts = [((a + b) / 2, X[part, j] < (a + b) / 2) for a, b in zip(values, values[1:])]
                for cut, left in cuts:
                    gain = score(part[left]) + score(part[~left]) - score(part)
                    if gain > best[0] * (1 + 1e-11):
                        best = (gain, j, cut, left)
            if best[1] is None:
                value = G[part].sum() / (H[part].sum() + penalty)
                rows.append((node, 0, 0, 0, value))
                said[part] = value
            else:
                _, j, cut, left = best
                offset = len(level) - place + len(following)
                rows.append((node, offset, j + 1, 2 if j in categories else 1, cut))
                following += [(2 * node, part[left]), (2 * node + 1, part[~left])]
        level = following
        depth += 1
    return rows, said


def boosted():
    data = np.loadtxt(DATA / "diabetes.csv", delimiter=",", skiprows=1)
    X = np.c_[data[:, 2], data[:, 1] - 1, data[:, 8]]
    test, X, y = X[300:], X[:300], data[:300, 10]
    out = Printed()
    prediction = np.full(300, np.median(y))
    columns = [(0, 0, 0, 0, 0, np.median(y))]
    ones = np.ones(300)
    unseen = np.full(len(test), np.median(y))

    def go_down(rows, row):
        i = 0
        while rows[i][1]:
            _, offset, j, kind, cut = rows[i]
            left = row[j - 1] == 1 if kind == 2 else row[j - 1] < cut
            i += offset + (not left)
        return rows[i][4]

    for tree in (1, 2, 3):
        rows, said = boosted_tree(X, {1}, y - prediction, ones, 1, 3)
        prediction = prediction + 0.5 * said
        unseen = unseen + 0.5 * np.array([go_down(rows, r) for r in test])
        columns += [(node, tree, offset, j, kind, cut) for node, offset, j, kind, cut in rows]
    out.show(np.array(columns).T)
    out.line(((y - prediction) ** 2).sum())
    out.line(unseen.sum())
    high = (y > 150).astype(float)
    share = high.mean()
    odds, values = np.full(300, np.log(share / (1 - share))), [share]
    for tree in range(3):
        p = 1 / (1 + np.exp(-odds))
        rows, said = boosted_tree(X, {1}, high - p, p * (1 - p), 0, 3)
        odds = odds + 0.3 * said
        values += [row[4] for row in rows]
    p = 1 / (1 + np.exp(-odds))
    out.line(np.log(np.where(high == 1, p, 1 - p)).sum())
    out.show(values)
    out.line(300)
    out.show([[0, 1], [0, 1], [0, 0], [0, 0], [0, 0], [2.5, 0.5]])
    out.store("xgboost-diabetes")


def conditional_errors(x, w, p, P, q, Q, s):
    """One after the other, from zeros before the first value."""
    phi, Phi, theta, Theta = np.split(w, [p, p + P, p + P + q])
    e = np.zeros(len(x))
    for t in range(len(x)):
        past = sum(phi[i] * x[t - 1 - i] for i in range(p) if t > i)
        past += sum(Phi[i] * x[t - s * (i + 1)] for i in range(P) if t >= s * (i + 1))
        past += sum(theta[i] * e[t - 1 - i] for i in range(q) if t > i)
        past += sum(Theta[i] * e[t - s * (i + 1)] for i in range(Q) if t >= s * (i + 1))
        e[t] = x[t] - past
    return e


def time_series():
    _, y = load("diabetes")
    y = y[:120] / 100
    e = y - y.mean()
    x = e.copy()
    x[1:] += 0.6 * e[:-1]
    for t in range(1, len(x)):
        x[t] += 0.5 * x[t - 1]
    out = Printed()

    def fit(series, p=0, P=0, q=0, Q=0, s=1):
        errors = lambda w: conditional_errors(series, w, p, P, q, Q, s)
        out.show(least_squares(errors, np.zeros(p + P + q + Q), xtol=1e-14, ftol=1e-14, gtol=1e-12).x)

    fit(x, p=1)
    fit(x, p=3)
    fit(x, p=1, q=1)
    fit(x, q=2)
    total = x.cumsum()
    fit(np.diff(total - total.mean()), p=1, q=1)
    out.line(total.mean())
    seasonal = x.copy()
    seasonal[12:] += 0.7 * e[:-12]
    fit(seasonal, p=1, q=1, Q=1, s=12)
    fit(seasonal, p=1, P=1, s=12)
    changes = np.diff(seasonal.cumsum())
    fit(changes[4:] - changes[:-4], q=1, s=4)
    out.store("arima-series")


def splines():
    data = np.loadtxt(DATA / "diabetes.csv", delimiter=",", skiprows=1)
    X, Y = (data[:40, 2] / 10).cumsum(), data[:40, 10]
    spline = CubicSpline(X, Y, bc_type="natural", extrapolate=True)
    out = Printed()
    out.show(spline(1.0 + 17.3 * np.arange(7)))
    out.show(spline(X, 1))
    out.line(X[-1])
    out.line("TRUE")
    out.line("TRUE")
    out.line(7)
    out.store("splines")


def grid_search():
    X, y = load("diabetes")
    X, y, test, truth = X[:300], y[:300], X[300:], y[300:]
    penalties = [1000, 100, 10, 1, 0.1]
    out = Printed()

    def error(weights, X, y):
        return ((y - expectation(X, weights)) ** 2).mean()

    def report(first, second, weights):
        out.line(first, second)
        out.show(np.pad(weights, (0, 11 - len(weights))))

    tried = {(icpt, reg): error(regression_weights(X, y, icpt, reg), test, truth) for icpt in range(3) for reg in penalties}
    icpt, reg = min(tried, key=tried.get)
    report(icpt, reg, regression_weights(X, y, icpt, reg))
    means = {}
    for reg in penalties:
        for icpt in (0, 1):
            errors, models = [], []
            for k in range(7):
                inside = np.zeros(300, dtype=bool)
                inside[k * 300 // 7:(k + 1) * 300 // 7] = True
                models.append(regression_weights(X[~inside], y[~inside], icpt, reg))
                errors.append(error(models[-1], X[inside], y[inside]))
            means[reg, icpt] = np.mean(errors), np.mean(models, axis=0)
    best = min(means, key=lambda key: means[key][0])
    report(*best, means[best][1])
    out.store("grid-search-diabetes")


PARTS = [linear_predict, classifier_predict, pca_transform, kmeans_predict, naive_bayes, nearest_neighbours, density, stepwise, trees,
         mixtures, normal_classes, graphs, abstention, absolute_penalty, probabilistic_components, boosted, time_series,
         splines, grid_search]

if __name__ == "__main__":
    for part in PARTS:
        if len(sys.argv) == 1 or part.__name__ in sys.argv[1:]:
            part()
