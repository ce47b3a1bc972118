#!/usr/bin/env python3
"""Runs DML scripts on both engines, under every selector, with 1 and 2 threads, and compares what they print.

A test is NAME.dml, or NAME.mlir in the text of the tok dialect, in one of the folders given, with one of these beside it:
  NAME.out   the exact text expected on stdout (compared number by number where `# tolerance:` is set)
  NAME.err   the exact text expected on stderr
A short output may stand in the script itself instead of NAME.out, a comment for each line: `# prints: text`.

Comment lines at the head of the script say the rest:
  # args: -nvargs k=1 out={tmp}/x.csv    arguments; {tmp} is a fresh folder for each run
  # exit: 2 (reference: 1)               expected exit status, 0 where it isn't given; in brackets that of the reference,
                                         which meets what the compiler proves before the run while it executes
  # error-contains: some text            stderr must hold this; may be repeated
  # error-line: 7                        stderr must point at this line of the script
  # tolerance: 1e-9                      numbers of stdout may differ by this much, relative to max(1, |expected|)
  # engines: native                      only these engines (reference, native), with the reason behind it
  # precision: f64                       not run with --precision=f32, with the reason behind it
In a .mlir file comments begin with // instead of #.

Every configuration must give the expected text, and for each selector the same bytes with 1 and with 2 threads. With
--precision=f32 scripts must end as expected and native runs print, up to rounding, what the reference prints.

usage: run_scripts.py [--pin] [--verbose] [FILTER]
  --pin   writes NAME.err for error tests that have none yet, from the reference engine, once the other lines hold
"""

import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
FUSION = ["none", "patterns", "all", "no-redundancy", "cost"]
THREADS = [1, 2]
TIMEOUT_SECONDS = 60
HEADER = re.compile(r"(?:#|//)\s*(args|exit|error-contains|error-line|tolerance|engines|precision|prints):\s*(.*)")
EXIT = re.compile(r"(\d+)(?: \(reference: (\d+)\))?")
HAS_EXPECTATION = re.compile(r"^(?:#|//) (error-contains|prints):", re.MULTILINE)
# Printed cells have three decimals, the last of which may differ by one.
SINGLE_TOLERANCE = 2e-3
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|Infinity|NaN)")


@dataclasses.dataclass
class Configuration:
    name: str
    engine: str
    options: list


# Sanitizers look at how the program runs, not at what it prints: one configuration that uses all there is.
SANITIZED = os.environ.get("TOKAMAK_PRESET") in ("address", "thread")


def configurations():
    if SANITIZED:
        yield Configuration("native, fusion cost, 2 threads", "native",
                            ["--engine=native", "--fusion=cost", "--threads=2", "--tier=compile-first"])
        return
    yield Configuration("reference", "reference", ["--engine=reference"])
    for fusion in FUSION:
        for threads in THREADS:
            yield Configuration(f"native, fusion {fusion}, {threads} threads", "native",
                                ["--engine=native", f"--fusion={fusion}", f"--threads={threads}", "--tier=compile-first"])
    yield Configuration("native, built-in kernels first", "native", ["--engine=native", "--threads=2", "--tier=built-in-first"])


# The first one's output is what the others are compared with.
SINGLE_PRECISION = [
    Configuration("reference, f32", "reference", ["--engine=reference", "--precision=f32"]),
    Configuration("native, f32, fusion none, 1 thread", "native", ["--fusion=none", "--threads=1", "--precision=f32"]),
    Configuration("native, f32, fusion cost, 2 threads", "native", ["--fusion=cost", "--threads=2", "--precision=f32", "--tier=compile-first"]),
]


@dataclasses.dataclass
class Outcome:
    exit: int
    out: str
    err: str


class ScriptTest:
    """One script with what is expected of it."""

    def __init__(self, path):
        self.path = path
        self.name = "scripts/" + str(path.relative_to(ROOT / "test/scripts").with_suffix("")) \
            if path.is_relative_to(ROOT / "test/scripts") else str(path.relative_to(ROOT).with_suffix(""))
        self.args, self.exit, self.tolerance = [], {"native": 0, "reference": 0}, None
        self.error_contains, self.error_line = [], None
        self.engines = ["reference", "native"]
        self.single_precision = path.is_relative_to(ROOT / "test/scripts")
        self.prints = []
        for line in path.read_text().splitlines():
            if not line.startswith(("#", "//")):
                break
            match = HEADER.match(line)
            if match:
                self.read_header(*match.groups())
        self.out = "".join(line + "\n" for line in self.prints) or self.expectation(".out")
        self.err = self.expectation(".err")

    def read_header(self, key, value):
        value = value.strip()
        if key == "args":
            self.args = value.split()
        elif key == "exit":
            native, reference = EXIT.fullmatch(value).groups()
            self.exit = {"native": int(native), "reference": int(reference or native)}
        elif key == "error-contains":
            self.error_contains.append(value)
        elif key == "error-line":
            self.error_line = int(value)
        elif key == "tolerance":
            self.tolerance = float(value)
        elif key == "precision":
            self.single_precision = False
        elif key == "prints":
            self.prints.append(value)
        elif key == "engines":
            self.engines = [e for e in ("reference", "native") if e in value.split("(")[0]]

    def expectation(self, suffix):
        file = self.path.with_suffix(suffix)
        return file.read_text() if file.exists() else None

    def execute(self, configuration):
        with tempfile.TemporaryDirectory(prefix="tokamak-test-") as folder:
            args = [a.replace("{tmp}", folder) for a in self.args]
            command = [str(TOKAMAK), "run", str(self.path.relative_to(ROOT)), "--color=never",
                       *configuration.options, *args]
            try:
                done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=TIMEOUT_SECONDS,
                                      stdin=subprocess.DEVNULL)
            except subprocess.TimeoutExpired:
                return Outcome(-1, "", f"no end after {TIMEOUT_SECONDS} seconds")
            return Outcome(done.returncode, done.stdout.decode(errors="replace").replace(folder, "{tmp}"),
                           done.stderr.decode(errors="replace").replace(folder, "{tmp}"))

    def complaint(self, outcome, engine):
        """What is wrong with an outcome, or None."""
        if outcome.exit != self.exit[engine]:
            return f"exit status {outcome.exit}, expected {self.exit[engine]}\n{outcome.err}"
        if self.out is not None and not same_text(outcome.out, self.out, self.tolerance):
            return "stdout differs:\n" + difference(self.out, outcome.out)
        if self.err is not None and outcome.err != self.err:
            return "stderr differs:\n" + difference(self.err, outcome.err)
        for text in self.error_contains:
            if text not in outcome.err:
                return f"stderr does not hold '{text}':\n{outcome.err}"
        if self.error_line is not None and f"{self.path.name}:{self.error_line}:" not in outcome.err:
            return f"stderr does not point at line {self.error_line}:\n{outcome.err}"
        return None

    def run(self):
        """None where every configuration is right, else a text that says which is not, and how."""
        outputs = {}
        for configuration in configurations():
            if configuration.engine not in self.engines:
                continue
            outcome = self.execute(configuration)
            wrong = self.complaint(outcome, configuration.engine)
            if wrong:
                return f"{configuration.name}: {wrong}"
            if configuration.engine == "native":
                key = configuration.options[1]
                if outputs.setdefault(key, outcome.out) != outcome.out:
                    return f"{configuration.name}: the bits depend on the number of threads:\n" + \
                        difference(outputs[key], outcome.out)
        if self.single_precision and len(self.engines) == 2 and not SANITIZED:
            return self.run_in_single_precision()
        return None

    def run_in_single_precision(self):
        """The engines agree on matrices of f32, up to what the order of additions may change."""
        expected = None
        tolerance = max(self.tolerance or 0, SINGLE_TOLERANCE)
        for configuration in SINGLE_PRECISION:
            outcome = self.execute(configuration)
            if outcome.exit != self.exit[configuration.engine]:
                return f"{configuration.name}: exit status {outcome.exit}, " \
                    f"expected {self.exit[configuration.engine]}\n{outcome.err}"
            expected = expected or outcome
            for stream in ("out", "err"):
                if not same_text(getattr(outcome, stream), getattr(expected, stream), tolerance):
                    return f"{configuration.name}: {stream} differs from the reference's:\n" + \
                        difference(getattr(expected, stream), getattr(outcome, stream))
        return None


def same_text(actual, expected, tolerance):
    if actual == expected:
        return True
    if tolerance is None or NUMBER.sub("#", actual) != NUMBER.sub("#", expected):
        return False
    pairs = zip(NUMBER.findall(actual), NUMBER.findall(expected))
    return all(a == e or abs(as_number(a) - as_number(e)) <= tolerance * max(1.0, abs(as_number(e)))
               for a, e in pairs)


def as_number(text):
    return float(text.replace("Infinity", "inf"))


def difference(expected, actual):
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "expected", "actual", lineterm="", n=2)
    text = "\n".join(list(lines)[:40])
    return text or f"expected {expected!r}\nactual   {actual!r}"


def discover():
    folders = [ROOT / "test/scripts", ROOT / "test/golden"]
    scripts = [p for folder in folders for p in sorted(folder.rglob("*")) if p.suffix in (".dml", ".mlir")]
    return [ScriptTest(p) for p in scripts
            if p.with_suffix(".out").exists() or p.with_suffix(".err").exists() or HAS_EXPECTATION.search(p.read_text())]


def pin(tests):
    reference = next(configurations())
    for test in tests:
        if not test.error_contains or test.err is not None:
            continue
        outcome = test.execute(reference)
        wrong = test.complaint(outcome, reference.engine)
        if wrong:
            print(f"{test.name}: not pinned: {wrong}")
        else:
            test.path.with_suffix(".err").write_text(outcome.err)


def main():
    arguments = sys.argv[1:]
    flags = {a for a in arguments if a.startswith("-")}
    if "--help" in flags:
        print(__doc__)
        return 0
    filters = [a for a in arguments if not a.startswith("-")]
    tests = [t for t in discover() if all(f in t.name for f in filters)]
    if "--pin" in flags:
        pin(tests)
        return 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        failed = 0
        for test, wrong in zip(tests, pool.map(ScriptTest.run, tests)):
            if wrong:
                failed += 1
                print(f"FAILED {test.name}: {wrong}")
            elif "--verbose" in flags:
                print(f"passed {test.name}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
