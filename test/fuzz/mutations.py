#!/usr/bin/env python3
"""Miscompiles Tokamak on purpose, in one way after the other, and asserts that random programs or unit tests find each.

usage: mutations.py [FILTER] [--check] [--list]
  FILTER    only mutations whose name contains it
  --check   only that each mutation can be applied: what it replaces stands in its file exactly once

mutations.toml lists them: a text in a source file and what takes its place. The file is compiled with that, alone, and
linked into a tokamak-fuzz of its own, from which the archive's own object is left out, since its symbols are there. What
random programs don't reach, or what makes programs slow instead of wrong, is linked into the unit tests of its folder:
`tests` says which of them have to fail. What only models use is linked into tokamak-conformance: `cases` are those of
ONNX's suites and of test/onnx (run_onnx.py) of which one has to fail.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import onnx_outcomes
import run_onnx

BUILD = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release")
FOLDER = ROOT / "build/mutations"
SECONDS = 120  # that a case may take
PROGRAMS = 1500  # that a mutation may take to be found, where mutations.toml does not say


def mutations():
    with open(pathlib.Path(__file__).with_name("mutations.toml"), "rb") as file:
        return tomllib.load(file)["mutation"]


def mutated(mutation):
    """The text of its file, mutated; raises where that can't be."""
    if not mutation["file"].endswith(".cpp"):
        raise ValueError(f"{mutation['name']}: {mutation['file']} is not compiled alone")
    text = (ROOT / mutation["file"]).read_text()
    count = text.count(mutation["from"])
    if count != 1:
        raise ValueError(f"{mutation['name']}: its text stands {count} times in {mutation['file']}, not once")
    return text.replace(mutation["from"], mutation["to"])


def compile_command(source):
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if entry["file"] == str(ROOT / source) and "_tests.dir" not in entry.get("output", entry["command"]):
            return shlex.split(entry["command"])
    raise ValueError(f"{source} is not compiled")


def program_of(mutation):
    if "cases" in mutation:
        return "bin/tokamak-conformance"
    if "tests" not in mutation:
        return "bin/tokamak-fuzz"
    # Tests of the mutated file's folder, or else of the one that has the first of the tests.
    suite = mutation["tests"].split(".")[0]
    sources = [ROOT / mutation["file"], *(file for file in sorted((ROOT / "src").rglob("*Test.cpp")) if f"({suite}," in file.read_text())]
    tests = [f"bin/tests/tokamak_{'_'.join(folder.parts)}_tests" for file in sources for folder in file.relative_to(ROOT / "src").parents]
    return next(program for program in tests if (BUILD / program).exists())


def link_command(program):
    listing = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", program], capture_output=True, text=True, check=True)
    last = listing.stdout.splitlines()[-1]
    return shlex.split(re.sub(r"^: && | && :$", "", last))


def build(mutation):
    """The path of a program that miscompiles."""
    folder = FOLDER / mutation["name"]
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / pathlib.Path(mutation["file"]).name
    source.write_text(mutated(mutation))
    command = compile_command(mutation["file"])
    command[command.index("-o") + 1] = str(source) + ".o"
    command[command.index("-c") + 1] = str(source)
    if "-MF" in command:
        command[command.index("-MF") + 1] = str(source) + ".d"
    subprocess.run(command, cwd=BUILD, check=True, capture_output=True)
    # What the program opens when it runs stands beside it.
    for library in (BUILD / "bin").glob("*.so"):
        shutil.copy(library, folder)
    program = folder / pathlib.Path(program_of(mutation)).name
    command = link_command(program_of(mutation))
    at = command.index("-o")
    command[at:at + 2] = ["-o", str(program), str(source) + ".o"]
    subprocess.run(command, cwd=BUILD, check=True, capture_output=True)
    return program


@functools.cache
def passes(program, tests):
    return subprocess.run([program, tests], capture_output=True, cwd=ROOT).returncode == 0


def tested(mutation, program):
    """None if a unit test fails that does not fail for the compiler as it is."""
    tests = ["--gtest_filter=" + mutation["tests"], "--gtest_brief=1", "--gtest_fail_fast"]
    if not passes(BUILD / program_of(mutation), tests[0]):
        return "the tests fail anyway"
    done = subprocess.run([program, *tests], capture_output=True, text=True, cwd=ROOT)
    program.unlink()
    if done.returncode == 0:
        return f"{mutation['file']} is wrong and no test shows it"
    failed = re.search(r"^\[  FAILED  \] (\S+)", done.stdout, re.M)
    mutation["found"] = failed[1] if failed else f"status {done.returncode}"
    return None


def folders_of(mutation):
    return sorted(str(path) for pattern in mutation["cases"] for root in (run_onnx.DATA, run_onnx.OWN) for path in root.glob(pattern)
                  if (path / "model.onnx").exists())


@functools.cache
def passing(folders):
    """Those that pass as the compiler is."""
    found = onnx_outcomes.outcomes([BUILD / "bin/tokamak-conformance"], folders, SECONDS)
    return [folder for folder, (kind, _) in found.items() if kind == "passed"]


def conforms(mutation, program):
    """None if a case fails that passes for the compiler as it is."""
    folders = passing(tuple(folders_of(mutation)))
    found = onnx_outcomes.outcomes([program], folders, SECONDS)
    program.unlink()
    for folder, (kind, reason) in found.items():
        if kind != "passed":
            mutation["found"] = f"{'/'.join(folder.split('/')[-2:])}: {reason[:110]}"
            return None
    return f"{mutation['file']} is wrong and none of {len(folders)} cases shows it"


def run(mutation):
    """None if it is found, else what is wrong."""
    try:
        program = build(mutation)
    except ValueError as error:
        return str(error)
    except subprocess.CalledProcessError as error:
        return error.stderr.decode(errors="replace")[-3000:]
    if "tests" in mutation:
        return tested(mutation, program)
    if "cases" in mutation:
        return conforms(mutation, program)
    seed, last = 1, mutation.get("programs", PROGRAMS)
    while seed <= last:
        done = subprocess.run([program, "--programs", str(last - seed + 1), "--seed", str(seed), "--findings", "1",
                               "--no-shrink", "--jobs", str(os.cpu_count())], capture_output=True, text=True, cwd=FOLDER)
        found = re.match(r"FAILED seed (\d+)\n", done.stdout)
        if not found:
            break
        seed = int(found[1]) + 1
        text = done.stdout[found.end():done.stdout.rindex("\n", 0, -1) + 1]
        script = program.with_name("found.mlir" if text.startswith("//") else "found.dml")
        script.write_text(text)
        # Only what the compiler as it is does not do shows the mutation.
        if subprocess.run([BUILD / "bin/tokamak-fuzz", script], capture_output=True).returncode == 0:
            mutation["found"] = next(line for line in done.stderr.splitlines() if line.startswith("seed "))[:110]
            program.unlink()
            return None
    program.unlink()
    return f"{mutation['file']} is wrong and no program shows it\n{done.stdout}{done.stderr}"


def inapplicable():
    wrong = []
    for mutation in mutations():
        try:
            mutated(mutation)
        except (ValueError, OSError) as error:
            wrong.append(str(error))
    return "\n".join(wrong) or None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("filter", nargs="?", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.check:
        wrong = inapplicable()
        print(wrong or "every mutation applies")
        return 1 if wrong else 0
    failed = 0
    wanted = [m for m in mutations() if options.filter in m["name"]]
    for mutation in wanted:
        if options.list:
            print(mutation["name"])
            continue
        start = time.monotonic()
        wrong = run(mutation)
        failed += wrong is not None
        seconds = f"{time.monotonic() - start:.0f} s"
        print(f"FAILED {mutation['name']} ({seconds})\n{wrong}" if wrong
              else f"found {mutation['name']} ({seconds}): {mutation['found']}", flush=True)
    if not options.list:
        print(f"{len(wanted) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
