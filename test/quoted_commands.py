#!/usr/bin/env python3
"""Runs the commands that the documents quote in ```sh blocks, so that no document quotes one that does not work.

Lines that start with a program of the build, which is on the path, with printf or with `./dev run` run as they stand and must succeed. The
other commands of ./dev take long or change the checkout; for those `--help` shows that the command is there. A document that
says where the program was built is wrong: README.md does, once.

usage: quoted_commands.py [--written]
  --written   only that documents write commands as they are typed; runs none
"""

import pathlib
import re
import sys

from claims import ROOT, shell

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BUILT = re.compile(r"build/release/bin/\w")


def quoted():
    """(document, line number, command) of each command in a ```sh block."""
    for document in DOCUMENTS:
        inside = False
        for number, line in enumerate(document.read_text().splitlines(), 1):
            line = line.strip()
            if line.startswith("```"):
                inside = line == "```sh"
            elif inside and re.match(r"(\./dev|printf|tokamak[-\w]*)\s", line):
                yield document.relative_to(ROOT), number, line.split(" #")[0].strip()


def misplaced():
    """(document, line number, line) where a document says where a program of the build lies."""
    for document in DOCUMENTS:
        for number, line in enumerate(document.read_text().splitlines(), 1):
            if BUILT.search(line):
                yield document.relative_to(ROOT), number, line.strip()


def runnable(command):
    """The command that stands for it in a test."""
    if command.startswith("./dev ") and not command.startswith("./dev run "):
        return "./dev " + command.split()[1] + " --help"
    return command


def main():
    failed, done = 0, {}
    for document, number, line in misplaced():
        failed += 1
        print(f"{document}:{number}: write tokamak: {line}")
    if "--written" in sys.argv:
        return 1 if failed else 0
    for document, number, command in quoted():
        if command not in done:
            done[command] = shell(runnable(command))
        if done[command].returncode != 0:
            failed += 1
            print(f"{document}:{number}: {command}: exit status {done[command].returncode}\n{done[command].stderr[-1500:]}")
    print(f"{len(done)} quoted commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
