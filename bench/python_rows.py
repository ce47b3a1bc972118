"""What Python programs pay: importing, first calls, calls, fits of tokamak.learn, and programs of arrays, beside NumPy, numba, JAX,
torch.compile and scikit-learn.

Tokamak runs with the interpreter of build/python-venv, in which python/make_wheel.py installs its wheel."""

import math
import statistics
import sys

from measuring import compared, self_timed, whole_process
from peer_commands import ROOT, VENV, environment, missing, say

sys.path.insert(0, str(ROOT / "python"))
import make_wheel

CALLS, PROGRAMS = ROOT / "bench/peers/python_calls.py", ROOT / "bench/peers/array_programs.py"
SHORT = {"Tokamak": "tokamak", "NumPy": "numpy", "numba": "numba", "JAX": "jax", "torch.compile": "torch", "scikit-learn": "sklearn"}
# Peers of each row, and the least ratios to them that are asked for. Importing may take 1.3 times as long as NumPy's.
ROWS = {
    "python-import": {"NumPy": 1 / 1.3},
    "python-first-call": {"numba": 1 / 0.3, "JAX": 1 / 0.3},
    "python-warm-call": {"numba": None, "JAX": None},
    "python-call": {"NumPy": None, "numba": None, "JAX": None},
    "python-linear": {"scikit-learn": 2}, "python-logistic": {"scikit-learn": 2},
    "python-kmeans": {"scikit-learn": 2}, "python-pca": {"scikit-learn": 2}}
ROWS |= {f"python-arrays-{name}": dict.fromkeys(("NumPy", "numba", "JAX", "torch.compile"), 1)
         for name in ("kmeans", "logistic", "attention", "black-scholes", "image-filter", "product-sum")}
NAMES = list(ROWS)
ONE_THREAD = ("python-import", "python-first-call", "python-warm-call", "python-call")


def prepare():
    """Why Tokamak can't be measured, or nothing."""
    try:
        make_wheel.install(make_wheel.make(make_wheel.install_release()))
    except make_wheel.Unreachable as error:
        return str(error)
    return None


def interpreter(peer):
    return make_wheel.VENV / "bin/python" if peer in ("Tokamak", "NumPy") else VENV / "bin/python"


def measure(name, threads, rounds):
    absent = missing([peer for peer in ROWS[name] if peer != "NumPy"])
    peers = ["Tokamak", *(peer for peer in ROWS[name] if peer not in absent)]
    times, results, errors = {peer: [] for peer in peers}, {}, {}
    if name == "python-warm-call":
        for peer in peers:
            run(name, peer, threads)
    for number in range(rounds):
        for peer in peers:
            say(f"  {name}, {threads} threads, round {number + 1} of {rounds}: {peer}")
            try:
                nanoseconds, results[peer] = run(name, peer, threads)
                times[peer].extend(nanoseconds)
            except (RuntimeError, OSError, IndexError, ValueError) as error:
                errors[peer] = str(error)
    return entry(name, threads, times, results, errors, absent)


def run(name, peer, threads):
    if name == "python-import":
        package = "tokamak" if peer == "Tokamak" else "numpy"
        return whole_process([interpreter(peer), "-c", f"import {package}; print('result 0')"], environment(threads))
    if name.startswith("python-arrays-"):
        return self_timed([interpreter(peer), PROGRAMS, SHORT[peer], name.removeprefix("python-"), str(threads)], environment(threads))
    return self_timed([interpreter(peer), CALLS, SHORT[peer], name, str(threads)], environment(threads))


def entry(name, threads, times, results, errors, absent):
    medians = {peer: statistics.median(taken) for peer, taken in times.items() if taken}
    made = {"benchmark": name, "element": "f64", "threads": threads, "absent": absent, "errors": errors,
            **compared(medians, {peer: least for peer, least in ROWS[name].items() if least})}
    for peer, result in results.items():
        if not math.isclose(result, results.get("Tokamak", result), rel_tol=2e-2):
            errors[peer] = f"its result is {result}, Tokamak's {results['Tokamak']}"
    return made
