"""Operators over many axes (operators.py) beside PyTorch."""

import math
import statistics

from measuring import self_timed
from operators import OPERATORS, program
from peer_commands import ROOT, TOKAMAK, VENV, environment, install, say

NAMES = [f"{name}-{element}" for name in OPERATORS for element in ("f64", "f32")]


def measure(name, threads, rounds):
    base, element = name.rsplit("-", 1)
    operator, repetitions = OPERATORS[base], 7
    source = ROOT / f"build/bench-{name}.mlir"
    source.write_text(program(base, element, repetitions))
    peers = {"Tokamak": [TOKAMAK, "run", source, f"--threads={threads}"]}
    absent = {} if install(("numpy", "torch")) else {"PyTorch": "not installed: torch"}
    if not absent:
        peers["PyTorch"] = [VENV / "bin/python", ROOT / "bench/peers/operators_peer.py", base, element, str(repetitions),
                            str(threads)]
    times, results, errors = {}, {}, {}
    for number in range(rounds):
        for peer, command in peers.items():
            say(f"  {name}, {threads} threads, round {number + 1} of {rounds}: {peer}")
            try:
                ns, results[peer] = self_timed(command, environment(threads))
                times.setdefault(peer, []).extend(ns)
            except (RuntimeError, OSError, IndexError, ValueError) as error:
                errors[peer] = str(error)
    medians = {peer: statistics.median(ns) for peer, ns in times.items()}
    if len(results) == 2 and not math.isclose(results["Tokamak"], results["PyTorch"], rel_tol=1e-5):
        errors["Tokamak"] = f"its result {results['Tokamak']!r} differs from that of PyTorch, {results['PyTorch']!r}"
    row = {"benchmark": name, "threads": threads, "milliseconds": {p: ns / 1e6 for p, ns in medians.items()}, "errors": errors,
           "absent": absent}
    if len(medians) == 2:
        row["ratio"] = {"PyTorch": medians["PyTorch"] / medians["Tokamak"]}
    if "Tokamak" in medians:
        row["gigaflops"] = operator.flops / medians["Tokamak"]
        row["gigabytes_per_second"] = operator.cells * {"f64": 8, "f32": 4}[element] / medians["Tokamak"]
    return row


def table(rows):
    lines = ["| operator | threads | Tokamak ms | PyTorch ms | ratio | GFLOP/s | GB/s |", "|---|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        ms = row["milliseconds"]
        numbers = [ms.get("Tokamak"), ms.get("PyTorch"), row.get("ratio", {}).get("PyTorch"), row.get("gigaflops") or None,
                   row.get("gigabytes_per_second")]
        lines.append(f"| {row['benchmark']} | {row['threads']} | " +
                     " | ".join("–" if n is None else f"{n:.2f}" for n in numbers) + " |")
    return "\n".join(lines)
