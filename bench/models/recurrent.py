"""A tagger: a class for each token, from LSTM layers that read a sentence in both directions."""

import numpy as np

from .graph import Graph


def tagger(layers, width, hidden, tokens, words, tags, random):
    graph = Graph(random)
    inputs = {"tokens": random.integers(0, words, (1, tokens))}
    embedded = graph.add("Gather", graph.weights(words, width) * np.float32(np.sqrt(words)), "tokens")
    x = graph.add("Transpose", embedded, perm=[1, 0, 2])  # LSTM has the time first
    for _ in range(layers):
        scale = np.float32(1 / np.sqrt(hidden))
        weights = [random.uniform(-scale, scale, (2, *rest)).astype(np.float32)
                   for rest in ((4 * hidden, width), (4 * hidden, hidden), (8 * hidden,))]
        y = graph.add("LSTM", x, *weights, results=3, direction="bidirectional", hidden_size=hidden)[0]
        # [tokens, directions, batch, hidden] -> [tokens, batch, directions * hidden]
        x, width = graph.add("Reshape", graph.add("Transpose", y, perm=[0, 2, 1, 3]), np.array([0, 0, -1])), 2 * hidden
    x = graph.add("Transpose", x, perm=[1, 0, 2])
    scores = graph.add("LogSoftmax", graph.linear(x, width, tags), axis=-1)
    return graph.model("tagger", inputs, {scores: 3}), inputs
