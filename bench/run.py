#!/usr/bin/env python3
"""Measures Tokamak beside hand-written C++, NumPy, Numba, JAX, PyTorch, SystemDS and scikit-learn: ./dev bench.

bench/README.md says how to read the table. The rows stand in rows.py, how peers are started in peer_commands.py.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import signal
import sys

import against
import chart
import csv_rows
import model_rows
import operator_rows
import parse_rows
import predictions
import python_rows
import report
import selectors_table
import size_rows
from measuring import measure
from peer_commands import OPTIONS, PEERS, ROOT, build_cpp, missing, say
from rows import ROWS
from speeds import Speeds


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measures Tokamak beside its peers; see bench/README.md.")
    parser.add_argument("filter", nargs="?", default="", help="runs the rows whose name contains this; several with commas")
    parser.add_argument("--rounds", type=int, help="processes of each peer (5, of algorithms 3)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, once: to try the harness")
    parser.add_argument("--csv-megabytes", type=int, default=1000, help=f"size of the file of {csv_rows.NAME} (1000)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, with commas")
    parser.add_argument("--peers", default=",".join(OPTIONS),
                        help="which to run beside Tokamak, with commas; all if not given: " + ", ".join(OPTIONS))
    parser.add_argument("--list", action="store_true", help="prints the names of the rows")
    parser.add_argument("--against", metavar="BINARY", type=pathlib.Path,
                        help="compares with another build of tokamak instead: times, single precision, compiling")
    parser.add_argument("--chart", action="store_true", help="draws docs/bench.svg from the last run, which had rows python-arrays")
    parser.add_argument("--selectors", action="store_true", help="compares the selectors of fusion instead")
    parser.add_argument("--predictions", action="store_true", help="compares predicted with measured times instead")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.peers.split(",") if name not in OPTIONS]
    if unknown:
        parser.error(f"no peer is called {', '.join(unknown)}; there are {', '.join(OPTIONS)}")
    return parser, options


def main():
    parser, options = parse(sys.argv[1:])
    if options.chart:
        return draw_chart()
    wanted = options.filter.split(",")

    def matches(name):
        return any(part in name for part in wanted)
    chosen = [row for row in ROWS if matches(row.name)]
    operators = [name for name in operator_rows.NAMES if matches(name)]
    models = [name for name in model_rows.NAMES if matches(name)]
    sizes = [name for name in size_rows.NAMES if matches(name)]
    pythons = [name for name in python_rows.NAMES if matches(name)]
    names = [row.name for row in ROWS] + [csv_rows.NAME, parse_rows.NAME] + operator_rows.NAMES + model_rows.NAMES + size_rows.NAMES + python_rows.NAMES
    if not any(map(matches, names)):
        parser.error(f"no row's name contains '{options.filter}': " + " ".join(names))
    if options.list:
        print("\n".join(name for name in names if matches(name)))
        return 0
    if options.quick:
        chosen = [dataclasses.replace(row if row.process or row.name.startswith("small-") else row.smaller(10), rounds=1,
                                      repetitions=min(row.repetitions, 2)) for row in chosen]
    comparable = [row for row in chosen if not row.process and row.element == "f64"]
    if options.against:
        return against.report(options.against.resolve(), comparable, options.rounds, say)
    if options.predictions:
        return predictions.report(comparable, options.quick, matches, say)
    if options.selectors:
        return selectors_table.report(comparable, options.rounds or 5, say)
    return measure_table(options, chosen, operators, models, sizes, pythons, matches(csv_rows.NAME), matches(parse_rows.NAME))


def draw_chart():
    try:
        measured = json.loads(report.REPORT.read_text())
        chart.write(measured["rows"], measured["processor"], ROOT / "docs/bench.svg")
    except (ValueError, OSError) as error:
        sys.exit(f"bench: {error}")
    return 0


def measure_table(options, chosen, operators, models, sizes, pythons, reads_csv, parses):
    build_cpp()
    peers = options.peers.split(",")
    chosen = [dataclasses.replace(row, peers=tuple(p for p in row.peers if PEERS[p].option in ("", *peers))) for row in chosen]
    absent = missing(dict.fromkeys(p for row in chosen for p in row.peers))
    threads = [int(t) for t in options.threads.split(",")]
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"the machine is busy (load {load:.1f}): ratios hold better than times")
    speeds = Speeds(threads, options.quick, any(row.gathers for row in chosen))
    measured = {"rows": [], "operators": [], "models": [], "sizes": []}

    def keep(kind, *entries):  # in the file at once: the whole table takes more than an hour
        measured[kind] += entries
        report.write_json(options, load, speeds, measured)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell has it ignored in the background, too
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for row in chosen:
            # What small operations and the start of a process take does not depend on threads.
            for count in threads if not (row.process or row.program.startswith("small-")) else threads[:1]:
                entry = measure(row, count, options.rounds or row.rounds, absent)
                speeds.add_least_time(row, entry)
                keep("rows", entry)
        if reads_csv:
            keep("rows", *csv_rows.measure(options.csv_megabytes // (10 if options.quick else 1), threads,
                                           options.rounds or (1 if options.quick else 3)))
        if parses:
            keep("rows", *parse_rows.measure(parse_rows.LINES // (10 if options.quick else 1),
                                             options.rounds or (1 if options.quick else 5)))
        if pythons and (reason := python_rows.prepare()):
            say(f"rows of Python are left out: {reason}")
            pythons = []
        for name in pythons:
            for count in threads[:1] if name in python_rows.ONE_THREAD else threads:
                keep("rows", python_rows.measure(name, count, options.rounds or (1 if options.quick else 5)))
        for name in operators:
            for count in threads:
                keep("operators", operator_rows.measure(name, count, options.rounds or (1 if options.quick else 3)))
        for name in models:
            for count in threads:
                keep("models", model_rows.measure(name, count, options.rounds or (1 if options.quick else 3)))
        for name in sizes:
            for count in threads:
                keep("sizes", size_rows.measure(name, count))
    except KeyboardInterrupt:
        say("interrupted: what has been measured")
    say(f"the same as JSON: {report.REPORT.relative_to(ROOT)}")
    entries = measured["rows"]
    if entries:
        print(report.table(entries, speeds))
    if measured["operators"]:
        print(operator_rows.table(measured["operators"]))
    if measured["models"]:
        print(model_rows.table(measured["models"]))
    if measured["sizes"]:
        print(size_rows.table(measured["sizes"]))
    errors = [(entry["benchmark"], peer, text) for kept in measured.values() for entry in kept
              for peer, text in entry["errors"].items()]
    for name, peer, text in errors:
        say(f"{name}: {peer}: {text}")
    verdicts = [bound["met"] for entry in entries for bound in entry.get("bounds", [])]
    print(f"{sum(verdicts)} bounds met, {len(verdicts) - sum(verdicts)} missed")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
