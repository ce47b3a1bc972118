#!/usr/bin/env python3
"""Programs that ask for more than there is: sizes beyond the address space, memory beyond the budget (--memory) and
beyond what the system gives (ulimit -v). Each must end in an error of the user's with its place, or within its means.

usage: run_limits.py [FILTER]
"""

import functools
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
ENGINES = ("reference", "native")
MEBIBYTE = 1 << 20
# The program itself, its libraries and the compiler: four times what a run of print(1) takes.
OWN_BYTES = 100 * MEBIBYTE
# Far more than any of these takes; work that is not linear in what is stored takes hours.
SECONDS = 60
LOCATED = re.compile(r"^\S+\.dml:\d+:\d+: error: ", re.MULTILINE)


class Outcome:
    def __init__(self, script, engine, options=(), address_space=None):
        def limit():
            if address_space:
                resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "script.dml"
            path.write_text(script.replace("{tmp}", folder) + "\n")
            with open(f"{folder}/out", "w+") as out, open(f"{folder}/err", "w+") as err:
                process = subprocess.Popen([TOKAMAK, "run", path, f"--engine={engine}", "--threads=2", *options],
                                           cwd=folder, stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                           preexec_fn=limit)
                try:
                    process.wait(SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    raise AssertionError(f"{engine}: not finished after {SECONDS} s\n{script}")
                out.seek(0), err.seek(0)
                self.out, self.err = out.read(), err.read()
        self.status, self.script, self.engine = process.returncode, script, engine

    def told(self):
        return f"{self.engine}: exit status {self.status}\n{self.script}\n{self.err[:2000]}"

    def check_is_users(self, *texts):
        """An error of the user's with its place, and with one of the texts."""
        assert self.status in (1, 2), self.told()
        assert LOCATED.search(self.err), "the error has no place: " + self.told()
        assert not texts or any(text in self.err for text in texts), f"expected one of {texts}: " + self.told()


# --- sizes --------------------------------------------------------------------------------------------------------------

TOO_LARGE = ("is too large", "out of memory", "cannot reshape", "are supported", "is not an integer", "too many values")

SIZES = {
    "rand": "X = rand(rows=1e30, cols=1)\nprint(sum(X))",
    "rand-of-few-entries": "print(sum(rand(rows=1e12, cols=10, sparsity=1e-12)))",
    "nrow-of-rand": "print(nrow(rand(rows=1e30, cols=1)))",
    "matrix": "print(sum(matrix(0, 1e12, 1e12)))",
    "matrix-without-cells": "print(ncol(matrix(0, 0, 1e15)))",
    "matrix-of-text": 'print(sum(matrix("1 2", 1e12, 1e12)))',
    "product-of-sizes-wraps-around": "print(sum(matrix(seq(1, 4), 4294967296, 4294967297)))",
    "cells-of-sparse-wrap-around": "X = matrix(0, rows=8589934592, cols=2147483647)\nprint(length(X))",
    "frame-rows": 'F = frame("", rows=1e12, cols=1)\nprint(nrow(F))',
    "frame-columns": 'F = frame("", rows=1, cols=1e12)\nprint(ncol(F))',
    "frame-columns-without-rows": 'F = frame("", rows=0, cols=1e12)\nprint(ncol(F))',
    "freplicate": 'F = freplicate(frame("", rows=3, cols=1), 1e12)\nprint(nrow(F))',
    "freplicate-wraps-around": 'F = freplicate(frame("", rows=4, cols=1), 4611686018427387904)\nprint(nrow(F))',
    "table-sizes": "print(sum(table(seq(1, 5), seq(1, 5), 1e12, 1e12)))",
    "table-row-key": "print(sum(table(seq(1, 5) * 1e18, seq(1, 5))))",
    "table-column-key": "print(sum(table(seq(1, 5), seq(1, 5) * 1e17)))",
    "table-of-few-entries": "print(sum(table(seq(1, 5), seq(1, 5), 1e9, 1e9)))",
    "seq": "print(sum(seq(1, 1e15)))",
    "seq-of-tiny-steps": "print(sum(seq(0, 1, 1e-300)))",
    "sample": "print(sum(sample(1e18, 1e15)))",
    "aggregate-groups": 'print(sum(aggregate(target=seq(1, 5), groups=seq(1, 5), fn="sum", ngroups=1e15)))',
    "aggregate-key": 'print(sum(aggregate(target=seq(1, 5), groups=seq(1, 5) * 1e17, fn="sum")))',
    "diag": "print(sum(diag(matrix(1, 3e6, 1)) + 1))",
    "outer": 'X = outer(seq(1, 1e6), t(seq(1, 1e6)), "+")\nprint(as.scalar(X[7, 7]))',
    "cbind": "X = matrix(0, 0, 2e14)\nprint(ncol(cbind(X, X)))",
}


def sizes(name):
    for engine in ENGINES:
        Outcome(SIZES[name], engine, ["--memory=100M"]).check_is_users(*TOO_LARGE)


def files():
    """Files that say they are enormous, and have one cell."""
    market = "%%MatrixMarket matrix {} real general\n{}\n1 1 2.5\n"
    metadata = '{{"data_type": "{}", "format": "text", "rows": {}, "cols": {}}}'
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for number, (kind, header) in enumerate([("coordinate", "1000000000 1000000000 1"), ("array", "1000000 1000000"),
                                                 ("coordinate", "1000000000000 5 1"),
                                                 ("array", "4294967296 4294967296"),
                                                 ("coordinate", "1000000000000000000 1 1")]):
            (path / f"{number}.mtx").write_text(market.format(kind, header))
            for engine in ENGINES:
                Outcome(f'print(sum(readMM("{path}/{number}.mtx")))', engine, ["--memory=100M"]).check_is_users(*TOO_LARGE)
        for number, (kind, rows, columns) in enumerate([("matrix", 10**9, 10**9), ("matrix", 10**12, 1),
                                                        ("frame", 10**9, 1), ("frame", 10**18, 1),
                                                        ("frame", 1, 10**12)]):
            (path / f"{number}.txt").write_text("1 1 2.5\n")
            (path / f"{number}.txt.mtd").write_text(metadata.format(kind, rows, columns))
            script = f'X = read("{path}/{number}.txt", data_type="{kind}")\nprint(nrow(X))'
            for engine in ENGINES:
                Outcome(script, engine, ["--memory=100M"]).check_is_users(*TOO_LARGE)


def linear():
    """Huge matrices with few entries take time and memory for what is stored only."""
    done = Outcome("X = rand(rows=1000, cols=2147483647, sparsity=1e-11, seed=1)\nprint(sum(X != 0) < 100)", "native",
                   ["--memory=60M"])
    assert done.status == 0 and done.out == "TRUE\n", done.told()
    done = Outcome("T = table(seq(1, 5), seq(1, 5), 3000000, 2000000000)\nprint(sum(T) + \" \" + nrow(T))", "native",
                   ["--memory=60M"])
    assert done.status == 0 and done.out == "5.0 3000000\n", done.told()


def one_number():
    """Matrices with the same number in every cell take no memory, nor do those computed from them, nor what reads them."""
    done = Outcome("R = matrix(2, 40000, 40000)\nS = rand(rows=40000, cols=40000, sparsity=0.0001, seed=1)\n"
                   "while (FALSE) {}\nQ = 1 - R * 3\nwhile (FALSE) {}\n"
                   'print((sum(S * R) == 2 * sum(S)) + " " + round(sum(S * Q) / sum(S)) + " " + nrow(Q))', "native",
                   ["--memory=100M"])
    assert done.status == 0 and done.out == "TRUE -5.0 40000\n", done.told()


# --- sweep --------------------------------------------------------------------------------------------------------------

# Arguments of the type integer that are no sizes: any number will do, or they are checked against something else.
NO_SIZES = {"seed", "shift", "nnz", "k", "order", "range"}
# Of these there may be as many as there are; a matrix of one number takes no memory.
NO_SIZES |= {("toString", "rows"), ("toString", "cols"), ("matrix", "cols")}
# A value for a required argument of each type.
SAMPLES = {"value": "seq(1, 4)", "matrix": "seq(1, 4)", "cell": "seq(1, 4)", "scalar": "1", "integer": "2", "double": "1",
           "boolean": "TRUE", "string": '"a"', "list": "list(1)", "frame": 'frame("", rows=2, cols=1)'}
# Where that is not a value that the builtin takes.
OWN_SAMPLES = {("matrix", "data"): "0", ("aggregate", "fn"): '"sum"', ("frame", "data"): '""', ("table", "b"): "seq(1, 4)"}


def integer_arguments():
    """(builtin, the argument, all required ones) of src/frontend/dml/Builtins.def"""
    text = (ROOT / "src/frontend/dml/Builtins.def").read_text()
    table = re.findall(r'^TOKAMAK_BUILTIN\(\w+, "([^"]+)", (\w+), "[^"]*", \w+,\s*((?:"[^"]*"\s*)+)\)', text, re.MULTILINE)
    assert len(table) > 100, "the table of builtins has another form"
    for name, kind, quoted in table:
        parameters = re.findall(r"([\w.]+):(\w+)([?!]|\.\.\.|=[^,]*)?", "".join(re.findall('"([^"]*)"', quoted)))
        if kind == "Unsupported":
            continue
        required = [(p, t) for p, t, how in parameters if not how]
        for parameter, kind, how in parameters:
            if kind == "integer" and how != "!" and not NO_SIZES & {parameter, (name, parameter)}:
                yield name, parameter, required


def sweep(builtin, argument, required):
    given = {p: OWN_SAMPLES.get((builtin, p), SAMPLES[t]) for p, t in required}
    for size in ("1e30", "281474976710657", "1e12", "4294967296"):
        call = ", ".join(f"{p}={v}" for p, v in (given | {argument: size}).items())
        for engine in ENGINES:
            Outcome(f"X = {builtin}({call})\nprint(toString(list(X)))", engine, ["--memory=100M"]).check_is_users()


# --- memory -------------------------------------------------------------------------------------------------------------

# What takes a few hundred MB where it is not counted.
BUDGETS = {
    "strings": 's = "abcdefgh"\nfor (i in 1:26) { s = s + s }\nprint(s == "a")',
    "many-strings": 'L = list()\nfor (i in 1:40) { L = append(L, toString(matrix(i, 3000, 400), rows=3000, cols=400)) }\n'
                    'print(length(L))',
    "text-of-matrix": 'X = rand(rows=1000, cols=4000)\ns = toString(X, rows=1000, cols=4000, decimal=15)\nprint(s == "a")',
    "frame": 'F = frame("a text that is longer than what fits a cell", rows=2000000, cols=2)\nprint(nrow(F))',
    "frame-of-matrix": 'F = as.frame(matrix(1, 3000000, 1))\nG = rbind(F, F, F, F)\nH = rbind(G, G)\nprint(nrow(H))',
    "freplicate": 'F = freplicate(frame("a", rows=1000, cols=1), 10000)\nprint(nrow(F))',
    "frame-columns": 'F = frame("", rows=1, cols=1000000)\nprint(ncol(F))',
    "table": 'k = seq(1, 2000000)\nT = table(k, k)\nprint(sum(T))',
    "sample": 'x = sample(1000000000000, 4000000)\nprint(sum(x) > 0)',
    "sparse-rand": 'X = rand(rows=20000, cols=20000, sparsity=0.05)\nprint(sum(X) > 0)',
    "order": 'x = order(target=rand(rows=2500000, cols=1), by=1, index.return=TRUE)\nprint(sum(x) > 0)',
    "unique": 'x = unique(rand(rows=4000000, cols=1))\nprint(sum(x) > 0)',
    "aggregate": 'k = seq(1, 3000000)\nx = aggregate(target=k, groups=k, fn="variance")\nprint(sum(x) > 0)',
    "quantile": 'x = rand(rows=4000000, cols=1)\nprint(median(x))',
    "sparse-product": 'X = rand(rows=300, cols=3000000, sparsity=0.0001)\nY = t(X) %*% X\nprint(sum(Y * Y) > 0)',
    "inverse": 'X = rand(rows=1800, cols=1800)\nprint(sum(inv(X)))',
}


def budget(name):
    """Whether the program ends well or not, it keeps to its budget."""
    status, peak, told = peak_of(BUDGETS[name], "native", "--memory=50M")
    assert status in (0, 1, 2), told
    if status:
        assert LOCATED.search(told) and "out of memory" in told, told
    assert peak < 50 * MEBIBYTE + OWN_BYTES, f"{peak // MEBIBYTE} MiB in all\n{told}"


def peak_of(script, engine, *options):
    """(exit status, most memory it had at a time, what it said)"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "script.dml"
        path.write_text(script + "\n")
        with open(f"{folder}/err", "w+") as err:
            process = subprocess.Popen([TOKAMAK, "run", path, f"--engine={engine}", "--threads=2", *options], cwd=folder,
                                       stdout=subprocess.DEVNULL, stderr=err, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            told = f"{engine}: exit status {process.returncode}\n{script}\n{err.read()[:2000]}"
    return process.returncode, usage.ru_maxrss * 1024, told


# 40 MB in single precision, 80 as doubles.
SINGLES = {
    "matrix": "X = matrix(3, rows=10000, cols=1000)\nprint(sum(X))",
    "rand": "X = rand(rows=10000, cols=1000, seed=1)\nprint(sum(X) > 0)",
    "sparse-rand": "X = rand(rows=10000, cols=10000, sparsity=0.05, seed=1)\nprint(nrow(X) + sum(X) > 0)",
    "seq": "X = seq(1, 10000000)\nprint(sum(X) > 0)",
}


# What is asked last of each matrix of 8 MB.
LAST_USES = {
    "rows": "n = n + nrow(X)",
    "length": "n = n + length(X)",
    "cast": "if (nrow(X) == 1) { n = n + as.scalar(X) }",
}


def last_use(name):
    """Matrices are freed behind their last use, if it only asks for their size, too: 12 don't fit at a time."""
    lines = ["n = 0"]
    for number in range(12):
        lines += [f'X = removeEmpty(target=rand(rows=1000, cols=1000, seed={number + 1}), margin="rows")', LAST_USES[name]]
    done = Outcome("\n".join([*lines, "print(n >= 0)"]), "native", ["--memory=60M"])
    assert done.status == 0, done.told()


def single(name):
    """Constructors of single precision make no array of doubles first."""
    done = Outcome(SINGLES[name], "native", ["--precision=f32", "--memory=60M"])
    assert done.status == 0, done.told()


def sparse_becomes_dense():
    """Where an operation makes a sparse matrix dense, the error for want of memory says so."""
    done = Outcome("X = matrix(0, rows=1e6, cols=1e6)\nprint(sum(sqrt(X + 1) %*% X))", "native", ["--memory=60M"])
    done.check_is_users("out of memory")
    assert "would become dense" in done.err, done.told()


# --- system -------------------------------------------------------------------------------------------------------------

# Within the budget, but not within what the system gives.
REFUSED = {
    "array": "X = rand(rows=30000, cols=30000)\nprint(sum(X %*% X))",
    "strings": 's = "abcdefgh"\nfor (i in 1:27) { s = s + s }\nt = s + "a"\nprint(t == s)',
    "frame": 'F = frame("a", rows=100000000, cols=2)\nprint(nrow(F))',
    "table": "k = seq(1, 60000000)\nT = table(k, k)\nprint(nrow(T))",
    "in-parfor": "R = matrix(0, 4, 1)\nparfor (i in 1:4) { X = rand(rows=30000, cols=10000 + i)\n"
                 "  R[i, 1] = sum(X %*% t(X)) }\nprint(sum(R))",
}


def refused(name):
    for engine in ENGINES:
        # Stacks of half a gigabyte each are part of the address space.
        done = Outcome(REFUSED[name], engine, ["--memory=1000G"], address_space=2200 * MEBIBYTE)
        done.check_is_users("out of memory")


def discover():
    """{name: function that raises what is wrong}"""
    tests = {f"limits/sizes/{name}": functools.partial(sizes, name) for name in SIZES}
    tests |= {f"limits/sizes/{test.__name__}": test for test in (files, linear, one_number)}
    tests |= {f"limits/sweep/{builtin}-{argument}": functools.partial(sweep, builtin, argument, required)
              for builtin, argument, required in integer_arguments()}
    tests |= {f"limits/budget/{name}": functools.partial(budget, name) for name in BUDGETS}
    tests |= {f"limits/single-precision/{name}": functools.partial(single, name) for name in SINGLES}
    tests |= {f"limits/last-use/{name}": functools.partial(last_use, name) for name in LAST_USES}
    tests |= {"limits/budget/sparse-becomes-dense": sparse_becomes_dense}
    return tests | {f"limits/system/{name}": functools.partial(refused, name) for name in REFUSED}


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
