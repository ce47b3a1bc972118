"""Computes the golden values of this folder with SciPy and scikit-learn and writes them as NAME.out.

Needs a virtual environment with numpy, scipy and scikit-learn: `python3 test/golden/make.py` from the root of the
repository. The tests themselves need none of them: the values are stored, and compared with the tolerance that the
script beside them states.
"""
import pathlib

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "examples/data"


def load(name):
    data = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1)
    return data[:, :-1], data[:, -1]


def standardise(X, rows):
    return (X - X[:rows].mean(axis=0)) / X[:rows].std(axis=0, ddof=1)


def store(name, values):
    (HERE / f"{name}.out").write_text("".join(f"{v!r}\n" for v in np.asarray(values, dtype=float).ravel().tolist()))


def with_ones(X):
    return np.c_[X, np.ones(len(X))]


def squared_hinge(w, X, y, reg):
    margin = np.maximum(1 - y * (X @ w), 0)
    return 0.5 * margin @ margin + 0.5 * reg * w @ w, -X.T @ (margin * y) + reg * w


def solve_svm(X, y, reg):
    """The minimum to machine precision: quasi-Newton, then Newton on the generalised Hessian."""
    w = minimize(squared_hinge, np.zeros(X.shape[1]), args=(X, y, reg), jac=True, method="L-BFGS-B",
                 options={"maxiter": 10000, "ftol": 1e-15, "gtol": 1e-10}).x
    for _ in range(20):
        violated = X[y * (X @ w) < 1]
        w = w - np.linalg.solve(violated.T @ violated + reg * np.eye(len(w)), squared_hinge(w, X, y, reg)[1])
    assert np.abs(squared_hinge(w, X, y, reg)[1]).max() < 1e-9
    return w


def svm():
    X, y = load("breast-cancer")
    X = standardise(X, len(X))
    for name, reg, design in (("l2svm", 1.0, X), ("l2svm-intercept", 10.0, with_ones(X))):
        w = solve_svm(design, y, reg)
        # scikit-learn minimises 1/2 w'w + C sum(margin^2), with the intercept as one more, penalised, feature.
        peer = LinearSVC(C=1 / (2 * reg), dual=False, tol=1e-12, max_iter=100000, fit_intercept=False).fit(design, y)
        assert np.abs(peer.coef_.ravel() - w).max() < 1e-6
        store(f"{name}-weights", w)
        store(f"{name}-objective", [squared_hinge(w, design, y, reg)[0]])


def report_svm():
    """What examples/breast-cancer-svm.dml reports."""
    X, y = load("breast-cancer")
    rows = 427
    X = with_ones(standardise(X, rows))
    w = solve_svm(X[:rows], y[:rows], 1.0)
    predicted = np.where(X[rows:] @ w > 0, 1, -1)
    truth = y[rows:]
    count = lambda p, t: int(((predicted == p) & (truth == t)).sum())
    text = f"""Breast cancer, Wisconsin: linear support vector machine, lambda 1.0
  trained on            {rows:6d} patients, 30 features
  training objective    {squared_hinge(w, X[:rows], y[:rows], 1.0)[0]:6.2f}
  margins violated      {(1 - y[:rows] * (X[:rows] @ w) > 0).sum():6d}

On {len(truth)} patients it has not seen
  accuracy              {100 * (predicted == truth).mean():6.1f} %
  malignant, found      {count(1, 1):6d}
  malignant, missed     {count(-1, 1):6d}
  benign, recognised    {count(-1, -1):6d}
  benign, false alarms  {count(1, -1):6d}
"""
    (HERE.parent / "examples/breast-cancer-svm.out").write_text(text)


def ridge(X, y, reg, penalised):
    return np.linalg.solve(X.T @ X + reg * np.diag(penalised), X.T @ y)


def regression():
    X, y = load("diabetes")
    m = X.shape[1]
    S = standardise(X, len(X))
    store("ridge-no-intercept", ridge(S, y, 2.5, np.ones(m)))
    B = ridge(with_ones(S), y, 2.5, np.r_[np.ones(m), 0])
    peer = Ridge(alpha=2.5, solver="svd").fit(S, y)
    assert np.abs(np.r_[peer.coef_, peer.intercept_] - B).max() < 1e-8
    store("ridge-intercept", B)
    # Unscaled columns, shifted and scaled while solving: the weights translated back.
    deviation = X.std(axis=0, ddof=1)
    original = np.r_[B[:m] / deviation, B[m] - (B[:m] * X.mean(axis=0) / deviation).sum()]
    store("ridge-shift-scale", original)


def report_regression():
    """What examples/diabetes-regression.dml reports."""
    X, y = load("diabetes")
    rows = 332
    X = with_ones(standardise(X, rows))
    B = ridge(X[:rows], y[:rows], 1.0, np.r_[np.ones(10), 0])
    r2 = lambda X, y: 1 - ((y - X @ B) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    names = ["age", "sex", "body mass index", "blood pressure", "total cholesterol", "low-density lipids",
             "high-density lipids", "cholesterol / HDL", "log of triglycerides", "blood sugar", "intercept"]
    text = f"""Diabetes progression: ridge regression, lambda 1.0
  trained on              {rows:7d} patients, 10 features
  training R^2            {r2(X[:rows], y[:rows]):7.3f}

On {len(y) - rows} patients it has not seen
  R^2                     {r2(X[rows:], y[rows:]):7.3f}
  root mean square error  {np.sqrt(((y[rows:] - X[rows:] @ B) ** 2).mean()):7.2f}

Change of the prediction by one standard deviation of
"""
    text += "".join(f"  {name:22}  {value:7.2f}\n" for name, value in zip(names, B))
    (HERE.parent / "examples/diabetes-regression.out").write_text(text)


svm()
report_svm()
regression()
report_regression()
