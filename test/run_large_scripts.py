#!/usr/bin/env python3
"""Scripts of many thousand lines: their time grows with their length, and nothing recurses along it.

Each is run with the options that follow it. A limit is many times what the script takes, and far below what time that
grows with the square of the length, or an overflow of the stack, would give.

usage: run_large_scripts.py [FILTER]
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
LIMIT_SECONDS = 120
ENGINES = {"cost": ["--fusion=cost"], "none": ["--fusion=none"], "all": ["--fusion=all"], "reference": ["--engine=reference"]}


def chain(lines, statement, result="sum(X)"):
    """One value that every line computes from the one before."""
    return "X = matrix(1, rows=10, cols=4)\n" + statement * lines + f"print({result})\n"


def numbers(lines):
    return "x = as.scalar(matrix(1, rows=1, cols=1))\ny = 0\n" + "y = y + x\n" * lines + "print(y)\n"


def prints(lines):
    """As many blocks as lines."""
    return "X = matrix(1, rows=10, cols=4)\n" + "print(sum(X + 1))\n" * lines


def updates(lines):
    """A result of a parfor through as many inserts as lines."""
    return ("R = matrix(0, rows=4, cols=1)\nparfor (i in 1:4) {\n" + "  R[i, 1] = as.scalar(R[i, 1]) + i\n" * lines +
            "}\nprint(sum(R))\n")


def sums(lines):
    """A sum over the iterations of a parfor, to which each iteration adds as often as there are lines."""
    return "s = 0\nparfor (i in 1:4, check=0) {\n" + "  s = s + i\n" * lines + "}\nprint(s)\n"


def functions(lines):
    """As many functions as lines, each called once, and one that is called again and again."""
    return ("".join(f"f{i} = function(double x) return (double y) {{ y = x + {i} }}\n" for i in range(lines)) +
            "y = 0\n" + "".join(f"y = f{i}(y)\n" for i in range(lines)) + "y = f1(y)\n" * lines + "print(y)\n")


def defaults(lines):
    """As many variables as lines, and as many calls with defaults."""
    return ("f = function(double a, double b = 2, double c = 2 * b, double d = c) return (double y) { y = a + b + c + d }\n" +
            "x = as.scalar(matrix(1, rows=1, cols=1))\ns = 0\n" + "".join(f"v{i} = x\n" for i in range(lines)) +
            "s = s + f(x)\n" * lines + "print(s)\n")


def loops(lines):
    """As many loops that read one matrix as lines."""
    return "X = matrix(1, 2, 2)\ns = 0\n" + "for (i in 1:2) s = s + as.scalar(X[1, i])\n" * lines + "print(s)\n"


def columns(lines):
    return "print(sum(cbind(" + ", ".join(str(i) for i in range(lines)) + ")))\n"


def mistakes(lines):
    """As many names as lines, each of them misspelt once, in variables and in functions."""
    return ("".join(f"first_value_{i:05} = {i}\n" for i in range(lines)) +
            "".join(f"print(frist_vlaue_{i:05})\n" for i in range(lines)) +
            "".join(f"y = second_function_{i:05}(1)\n" for i in range(lines)))


# name: (script, output, engines)
SCRIPTS = {
    "additions": (chain(60_000, "X = X + 1\n"), "2400040.0", ["cost", "none", "reference"]),
    "functions-of-cells": (chain(10_000, "X = exp(X) * 0.1\n", "round(1000 * sum(X))"), "4473.0", ["cost", "all", "reference"]),
    "products": (chain(3_000, "X = X %*% diag(matrix(1, rows=4, cols=1))\n"), "40.0", ["cost", "none"]),
    "scalars": (numbers(30_000), "30000.0", ["cost", "reference"]),
    "blocks": (prints(1_000), None, ["cost"]),
    "parfor-inserts": (updates(2_000), "20000.0", ["cost", "reference"]),
    "functions": (functions(20_000), "2.0001E8", ["cost"]),
    "defaults": (defaults(40_000), "440000.0", ["cost", "reference"]),
    "loops": (loops(50_000), "100000.0", ["cost"]),
    "operands": (columns(100_000), "4.99995E9", ["cost", "reference"]),
    "parfor-sums": (sums(20_000), "200000", ["cost", "reference"]),
}


def wrong_shapes(lines):
    return "A = matrix(1, 2, 2)\nB = matrix(1, 3, 3)\n" + "print(sum(A %*% B))\n" * lines


# name: (script, number of errors)
WRONG_SCRIPTS = {
    "mistakes": (mistakes(30_000), 60_000),
    "wrong-shapes": (wrong_shapes(30_000), 30_000),
}


def completed(script, options):
    """The finished process, or None where it takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "large.dml"
        path.write_text(script)
        limit = 6 << 30
        try:
            return subprocess.run([TOKAMAK, "run", path, *options], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  timeout=LIMIT_SECONDS, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        except subprocess.TimeoutExpired:
            return None


TOO_SLOW = f"it takes more than {LIMIT_SECONDS} s"


def run(script, expected, options):
    """None, or what is wrong."""
    done = completed(script, options)
    if not done:
        return TOO_SLOW
    if done.returncode != 0:
        return f"exit status {done.returncode}\n{done.stderr[-2000:]}"
    if expected is not None and done.stdout != expected + "\n":
        return f"prints {done.stdout[-200:]!r} instead of {expected!r}"
    return None


def refuse(script, errors):
    """None, or what is wrong with the report of a script with that many errors."""
    done = completed(script, [])
    if not done:
        return TOO_SLOW
    told = done.stderr.count(": error: ")
    if done.returncode != 2 or told != errors:
        return f"exit status {done.returncode}, {told} errors instead of {errors}\n{done.stderr[-2000:]}"
    return None


def discover():
    """{name: function that returns None or what is wrong}"""
    runs = {f"commands/large/{name}/{engine}": lambda s=script, e=expected, o=ENGINES[engine]: run(s, e, o)
            for name, (script, expected, engines) in SCRIPTS.items() for engine in engines}
    refused = {f"commands/large/{name}": lambda s=script, e=errors: refuse(s, e)
               for name, (script, errors) in WRONG_SCRIPTS.items()}
    return runs | refused


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
