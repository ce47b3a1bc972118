"""Trains examples/models/names.onnx, a small recurrent network that writes names letter by letter, on the names of
examples/data/les-miserables-names.txt. The training is plain NumPy, from a fixed seed; the package `onnx` writes the file. Neither
Tokamak nor its tests need this: the file is stored.

usage: python3 examples/models/make_names.py     from the root of the repository; takes some seconds

A name is its letters in lower case, between two ends. The letters count from 1, a to z, as in examples/writing-names.dml; number 27 is
the end. A letter goes in as a row that is 1 at its number, with the state so far; how likely each letter is next comes out, with the
new state.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).resolve().parent
LETTERS, END, STATE = 27, 26, 48
STEPS, RATE = 260, 4e-3


def codes():
    """A row for each name: the numbers of its letters, from 0, and of ends."""
    names = (FOLDER.parent / "data/les-miserables-names.txt").read_text().split("\n")
    words = {"".join(c for c in word.lower() if "a" <= c <= "z") for name in names for word in name.split(" ")}
    words = sorted(word for word in words if len(word) > 3)
    longest = max(map(len, words))
    return np.array([[END, *(ord(c) - ord("a") for c in word), *[END] * (longest + 1 - len(word))] for word in words])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def loss_and_gradients(w, rows):
    """Of gated recurrent units (Cho et al. 2014), in which the gate r comes after the product with the state."""
    count, length = rows.shape
    one = np.eye(LETTERS, dtype=np.float32)
    state, kept = np.zeros((count, STATE), np.float32), []
    loss, weight = 0.0, 0
    for t in range(length - 1):
        x, y = one[rows[:, t]], rows[:, t + 1]
        counts = (t == 0) | (rows[:, t] != END)  # behind the end of a name, nothing follows
        xs, hs = x @ w["W"].T + w["b"], state @ w["R"].T + w["c"]
        z, r = (sigmoid(xs[:, k:k + STATE] + hs[:, k:k + STATE]) for k in (0, STATE))
        n = np.tanh(xs[:, 2 * STATE:] + r * hs[:, 2 * STATE:])
        before, state = state, (1 - z) * n + z * state
        scores = state @ w["V"].T + w["d"]
        parts = np.exp(scores - scores.max(1, keepdims=True))
        parts /= parts.sum(1, keepdims=True)
        loss -= np.log(parts[np.arange(count), y])[counts].sum()
        weight += counts.sum()
        kept.append((x, y, counts, hs, z, r, n, before, state, parts))
    g = {name: np.zeros_like(value) for name, value in w.items()}
    d_state = np.zeros((count, STATE), np.float32)
    for x, y, counts, hs, z, r, n, before, state, parts in reversed(kept):
        d = parts.copy()
        d[np.arange(count), y] -= 1
        d *= counts[:, None] / weight
        g["V"] += d.T @ state
        g["d"] += d.sum(0)
        d_state = d_state + d @ w["V"]
        d_z, d_n = d_state * (before - n) * z * (1 - z), d_state * (1 - z) * (1 - n ** 2)
        d_r = d_n * hs[:, 2 * STATE:] * r * (1 - r)
        d_x, d_h = np.hstack([d_z, d_r, d_n]), np.hstack([d_z, d_r, d_n * r])
        g["W"] += d_x.T @ x
        g["b"] += d_x.sum(0)
        g["R"] += d_h.T @ before
        g["c"] += d_h.sum(0)
        d_state = d_state * z + d_h @ w["R"]
    return loss / weight, g


def train(rows, random):
    def normal(*shape):
        return (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
    w = {"W": normal(3 * STATE, LETTERS), "R": normal(3 * STATE, STATE), "b": np.zeros(3 * STATE, np.float32),
         "c": np.zeros(3 * STATE, np.float32), "V": normal(LETTERS, STATE), "d": np.zeros(LETTERS, np.float32)}
    moments = {name: (np.zeros_like(v), np.zeros_like(v)) for name, v in w.items()}
    for step in range(1, STEPS + 1):
        loss, gradients = loss_and_gradients(w, rows[random.permutation(len(rows))[:40]])
        rate = RATE * 0.5 * (1 + np.cos(np.pi * step / STEPS))
        for name, gradient in gradients.items():  # Adam (Kingma and Ba 2015)
            first, second = moments[name]
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient ** 2 - second)
            change = first / (1 - 0.9 ** step) / (np.sqrt(second / (1 - 0.999 ** step)) + 1e-8)
            w[name] -= (rate * (change + 0.02 * w[name])).astype(np.float32)
        if step % 60 == 0:
            print(f"step {step}: {loss:.3f} of {np.log(LETTERS):.3f}")
    return w


def model_of(w):
    nodes = [
        helper.make_node("Unsqueeze", ["letter", "front"], ["x"], name="letters"),
        helper.make_node("Unsqueeze", ["state", "front"], ["h"], name="states"),
        helper.make_node("GRU", ["x", "W", "R", "B", "", "h"], ["", "after"], name="units", hidden_size=STATE,
                         linear_before_reset=1),
        helper.make_node("Squeeze", ["after", "front"], ["next_state"], name="new_state"),
        helper.make_node("Gemm", ["next_state", "V", "d"], ["scores"], name="scores", transB=1),
        helper.make_node("Softmax", ["scores"], ["likely"], name="likely", axis=1)]
    tensors = {"W": w["W"][None], "R": w["R"][None], "B": np.concatenate([w["b"], w["c"]])[None], "V": w["V"], "d": w["d"],
               "front": np.array([0])}
    graph = helper.make_graph(
        nodes, "names", [helper.make_tensor_value_info("letter", TensorProto.FLOAT, ["names", LETTERS]),
                         helper.make_tensor_value_info("state", TensorProto.FLOAT, ["names", STATE])],
        [helper.make_tensor_value_info("likely", TensorProto.FLOAT, ["names", LETTERS]),
         helper.make_tensor_value_info("next_state", TensorProto.FLOAT, ["names", STATE])],
        [numpy_helper.from_array(value, name) for name, value in tensors.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="make_names.py")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


if __name__ == "__main__":
    onnx.save(model_of(train(codes(), np.random.default_rng(1))), FOLDER / "names.onnx")
