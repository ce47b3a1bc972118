#!/usr/bin/env python3
"""Tests of Ctrl-C, SIGTERM and SIGHUP: a running script stops soon, with exit status 130, and leaves nothing half-written.

usage: run_interrupts.py [FILTER]
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
# A slow machine needs some seconds; what is not interrupted runs for minutes or for ever.
PATIENCE_SECONDS = 30
# For what is abandoned after half a second, and would go on for half a minute.
ABANDONED_SECONDS = 10

ENDLESS_SCALARS = 'print("started")\nx = 0\nwhile (x >= 0) x = (x + 1) %% 1000\nprint(x)\n'
ENDLESS_CALLS = ('f = function(double x) return (double y) { if (x > 100) y = 0 else y = f(x + 1) }\nprint("started")\nx = 0\n'
                 'while (x >= 0) x = f(x)\nprint(x)\n')
ENDLESS_KERNELS = ('X = rand(rows=3000, cols=1000, seed=1)\nprint("started")\ns = 1\n'
                   'while (s > 0) s = sum(exp(X * s) / (1 + abs(X)))\nprint(s)\n')
ENDLESS_PARFOR = ('R = matrix(0, rows=1000, cols=1)\nprint("started")\n'
                  'parfor (i in 1:1000) {\n  x = 0\n  while (x >= 0) x = (x + 1) %% 1000\n  R[i, 1] = x\n}\nprint(sum(R))\n')
LONG_WRITE = ('X = rand(rows=3000, cols=1000, seed=1)\nprint("started")\n'
              'i = 0\nwhile (i >= 0) {\n  write(X, $out + "/x" + i + ".csv", format="csv")\n  i = i + 1\n}\n')
# What never asks whether it should stop: LAPACK, and compiling a long script.
LONG_FACTORISATION = 'X = rand(rows=3000, cols=3000, seed=1)\nprint("started")\n[U, S, V] = svd(X)\nprint(sum(S))\n'
LONG_COMPILATION = "X = rand(rows=10, cols=10, seed=1)\n" + "X = X + 1\n" * 400_000 + "print(sum(X))\n"
LONG_NATIVE = ('X = rand(rows=100000000, cols=1, seed=1)\nprint("started")\n'
               'print(sum(order(target=X, by=1, index.return=TRUE)))\n')


def start(folder, program, *options):
    script = pathlib.Path(folder) / "script.dml"
    script.write_text(program)
    process = subprocess.Popen([TOKAMAK, "run", script, "--threads=2", *options], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    return process


def stops(program, *options, number=signal.SIGINT, engine="native", patience=PATIENCE_SECONDS):
    """Interrupts the program a second after it was started; gives its stderr."""
    with tempfile.TemporaryDirectory() as folder:
        process = start(folder, program, f"--engine={engine}", *options)
        try:
            process.wait(1)
            raise AssertionError("it ended by itself\n" + process.stderr.read())
        except subprocess.TimeoutExpired:
            pass
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError(f"it does not stop within {patience} s")
        assert process.returncode == 130, f"exit status {process.returncode}\n{err}"
        assert "tokamak: interrupted" in err, err
        assert out in ("started\n", ""), out
        return err


def between_instructions():
    assert "script.dml:" in stops(ENDLESS_SCALARS)


def in_calls():
    stops(ENDLESS_CALLS)


def between_tiles():
    stops(ENDLESS_KERNELS)


def in_tasks_of_a_parfor():
    stops(ENDLESS_PARFOR)


def by_sigterm():
    stops(ENDLESS_SCALARS, number=signal.SIGTERM)


def by_the_end_of_the_terminal():
    stops(ENDLESS_SCALARS, number=signal.SIGHUP)


def not_by_the_end_of_the_terminal_after_nohup():
    with tempfile.TemporaryDirectory() as folder:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            process = start(folder, ENDLESS_SCALARS)
        finally:
            signal.signal(signal.SIGHUP, before)
        process.stdout.readline()
        for number in (signal.SIGHUP, signal.SIGTERM):
            try:
                process.wait(0.5)
                raise AssertionError(f"exit status {process.returncode}")
            except subprocess.TimeoutExpired:
                process.send_signal(number)
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 130, f"exit status {process.returncode}"


def in_the_reference():
    stops(ENDLESS_SCALARS, engine="reference")


def in_a_factorisation():
    stops(LONG_FACTORISATION, patience=ABANDONED_SECONDS)


def in_a_compilation():
    for engine in ("native", "reference"):
        stops(LONG_COMPILATION, engine=engine, patience=ABANDONED_SECONDS)


def leaves_whole_files_only():
    with tempfile.TemporaryDirectory() as folder:
        stops(LONG_WRITE, "-nvargs", f"out={folder}")
        for path in pathlib.Path(folder).iterdir():
            assert path.suffix in (".csv", ".mtd"), f"{path} is left"
            if path.suffix == ".csv":
                assert path.read_bytes().count(b"\n") == 3000, f"{path} is not whole"


def twice_stops_at_once():
    with tempfile.TemporaryDirectory() as folder:
        process = start(folder, LONG_NATIVE)
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            pass
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                pass
        process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 130, process.returncode


TESTS = [between_instructions, in_calls, between_tiles, in_tasks_of_a_parfor, by_sigterm, in_the_reference,
         in_a_factorisation, in_a_compilation, leaves_whole_files_only, twice_stops_at_once]


def discover():
    """{name: function that raises what is wrong}"""
    return standalone.named("commands/interrupt/", TESTS)


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
