#!/usr/bin/env python3
"""Tests of the examples that write a model and read it back in another script.

usage: run_examples.py [FILTER]
"""

import sys
import tempfile

import command_tests
import run_scripts
import standalone
from command_tests import ROOT, tokamak

EXAMPLES = sorted(path.stem.removesuffix("-scoring") for path in (ROOT / "examples").glob("*-scoring.dml"))
SMALL_DIFFERENCE = 1e-6  # of weights that iterations end with


def examples_read_back_what_they_write():
    """A model that has just been trained scores as the stored one does, which it equals."""
    assert len(EXAMPLES) > 5, EXAMPLES
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            printed = tokamak("run", f"examples/{example}.dml", "-nvargs", f"model={folder}").stdout
            report = (ROOT / f"test/examples/{example}.out").read_text()
            assert printed == report.replace(f"build/{example}.\n", f"{folder}.\n"), run_scripts.difference(report, printed)
            scored = tokamak("run", f"examples/{example}-scoring.dml", "-nvargs", f"model={folder}").stdout
            expected = (ROOT / f"test/examples/{example}-scoring.out").read_text()
            assert scored == expected, run_scripts.difference(expected, scored)
            stored = ROOT / "examples/models" / example
            files = sorted(path.relative_to(stored) for path in stored.rglob("*") if path.suffix != ".mtd")
            assert files, stored
            for file in files:
                written, kept = ((place / file).read_text() for place in (type(stored)(folder), stored))
                assert run_scripts.same_text(written, kept, SMALL_DIFFERENCE), f"{stored / file}: {run_scripts.difference(kept, written)}"


def discover():
    return command_tests.tests_of(globals())


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
