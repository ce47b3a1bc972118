#!/usr/bin/env python3
"""Runs DML scripts with a mistake in them (script_mutations.py): each still works, or is refused with a message that says where.

A mutant is a script of test/scripts, test/golden, examples or lib with one change. On each engine it has to end with 0 (the change does
no harm), or with 1 or 2 and an error that names a file, line and column that are there, with that line below. It must not end
with an internal error or by a signal, use more than 10 s of processor time (unless the program that it has become never ends),
leave a file that is not complete, or print names that only the compiler's developers know. A changed file of lib is run by a
script that calls its function. What the native engine refuses, the reference refuses, too (not the other way round: what nothing
uses is not computed natively).

usage: mutated_scripts.py [--count N] [--seed S] [--kind TEXT] [--number N] [--show N] [--reduce] [--jobs N] [--program FILE]
                          [--tier TIER]
  --count N     how many mutants; the test suite runs 300
  --kind TEXT   only kinds of mistakes with this in their name
  --number N    only this mutant of the seed
  --show N      prints the changes and messages of the first N mutants that are refused
  --tier TIER   of the native engine: built-in-first (default), or compile-first, which takes longer
  --reduce      makes scripts that fail smaller before they are shown
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import functools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

import run_scripts
import script_mutations

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("test/scripts", "test/golden", "examples", "lib")
COUNT, SEED = 300, 1
PROCESSOR_SECONDS, SECONDS = 10, 200  # the second is for a program that waits: machines that run tests may be busy
OVER_TIME = -24  # ended by SIGXCPU
PLACE = re.compile(r"^ *(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+): error: ", re.MULTILINE)
NO_PLACE = re.compile(r"^script\.dml: error: the script has no function '", re.MULTILINE)  # what is missing has no line
INTERNAL = re.compile(r"internal error|terminate called|\b(?:tok|plan|mlir|llvm|func|arith)\.\w+|\bMLIR\b|\bLLVM\b"
                      r"|std::|tensor<|\bnullptr\b")
# Programs that draw random numbers may meet an error in one run and not in the next.
DRAWS = re.compile(r"\b(?:rand|sample|Rand|dropout|kmeans|als\w*|[pg]nmf|autoencoder\w*|lstm|msvm|pca)\b", re.IGNORECASE)


@dataclasses.dataclass
class Mutant:
    number: int
    kind: str
    path: pathlib.Path  # of the script that was changed, from ROOT
    text: str

    @property
    def library(self):
        return self.path.parts[0] == "lib"

    def difference(self):
        before = (ROOT / self.path).read_text(errors="surrogateescape")
        lines = difflib.unified_diff(before.splitlines(), self.text.splitlines(), n=0, lineterm="")
        return "\n".join(list(lines)[2:10])


@dataclasses.dataclass
class Outcome:
    status: int
    out: str
    err: str
    left: list  # files that should not be there afterwards


def encoded(text):
    return text.encode("utf-8", errors="surrogateescape")


@functools.cache
def scripts():
    """{path from ROOT: Script}."""
    paths = sorted(p for folder in FOLDERS for p in (ROOT / folder).rglob("*.dml"))
    return {p.relative_to(ROOT): script_mutations.Script(p.read_text(errors="surrogateescape")) for p in paths}


@functools.cache
def callers():
    """{function of lib: the shortest script that calls it}."""
    found = {}
    by_length = sorted((s for s in scripts() if s.parts[0] != "lib"), key=lambda path: (len(scripts()[path].text), path))
    for path in by_length:
        for name in re.findall(r"\b(\w+)\(", scripts()[path].text):
            found.setdefault(name, path)
    return found


def mutant(seed, number, kinds):
    """Each script has a random rank, and the first with a place for the mistake is taken: a new script changes few mutants."""
    kind = kinds[number % len(kinds)]

    def rank(path):
        return zlib.crc32(f"{seed} {number} {path}".encode())
    for path in sorted(scripts(), key=rank):
        text = script_mutations.KINDS[kind](scripts()[path], random.Random(f"{seed} {number} {path}"))
        if text is not None:
            return Mutant(number, kind, path, text)
    raise LookupError(f"no script has a place for the mistake: {kind}")


class Runner:
    """Runs mutants, from several threads, too."""
    def __init__(self, program, tier="built-in-first"):
        self.program, self.tier = program, tier
        # A copy of what scripts read, so that mutants can do no harm to the tree. It is made here and not at first use, where two
        # threads could each make one, and the one that is dropped would be removed while a mutant reads it.
        self.data = tempfile.TemporaryDirectory(prefix="tokamak-mutants-")
        for name in FOLDERS:
            shutil.copytree(ROOT / name, pathlib.Path(self.data.name, name))

    def execute(self, mutant, command, *options):
        with tempfile.TemporaryDirectory(prefix="tokamak-mutant-") as name:
            folder = pathlib.Path(name)
            for shared in {path.split("/")[0] for path in FOLDERS}:
                (folder / shared).symlink_to(pathlib.Path(self.data.name, shared))
            script, arguments = folder / "script.dml", []
            caller = callers().get(mutant.path.stem) if mutant.library else mutant.path
            if mutant.library:
                script = folder / "library" / mutant.path.name
                script.parent.mkdir()
                arguments = ["--library=library"]
            script.write_bytes(encoded(mutant.text))
            if caller and command == "run":
                arguments += [a.replace("{tmp}", f"{folder}/out") for a in run_scripts.ScriptTest(ROOT / caller).args]
            elif caller:
                arguments += [a for a in run_scripts.ScriptTest(ROOT / caller).args if not a.startswith("--")]
            main = caller if mutant.library and caller else script.relative_to(folder)
            (folder / "out").mkdir()
            before = {p.name for p in folder.iterdir()}
            limited = ["bash", "-c", f'ulimit -c 0; ulimit -S -t {PROCESSOR_SECONDS}; exec "$0" "$@"', self.program, command, str(main)]
            try:
                done = subprocess.run([*limited, "--color=never", *options, *arguments], cwd=folder, capture_output=True, timeout=SECONDS,
                                      stdin=subprocess.DEVNULL, env=os.environ | {"TOKAMAK_CACHE": "off"})
            except subprocess.TimeoutExpired:
                return Outcome(OVER_TIME, "", "", [])
            names = [p for p in folder.rglob("*") if p.name.startswith((".tokamak-", "tokamak-reproducer"))]
            names += [p for p in (folder / "out").rglob("*.mtd") if not p.with_suffix("").exists()]
            left = [str(p.relative_to(folder)) for p in names if p.name not in before]
            return Outcome(done.returncode, done.stdout.decode(errors="replace"),
                           done.stderr.decode(errors="surrogateescape").replace(f"{folder}/", ""), left)

    def complaint(self, mutant):
        """What is wrong with how a mutant ends, or None; and how it ends on the native engine."""
        native = self.execute(mutant, "run", "--engine=native", "--threads=2", "--memory=1G", f"--tier={self.tier}")
        wrong = self.wrong_end(mutant, native)
        # Beside their size, the reference needs minutes for some.
        if native.status != OVER_TIME and (wrong or mutant.path.parts[:2] != ("test", "scripts")):
            return wrong and f"native: {wrong}", native
        reference = self.execute(mutant, "run", "--engine=reference", "--memory=1G")
        if native.status == OVER_TIME:
            return self.wrong_over_time(mutant, reference), native
        if reference.status == OVER_TIME:
            return None, native
        wrong = self.wrong_end(mutant, reference)
        if not wrong and native.status != 0 and reference.status == 0 and not DRAWS.search(mutant.text):
            wrong = f"exit status {reference.status} after {native.status} of native\n{native.err}{reference.err}"
        return wrong and f"reference: {wrong}", native

    def wrong_over_time(self, mutant, reference):
        """A program may have become endless; the reference does not end then, either, and checking it does."""
        if reference.status != OVER_TIME:
            return f"native: no end after {PROCESSOR_SECONDS} s, the reference ends with {reference.status}\n{reference.err}"
        checked = self.execute(mutant, "check")
        if checked.status == OVER_TIME:
            return f"check: no end after {PROCESSOR_SECONDS} s"
        return None if checked.status == 0 else f"run does not end, check ends with {checked.status}\n{checked.err}"

    @staticmethod
    def wrong_end(mutant, outcome):
        if outcome.status == OVER_TIME:
            return f"no end after {PROCESSOR_SECONDS} s"
        if outcome.status not in (0, 1, 2):
            return f"exit status {outcome.status}\n{outcome.err[-3000:]}"
        if outcome.left:
            return f"left {' '.join(outcome.left)}\n{outcome.err}"
        if INTERNAL.search(outcome.err):
            return f"exit status {outcome.status}, and names of the compiler's own\n{outcome.err}"
        return wrong_place(mutant, outcome.err) if outcome.status else None


def wrong_place(mutant, err):
    """What is wrong with the place of the first error of a text, or None."""
    match = PLACE.search(err)
    if NO_PLACE.search(err):
        return None
    if not match:
        return f"no error with file, line and column\n{err}"
    file, line, column = match["file"], int(match["line"]), int(match["column"])
    changed = mutant.text if file in ("script.dml", f"library/{mutant.path.name}") else None
    if changed is None and not (ROOT / file).exists():
        return f"the error's file is not there\n{err}"
    lines = (changed if changed is not None else (ROOT / file).read_text(errors="surrogateescape")).split("\n")
    # Behind the last line or the last character stands what is missing there.
    if not 1 <= line <= len(lines) or not 1 <= column <= len(encoded(lines[line - 1])) + 1:
        return f"the error's place is not there\n{err}"
    below = err[match.end():].split("\n")[1:3]
    if len(below) < 2 or (lines[line - 1].strip() and not below[0].strip()) or "^" not in below[1]:
        return f"no excerpt with a caret\n{err}"
    return None


def described(mutant, complaint):
    return f"mutant {mutant.number}: {mutant.kind} in {mutant.path}\n{mutant.difference()}\n{complaint}"


def reduced(runner, mutant, complaint):
    """The mutant with as few lines as still give the same complaint, as far as dropping pieces finds them."""
    def same(text):
        found, _ = runner.complaint(dataclasses.replace(mutant, text=text))
        return found is not None and found.split("\n")[0] == complaint.split("\n")[0]
    lines = mutant.text.split("\n")
    size = max(1, len(lines) // 2)
    while size:
        place = 0
        while place < len(lines):
            fewer = lines[:place] + lines[place + size:]
            if same("\n".join(fewer)):
                lines = fewer
            else:
                place += size
        size //= 2
    return dataclasses.replace(mutant, text="\n".join(lines))


def discover(program):
    """For run.py: one test for each kind of mistake, {name: function that gives None or what is wrong}."""
    kinds = list(script_mutations.KINDS)
    runner = Runner(program)

    def run(first):
        wrong = []
        for number in range(first, COUNT, len(kinds)):
            changed = mutant(SEED, number, kinds)
            complaint, _ = runner.complaint(changed)
            if complaint:
                wrong.append(described(changed, complaint))
        return "\n".join(wrong) or None
    return {f"mutated/{kind.replace(' ', '-')}": functools.partial(run, first) for first, kind in enumerate(kinds)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kind", default="")
    parser.add_argument("--number", type=int)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--program", default=run_scripts.TOKAMAK)
    parser.add_argument("--tier", default="built-in-first")
    options = parser.parse_args()
    runner = Runner(options.program, options.tier)
    kinds = [kind for kind in script_mutations.KINDS if options.kind in kind]
    numbers = range(options.count) if options.number is None else [options.number]

    def tried(number):
        changed = mutant(options.seed, number, kinds)
        return changed, *runner.complaint(changed)
    failed, ends, shown = 0, {}, 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        for changed, complaint, native in pool.map(tried, numbers):
            ends[native.status] = ends.get(native.status, 0) + 1
            if native.status in (1, 2) and shown < options.show:
                shown += 1
                print(described(changed, native.err) + "\n", flush=True)
            if complaint:
                failed += 1
                print("FAILED " + described(changed, complaint), flush=True)
                if options.reduce:
                    print("---- reduced to\n" + reduced(runner, changed, complaint).text + "\n----", flush=True)
    print("exit status: " + ", ".join(f"{status} of {count}" for status, count in sorted(ends.items())))
    print(f"{len(numbers) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
