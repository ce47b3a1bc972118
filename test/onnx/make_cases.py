"""Writes test/onnx/cases: models whose control flow and recurrent layers the cases of libonnx-testdata don't reach, with values that
ONNX Runtime computed, and those of operator_cases.py. run_onnx.py runs them as it runs those.

usage: python3 test/onnx/make_cases.py     needs the packages onnx (1.22) and onnxruntime (1.32) of PyPI
"""

import pathlib
import shutil

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, parser

import case_files
import operator_cases

FOLDER = pathlib.Path(__file__).resolve().parent / "cases"


def write(name, model, inputs, expected=None):
    case_files.write(FOLDER / name, model, inputs, expected)


def write_text(name, graph, inputs, functions=""):
    text = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n' + graph + functions
    write(name, parser.parse_model(text), inputs)


X = np.random.default_rng(1).standard_normal((3, 4)).astype(np.float32)

# Nested three deep; attributes are handed on; names mean something else in each.
FUNCTIONS = """
<domain: "local", opset_import: ["" : 17, "local" : 1]>
Inner <beta, alpha: float = 0.5> (a, b) => (r, q) {
  t = LeakyRelu <alpha: float = @alpha> (a)
  u = Elu <alpha: float = @beta> (b)
  r = Add (t, u)
  q = Mul (r, a)
}
<domain: "local", opset_import: ["" : 17, "local" : 1]>
Middle <gamma> (a, b) => (r, q) {
  z, q = local.Inner <alpha: float = @gamma, beta: float = 2.0> (a, b)
  r = Neg (z)
}
<domain: "local", opset_import: ["" : 13, "local" : 1]>
Outer (a) => (r, s) {
  b = Relu (a)
  r, s = local.Middle <gamma: float = 0.25> (a, b)
}
"""


def functions():
    write_text("functions", """agraph (float[N,M] x) => (float[N,M] y, float[N,M] z, float[N,M] w, float[N,M] v) {
      y, z = local.Outer (x)
      w, v = local.Inner <beta = 3.0> (x, y)
    }""", {"x": X}, FUNCTIONS)
    write_text("function_in_loop", """agraph (float[N,M] x, int64 n) => (float[N,M] y, float[K,N,M] ys) {
      t = Constant <value = bool {1}> ()
      y, ys = Loop (n, t, x) <body = b (int64 i, bool c, float[N,M] v) => (bool c2, float[N,M] v2, float[N,M] o) {
        c2 = Identity (c)
        v2, o = local.Outer (v)
      }>
    }""", {"x": X, "n": 3}, FUNCTIONS)


def branches():
    choice = """agraph (float[N,M] x) => (float[K] y, int64[R] s) {
      t = Constant <value = float {0.0}> ()
      m = ReduceSum <keepdims = 0> (x)
      c = Greater (m, t)
      y, s = If (c) <
        then_branch = g () => (a, sa) { sa = Constant <value_ints = [5]> ()  r = Reshape (x, sa)  a = Relu (r) },
        else_branch = h () => (b, sb) { e = Constant <value_ints = [-1]> ()  d = Concat <axis = 0> (x, x)  b = Reshape (d, e)  sb = Shape (b) }>
    }"""
    # The other branch would fail: no twelve cells are five.
    write_text("if_other_branch_fails", choice, {"x": -np.abs(X)})
    sizes = """agraph (float[N,M] x) => (float[K,L] y) {
      t = Constant <value = float {0.0}> ()
      m = ReduceSum <keepdims = 0> (x)
      c = Greater (m, t)
      s = If (c) <
        then_branch = g () => (a) { xt = Transpose (x)  a = Shape (xt) },
        else_branch = h () => (b) { b = Shape (x) }>
      y = Reshape (x, s)
    }"""
    write_text("if_gives_sizes", sizes, {"x": np.abs(X)})


def loops():
    counted = """agraph (float[N,M] x, int64 n) => (float[N,M] y, float[K,N,M] ys, int64[K] is, bool[K,N,M] bs) {
      y, ys, is, bs = Loop (n, , x) <body = b (int64 i, bool c, float[3,4] v) => (bool c2, float[3,4] v2, float[3,4] o, int64 i2, bool[3,4] b2) {
        c2 = Constant <value = bool {1}> ()
        h = Constant <value = float {0.5}> ()
        v2 = Mul (v, h)
        f = Cast <to = 1> (i)
        o = Add (v2, f)
        i2 = Mul (i, i)
        b2 = Greater (o, x)
      }>
    }"""
    for count in 0, 5:
        write_text(f"loop_counted_{count}", counted, {"x": X, "n": count})
    write_text("loop_without_cells", counted, {"x": np.zeros((0, 4), np.float32), "n": 3})
    # A condition ends it, long after the room for the first iterations is used up.
    collatz = """agraph (int64 n) => (int64 y, int64[K] ys) {
      t = Constant <value = bool {1}> ()
      y, ys = Loop (, t, n) <body = b (int64 i, bool c, int64 v) => (bool c2, int64 v2, int64 o) {
        one = Constant <value = int64 {1}> ()
        two = Constant <value = int64 {2}> ()
        three = Constant <value = int64 {3}> ()
        r = Mod (v, two)
        odd = Equal (r, one)
        v2 = If (odd) <then_branch = g () => (a) { p = Mul (v, three)  a = Add (p, one) }, else_branch = h () => (e) { e = Div (v, two) }>
        o = Identity (v)
        c2 = Greater (v2, one)
      }>
    }"""
    write_text("loop_until", collatz, {"n": 27})
    grows = """agraph (float[N,M] x, int64 n) => (float[A,M] y, float[K] ys) {
      y, ys = Loop (n, , x) <body = b (int64 i, bool c, float[A,M] v) => (bool c2, float[B,M] v2, float o) {
        c2 = Identity (c)
        r = Relu (x)
        f = Cast <to = 1> (i)
        q = Add (r, f)
        v2 = Concat <axis = 0> (v, q)
        o = ReduceSum <keepdims = 0> (v2)
      }>
    }"""
    write_text("loop_grows", grows, {"x": X, "n": 6})
    nested = """agraph (float[N,M] x, int64 n) => (float[N,M] y, float[K,J] ys) {
      t = Constant <value = bool {1}> ()
      y, ys = Loop (n, t, x) <body = b (int64 i, bool c, float[N,M] v) => (bool c2, float[N,M] v2, float[4] o) {
        c2 = Identity (c)
        four = Constant <value = int64 {4}> ()
        v2, o = Loop (four, c, v) <body = bb (int64 j, bool d, float[N,M] w) => (bool d2, float[N,M] w2, float p) {
          k = Add (i, j)
          f = Cast <to = 1> (k)
          q = Mul (w, f)
          s = Sigmoid (q)
          w2 = Add (s, x)
          p = ReduceMax <keepdims = 0> (w2)
          d2 = Identity (d)
        }>
      }>
    }"""
    write_text("loop_nested", nested, {"x": X, "n": 5})
    rows = """agraph (float[N,M] x) => (float[N,M] y, float[K,J] ys) {
      n = Constant <value = int64 {9223372036854775807}> ()
      t = Constant <value = bool {1}> ()
      y, ys = Loop (n, t, x) <body = b (int64 i, bool c, float[N,M] v) => (bool c2, float[N,M] v2, float[4] o) {
        axis = Constant <value_ints = [0]> ()
        one = Constant <value_ints = [1]> ()
        two = Constant <value = int64 {2}> ()
        begin = Reshape (i, one)
        end = Add (begin, one)
        row = Slice (v, begin, end, axis)
        o = Squeeze (row, axis)
        v2 = Sub (v, row)
        c2 = Less (i, two)
      }>
    }"""
    write_text("loop_takes_rows", rows, {"x": X})


def info(name, shape=None, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs, outputs, version):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=6 if version > 8 else 3)


def scans():
    random = np.random.default_rng(2)
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "u"], ["s1"]), helper.make_node("ReduceSum", ["v"], ["r"], keepdims=0),
         helper.make_node("Mul", ["t", "r"], ["t1"]), helper.make_node("Mul", ["s1", "r"], ["o"]),
         helper.make_node("Identity", ["t1"], ["p"])], "b",
        [info("s", [2, 3]), info("t", [1]), info("u", [2, 3]), info("v", [2])],
        [info("s1", [2, 3]), info("t1", [1]), info("o", [2, 3]), info("p", [1])])
    values = {"s0": np.ones((2, 3), np.float32), "t0": np.ones(1, np.float32),
              "a": random.standard_normal((2, 5, 3)).astype(np.float32), "b": random.standard_normal((5, 2)).astype(np.float32)}
    for version, directions, backwards in (9, [0, 0], [0, 0]), (11, [1, 0], [0, 1]):
        node = helper.make_node("Scan", ["s0", "t0", "a", "b"], ["s", "t", "o", "p"], body=body, num_scan_inputs=2,
                                scan_input_axes=[1, 0 if version < 11 else -2], scan_input_directions=directions,
                                scan_output_directions=backwards, scan_output_axes=[2 if version < 11 else -1, 1])
        write(f"scan_{version}", model_of([node], [info(key, value.shape) for key, value in values.items()],
                                          [info("s", [2, 3]), info("t", [1]), info("o", [2, 3, 5]), info("p", [1, 5])], version), values)
    # With a batch in front, whose cases are of different lengths.
    body = helper.make_graph([helper.make_node("Add", ["s", "u"], ["s1"]), helper.make_node("Mul", ["s1", "u"], ["o"])], "b",
                             [info("s", [3]), info("u", [3])], [info("s1", [3]), info("o", [3])])
    for direction in 0, 1:
        node = helper.make_node("Scan", ["l", "s0", "a"], ["s", "o"], body=body, num_scan_inputs=1, directions=[direction])
        inputs = [info("l", [2], TensorProto.INT64), info("s0", [2, 3]), info("a", [2, 4, 3])]
        write(f"scan_8_{direction}", model_of([node], inputs, [info("s", [2, 3]), info("o", [2, 4, 3])], 8),
              {"l": np.array([2, 4]), "s0": values["s0"], "a": random.standard_normal((2, 4, 3)).astype(np.float32)})


ACTIVATIONS = {"Tanh": "", "Sigmoid": "", "Relu": "", "Softsign": "", "Softplus": "", "Affine": "ab", "LeakyRelu": "a",
               "ThresholdedRelu": "a", "ScaledTanh": "ab", "HardSigmoid": "ab", "Elu": "a"}


def layer(operator, random):
    """A layer with attributes and operands as they come: (node of time first, its values)."""
    gates, functions_ = {"RNN": (1, 1), "GRU": (3, 2), "LSTM": (4, 3)}[operator]
    direction = str(random.choice(["forward", "reverse", "bidirectional"]))
    directions = 2 if direction == "bidirectional" else 1
    steps, batch, inputs, hidden = (int(random.integers(1, 6)) for _ in range(4))

    def draw(*sizes):
        return (random.standard_normal(sizes) * 0.7).astype(np.float32)
    operands = [("X", draw(steps, batch, inputs)), ("W", draw(directions, gates * hidden, inputs)),
                ("R", draw(directions, gates * hidden, hidden)), ("B", draw(directions, 2 * gates * hidden)),
                ("L", random.integers(1, steps + 1, batch).astype(np.int32)), ("H", draw(directions, batch, hidden))]
    if operator == "LSTM":
        operands += [("C", draw(directions, batch, hidden)), ("P", draw(directions, 3 * hidden))]
    values = {key: value for number, (key, value) in enumerate(operands) if number < 3 or random.random() < 0.5}
    attributes = {"hidden_size": hidden, "direction": direction}
    if random.random() < 0.6:
        names = [str(random.choice(list(ACTIVATIONS))) for _ in range(functions_ * directions)]
        attributes["activations"] = names
        for key, letter in ("activation_alpha", "a"), ("activation_beta", "b"):
            if count := sum(letter in ACTIVATIONS[name] for name in names):
                attributes[key] = [float(number) for number in random.uniform(0.2, 1.2, count)]
    if random.random() < 0.3:
        attributes["clip"] = 0.4
    if operator == "GRU" and random.random() < 0.5:
        attributes["linear_before_reset"] = 1
    if operator == "LSTM" and random.random() < 0.2:
        attributes["input_forget"] = 1
    outputs = ["Y", "YH"] + (["YC"] if operator == "LSTM" else [])
    return helper.make_node(operator, [key if key in values else "" for key, _ in operands], outputs, **attributes), values


def recurrent():
    for operator in "RNN", "GRU", "LSTM":
        for seed in range(6):
            node, values = layer(operator, np.random.default_rng(seed))
            types = {key: TensorProto.INT32 if key == "L" else TensorProto.FLOAT for key in values}

            def model():
                return model_of([node], [info(key, value.shape, types[key]) for key, value in values.items()],
                                [info(key) for key in node.output], 14)
            session = onnxruntime.InferenceSession(model().SerializeToString(), providers=["CPUExecutionProvider"])
            expected = session.run(None, values)
            # ONNX Runtime has the time first only: with the batch first, values are the same in another order.
            if seed % 2:
                node.attribute.append(helper.make_attribute("layout", 1))
                values |= {key: values[key].swapaxes(0, 1) for key in ("X", "H", "C") if key in values}
                expected = [expected[0].transpose(2, 0, 1, 3), *(state.swapaxes(0, 1) for state in expected[1:])]
            write(f"{operator.lower()}_{seed}", model(), values, expected)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    functions()
    branches()
    loops()
    scans()
    recurrent()
    operator_cases.write_all(write)
