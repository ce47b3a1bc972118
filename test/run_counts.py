#!/usr/bin/env python3
"""Counts the arrays that loops write: what fuses must not materialise its intermediates.

A test is test/counts/NAME.dml. It loops $steps times; lines at its head say for which two numbers it runs, and how many
arrays more the longer run may write, under which selector:
  # steps: 2 4
  # written: cost at most 0
  # written: none at least 10        (shows that the test can fail)
Everything outside of the loop cancels out in the difference.

A model is test/counts/NAME.model: lines at its head name a folder of test/onnx/models and say how many kernels and other natives
than views its nodes may run as, and how many bytes these may read and write, once everything is compiled:
  # model: resnet50
  # kernels: cost at most 80
  # natives: cost at most 2
  # bytes: none at least 10000000

usage: run_counts.py [FILTER]
"""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
STEPS = re.compile(r"# steps: (\d+) (\d+)$", re.MULTILINE)
WRITTEN = re.compile(r"# written: (\S+) (at most|at least) (\d+)$", re.MULTILINE)
COUNT = re.compile(r"^arrays written: (\d+)$", re.MULTILINE)
MODEL = re.compile(r"# model: (\S+)$", re.MULTILINE)
COUNTED = re.compile(r"# (kernels|natives|bytes): (\S+) (at most|at least) (\d+)$", re.MULTILINE)
INPUT = re.compile(r"^input '(.+)': ", re.MULTILINE)
FIXED = ("--machine-model=test/machine-model.json",)


class RunFailed(Exception):
    pass


def arrays_written(script, selector, steps):
    command = [TOKAMAK, "run", script.relative_to(ROOT), f"--fusion={selector}", "--stats", *FIXED, "-nvargs", f"steps={steps}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    count = COUNT.search(done.stderr)
    if done.returncode != 0 or not count:
        raise RunFailed(f"{selector}, {steps} steps: exit status {done.returncode}, no count of arrays\n{done.stderr}")
    return int(count[1])


def holds(count, relation, bound):
    return count <= int(bound) if relation == "at most" else count >= int(bound)


def counts_of_model(folder, selector):
    """{what is counted: how many}, of one run on the values that are stored beside the model."""
    model = ROOT / "test/onnx/models" / folder
    command = [TOKAMAK, "check", model / "model.onnx"]
    names = INPUT.findall(subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout)
    values = [f"--input={name}={model}/test_data_set_0/input_{number}.pb" for number, name in enumerate(names)]
    command = [TOKAMAK, "run", model / "model.onnx", *values, f"--fusion={selector}", "--tier=compile-first", "--stats=json", *FIXED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise RunFailed(f"{selector}: exit status {done.returncode}\n{done.stderr}")
    steps = [step for step in json.loads(done.stderr)["operators"] if step["name"] != "view"]
    calls = {kind: sum(step["calls"] for step in steps if step["kind"] == kind) for kind in ("kernel", "native")}
    return {"kernels": calls["kernel"], "natives": calls["native"], "bytes": sum(step["bytes"] for step in steps)}


@dataclasses.dataclass
class CountTest:
    path: pathlib.Path

    @property
    def name(self):
        return f"counts/{self.path.stem}"

    def run(self):
        """None where all counts are as the file says, else a text that says which is not."""
        wrong = wrong_in_model if self.path.suffix == ".model" else wrong_in_script
        try:
            return "\n".join(wrong(self.path, self.path.read_text())) or None
        except RunFailed as failure:
            return str(failure)


def wrong_in_model(path, text):
    bounds = COUNTED.findall(text)
    counts = {selector: counts_of_model(MODEL.search(text)[1], selector) for selector in {bound[1] for bound in bounds}}
    return [f"--fusion={selector}: {counts[selector][what]} {what}, expected {relation} {bound}"
            for what, selector, relation, bound in bounds
            if not holds(counts[selector][what], relation, bound)] if bounds else ["no line says what may run"]


def wrong_in_script(path, text):
    few, many = map(int, STEPS.search(text).groups())
    bounds = WRITTEN.findall(text)
    wrong = [] if bounds else ["no line says what may be written"]
    for selector, relation, bound in bounds:
        more = arrays_written(path, selector, many) - arrays_written(path, selector, few)
        if not holds(more, relation, bound):
            wrong.append(f"--fusion={selector}: {many} steps write {more} arrays more than {few} steps, expected {relation} {bound}")
    return wrong


def discover():
    folder = ROOT / "test/counts"
    return [CountTest(path) for kind in ("*.dml", "*.model") for path in sorted(folder.glob(kind))]


def main():
    if "--help" in sys.argv:
        print(__doc__)
        return 0
    failed = 0
    for test in discover():
        if all(part in test.name for part in sys.argv[1:]):
            wrong = test.run()
            failed += wrong is not None
            print(f"FAILED {test.name}: {wrong}" if wrong else f"passed {test.name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
