"""Packages that work on any arrays of the standard: array-api-compat, array-api-extra, and estimators of scikit-learn."""

import os
import unittest

os.environ["SCIPY_ARRAY_API"] = "1"  # scikit-learn asks for it before SciPy is imported

import array_api_compat
import array_api_extra as extra
import numpy as np
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler

import tokamak as tk

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 5))
target = X @ np.arange(5.0) + 0.01 * rng.standard_normal(200)
labels = (target > 0).astype(int)


class Compatibility(unittest.TestCase):
    def test_array_api_compat(self):
        x = tk.asarray(X)
        self.assertIs(array_api_compat.array_namespace(x, x), tk)
        self.assertTrue(array_api_compat.is_array_api_obj(x))
        self.assertEqual((array_api_compat.device(x), array_api_compat.size(x)), ("cpu", 1000))
        self.assertIsInstance(array_api_compat.to_device(x, "cpu"), tk.Array)

    def test_array_api_extra(self):
        x, cells = tk.asarray(X), X
        row = tk.asarray(X[0])
        numbers = tk.asarray([3, 1, 3])
        for name, found, expected in (
                ("atleast_nd", extra.atleast_nd(x, ndim=3), cells[None]),
                ("cov", extra.cov(x.T), np.cov(cells.T)),
                ("create_diagonal", extra.create_diagonal(row), np.diag(X[0])),
                ("kron", extra.kron(x[:2, :2], x[:2, :2]), np.kron(cells[:2, :2], cells[:2, :2])),
                ("nunique", extra.nunique(numbers), 2),
                ("pad", extra.pad(x, 1), np.pad(cells, 1)),
                ("setdiff1d", extra.setdiff1d(numbers, tk.asarray([1])), [3]),
                ("sinc", extra.sinc(x), np.sinc(cells)),
                ("at", extra.at(x)[0, 0].set(9.0, copy=True)[0, 0], 9.0),
                ("isclose", extra.isclose(x, x + 1e-12), np.ones_like(cells, dtype=bool)),
                ("one_hot", extra.one_hot(numbers, 4), np.eye(4)[[3, 1, 3]]),
                ("apply_where", extra.apply_where(x > 0, x, lambda part: part * 2, fill_value=0.0), np.where(cells > 0, cells * 2, 0)),
                ("nan_to_num", extra.nan_to_num(tk.asarray([1.0, np.nan])), [1.0, 0.0]),
                ("partition", extra.partition(x, 1)[:, :2], np.partition(cells, 1)[:, :2])):
            with self.subTest(name=name):
                np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)


class ScikitLearn(unittest.TestCase):
    def agrees(self, estimator, known, method="predict"):
        expected = getattr(sklearn.clone(estimator).fit(X, known), method)(X)
        with sklearn.config_context(array_api_dispatch=True):
            fitted = sklearn.clone(estimator).fit(tk.asarray(X), tk.asarray(known))
            found = getattr(fitted, method)(tk.asarray(X))
        self.assertIsInstance(found, tk.Array)
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-9)

    def test_ridge(self):
        self.agrees(Ridge(solver="svd"), target)

    def test_pca(self):
        self.agrees(PCA(3, svd_solver="full"), target, "transform")

    def test_discriminant_analysis(self):
        self.agrees(LinearDiscriminantAnalysis(solver="svd"), labels)

    def test_naive_bayes(self):
        self.agrees(GaussianNB(), labels)

    def test_mixture(self):
        self.agrees(GaussianMixture(2, random_state=0, init_params="random"), target)

    def test_preprocessing(self):
        for estimator in (StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer(), PolynomialFeatures()):
            with self.subTest(estimator=estimator):
                self.agrees(estimator, target, "transform")

    def test_metrics(self):
        with sklearn.config_context(array_api_dispatch=True):
            for metric, known in ((r2_score, target), (mean_squared_error, target), (accuracy_score, labels)):
                guess = np.roll(known, 1)
                with self.subTest(metric=metric.__name__):
                    self.assertAlmostEqual(float(metric(tk.asarray(known), tk.asarray(guess))), metric(known, guess))


if __name__ == "__main__":
    unittest.main()
