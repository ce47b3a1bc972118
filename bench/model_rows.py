"""ONNX models (models.py) beside ONNX Runtime and OpenVINO: each runs the same file on the same inputs, in turns."""

import re
import statistics
import subprocess
import time

import models
from measuring import finish
from peer_commands import ROOT, TOKAMAK, VENV, environment, install, say

NAMES = [f"model-{name}" for name in models.MODELS]
FOLDER = ROOT / "build/bench-models"
PACKAGES = {"ONNX Runtime": "onnxruntime", "OpenVINO": "openvino"}
REPETITIONS = 7
# Of the largest cell of the results.
TOLERANCE = 1e-4
RUN = re.compile(r"run \d+: ([\d.]+) ms")
# Prints the largest difference of two results, as a share of the second one's largest cell.
DIFFERENCE = """
import sys, numpy
x, y = (numpy.load(path).astype(numpy.float64) for path in sys.argv[1:])
assert x.shape == y.shape, f"{x.shape} and {y.shape}"
print(numpy.max(numpy.abs(x - y)) / max(numpy.max(numpy.abs(y)), 1e-30))
"""


def inputs_of(name):
    names = (FOLDER / f"{name}.inputs").read_text().split("\n")[:-1]
    return [f"{input_name}={FOLDER / name}.{place}.npy" for place, input_name in enumerate(names)]


def timed(command, variables):
    """(milliseconds of the first run, of the others) of a peer; loading and compiling count as the first run."""
    lines = [line.split() for line in finish(command, variables).splitlines()]
    return [int(l[1]) / 1e6 for l in lines if l[0] == "first"][0], [int(l[1]) / 1e6 for l in lines if l[0] == "ns"]


def timed_tokamak(command, variables):
    """The same; the first run is all that the process does beside the others, from its start to its end."""
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    others = [float(ms) for ms in RUN.findall(done.stderr)[1:]]
    return (time.perf_counter() - begin) * 1e3 - sum(others), others


def difference(own, other):
    return float(finish([VENV / "bin/python", "-c", DIFFERENCE, own, other], None))


def measure(row, threads, rounds):
    name = row.removeprefix("model-")
    if not install(("numpy", "onnx")):
        return {"benchmark": row, "threads": threads, "milliseconds": {}, "errors": {}, "absent": {"all": "not installed: onnx"}}
    model = FOLDER / f"{name}.onnx"
    if not model.exists():
        finish([VENV / "bin/python", ROOT / "bench/models.py", name, FOLDER], None)
    inputs = inputs_of(name)
    results = {peer: FOLDER / f"{name}.{peer.replace(' ', '-')}.npy" for peer in ("Tokamak", *PACKAGES)}
    listing = finish([VENV / "bin/python", "-c", "import onnx, sys; print(onnx.load(sys.argv[1]).graph.output[0].name)", model],
                     None).strip()
    commands = {"Tokamak": [TOKAMAK, "run", model, *(f"--input={i}" for i in inputs), f"--output={listing}={results['Tokamak']}",
                            f"--repeat={REPETITIONS + 1}", f"--threads={threads}"]}
    absent = {}
    for peer, package in PACKAGES.items():
        if install((package,)):
            commands[peer] = [VENV / "bin/python", ROOT / "bench/peers/onnx_peer.py", package, model, results[peer],
                              str(REPETITIONS), str(threads), *inputs]
        else:
            absent[peer] = f"not installed: {package}"
    first, times, errors = {}, {}, {}
    for number in range(rounds):
        for peer, command in commands.items():
            say(f"  {row}, {threads} threads, round {number + 1} of {rounds}: {peer}")
            try:
                begun, others = (timed_tokamak if peer == "Tokamak" else timed)(command, environment(threads))
                first.setdefault(peer, []).append(begun)
                times.setdefault(peer, []).extend(others)
            except (RuntimeError, OSError, IndexError, ValueError) as error:
                errors[peer] = str(error)
    medians = {peer: statistics.median(ms) for peer, ms in times.items()}
    entry = {"benchmark": row, "threads": threads, "milliseconds": medians, "errors": errors, "absent": absent,
             "first": {peer: statistics.median(ms) for peer, ms in first.items()}}
    for peer in PACKAGES:
        if peer in medians and "Tokamak" in medians:
            entry.setdefault("ratio", {})[peer] = medians[peer] / medians["Tokamak"]
            entry.setdefault("differences", {})[peer] = difference(results["Tokamak"], results[peer])
            if not entry["differences"][peer] <= TOLERANCE:
                errors["Tokamak"] = f"its result differs from that of {peer} by {entry['differences'][peer]:.2g} of its largest cell"
    return entry


def table(rows):
    lines = ["| model | threads | Tokamak ms | ONNX Runtime | OpenVINO | first run ms | ONNX Runtime | OpenVINO | difference |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        own, first, ratios = row["milliseconds"].get("Tokamak"), row.get("first", {}), row.get("ratio", {})
        ratios_of_first = {p: first[p] / first["Tokamak"] for p in PACKAGES if p in first and "Tokamak" in first}
        numbers = [own, *(ratios.get(p) for p in PACKAGES), first.get("Tokamak"), *(ratios_of_first.get(p) for p in PACKAGES)]
        largest = max(row.get("differences", {}).values(), default=None)
        lines.append(f"| {row['benchmark']} | {row['threads']} | " + " | ".join("–" if n is None else f"{n:.2f}" for n in numbers) +
                     f" | {'–' if largest is None else format(largest, '.1g')} |")
    return "\n".join(lines)
