"""What recipes of models are written with: nodes and weights, added one after the other."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}


class Graph:
    """
    graph = Graph(numpy.random.default_rng(7))
    y = graph.add("Relu", graph.linear("x", 64, 10))
    file = graph.model("classes", {"x": numpy.zeros((1, 64), numpy.float32)}, {y: 2})
    """

    def __init__(self, random):
        self.random, self.nodes, self.initializers, self.number = random, [], [], 0

    def add(self, op, *operands, results=1, **attributes):
        """The name of its result, or of its results. An operand is a name ("" if left out) or an array, which becomes a weight."""
        self.number += 1
        outputs = [f"{op.lower()}_{self.number}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(op, [o if isinstance(o, str) else self.constant(o) for o in operands], outputs,
                                           **attributes))
        return outputs[0] if results == 1 else outputs

    def constant(self, array):
        self.number += 1
        name = f"weight_{self.number}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape):
        """Of a product: the first size is how many cells a sum has; the result varies as what goes in does."""
        return (self.random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    def vector(self, size, about=0.0):
        return (about + self.random.uniform(-0.1, 0.1, size)).astype(np.float32)

    def linear(self, x, width, to):
        return self.add("Add", self.add("MatMul", x, self.weights(width, to)), self.vector(to))

    def dense(self, x, width, to):
        """As `linear`, of two dimensions, in one node, whose weights stand as PyTorch stores them."""
        return self.add("Gemm", x, np.ascontiguousarray(self.weights(width, to).T), self.vector(to), transB=1)

    def convolved(self, x, channels, to, size, stride=1, groups=1, bias=True):
        """Padded so that only the stride changes the size of images."""
        taps = channels // groups * size * size
        weights = (self.random.standard_normal((to, channels // groups, size, size)) * np.sqrt(2 / taps)).astype(np.float32)
        operands = [x, weights] + ([self.vector(to)] if bias else [])
        return self.add("Conv", *operands, kernel_shape=[size, size], strides=[stride, stride], pads=[size // 2] * 4, group=groups)

    def normalised(self, x, channels):
        """By the moments of training (batch normalisation)."""
        variance = self.random.uniform(0.8, 1.2, channels).astype(np.float32)
        return self.add("BatchNormalization", x, self.vector(channels, 1), self.vector(channels), self.vector(channels), variance)

    def model(self, name, inputs, outputs, version=17, open_sizes=None):
        """The bytes of its file. `inputs`: {name: array of the sizes it takes}; `outputs`: {name: rank}; `open_sizes`: {name of an
        input: {dimension: what its size is called}}."""
        opened = open_sizes or {}
        given = [helper.make_tensor_value_info(key, TYPES[str(value.dtype)], [opened.get(key, {}).get(i, size) for i, size in
                                                                              enumerate(value.shape)])
                 for key, value in inputs.items()]
        results = [helper.make_tensor_value_info(key, TensorProto.FLOAT, [None] * rank) for key, rank in outputs.items()]
        graph = helper.make_graph(self.nodes, name, given, results, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)
        onnx.checker.check_model(model)
        return model.SerializeToString()


def image(random, size):
    return random.uniform(-1, 1, (1, 3, size, size)).astype(np.float32)
