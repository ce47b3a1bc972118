#!/usr/bin/env python3
"""Runs the cases of fusion: results under every selector, and which operators are formed under the fixed machine model.

The cases stand in test/fusion/NAME.dml: first the data that all of them use, then one case after the other, each with a
line of mathematics:
  # case 7: r = X v - y; X' r and the sum of r^2
  # shows: R s         the results that are compared, R if not given
Behind its statements stands what is pinned, written by --update:
  # operators:         those that cost forms, in the order in which they run: name, sizes, operations, what they compute
  # refused:           why parts can't be computed together, where there is more than one operator
each with `of sparse` where the data with few entries leads to others.

$sparsity is 1, then 0.02. tokamak-fuzz judges the results: reference and native engine, every selector, 1 and 2 threads.

usage: run_fusion.py [--update] [FILTER]
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin"
MACHINE = ROOT / "test/machine-model.json"
CASE = re.compile(r"# case (\S+): ")
HEADER = re.compile(r"# (shows): (.*)")
PINS = re.compile(r"# (?:operators|refused)(?: of sparse)?:$|#   \S")
SPARSITIES = {"": "1", " of sparse": "0.02"}
PLACE = re.compile(r" at [^ ]*:(\d+):\d+")
# Results without a name are called by their operation and place, slice@148:15, which changes with every line above.
NAMELESS = re.compile(r"@\d+:\d+")
OPERATOR = re.compile(r"    \d+\. (.*), ([\d.]+) us$")


class CaseFailed(Exception):
    pass


@dataclasses.dataclass
class Case:
    path: pathlib.Path
    data: list    # the lines before the first case
    number: str
    first: int    # line of its heading, from 0
    lines: list   # from its heading on

    @property
    def name(self):
        return f"fusion/{self.path.stem}/{self.number}"

    @property
    def headers(self):
        return dict(m.groups() for m in map(HEADER.fullmatch, self.lines) if m)

    @property
    def pins(self):
        return [line for line in self.lines if PINS.match(line)]

    def script(self, sparsity):
        """The case alone, its lines where they stand in the file; data and results in blocks of their own."""
        body = [line for line in self.lines[1:] if not line.startswith("#")]
        gap = [""] * (self.first - len(self.data))
        headers = len(self.lines) - 1 - len(body) - len(self.pins)
        prints = [f"print({result})" for result in self.headers.get("shows", "R").split()]
        lines = self.data + gap + ["while (FALSE) {}"] + [""] * headers + body + ["while (FALSE) {}"] + prints
        return "\n".join(lines).replace("$sparsity", sparsity) + "\n"

    def scripts(self, folder):
        """{what distinguishes it: path}, one if nothing is sparse."""
        files = {}
        for which, sparsity in SPARSITIES.items():
            path = pathlib.Path(folder) / f"{self.path.stem}-{self.number}{which.replace(' ', '-')}.dml"
            path.write_text(self.script(sparsity))
            files[which] = path
        return files

    def run(self):
        """None where results agree and operators are as pinned, else what is wrong."""
        with tempfile.TemporaryDirectory() as folder:
            files = self.scripts(folder)
            try:
                judged = subprocess.run([BIN / "tokamak-fuzz", *files.values()], cwd=ROOT, capture_output=True, text=True,
                                        stdin=subprocess.DEVNULL)
                if judged.returncode != 0:
                    return judged.stdout + judged.stderr
                found = self.found_pins(files)
            except CaseFailed as failure:
                return str(failure)
        if found != self.pins:
            return "\n".join([f"{self.path.relative_to(ROOT)}:{self.first + 1}: not the operators pinned there; found",
                              *found, f"--update writes them: test/run_fusion.py --update {self.name}"])
        return None

    def found_pins(self, files):
        pins = {which: self.explained(script) for which, script in files.items()}
        if pins[" of sparse"] == pins[""]:
            del pins[" of sparse"]
        lines = []
        for which, (operators, refused) in pins.items():
            lines += [f"# operators{which}:", *(f"#   {line}" for line in operators)]
            if refused:
                lines += [f"# refused{which}:", *(f"#   {line}" for line in refused)]
        return lines

    def explained(self, script):
        """The operators whose results stand in the case's statements, and what is refused there."""
        done = subprocess.run([BIN / "tokamak", "run", script, "--quiet", "--fusion=cost", "--explain=fusion",
                               f"--machine-model={MACHINE}"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise CaseFailed(f"exit status {done.returncode}\n{done.stderr}")
        last = self.first + len(self.lines)
        isHere = lambda line: any(self.first < int(at) <= last for at in PLACE.findall(line))
        operators, refused, section = [], [], None
        for line in done.stderr.splitlines():
            if not line.startswith("    "):
                section = line.split()[0] if line.startswith("  ") else None
            elif section == "refused" and isHere(line):
                refused.append(plain(line))
            elif section == "operators" and (start := OPERATOR.match(line)):
                operator, computed = start[1], []
            elif section == "operators" and not line.strip().startswith("reads "):
                computed.append(line)
            elif section == "operators" and any(map(isHere, computed)):
                operators.append(operator + ": " + "; ".join(map(plain, computed)))
        return operators or ["none"], list(dict.fromkeys(refused)) if len(operators) != 1 else []


def plain(line):
    return NAMELESS.sub("", PLACE.sub("", line.strip()))


def read(path):
    lines = path.read_text().splitlines()
    starts = [i for i, line in enumerate(lines) if CASE.match(line)]
    return [Case(path, lines[:starts[0]], CASE.match(lines[a])[1], a, lines[a:b])
            for a, b in zip(starts, starts[1:] + [len(lines)])]


def discover():
    return [case for path in sorted((ROOT / "test/fusion").glob("*.dml")) for case in read(path)]


def update(chosen):
    """Replaces what is pinned; from the last case of a file on, so that the lines of the others stay."""
    for case in reversed([case for case in discover() if chosen(case)]):
        with tempfile.TemporaryDirectory() as folder:
            try:
                pins = case.found_pins(case.scripts(folder))
            except CaseFailed as failure:
                print(f"FAILED {case.name}: {failure}")
                continue
        statements = [line for line in case.lines if line not in case.pins]
        while not statements[-1]:
            statements.pop()
        lines = case.path.read_text().splitlines()
        end = case.first + len(case.lines)
        lines[case.first:end] = statements + pins + [""] * (end < len(lines))
        case.path.write_text("\n".join(lines) + "\n")


def main():
    if "--help" in sys.argv:
        print(__doc__)
        return 0
    chosen = lambda case: all(part in case.name for part in sys.argv[1:] if part != "--update")
    os.environ["TOKAMAK_CACHE"] = "off"
    if "--update" in sys.argv:
        update(chosen)
        return 0
    failed = 0
    for case in filter(chosen, discover()):
        wrong = case.run()
        failed += wrong is not None
        print(f"FAILED {case.name}: {wrong}" if wrong else f"passed {case.name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
