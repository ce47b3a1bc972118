"""Writes the models that the scripts of test/scripts/onnx call, beside this file.

usage: python3 make_models.py     needs the package onnx of PyPI
"""

import pathlib

import numpy as np
import onnx
from onnx import numpy_helper, parser

FOLDER = pathlib.Path(__file__).resolve().parent
HEAD = '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>\n'

MODELS = {
    # Inputs of rank 2 and 0; results of rank 2, 0 (an integer) and 1.
    "scale": """agraph (float[N,3] x, float factor) => (float[N,3] y, int64 count, float[N] sums) {
      y = Mul (x, factor)
      count = Size (y)
      axes = Constant <value = int64[1] {1}> ()
      sums = ReduceSum <keepdims = 0> (y, axes)
    }""",
    # Eight filters, of which number k, from 1, has k in each of its 9 cells; then the mean of each image.
    "filters": """agraph (float[N,1,4,4] image) => (float[N,8,4,4] filtered, float[N,8,1,1] means) {
      c = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (image, filters)
      filtered = Relu (c)
      means = GlobalAveragePool (filtered)
    }""",
    # Of a vector of any length the cells at these places; integers go in, and booleans come out.
    "places": """agraph (float[N] x, int64[K] places) => (float[K] found, bool[K] positive) {
      found = Gather (x, places)
      zero = Constant <value = float {0.0}> ()
      positive = Greater (found, zero)
    }""",
    # The last size is a third of the columns.
    "sequence": """agraph (double[1,3,T] x) => (double[1,T] sums) {
      axes = Constant <value = int64[1] {1}> ()
      sums = ReduceSum <keepdims = 0> (x, axes)
    }""",
    "sizes": "agraph (float[N,3,H,W] x) => (float[N,3,H,W] y) { y = Relu (x) }",
    "unsupported": """agraph (float[N] x) => (float[N] y) {
      a = acme.First (x)
      b = Abs (a)
      c = acme.Second (x)
      y = Add (b, c)
    }""",
}


def write(name, text):
    model = parser.parse_model(HEAD + text)
    if name == "filters":
        filters = np.repeat(np.arange(1, 9, dtype=np.float32), 9).reshape(8, 1, 3, 3)
        model.graph.initializer.append(numpy_helper.from_array(filters, "filters"))
    for number, node in enumerate(model.graph.node):
        node.name = f"{node.op_type.lower()}{number}"
    onnx.save(model, FOLDER / f"{name}.onnx")


for name, text in MODELS.items():
    write(name, text)
