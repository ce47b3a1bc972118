#!/usr/bin/env python3
"""Writes the models of ./dev bench model-: the light models of the `onnx` package with seeded weights, and transformers.

usage: models.py NAME FOLDER     writes FOLDER/NAME.onnx and FOLDER/INPUT.npy for each of its inputs; needs onnx and NumPy
       models.py --list
"""

import os
import pathlib
import sys

LIGHT = ("squeezenet", "shufflenet", "resnet50", "densenet121", "inception_v1", "inception_v2", "bvlc_alexnet", "zfnet512", "vgg19")


def light(name, random):
    """One of the package's light models, whose weights are one number each (ConstantOfShape), with weights of their own."""
    import numpy as np
    import onnx
    folder = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
    model = onnx.load(folder / f"light_{name}.onnx")
    graph = model.graph
    shapes = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    users = {}
    for node in graph.node:
        for place, operand in enumerate(node.input):
            users.setdefault(operand, (node.op_type, place))

    def weights(output, shape):
        user, place = users.get(output, ("", 0))
        if place == 1 and user in ("Conv", "Gemm", "MatMul"):  # keeps the variance of what goes in (He et al. 2015)
            cells_of_sum = np.prod(shape[1:]) if user == "Conv" else shape[-1]
            return random.standard_normal(shape) * np.sqrt(2 / cells_of_sum)
        if user == "BatchNormalization" and place in (1, 4):  # scales and variances
            return random.uniform(0.8, 1.2, shape)
        return random.uniform(-0.1, 0.1, shape)
    kept = []
    for node in graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in shapes:
            shape = [int(size) for size in shapes[node.input[0]]]
            tensor = onnx.numpy_helper.from_array(weights(node.output[0], shape).astype(np.float32), node.output[0])
            graph.initializer.append(tensor)
        else:
            kept.append(node)
    del graph.node[:]
    graph.node.extend(kept)
    used = {operand for node in kept for operand in node.input}
    initializers = [i for i in graph.initializer if i.name in used]
    del graph.initializer[:]
    graph.initializer.extend(initializers)
    image = next(i for i in graph.input if i.name not in {tensor.name for tensor in initializers})
    inputs = [i for i in graph.input if i.name == image.name]
    del graph.input[:]
    graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 4)  # before, weights had to be inputs, too
    return model, {image.name: random.uniform(-1, 1, (1, 3, 224, 224)).astype(np.float32)}


class Graph:
    """Nodes and weights, added one after the other."""

    def __init__(self, random):
        self.random, self.nodes, self.initializers, self.number = random, [], [], 0

    def add(self, op, *operands, results=1, **attributes):
        import onnx
        self.number += 1
        outputs = [f"{op.lower()}_{self.number}_{i}" for i in range(results)]
        self.nodes.append(onnx.helper.make_node(op, [o if isinstance(o, str) else self.constant(o) for o in operands], outputs,
                                                **attributes))
        return outputs[0] if results == 1 else outputs

    def constant(self, array):
        import onnx
        self.number += 1
        name = f"weight_{self.number}"
        self.initializers.append(onnx.numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape):
        import numpy as np
        return (self.random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    def vector(self, size, about=0.0):
        import numpy as np
        return (about + self.random.uniform(-0.1, 0.1, size)).astype(np.float32)

    def linear(self, x, width, to):
        return self.add("Add", self.add("MatMul", x, self.weights(width, to)), self.vector(to))

    def model(self, name, inputs, output, rank):
        import onnx
        helper, types = onnx.helper, onnx.TensorProto
        given = [helper.make_tensor_value_info(key, {"float32": types.FLOAT, "int64": types.INT64}[str(value.dtype)], value.shape)
                 for key, value in inputs.items()]
        result = helper.make_tensor_value_info(output, types.FLOAT, [None] * rank)
        graph = helper.make_graph(self.nodes, name, given, [result], self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def attended(graph, q, k, v, width, mask=None):
    """softmax(q k^T / sqrt(width) + mask) v, as exporters write it; k is [batch, heads, width, keys]."""
    import numpy as np
    scores = graph.add("Div", graph.add("MatMul", q, k), np.float32(np.sqrt(width)))
    if mask is not None:
        scores = graph.add("Add", scores, mask)
    return graph.add("MatMul", graph.add("Softmax", scores, axis=-1), v)


def attention(queries, random):
    import numpy as np
    heads, width = 12, 64
    graph = Graph(random)
    inputs = {name: random.standard_normal((1, heads, queries, width)).astype(np.float32) for name in ("q", "k", "v")}
    output = attended(graph, "q", graph.add("Transpose", "k", perm=[0, 1, 3, 2]), "v", width)
    return graph.model("attention", inputs, output, 4), inputs


def transformer(name, layers, width, heads, tokens, words, causal, random):
    """An encoder (normalised after each part) or a decoder (before, with a causal mask)."""
    import numpy as np
    graph, own = Graph(random), width // heads
    inputs = {"tokens": random.integers(0, words, (1, tokens))}
    mask = np.triu(np.full((tokens, tokens), -1e9, np.float32), 1)[None, None] if causal else None
    places = (random.standard_normal((1, tokens, width)) * 0.1).astype(np.float32)

    def normalised(x):
        return graph.add("LayerNormalization", x, graph.vector(width, 1), graph.vector(width), axis=-1)

    def in_heads(x, perm):
        return graph.add("Transpose", graph.add("Reshape", x, np.array([0, 0, heads, own])), perm=perm)

    def self_attention(x):
        q, k, v = (in_heads(graph.linear(x, width, width), perm) for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        both = graph.add("Transpose", attended(graph, q, k, v, own, mask), perm=[0, 2, 1, 3])
        return graph.linear(graph.add("Reshape", both, np.array([0, 0, width])), width, width)

    def gelu(x):
        error = graph.add("Erf", graph.add("Div", x, np.float32(np.sqrt(2))))
        return graph.add("Mul", graph.add("Mul", x, graph.add("Add", error, np.float32(1))), np.float32(0.5))

    def dense(x):
        return graph.linear(gelu(graph.linear(x, width, 4 * width)), 4 * width, width)
    x = graph.add("Add", graph.add("Gather", graph.weights(words, width) * np.float32(np.sqrt(words)), "tokens"), places)
    for _ in range(layers):
        for part in (self_attention, dense):
            x = graph.add("Add", x, part(normalised(x))) if causal else normalised(graph.add("Add", x, part(x)))
    return graph.model(name, inputs, normalised(x), 3), inputs


MODELS = {
    **{name: lambda random, name=name: light(name, random) for name in LIGHT},
    "minilm": lambda random: transformer("minilm", 6, 384, 12, 128, 30522, False, random),
    "gpt2": lambda random: transformer("gpt2", 4, 768, 12, 128, 5000, True, random),
    "attention-512": lambda random: attention(512, random),
    "attention-2048": lambda random: attention(2048, random),
}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(MODELS))
        return
    import numpy as np
    import onnx
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    model, inputs = MODELS[name](np.random.default_rng(7))
    onnx.checker.check_model(model)
    for place, value in enumerate(inputs.values()):
        np.save(folder / f"{name}.{place}.npy", value)
    onnx.save(model, folder / "unfinished.onnx")
    os.replace(folder / "unfinished.onnx", folder / f"{name}.onnx")
    (folder / f"{name}.inputs").write_text("\n".join(inputs) + "\n")


if __name__ == "__main__":
    main()
