#!/usr/bin/env python3
"""Runs the cases of test/golden/natives.json on both engines and compares every result with its golden value.

All cases of one input run as one script, so that a run takes seconds. The sparse inputs are made by table(), which
gives a sparse matrix; the others are dense.

usage: run_natives.py [FILTER]
"""

import collections
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
TABLE = ROOT / "test/golden/natives.json"
CONFIGURATIONS = [["--engine=reference"], ["--engine=native", "--threads=2"], ["--engine=native", "--fusion=none", "--threads=1"]]
TOLERANCE = 1e-10
SPARSE_CELLS = 256  # inputs of at least so many cells are sparse

FUNCTIONS = """
show = function(int number, matrix[double] R) {
  print("case " + number + " " + nrow(R) + " " + ncol(R))
  print(toString(R, rows=1000, cols=1000, decimal=14))
}
insertCells = function(matrix[double] X) return (matrix[double] R) { R = X; R[2:3, 2] = matrix(9, rows=2, cols=1) }
eigenValues = function(matrix[double] X) return (matrix[double] w) { [w, V] = eigen(X) }
eigenProduct = function(matrix[double] X) return (matrix[double] R) { [w, V] = eigen(X); R = V %*% diag(w) %*% t(V) }
eigenResidual = function(matrix[double] X) return (double r) { [w, V] = eigen(X); r = max(abs(X %*% V - V %*% diag(w))) }
singularValues = function(matrix[double] X) return (matrix[double] R) { [U, S, V] = svd(X); R = diag(S) }
svdProduct = function(matrix[double] X) return (matrix[double] R) { [U, S, V] = svd(X); R = U %*% S %*% t(V) }
qrH = function(matrix[double] X) return (matrix[double] H) { [H, R] = qr(X) }
qrR = function(matrix[double] X) return (matrix[double] R) { [H, R] = qr(X) }
luP = function(matrix[double] X) return (matrix[double] P) { [P, L, U] = lu(X) }
luL = function(matrix[double] X) return (matrix[double] L) { [P, L, U] = lu(X) }
luU = function(matrix[double] X) return (matrix[double] U) { [P, L, U] = lu(X) }
"""

Case = collections.namedtuple("Case", "number dml input rows columns kind expected")


def numbers(text):
    return [float(word.replace("Infinity", "inf")) for word in text.split()]


def load():
    table = json.loads(TABLE.read_text())
    cases = [Case(number, *row[:5], numbers(row[5])) for number, row in enumerate(table["cases"])]
    return table["inputs"], cases


def matrix(rows, columns, cells):
    """DML that makes the matrix."""
    if rows * columns == 0:
        return f"matrix(0, rows={rows}, cols={columns})"
    if rows * columns < SPARSE_CELLS:
        return f'matrix("{cells.replace("Inf", "Infinity")}", rows={rows}, cols={columns})'
    entries = [(k // columns + 1, k % columns + 1, cell) for k, cell in enumerate(cells.split()) if float(cell) != 0]
    column = lambda part: f'matrix("{" ".join(str(entry[part]) for entry in entries)}", rows={len(entries)}, cols=1)'
    return f"table({column(0)}, {column(1)}, {column(2)}, {rows}, {columns})"


def script(inputs, name, cases, as_matrix="as.matrix({})"):
    """A program that shows the result of each case; as_matrix is DML that makes a matrix of a scalar or a matrix."""
    lines = [FUNCTIONS, f"X = {matrix(*inputs[name])}", f"G = {matrix(*inputs['groups'])}", f"W = {matrix(*inputs['weights'])}"]
    # A barrier after each case: no mistake of one reaches another.
    lines += [f"show({case.number}, {as_matrix.format(case.dml)})\nwhile(FALSE){{}}" for case in cases]
    return "\n".join(lines) + "\n"


def run(inputs, name, cases, options):
    """{case number: (rows, columns, cells)} of those that gave a result, and what went to stderr."""
    with tempfile.NamedTemporaryFile("w", suffix=".dml") as file:
        file.write(script(inputs, name, cases))
        file.flush()
        done = subprocess.run([TOKAMAK, "run", file.name, *options], cwd=ROOT, capture_output=True, text=True)
    return results_of(done.stdout), done.stderr


def results_of(printed):
    """{case number: (rows, columns, cells)} from what a script printed."""
    results = {}
    for line in printed.splitlines():
        words = line.split()
        if words and words[0] == "case":
            cells = []
            results[int(words[1])] = (int(words[2]), int(words[3]), cells)
        elif words:
            cells += numbers(line)
    return results


def agrees(expected, actual):
    if math.isnan(expected) or math.isinf(expected):
        return actual == expected or (math.isnan(expected) and math.isnan(actual))
    return abs(expected - actual) <= TOLERANCE * max(1, abs(expected))


def complaint(case, result):
    rows, columns, cells = result
    if (rows, columns) != (case.rows, case.columns):
        return f"is {rows}x{columns}, expected {case.rows}x{case.columns}"
    if case.kind == "sums":
        weighted = sum(cell * (k % 97 + 1) for k, cell in enumerate(cells))
        cells = [sum(cells), weighted, sum(map(abs, cells))]
    for k, (expected, actual) in enumerate(zip(case.expected, cells)):
        if not agrees(expected, actual):
            place = f"weighted sum {k + 1}" if case.kind == "sums" else f"cell [{k // columns + 1},{k % columns + 1}]"
            return f"{place} is {actual!r}, expected {expected!r}"
    return None if len(cells) == len(case.expected) else f"has {len(cells)} cells, expected {len(case.expected)}"


def test_input(inputs, name, cases, wanted=""):
    """None, or what is wrong with the cases of this input."""
    cases = [case for case in cases if case.input == name and wanted in case.dml]
    wrong = []
    for options in CONFIGURATIONS:
        results, errors = run(inputs, name, cases, options)
        if len(results) < len(cases):  # one failed: each alone tells which
            results, errors = {}, {}
            for case in cases:
                single, errors[case.number] = run(inputs, name, [case], options)
                results |= single
        for case in cases:
            problem = complaint(case, results[case.number]) if case.number in results \
                else "fails: " + errors[case.number].strip()
            if problem:
                wrong.append(f"{' '.join(options)}: {case.dml} of {name}: {problem}")
    return "\n".join(wrong) or None


def discover():
    """{name of an input: a function that gives None or what is wrong}"""
    inputs, cases = load()
    used = sorted({case.input for case in cases})
    return {name: (lambda name=name: test_input(inputs, name, cases)) for name in used}


def main():
    inputs, cases = load()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    failed = 0
    for name in sorted({case.input for case in cases if wanted in case.dml}):
        problem = test_input(inputs, name, cases, wanted)
        if problem:
            failed += len(problem.splitlines())
            print(problem)
    print(f"{sum(wanted in case.dml for case in cases)} cases, {failed} complaints")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
