"""The light models of the package onnx: convolutional networks whose weights are one number each, here drawn from a seed."""

import pathlib

import numpy as np
import onnx

from .graph import image


def light(name, random):
    """Weights that nodes make (ConstantOfShape) become initializers. Scores are an output, too: of drawn weights they are so far apart
    that their softmax is hardly more than the place of the largest."""
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
    given = next(i for i in graph.input if i.name not in {tensor.name for tensor in initializers})
    inputs = [i for i in graph.input if i.name == given.name]
    del graph.input[:]
    graph.input.extend(inputs)
    if graph.node[-1].op_type == "Softmax":
        graph.output.add().CopyFrom(graph.output[0])  # of the same sizes
        graph.output[1].name = graph.node[-1].input[0]
    model.ir_version = max(model.ir_version, 4)  # before, weights had to be inputs, too
    onnx.checker.check_model(model)
    return model.SerializeToString(), {given.name: image(random, 224)}
