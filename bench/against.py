"""Another build of Tokamak beside this one: `./dev bench --against BINARY`, for "no step back".

Every program runs in turns, one process of each build after the other, so that a slow minute of the machine hits both.
Ratios are the other build's time divided by this one's: above 1, this build is faster. Three tables come out: times of
the benchmarks, times in f32 beside f64 (this build alone), and what planning and compiling takes over all examples and
benchmarks.
"""

import dataclasses
import json
import math
import os
import statistics
import subprocess
import sys

from peer_commands import ROOT, TOKAMAK


def command(binary, program, arguments, options):
    return [binary, "run", program, *options, "-nvargs", *arguments]


def environment(binary):
    """Each build keeps the machine model that it measured: else the two would measure it again in each run."""
    folder = ROOT / "build/against" / ("now" if binary == TOKAMAK else "before")
    return {**os.environ, "TOKAMAK_CACHE": "off", "TOKAMAK_TIER": "compile-first", "XDG_CACHE_HOME": str(folder)}


def times_of(binary, program, arguments, options):
    """Nanoseconds of each repetition of a benchmark."""
    done = subprocess.run(command(binary, program, arguments, options), cwd=ROOT, capture_output=True, text=True,
                          env=environment(binary))
    if done.returncode != 0:
        raise RuntimeError(f"{binary} run {program}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("ns ")]


def compile_time(binary, program, arguments):
    """Nanoseconds of processor time that a run takes to plan and compile, and of these for kernels."""
    # Kernels of a block are compiled by as many threads as there are: on one processor their times add up.
    done = subprocess.run(["taskset", "-c", str(min(os.sched_getaffinity(0))),
                           *command(binary, program, arguments, ["--stats=json", "--threads=1", "--quiet"])],
                          cwd=ROOT, capture_output=True, text=True, env=environment(binary))
    start = done.stderr.find("{\n")
    if done.returncode != 0 or start < 0:
        return None
    stats = json.loads(done.stderr[start:])
    return stats["compile_ns"], stats["kernel_compile_ns"]


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(r) for r in ratios))


def measure_times(binary, benchmarks, rounds, say):
    """[(name, milliseconds before, now, in f32)] of programs on one thread."""
    rows = []
    for benchmark in benchmarks:
        program = ROOT / f"bench/programs/{benchmark.program}.dml"
        arguments = benchmark.arguments()
        runs = {"before": (binary, []), "now": (TOKAMAK, []), "f32": (TOKAMAK, ["--precision=f32"])}
        times = {name: [] for name in runs}
        for number in range(rounds):
            say(f"  {benchmark.name}, round {number + 1} of {rounds}")
            for name, (tool, options) in runs.items():
                times[name] += times_of(tool, program, arguments, ["--threads=1", *options])
        rows.append((benchmark.name, *(statistics.median(times[name]) / 1e6 for name in runs)))
    return rows


def measure_compiling(binary, benchmarks, rounds, say):
    """[(name, milliseconds before, now)]: the least of `rounds` runs, of what both builds run."""
    programs = [(path, []) for path in sorted((ROOT / "examples").iterdir()) if path.suffix in (".dml", ".mlir")]
    small = [dataclasses.replace(b, rows=2000, repetitions=1) for b in benchmarks]
    programs += [(ROOT / f"bench/programs/{program}.dml", list(arguments))
                 for program, arguments in dict.fromkeys((b.program, tuple(b.arguments())) for b in small)]
    rows = []
    for path, arguments in programs:
        say(f"  compiling {path.name}")
        both = [[compile_time(tool, path, arguments) for tool in (binary, TOKAMAK)] for _ in range(rounds)]
        if all(before and now and before[0] and now[0] for before, now in both):
            rows.append((f"{path.stem} {' '.join(a for a in arguments[1:] if a != 'reps=1')}".strip(),
                         *(min(pair[which][0] for pair in both) / 1e6 for which in (0, 1))))
    return rows


def report(binary, benchmarks, rounds, say):
    if not os.access(binary, os.X_OK):
        print(f"./dev bench: {binary} is no program", file=sys.stderr)
        return 2
    times = measure_times(binary, benchmarks, rounds or 5, say)
    compiling = measure_compiling(binary, benchmarks, 3, say)
    print("| benchmark | before ms | now ms | before / now | f32 ms | f64 / f32 |\n|---|--:|--:|--:|--:|--:|")
    for name, before, now, single in times:
        print(f"| {name} | {before:.2f} | {now:.2f} | {before / now:.2f} | {single:.2f} | {now / single:.2f} |")
    if times:
        print(f"| geometric mean | | | {geometric_mean([b / n for _, b, n, _ in times]):.3f} | | "
              f"{geometric_mean([n / s for _, _, n, s in times]):.2f} |")
    print("\n| planning and compiling | before ms | now ms | now / before |\n|---|--:|--:|--:|")
    for name, before, now in compiling:
        print(f"| {name} | {before:.1f} | {now:.1f} | {now / before:.2f} |")
    if compiling:
        before, now = (sum(row[which] for row in compiling) for which in (1, 2))
        print(f"| all | {before:.0f} | {now:.0f} | {now / before:.3f} |")
    return 0
