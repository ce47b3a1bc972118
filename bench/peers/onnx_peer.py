"""Runs a model in another program that reads ONNX and prints `ns N` for each run after the first.

usage: onnx_peer.py onnxruntime|openvino|torch MODEL RESULTS REPETITIONS THREADS NAME=FILE.npy|NAME=@FILE...
`first N` are the nanoseconds from opening the model to its first result. Writes RESULTS.0.npy, … in the order of the model's outputs.
torch reads no model: it is for those that are attention alone, of q, k and v. An input NAME=@FILE is of single precision and has other
sizes in each run, those of a line of the file (1x3x224x224); then there are as many runs as lines, and `memory N` says after each how
many bytes of the process are in memory.
"""

import resource

import sys
import time

import numpy as np


def onnxruntime_model(path, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)


def openvino_model(path, threads):
    import openvino
    core = openvino.Core()
    model = core.compile_model(path, "CPU", {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
                                             "INFERENCE_PRECISION_HINT": "f32"})

    def run(inputs):
        results = model(inputs)
        return [results[output] for output in model.outputs]
    return run


def torch_attention(path, threads):
    import torch
    torch.set_num_threads(threads)

    def run(inputs):
        with torch.inference_mode():
            q, k, v = (torch.from_numpy(inputs[name]) for name in "qkv")
            return [torch.nn.functional.scaled_dot_product_attention(q, k, v).numpy()]
    return run


PROGRAMS = {"onnxruntime": onnxruntime_model, "openvino": openvino_model, "torch": torch_attention}


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def main():
    peer, path, prefix, repetitions, threads, *given = sys.argv[1:]
    given = dict(text.split("=", 1) for text in given)
    inputs = {name: np.load(file) for name, file in given.items() if not file.startswith("@")}
    sizes = {name: [tuple(map(int, line.split("x"))) for line in open(file[1:])] for name, file in given.items() if file.startswith("@")}
    random = np.random.default_rng(7)

    def take(run):
        for name, lines in sizes.items():
            inputs[name] = random.uniform(-1, 1, lines[run]).astype(np.float32)
    take(0)
    begin = time.perf_counter_ns()
    model = PROGRAMS[peer](path, int(threads))
    results = model(inputs)
    print("first", time.perf_counter_ns() - begin)
    for run in range(1, len(next(iter(sizes.values())))) if sizes else range(int(repetitions)):
        take(run)
        begin = time.perf_counter_ns()
        results = model(inputs)
        print("ns", time.perf_counter_ns() - begin)
        if sizes:
            print("memory", resident())
    for place, result in enumerate(results):
        np.save(f"{prefix}.{place}.npy", result)


main()
