"""Conformance cases in another program that reads ONNX: prints `passed FOLDER`, `unsupported FOLDER: REASON` where it refuses the
model or its values, and `failed FOLDER: REASON` where its results are wrong.

usage: peer.py onnxruntime|openvino|reference FOLDER...

Results are compared as tokamak-conformance compares them.
"""

import glob
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def onnxruntime_model(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)


def openvino_model(path):
    import openvino
    model = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return lambda inputs: [model(list(inputs.values()))[output] for output in model.outputs]


def reference_model(path):
    from onnx.reference import ReferenceEvaluator
    evaluator = ReferenceEvaluator(path)
    return lambda inputs: evaluator.run(None, inputs)


MODELS = {"onnxruntime": onnxruntime_model, "openvino": openvino_model, "reference": reference_model}


def values(pattern, infos):
    found = []
    for number, info in enumerate(infos):
        with open(pattern.format(number), "rb") as file:
            data = file.read()
        kind = info.type.WhichOneof("value")
        message = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(kind, onnx.TensorProto)()
        message.ParseFromString(data)
        convert = {"sequence_type": numpy_helper.to_list, "optional_type": numpy_helper.to_optional}.get(kind, numpy_helper.to_array)
        value = convert(message)
        # Files of old suites hold cells of bf16 as integers with their bits.
        if kind == "tensor_type" and info.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16 and value.dtype == np.uint16:
            value = value.view(onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.BFLOAT16))
        found.append(value)
    return found


def check(expected, actual):
    if expected is None or actual is None:
        assert expected is actual, f"{actual} instead of {expected}"
    elif isinstance(expected, list):
        assert isinstance(actual, (list, tuple)) and len(expected) == len(actual), "sequences have other lengths"
        for left, right in zip(expected, actual):
            check(left, right)
    else:
        expected, actual = np.asarray(expected), np.asarray(actual)
        assert expected.shape == actual.shape, f"{list(actual.shape)} cells instead of {list(expected.shape)}"
        assert expected.dtype == actual.dtype, f"cells of {actual.dtype} instead of {expected.dtype}"
        if expected.dtype.kind in "OUS":
            assert (expected == actual).all(), "other texts"
        elif expected.dtype.kind == "c":
            np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-7)
        else:
            relative = 2**-6 if expected.dtype.name == "bfloat16" else 1e-3
            np.testing.assert_allclose(actual.astype(np.float64), expected.astype(np.float64), rtol=relative, atol=1e-7)


def outcome(peer, folder):
    try:
        path = f"{folder}/model.onnx"
        graph = onnx.load(path).graph
        initialized = {tensor.name for tensor in graph.initializer}
        given = [info for info in graph.input if info.name not in initialized]
        cases = [(values(f"{values_folder}/input_{{}}.pb", given), values(f"{values_folder}/output_{{}}.pb", graph.output))
                 for values_folder in sorted(glob.glob(f"{folder}/test_data_set_*"))]
        model = MODELS[peer](path)
        results = [model(dict(zip((info.name for info in given), inputs))) for inputs, _ in cases]
    except Exception as error:
        return "unsupported", f"{type(error).__name__}: {error}"
    try:
        for (_, expected), actual in zip(cases, results):
            check(expected, list(actual))
    except Exception as error:
        return "failed", str(error)
    return "passed", ""


def main():
    peer, *folders = sys.argv[1:]
    for folder in folders:
        kind, reason = outcome(peer, folder)
        line = f"{kind} {folder}" + (": " + " ".join(reason.split())[:300] if reason else "")
        print(line, flush=True)


if __name__ == "__main__":
    main()
