"""Cases of operators that the cases of libonnx-testdata lack, since they are newer: narrow types, bits, states, moved windows. Values
are those of the package onnx's reference evaluator. make_cases.py writes them with all others.
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

DOMAINS = [helper.make_opsetid("ai.onnx.preview", 1), helper.make_opsetid("ai.onnx.ml", 5)]
FLOAT8 = ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"]
RANDOM = np.random.default_rng(5)


def draw(*sizes):
    return RANDOM.standard_normal(sizes).astype(np.float32)


def info(name, value):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def case(write, name, nodes, inputs, outputs, weights=(), version=27):
    """`outputs` by name: types of ONNX, None for floats."""
    declared = [helper.make_tensor_value_info(key, kind or TensorProto.FLOAT, None) for key, kind in outputs.items()]
    graph = helper.make_graph(nodes, "g", [info(key, value) for key, value in inputs.items()], declared, list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version), *DOMAINS], ir_version=13)
    write(name, model, inputs, ReferenceEvaluator(model).run(None, inputs))


def narrow_floats(write):
    # Around each number: the number, what lies between two, and a little beside that.
    grid = np.array([s * f * 2.0**e for e in range(-20, 20) for f in (1, 1.0625, 1.125, 1.1875, 1.25, 1.375, 1.5, 1.75, 1.875, 1.9375)
                     for s in (1, -1)], np.float32)
    x = np.concatenate([grid, np.nextafter(grid, np.float32(0)), np.nextafter(grid, 2 * grid),
                        np.array([0, np.inf, -np.inf, np.nan, 3e38, 448, 464, 465, 480, 57344, 61440, 61441], np.float32)])
    nodes, outputs = [], {}
    for kind in FLOAT8:
        for saturate in 0, 1:
            name = f"{kind.lower()}_{saturate}"
            nodes += [helper.make_node("Cast", ["x"], [name], to=getattr(TensorProto, kind), saturate=saturate),
                      helper.make_node("Cast", [name], [f"y_{name}"], to=TensorProto.FLOAT)]
            outputs[f"y_{name}"] = None
    nodes.append(helper.make_node("CastLike", ["x", "float8e5m2_0"], ["like"]))
    outputs["like"] = TensorProto.FLOAT8E5M2
    case(write, "narrow_floats_8", nodes, {"x": x}, outputs)
    case(write, "narrow_floats_4", [helper.make_node("Cast", ["x"], ["t"], to=TensorProto.FLOAT4E2M1),
                                    helper.make_node("Cast", ["t"], ["y"], to=TensorProto.FLOAT)], {"x": x[np.isfinite(x)]}, {"y": None})
    nodes = [node for mode in ("up", "down", "nearest") for node in (
        helper.make_node("Cast", ["x"], [mode], to=TensorProto.FLOAT8E8M0, round_mode=mode),
        helper.make_node("Cast", [mode], [f"y_{mode}"], to=TensorProto.FLOAT))]
    powers = np.concatenate([x, np.array([1.7e38, 2**127, 2**-126, 2**-127, 1.3 * 2**-120], np.float32)])
    case(write, "narrow_powers", nodes, {"x": powers}, {f"y_{mode}": None for mode in ("up", "down", "nearest")})


def narrow_integers(write):
    nodes, outputs = [], {}
    for kind in "INT4", "UINT4", "INT2", "UINT2":
        for source in "f", "i":
            narrow, moved = f"{kind.lower()}{source}", f"moved_{kind.lower()}{source}"
            nodes += [helper.make_node("Cast", [source], [narrow], to=getattr(TensorProto, kind)),
                      helper.make_node("Reshape", [narrow, "shape"], [moved]), helper.make_node("CastLike", ["f", moved], [f"like_{moved}"]),
                      helper.make_node("Cast", [moved], [f"y_{moved}"], to=TensorProto.INT8)]
            outputs |= {f"y_{moved}": TensorProto.INT8, f"like_{moved}": getattr(TensorProto, kind)}
    shape = numpy_helper.from_array(np.array([-1, 2]), "shape")
    case(write, "narrow_integers", nodes, {"f": np.arange(-19.75, 20, 0.5, np.float32), "i": np.arange(-20, 20)}, outputs, [shape])


def quantised(write):
    """Weights of four bits by blocks, the last of which is short, and 8-bit floats with a scale for each row."""
    four = helper.make_tensor("w", TensorProto.INT4, [5, 3], RANDOM.integers(-8, 8, 15))
    zeros = helper.make_tensor("z", TensorProto.INT4, [3, 3], RANDOM.integers(-8, 8, 9))
    scales = numpy_helper.from_array(np.abs(draw(3, 3)), "s")
    rows = numpy_helper.from_array(np.array([0.5, 2, 3], np.float32), "rows")
    none = helper.make_tensor("none", TensorProto.FLOAT8E4M3FN, [3], [0.0, 0.0, 0.0])
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=0, block_size=2),
             helper.make_node("MatMul", ["x", "d"], ["y"]),
             helper.make_node("QuantizeLinear", ["y", "rows", "none"], ["q"], axis=0),
             helper.make_node("DequantizeLinear", ["q", "rows"], ["r"], axis=0),
             helper.make_node("QuantizeLinear", ["y", "rows"], ["q4"], axis=0, output_dtype=TensorProto.UINT4),
             helper.make_node("DequantizeLinear", ["q4", "rows"], ["r4"], axis=0)]
    case(write, "quantised_by_blocks", nodes, {"x": 4 * draw(3, 5)}, {"y": None, "q": TensorProto.FLOAT8E4M3FN, "r": None, "r4": None},
         [four, zeros, scales, rows, none])


def bits(write):
    nodes = [helper.make_node("BitCast", ["x"], ["i"], to=TensorProto.INT32), helper.make_node("BitCast", ["i"], ["y"], to=TensorProto.FLOAT),
             helper.make_node("BitCast", ["h"], ["u"], to=TensorProto.UINT16)]
    x = np.array([0, -0.0, 1, np.inf, -np.inf, 1e-40, 3.25], np.float32)
    case(write, "bits", nodes, {"x": x, "h": x.astype(np.float16)},
         {"i": TensorProto.INT32, "y": None, "u": TensorProto.UINT16})


def states(write):
    random = {"q": draw(2, 3, 24), "k": draw(2, 3, 8), "v": draw(2, 3, 10), "p": draw(2, 2, 4, 5), "b": draw(2, 3, 1)}
    for rule in "linear", "gated", "delta", "gated_delta":
        operands = [*"qkvp", "d" if "gated" in rule else "", "b" if "delta" in rule else ""]
        values = random | {"d": -np.abs(draw(2, 3, 8 if rule == "gated" else 2))}
        node = helper.make_node("LinearAttention", operands, ["y", "s"], q_num_heads=6, kv_num_heads=2, update_rule=rule)
        case(write, f"linear_attention_{rule}", [node], {key: values[key] for key in operands if key}, {"y": None, "s": None})
    for length in 1, 5:
        node = helper.make_node("CausalConvWithState", ["x", "w", "b", "p"], ["y", "s"], activation="silu")
        values = {"x": draw(2, 3, length), "w": draw(3, 1, 4), "b": draw(3), "p": draw(2, 3, 3)}
        case(write, f"causal_convolution_{length}", [node], values, {"y": None, "s": None})


def attention(write):
    half = numpy_helper.from_array(np.array(0.5, np.float32), "half")
    changes = {name: helper.make_graph([helper.make_node(operator, ["a", "half"], ["c"])], name,
                                       [helper.make_tensor_value_info("a", TensorProto.FLOAT, [None] * 4)],
                                       [helper.make_tensor_value_info("c", TensorProto.FLOAT, [None] * 4)], [half])
               for name, operator in (("score_mod", "Pow"), ("prob_mod", "Sub"))}
    node = helper.make_node("FlexAttention", ["q", "k", "v"], ["y"], domain="ai.onnx.preview", scale=0.3, **changes)
    case(write, "flex_attention", [node], {"q": np.abs(draw(2, 4, 3, 5)), "k": np.abs(draw(2, 2, 4, 5)), "v": draw(2, 2, 4, 6)}, {"y": None})


def newer_attributes(write):
    """What operators do since later versions: windows of keys, offsets of external caches, rows without keys, other orders, shifts."""
    values = {"q": draw(2, 2, 4, 5), "k": draw(2, 2, 6, 5), "v": draw(2, 2, 6, 3), "m": RANDOM.random((4, 6)) < 0.5}
    values["m"][1] = False
    for name, attributes in ("window", {"left_window_size": 1, "right_window_size": 1}), ("left", {"left_window_size": 0, "is_causal": 1}):
        node = helper.make_node("Attention", [*"qkvm"], ["y"], **attributes)
        case(write, f"attention_{name}", [node], values, {"y": None})
    lengths = {"q": values["q"], "k": values["k"], "v": values["v"], "n": np.array([6, 3])}
    case(write, "attention_lengths", [helper.make_node("Attention", ["q", "k", "v", "", "", "", "n"], ["y"], is_causal=1)], lengths, {"y": None})
    nodes = [helper.make_node("Mod", ["x", "y"], ["r"], fmod=0), helper.make_node("BitShift", ["a", "b"], ["left"], direction="LEFT"),
             helper.make_node("BitShift", ["a", "b"], ["right"], direction="RIGHT")]
    inf = np.inf
    case(write, "ends_of_ranges", nodes, {"x": np.array([-3, 3, 1, inf, 1], np.float32), "y": np.array([inf, inf, -inf, 2, 0.75], np.float32),
                                          "a": np.array([-8, 5, -1, 7], np.int32), "b": np.array([-1, 33, 64, 2], np.int32)},
         {"r": None, "left": TensorProto.INT32, "right": TensorProto.INT32}, version=28)
    nodes = [helper.make_node("SpaceToDepth", ["x"], ["d"], blocksize=2, mode="CRD"), helper.make_node("SwiGLU", ["d", "d"], ["y"], alpha=0.5)]
    case(write, "space_to_depth", nodes, {"x": draw(1, 2, 4, 6)}, {"d": None, "y": None}, version=28)


def images(write):
    node = helper.make_node("DeformConv", ["x", "w", "o", "b", "m"], ["y"], group=2, offset_group=2, strides=[2, 1], dilations=[1, 2],
                            pads=[1, 0, 1, 2])
    values = {"x": draw(2, 4, 6, 7), "w": draw(6, 2, 2, 3), "o": 2 * draw(2, 24, 4, 5), "b": draw(6), "m": draw(2, 12, 4, 5)}
    case(write, "deformed_convolution", [node], values, {"y": None})
    for mode in "linear", "cubic":
        for outside in 0, 1:
            node = helper.make_node("Resize", ["x", "", "", "n"], ["y"], mode=mode, antialias=1, exclude_outside=outside, axes=[1, 0])
            case(write, f"resize_antialias_{mode}_{outside}", [node], {"x": draw(11, 8)}, {"y": None},
                 [numpy_helper.from_array(np.array([3, 7]), "n")])
    for policy in "not_larger", "not_smaller":
        node = helper.make_node("Resize", ["x", "", "", "n"], ["y"], mode="linear", keep_aspect_ratio_policy=policy, axes=[0, 1])
        case(write, f"resize_{policy}", [node], {"x": draw(4, 6)}, {"y": None}, [numpy_helper.from_array(np.array([7, 8]), "n")])


def wide_images(write):
    """Rows longer than those whose length is part of a plan, of several images and of one."""
    for images in 1, 2:
        node = helper.make_node("Conv", ["x", "w", "b"], ["y"], group=4, strides=[1, 2], pads=[1, 1, 1, 1])
        case(write, f"wide_convolution_{images}", [node], {"x": draw(images, 4, 3, 150), "w": draw(4, 1, 3, 3), "b": draw(4)}, {"y": None})


def small(write):
    nodes = [helper.make_node("DFT", ["x", "n"], ["y"], inverse=1, onesided=1)]
    for length in 6, 7:
        case(write, f"dft_back_{length}", nodes, {"x": draw(2, 4, 2)}, {"y": None}, [numpy_helper.from_array(np.array(length), "n")])
    nodes = [helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["t"], domain="ai.onnx.ml"),
             helper.make_node("Binarizer", ["t"], ["y"], domain="ai.onnx.ml", threshold=0.25)]
    case(write, "features", nodes, {"x": draw(3, 4), "i": np.array([[2, 0, 2]])}, {"y": None})


def trees(write):
    """Two trees: one asks for members, and where the feature is no number goes to the true branch; three targets."""
    def tensor(name, kind, values):
        return helper.make_tensor(name, kind, [len(values)], values)
    node = helper.make_node(
        "TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", n_targets=3, aggregate_function=1, post_transform=0, tree_roots=[0, 3],
        nodes_featureids=[0, 1, 2, 1, 0], nodes_modes=tensor("modes", TensorProto.UINT8, [0, 6, 3, 1, 2]),
        nodes_splits=tensor("splits", TensorProto.FLOAT, [0.1, 0, -0.3, 0.5, 0]), nodes_truenodeids=[1, 0, 2, 4, 5], nodes_trueleafs=[0, 1, 1, 0, 1],
        nodes_falsenodeids=[2, 1, 3, 4, 6], nodes_falseleafs=[0, 1, 1, 1, 1], nodes_missing_value_tracks_true=[1, 0, 0, 0, 1],
        membership_values=tensor("members", TensorProto.FLOAT, [1.0, 2.0, float("nan")]), leaf_targetids=[0, 1, 2, 0, 1, 2, 0],
        leaf_weights=tensor("weights", TensorProto.FLOAT, [1.0, 20.0, 3.5, -4.0, 0.5, 6.0, 7.0]))
    x = np.concatenate([draw(12, 3), np.array([[-1, 1, 0], [-1, 2, 1], [np.nan, 2, 0]], np.float32)])
    case(write, "trees", [node], {"x": x}, {"y": None})


def computed(write):
    """Numbers that the model computes: axes by Range, amounts to pad by the way in which torch's older exporter writes them."""
    weights = [numpy_helper.from_array(np.array(value), key) for key, value in {
        "zero": 0, "one": 1, "pads": [1, 2], "two": [2], "shape": [-1, 2], "flat": [-1], "last": [-1], "least": [-(2**62)], "first": [0],
        "step": [-1]}.items()]
    nodes = [helper.make_node("Shape", ["x"], ["sizes"]), helper.make_node("Size", ["sizes"], ["rank"]),
             helper.make_node("Range", ["one", "rank", "one"], ["axes"]), helper.make_node("ReduceSum", ["x", "axes"], ["s"]),
             helper.make_node("ConstantOfShape", ["two"], ["none"], value=numpy_helper.from_array(np.array([0]))),
             helper.make_node("Concat", ["pads", "none"], ["all"], axis=0), helper.make_node("Reshape", ["all", "shape"], ["pairs"]),
             helper.make_node("Slice", ["pairs", "last", "least", "first", "step"], ["turned"]),
             helper.make_node("Transpose", ["turned"], ["columns"], perm=[1, 0]), helper.make_node("Reshape", ["columns", "flat"], ["amounts"]),
             helper.make_node("Pad", ["x", "amounts"], ["y"], mode="reflect")]
    case(write, "numbers_computed", nodes, {"x": draw(3, 4)}, {"s": None, "y": None}, weights)


def places(write):
    """Equal cells on top, along a dimension that is not the last; parts from the end back to the very first."""
    tensor = numpy_helper.from_array
    x = np.array([1, 3, 3, 2, 3, 1, 0, 0, 2, 5, 5, 5] * 2, np.float32).reshape(4, 2, 3)
    nodes = [helper.make_node("TopK", ["x", "k"], [f"y{largest}", f"i{largest}"], axis=0, largest=largest) for largest in (0, 1)]
    case(write, "equal_on_top", nodes, {"x": x}, {"y0": None, "i0": TensorProto.INT64, "y1": None, "i1": TensorProto.INT64},
         [tensor(np.array([3]), "k")])
    numbers = {"starts": [-1, 2], "ends": [-(2**62), -9], "axes": [0, 2], "steps": [-1, -2]}
    case(write, "slice_backwards", [helper.make_node("Slice", ["x", *numbers], ["y"])], {"x": x}, {"y": None},
         [tensor(np.array(value), key) for key, value in numbers.items()])
    # Few integers are known one by one; their type stays.
    nodes, outputs, weights = [], {}, [tensor(np.array([2]), "at"), tensor(np.array([0]), "zero"),
                                       tensor(np.array([3]), "three"), tensor(np.array([1]), "one")]
    for kind in "uint16", "int32", "bool", "int8":
        weights += [tensor(np.array([1, 0, 3], kind), kind), tensor(np.array([2], kind), f"{kind}1"), tensor(np.array(2, kind), f"{kind}0")]
        made = {"gathered": ("Gather", kind, "at"), "cut": ("Slice", kind, "zero", "three"), "squeezed": ("Squeeze", f"{kind}1", "zero"),
                "unsqueezed": ("Unsqueeze", f"{kind}0", "zero"), "shown": ("Reshape", f"{kind}0", "one")}
        for name, (operator, *operands) in made.items():
            nodes.append(helper.make_node(operator, operands, [f"{kind}_{name}"]))
            outputs[f"{kind}_{name}"] = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    case(write, "types_of_known_cells", nodes, {"x": x}, outputs, weights)


def tiles(write):
    """Transposed convolutions whose windows lie side by side, and one whose windows nearly do."""
    nodes = [helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], strides=[2, 3]),
             helper.make_node("ConvTranspose", ["x", "w"], ["padded"], strides=[2, 3], pads=[0, 1, 0, 0]),
             helper.make_node("Reshape", ["x", "flat"], ["line"]),
             helper.make_node("ConvTranspose", ["line", "v"], ["z"], strides=[4])]
    weights = {"w": draw(3, 2, 2, 3), "b": draw(2), "v": draw(3, 5, 4), "flat": np.array([2, 3, 20])}
    case(write, "spread_tiles", nodes, {"x": draw(2, 3, 4, 5)}, {"y": None, "padded": None, "z": None},
         [numpy_helper.from_array(value, key) for key, value in weights.items()])


def wrapped(write):
    for kind in [np.int32, np.uint32]:
        most = np.iinfo(kind).max
        x = np.array([[most, 5], [7, most - 1], [3, 9]], dtype=kind)
        nodes = [helper.make_node("CumSum", ["x", "axis"], ["y"])]
        axis = numpy_helper.from_array(np.array(0, dtype=np.int64), "axis")
        name = np.dtype(kind).name
        case(write, f"sums_that_wrap_{name}", nodes, {"x": x}, {"y": helper.np_dtype_to_tensor_dtype(x.dtype)}, [axis], 14)


def scaled(write):
    """Convolutions that are multiplied by weights: for each filter, once with a bias between; for each column, of which there are as many
    as filters; one that is read elsewhere, too; in groups; and in one dimension."""
    def normalised(x, y, prefix):
        return helper.make_node("BatchNormalization", [x, *(f"{prefix}{part}" for part in ("gamma", "beta", "mean", "spread"))], [y])

    nodes = [helper.make_node("Conv", ["x", "w", "bias"], ["c"], pads=[1, 1, 1, 1]), normalised("c", "y", "a"),
             helper.make_node("Conv", ["x", "w"], ["d"], pads=[0, 1, 0, 1]), helper.make_node("Mul", ["d", "columns"], ["z"]),
             helper.make_node("Conv", ["y", "w8"], ["e"], group=8), helper.make_node("Mul", ["filters", "e"], ["f"]),
             helper.make_node("Sub", ["f", "e"], ["u"]),
             helper.make_node("Conv", ["y", "w8"], ["g"], group=8, strides=[2, 2]), normalised("g", "v", "b"),
             helper.make_node("Conv", ["line", "w1"], ["h"]), normalised("h", "n", "a")]
    weights = {"w": draw(8, 3, 3, 3), "bias": draw(8), "columns": draw(8), "w8": draw(8, 1, 3, 3), "filters": draw(8, 1, 1), "w1": draw(8, 3, 4)}
    for prefix in "ab":
        weights |= {prefix + part: draw(8) for part in ("gamma", "beta", "mean")} | {prefix + "spread": abs(draw(8)) + 0.5}
    case(write, "scaled_convolutions", nodes, {"x": draw(2, 3, 8, 8), "line": draw(1, 3, 9)}, {"y": None, "z": None, "u": None, "v": None, "n": None},
         [numpy_helper.from_array(value, key) for key, value in weights.items()])


def write_all(write):
    for part in (narrow_floats, narrow_integers, quantised, bits, states, attention, newer_attributes, images, small, trees, computed, places,
                 tiles, scaled, wide_images, wrapped):
        part(write)
