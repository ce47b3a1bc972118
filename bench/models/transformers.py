"""Transformers, as exporters write them in operators: encoders (MiniLM, BERT), a decoder (GPT-2), one of images (ViT), and attention alone."""

import numpy as np

from .graph import Graph, image


class Transformer(Graph):
    """Layers over [batch, tokens, width]."""

    def __init__(self, random, width, heads):
        super().__init__(random)
        self.width, self.heads = width, heads

    def attended(self, q, k, v, width, mask=None):
        """softmax(q k / sqrt(width) + mask) v; q and v are [batch, heads, tokens, width], k is [batch, heads, width, tokens]."""
        scores = self.add("Div", self.add("MatMul", q, k), np.float32(np.sqrt(width)))
        if mask is not None:
            scores = self.add("Add", scores, mask)
        return self.add("MatMul", self.add("Softmax", scores, axis=-1), v)

    def in_heads(self, x, perm):
        own = self.width // self.heads
        return self.add("Transpose", self.add("Reshape", x, np.array([0, 0, self.heads, own])), perm=perm)

    def self_attention(self, x, mask):
        width = self.width
        q, k, v = (self.in_heads(self.linear(x, width, width), perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        k, v = self.with_past(k, v)
        both = self.add("Transpose", self.attended(q, k, v, width // self.heads, mask), perm=[0, 2, 1, 3])
        return self.linear(self.add("Reshape", both, np.array([0, 0, width])), width, width)

    def with_past(self, k, v):
        return k, v

    def gelu(self, x):
        error = self.add("Erf", self.add("Div", x, np.float32(np.sqrt(2))))
        return self.add("Mul", self.add("Mul", x, self.add("Add", error, np.float32(1))), np.float32(0.5))

    def perceptron(self, x):
        return self.linear(self.gelu(self.linear(x, self.width, 4 * self.width)), 4 * self.width, self.width)

    def layer_normalised(self, x):
        return self.add("LayerNormalization", x, self.vector(self.width, 1), self.vector(self.width), axis=-1)

    def normalised_after(self, x, layers, mask=None):
        for _ in range(layers):
            x = self.layer_normalised(self.add("Add", x, self.self_attention(x, mask)))
            x = self.layer_normalised(self.add("Add", x, self.perceptron(x)))
        return x

    def normalised_before(self, x, layers, mask=None):
        for _ in range(layers):
            x = self.add("Add", x, self.self_attention(self.layer_normalised(x), mask))
            x = self.add("Add", x, self.perceptron(self.layer_normalised(x)))
        return x

    def embedded(self, words, tokens):
        return self.add("Gather", self.weights(words, self.width) * np.float32(np.sqrt(words)), tokens)

    def places(self, tokens):
        return (self.random.standard_normal((1, tokens, self.width)) * 0.1).astype(np.float32)


def attention(heads, width, queries, random):
    graph = Transformer(random, heads * width, heads)
    inputs = {name: random.standard_normal((1, heads, queries, width)).astype(np.float32) for name in ("q", "k", "v")}
    output = graph.attended("q", graph.add("Transpose", "k", perm=[0, 1, 3, 2]), "v", width)
    return graph.model("attention", inputs, {output: 4}), inputs


def encoder(layers, width, heads, tokens, words, random):
    graph = Transformer(random, width, heads)
    inputs = {"tokens": random.integers(0, words, (1, tokens))}
    x = graph.add("Add", graph.embedded(words, "tokens"), graph.places(tokens))
    x = graph.layer_normalised(graph.normalised_after(x, layers))
    return graph.model("encoder", inputs, {x: 3}), inputs


def decoder(layers, width, heads, tokens, words, random):
    graph = Transformer(random, width, heads)
    inputs = {"tokens": random.integers(0, words, (1, tokens))}
    mask = np.triu(np.full((tokens, tokens), -1e9, np.float32), 1)[None, None]
    x = graph.add("Add", graph.embedded(words, "tokens"), graph.places(tokens))
    x = graph.layer_normalised(graph.normalised_before(x, layers, mask))
    return graph.model("decoder", inputs, {x: 3}), inputs


class Remembering(Transformer):
    """Of tokens that come one after the other: keys and values of those before, and of these, too, go in and out in each layer."""

    def __init__(self, random, width, heads, past):
        super().__init__(random, width, heads)
        self.past, self.inputs, self.outputs = past, {}, {}

    def with_past(self, k, v):
        own, layer, both = self.width // self.heads, len(self.inputs) // 2, []
        for part, new, axis in (("keys", k, 3), ("values", v, 2)):
            sizes = (1, self.heads, own, self.past) if axis == 3 else (1, self.heads, self.past, own)
            name = f"{part}_{layer}"
            self.inputs[name] = self.random.standard_normal(sizes).astype(np.float32)
            both.append(self.add("Concat", name, new, axis=axis))
            self.outputs[both[-1]] = 4
        return both


def remembering_decoder(layers, width, heads, past, places, words, random):
    """The next of at most so many tokens, behind `past` others, of which the caches hold keys and values."""
    graph = Remembering(random, width, heads, past)
    tokens = {"token": random.integers(0, words, (1, 1))}
    x = graph.embedded(words, "token")
    place = graph.add("Slice", graph.add("Shape", "values_0"), np.array([2]), np.array([3]))
    x = graph.add("Add", x, graph.add("Gather", graph.places(places)[0], place))
    x = graph.layer_normalised(graph.normalised_before(x, layers))
    scores = graph.linear(x, width, words)
    opened = {name: {3 if name.startswith("keys") else 2: "past"} for name in graph.inputs}
    return graph.model("remembering_decoder", tokens | graph.inputs, {scores: 3} | graph.outputs, open_sizes=opened), tokens | graph.inputs


def bert(layers, width, heads, tokens, words, random):
    """With the segments of two sentences, and tokens behind the last one that nothing attends to."""
    graph = Transformer(random, width, heads)
    used = tokens - tokens // 4
    inputs = {"tokens": random.integers(0, words, (1, tokens)), "segments": (np.arange(tokens) >= used // 2).astype(np.int64)[None],
              "used": (np.arange(tokens) < used).astype(np.int64)[None]}
    kept = graph.add("Cast", graph.add("Unsqueeze", "used", np.array([1, 2])), to=1)
    mask = graph.add("Mul", graph.add("Sub", np.float32(1), kept), np.float32(-10000))
    x = graph.add("Add", graph.embedded(words, "tokens"), graph.places(tokens))
    x = graph.layer_normalised(graph.add("Add", x, graph.embedded(2, "segments")))
    x = graph.normalised_after(x, layers, mask)
    first = graph.add("Gather", x, np.array(0), axis=1)
    pooled = graph.add("Tanh", graph.linear(first, width, width))
    return graph.model("bert", inputs, {x: 3, pooled: 2}), inputs


def vit(layers, width, heads, size, patch, classes, random):
    """Patches of an image, behind a token whose last state becomes the classes' scores."""
    graph = Transformer(random, width, heads)
    inputs = {"image": image(random, size)}
    filters = graph.weights(3 * patch * patch, width).T.reshape(width, 3, patch, patch)
    patches = graph.add("Conv", "image", np.ascontiguousarray(filters), graph.vector(width), kernel_shape=[patch, patch],
                        strides=[patch, patch])
    patches = graph.add("Transpose", graph.add("Reshape", patches, np.array([0, width, -1])), perm=[0, 2, 1])
    x = graph.add("Concat", graph.vector((1, 1, width)), patches, axis=1)
    x = graph.add("Add", x, graph.places((size // patch)**2 + 1))
    x = graph.layer_normalised(graph.normalised_before(x, layers))
    scores = graph.linear(graph.add("Gather", x, np.array(0), axis=1), width, classes)
    return graph.model("vit", inputs, {scores: 2}), inputs
