#!/usr/bin/env python3
"""Random scripts that misuse builtins and operators: matrices of sizes that don't fit, numbers that are none, wrong bounds.

    test/fuzz/misuse.py [--minutes N] [--programs N] [--seed S] [--jobs N]       ./dev fuzz misuse

Most of them end with an error, which is what is looked at: it has to be the user's (exit status 1 or 2) on the native engine, fused or
not, where it is on the reference engine, and never a bug of ours (70). Those that end well have to print the same numbers. Which error
comes first may differ: sizes that never agree are reported before anything runs.

A finding is written to build/fuzz/misuse.
"""

import argparse
import concurrent.futures
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKAMAK = ROOT / "build/release/bin/tokamak"
ENGINES = (["--engine=reference"], ["--fusion=cost"], ["--fusion=none"])
SECONDS = 60       # that a script may take
TOLERANCE = 1e-9   # of numbers, relative to the larger one and to 1

UNARY = """abs sin cos tan exp log sqrt round floor ceil sign sinh tanh sigmoid is.nan cumsum cumprod cummin cummax rowcumsum cumsumprod
rowSums colSums rowMins colMins rowMaxs colMaxs rowMeans colMeans rowVars colVars rowSds colSds rowProds colProds rowIndexMax
rowIndexMin t rev diag inv det trace cholesky nrow ncol length sum mean min max prod var sd median iqm unique countDistinct as.scalar
as.matrix as.integer as.logical""".split()
BINARY = "+ - * / ^ %% %/% < > <= >= == != & | %*%".split()
SHAPES = ((1, 1), (3, 1), (1, 3), (3, 3), (3, 4), (4, 3), (4, 1), (1, 4), (2, 2), (6, 2), (20, 3), (20, 1))
# M: a matrix that there is; N: a number; L: a truth value; the rest in braces: one of these.
CALLS = """outer(M, M, "{+|-|*|<|==|^|max}")
cbind(M, M)
rbind(M, M)
M[N, N]
M[N:N, ]
M[, N:N]
table(M, M)
table(M, M, N, N)
table(M, M, M)
table(seq(1, nrow(M)), M, N, N)
removeEmpty(target=M, margin="{rows|cols}")
removeEmpty(target=M, margin="{rows|cols}", select=M)
order(target=M, by=N, decreasing=L, index.return=L)
matrix(M, rows=N, cols=N)
solve(M, M)
ifelse(M, M, N)
ifelse(M, N, M)
ifelse(M, M, M)
seq(N, N, N)
quantile(M, 0.3)
quantile(M, M)
cov(M, M)
moment(M, N)
replace(target=M, pattern=N, replacement=N)
aggregate(target=M, groups=M, fn="{sum|mean|count|variance}")
min(M, M)
max(M, N)
log(M, N)
lower.tri(target=M, diag=L, values=L)
rexpand(target=M, max=N, dir="{rows|cols}", cast=TRUE, ignore=L)
sum(M * M)""".splitlines()


class Script:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = ["A", "B", "C"]
        made = [f"{name} = {self.matrix()}" for name in self.names]
        if self.random.random() < 0.4:  # of sizes that are known at run time only
            made[0] = f'A = removeEmpty(target={self.matrix()}, margin="rows")'
        computed = []
        for number in range(self.random.randrange(1, 4)):
            name = f"V{number}"
            computed.append(f"{name} = {self.expression()}")
            if self.random.random() < 0.6:  # a neighbour that may be fused with it
                computed.append(f"{name} = {name} * 2 + 1")
            self.names.append(name)
        if self.random.random() < 0.3:
            computed = ["for (i in 1:2) {", *("  " + line for line in computed), "}"]
        self.text = "\n".join(made + computed + [f"print(sum({name}) + 0)" for name in self.names]) + "\n"

    def matrix(self):
        rows, columns = self.random.choice(SHAPES)
        size = f"rows={rows}, cols={columns}"
        return self.random.choice((f"rand({size}, seed={self.random.randrange(99)})", f"matrix({self.random.randrange(1, 4)}, {size})",
                                   f"rand({size}, sparsity=0.2, seed={self.random.randrange(99)})",
                                   f"round(rand({size}, min=0, max=5, seed={self.random.randrange(99)}))"))

    def number(self):
        return self.random.choice(("1", "2", "3", "4", "0", "2.5", *(("-1", "NaN", "TRUE") if self.random.random() < 0.2 else ())))

    def expression(self):
        kind = self.random.random()
        if kind < 0.2:
            return f"{self.random.choice(UNARY)}({self.random.choice(self.names)})"
        if kind < 0.4:
            right = self.random.choice(self.names) if self.random.random() < 0.7 else self.number()
            return f"{self.random.choice(self.names)} {self.random.choice(BINARY)} {right}"
        return re.sub(r"\{(.*?)\}|\b[MNL]\b", self.filled, self.random.choice(CALLS))

    def filled(self, place):
        match place.group():
            case "M":
                return self.random.choice(self.names)
            case "N":
                return self.number()
            case "L":
                return self.random.choice(("TRUE", "FALSE"))
        return self.random.choice(place.group(1).split("|"))


def is_same(first, second):
    def agree(a, b):
        if a == b:
            return True
        try:
            a, b = float(a), float(b)
        except ValueError:
            return False
        return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    first, second = first.split(), second.split()
    return len(first) == len(second) and all(map(agree, first, second))


def difference(text):
    """What is wrong with how the script ends; empty: nothing. And whether it ends with an error."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "misuse.dml")
        with open(path, "w") as file:
            file.write(text)
        done = []
        for options in ENGINES:
            try:
                done.append(subprocess.run([TOKAMAK, "run", path, *options], cwd=folder, capture_output=True, text=True, timeout=SECONDS,
                                           env={**os.environ, "TOKAMAK_CACHE": "off"}))
            except subprocess.TimeoutExpired:
                return f"{' '.join(options)}: no end after {SECONDS} s", False
    reference = done[0]
    for options, run in zip(ENGINES, done):
        name = " ".join(options)
        if run.returncode not in (0, 1, 2):
            return f"{name}: exit status {run.returncode}\n{run.stderr[:1000]}", False
        if (run.returncode == 0) != (reference.returncode == 0):
            return f"{name}: exit status {run.returncode}, on the reference engine {reference.returncode}\n{(run.stderr or reference.stderr)[:1000]}", False
        if run.returncode == 0 and not is_same(run.stdout, reference.stdout):
            return f"{name} prints\n{run.stdout[:500]}and the reference engine\n{reference.stdout[:500]}", False
    return "", reference.returncode != 0


def campaign(first, programs, minutes, jobs):
    """(findings by seed, scripts that ran, those of them that ended with an error)."""
    end = time.monotonic() + 60 * minutes
    findings, ran, errors = {}, 0, 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as executor:
        for begin in range(first, first + programs, 4 * jobs):
            seeds = range(begin, min(begin + 4 * jobs, first + programs))
            for seed, (wrong, fails) in zip(seeds, executor.map(lambda seed: difference(Script(seed).text), seeds)):
                ran, errors = ran + 1, errors + fails
                if wrong:
                    findings[seed] = wrong
            if time.monotonic() > end:
                break
    return findings, ran, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--programs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    findings, ran, errors = campaign(options.seed, options.programs, options.minutes, options.jobs)
    folder = ROOT / "build/fuzz/misuse"
    for seed, wrong in findings.items():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{seed}.dml").write_text(Script(seed).text)
        print(f"{folder / f'{seed}.dml'}: {wrong}")
    print(f"{ran} scripts, {errors} of which end with an error: {len(findings) or 'no'} finding{'' if len(findings) == 1 else 's'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
