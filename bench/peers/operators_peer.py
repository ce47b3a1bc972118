"""The PyTorch peer of operators over many axes: torch_peer.py BENCHMARK TYPE REPETITIONS THREADS."""

import sys
import time

import torch

from operators import FACTORS, OPERATORS


def values(shape, factor, modulus, element):
    count = 1
    for size in shape:
        count *= size
    numbers = torch.arange(1, count + 1, dtype=torch.float64) * factor % modulus / modulus - 0.5
    return numbers.reshape(shape).to(element)


FUNCTIONS = {
    # PyTorch's own fused operator, which divides by the root of the width, too.
    "attention": torch.nn.functional.scaled_dot_product_attention,
    # Channels are last in memory; the weights are reordered before the time is taken.
    "convolution": lambda i, k, b: torch.relu(torch.nn.functional.conv2d(i, k, b.reshape(-1), padding=1)),
    "batched_product": lambda a, b, c: torch.relu(torch.baddbmm(c, a, b)),
    "running_mean": lambda x: torch.cumsum(x, 0) / torch.arange(1, len(x) + 1, dtype=x.dtype)[:, None],
}


def main():
    name, repetitions, threads = sys.argv[1], int(sys.argv[3]), int(sys.argv[4])
    element = {"f64": torch.float64, "f32": torch.float32}[sys.argv[2]]
    torch.set_num_threads(threads)
    operator = OPERATORS[name]
    arrays = [values(shape, *factors, element) for shape, factors in zip(operator.shapes, FACTORS)]
    if operator.function == "convolution":
        arrays[0] = arrays[0].permute(0, 3, 1, 2)
        arrays[1] = arrays[1].permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    run = FUNCTIONS[operator.function]
    with torch.inference_mode():
        for r in range(repetitions + 1):
            scaled = arrays[0] * (1 + r / 8)
            start = time.perf_counter_ns()
            out = run(scaled, *arrays[1:])
            stop = time.perf_counter_ns()
            if r > 0:
                print("ns", stop - start)
    print(f"result {out.to(torch.float64).sum().item():.17g}")


main()
