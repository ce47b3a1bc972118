#!/usr/bin/env python3
"""Counts the arrays that loops write: what fuses must not materialise its intermediates.

A test is test/counts/NAME.dml. It loops $steps times; lines at its head say for which two numbers it runs, and how many
arrays more the longer run may write, under which selector:
  # steps: 2 4
  # written: cost at most 0
  # written: none at least 10        (shows that the test can fail)
Everything outside of the loop cancels out in the difference.

usage: run_counts.py [FILTER]
"""

import dataclasses
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


class RunFailed(Exception):
    pass


def arrays_written(script, selector, steps):
    command = [TOKAMAK, "run", script.relative_to(ROOT), f"--fusion={selector}", "--stats",
               "--machine-model=test/machine-model.json", "-nvargs", f"steps={steps}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    count = COUNT.search(done.stderr)
    if done.returncode != 0 or not count:
        raise RunFailed(f"{selector}, {steps} steps: exit status {done.returncode}, no count of arrays\n{done.stderr}")
    return int(count[1])


@dataclasses.dataclass
class CountTest:
    path: pathlib.Path

    @property
    def name(self):
        return f"counts/{self.path.stem}"

    def run(self):
        """None where all counts are as the script says, else a text that says which is not."""
        text = self.path.read_text()
        few, many = map(int, STEPS.search(text).groups())
        bounds = WRITTEN.findall(text)
        wrong = [] if bounds else ["no line says what may be written"]
        for selector, relation, bound in bounds:
            try:
                more = arrays_written(self.path, selector, many) - arrays_written(self.path, selector, few)
            except RunFailed as failure:
                return str(failure)
            if not (more <= int(bound) if relation == "at most" else more >= int(bound)):
                wrong.append(f"--fusion={selector}: {many} steps write {more} arrays more than {few} steps, "
                             f"expected {relation} {bound}")
        return "\n".join(wrong) or None


def discover():
    return [CountTest(path) for path in sorted((ROOT / "test/counts").glob("*.dml"))]


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
