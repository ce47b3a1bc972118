"""How well the cost model predicts: `./dev bench --predictions`, for "a cost model that is right".

Every benchmark, example and many small operators run with --stats=json, in f64 and f32, with 1 and 2 threads, under the
selectors of SELECTORS. Of each operator, the median of the predicted times of its calls is compared with the median of those that were
measured, without calls before which something was compiled since the last one: they load code. Operators with short ones only
are left out. Of several runs, as far apart as possible, the least median counts: other programs only make a run slower. For the same
reason this machine's model is measured several times. An error is |predicted - measured| / measured. No plan is kept between runs,
and no built-in kernel runs before those of the plan: kept plans and plans of built-in kernels are for other sizes than those of the
run, or for any.
"""

import collections
import json
import os
import re
import statistics
import subprocess
import tempfile
import time

from against import ROOT, TOKAMAK
from operators import OPERATORS, program

SELECTORS = ("cost", "none", "all", "no-redundancy")
BOUNDS = (0.20, 0.60)  # of the median and the 90th percentile of errors
RUNS = 3
CALIBRATIONS, PAUSE_SECONDS = 4, 5
WORST = 25
OUTSIDE = ("print", "read", "write", "time", "to_string")  # take as long as files and terminals do

# Each statement runs in a loop of its own, so that i keeps it from being moved out.
STATEMENTS = """
Y = A * i + B
Y = exp(A * i)
Y = log(A + i)
Y = A / (B + i)
Y = sqrt(abs(A - i)) * (B > i)
Y = (A * (7919 * i)) %% 10.5
Y = 1 / (1 + exp(-i * A))
Y = (A + i)^0.7
Y = A + w * i
Y = A * t(v) - i
y = y + sum(A * B * i)
y = y + max(A - i)
Y = rowSums(A * i)
Y = colSums(A * i)
Y = rowMaxs(A - i)
Y = A / (rowSums(A) + i)
E = exp(A - i * rowMaxs(A)); Y = E / rowSums(E)
Y = A %*% (v * i)
Y = t(A) %*% (w * i)
Y = t(A) %*% (w * (A %*% (v * i)))
Y = A %*% (P * i)
Y = t(A) %*% (A * i)
Y = t(A) %*% (T * i)
Y = t(A * i)
Y = cumsum(A * i)
Y = cbind(A, w * i)
Y = rbind(A, t(v) * i)
Y = A[2:nrow(A),] * i
Y = A[,1:(ncol(A) / 2)] * i
Y = rowIndexMax(A * i)
Y = rev(A * i)
Y = order(target=w * ((i %% 2) * 2 - 1), by=1)
Y = table(g, (w * i) %% 5 + 1)
Y = solve(Q + i, v)
Y = rand(rows=nrow(A), cols=ncol(A), seed=i)
Y = rand(rows=nrow(A), cols=ncol(A), pdf="normal", seed=i)
Y = S * (A + i)
Y = S %*% (v * i)
Y = t(S) %*% (w * i)
Y = t(S) %*% (w * (S %*% (v * i)))
Y = S %*% (P * i)
y = y + sum(S * log(T %*% t(R) + i))
Y = (S != 0) * (T %*% (t(R) * i))
Y = rowSums(S * i)
Y = colSums(S * i)
"""
SIZES = ((10, 10), (200, 10), (1000, 20), (5000, 10), (2000, 100), (10000, 100))  # rows, columns

SMALL = """
n = $rows
m = $cols
A = matrix(seq(1, n * m), rows=n, cols=m)
A = (A * 7919) %% 1009 / 1009
B = (A * 31) %% 1 + 0.25
w = (seq(1, n) * 104729) %% 997 / 997
v = (seq(1, m) * 104729) %% 997 / 997
g = seq(1, n) %% 7 + 1
P = A[1:m,]
Q = t(P) %*% P + diag(matrix(m, rows=m, cols=1))
T = A[,1:5]
R = B[1:m,1:5]
S = A * ((B * 977) %% 1 < 0.03)
y = 0.0
"""


def small_operators(cells):
    # What is short is repeated until processors work at their full rate: those that switch off half of their vector units
    # while they are not used compute for some 20 us at less than half of it, and every loop follows the compilation of its own.
    repetitions = 200 if cells <= 50_000 else 20
    text = SMALL
    for statement in STATEMENTS.strip().splitlines():
        text += f"Y = w\nfor (i in 1:{repetitions}) {{\n  {statement}\n}}\nprint(as.scalar(Y[1,1]) + y)\n"
    return text


def suite(benchmarks, folder):
    """(name, file, arguments) of all programs. Algorithms run on a tenth of the rows."""
    runs = []
    for rows, columns in SIZES:
        path = os.path.join(folder, f"small-{rows}x{columns}.dml")
        with open(path, "w") as file:
            file.write(small_operators(rows * columns))
        runs.append((f"small {rows}x{columns}", path, [f"rows={rows}", f"cols={columns}"]))
    for benchmark in benchmarks:
        sized = benchmark.smaller(10) if benchmark.repetitions == 1 else benchmark
        runs.append((benchmark.name, ROOT / f"bench/programs/{benchmark.program}.dml", sized.arguments()))
    for name in OPERATORS:
        path = os.path.join(folder, f"{name}.mlir")
        with open(path, "w") as file:
            file.write(program(name, "f64", 7))
        runs.append((name, path, []))
    for path in sorted((ROOT / "examples").glob("*.*")):
        runs.append((path.stem, path, []))
    return runs


def kind_of(operator):
    """The operator's loops (cell, row, ...), or the native's name."""
    return operator["name"] if operator["kind"] == "native" else re.match(r"[a-z]+", operator["name"]).group() + " kernel"


def at_best(runs):
    """The operators of one program, each at its best of several runs."""
    best = runs[0]
    for rows in runs[1:]:
        unseen = collections.defaultdict(list)  # operators of one name and place come in an order of their own in each run
        for row in rows:
            unseen[row["name"], row["place"], row["predicted"]].append(row)
        for row in best:
            if again := unseen[row["name"], row["place"], row["predicted"]]:
                row["measured"] = min(row["measured"], again.pop(0)["measured"])
    return best


def calibrate():
    for number in range(CALIBRATIONS):
        if number:
            time.sleep(PAUSE_SECONDS)
        subprocess.run([TOKAMAK, "doctor", "--calibrate"], check=True, capture_output=True)


def operators_of(name, path, arguments, options):
    command = [TOKAMAK, "run", path, "--stats=json", "--quiet", "--seed=1", *options]
    done = subprocess.run(command + (["-nvargs", *arguments] if arguments else []), cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "TOKAMAK_CACHE": "off", "TOKAMAK_TIER": "compile-first"})
    if done.returncode != 0:
        raise RuntimeError(f"{name} {' '.join(options)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    for operator in json.loads(done.stderr[done.stderr.index("{\n"):])["operators"]:
        if operator["kind"] == "compilation" or "call_ns" not in operator or operator["name"] in OUTSIDE:
            continue
        place = operator.get("place", {})
        yield {"program": name, "options": " ".join(options), "kind": kind_of(operator), "name": operator["name"],
               "place": f"{os.path.basename(place.get('file', ''))}:{place.get('line', '')}", "calls": operator["calls"],
               "measured": operator["call_ns"], "predicted": operator.get("predicted_call_ns", 0)}


def error_of(row):
    return abs(row["predicted"] - row["measured"]) / max(row["measured"], 1)


def quantiles(rows):
    errors = sorted(error_of(row) for row in rows)
    return statistics.median(errors), errors[int(0.9 * (len(errors) - 1) + 0.5)]


def line_of(name, rows):
    median, high = quantiles(rows)
    ratios = [row["predicted"] / max(row["measured"], 1) for row in rows]
    return f"| {name} | {len(rows)} | {statistics.median(ratios):.2f} | {100 * median:.0f} | {100 * high:.0f} |"


def report(benchmarks, quick, matches, say):
    rows = []
    configurations = [(element, threads, selector) for element in ("f64", "f32") for threads in (1, 2)
                      for selector in SELECTORS if not quick or (element, threads, selector) == ("f64", 1, "cost")]
    with tempfile.TemporaryDirectory() as folder:
        runs = [run for run in suite(benchmarks, folder) if matches(run[0])]
        say("  measuring the machine")
        calibrate()
        for element, threads, selector in configurations:
            options = [f"--precision={element}", f"--threads={threads}", f"--fusion={selector}"]
            of_programs = [[] for _ in runs]
            for number in range(RUNS):
                say(f"  {element}, {threads} threads, --fusion={selector}: run {number + 1} of {len(runs)} programs")
                for (name, path, arguments), found in zip(runs, of_programs):
                    found.append(list(operators_of(name, path, arguments, options)))
            rows += [row for found in of_programs for row in at_best(found)]
    predicted = [row for row in rows if row["predicted"] > 0]
    others = collections.Counter(row["kind"] for row in rows if row["predicted"] == 0)
    groups = [("| operators of a kind", lambda row: row["kind"]), ("| configuration", lambda row: row["options"]),
              ("| time of a call", lambda row: ["to 5 us", "to 50 us", "to 1 ms", "longer"][
                  sum(row["measured"] >= limit for limit in (5e3, 5e4, 1e6))])]
    for title, key in groups:
        print(title + " | number | predicted / measured | median error % | 90th percentile % |\n|---|--:|--:|--:|--:|")
        by_key = collections.defaultdict(list)
        for row in predicted:
            by_key[key(row)].append(row)
        for name in sorted(by_key, key=lambda name: -len(by_key[name])):
            print(line_of(name, by_key[name]))
        print()
    print("the worst | place | options | calls | measured us | predicted us | ratio\n|---|---|---|--:|--:|--:|--:|")
    for row in sorted(predicted, key=error_of, reverse=True)[:WORST]:
        print(f"| {row['program']}: {row['name']} | {row['place']} | {row['options']} | {row['calls']} | {row['measured'] / 1e3:.1f} | "
              f"{row['predicted'] / 1e3:.1f} | {row['predicted'] / max(row['measured'], 1):.2f} |")
    if others:
        print("\nnot predicted: " + ", ".join(f"{name} ({count})" for name, count in others.most_common()))
    (ROOT / "build/predictions.json").write_text(json.dumps(rows, indent=1) + "\n")
    median, high = quantiles(predicted)
    print(f"\nerrors of {len(predicted)} operators: {100 * median:.0f} % in the median (at most {100 * BOUNDS[0]:.0f}), "
          f"{100 * high:.0f} % at the 90th percentile (at most {100 * BOUNDS[1]:.0f})")
    return 0 if median <= BOUNDS[0] and high <= BOUNDS[1] else 1
