"""Runs the peers of a row in turns and compares their times and results.

Each round runs every peer once, as a process, so that a slow minute of the machine hits all of them. What is compared are
medians over all repetitions.
"""

import math
import os
import statistics
import subprocess
import tempfile
import time

from peer_commands import PEERS, ROOT, environment, say, tokamak
from rows import GROUPS

LONGEST_SECONDS = 900  # of one process


def finish(command, variables):
    """The output of a process that ends well."""
    text = " ".join(map(str, command))
    try:
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{text}: took longer than {LONGEST_SECONDS} s") from None
    if done.returncode != 0:
        raise RuntimeError(f"{text}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    if "An Error Occurred" in done.stdout:  # SystemDS ends with status 0 all the same
        raise RuntimeError(f"{text}: {done.stdout[-2000:]}")
    return done.stdout


def self_timed(command, variables):
    """(nanoseconds of each repetition, result) of a process that times itself."""
    lines = [line.split() for line in finish(command, variables).splitlines() if line]
    return [int(l[1]) for l in lines if l[0] == "ns"], [float(l[1]) for l in lines if l[0] == "result"][0]


def whole_process(command, variables):
    """([nanoseconds], result or None) of a process, from its start to its end."""
    start = time.perf_counter_ns()
    output = finish(command, variables)
    elapsed = time.perf_counter_ns() - start
    results = [float(line.split()[1]) for line in output.splitlines() if line.startswith("result ")]
    return [elapsed], results[0] if results else None


def run_peer(peer, row, threads):
    command = tokamak(row, threads) if peer == "Tokamak" else PEERS[peer].command(row, threads)
    variables = environment(threads)
    if not row.process:
        return self_timed(command, variables)
    if peer == "Tokamak" and row.process == "off":
        variables |= {"TOKAMAK_CACHE": "off", "TOKAMAK_TIER": "compile-first"}
    if peer != "Tokamak" or row.process != "cold":
        return whole_process(command, variables)
    with tempfile.TemporaryDirectory(prefix="tokamak-bench-") as folder:
        return whole_process(command, variables | {"TOKAMAK_CACHE": folder})


def measure(row, threads, rounds, absent):
    """What is known of a row afterwards, for the report. `absent` says of peers why they can't run."""
    times, results, errors = {}, {}, {}
    peers = ["Tokamak", *(p for p in row.peers if p not in absent)]
    if row.process == "warm":
        finish(tokamak(row, threads), environment(threads))
    for number in range(rounds):
        for peer in peers:
            if peer in errors:
                continue
            say(f"  {row.name}, {threads} threads, round {number + 1} of {rounds}: {peer}")
            try:
                ns, result = run_peer(peer, row, threads)
            except (RuntimeError, OSError, IndexError, ValueError) as error:
                errors[peer] = str(error)
                continue
            times.setdefault(peer, []).extend(ns)
            if result is not None:
                results[peer] = result
    errors |= differences({p: r for p, r in results.items() if p not in row.elsewhere}, row.tolerance)
    medians = {peer: statistics.median(ns) for peer, ns in times.items() if peer not in errors}
    entry = {"benchmark": row.name, "rows": row.rows, "columns": row.columns, "element": row.element, "threads": threads,
             **compared(medians, row.bounds),
             "least_of_each": {p: min(times[p]) / 1e6 for p in medians}, "results": results, "errors": errors,
             "absent": {p: absent[p] for p in row.peers if p in absent}}
    if "Tokamak" in medians:
        if row.flops:
            entry["gigaflops"] = row.flops / medians["Tokamak"]
        if row.arrays:
            entry["gigabytes_per_second"] = row.least_bytes() / medians["Tokamak"]
    return entry


def differences(results, tolerance):
    """{peer: text} of those whose result differs from that of the first peer that has one, or else from Tokamak's."""
    judging = next((p for p in ("NumPy", "C++", "numba", "Tokamak") if p in results), None)
    if judging is None:
        return {}
    expected = results[judging]
    return {peer: f"its result {result!r} differs from that of {judging}, {expected!r}" for peer, result in results.items()
            if not math.isclose(result, expected, rel_tol=tolerance, abs_tol=tolerance / 100)}


def compared(medians, bounds):
    """What an entry says of the peers' times, given in nanoseconds, and of those beside Tokamak's."""
    own = medians.get("Tokamak")
    ratios = {p: ns / own for p, ns in medians.items() if p != "Tokamak"} if own else {}
    return {"milliseconds": {p: ns / 1e6 for p, ns in medians.items()}, "ratio": ratios, "bounds": judge(bounds, ratios)}


def judge(bounds, ratios):
    """[{peer, least, ratio, met}] of the bounds whose peers were measured."""
    verdicts = []
    for peer, least in bounds.items():
        among = [ratios[p] for p in GROUPS.get(peer, (peer,)) if p in ratios]
        if among:
            verdicts.append({"peer": peer, "least": least, "ratio": min(among), "met": min(among) >= least})
    return verdicts
