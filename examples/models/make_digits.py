"""Trains examples/models/digits.onnx, a small convolutional network that reads handwritten digits, on the first 1200 digits of
examples/data/digits.csv. The training is plain NumPy, from a fixed seed; the package `onnx` writes the file. Neither Tokamak nor its
tests need this: the file is stored.

usage: python3 examples/models/make_digits.py     from the root of the repository; takes a minute
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
TRAINED_ON = 1200
EPOCHS, BATCH, RATE, DECAY, DROPPED = 120, 50, 2e-3, 1e-4, 0.4


def windows(x):
    """3 x 3 windows around each cell of images [n, channels, h, w], as rows: [n, h, w, channels * 9]."""
    n, channels, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    views = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return views.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, channels * 9)


def unwindowed(d, channels):
    """The gradient of images from that of their windows."""
    n, h, w, _ = d.shape
    d = d.reshape(n, h, w, channels, 3, 3)
    padded = np.zeros((n, channels, h + 2, w + 2), d.dtype)
    for i in range(3):
        for j in range(3):
            padded[:, :, i:i + h, j:j + w] += d[:, :, :, :, i, j].transpose(0, 3, 1, 2)
    return padded[:, :, 1:-1, 1:-1]


class Network:
    """Two convolutions, each followed by ReLU and the largest of 2 x 2, and two matrices."""

    def __init__(self, random, channels=(16, 32), hidden=64):
        def normal(*shape, into):
            return (random.standard_normal(shape) * np.sqrt(2 / into)).astype(np.float32)
        first, second = channels
        self.weights = {
            "conv1.weight": normal(first, 1, 3, 3, into=9), "conv1.bias": np.zeros(first, np.float32),
            "conv2.weight": normal(second, first, 3, 3, into=9 * first), "conv2.bias": np.zeros(second, np.float32),
            "hidden.weight": normal(hidden, second * 4, into=second * 4), "hidden.bias": np.zeros(hidden, np.float32),
            "scores.weight": normal(10, hidden, into=hidden), "scores.bias": np.zeros(10, np.float32)}

    def convolve(self, x, name):
        w = self.weights[f"{name}.weight"]
        rows = windows(x)
        return rows, (rows @ w.reshape(len(w), -1).T + self.weights[f"{name}.bias"]).transpose(0, 3, 1, 2)

    @staticmethod
    def pool(x):
        n, c, h, w = x.shape
        cells = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
        return cells.max(-1), cells.argmax(-1)

    @staticmethod
    def unpooled(d, places):
        n, c, h, w = d.shape
        cells = np.zeros((n, c, h, w, 4), d.dtype)
        np.put_along_axis(cells, places[..., None], d[..., None], -1)
        return cells.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, 2 * h, 2 * w)

    def scores(self, x, dropped=None):
        kept = self.kept = {}
        kept["rows1"], c1 = self.convolve(x, "conv1")
        kept["a1"] = np.maximum(c1, 0)
        p1, kept["places1"] = self.pool(kept["a1"])
        kept["rows2"], c2 = self.convolve(p1, "conv2")
        kept["a2"] = np.maximum(c2, 0)
        p2, kept["places2"] = self.pool(kept["a2"])
        kept["flat"] = p2.reshape(len(x), -1)
        kept["h"] = np.maximum(kept["flat"] @ self.weights["hidden.weight"].T + self.weights["hidden.bias"], 0)
        kept["dropped"] = 1 if dropped is None else dropped
        kept["h"] = kept["h"] * kept["dropped"]
        return kept["h"] @ self.weights["scores.weight"].T + self.weights["scores.bias"]

    def gradients(self, d):
        kept, w, g = self.kept, self.weights, {}
        g["scores.weight"], g["scores.bias"] = d.T @ kept["h"], d.sum(0)
        d = (d @ w["scores.weight"]) * kept["dropped"] * (kept["h"] > 0)
        g["hidden.weight"], g["hidden.bias"] = d.T @ kept["flat"], d.sum(0)
        d = (d @ w["hidden.weight"]).reshape(len(d), -1, 2, 2)
        for number in ("2", "1"):
            d = self.unpooled(d, kept[f"places{number}"]) * (kept[f"a{number}"] > 0)
            weight = w[f"conv{number}.weight"]
            d = d.transpose(0, 2, 3, 1)
            rows = d.reshape(-1, len(weight))
            g[f"conv{number}.weight"] = (rows.T @ kept[f"rows{number}"].reshape(len(rows), -1)).reshape(weight.shape)
            g[f"conv{number}.bias"] = rows.sum(0)
            if number == "2":
                d = unwindowed(d @ weight.reshape(len(weight), -1), weight.shape[1])
        return g


def shifted(x, random):
    """Each image moved by up to a pixel in each direction."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    result = np.empty_like(x)
    for i, (a, b) in enumerate(random.choice(3, (len(x), 2), p=(0.2, 0.6, 0.2))):
        result[i] = padded[i, :, a:a + 8, b:b + 8]
    return result


def train(images, labels, random):
    network = Network(random)
    moments = {name: (np.zeros_like(w), np.zeros_like(w)) for name, w in network.weights.items()}
    step = 0
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        for begin in range(0, len(order), BATCH):
            chosen = order[begin:begin + BATCH]
            keep = (random.random((len(chosen), 64)) > DROPPED).astype(np.float32) / (1 - DROPPED)
            scores = network.scores(shifted(images[chosen], random), keep)
            parts = np.exp(scores - scores.max(1, keepdims=True))
            parts /= parts.sum(1, keepdims=True)
            parts[np.arange(len(chosen)), labels[chosen]] -= 1
            gradients = network.gradients(parts / len(chosen))
            step += 1
            # Adam (Kingma and Ba 2015), with weights that decay on their own, and a rate that falls to zero.
            rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
            for name, gradient in gradients.items():
                first, second = moments[name]
                first += 0.1 * (gradient - first)
                second += 0.001 * (gradient ** 2 - second)
                change = first / (1 - 0.9 ** step) / (np.sqrt(second / (1 - 0.999 ** step)) + 1e-8)
                network.weights[name] -= (rate * (change + DECAY * network.weights[name])).astype(np.float32)
    return network


def model_of(network):
    nodes = []
    previous = "image"
    for number in ("1", "2"):
        nodes += [
            helper.make_node("Conv", [previous, f"conv{number}.weight", f"conv{number}.bias"], [f"c{number}"],
                             name=f"conv{number}", pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
            helper.make_node("Relu", [f"c{number}"], [f"a{number}"], name=f"relu{number}"),
            helper.make_node("MaxPool", [f"a{number}"], [f"p{number}"], name=f"pool{number}", kernel_shape=[2, 2],
                             strides=[2, 2])]
        previous = f"p{number}"
    nodes += [
        helper.make_node("Flatten", [previous], ["flat"], name="flatten"),
        helper.make_node("Gemm", ["flat", "hidden.weight", "hidden.bias"], ["h"], name="hidden", transB=1),
        helper.make_node("Relu", ["h"], ["hr"], name="relu3"),
        helper.make_node("Gemm", ["hr", "scores.weight", "scores.bias"], ["scores"], name="scores", transB=1)]
    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["digits", 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["digits", 10])],
        [numpy_helper.from_array(w.astype(np.float32), name) for name, w in network.weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="make_digits.py")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def main():
    data = np.loadtxt(FOLDER.parent / "data/digits.csv", delimiter=",", skiprows=1, dtype=np.float32)
    images, labels = (data[:, :64] / 16).reshape(-1, 1, 8, 8), data[:, 64].astype(int)
    network = train(images[:TRAINED_ON], labels[:TRAINED_ON], np.random.default_rng(1))
    right = network.scores(images).argmax(1) == labels
    print(f"trained on: {right[:TRAINED_ON].mean():.4f}, others: {right[TRAINED_ON:].mean():.4f}")
    onnx.save(model_of(network), FOLDER / "digits.onnx")


if __name__ == "__main__":
    main()
