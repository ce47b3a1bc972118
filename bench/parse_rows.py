"""How fast the text of a script is read, beside Python's parser on the same lines, which both languages understand.

The lines are the body of a function in another file that nothing calls: it is parsed, but not checked or compiled.
"""

import pathlib
import re
import statistics
import subprocess
import tempfile

from measuring import compared, self_timed
from peer_commands import ROOT, TOKAMAK, VENV, environment, install, say

NAME, PEER = "dml-parse", "Python"
BOUND = 5  # of Python's time
LINES = 200_000


def lines(count):
    return "".join(f"v{i % 100} = v{i * 7 % 100} * {i % 10}.5 + max(a, b)  # x\n" for i in range(count))


def reading_time(script):
    """Nanoseconds that `tokamak run` says reading and checking the script took."""
    done = subprocess.run([TOKAMAK, "run", script, "--stats"], capture_output=True, text=True, env=environment(1))
    return float(re.search(r"after ([\d.]+) ms of reading", done.stderr)[1]) * 1e6


def measure(count, rounds):
    absent = {} if install(("numpy",)) else {PEER: "not installed"}
    times, errors = {"Tokamak": [], PEER: []}, {}
    with tempfile.TemporaryDirectory(prefix="tokamak-bench-") as folder:
        folder = pathlib.Path(folder)
        (folder / "lines.py").write_text(lines(count))
        (folder / "lines.dml").write_text("f = function(double a, double b) return (double v0) {\n" + lines(count) + "}\n")
        (folder / "main.dml").write_text(f'source("{folder}/lines.dml") as lines\nprint(1)\n')
        for number in range(rounds):
            try:
                say(f"  {NAME}, round {number + 1} of {rounds}: Tokamak")
                times["Tokamak"].append(reading_time(folder / "main.dml"))
                if not absent:
                    say(f"  {NAME}, round {number + 1} of {rounds}: Python")
                    times[PEER] += self_timed([VENV / "bin/python", ROOT / "bench/peers/parser_peer.py", folder / "lines.py"],
                                                  environment(1))[0]
            except (RuntimeError, OSError, IndexError, TypeError) as error:
                errors["Tokamak" if len(times["Tokamak"]) <= number else PEER] = str(error)
    medians = {peer: statistics.median(ns) for peer, ns in times.items() if ns}
    made = {"benchmark": NAME, "rows": count, "columns": 1, "element": "f64", "threads": 1, "absent": absent, "errors": errors,
            **compared(medians, {PEER: BOUND})}
    if "Tokamak" in medians:
        say(f"  {NAME}: {count / medians['Tokamak'] * 1e3:.2f} million lines a second")
    return [made]
