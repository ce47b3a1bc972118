"""Small models as exporters write them: PyTorch's two (through TorchScript, and from its graph, "dynamo") and scikit-learn's, skl2onnx.
make_models.py stores them. Sizes of batches and sequences are left open, as in most files.
"""

import functools
import io
import warnings

import numpy as np
import onnx
import skl2onnx
import sklearn.cluster
import sklearn.ensemble
import sklearn.linear_model
import sklearn.neural_network
import sklearn.pipeline
import sklearn.preprocessing
import torch
from skl2onnx.common.data_types import FloatTensorType
from torch import nn


class Convolutions(nn.Module):
    """Normalised before the activation; some of it is a sum of two branches."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=4)
        self.before, self.after = nn.BatchNorm2d(8), nn.BatchNorm2d(8)
        self.scores = nn.Linear(8, 5)
        for layer in self.before, self.after:
            layer.running_mean.uniform_(-0.5, 0.5)
            layer.running_var.uniform_(0.5, 2)

    def forward(self, image):
        x = self.first(image)
        y = self.second(torch.relu(self.before(x)))
        x = nn.functional.max_pool2d(x + nn.functional.silu(self.after(y)), 2)
        return self.scores(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Encoder(nn.Module):
    """A layer that doesn't attend to padding."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")

    def forward(self, states, padding):
        return self.layer(states, src_key_padding_mask=padding)


class Recurrent(nn.Module):
    """The last state is a result, too."""

    def __init__(self):
        super().__init__()
        self.embedding, self.layers = nn.Embedding(20, 6), nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True)
        self.scores = nn.Linear(10, 3)

    def forward(self, tokens):
        states, (last, _) = self.layers(self.embedding(tokens))
        return self.scores(states), last


class Attention(nn.Module):
    """Of a decoder: causal, by PyTorch's own operator."""

    def __init__(self):
        super().__init__()
        self.all, self.out = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, states):
        q, k, v = (part.unflatten(2, (3, 4)).transpose(1, 2) for part in self.all(states).chunk(3, 2))
        attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(attended.transpose(1, 2).flatten(2))


def inputs_of(kind):
    padding = torch.zeros(2, 7, dtype=torch.bool)
    padding[1, 5:] = True
    return {Convolutions: {"image": torch.randn(2, 3, 15, 13)}, Encoder: {"states": torch.randn(2, 7, 16), "padding": padding},
            Recurrent: {"tokens": torch.randint(0, 20, (2, 6))}, Attention: {"states": torch.randn(2, 9, 12)}}[kind]


def from_torch(kind, dynamo):
    torch.manual_seed(7)
    torch.backends.mha.set_fastpath_enabled(False)  # one operator of PyTorch's own, for inference
    module, inputs = kind().eval(), inputs_of(kind)
    open_axes = [0] if kind is Convolutions else [0, 1]
    written = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):
        if dynamo:
            shapes = tuple({axis: torch.export.Dim.DYNAMIC for axis in open_axes} for _ in inputs)
            program = torch.onnx.export(module, tuple(inputs.values()), input_names=list(inputs), dynamo=True, dynamic_shapes=shapes,
                                        verbose=False)
            model = program.model_proto
        else:
            axes = {name: {axis: "nt"[axis] for axis in open_axes} for name in inputs}
            torch.onnx.export(module, tuple(inputs.values()), written, input_names=list(inputs), dynamo=False, opset_version=17,
                              dynamic_axes=axes)
            model = onnx.load_from_string(written.getvalue())
    for node in model.graph.node:  # where in whose files it was written
        del node.metadata_props[:]
        node.doc_string = ""
    return model, {name: value.numpy() for name, value in inputs.items()}


def from_scikit_learn(estimator, classes=3):
    """The labels of two classes are 3 and 5."""
    random = np.random.default_rng(7)
    x = random.standard_normal((80, 4)).astype(np.float32)
    labels = (x[:, 0] > 0).astype(np.int64) + (x[:, 1] * x[:, 2] > 0.3)
    with warnings.catch_warnings(action="ignore"):  # of training that was ended early
        estimator.fit(x, labels if classes == 3 else 3 + 2 * np.minimum(labels, 1))
    options = {id(estimator): {"zipmap": False}} if hasattr(estimator, "predict_proba") else None  # probabilities as an array
    model = skl2onnx.convert_sklearn(estimator, name="estimator", initial_types=[("x", FloatTensorType([None, 4]))],
                                     options=options)
    cases = random.standard_normal((9, 4)).astype(np.float32)
    cases[4] = 0
    return model, {"x": cases}


def norms():
    return sklearn.pipeline.FeatureUnion([(norm, sklearn.preprocessing.Normalizer(norm)) for norm in ("max", "l1", "l2")])


def scaled_regression():
    return sklearn.pipeline.make_pipeline(sklearn.preprocessing.StandardScaler(), sklearn.linear_model.LinearRegression())


RECIPES = {
    **{f"torch_{name}_{way}": functools.partial(from_torch, kind, way == "dynamo") for way in ("torchscript", "dynamo")
       for name, kind in {"convolutions": Convolutions, "encoder": Encoder, "lstm": Recurrent, "attention": Attention}.items()},
    "sklearn_k_means": lambda: from_scikit_learn(sklearn.cluster.KMeans(3, random_state=7)),
    "sklearn_perceptron": lambda: from_scikit_learn(sklearn.neural_network.MLPClassifier((8,), max_iter=50, random_state=7)),
    "sklearn_linear_classes": lambda: from_scikit_learn(sklearn.linear_model.LogisticRegression()),
    "sklearn_linear_classes_2": lambda: from_scikit_learn(sklearn.linear_model.LogisticRegression(), 2),
    "sklearn_linear_regression": lambda: from_scikit_learn(scaled_regression()),
    "sklearn_norms": lambda: from_scikit_learn(norms()),
    "sklearn_forest": lambda: from_scikit_learn(sklearn.ensemble.RandomForestClassifier(5, max_depth=4, random_state=7)),
    "sklearn_forest_2": lambda: from_scikit_learn(sklearn.ensemble.RandomForestClassifier(4, max_depth=3, random_state=7), 2),
    "sklearn_boosting_2": lambda: from_scikit_learn(sklearn.ensemble.GradientBoostingClassifier(n_estimators=5, random_state=7), 2),
    "sklearn_boosting": lambda: from_scikit_learn(sklearn.ensemble.GradientBoostingClassifier(n_estimators=5, random_state=7)),
    "sklearn_forest_regression": lambda: from_scikit_learn(sklearn.ensemble.RandomForestRegressor(5, max_depth=4, random_state=7)),
}
