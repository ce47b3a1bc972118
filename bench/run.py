#!/usr/bin/env python3
"""Measures Tokamak beside NumPy and hand-written C++ on the same arrays, interleaved in one run.

usage: run.py [FILTER] [--rounds N] [--quick] [--threads 1,2] [--csv-megabytes N] [--against BINARY] [--selectors]
./dev bench builds first and then calls this. Each round runs every peer once, as a process that fills the same arrays,
repeats the operation and times itself; a round follows a round, so that a slow minute of the machine hits all peers.
What is compared are medians over all repetitions. One thread is the bound; two threads are shown.
"""

import argparse
import dataclasses
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import against
import selectors_table
from csv_file import COLUMNS as CSV_COLUMNS, csv_file
from operators import OPERATORS, program

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build/release/bin/tokamak"
CPP = ROOT / "build/bench"
VENV = ROOT / "build/bench-venv"
PROGRAMS = ROOT / "bench/programs"
REPORT = ROOT / "build/bench.json"


PYTHON = "the best of Python"


@dataclasses.dataclass
class Benchmark:
    name: str
    program: str
    rows: int
    columns: int
    repetitions: int
    rounds: int
    bound: tuple  # (peer, smallest ratio of the peer's time to Tokamak's)
    arrays: int   # how many arrays of rows x columns one repetition must read, at least once
    tolerance: float  # by which results of peers may differ; algorithms stop before they have converged
    peers: tuple = ("C++", "NumPy")
    flops: float = 0  # multiplications and additions of products that one repetition can not avoid
    density: float = 0  # of sparse arrays
    gathers: float = 0  # cells that one repetition must read where another array says, one by one


BENCHMARKS = [
    Benchmark("sum-of-product", "sum-of-product", 200_000, 100, 7, 5, ("C++", 0.9), 3, 1e-9),
    Benchmark("sum-pair", "sum-pair", 200_000, 100, 7, 5, ("C++", 0.9), 3, 1e-9),
    Benchmark("chain-wide", "chain", 200_000, 100, 7, 5, ("C++", 0.7), 1, 1e-9),
    Benchmark("chain-narrow", "chain", 2_000_000, 10, 7, 5, ("C++", 0.8), 1, 1e-9),
    Benchmark("row-softmax", "row-softmax", 1_000_000, 10, 7, 5, ("C++", 0.7), 2, 1e-9),
    Benchmark("logistic-inner", "logistic-inner", 200_000, 100, 7, 5, ("C++", 0.8), 1, 1e-9, flops=8e8),
    Benchmark("kmeans-distance", "kmeans-distance", 100_000, 50, 7, 5, ("C++", 0.8), 1, 1e-9, flops=1e8),
    Benchmark("sparse-chain", "sparse-chain", 1_000_000, 1000, 7, 5, ("C++", 0.8), 0, 1e-9, ("C++",), density=1e-2),
    *(Benchmark(f"sampled-{density:g}", "sampled", 20_000, 20_000, 7, 5, ("C++", 0.8), 0, 1e-9, ("C++",), density=density)
      for density in (1e-2, 1e-3, 1e-4)),
    # Algorithms: the bound is on the faster one of the Python peers. They iterate equally often, but scikit-learn stops
    # where it has converged.
    Benchmark("l2svm", "l2svm", 10_000_000, 10, 1, 3, (PYTHON, 2.0), 0, 1e-4),
    Benchmark("linreg-cg", "linreg-cg", 1_000_000, 100, 1, 3, (PYTHON, 2.0), 21, 1e-4),
    Benchmark("multilogreg", "multilogreg", 500_000, 50, 1, 3, (PYTHON, 2.0), 0, 2e-3, ("NumPy", "scikit-learn")),
    Benchmark("linreg-ds", "linreg-ds", 1_000_000, 100, 1, 3, (PYTHON, 2.0), 0, 1e-6, ("NumPy", "scikit-learn"), 1e10),
    # From other random starts, k-means ends in other local minima.
    Benchmark("kmeans", "kmeans", 500_000, 50, 1, 3, (PYTHON, 2.0), 20, 0.15, ("NumPy", "scikit-learn"), 1e10),
    # Twelve bytes are read for each of ten million entries, twenty times; what they point to comes on top.
    Benchmark("pagerank", "pagerank", 1_000_000, 10, 1, 3, (PYTHON, 2.0), 30, 1e-9, ("NumPy",), gathers=2e8),
]
STARTS = [  # name, Tokamak's program, the static MLIR program that does as much, largest ratio to its time
    ("start-print", "print", "minimal-mlir", 1.5),
    ("start-first-kernel", "first-kernel", "minimal-kernel", 2.5),
]
# A whole run, from the start of the process to its end: of NumPy's time, where nothing was compiled before and where it was.
MINI_BATCH, MINI_BATCH_BOUNDS = "mini-batch", {"cold": 1.0, "warm": 0.5}
READ_CSV, READ_CSV_BOUND = "read-csv", 1.5  # of pandas' time, with two threads
OPERATOR_NAMES = [f"{name}-{element}" for name in OPERATORS for element in ("f64", "f32")]
MODULES = {"scikit-learn": "sklearn"}  # packages that are imported by another name


def say(text):
    print(text, file=sys.stderr, flush=True)


def prepare(python_peers):
    if not (CPP / "build.ninja").exists():
        say("configuring the C++ peers")
        subprocess.run(["cmake", "-S", ROOT / "bench", "-B", CPP, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_PREFIX_PATH=/usr/lib/llvm-19", "-DCMAKE_C_COMPILER=clang-19",
                        "-DCMAKE_CXX_COMPILER=clang++-19"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", CPP, "--quiet"], check=True, stdout=sys.stderr)
    if python_peers and not (VENV / "bin/python").exists():
        say("making build/bench-venv with " + ", ".join(python_peers))
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    imports = "import " + ", ".join(MODULES.get(package, package) for package in python_peers)
    if python_peers and subprocess.run([VENV / "bin/python", "-c", imports], capture_output=True).returncode != 0:
        subprocess.run([VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *python_peers], check=True)


def commands(benchmark, threads):
    """{peer: command} of one benchmark."""
    size = [str(benchmark.rows), str(benchmark.columns)]
    repetitions = str(benchmark.repetitions)
    density = [f"density={benchmark.density}"] if benchmark.density else []
    known = {
        "Tokamak": [TOKAMAK, "run", PROGRAMS / f"{benchmark.program}.dml", f"--threads={threads}", "-nvargs",
                    f"rows={size[0]}", f"cols={size[1]}", f"reps={repetitions}", *density],
        "C++": [CPP / "hand-written", benchmark.name, str(threads), repetitions, *size,
                *([str(benchmark.density)] if benchmark.density else [])],
        "NumPy": [VENV / "bin/python", ROOT / "bench/numpy_peer.py", benchmark.name, repetitions, *size],
        "scikit-learn": [VENV / "bin/python", ROOT / "bench/scikit_learn_peer.py", benchmark.name, repetitions, *size],
    }
    return {peer: known[peer] for peer in ("Tokamak", *benchmark.peers)}


def self_timed(command, threads):
    """(nanoseconds of each repetition, result) of a process that times itself."""
    environment = os.environ | {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    lines = [line.split() for line in done.stdout.splitlines()]
    return [int(l[1]) for l in lines if l[0] == "ns"], [float(l[1]) for l in lines if l[0] == "result"][0]


def measure(benchmark, threads, rounds):
    times, results, errors = {}, {}, {}
    for number in range(rounds):
        for peer, command in commands(benchmark, threads).items():
            if peer in errors:
                continue
            say(f"  {benchmark.name}, {threads} threads, round {number + 1} of {rounds}: {peer}")
            try:
                ns, result = self_timed(command, threads)
            except (RuntimeError, OSError, IndexError, ValueError) as error:
                errors[peer] = str(error)
                continue
            times.setdefault(peer, []).extend(ns)
            results[peer] = result
    for peer, result in results.items():
        judge = next((p for p in ("C++", "NumPy") if p in results), peer)
        expected = results[judge]
        if not math.isclose(result, expected, rel_tol=benchmark.tolerance, abs_tol=benchmark.tolerance / 100):
            errors[peer] = f"its result {result!r} differs from that of {judge}, {expected!r}"
    medians = {peer: statistics.median(ns) for peer, ns in times.items() if peer not in errors}
    row = {"benchmark": benchmark.name, "rows": benchmark.rows, "columns": benchmark.columns, "threads": threads,
           "milliseconds": {p: ns / 1e6 for p, ns in medians.items()}, "results": results, "errors": errors}
    if "Tokamak" in medians:
        row["ratio"] = {p: ns / medians["Tokamak"] for p, ns in medians.items() if p != "Tokamak"}
        python = [row["ratio"][p] for p in ("NumPy", "scikit-learn") if p in row["ratio"]]
        if python:
            row["ratio"][PYTHON] = min(python)
        if benchmark.flops:
            row["gigaflops"] = benchmark.flops / medians["Tokamak"]
        if benchmark.arrays:
            row["gigabytes_per_second"] = benchmark.arrays * benchmark.rows * benchmark.columns * 8 / medians["Tokamak"]
        if threads == 1 and benchmark.bound[0] in row["ratio"]:
            row["bound"] = f">= {benchmark.bound[1]} of {benchmark.bound[0]}"
            row["meets_bound"] = row["ratio"][benchmark.bound[0]] >= benchmark.bound[1]
    return row


def wall_time(command):
    start = time.perf_counter_ns()
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], [str(c) for c in command], os.environ, file_actions=nowhere)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    elapsed = time.perf_counter_ns() - start
    if status != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {status}")
    return elapsed


def measure_start(name, program, minimal, bound, rounds):
    peers = {"Tokamak": [TOKAMAK, "run", PROGRAMS / f"{program}.dml"], "minimal MLIR": [CPP / minimal]}
    times, errors = {peer: [] for peer in peers}, {}
    for _ in range(rounds):
        for peer, command in peers.items():
            try:
                times[peer].append(wall_time(command))
            except (RuntimeError, OSError) as error:
                errors[peer] = str(error)
    medians = {peer: statistics.median(ns) for peer, ns in times.items() if ns}
    row = {"benchmark": name, "threads": 1, "milliseconds": {p: ns / 1e6 for p, ns in medians.items()}, "errors": errors}
    if len(medians) == 2 and not errors:
        row["ratio"] = {"minimal MLIR": medians["minimal MLIR"] / medians["Tokamak"]}
        row["bound"] = f"<= {bound} times minimal MLIR"
        row["meets_bound"] = medians["Tokamak"] <= bound * medians["minimal MLIR"]
    return row


def measure_mini_batch(batch, rounds):
    """Two rows: the network's first run, with an empty cache, and another one."""
    command = [TOKAMAK, "run", PROGRAMS / "mini-batch.dml", "--threads=1"]
    times, errors = {"cold": [], "warm": [], "NumPy": []}, {}
    for number in range(rounds):
        say(f"  {MINI_BATCH}, {batch} rows, round {number + 1} of {rounds}")
        with tempfile.TemporaryDirectory() as folder:
            commands = {name: [*command, f"--cache={folder}", "-nvargs", f"batch={batch}"] for name in MINI_BATCH_BOUNDS}
            commands["NumPy"] = ["/usr/bin/env", "OPENBLAS_NUM_THREADS=1", VENV / "bin/python",
                                 ROOT / "bench/mini_batch_peer.py", batch]
            for name, words in commands.items():
                try:
                    times[name].append(wall_time(words))
                except (RuntimeError, OSError) as error:
                    errors[name] = str(error)
    medians = {name: statistics.median(ns) for name, ns in times.items() if ns}
    rows = []
    for name, bound in MINI_BATCH_BOUNDS.items():
        row = {"benchmark": f"{MINI_BATCH}-{batch}-{name}", "threads": 1, "errors": errors, "milliseconds":
               {peer: medians[key] / 1e6 for peer, key in (("Tokamak", name), ("NumPy", "NumPy")) if key in medians}}
        if not errors:
            row["ratio"] = {"NumPy": medians["NumPy"] / medians[name], PYTHON: medians["NumPy"] / medians[name]}
            row["bound"] = f"<= {bound:g} times NumPy"
            row["meets_bound"] = medians[name] <= bound * medians["NumPy"]
        rows.append(row)
    return rows


def measure_read(megabytes, threads, rounds):
    """A row for each number of threads; a process reads once, as scripts do."""
    say(f"  {READ_CSV}: writing a file of {megabytes} MB")
    with csv_file(megabytes) as (path, row_count):
        peers = {f"Tokamak {t}": [TOKAMAK, "run", PROGRAMS / "read-csv.dml", f"--threads={t}", "-nvargs", f"file={path}"]
                 for t in threads}
        peers["pandas"] = [VENV / "bin/python", ROOT / "bench/pandas_peer.py", path]
        times, results, errors = {peer: [] for peer in peers}, {}, {}
        for number in range(rounds):
            for peer, command in peers.items():
                say(f"  {READ_CSV}, round {number + 1} of {rounds}: {peer}")
                try:
                    ns, results[peer] = self_timed(command, max(threads))
                    times[peer].extend(ns)
                except (RuntimeError, OSError, IndexError, ValueError) as error:
                    errors[peer] = str(error)
        size = path.stat().st_size
    rows = []
    for count in threads:
        mine = {"Tokamak": f"Tokamak {count}", "pandas": "pandas"}
        medians = {peer: statistics.median(times[name]) for peer, name in mine.items() if times[name]}
        row = {"benchmark": READ_CSV, "rows": row_count, "columns": CSV_COLUMNS, "threads": count,
               "milliseconds": {p: ns / 1e6 for p, ns in medians.items()},
               "errors": {peer: errors[name] for peer, name in mine.items() if name in errors}}
        if len(medians) == 2:
            if not math.isclose(results[mine["Tokamak"]], results["pandas"], rel_tol=1e-6, abs_tol=1e-3):
                row["errors"]["Tokamak"] = f"its sum {results[mine['Tokamak']]} is not pandas' {results['pandas']}"
            row["ratio"] = {"pandas": medians["pandas"] / medians["Tokamak"]}
            row["gigabytes_per_second"] = size / medians["Tokamak"]
            if count == 2:
                row["bound"] = f">= {READ_CSV_BOUND} of pandas"
                row["meets_bound"] = row["ratio"]["pandas"] >= READ_CSV_BOUND
        rows.append(row)
    return rows


def measure_operator(name, threads, rounds):
    """An operator over many axes beside PyTorch."""
    base, element = name.rsplit("-", 1)
    operator, repetitions = OPERATORS[base], 7
    source = ROOT / f"build/bench-{name}.mlir"
    source.write_text(program(base, element, repetitions))
    peers = {"Tokamak": [TOKAMAK, "run", source, f"--threads={threads}"],
             "PyTorch": [VENV / "bin/python", ROOT / "bench/torch_peer.py", base, element, str(repetitions), str(threads)]}
    times, results, errors = {}, {}, {}
    for number in range(rounds):
        for peer, command in peers.items():
            say(f"  {name}, {threads} threads, round {number + 1} of {rounds}: {peer}")
            try:
                ns, results[peer] = self_timed(command, threads)
                times.setdefault(peer, []).extend(ns)
            except (RuntimeError, OSError, IndexError, ValueError) as error:
                errors[peer] = str(error)
    medians = {peer: statistics.median(ns) for peer, ns in times.items()}
    if len(results) == 2 and not math.isclose(results["Tokamak"], results["PyTorch"], rel_tol=1e-5):
        errors["Tokamak"] = f"its result {results['Tokamak']!r} differs from that of PyTorch, {results['PyTorch']!r}"
    row = {"benchmark": name, "threads": threads, "milliseconds": {p: ns / 1e6 for p, ns in medians.items()}, "errors": errors}
    if len(medians) == 2:
        row["ratio"] = {"PyTorch": medians["PyTorch"] / medians["Tokamak"]}
    if "Tokamak" in medians:
        row["gigaflops"] = operator.flops / medians["Tokamak"]
        row["gigabytes_per_second"] = operator.cells * {"f64": 8, "f32": 4}[element] / medians["Tokamak"]
    return row


def operator_table(rows):
    lines = ["| operator | threads | Tokamak ms | PyTorch ms | ratio | GFLOP/s | GB/s |", "|---|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        ms = row["milliseconds"]
        numbers = [ms.get("Tokamak"), ms.get("PyTorch"), row.get("ratio", {}).get("PyTorch"), row.get("gigaflops") or None,
                   row.get("gigabytes_per_second")]
        lines.append(f"| {row['benchmark']} | {row['threads']} | " +
                     " | ".join("–" if n is None else f"{n:.2f}" for n in numbers) + " |")
    return "\n".join(lines)


def bandwidth(threads, cells):
    ns, _ = self_timed([CPP / "hand-written", "bandwidth", str(threads), "9", str(cells // 100), "100"], threads)
    return cells * 8 / min(ns)


def flop_rate(threads):
    """What a large product of dense matrices reaches on this machine, in GFLOP/s."""
    ns, result = self_timed([VENV / "bin/python", ROOT / "bench/numpy_peer.py", "product", "3", "2000", "2000"], threads)
    return 2 * 2000**3 / min(ns)


def gather_time(count):
    """Nanoseconds for one of many independent reads from random places of 8 MB."""
    ns, _ = self_timed([CPP / "hand-written", "gathers", "1", "5", str(count), "1"], 1)
    return statistics.median(ns) / count


def add_least_times(rows, benchmarks, roofline, arithmetic, gather):
    """The time below which no program comes on this machine: to read memory, to multiply, or to gather, whichever is
    longest."""
    known = {b.name: b for b in benchmarks}
    for row in rows:
        benchmark = known.get(row["benchmark"])
        if not benchmark:
            continue
        threads = row["threads"]
        least = max(benchmark.arrays * benchmark.rows * benchmark.columns * 8 / roofline[threads],
                    benchmark.flops / arithmetic[threads], benchmark.gathers * gather / threads) / 1e6
        if least > 0:
            row["least_milliseconds"] = least
        if least > 0 and row.get("meets_bound") is False and benchmark.bound[0] == PYTHON:
            best = min(ms for peer, ms in row["milliseconds"].items() if peer in ("NumPy", "scikit-learn"))
            row["largest_possible_ratio"] = best / least


def table(rows, roofline, arithmetic, gather):
    def number(value, form):
        return "–" if value is None else format(value, form)
    lines = ["| benchmark | size | threads | Tokamak ms | C++ ms | NumPy ms | scikit-learn ms | ratio C++ | ratio Python | "
             "GB/s | GFLOP/s | least ms | bound | |",
             "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|"]
    for row in rows:
        ms, ratio = row["milliseconds"], row.get("ratio", {})
        size = f"{row['rows']:,}×{row['columns']}" if "rows" in row else ""
        floor = "minimal MLIR" if "minimal MLIR" in ms else "C++"
        library = "pandas" if "pandas" in ms else "NumPy"
        verdict = {True: "met", False: "MISSED"}.get(row.get("meets_bound"), "")
        if "largest_possible_ratio" in row:
            verdict += f" (no program: > {row['largest_possible_ratio']:.2f})"
        if row["errors"]:
            verdict = "error: " + ", ".join(row["errors"])
        lines.append("| " + " | ".join([
            row["benchmark"], size, str(row["threads"]), number(ms.get("Tokamak"), ".2f"), number(ms.get(floor), ".2f"),
            number(ms.get(library), ".2f"), number(ms.get("scikit-learn"), ".2f"), number(ratio.get(floor), ".2f"),
            number(ratio.get("pandas", ratio.get(PYTHON)), ".2f"), number(row.get("gigabytes_per_second"), ".1f"),
            number(row.get("gigaflops"), ".1f"), number(row.get("least_milliseconds"), ".2f"), row.get("bound", ""),
            verdict]) + " |")
    lines.append("")
    lines.append("A ratio is the peer's time divided by Tokamak's; for the two starts, the C++ column is the minimal MLIR program.")
    lines.append(f"For {READ_CSV}, the NumPy column is pandas, and GB/s are those of the file.")
    lines.append("Products of dense matrices by OpenBLAS: " +
                 ", ".join(f"{rate:.1f} GFLOP/s ({t} threads)" for t, rate in arithmetic.items()) + ".")
    lines.append("Least ms: what reading the arrays, the products' arithmetic or reads from random places take at the speeds "
                 "measured in this run, whichever is longest.")
    if gather:
        lines.append(f"Reads from random places of 8 MB: {gather:.2f} ns each.")
    lines.append("Memory read at " + ", ".join(f"{gb:.1f} GB/s ({t} threads)" for t, gb in roofline.items()) + ".")
    return "\n".join(lines)


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(prog="./dev bench")
    parser.add_argument("filter", nargs="?", default="", help="runs the benchmarks whose name contains this")
    parser.add_argument("--rounds", type=int, help="rounds of each benchmark (5, for algorithms 3)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size: to try the harness")
    parser.add_argument("--csv-megabytes", type=int, default=1000, help=f"size of the file of {READ_CSV} (1000)")
    parser.add_argument("--threads", default="1,2", help="thread counts, separated by commas")
    parser.add_argument("--against", metavar="BINARY", type=pathlib.Path,
                        help="compares with another build of tokamak instead: times, single precision, compiling")
    parser.add_argument("--selectors", action="store_true", help="compares the selectors of fusion instead")
    options = parser.parse_args()

    chosen = [b for b in BENCHMARKS if options.filter in b.name]
    starts = [s for s in STARTS if options.filter in s[0]]
    reads_csv = options.filter in READ_CSV
    batches = [batch for batch in (32, 64, 128) if options.filter in f"{MINI_BATCH}-{batch}"]
    operators = [name for name in OPERATOR_NAMES if options.filter in name]
    if not chosen and not starts and not reads_csv and not operators and not batches:
        parser.error(f"no benchmark's name contains '{options.filter}': " +
                     " ".join([b.name for b in BENCHMARKS] + [s[0] for s in STARTS] + [READ_CSV, MINI_BATCH] + OPERATOR_NAMES))
    if options.quick:
        chosen = [dataclasses.replace(b, rows=b.rows // 10, flops=b.flops / 10, gathers=b.gathers / 10) for b in chosen]
    if options.against:
        return against.report(options.against.resolve(), chosen, options.rounds, say)
    if options.selectors:
        return selectors_table.report(chosen, options.rounds or 5, say)
    prepare((["numpy", "scipy", "scikit-learn"] if chosen else []) + (["pandas"] if reads_csv else []) +
            (["numpy", "torch"] if operators else []) + (["numpy"] if batches else []))
    threads = [int(t) for t in options.threads.split(",")]
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"the machine is busy (load {load:.1f}): ratios hold better than times")

    cells = 2_000_000 if options.quick else 60_000_000
    roofline = {t: bandwidth(t, cells) for t in threads}
    arithmetic = {t: flop_rate(t) for t in threads} if chosen else {}
    gather = gather_time(1_000_000 if options.quick else 20_000_000) if any(b.gathers for b in chosen) else 0
    rows = []
    for start in starts:
        say(f"  {start[0]}")
        rows.append(measure_start(*start, rounds=30))
    for benchmark in chosen:
        for count in threads:
            rows.append(measure(benchmark, count, options.rounds or benchmark.rounds))
    for batch in batches:
        rows += measure_mini_batch(batch, options.rounds or 7)
    if reads_csv:
        rows += measure_read(options.csv_megabytes // (10 if options.quick else 1), threads, options.rounds or 3)
    operator_rows = [measure_operator(name, count, options.rounds or 3) for name in operators for count in threads]
    add_least_times(rows, chosen, roofline, arithmetic, gather)
    REPORT.parent.mkdir(exist_ok=True)
    REPORT.write_text(json.dumps({"processor": processor(), "cores": os.cpu_count(), "load_before": load,
                                  "quick": options.quick, "read_gigabytes_per_second": roofline, "product_gigaflops": arithmetic,
                                  "gather_nanoseconds": gather,
                                  "rows": rows, "operators": operator_rows},
                                 indent=2) + "\n")
    if rows:
        print(table(rows, roofline, arithmetic, gather))
    if operator_rows:
        print(operator_table(operator_rows))
    errors = [(row["benchmark"], peer, text) for row in rows + operator_rows for peer, text in row["errors"].items()]
    for name, peer, text in errors:
        say(f"{name}: {peer}: {text}")
    say(f"the same as JSON: {REPORT.relative_to(ROOT)}")
    verdicts = [row["meets_bound"] for row in rows if "meets_bound" in row]
    print(f"{sum(verdicts)} bounds met, {len(verdicts) - sum(verdicts)} missed")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
