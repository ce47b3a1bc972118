"""Files that one program writes and the other reads, for the group `files` of ./dev conformance dml.

The writer shows what it writes, the reader what it reads: both have to be the same, in both directions.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

import dml_agreement
import dml_cases

sys.path.insert(0, str(dml_cases.ROOT / "test/oracle"))
import systemds

TOKAMAK = pathlib.Path(os.environ.get("TOKAMAK_PROGRAM") or dml_cases.ROOT / "build/release/bin/tokamak")
FOLDER = systemds.CACHE / "files"
TOLERANCE = 1e-13
SECONDS = 120


class Case(NamedTuple):
    name: str
    content: str            # DML that makes X
    kind: str               # matrix or frame
    format: str
    writing: str = ""       # further options of write
    reading: str = ""       # of read
    there: str = ""         # of SystemDS's read in place of these
    metadata: bool = True   # whether the reader finds the metadata file


# Sums along rows with weights tell where a cell stands; small contents are shown as they are.
SHOW = {"matrix": """
print(nrow(X) + " x " + ncol(X))
if (length(X) <= 500) { print(toString(X, rows=500, cols=500, decimal=17)) }
print(toString(rowSums(X * t(seq(1, ncol(X)))), rows=100000, decimal=12))
""", "frame": """
print(nrow(X) + " x " + ncol(X))
if (nrow(X) <= 100) { print(toString(X, rows=100, cols=100)) }
if (nrow(X) > 100) {
  print(toString(X[1:3,], cols=100))
  print(toString(X[998:1003,], cols=100))
  print(toString(X[nrow(X),], cols=100))
}
"""}

MATRICES = {
    "dense": "X = numbers(6, 4, 1)",
    "numbers of all sizes":
        'X = matrix("0 1 -1 0.1 3.141592653589793 1e-300 -2.5e200 4.9e-324 123456789.125 -0.75 1e15 7", rows=4, cols=3)',
    "not finite": "X = numbers(4, 3, 2)\nX[1, 1] = NaN\nX[2, 3] = 1.0 / 0\nX[4, 2] = -1.0 / 0",
    "sparse": "X = sparse(30, 20, 1)",
    "ultra sparse": 'column = matrix("4 60 1", rows=3, cols=1)\n'
                    'X = table(matrix("3 3 100", rows=3, cols=1), column, matrix("2.5 -1 7", rows=3, cols=1), 100, 60)',
    "no cell that isn't 0": "X = matrix(0, rows=3, cols=5)",
    "column": "X = numbers(2500, 1, 3)",
    "row": "X = numbers(1, 1500, 4)",
    "empty last row and column": "X = cbind(rbind(numbers(3, 2, 5), matrix(0, rows=1, cols=2)), matrix(0, rows=4, cols=1))",
}
LARGE = {
    "dense blocks": "X = numbers(1203, 1105, 6)",
    "sparse blocks": "k = seq(1, 4000)\n"
                     "X = table((k * 7919) %% 2500 + 1, (k * k * 37 + k) %% 2200 + 1, numbers(4000, 1, 7) + 6, 2500, 2200)",
    "sparse and dense blocks": "X = cbind(rbind(numbers(1000, 1000, 8), matrix(0, rows=500, cols=1000)), matrix(0, rows=1500, cols=200))\n"
                               "X[1400, 1100] = 4",
}
FRAMES = {
    "texts": 'X = frame(["a", "b c", "ä€", "x-y", "7", "TRUE"], rows=3, cols=2)',
    "texts with signs": 'X = frame(["a,b", "c;d", "e\'f", "g", "h|i", "j"], rows=3, cols=2)',
    "empty texts": 'X = frame(["a", "", "b", "", "c", "d"], rows=3, cols=2)',
    "numbers": "X = as.frame(numbers(5, 3, 1))",
    "integers and booleans": 'N = as.frame(codes(4, 1, 3, 1))\nB = as.frame(matrix("1 0 0 1", rows=4, cols=1))\nX = cbind(N, B)',
    "types": 'F = frame(["3", "x", "1.5", "TRUE", "4", "y", "2.5", "FALSE"], rows=2, cols=4)\n'
             'X = applySchema(F, frame(["INT64", "STRING", "FP64", "BOOLEAN"], rows=1, cols=4))',
    "several blocks": 'F = cbind(as.frame(seq(1, 2500)), frame("t", rows=2500, cols=1))\n'
                      'X = applySchema(F, frame(["INT64", "STRING"], rows=1, cols=2))',
}


def cases():
    made = []

    def add(kind, contents, format, label=None, **options):
        made.extend(Case(f"{label or format}: {name}", content, kind, format, **options) for name, content in contents.items())

    some = {name: MATRICES[name] for name in ("dense", "sparse", "no cell that isn't 0")}
    for format in "csv", "text", "mm", "binary":
        add("matrix", MATRICES, format)
    add("matrix", some, "csv", "csv with a header and semicolons", writing=', header=TRUE, sep=";"')
    add("matrix", some, "csv", "csv without zeros", writing=", sparse=TRUE")
    add("matrix", some, "csv", "csv without metadata", reading=', format="csv"', metadata=False)
    add("matrix", MATRICES, "hdf5", writing=', dataset="d"', reading=', dataset="d"')
    add("matrix", some, "libsvm", writing=', sep=" "')
    # What SystemDS counts as columns when it reads are the features.
    for name, columns in ("dense", 4), ("sparse", 20):
        add("matrix", {name: MATRICES[name]}, "libsvm", "libsvm without metadata", writing=', sep=" "', metadata=False,
            reading=f', format="libsvm", cols={columns}',
            there=f', format="libsvm", rows={6 if name == "dense" else 30}, cols={columns - 1}, sep=" "')
    add("matrix", some, "binary", "binary in blocks of 3", writing=", rows_in_block=3")
    add("matrix", LARGE, "binary")
    add("matrix", {name: LARGE[name] for name in ("dense blocks",)}, "hdf5", writing=', dataset="d"', reading=', dataset="d"')
    add("matrix", {name: LARGE[name] for name in ("sparse blocks",)}, "text")
    add("matrix", {name: LARGE[name] for name in ("sparse blocks",)}, "mm")
    add("matrix", {name: LARGE[name] for name in ("dense blocks",)}, "csv")
    add("frame", {name: FRAMES[name] for name in ("texts", "types")}, "csv", "frame in csv with a header and tabs",
        writing=', header=TRUE, sep="\\t"', reading=', data_type="frame"')
    for format in "csv", "text", "binary":
        add("frame", FRAMES, format, f"frame in {format}", reading=', data_type="frame"')
    return made


def writer(case):
    return f'{dml_cases.given()}\n{case.content}\n{SHOW[case.kind]}\nwrite(X, $file, format="{case.format}"{case.writing})\n'


def reader(case, options):
    return f"{dml_cases.given()}\nX = read($file{options})\n{SHOW[case.kind]}"


def run_here(text, file):
    """(whether it succeeded, what it printed, its message)"""
    with tempfile.NamedTemporaryFile("w", suffix=".dml") as script:
        script.write(text)
        script.flush()
        done = subprocess.run([TOKAMAK, "run", script.name, "-nvargs", f"file={file}"], capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=SECONDS, env=os.environ | {"TOKAMAK_CACHE": "off"})
    return done.returncode == 0, done.stdout, done.stderr


def run_there(answers, text, file, files=()):
    answer = answers.of(text, ("-nvargs", f"file={file}"), files, SECONDS)
    return answer.succeeded, answer.printed, answer.error


def place(folder, case):
    """A fresh folder for the file, and the file."""
    own = folder / case.name.replace(" ", "-").replace(":", "").replace("'", "")
    return own, own / f"x.{case.format}"


def difference(case, writes, reads, names):
    """None where the reader shows what the writer showed; else a sentence. names: of the writer and the reader"""
    for (succeeded, _, error), name, does in (writes, names[0], "write"), (reads, names[1], "read"):
        if not succeeded:
            say = dml_agreement.last_reason if name == "SystemDS" else dml_agreement.first_line
            return f"{name} does not {does} it: {say(error)}"
    said = dml_agreement.difference(reads[1], writes[1], TOLERANCE)
    return said and said.replace("ours", "the reader").replace("SystemDS's", "the writer's").replace("SystemDS has", "the writer has")


def forget_metadata(case, file):
    if not case.metadata:
        pathlib.Path(f"{file}.mtd").unlink(missing_ok=True)


def from_tokamak(answers, case):
    own, file = place(FOLDER / "from-tokamak", case)
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    writes = run_here(writer(case), file)
    forget_metadata(case, file)
    written = sorted(path for path in own.rglob("*") if path.is_file())
    reads = run_there(answers, reader(case, case.there or case.reading), file, written) if writes[0] else writes
    return difference(case, writes, reads, ("Tokamak", "SystemDS"))


def from_systemds(answers, case):
    own, file = place(FOLDER / "from-systemds", case)
    text = writer(case)
    script = own / "script.dml"
    if answers.refresh or not script.exists() or script.read_text() != text:
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        answers.path(text, ("-nvargs", f"file={file}")).unlink(missing_ok=True)  # the answer is kept, and its file isn't there
    writes = run_there(answers, text, file)
    script.write_text(text)
    forget_metadata(case, file)
    return difference(case, writes, run_here(reader(case, case.reading), file) if writes[0] else writes, ("SystemDS", "Tokamak"))


DIRECTIONS = {"from Tokamak": from_tokamak, "from SystemDS": from_systemds}


def run(answers, known, step):
    """How many agree, how many differ as is known, how many there are, and complaints about the others."""
    complaints, agreeing, listed, total = [], 0, 0, 0
    for case in cases():
        for direction, compare in DIRECTIONS.items():
            step(f"{case.name} {direction}")
            row = "files", f"{case.name} {direction}"
            wrong = compare(answers, case)
            agreeing, listed, total = agreeing + (wrong is None), listed + (wrong is not None and row in known), total + 1
            if (wrong is None) == (row in known):
                complaints.append(f"{': '.join(row)}: {wrong or 'agrees, but stands in known.csv'}")
    return agreeing, listed, total, complaints
