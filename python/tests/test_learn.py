"""Algorithms of the library as estimators of scikit-learn."""

import pickle
import pydoc
import unittest
import unittest.mock
import warnings

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.datasets import load_breast_cancer, load_iris, make_regression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import tokamak as tk
from tokamak import learn


def checked(name):
    def test(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = check_estimator(getattr(learn, name)(), on_fail=None, on_skip=None)
        self.assertGreater(len(results), 40)
        failed = [f"{r['check_name']}: {r['exception']!r}" for r in results if r["status"] == "failed"]
        self.assertEqual(failed, [])
    return test


class ScikitLearnAccepts(unittest.TestCase):
    """One test for each estimator, which has to be listed, so that none is forgotten."""

    def test_all_are_here(self):
        here = {method.removeprefix("test_") for method in dir(self) if method.startswith("test_")} - {"all_are_here"}
        self.assertEqual(here, set(learn.__all__))

    def test_BoostedTreesRegressor(self): checked("BoostedTreesRegressor")(self)
    def test_GaussianMixture(self): checked("GaussianMixture")(self)
    def test_GeneralizedLinearRegression(self): checked("GeneralizedLinearRegression")(self)
    def test_KMeans(self): checked("KMeans")(self)
    def test_LinearRegression(self): checked("LinearRegression")(self)
    def test_LinearSVC(self): checked("LinearSVC")(self)
    def test_LogisticRegression(self): checked("LogisticRegression")(self)
    def test_MeanImputer(self): checked("MeanImputer")(self)
    def test_MedianImputer(self): checked("MedianImputer")(self)
    def test_MinMaxScaler(self): checked("MinMaxScaler")(self)
    def test_MultinomialNB(self): checked("MultinomialNB")(self)
    def test_PCA(self): checked("PCA")(self)
    def test_Ridge(self): checked("Ridge")(self)
    def test_RobustScaler(self): checked("RobustScaler")(self)
    def test_Standardizer(self): checked("Standardizer")(self)
    def test_StepwiseRegression(self): checked("StepwiseRegression")(self)
    def test_Winsorizer(self): checked("Winsorizer")(self)


class Estimators(unittest.TestCase):
    def test_weights_are_those_of_scikit_learn(self):
        from sklearn.linear_model import LinearRegression, Ridge
        X, y = make_regression(200, 8, noise=3, random_state=1)
        theirs = LinearRegression().fit(X, y)
        ours = learn.LinearRegression(reg=0).fit(X, y)
        np.testing.assert_allclose(ours.B_.ravel(), [*theirs.coef_, theirs.intercept_], rtol=1e-9)
        np.testing.assert_allclose(learn.Ridge(reg=5).fit(X, y).predict(X), Ridge(alpha=5).fit(X, y).predict(X), rtol=1e-9)

    def test_projections_are_those_of_scikit_learn(self):
        from sklearn.decomposition import PCA
        X = load_iris().data
        ours = learn.PCA(K=2, scale=False).fit_transform(X)
        np.testing.assert_allclose(abs(ours), abs(PCA(2).fit_transform(X)), atol=1e-9)

    def test_transformers_do_not_keep_rows(self):
        X = np.random.default_rng(3).random((50, 4))
        for name in learn.__all__:
            if issubclass(getattr(learn, name), TransformerMixin):
                model = getattr(learn, name)().fit(X)
                kept = [each for each, value in vars(model).items() if np.ndim(value) == 2 and len(value) == len(X)]
                self.assertEqual(kept, [], name)

    def test_large_data_are_checked(self):
        X = np.random.default_rng(5).random((60_000, 2))
        for wrong, kind in (np.nan, "NaN"), (np.inf, "infinity"):
            for order in "C", "F":
                bad = X.copy(order)
                bad[50_000, 1] = wrong
                with self.assertRaisesRegex(ValueError, f"Input X contains {kind}"):
                    learn.PCA(K=1).fit(bad)
        learn.MinMaxScaler().fit(X * 1e307)  # the sum is too large for a number, but no cell is
        learn.MeanImputer().fit(np.where(X > 0.9, np.nan, X))

    def test_estimators_are_searched_and_kept(self):
        X, y = load_breast_cancer(return_X_y=True)
        model = make_pipeline(learn.Standardizer(), learn.LogisticRegression())
        self.assertGreater(cross_val_score(model, X, y).mean(), 0.95)
        search = GridSearchCV(make_pipeline(learn.MinMaxScaler(), learn.LinearSVC()), {"linearsvc__reg": [0.1, 10]}).fit(X, y)
        self.assertGreater(search.best_score_, 0.95)
        again = pickle.loads(pickle.dumps(search.best_estimator_))
        np.testing.assert_array_equal(again.predict(X), search.predict(X))
        probabilities = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)

    def test_binomial_regression_predicts_one_probability(self):
        X, y = load_breast_cancer(return_X_y=True)
        model = make_pipeline(learn.Standardizer(), learn.GeneralizedLinearRegression(dfam=2, link=2, reg=1)).fit(X, y)
        self.assertEqual(model.predict(X).shape, y.shape)
        self.assertGreater(np.mean((model.predict(X) > 0.5) == y), 0.95)

    def test_texts_are_classes(self):
        data = load_iris()
        names = data.target_names[data.target]
        predicted = learn.LogisticRegression(reg=0.01).fit(data.data, names).predict(data.data)
        self.assertGreater(np.mean(predicted == names), 0.95)

    def test_classes_are_found_as_numpy_does_without_sorting_rows(self):
        draw = np.random.default_rng(4)
        kinds = [np.array([False, True]), np.array([3, -2, 40]), np.array([-128, 127, 5], np.int8), np.array([2**64 - 1, 2**64 - 7], np.uint64),
                 np.array([-2**63, -2**63 + 9]), np.array([2.0, -1, 7]), np.array([1, 0], np.float16), np.array(["b", "a", "\u00e4"], object)]
        for kind in kinds:
            y = draw.permutation(np.repeat(kind, 100))
            X = draw.random((len(y), 2))
            with unittest.mock.patch("numpy.unique", side_effect=np.unique) as unique:
                fitted = learn.MultinomialNB().fit(X, y)
            self.assertLess(max((len(call.args[0]) for call in unique.call_args_list), default=0), len(y), kind)
            self.assertEqual(fitted.classes_.dtype, y.dtype)
            np.testing.assert_array_equal(fitted.classes_, np.unique(y))
            self.assertLessEqual(set(fitted.predict(X)), set(y))
        for labels in ([0, 10**9, 5] * 9, [1.0, 2.0**60] * 9, ["b", "a"] * 9, list(range(9)) * 2):
            np.testing.assert_equal(learn._classes(np.array(labels)), np.unique(labels, return_inverse=True))

    def test_labels_that_are_no_classes(self):
        X = np.random.default_rng(4).random((8, 2))
        for labels in ([0.5, 1.5] * 4, np.array([1, "a"] * 4, object), np.array([1, 2] * 4, object)):
            self.assertRaisesRegex(ValueError, "Unknown label type|mix", learn.MultinomialNB().fit, X, labels)
        self.assertRaises(ValueError, learn.MultinomialNB().fit, X, [0, np.nan] * 4)
        with self.assertWarnsRegex(UserWarning, "unique classes"):
            learn.MultinomialNB().fit(np.random.default_rng(4).random((40, 2)), np.arange(40) // 1.9)

    def test_random_state_repeats(self):
        X = np.random.default_rng(1).random((300, 3))
        first, again = (learn.KMeans(k=4, runs=1, random_state=3).fit(X).C_ for _ in range(2))
        np.testing.assert_array_equal(first, again)

    def test_parameters_and_help_are_those_of_the_function(self):
        self.assertEqual(learn.KMeans().get_params(), {"k": 8, "runs": 10, "maxi": 1000, "eps": 1e-06,
                                                       "avg_sample_size_per_centroid": 50, "random_state": None})
        self.assertIn("number of centres", pydoc.render_doc(learn.KMeans, renderer=pydoc.plaintext))
        with self.assertRaisesRegex(tk.RunError, "k must be at least 1"):
            learn.KMeans(k=0).fit(np.ones((4, 2)))


if __name__ == "__main__":
    unittest.main()
