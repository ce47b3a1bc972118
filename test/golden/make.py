"""Computes the golden values of this folder with SciPy, scikit-learn and statsmodels and writes them as NAME.out.

Needs a virtual environment with numpy, scipy, scikit-learn, statsmodels and networkx: `python3 test/golden/make.py` from
the root of the repository. The tests themselves need none of them: the values are stored, and compared with the tolerance that the
script beside them states.
"""
import pathlib

import networkx
import numpy as np
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import erfcx, logsumexp, xlogy
from scipy.stats import chi2
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, PCA
from sklearn.linear_model import LogisticRegression, Ridge
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


def classes_svm():
    X, y = load("iris")
    D = with_ones(standardise(X, len(X)))
    W = np.column_stack([solve_svm(D, np.where(y == k, 1, -1), 2.0) for k in (1, 2, 3)])
    peer = LinearSVC(C=1 / (2 * 2.0), dual=False, tol=1e-12, max_iter=100000, fit_intercept=False).fit(D, y)
    assert np.abs(peer.coef_.T - W).max() < 1e-6
    (HERE / "msvm-iris-weights.out").write_text("".join(f"{v!r}\n" for v in W.ravel().tolist()) + "TRUE\n")
    X, y = grey_levels()
    y = last_class(y)
    W = np.column_stack([solve_svm(X, np.where(y == k, 1, -1), 20.0) for k in range(1, 11)])
    minima = [squared_hinge(W[:, k - 1], X, np.where(y == k, 1, -1), 20.0)[0] for k in range(1, 11)]
    known = float(((X @ W).argmax(axis=1) + 1 == y).sum())
    (HERE / "msvm-digits-sparse.out").write_text("".join(f"{float(v)!r}\n" for v in minima + [known]) + "TRUE\n")


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
    def both(name, values):  # by conjugate gradients, and directly
        store(f"ridge-{name}", values)
        store(f"ridge-direct-{name}", values)

    X, y = load("diabetes")
    m = X.shape[1]
    S = standardise(X, len(X))
    both("no-intercept", ridge(S, y, 2.5, np.ones(m)))
    B = ridge(with_ones(S), y, 2.5, np.r_[np.ones(m), 0])
    peer = Ridge(alpha=2.5, solver="svd").fit(S, y)
    assert np.abs(np.r_[peer.coef_, peer.intercept_] - B).max() < 1e-8
    both("intercept", B)
    # Unscaled columns, shifted and scaled while solving: the weights translated back.
    deviation = X.std(axis=0, ddof=1)
    original = np.r_[B[:m] / deviation, B[m] - (B[:m] * X.mean(axis=0) / deviation).sum()]
    both("shift-scale", original)


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


def report_risk():
    """What examples/breast-cancer-risk.dml reports."""
    X, y = load("breast-cancer")
    X = X[:, [1, 3, 4]]
    D = with_ones(standardise(X, len(X)))
    malignant = (y > 0) * 1.0
    fit = sm.GLM(malignant, D, family=sm.families.Binomial()).fit(tol=1e-13)
    risk, b = fit.predict(D), fit.params
    text = f"""Breast cancer, Wisconsin: risk of malignancy by binomial regression
  patients     {len(y):8d}
  deviance     {fit.deviance:8.2f}
  intercept    {b[3]:8.3f}
  texture      {b[0]:8.3f}
  area         {b[1]:8.3f}
  smoothness   {b[2]:8.3f}

  risk               patients   expected   malignant
"""
    for i in range(1, 6):
        here = (risk > (i - 1) / 5) & (risk <= i / 5)
        text += f"  {20 * i - 20:3d} % to {20 * i:3d} %     {here.sum():8d}   {risk[here].sum():8.1f}    {int(malignant[here].sum()):8d}\n"
    (HERE.parent / "examples/breast-cancer-risk.out").write_text(text)


def grey_levels(n=500):
    """Indicators of five grey levels for each of 64 pixels, and the digits."""
    X, y = load("digits")
    columns = np.floor(X[:n] / 4).astype(int) + 5 * np.arange(64)
    design = np.zeros((n, 320))
    np.put_along_axis(design, columns, 1, axis=1)
    return design, y[:n]


def sparse():
    X, y = grey_levels()
    sign = 1 - 2 * (y % 2)
    store("l2svm-digits-sparse", [squared_hinge(solve_svm(X, sign, 2.0), X, sign, 2.0)[0]])
    B = ridge(X, y, 3.0, np.ones(320))
    for name in ("cg", "ds"):
        store(f"ridge-{name}-digits-sparse", B[24::25])


def multinomial(X, y, reg, penalised, classes):
    """Weights of all classes but the last, and the minimum: quasi-Newton from zero, then Newton."""
    n, m = X.shape
    K = classes - 1
    T = np.zeros((n, classes))
    T[np.arange(n), y.astype(int) - 1] = 1
    P = np.repeat(np.asarray(penalised, float)[:, None] * reg, K, axis=1)

    def value(b):
        B = b.reshape(m, K)
        scores = np.c_[X @ B, np.zeros(n)]
        total = logsumexp(scores, axis=1)
        gradient = X.T @ (np.exp(scores - total[:, None]) - T)[:, :K] + P * B
        return total.sum() - (T * scores).sum() + 0.5 * (P * B * B).sum(), gradient.ravel()

    b = minimize(value, np.zeros(m * K), jac=True, method="L-BFGS-B",
                 options={"maxiter": 20000, "maxfun": 40000, "ftol": 1e-16, "gtol": 1e-10, "maxcor": 50}).x
    for _ in range(10):
        B = b.reshape(m, K)
        scores = np.c_[X @ B, np.zeros(n)]
        p = np.exp(scores - logsumexp(scores, axis=1)[:, None])[:, :K]
        H = np.zeros((m, K, m, K))
        for k in range(K):
            for l in range(K):
                H[:, k, :, l] = X.T @ ((p[:, k] * ((k == l) - p[:, l]))[:, None] * X)
        b = b - np.linalg.solve(H.reshape(m * K, m * K) + np.diag(P.ravel()), value(b)[1])
    assert np.abs(value(b)[1]).max() < 1e-8, np.abs(value(b)[1]).max()
    return b.reshape(m, K), value(b)[0]


def last_class(y):
    """Digits as classes: 0 is the tenth."""
    return np.where(y == 0, 10, y)


def logistic():
    X, y = load("digits")
    n = 600
    store("multilogreg-digits",
          [multinomial(with_ones(X[:n] / 16), last_class(y[:n]), 2.0, np.r_[np.ones(64), 0], 10)[1]])
    X, y = grey_levels()
    store("multilogreg-digits-sparse", [multinomial(X, last_class(y), 0.5, np.ones(320), 10)[1]])
    X, y = load("iris")
    B, minimum = multinomial(with_ones(X), y, 1.0, np.r_[np.ones(4), 0], 3)
    store("multilogreg-iris-weights", B)
    # scikit-learn penalises the weights of all classes; without a penalty both give the same probabilities.
    free, _ = multinomial(with_ones(standardise(X, len(X))), y, 1e-6, np.r_[np.ones(4), 0], 3)
    peer = LogisticRegression(C=1e6, tol=1e-12, max_iter=100000).fit(standardise(X, len(X)), y)
    scores = np.c_[with_ones(standardise(X, len(X))) @ free, np.zeros(len(X))]
    assert (scores.argmax(axis=1) + 1 == peer.predict(standardise(X, len(X)))).all()
    B, _ = multinomial(with_ones(standardise(X, len(X))), y, 1.0, np.r_[np.ones(4), 0], 3)
    deviation = X.std(axis=0, ddof=1)
    weights = B[:4] / deviation[:, None]
    store("multilogreg-iris-scaled", np.vstack([weights, B[4] - X.mean(axis=0) @ weights]))


def report_digits():
    """What examples/digits-classification.dml reports."""
    X, y = load("digits")
    rows = 1200
    X, y = with_ones(X / 16), last_class(y)
    B, minimum = multinomial(X[:rows], y[:rows], 1.0, np.r_[np.ones(64), 0], 10)
    predicted = np.c_[X[rows:] @ B, np.zeros(len(y) - rows)].argmax(axis=1) + 1
    truth = y[rows:]
    text = f"""Handwritten digits: multinomial logistic regression, lambda 1.0
  trained on           {rows:6d} digits, 64 pixels
  training objective   {minimum:10.3f}

On {len(truth)} digits it has not seen
  read correctly       {100 * (predicted == truth).mean():6.1f} %
"""
    for digit in range(1, 11):
        own = truth == digit
        text += f"  misread {digit % 10}            {(predicted[own] != digit).sum():6d} of {own.sum()}\n"
    (HERE.parent / "examples/digits-classification.out").write_text(text)


def power_family(vpow, lpow):
    links = sm.families.links
    link = links.Log() if lpow == 0 else links.Power(lpow)
    families = {0: sm.families.Gaussian, 1: sm.families.Poisson, 2: sm.families.Gamma, 3: sm.families.InverseGaussian}
    if vpow in families:
        return families[vpow](link, check_link=False)
    return sm.families.Tweedie(link, var_power=vpow, check_link=False)


def binomial_family(link):
    links = sm.families.links
    return sm.families.Binomial([links.Logit, links.Log, links.Logit, links.Probit, links.CLogLog, links.Cauchy][link](),
                                check_link=False)


def fit_glm(D, y, family):
    """statsmodels' weights, or nearly equal means where it leaves the link's range, then Fisher's scoring in NumPy until
    nothing changes; statsmodels would not change them either."""
    counts = y.sum(axis=1) if y.ndim == 2 else np.ones(len(y))
    D, y, counts = D[counts > 0], y[counts > 0], counts[counts > 0]
    share = y[:, 0] / counts if y.ndim == 2 else y
    try:
        b = sm.GLM(y, D, family=family).fit(tol=1e-13, maxiter=500).params
    except ValueError:
        b = np.linalg.lstsq(D, np.full(len(y), family.link(share.mean())), rcond=None)[0]
    b = scoring(D, share, family, np.zeros(D.shape[1]), b, counts)
    assert np.abs(b - sm.GLM(y, D, family=family).fit(start_params=b, maxiter=1).params).max() < 1e-5 * np.abs(b).max()
    return b


def scoring(D, y, family, penalty, b, counts=1):
    """The minimum of half the deviance and the penalty."""
    def objective(b):
        # Binomial fits start near the minimum, so that no step needs to be shorter.
        if isinstance(family, sm.families.Binomial):
            return 0
        eta = D @ b
        outside = eta.min() <= 0 and getattr(family.link, "power", 1) not in (0, 1)
        return np.inf if outside else family.deviance(y, family.link.inverse(eta)) / 2 + (penalty * b * b).sum() / 2

    for _ in range(200):
        eta = D @ b
        mu = family.link.inverse(eta)
        slope = family.link.inverse_deriv(eta)
        # statsmodels keeps the variance of a binomial with counts for the sum of them.
        variance = mu * (1 - mu) if isinstance(family, sm.families.Binomial) else family.variance(mu)
        # Where a mean rounds to 1, as its response is, the row has no weight.
        share = np.where(variance > 0, counts * slope / np.where(variance > 0, variance, 1), 0)
        residual = share * (y - mu)
        if isinstance(family.link, sm.families.links.CLogLog):
            # Without the cancellation in 1 - mu.
            rate = np.exp(eta)
            residual = counts * rate * (y * np.exp(-rate) / -np.expm1(-rate) - (1 - y))
        gradient = D.T @ residual - penalty * b
        step = np.linalg.solve((D * (share * slope)[:, None]).T @ D + np.diag(penalty), gradient)
        while not objective(b + step) <= objective(b) * (1 + 1e-12) and np.abs(step).max() > 1e-13 * np.abs(b).max():
            step = step / 2
        b = b + step
        if np.abs(step).max() < 1e-13 * np.abs(b).max():
            break
    assert np.abs(step).max() < 1e-8 * np.abs(b).max(), np.abs(step).max()
    return b


def generalised():
    X, y = load("diabetes")
    values = []
    for vpow in (0, 1, 1.5, 2, 3):
        for lpow in (1, 0, -1, 0.5):
            family = power_family(vpow, lpow)
            mu = family.link.inverse(with_ones(X) @ fit_glm(with_ones(X), y, family))
            values += [family.deviance(y, mu), mu[129], mu[259], mu[389]]
    store("glm-power-diabetes", values)
    S = standardise(X, len(X)) + 2
    store("glm-canonical-weights", np.concatenate(
        [fit_glm(D, y / 100, power_family(vpow, 1 - vpow)) for D in (S, with_ones(S)) for vpow in (0, 1, 2, 3)]))

    C, malignant = load("breast-cancer")
    S = standardise(C[:, :2], len(C))
    values = []
    for link in (2, 3, 4, 5):
        for D in (with_ones(S), S):
            values += fit_glm(D, (malignant > 0) * 1.0, binomial_family(link)).tolist()
    text = "".join(f"{v!r}\n" for v in values)
    group = np.floor(C[:, 0]).astype(int) - 6
    counts = np.zeros((group.max() + 1, 2))
    np.add.at(counts, (group, (malignant < 0).astype(int)), 1)
    sizes = np.arange(6.0, 7 + group.max())[:, None]
    text += f"{str((counts.sum(axis=1) == 0).any()).upper()}\n"
    for link in range(6):
        text += "".join(f"{v!r}\n" for v in fit_glm(with_ones(sizes) if link > 1 else sizes, counts, binomial_family(link)).tolist())
    (HERE / "glm-binomial-links.out").write_text(text)


def penalised():
    X, y = load("diabetes")
    X = X[:, 2:8]
    D = with_ones(standardise(X, len(X)))
    deviation = X.std(axis=0, ddof=1)

    def original(b):
        return np.r_[b[:6] / deviation, b[6] - (b[:6] * X.mean(axis=0) / deviation).sum()]

    only = lambda reg: np.r_[np.full(6, reg), 0]
    start = np.r_[np.zeros(6), np.log(y.mean())]
    poisson = scoring(D, y, power_family(1, 0), only(500.0), start)
    gamma = scoring(D, y, power_family(2, 0), only(20.0), start)
    logit = scoring(D, (y > 140) * 1.0, binomial_family(2), only(5.0), np.zeros(7))
    show = lambda b: "".join(f"{v!r}\n" for v in np.asarray(b).ravel().tolist())
    (HERE / "glm-penalty.out").write_text(
        show(poisson) + show(np.c_[original(gamma), gamma]) + "TRUE\n" + show(np.c_[original(logit), logit]))

    X, y = grey_levels()
    D = with_ones(X)
    penalty = np.r_[np.full(320, 3.0), 0]
    b = scoring(D, y, power_family(1, 0), penalty, np.r_[np.zeros(320), np.log(y.mean())])
    minimum = power_family(1, 0).deviance(y, np.exp(D @ b)) / 2 + (penalty * b * b).sum() / 2
    (HERE / "glm-digits-sparse.out").write_text(f"{float(minimum)!r}\nTRUE\nTRUE\n")


def predictions():
    """What glmPredict reports, from statsmodels and SciPy."""
    X, y = load("diabetes")
    S = standardise(X[:, 2:6], len(X))
    b = np.array([0.2, 0.1, -0.05, 0.02])

    def report(M, pearson, deviance, scatter, residual, free, disp=1.0):
        text = f"glmPredict: {free} degrees of freedom, dispersion {float(disp)!r}\n"
        for name, value in (("Pearson's statistic", pearson), ("deviance", deviance)):
            text += f"glmPredict: {name} {float(value / disp)!r}, probability of more {float(chi2.sf(value / disp, free))!r}\n"
        text += f"glmPredict: R^2 {float(1 - residual / scatter)!r}\n"
        return text + show(M)

    def show(M):
        return " ".join(repr(float(v)) for v in (M[0, 0], M[149, 0], M[441, -1])) + "\n"

    def power(family, eta, disp=1.0, weights=5):
        mu = family.link.inverse(eta)
        return report(mu[:, None], ((y - mu) ** 2 / family.variance(mu)).sum(), family.deviance(y, mu),
                      ((y - y.mean()) ** 2).sum(), ((y - mu) ** 2).sum(), len(y) - weights, disp)

    def classes(M, Y, weights):
        E = M * Y.sum(axis=1, keepdims=True)
        mean = np.outer(Y.sum(axis=1), Y.sum(axis=0) / Y.sum())
        return report(M, ((Y - E) ** 2 / E).sum(), 2 * xlogy(Y, Y / E).sum(), ((Y - mean) ** 2).sum(), ((Y - E) ** 2).sum(),
                      (len(Y) - weights) * (M.shape[1] - 1))

    def binomial(link, eta, Y, weights=5):
        mu = binomial_family(link).link.inverse(eta)
        return classes(np.c_[mu, 1 - mu], Y, weights)

    text = "".join(power(power_family(vpow, 0), S @ b + 5, vpow + 1) for vpow in (0, 1, 2, 3))
    text += power(power_family(1.5, -0.5), S @ b / 100 + 0.08)
    for link in (2, 3, 4, 5):
        text += binomial(link, S @ b - 0.1, np.c_[y > 150, y <= 150] * 1.0)
    counts = np.c_[np.floor(y / 50), 8 - np.floor(y / 50)]
    text += binomial(2, S @ b, counts, 4) + binomial(1, S @ b - 1, counts)
    scores = np.c_[S @ np.c_[b, -2 * b] + [-0.5, 0.5], np.zeros(len(y))]
    M = np.exp(scores - logsumexp(scores, axis=1)[:, None])
    text += classes(M, np.c_[y > 200, (y > 100) & (y <= 200), y <= 100] * 1.0, 5) + show(M)
    (HERE / "glm-predict.out").write_text(text)
    points = np.array([0, 0.001, 0.1, 0.5, 1, 2, 3.999, 4, 5, 10, 37, 100, 1e4, 1e8, 1e8])
    store("mills-ratio", np.sqrt(np.pi / 2) * erfcx(points / np.sqrt(2)) * np.r_[np.ones(14), 1e8])


def edges():
    X, y = load("diabetes")
    D = with_ones(X[:, 2:3])
    b = np.linalg.lstsq(D, y, rcond=None)[0]
    deviance = float(((y - D @ b) ** 2).sum())
    (HERE / "glm-edges.out").write_text(f"""glm: starts with the deviance {deviance!r}
glm: step 1: deviance {deviance!r}, length 1.0
glm: dispersion {deviance / (len(y) - 2)!r} estimated, 4000.0 used, scaled deviance {deviance / 4000!r}
{float(b[0])!r} {float(b[1])!r}
""" + "TRUE\n0.0\n" * 2 + "TRUE\n" * 2 + "20.0\n" * 4 + "TRUE\n" * 2)


def clusters():
    X, _ = load("iris")
    fit = KMeans(3, n_init=200, tol=0, random_state=0).fit(X)
    centres = fit.cluster_centers_[fit.cluster_centers_[:, 2].argsort()]
    store("kmeans-iris", np.r_[fit.inertia_, centres.ravel(), 3])
    X, _ = grey_levels()
    (HERE / "kmeans-digits-sparse.out").write_text(f"{((X - X.mean(axis=0)) ** 2).sum()!r}\nTRUE\n".replace("np.float64(", "").replace(")", ""))


def components(X, K, center, scale):
    mean = X.mean(axis=0) if center else np.zeros(X.shape[1])
    factor = np.ones(X.shape[1])
    if scale:
        factor = np.sqrt(((X - mean) ** 2).sum(axis=0) / (len(X) - 1))
        factor[factor == 0] = 1
    Z = (X - mean) / factor
    fit = PCA(K, svd_solver="full").fit(Z)
    P = fit.components_.T
    # The largest weight of each component is positive.
    P = P * np.sign(P[np.abs(P).argmax(axis=0), np.arange(K)])
    return Z @ P, P, fit.explained_variance_, mean, factor


def principal():
    show = lambda values: "".join(f"{v!r}\n" for v in np.asarray(values, dtype=float).ravel().tolist())
    X, _ = load("iris")
    text = ""
    for center in (0, 1):
        for scale in (0, 1):
            R, P, variance, mean, factor = components(X + 2, 3, center, scale)
            text += show(P) + show(variance) + show(R[0]) + show(R[74]) + f"{center} {scale}\n"
            text += (show(mean) if center else "") + (show(factor) if scale else "")
    (HERE / "pca-iris.out").write_text(text)
    X, _ = grey_levels()
    text = ""
    for scale in (0, 1):
        _, P, variance, _, _ = components(X, 3, True, scale)
        text += show(variance) + show(P[24:300:25]) + "TRUE\n" * 2
    (HERE / "pca-digits-sparse.out").write_text(text)


def report_components():
    """What examples/digits-components.dml reports."""
    X, y = load("digits")
    X, y, rows = X / 16, last_class(y), 1200
    fit = PCA(20, svd_solver="full").fit(X[:rows])
    D = with_ones(fit.transform(X))
    W = np.column_stack([solve_svm(D[:rows], np.where(y[:rows] == k, 1, -1), 1.0) for k in range(1, 11)])
    known = (D[rows:] @ W).argmax(axis=1) + 1 == y[rows:]
    text = f"""Handwritten digits: 20 principal components of 64 pixels
  trained on              {rows:6d} digits
  variance kept           {100 * fit.explained_variance_ratio_.sum():6.1f} %

On {len(known)} digits it has not seen
  read correctly          {100 * known.mean():6.1f} %
"""
    (HERE.parent / "examples/digits-components.out").write_text(text)


def report_clusters():
    """What examples/iris-clusters.dml reports."""
    X, species = load("iris")
    fit = KMeans(3, n_init=200, tol=0, random_state=0).fit(X)
    text = f"""Irises: 3 groups of 150 flowers
  sum of squared distances {fit.inertia_:8.4f}

             sepal          petal         setosa  versicolor  virginica
"""
    for i, group in enumerate(fit.cluster_centers_[:, 2].argsort()):
        c = fit.cluster_centers_[group]
        counts = [((fit.labels_ == group) & (species == s)).sum() for s in (1, 2, 3)]
        text += (f"  group {i + 1}  {c[0]:4.2f} x {c[1]:4.2f}   {c[2]:4.2f} x {c[3]:4.2f}      {counts[0]:3d}         "
                 f"{counts[1]:3d}        {counts[2]:3d}\n")
    (HERE.parent / "examples/iris-clusters.out").write_text(text)


def report_errors():
    """What examples/diabetes-errors.dml reports."""
    X, y = load("diabetes")
    D = with_ones(X)
    B = np.linalg.lstsq(D, y, rcond=None)[0]
    residual = y - D @ B
    variance = residual @ residual / (len(y) - D.shape[1])
    error = np.sqrt(variance * np.diag(np.linalg.inv(D.T @ D)))
    names = ["age", "sex", "body mass index", "blood pressure", "total cholesterol", "low-density lipids",
             "high-density lipids", "cholesterol / HDL", "log of triglycerides", "blood sugar", "intercept"]
    text = f"""Diabetes progression: least squares
  R^2              {1 - residual @ residual / ((y - y.mean()) ** 2).sum():7.4f}
  residual error   {np.sqrt(variance):7.3f}

                           weight      error   weight / error
"""
    for name, b, e in zip(names, B, error):
        text += f"  {name:20s} {b:10.3f} {e:10.3f} {b / e:10.2f}\n"
    (HERE.parent / "examples/diabetes-errors.out").write_text(text)


def graph():
    lines = (DATA / "les-miserables.mtx").read_text().splitlines()[3:]
    names = (DATA / "les-miserables-names.txt").read_text().splitlines()
    A = np.zeros((77, 77))
    for i, j, weight in (map(int, line.split()) for line in lines):
        A[i - 1, j - 1] = A[j - 1, i - 1] = weight
    return A, names


def page_rank(G, alpha, iterations):
    p = np.full(len(G), 1 / len(G))
    for _ in range(iterations):
        p = alpha * (G @ p) + (1 - alpha) * p.sum() / len(G)
    return p


def ranking():
    A, names = graph()
    G = A / A.sum(axis=0)
    p = page_rank(G, 0.85, 30)
    q = np.linalg.solve(np.eye(77) - 0.5 * G, np.full(77, 0.5 / 77))
    store("pagerank-les-miserables", np.r_[p[14::15], q[14::15], p.sum()])
    peer = networkx.pagerank(networkx.from_numpy_array(A), alpha=0.5, tol=1e-15, max_iter=1000)
    assert max(abs(peer[i] - q[i]) for i in range(77)) < 1e-12
    p = page_rank(G, 0.85, 100)
    text = f"Les Misérables: 77 characters, {(A > 0).sum() // 2} pairs that meet, alpha 0.85\n\n"
    text += "   importance  chapters shared\n"
    for who in p.argsort()[::-1][:10]:
        text += f"  {p[who]:10.5f}  {A[who].sum():10.0f}        {names[who]}\n"
    (HERE.parent / "examples/les-miserables-rank.out").write_text(text)


def divergence(X, P):
    return P.sum() - (X[X > 0] * np.log(P[X > 0])).sum()


def half_squares(X, P):
    return 0.5 * ((X - P) ** 2).sum()


def best_nmf(X, rank, loss, starts, **options):
    """The product of the best of several starts of scikit-learn's factorisation."""
    products = []
    for seed in range(starts):
        fit = NMF(rank, init="random", random_state=seed, **options)
        products.append(fit.fit_transform(X) @ fit.components_)
    return min(products, key=lambda P: loss(X, P))


def leading(X):
    """The nearest matrix of rank 1."""
    U, s, V = np.linalg.svd(X, full_matrices=False)
    return s[0] * np.outer(U[:, 0], V[0])


def nonnegative():
    X = load("iris")[0]
    multiplicative = {"solver": "mu", "beta_loss": "kullback-leibler", "tol": 0}
    coordinates = {"solver": "cd", "tol": 1e-14, "max_iter": 20000}
    P = best_nmf(X, 2, divergence, 3, max_iter=10000, **multiplicative)
    some = np.arange(9, 150, 20)
    (HERE / "pnmf-iris.out").write_text("".join(f"{float(v)!r}\n" for v in (divergence(X, P), *P[some].ravel())) + "TRUE\n")
    P, two = leading(X), best_nmf(X, 2, half_squares, 3, **coordinates)
    values = (*np.round((half_squares(X, P), *P[some].ravel()), 6), round(half_squares(X, two), 1))
    (HERE / "gnmf-iris.out").write_text("".join(f"{float(v)!r}\n" for v in values) + "TRUE\nTRUE\n")

    X, _ = graph()
    some = np.arange(0, 77, 15)
    P = np.outer(X.sum(axis=1), X.sum(axis=0)) / X.sum()
    two = best_nmf(X, 2, divergence, 40, max_iter=1500, **multiplicative)
    store("pnmf-les-miserables", [*P[some, 76 - some], divergence(X, two), 0, 0])
    P, two = leading(X), best_nmf(X, 2, half_squares, 10, **coordinates)
    store("gnmf-les-miserables", [*np.round((half_squares(X, P), *P[some, 76 - some]), 6), round(half_squares(X, two), 1), 0])


def shrunk(X, reg):
    """The minimum of 1/2 |P - X|^2 + reg * (the sum of P's singular values), its value and P."""
    U, s, V = np.linalg.svd(X, full_matrices=False)
    s = np.maximum(s - reg, 0)
    P = U * s @ V
    return half_squares(X, P) + reg * s.sum(), P


def complete(X, reg, rows, columns, iterations=1000, certified=True):
    """The minimum over U and V, of rank 12, of 1/2 |W * (U V' - X)|^2 + reg/2 (|rows * U|^2 + |columns * V|^2), W = X != 0.

    For any rank that is a convex function of the product: the penalty's smallest value for a product P is reg times the
    sum of the singular values of rows * P * columns. P is the minimum when these values, of the gradient, are at most reg.
    """
    W, rank = X != 0, 12

    def solve(X, W, V, penalty):
        squares = (V[:, :, None] * V[:, None]).reshape(len(V), -1)
        A = (W @ squares).reshape(-1, rank, rank) + reg * penalty[:, None, None] ** 2 * np.eye(rank)
        return np.linalg.solve(A, (X @ V)[:, :, None])[:, :, 0]

    V = np.random.default_rng(0).normal(size=(X.shape[1], rank))
    for _ in range(iterations):
        V = solve(X.T, W.T, solve(X, W, V, rows), columns)
        P = solve(X, W, V, rows) @ V.T
        _, s, B = np.linalg.svd(rows[:, None] * P * columns, full_matrices=False)
        V = B[:rank].T * np.sqrt(s[:rank]) / columns[:, None]  # costs as much as its counterpart
    size = np.linalg.norm(W * (P - X) / rows[:, None] / columns, 2)
    assert not certified or size < reg * (1 + 1e-9), size / reg
    return half_squares(X[W], P[W]) + reg * s.sum(), P


def missing():
    X = load("iris")[0]
    some = np.arange(9, 150, 20)
    numbers = lambda *values: "".join(f"{float(v)!r}\n" for v in values)
    equal, weighted = ((objective, *P[some].ravel()) for objective, P in (shrunk(X, 2), shrunk(X, 0.1 * np.sqrt(600))))
    (HERE / "als-iris.out").write_text(numbers(*equal, *weighted) + "TRUE\n")
    (HERE / "als-direct-iris.out").write_text(numbers(*weighted) + "TRUE\n")

    X, _ = graph()
    some = np.arange(0, 77, 15)
    ones, cells = np.ones(77), np.sqrt((X != 0).sum(axis=1))
    (objective, P), (least, Q) = complete(X, 20.0, ones, ones), complete(X, 2.0, cells, cells)
    equal, weighted = (objective, *P[some, 76 - some]), (least, *Q[some, 76 - some])
    (HERE / "als-les-miserables.out").write_text(numbers(*equal, 0) + "TRUE\n" + numbers(*weighted) + "TRUE\n" + numbers(0)
                                                 + "TRUE\n" + numbers(round(objective)))
    (HERE / "als-direct-les-miserables.out").write_text(numbers(*weighted) + "TRUE\n" + numbers(0) + "TRUE\n")


def report_completion():
    """What examples/digits-completion.dml reports."""
    X, _ = load("digits")
    n, m = X.shape
    hidden = (np.arange(1, n + 1)[:, None] + np.arange(1, m + 1)) % 5 == 0
    cells = lambda axis: np.sqrt((~hidden).sum(axis=axis))
    filled = np.clip(complete((X + 1) * ~hidden, 0.2, cells(1), cells(0), 200, certified=False)[1] - 1, 0, 16)
    average = (X * ~hidden).sum(axis=0) / (~hidden).sum(axis=0)
    error = lambda Y: np.sqrt(((X - Y)[hidden] ** 2).mean())
    text = f"""Handwritten digits: pixels from 0 to 16, factors of rank 12, lambda 0.20
  digits               {n:8d}
  pixels hidden        {hidden.sum():8d} of {n * m}

Mean error at the hidden pixels, root of squares
  mean of the pixel    {error(average):8.2f}
  factorisation        {error(filled):8.2f}
"""
    (HERE.parent / "examples/digits-completion.out").write_text(text)


def layers(theta, m, h, k):
    """Weights and biases of an autoencoder of m - h - k - h - m numbers, cut from one vector."""
    parts = []
    for rows, columns in ((h, m), (k, h), (h, k), (m, h)):
        weights, biases, theta = np.split(theta, [rows * columns, rows * columns + rows])
        parts.append((weights.reshape(rows, columns), biases))
    return parts


def train(X, h, k, epochs, batch, step, decay, mu, order):
    """Gradient descent with momentum. Derivatives are imaginary parts of the objective a tiny imaginary step aside, which
    are exact up to rounding: nothing of backpropagation is repeated here."""
    n, m = X.shape
    deviation = X.std(axis=0, ddof=1)
    Z = (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)

    def loss(theta, rows):
        Y = rows
        for weights, biases in layers(theta, m, h, k):
            Y = np.tanh(Y @ weights.T + biases)
        return 0.5 * ((Y - rows) ** 2).sum()

    def given(rows, columns, factor, size):
        numbers = np.arange(1, rows * columns + 1) * factor % 101 / 50 - 1
        return np.r_[np.sqrt(6 / size) * numbers, np.zeros(rows)]

    theta = np.r_[given(h, m, 37, m + h), given(k, h, 53, h + k), given(h, k, 71, h + k), given(m, h, 89, m + k)]
    move = np.zeros_like(theta)
    losses = [loss(theta, Z)]
    for _ in range(epochs):
        for first in range(0, n, batch):
            rows = Z[order.argsort()[first:first + batch]]
            gradient = np.zeros_like(theta)
            for i in range(len(theta)):
                aside = theta.astype(complex)
                aside[i] += 1e-30j
                gradient[i] = loss(aside, rows).imag / 1e-30
            move = mu * move - step / len(rows) * gradient
            theta = theta + move
        step *= decay
        losses.append(loss(theta, Z))
    H = Z
    for weights, biases in layers(theta, m, h, k)[:2]:
        H = np.tanh(H @ weights.T + biases)
    return layers(theta, m, h, k), H, losses


def autoencoders():
    X = load("iris")[0]
    parts, H, losses = train(X, 3, 2, 3, 40, 0.2, 0.9, 0.5, np.arange(1, 151) * 37 % 151)
    store("autoencoder-iris", np.concatenate([*(W.ravel() for W, _ in parts), *(b for _, b in parts), H[9::20].ravel()]))
    printed = [f"autoencoder_2layer: {'epoch %d' % i if i else 'before training'}: objective {float(loss)!r}\n"
               for i, loss in enumerate(losses)]
    (HERE / "autoencoder-iris.out").write_text("".join(printed) + (HERE / "autoencoder-iris.out").read_text())
    X = grey_levels(200)[0][:, 100:180]
    ((W1, b1), (W2, b2), (W3, b3), (W4, b4)), H, _ = train(X, 6, 3, 2, 64, 0.05, 0.95, 0.9, np.arange(1, 201) * 37 % 211)
    i, j = np.arange(6), np.arange(3)
    wide = np.c_[W1[i, 13 * i + 12], W4[13 * i + 12, i], b1, b4[13 * i + 12]]
    narrow = np.c_[W2[j, 2 * j + 1], W3[2 * j + 1, j], b2, b3[2 * j + 1]]
    lines = [" ".join(repr(float(v)) for v in row) for block in (wide, narrow, H[9::19]) for row in block]
    (HERE / "autoencoder-digits-sparse.out").write_text("\n".join(lines) + "\n200 3 0.0\n1 1 TRUE\n")


def show(array):
    """As Tokamak prints an array of any rank: the matrices in the last two dimensions below their places."""
    text = ""
    for place in np.ndindex(array.shape[:-2]):
        text += "[" + "".join(f"{i + 1}," for i in place) + ",]\n"
        text += "".join(" ".join(f"{cell:.9f}" for cell in row) + "\n" for row in array[place])
    return text + "\n"


def tensors():
    """Programs in the dialect's own text; in single precision NumPy rounds after each operation, as Tokamak does."""
    for suffix, type in (("", np.float64), ("-f32", np.float32)):
        x = ((np.arange(1, 121) * 7 % 11) / 4).astype(type).reshape(2, 3, 4, 5)
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        softmax = e / e.sum(axis=-1, keepdims=True)
        assert abs(softmax.sum(axis=-1) - 1).max() < 1e-6
        (HERE / f"tensor-softmax{suffix}.out").write_text(show(softmax))

        x = ((np.arange(1, 121) * 7 % 13).astype(type) * type(0.1)).reshape(2, 3, 4, 5)
        y = np.sqrt(np.arange(1, 31).astype(type)).reshape(1, 3, 5, 2)
        (HERE / f"tensor-product{suffix}.out").write_text(show(x @ y))

        x = np.sin(np.arange(1, 31).astype(type)).reshape(2, 3, 5)
        gains = np.array([0.5, 1.5, 2.5, -1.0, 3.0], type)
        biases = np.array([0.1, 0.2, 0.3, -0.4, -0.5, 0.6], type).reshape(2, 3, 1)
        scales = np.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [0.1, 0.2, 0.3, 0.4, 0.5]], type)
        chain = np.maximum((biases + x * gains) / scales, 0)
        (HERE / f"tensor-chain{suffix}.out").write_text(show(chain) + f"{float(chain.sum(dtype=float))!r}\n")


svm()
classes_svm()
report_svm()
report_risk()
regression()
report_regression()
sparse()
logistic()
report_digits()
generalised()
penalised()
edges()
predictions()
clusters()
principal()
report_components()
report_clusters()
report_errors()
ranking()
nonnegative()
missing()
report_completion()
autoencoders()
tensors()
