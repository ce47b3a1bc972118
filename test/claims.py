#!/usr/bin/env python3
"""Runs the quick claims of docs/claims.md: each command must end as it says and print what it says."""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENVIRONMENT = os.environ | {"PATH": f"{ROOT / 'build/release/bin'}:{os.environ['PATH']}"}
ROW = re.compile(r"\| (\d+) \| (.+) \| `([^`]+)`(?: \[(\d+)\])? \| `([^`]+)` \| (yes|no) \|$")


@dataclasses.dataclass
class Claim:
    number: int
    text: str
    command: str
    exit: int
    shows: str
    quick: bool

    def run(self):
        done = subprocess.run(self.command, shell=True, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True,
                              errors="replace", stdin=subprocess.DEVNULL)
        output = done.stdout + done.stderr
        if done.returncode != self.exit:
            return f"{self.command}: exit status {done.returncode}, expected {self.exit}\n{output[-2000:]}"
        if self.shows not in output:
            return f"{self.command}: its output does not hold '{self.shows}'\n{output[:2000]}"
        return None


def read():
    claims = []
    for line in (ROOT / "docs/claims.md").read_text().splitlines():
        match = ROW.match(line)
        if match:
            number, text, command, status, shows, quick = match.groups()
            claims.append(Claim(int(number), text, command, int(status or 0), shows, quick == "yes"))
        elif re.match(r"\| \d", line):
            raise ValueError(f"docs/claims.md: this row cannot be read: {line}")
    return claims


def main():
    failed = 0
    for claim in read():
        if claim.quick:
            wrong = claim.run()
            failed += wrong is not None
            print(f"{'FAILED' if wrong else 'holds'}  {claim.number}: {claim.text}" + (f"\n{wrong}" if wrong else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
