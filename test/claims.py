#!/usr/bin/env python3
"""Runs the quick claims of docs/claims.md: each command must end as it says and print what it says."""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"\| (\d+) \| (.+) \| `([^`]+)`(?: \[(\d+)\])? \| (`[^`]+`(?: and `[^`]+`)*) \| (yes|no) \|$")


def shell(command):
    """Runs a command as a reader types it: by bash, in the root of the repository, with kernels of either tier."""
    environment = {name: value for name, value in os.environ.items() if name != "TOKAMAK_TIER"}
    environment["PATH"] = f"{ROOT}/build/release/bin:{environment['PATH']}"
    return subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL)


@dataclasses.dataclass
class Claim:
    number: int
    text: str
    command: str
    exit: int
    shows: list
    quick: bool

    def run(self):
        done = shell(self.command)
        output = done.stdout + done.stderr
        if done.returncode != self.exit:
            return f"{self.command}: exit status {done.returncode}, expected {self.exit}\n{output[-2000:]}"
        missing = [text for text in self.shows if text not in output]
        if missing:
            return f"{self.command}: its output does not contain {missing}\n{output[:2000]}"
        return None


def read():
    claims = []
    for line in (ROOT / "docs/claims.md").read_text().splitlines():
        match = ROW.match(line)
        if match:
            number, text, command, status, shows, quick = match.groups()
            claims.append(Claim(int(number), text, command, int(status or 0), re.findall("`([^`]+)`", shows), quick == "yes"))
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
