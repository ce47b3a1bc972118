"""Writes the conformance cases of single operators that this release of the package onnx generates, as its older releases stored them.

usage: generate.py FOLDER
"""

import pathlib
import sys

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

CONVERSIONS = {"sequence_type": numpy_helper.from_list, "optional_type": numpy_helper.from_optional}


def message(value, info):
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    return CONVERSIONS.get(info.type.WhichOneof("value"), numpy_helper.from_array)(value, info.name)


def main():
    folder = pathlib.Path(sys.argv[1])
    for case in collect_testcases(None):
        own = folder / "node" / case.name
        for number, (inputs, outputs) in enumerate(case.data_sets):
            values = own / f"test_data_set_{number}"
            values.mkdir(parents=True, exist_ok=True)
            for prefix, all_values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
                for place, (value, info) in enumerate(zip(all_values, infos)):
                    (values / f"{prefix}_{place}.pb").write_bytes(message(value, info).SerializeToString())
        onnx.save(case.model, own / "model.onnx")


main()
