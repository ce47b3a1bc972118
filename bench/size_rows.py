"""ONNX models that are called with many sizes (models/many_sizes.py) beside ONNX Runtime and OpenVINO: the time of a call, and whether
memory grows."""

import json
import resource
import statistics
import subprocess

from measuring import finish
from model_files import FOLDER, prepared
from model_rows import PACKAGES, RUN
from models.many_sizes import SEQUENCES
from peer_commands import ROOT, TOKAMAK, environment, install, say

NAMES = [f"sizes-{name}" for name in SEQUENCES]


def written(name, calls):
    """NAME=@FILE for each input whose sizes change."""
    given = []
    for place, key in enumerate(calls[0]):
        path = FOLDER / f"sizes-{name}.{place}.txt"
        path.write_text("".join("x".join(map(str, sizes[key])) + "\n" for sizes in calls))
        given.append((key, path))
    return given


def summary(milliseconds, memory, few):
    """Of calls; `memory` in bytes after each. It grows until the largest sizes came, so that what counts are the two halves of the calls."""
    half = len(memory) // 2
    return {"first": milliseconds[0], "call": statistics.median(milliseconds[few:]), "memory": max(memory[:half]),
            "growth": max(memory[half:]) / max(memory[:half]) - 1}


def run_tokamak(model, given, fixed, threads, few):
    command = [str(part) for part in (
        TOKAMAK, "run", model.path, *(f"--input={value}" for value in fixed),
        *(part for key, path in given for part in (f"--input={key}=random:7", f"--shape={key}=@{path}")), f"--threads={threads}",
        "--stats=json")]
    milliseconds, memory, rest = [], [], []
    with subprocess.Popen(command, cwd=ROOT, env=environment(threads), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        for line in process.stderr:
            if not (run := RUN.match(line)):
                rest.append(line)
                continue
            milliseconds.append(float(run[1]))
            try:
                with open(f"/proc/{process.pid}/statm") as file:
                    memory.append(int(file.read().split()[1]) * resource.getpagesize())
            except (OSError, IndexError):  # it has ended
                memory.append(memory[-1])
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}\n{''.join(rest)[-2000:]}")
    report = json.loads("".join(rest))
    return summary(milliseconds, memory, few) | {"blocks": report["blocks_planned"], "most_plans": report["most_plans_of_a_block"],
                                                 "compiling": (report["compile_ns"] - report["compile_ns_in_first_run"]) / 1e6
                                                              / sum(milliseconds[1:])}


def run_peer(model, package, given, fixed, threads, few):
    command = model.peer_command(package, threads, 0)
    command = command[:-len(model.inputs)] + fixed + [f"{key}=@{path}" for key, path in given]
    lines = [line.split() for line in finish(command, environment(threads)).splitlines()]
    of = {word: [int(line[1]) for line in lines if line[0] == word] for word in ("first", "ns", "memory")}
    return summary([ns / 1e6 for ns in of["first"] + of["ns"]], [0, *of["memory"]], few)


def measure(row, threads):
    name = row.removeprefix("sizes-")
    sequence = SEQUENCES[name]
    entry = {"benchmark": row, "threads": threads, "errors": {}, "absent": {}}
    try:
        model = prepared(sequence.model)
        calls = sequence.calls()
        given = written(name, calls)
        fixed = [value for key, value in zip(model.inputs, model.given()) if key not in calls[0]]
        say(f"  {row}, {threads} threads: Tokamak")
        entry["Tokamak"] = run_tokamak(model, given, fixed, threads, sequence.few)
    except RuntimeError as error:
        return entry | {"errors": {"Tokamak": str(error)}}
    for peer, package in PACKAGES.items():
        if not install((package,)):
            entry["absent"][peer] = f"not installed: {package}"
            continue
        say(f"  {row}, {threads} threads: {peer}")
        try:
            entry[peer] = run_peer(model, package, given, fixed, threads, sequence.few)
        except RuntimeError as error:
            entry["absent"][peer] = "can't run it: " + str(error).strip().splitlines()[-1]
    return entry


def table(entries):
    lines = ["| sizes | threads | | first call ms | call ms | memory MB | growth % | plans of a block | compiling % |",
             "|---|--:|---|--:|--:|--:|--:|--:|--:|"]
    for entry in entries:
        for peer in ("Tokamak", *PACKAGES):
            if peer in entry:
                of = entry[peer]
                own = [f"{of['most_plans']}", f"{100 * of['compiling']:.1f}"] if peer == "Tokamak" else ["", ""]
                lines.append(f"| {entry['benchmark']} | {entry['threads']} | {peer} | {of['first']:.1f} | {of['call']:.3f} | "
                             f"{of['memory'] / 1e6:.0f} | {100 * of['growth']:.1f} | {' | '.join(own)} |")
    return "\n".join(lines)
