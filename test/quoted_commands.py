#!/usr/bin/env python3
"""Runs the commands that the documents quote in ```sh blocks, so that no document quotes one that does not work.

Lines that start with a program of the build or with `./dev run` run as they stand and must succeed. The other commands of
./dev take long or change the checkout; for those `--help` shows that the command is there.
"""

import pathlib
import re
import subprocess
import sys

from claims import ENVIRONMENT, ROOT


def quoted():
    """(document, line number, command) of each command in a ```sh block."""
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for document in documents:
        inside = False
        for number, line in enumerate(document.read_text().splitlines(), 1):
            line = line.strip()
            if line.startswith("```"):
                inside = line == "```sh"
            elif inside and re.match(r"(\./dev|\./build/release/bin/\S+|tokamak)\s", line):
                yield document.relative_to(ROOT), number, line.split(" #")[0].strip()


def runnable(command):
    """The command that stands for it in a test."""
    if command.startswith("./dev run "):
        return "tokamak " + command.removeprefix("./dev ")
    if command.startswith("./dev "):
        return "./dev " + command.split()[1] + " --help"
    return command


def main():
    failed, done = 0, {}
    for document, number, command in quoted():
        if command not in done:
            done[command] = subprocess.run(runnable(command), shell=True, cwd=ROOT, env=ENVIRONMENT, capture_output=True,
                                           text=True, errors="replace", stdin=subprocess.DEVNULL)
        if done[command].returncode != 0:
            failed += 1
            print(f"{document}:{number}: {command}: exit status {done[command].returncode}\n{done[command].stderr[-1500:]}")
    print(f"{len(done)} quoted commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
