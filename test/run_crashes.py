#!/usr/bin/env python3
"""Tests of what a crash of the program leaves: a reproducer.

usage: run_crashes.py [FILTER]
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import command_tests
import standalone
from command_tests import TOKAMAK


def crash(script, *arguments, number=signal.SIGSEGV, folder, cwd=None, environment=None):
    """Sends a signal to a script that writes the file 'started' and then runs for ever, which is a crash; gives its
    process number and stderr."""
    started = pathlib.Path(folder, "started")
    process = subprocess.Popen([TOKAMAK, "run", script, *arguments, f"started={started}"], cwd=cwd or folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                               env=os.environ | (environment or {}))
    for _ in range(600):
        if started.exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 70, f"exit status {process.returncode}\n{err}"
    return process.pid, err


ENDLESS = ('source("two.dml") as two\nX = read($data, format="csv")\nR = rand(rows=300, cols=300)\n'
           'x = sum(X) + sum(R * R)\nwrite(x, $started)\nwhile (x > -1) x = (x + two::two()) %% 1000\nprint(x)\n')


def write_endless_script(folder, data):
    pathlib.Path(folder, "endless.dml").write_text(ENDLESS)
    pathlib.Path(folder, "two.dml").write_text("two = function() return (double y) { y = 2 }\n")
    pathlib.Path(folder, "x.csv").write_text(data)


def a_crash_leaves_what_is_needed_to_repeat_it():
    with tempfile.TemporaryDirectory() as folder:
        write_endless_script(folder, "1,2\n3,4567\n")
        number, err = crash("endless.dml", "--threads=2", "-nvargs", "data=x.csv", folder=folder)
        assert "internal error: invalid access to memory" in err and f"tokamak-reproducer-{number}.txt" in err, err
        text = pathlib.Path(folder, f"tokamak-reproducer-{number}.txt").read_text()
        for part in ("run endless.dml --threads=2 -nvargs data=x.csv", ENDLESS, "two = function()", "1,2\n3,4567\n",
                     "==== seed of the run", f"folder: {folder}", "==== x.csv, 11 bytes"):
            assert part in text, f"'{part}' is missing in\n{text}"


def large_data_are_named_by_a_crash():
    with tempfile.TemporaryDirectory() as folder:
        write_endless_script(folder, "1.25,2\n" * 1000000)
        number, _ = crash("endless.dml", "--seed=7", "-nvargs", "data=x.csv", number=signal.SIGABRT, folder=folder)
        text = pathlib.Path(folder, f"tokamak-reproducer-{number}.txt").read_text()
        assert "==== x.csv, 7000000 bytes, not copied; it was changed " in text and len(text) < 100000
        assert "==== seed of the run, for --seed, 1 bytes\n7\n" in text, text


def a_crash_where_no_file_can_be_written():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "endless.dml")
        path.write_text('x = 1\nwrite(x, $started)\nwhile (x > -1) x = (x + 1) %% 1000\nprint(x)\n')
        number, err = crash(path, "-nvargs", number=signal.SIGFPE, folder=folder, cwd="/proc", environment={"TMPDIR": folder})
        assert f"{folder}/tokamak-reproducer-{number}.txt has what" in err, err
        assert "folder: /proc" in pathlib.Path(folder, f"tokamak-reproducer-{number}.txt").read_text()


def a_stack_overflow_is_reported():
    """MLIR's parser recurses as deep as its text is nested."""
    with tempfile.TemporaryDirectory() as folder:
        depth = 20000
        pathlib.Path(folder, "nested.mlir").write_text("module attributes {a = " + "[" * depth + "]" * depth + "} {}\n")
        limited = f"ulimit -s 256; exec {TOKAMAK} run nested.mlir"
        done = subprocess.run(["bash", "-c", limited], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 70, f"exit status {done.returncode}\n{done.stderr[:2000]}"
        assert "internal error: the stack has overflowed" in done.stderr, done.stderr
        assert len(list(pathlib.Path(folder).glob("tokamak-reproducer-*.txt"))) == 1


def discover():
    return command_tests.tests_of(globals())


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
