"""Cases as files: a folder with model.onnx and, in test_data_set_0, the values that go in and those that must come out."""

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def write(folder, model, inputs, expected=None):
    """`model`: onnx.ModelProto or the bytes of a file; `inputs`: {name: value}. ONNX Runtime computes what must come out; `expected`, in
    the order of the outputs, is given where it can't run the model."""
    if isinstance(model, bytes):
        model = onnx.load_from_string(model)
    if expected is None:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        expected = session.run(None, {key: np.asarray(value) for key, value in inputs.items()})
    values = folder / "test_data_set_0"
    values.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    given = [(info.name, inputs[info.name]) for info in model.graph.input]
    found = zip((info.name for info in model.graph.output), expected)
    for prefix, pairs in ("input", given), ("output", found):
        for number, (key, value) in enumerate(pairs):
            bytes_ = numpy_helper.from_array(np.asarray(value), key).SerializeToString()
            (values / f"{prefix}_{number}.pb").write_bytes(bytes_)
