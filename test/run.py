#!/usr/bin/env python3
"""Runs all levels of tests and closes with one line over all of them: `N passed, M failed`.

usage: run.py [FILTER] [--level LEVEL] [--sample] [--jobs N] [--list] [--verbose]
FILTER selects the tests whose full name (LEVEL/...) contains it, in capitals or not. ./dev test builds first and then calls this.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import claims
import document_links
import documented_tables
import header_examples
import include_edges
import language_reference
import library_document
import mutated_scripts
import rule_tests
import run_ahead_of_time
import run_commands
import run_conformance
import run_crashes
import run_counts
import run_dev
import run_dml_conformance
import run_documents
import run_examples
import run_files
import run_fusion
import run_interrupts
import run_large_scripts
import run_limits
import run_models
import run_interfaces
import run_natives
import run_onnx
import run_pages
import run_reuse
import run_scripts
import run_tiers
import run_target
import standalone
import unit_programs

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/fuzz"))
import misuse
import mutations
BIN = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin"
# Of examples in single precision: solutions of linear systems lose some digits, and reports print few.
SINGLE_TOLERANCE = 2e-2
LIT = pathlib.Path("/usr/lib/llvm-19/build/utils/lit/lit.py")


class Progress:
    """Prints failures as they come and, on a terminal, one line that says how far the run is."""

    def __init__(self, total, verbose):
        self.total, self.verbose = total, verbose
        self.passed, self.failed = 0, []
        self.live = sys.stdout.isatty() and not verbose

    def record(self, name, wrong):
        if wrong is None:
            self.passed += 1
        else:
            self.failed.append(name)
        if self.live:
            print("\r\033[K", end="")
        if wrong is not None:
            print(f"FAILED {name}\n" + indent(wrong))
        elif self.verbose:
            print(f"passed {name}")
        if self.live:
            print(f"[{self.passed + len(self.failed)}/{self.total}] {name[:80]}", end="", flush=True)


def indent(text):
    return "\n".join("    " + line for line in text.rstrip().splitlines()[:60])


# A level is a function that finds its tests and gives {name: what runs it}; several tests may share one runner, which
# takes the names wanted and yields (name, None or what is wrong).

def unit_level():
    tests = {}
    for binary in sorted((BIN / "tests").glob("*_tests")):
        try:
            names = unit_programs.names(binary)
        except RuntimeError as error:
            tests[f"unit/{binary.name}"] = lambda names, error=str(error): [(n, error) for n in names]
            continue
        # Large programs run in several processes, so that the last one does not keep the others waiting for minutes.
        runners = [lambda names, binary=binary: run_unit(binary, names) for _ in range(1 + len(names) // 50)]
        tests |= {f"unit/{binary.name}/{name}": runners[number % len(runners)] for number, name in enumerate(names)}
    return tests


def run_unit(binary, names):
    wanted = {name.split("/", 2)[2]: name for name in names}
    for test, wrong in unit_programs.run(binary, wanted):
        yield wanted[test], wrong


def target_level():
    """A sample of the kernels of the unit tests, compiled for AArch64."""
    return run_target.discover(BIN, "aarch64", only=run_target.SAMPLE)


def ir_level():
    files = [p for folder in ("src", "test") for p in sorted((ROOT / folder).rglob("*"))
             if p.suffix in (".mlir", ".dml") and p.is_file() and re.search(r"(//|#) RUN:", p.read_text())]
    return {f"ir/{p.relative_to(ROOT)}": run_lit for p in files}


def run_lit(names):
    paths = {name.split("/", 1)[1]: name for name in names}
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        done = subprocess.run([sys.executable, LIT, "-q", "-j", str(os.cpu_count()), "-o", report.name, *paths],
                              cwd=ROOT, capture_output=True, text=True)
        text = pathlib.Path(report.name).read_text()
    seen = set()
    if text:
        for test in json.loads(text)["tests"]:
            path = test["name"].split(" :: ")[-1]
            if path in paths:
                seen.add(path)
                yield paths[path], None if test["code"] in ("PASS", "XFAIL") else test["code"] + "\n" + test["output"]
    for path in paths:
        if path not in seen:
            yield paths[path], f"lit did not run it\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def alone(run):
    """A runner for one test: run() gives None or what is wrong, or raises it."""
    return lambda names: [(name, standalone.wrong_with(run)) for name in names]


def script_level():
    return {t.name: alone(t.run) for t in run_scripts.discover() if t.name.startswith("scripts/")}


def golden_level():
    return {t.name.replace("test/", "", 1): alone(t.run) for t in run_scripts.discover()
            if t.name.startswith("test/golden/")}


def example_level():
    """Each example prints exactly the report stored in test/examples, in single precision nearly."""
    def run(script, expected, precision, tolerance):
        done = subprocess.run([BIN / "tokamak", "run", script.relative_to(ROOT), f"--precision={precision}"], cwd=ROOT,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            return f"exit status {done.returncode}\n{done.stderr}"
        if not run_scripts.same_text(done.stdout, expected.read_text(), tolerance):
            return run_scripts.difference(expected.read_text(), done.stdout)
        return None
    tests = {}
    for script in sorted(p for p in (ROOT / "examples").iterdir() if p.suffix in (".dml", ".mlir")):
        expected = ROOT / "test/examples" / (script.stem + ".out")
        tests[f"examples/{script.stem}"] = alone(lambda s=script, e=expected: run(s, e, "f64", None))
        tests[f"examples/{script.stem}/f32"] = alone(lambda s=script, e=expected: run(s, e, "f32", SINGLE_TOLERANCE))
    return tests


def command_level():
    modules = (run_commands, run_conformance, run_crashes, run_dev, run_dml_conformance, run_examples, run_files, run_interrupts,
               run_ahead_of_time, run_large_scripts, run_models, run_pages, run_reuse, run_tiers)
    return {name: alone(run) for module in modules for name, run in module.discover().items()}


def library_level():
    """docs/library.md is what the comments in lib make, and every example in it prints what it says."""
    return {name: alone(run) for name, run in library_document.discover().items()}


def reference_level():
    """docs/language-reference.md is what docs/reference and the table of builtins make, and every example in it prints what it says."""
    return {name: alone(run) for name, run in language_reference.discover().items()}


def document_level():
    """All blocks of code in documents run and print what stands below them, and so do cells of tables of equivalents. Links."""
    modules = (run_documents, documented_tables, document_links)
    return {name: alone(run) for module in modules for name, run in module.discover().items()}


def native_level():
    """Every builtin against its golden values (test/golden/natives.json), all cases of one input at once."""
    return {f"natives/{name}": alone(run) for name, run in run_natives.discover().items()}


def limit_level():
    """Sizes and memory beyond what there is."""
    return {name: alone(run) for name, run in run_limits.discover().items()}


def count_level():
    return {t.name: alone(t.run) for t in run_counts.discover()}


def fusion_level():
    """Cases of fusion: their results under every selector, and which operators are formed (test/fusion)."""
    return {case.name: alone(case.run) for case in run_fusion.discover()}


def edge_level():
    return {"edges/include-edges": alone(lambda: "\n".join(include_edges.violations()) or None),
            "edges/rules-have-tests": alone(lambda: "\n".join(rule_tests.violations()) or None),
            "edges/header-examples/no-spare-parameters": alone(lambda: "\n".join(header_examples.spare_parameters()) or None),
            **{f"edges/header-examples/{name}": run_header_examples for name in header_examples.headers()}}


def run_header_examples(names):
    """All at once: one compiler for each set of flags."""
    wanted = {name.split("/", 2)[2]: name for name in names}
    for header, wrong in header_examples.check(list(wanted)):
        yield wanted[header], wrong


def fuzz_level():
    """The first programs of the generator, in which every rewrite rule has to fire, the first random and changed models, scripts that
    misuse builtins, all that they once found wrong, and whether mutations can be applied."""
    fuzz = BIN / "tokamak-fuzz"

    def tried(arguments):
        done = subprocess.run([fuzz, *arguments], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return None if done.returncode == 0 else done.stdout + done.stderr
    programs, scripts, rules = (40, 10, []) if os.environ.get("TOKAMAK_PRESET") in SANITIZERS else (200, 200, ["--every-rule"])
    tests = {f"fuzz/programs-1-to-{programs}":
             alone(lambda: tried(["--programs", str(programs), *rules, "--jobs", "2", "--no-shrink"]))}
    models = {"models": (programs // 2, ["--models", *rules]), "mutated-models": (2 * programs, ["--mutated-models", str(run_onnx.DATA / "node")])}
    for kind, (count, arguments) in models.items():
        tests[f"fuzz/{kind}-1-to-{count}"] = alone(lambda count=count, arguments=arguments: tried(
            [*arguments, "--programs", str(count), "--jobs", "2", "--no-shrink"]))
    def misused(count):
        misuse.TOKAMAK = BIN / "tokamak"
        findings, *_ = misuse.campaign(1, count, minutes=10, jobs=2)
        return "\n".join(f"seed {seed}: {wrong}" for seed, wrong in findings.items()) or None
    tests[f"fuzz/misuse-1-to-{scripts}"] = alone(lambda: misused(scripts))
    # Those in test/fuzz/found are no scripts of the other level: the engines need not say the same there.
    found = [path for folder in ("scripts/fuzz-found", "fuzz/found") for path in (ROOT / "test" / folder).iterdir()]
    for path in sorted(path for path in found if path.suffix in (".dml", ".mlir", ".onnx")):
        tests[f"fuzz/found/{path.stem}"] = alone(lambda path=path: tried([path]))
    tests["fuzz/mutations-apply"] = alone(mutations.inapplicable)
    return tests


def interface_level():
    """Programs that call libtokamak.so, from C and from Python, built against what is installed."""
    return run_interfaces.discover()


def mutation_level():
    """Each mutation of the compiler has to be found; not among the levels that run by default."""
    return {f"mutations/{m['name']}": alone(lambda m=m: mutations.run(m)) for m in mutations.mutations()}


def mutated_level():
    """Scripts with a mistake in them still work or are refused with a place."""
    return {name: alone(run) for name, run in mutated_scripts.discover(BIN / "tokamak").items()}


def claim_level():
    return {f"claims/{c.number}": alone(c.run) for c in claims.read() if c.quick}


LEVELS = {"unit": unit_level, "targets": target_level, "ir": ir_level, "scripts": script_level, "golden": golden_level,
          "library": library_level, "reference": reference_level, "documents": document_level, "natives": native_level,
          "counts": count_level, "fusion": fusion_level,
          "commands": command_level, "limits": limit_level, "examples": example_level, "edges": edge_level, "fuzz": fuzz_level,
          "mutated": mutated_level, "interfaces": interface_level, "onnx": lambda: run_onnx.discover(BIN), "claims": claim_level}
ON_DEMAND = {"mutations": mutation_level}

# What the sanitizers' builds run, and how: LLVM and MLIR are not instrumented, so containers they share with Tokamak can
# not be checked; buffers of the pool live as long as the process.
SANITIZERS = {
    "address": {"ASAN_OPTIONS": "detect_container_overflow=0:detect_leaks=0:strict_string_checks=1",
                "UBSAN_OPTIONS": "print_stacktrace=1"},
    "thread": {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"},
}
SANITIZED_LEVELS = ("unit", "scripts", "fuzz")
# Every so many of a level's tests are in a sample. ThreadSanitizer takes all unit tests that are built: few have threads.
SAMPLED = {"unit": 2, "scripts": 4}


def main():
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("filter", nargs="?", default="", help="runs the tests whose name contains this")
    parser.add_argument("--level", choices=[*LEVELS, *ON_DEMAND], help="runs one level only")
    parser.add_argument("--target", choices=run_target.TARGETS, help="runs all kernels of the unit tests on this target instead")
    parser.add_argument("--with-passes", default="", metavar="all|PASS",
                        help="of the passes of LLVM that the target leaves out, puts all or one back")
    parser.add_argument("--sample", action="store_true",
                        help="runs every fourth script, every second unit test (all with ThreadSanitizer), and fewer random loops")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at once")
    parser.add_argument("--list", action="store_true", help="prints the names and runs nothing")
    parser.add_argument("--verbose", action="store_true", help="names the tests that pass, too")
    options = parser.parse_args()
    if options.with_passes and not options.target:
        parser.error("--with-passes needs --target")
    levels = LEVELS | {level: find for level, find in ON_DEMAND.items() if level == options.level}
    if options.target:
        levels = {"targets": lambda: run_target.discover(BIN, options.target, options.with_passes)}

    started = time.monotonic()
    groups = {}
    if options.sample:
        os.environ.setdefault("TOKAMAK_RANDOM_LOOPS", "30")
    sanitizer = SANITIZERS.get(os.environ.get("TOKAMAK_PRESET"))
    os.environ.update(sanitizer or {})
    os.environ["TOKAMAK_CACHE"] = "off"  # test what this build compiles,
    os.environ["TOKAMAK_TIER"] = "compile-first"  # where data are small, too
    for level, find in levels.items():
        if options.level == level or (options.level is None and (not sanitizer or level in SANITIZED_LEVELS)):
            found = find()
            takes_all = level == "unit" and os.environ.get("TOKAMAK_PRESET") == "thread"
            if options.sample and level in SAMPLED and not takes_all:
                found = {name: found[name] for name in sorted(found)[::SAMPLED[level]]}
            for name, runner in found.items():
                if options.filter.lower() in name.lower():
                    groups.setdefault(runner, []).append(name)
    names = [name for group in groups.values() for name in group]
    if options.list:
        print("\n".join(names))
        return 0
    progress = Progress(len(names), options.verbose)
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
        def timed(runner, group):
            began = time.monotonic()
            return standalone.said_by(runner, group), group[0].split("/")[0], time.monotonic() - began

        seconds = collections.Counter()
        runs = [pool.submit(timed, runner, group) for runner, group in groups.items()]
        for run in concurrent.futures.as_completed(runs):
            results, level, took = run.result()
            seconds[level] += took
            for name, wrong in results:
                progress.record(name, wrong)
    if progress.live:
        print("\r\033[K", end="")
    if progress.failed:
        print("failed: " + " ".join(progress.failed))
    if options.target:
        print(run_target.totals.text(), file=sys.stderr)
    print("seconds, summed over jobs: " + ", ".join(f"{level} {took:.0f}" for level, took in seconds.most_common()),
          file=sys.stderr)
    print(f"{len(names)} tests in {time.monotonic() - started:.0f} s", file=sys.stderr)
    sys.stderr.flush()
    print(f"{progress.passed} passed, {len(progress.failed)} failed", flush=True)
    return 1 if progress.failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
