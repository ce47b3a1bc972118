"""ONNX models (folder models) beside ONNX Runtime and OpenVINO, attention alone beside PyTorch, too: each runs the same file on the
same inputs, in turns."""

import re
import statistics
import subprocess
import time

from measuring import finish
from model_files import TOLERANCE, prepared
from models import MODELS
from peer_commands import ROOT, environment, install, say

NAMES = [f"model-{name}" for name in MODELS]
PACKAGES = {"ONNX Runtime": "onnxruntime", "OpenVINO": "openvino"}
PACKAGES_OF_ATTENTION = {**PACKAGES, "PyTorch": "torch"}
REPETITIONS = 7
RUN = re.compile(r"run \d+: ([\d.]+) ms")


def timed(command, variables):
    """(milliseconds of the first run, of the others) of a peer; loading and compiling count as the first run."""
    lines = [line.split() for line in finish(command, variables).splitlines()]
    return [int(l[1]) / 1e6 for l in lines if l[0] == "first"][0], [int(l[1]) / 1e6 for l in lines if l[0] == "ns"]


def timed_tokamak(command, variables):
    """The same; the first run is a process from its start to its end. The others are those of a process that compiles before: otherwise
    some of them run on built-in kernels until compiling pays."""
    def run(*options):
        done = subprocess.run([*command, *options], cwd=ROOT, env=variables, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        return done.stderr
    begin = time.perf_counter()
    run()
    first = (time.perf_counter() - begin) * 1e3
    compiled = run("--tier=compile-first", f"--repeat={REPETITIONS + 1}")
    return first, [float(ms) for ms in RUN.findall(compiled)[1:]]


def measure(row, threads, rounds):
    name = row.removeprefix("model-")
    entry = {"benchmark": row, "threads": threads, "milliseconds": {}, "errors": {}, "absent": {}}
    try:
        model = prepared(name)
    except RuntimeError as error:
        return entry | {"errors": {"Tokamak": str(error)}}
    packages = PACKAGES_OF_ATTENTION if name.startswith("attention") else PACKAGES
    errors, absent = entry["errors"], entry["absent"]
    commands = {"Tokamak": model.tokamak_command(threads)}
    for peer, package in packages.items():
        if install((package,)):
            commands[peer] = model.peer_command(package, threads, REPETITIONS)
        else:
            absent[peer] = f"not installed: {package}"
    first, times = {}, {}
    for number in range(rounds):
        for peer, command in commands.items():
            if peer in absent:
                continue
            say(f"  {row}, {threads} threads, round {number + 1} of {rounds}: {peer}")
            try:
                begun, others = (timed_tokamak if peer == "Tokamak" else timed)(command, environment(threads))
                first.setdefault(peer, []).append(begun)
                times.setdefault(peer, []).extend(others)
            except (RuntimeError, OSError, IndexError, ValueError) as error:
                if peer == "Tokamak":
                    errors[peer] = str(error)
                else:  # a model that others can't run is no error of this row
                    absent[peer] = "can't run it: " + str(error).strip().splitlines()[-1]
    medians = {peer: statistics.median(ms) for peer, ms in times.items()}
    entry |= {"milliseconds": medians, "first": {peer: statistics.median(ms) for peer, ms in first.items()}}
    for peer, package in packages.items():
        if peer in medians and "Tokamak" in medians:
            entry.setdefault("ratio", {})[peer] = medians[peer] / medians["Tokamak"]
            largest = max(model.differences("tokamak", package))
            entry.setdefault("differences", {})[peer] = largest
            if not largest <= TOLERANCE:
                errors["Tokamak"] = f"a result differs from that of {peer} by {largest:.2g} of its largest cell"
    return entry


def table(rows):
    lines = ["| model | threads | Tokamak ms | ONNX Runtime | OpenVINO | PyTorch | first run ms | ONNX Runtime | OpenVINO | difference |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        own, first, ratios = row["milliseconds"].get("Tokamak"), row.get("first", {}), row.get("ratio", {})
        ratios_of_first = {p: first[p] / first["Tokamak"] for p in PACKAGES if p in first and "Tokamak" in first}
        numbers = [own, *(ratios.get(p) for p in PACKAGES_OF_ATTENTION), first.get("Tokamak"), *(ratios_of_first.get(p) for p in PACKAGES)]
        largest = max(row.get("differences", {}).values(), default=None)
        lines.append(f"| {row['benchmark']} | {row['threads']} | " + " | ".join("–" if n is None else f"{n:.2f}" for n in numbers) +
                     f" | {'–' if largest is None else format(largest, '.1g')} |")
    reasons = {(row["benchmark"], peer): reason for row in rows for peer, reason in row["absent"].items()}
    lines += [""] + [f"{name}: {peer}: {reason}" for (name, peer), reason in reasons.items()] if reasons else []
    return "\n".join(lines)
