"""How fast a csv file is read, beside pandas; a process reads once, as scripts do."""

import math
import statistics

from csv_file import COLUMNS, csv_file
from measuring import compared, self_timed
from peer_commands import PROGRAMS, ROOT, TOKAMAK, VENV, environment, install, say

NAME, BOUND = "read-csv", 3  # of pandas' time, with two threads


def measure(megabytes, threads, rounds):
    """An entry for each number of threads."""
    absent = {} if install(("pandas",)) else {"pandas": "not installed: pandas"}
    say(f"  {NAME}: writing a file of {megabytes} MB")
    with csv_file(megabytes) as (path, row_count):
        commands = {f"Tokamak {t}": [TOKAMAK, "run", PROGRAMS / f"{NAME}.dml", f"--threads={t}", "-nvargs", f"file={path}"]
                    for t in threads}
        if not absent:
            commands["pandas"] = [VENV / "bin/python", ROOT / "bench/peers/pandas_peer.py", path]
        times, results, errors = {peer: [] for peer in commands}, {}, {}
        for number in range(rounds):
            for peer, command in commands.items():
                say(f"  {NAME}, round {number + 1} of {rounds}: {peer}")
                try:
                    ns, results[peer] = self_timed(command, environment(max(threads)))
                    times[peer].extend(ns)
                except (RuntimeError, OSError, IndexError, ValueError) as error:
                    errors[peer] = str(error)
        size = path.stat().st_size
    return [entry(count, row_count, size, times, results, errors, absent) for count in threads]


def entry(threads, row_count, size, times, results, errors, absent):
    names = {"Tokamak": f"Tokamak {threads}", "pandas": "pandas"}
    medians = {peer: statistics.median(times[name]) for peer, name in names.items() if times.get(name)}
    made = {"benchmark": NAME, "rows": row_count, "columns": COLUMNS, "element": "f64", "threads": threads,
            **compared(medians, {"pandas": BOUND} if threads == 2 else {}), "absent": absent,
            "errors": {peer: errors[name] for peer, name in names.items() if name in errors}}
    if "Tokamak" in medians:
        made["gigabytes_per_second"] = size / medians["Tokamak"]
    if len(medians) == 2 and not math.isclose(results[names["Tokamak"]], results["pandas"], rel_tol=1e-6, abs_tol=1e-3):
        made["errors"]["Tokamak"] = f"its sum {results[names['Tokamak']]} is not pandas' {results['pandas']}"
    return made
