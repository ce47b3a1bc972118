#!/usr/bin/env python3
"""Compares random ONNX models with the reference evaluator of the package onnx, which shares no line with Tokamak.

usage: models_by_reference.py [--programs N] [--seed S]     needs the package onnx of PyPI (build/bench-venv/bin/python has it)

The models are those of `tokamak-fuzz --models`. Each becomes a conformance case in build/fuzz/by-reference, whose expected values
the evaluator computes, and is run on both engines as all cases are (tools/tokamak-conformance). What the evaluator can't compute
is counted by its reason.
"""

import argparse
import collections
import pathlib
import shutil
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import onnx_outcomes

BIN = ROOT / "build/release/bin"
FOLDER = ROOT / "build/fuzz/by-reference"
SECONDS = 120
# Types in which the evaluator sums cell by cell, or which NumPy lacks: its values are further off than cases may be.
ROUGH = {onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
UNSIGNED = {onnx.TensorProto.UINT8, onnx.TensorProto.UINT16, onnx.TensorProto.UINT32, onnx.TensorProto.UINT64}


def model_of(seed):
    """The model, and the values of its inputs in their order."""
    done = subprocess.run([BIN / "tokamak-fuzz", "--models", "--show", str(seed)], capture_output=True, check=True)
    model = onnx.ModelProto.FromString(done.stdout)
    names = [info.name for info in model.graph.input]
    values = {tensor.name: tensor for tensor in model.graph.initializer if tensor.name in names}
    kept = [tensor for tensor in model.graph.initializer if tensor.name not in names]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return model, [values[name] for name in names]


def attribute_of(node, name):
    return next((onnx.helper.get_attribute_value(attribute) for attribute in node.attribute if attribute.name == name), None)


def types_are_floats(types):
    return set(types) <= {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.INT64}


def left_out(model, values):
    """Why the evaluator's values are not those of the standard, or not near enough; None if they are."""
    types = [tensor.data_type for tensor in [*values, *model.graph.initializer]]
    types += [info.type.tensor_type.elem_type for info in model.graph.output]
    if not ROUGH.isdisjoint(types):
        return "16-bit floats"
    for node in model.graph.node:
        if node.op_type == "LpNormalization" and attribute_of(node, "p") == 1:
            return "sums of numbers in place of their magnitudes (LpNormalization, p = 1)"
        if node.op_type == "Loop" and not node.input[1]:
            return "a Loop without a condition, which it does not enter"
        if node.op_type == "Resize" and attribute_of(node, "coordinate_transformation_mode") == b"pytorch_half_pixel":
            return "pytorch_half_pixel with one place, which it puts at -0.5"
        if node.op_type in ("LpPool", "GlobalMaxPool", "LRN") or (node.op_type.endswith("Pool") and attribute_of(node, "ceil_mode")):
            return "windows that it does not place or add up as the standard says (LpPool, GlobalMaxPool, LRN, pools with ceil_mode)"
        if node.op_type == "ReduceSumSquare" and not types_are_floats(types):
            return "sums of integers in a wider type than theirs (ReduceSumSquare)"
        if node.op_type == "Cast" and attribute_of(node, "to") in UNSIGNED:
            return "a Cast that may go beyond a type, which the standard leaves open"
    return None


def write(folder, model, values):
    inputs = {tensor.name: numpy_helper.to_array(tensor) for tensor in values}
    expected = ReferenceEvaluator(model).run(None, inputs)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    for number, tensor in enumerate(values):
        (data / f"input_{number}.pb").write_bytes(tensor.SerializeToString())
    for number, (info, value) in enumerate(zip(model.graph.output, expected)):
        tensor = numpy_helper.from_array(np.asarray(value), info.name)
        (data / f"output_{number}.pb").write_bytes(tensor.SerializeToString())
    onnx.save(model, folder / "model.onnx")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--programs", type=int, default=200, help="how many models have to be compared")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    shutil.rmtree(FOLDER, ignore_errors=True)
    warnings.simplefilter("ignore")  # numbers that overflow
    folders, reasons, seed = [], collections.Counter(), options.seed
    while len(folders) < options.programs:
        model, values = model_of(seed)
        folder = FOLDER / str(seed)
        seed += 1
        if reason := left_out(model, values):
            reasons[reason] += 1
            continue
        try:
            write(folder, model, values)
            folders.append(str(folder))
        except Exception as error:  # whatever the evaluator raises, it gives no values
            shutil.rmtree(folder, ignore_errors=True)
            reasons[f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"] += 1
    failed = 0
    for begin in range(0, len(folders), onnx_outcomes.CHUNK):
        chunk = folders[begin:begin + onnx_outcomes.CHUNK]
        for folder, (kind, reason) in onnx_outcomes.outcomes([BIN / "tokamak-conformance"], chunk, SECONDS).items():
            if kind != "passed":
                failed += 1
                print(f"FAILED seed {pathlib.Path(folder).name}: {reason}")
    for reason, count in reasons.most_common():
        print(f"not compared: {count} for {reason}", file=sys.stderr)
    print(f"{len(folders) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
