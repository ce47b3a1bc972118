"""Runs a model in another program that reads ONNX and prints `ns N` for each run after the first.

usage: onnx_peer.py onnxruntime|openvino MODEL RESULT.npy REPETITIONS THREADS NAME=FILE.npy...
`first N` are the nanoseconds from opening the model to its first result.
"""

import sys
import time

import numpy as np


def onnxruntime_model(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)[0]


def openvino_model(path, threads):
    import openvino
    core = openvino.Core()
    model = core.compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                             "INFERENCE_PRECISION_HINT": "f32"})
    return lambda inputs: model(inputs)[model.output(0)]


def main():
    peer, path, result, repetitions, threads, *given = sys.argv[1:]
    inputs = {name: np.load(file) for name, file in (text.split("=", 1) for text in given)}
    begin = time.perf_counter_ns()
    model = {"onnxruntime": onnxruntime_model, "openvino": openvino_model}[peer](path, int(threads))
    output = model(inputs)
    print("first", time.perf_counter_ns() - begin)
    for _ in range(int(repetitions)):
        begin = time.perf_counter_ns()
        output = model(inputs)
        print("ns", time.perf_counter_ns() - begin)
    np.save(result, output)


main()
