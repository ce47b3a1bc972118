"""Algorithms of the library with the interface of scikit-learn, which has to be installed:

    from tokamak.learn import KMeans, LogisticRegression
    LogisticRegression(reg=0.1).fit(X, y).score(X, y)

The parameters of an estimator are those of the library's function that fits it; help(LogisticRegression) says which that is
and what they mean. Estimators go into pipelines, cross_val_score and GridSearchCV. What a function returns stands in
attributes with its names and an underscore: KMeans().fit(X).C_ are the centres. Transformers don't keep the rows that they are
fitted to: transform computes them. random_state is the seed of random draws."""

import dataclasses
import functools
import inspect

import numpy as np
from sklearn import get_config
from sklearn.base import (BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, ClusterMixin, OneToOneFeatureMixin,
                          RegressorMixin, TransformerMixin)
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from . import arrays, library

_TALK = ("verbose", "is_verbose")  # parameters of functions that make them print
_FLOATS = [np.float64, np.float32]


@dataclasses.dataclass(frozen=True)
class _Algorithm:
    """How an estimator is made of functions of the library. `arguments` and `probabilities` name, for parameters of the
    function that is used after fitting, results, parameters or data of the one that fits."""
    fit: str
    use: str
    arguments: dict = dataclasses.field(default_factory=dict)
    result: str = None  # of `use`, where it has several
    probabilities: str = None  # of `use`: those of the classes
    labels: str = None  # of `fit`: the clusters of its rows
    data: tuple = ("X", "y")
    hidden: tuple = ()  # parameters that are not the user's
    given: dict = dataclasses.field(default_factory=dict)  # parameters of `fit` that follow from X
    defaults: dict = dataclasses.field(default_factory=dict)  # other than the function's
    renamed: dict = dataclasses.field(default_factory=dict)  # parameters that have a name of their own here
    allows_missing: bool = False
    only_positive: bool = False

    def names(self):
        """{name of a parameter here: its name in the function that fits}"""
        hidden = {*self.data, *self.hidden, *self.given, *_TALK}
        renamed = {"seed": "random_state"} | self.renamed
        return {renamed.get(name, name): name for name in _parameters(self.fit) if name not in hidden}


@functools.cache
def _parameters(function):
    """Those of a function of the library: names and defaults."""
    return {name: parameter.default for name, parameter in
            inspect.signature(getattr(library, function)).parameters.items()}


@functools.cache
def _results(function):
    """The names of its results."""
    returned = str(inspect.signature(getattr(library, function)).return_annotation)
    return [result.partition(":")[0] for result in returned.strip("()").split(", ")]


class _Estimator(BaseEstimator):
    _first_kept = 0  # of the results of the function that fits

    def _fit_function(self, X, y=None):
        algorithm = self._algorithm
        arguments = {theirs: getattr(self, name) for name, theirs in self._names.items()}
        if "seed" in arguments:
            arguments["seed"] = (-1 if self.random_state is None else
                                 int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)))
        arguments |= {name: False for name in _TALK if name in _parameters(algorithm.fit)}
        arguments |= {name: make(X) for name, make in algorithm.given.items()}
        arguments |= dict(zip(algorithm.data, (X, y) if y is not None else (X,)))
        results = getattr(library, algorithm.fit)(**arguments)
        names = _results(algorithm.fit)
        kept = list(zip(names, results if len(names) > 1 else (results,)))[self._first_kept:]
        for name, result in kept:
            setattr(self, name + "_", result)
        return self

    def _use_function(self, X, result=None):
        algorithm = self._algorithm
        X = self._checked(X)
        arguments = {parameter: getattr(self, name + "_" if hasattr(self, name + "_") else name)
                     for parameter, name in algorithm.arguments.items()}
        arguments |= {name: False for name in _TALK if name in _parameters(algorithm.use)}
        results = getattr(library, algorithm.use)(X, **arguments)
        return getattr(results, result) if result else results

    def _checked(self, X, y="no_validation", **options):
        """What scikit-learn checks of rows, in fit and afterwards."""
        if "reset" not in options:
            check_is_fitted(self)
            options["reset"] = False
        finite = False if _is_certainly_finite(X) else "allow-nan" if self._algorithm.allows_missing else True
        checked = validate_data(self, X, y, dtype=_FLOATS, ensure_all_finite=finite, **options)
        if self._algorithm.only_positive:
            check_non_negative(checked[0] if isinstance(checked, tuple) else checked, type(self).__name__)
        return checked

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._algorithm.allows_missing
        tags.input_tags.positive_only = self._algorithm.only_positive
        return tags


class _Regressor(RegressorMixin, _Estimator):
    def fit(self, X, y):
        X, y = self._checked(X, y, reset=True, y_numeric=True, ensure_min_samples=2)
        return self._fit_function(X, y.astype(X.dtype))

    def predict(self, X):
        return self._use_function(X, self._algorithm.result)[:, 0]


class _Classifier(ClassifierMixin, _Estimator):
    def fit(self, X, y):
        X, y = self._checked(X, y, reset=True, ensure_min_samples=2)
        try:
            self.classes_, numbers = _classes(y)
        except TypeError:  # labels have no order
            check_classification_targets(y)
            raise
        # scikit-learn sorts what it is given, and looks at its kind, and whether there are fewer classes than half the rows.
        check_classification_targets(np.repeat(self.classes_, 2) if 2 * len(self.classes_) <= len(y) else y)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs rows of at least 2 classes; y has one class only")
        return self._fit_function(X, (numbers + 1).astype(X.dtype))

    def predict(self, X):
        numbers = self._use_function(X, self._algorithm.result).ravel().astype(int)
        return self.classes_[numbers - 1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._algorithm.only_positive  # data that are shifted to be positive are no counts
        return tags


class _ClassifierWithProbabilities(_Classifier):
    def predict_proba(self, X):
        return self._use_function(X, self._algorithm.probabilities)


class _Clusterer(ClusterMixin, _Estimator):
    def fit(self, X, y=None):
        self._fit_function(self._checked(X, reset=True, ensure_min_samples=2))
        self.labels_ = getattr(self, self._algorithm.labels + "_").ravel().astype(int) - 1
        return self

    def predict(self, X):
        return self._use_function(X, self._algorithm.result).ravel().astype(int) - 1


class _Transformer(TransformerMixin, _Estimator):
    _first_kept = 1  # the first are the rows, transformed

    def fit(self, X, y=None):
        return self._fit_function(self._checked(X, reset=True, ensure_min_samples=2))

    def transform(self, X):
        return self._use_function(X, self._algorithm.result)


class _ColumnTransformer(OneToOneFeatureMixin, _Transformer):
    """Each column becomes one."""


class _Projection(ClassNamePrefixFeaturesOutMixin, _Transformer):
    """Columns become fewer."""

    @property
    def _n_features_out(self):
        return getattr(self, self._algorithm.arguments["Clusters"] + "_").shape[1]


def _classes(y):
    """As np.unique(y, return_inverse=True), but sorts the classes, instead of all rows, where it can."""
    if y.dtype == object:
        classes = sorted(set(y))
        numbers = {label: number for number, label in enumerate(classes)}
        return np.fromiter(classes, object, len(classes)), np.fromiter(map(numbers.__getitem__, y), np.intp, len(y))
    if y.dtype.kind in "biuf":
        lowest = y.min()
        if float(y.max()) - float(lowest) < 1000:
            distances = np.subtract(y, lowest, dtype=np.int64, casting="unsafe")
            is_class = np.bincount(distances) > 0
            classes, numbers = np.flatnonzero(is_class).astype(y.dtype) + lowest, (np.cumsum(is_class) - 1)[distances]
            if (classes[numbers] == y).all():  # else there are fractions
                return classes, numbers
    return np.unique(y, return_inverse=True)


def _is_certainly_finite(X):
    """A sum says so of most data in half the time that scikit-learn takes, which looks closer at the others."""
    return (type(X) is np.ndarray and X.dtype in _FLOATS and X.ndim == 2 and X.flags.c_contiguous and X.size >= 100_000 and
            not get_config()["assume_finite"] and bool(np.isfinite(float(arrays.sum(arrays.asarray(X))))))


def _no_categories(X):
    return np.zeros((1, X.shape[1]))


def _estimator(name, base, algorithm):
    """The class: its constructor has the parameters of the function that fits, and help shows that function's comment."""
    names, known = algorithm.names(), _parameters(algorithm.fit)
    defaults = {name: None if theirs == "seed" else known[theirs] for name, theirs in names.items()} | algorithm.defaults
    # scikit-learn reads the constructor's signature.
    code = (f"def __init__(self{''.join(f', {each}={default!r}' for each, default in defaults.items())}):\n" +
            "".join(f"    self.{each} = {each}\n" for each in defaults) + "    pass\n")
    space = {}
    exec(code, space)
    comment = getattr(library, algorithm.fit).__doc__
    return type(name, (base,), {"__init__": space["__init__"], "__module__": __name__, "__doc__": f"Fits by tokamak.library.{comment}",
                                "_algorithm": algorithm, "_names": names})


_ALGORITHMS = {
    "LinearRegression": (_Regressor, _Algorithm("lm", "lmPredict", {"B": "B"}, defaults={"icpt": 1})),
    "Ridge": (_Regressor, _Algorithm("lm", "lmPredict", {"B": "B"}, defaults={"icpt": 1, "reg": 1.0})),
    "StepwiseRegression": (_Regressor, _Algorithm("steplm", "lmPredict", {"B": "B"}, defaults={"icpt": 1})),
    "GeneralizedLinearRegression": (_Regressor, _Algorithm(
        "glm", "glmPredict", {"B": "betas", "dfam": "dfam", "vpow": "vpow", "link": "link", "lpow": "lpow", "intercept": "icpt"},
        data=("X", "Y"), hidden=("yneg",), defaults={"icpt": 1})),
    "BoostedTreesRegressor": (_Regressor, _Algorithm(
        "xgboost", "xgboostPredictRegression", {"M": "M", "learning_rate": "learning_rate"},
        hidden=("R", "sml_type"), renamed={"lambda_": "reg"})),
    "LogisticRegression": (_ClassifierWithProbabilities, _Algorithm(
        "multiLogReg", "multiLogRegPredict", {"B": "betas"}, result="predicted_Y", probabilities="M", data=("X", "Y"))),
    "LinearSVC": (_Classifier, _Algorithm(
        "msvm", "msvmPredict", {"W": "model"}, result="Y", data=("X", "Y"), defaults={"intercept": True})),
    "MultinomialNB": (_Classifier, _Algorithm(
        "naiveBayes", "naiveBayesPredict", {"P": "prior", "C": "classConditionals"}, result="Y", data=("D", "C"),
        only_positive=True)),
    "KMeans": (_Clusterer, _Algorithm("kmeans", "kmeansPredict", {"C": "C"}, labels="Y", defaults={"k": 8}, renamed={"max_iter": "maxi"})),
    "GaussianMixture": (_Clusterer, _Algorithm(
        "gmm", "gmmPredict", {"weight": "weight", "mu": "mu", "precisions_cholesky": "prec_chol", "model": "model"},
        result="labels", labels="labels")),
    "PCA": (_Projection, _Algorithm(
        "pca", "pcaTransform", {"Clusters": "Components", "Centering": "Centering", "ScaleFactor": "ScaleFactor"},
        given={"onlyComponents": lambda X: True})),
    "Standardizer": (_ColumnTransformer, _Algorithm(
        "scale", "scaleApply", {"Centering": "Centering", "ScaleFactor": "ScaleFactor"})),
    "MinMaxScaler": (_ColumnTransformer, _Algorithm("normalize", "normalizeApply", {"cmin": "cmin", "cmax": "cmax"})),
    "RobustScaler": (_ColumnTransformer, _Algorithm("scaleRobust", "scaleRobustApply", {"med": "med", "q1": "q1", "q3": "q3"})),
    "Winsorizer": (_ColumnTransformer, _Algorithm("winsorize", "winsorizeApply", {"qLower": "qLower", "qUpper": "qUpper"})),
    "MeanImputer": (_ColumnTransformer, _Algorithm(
        "imputeByMean", "imputeByMeanApply", {"imputedVec": "imputedVec"}, given={"mask": _no_categories}, allows_missing=True)),
    "MedianImputer": (_ColumnTransformer, _Algorithm(
        "imputeByMedian", "imputeByMedianApply", {"imputedVec": "imputedVec"}, given={"mask": _no_categories},
        allows_missing=True)),
}

__all__ = sorted(_ALGORITHMS)
for _name, (_base, _algorithm) in _ALGORITHMS.items():
    globals()[_name] = _estimator(_name, _base, _algorithm)
