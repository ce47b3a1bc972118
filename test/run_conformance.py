#!/usr/bin/env python3
"""Tests of the harness of conformance suites: a program that ends or hangs at a case fails in this case alone, and tables count right.

usage: run_conformance.py [FILTER]
"""

import contextlib
import io
import pathlib
import sys
import tempfile

import onnx_conformance
import onnx_outcomes
import standalone

# Passes, refuses, fails, ends or hangs, as the names of the cases say.
PROGRAM = """#!/bin/bash
for folder in "$@"; do
  case $folder in
    *pass*) echo "passed      $folder" ;;
    *refuse*) echo "unsupported $folder: node 0: no" ;;
    *fail*) echo "failed      $folder: cell 1 is 2" ;;
    *end*) echo "over" >&2; exit 3 ;;
    *hang*) sleep 100 ;;
  esac
done
"""


def outcomes(folders, seconds):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        return onnx_outcomes.outcomes([program], folders, seconds)


def one_case_fails_alone():
    found = outcomes(["a/pass", "b/end", "c/refuse", "d/hang", "e/fail", "f/pass"], 2)
    assert found == {
        "a/pass": ("passed", ""), "b/end": ("failed", "ended the process with status 3: over"), "c/refuse": ("unsupported", "node 0: no"),
        "d/hang": ("failed", "no result after 2 s"), "e/fail": ("failed", "cell 1 is 2"), "f/pass": ("passed", "")}, found


def tables_count_by_operator():
    results = {"A": {"node/x": ("passed", ""), "node/y": ("unsupported", "no"), "simple/z": ("failed", "1")}}
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        onnx_conformance.print_table(list(results["A"]), {"node/x": "Add", "node/y": "Add", "simple/z": "(simple)"}, results)
    rows = text.getvalue().splitlines()
    for row in "| Add | 2 | 1/1/0 |", "| (simple) | 1 | 0/0/1 |", "| all of node | 2 | 1/1/0 |", "| all | 3 | 1/1/1 |":
        assert row in rows, f"{row} is not in {rows}"


TESTS = [one_case_fails_alone, tables_count_by_operator]


def discover():
    """{name: function that raises what is wrong}"""
    return standalone.named("commands/conformance-", TESTS)


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
