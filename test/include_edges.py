#!/usr/bin/env python3
"""Compares the #include edges between folders with the table in docs/architecture.md; fails on an edge not in it.

Tests of a folder FOLDER may include what FOLDER/testing may, and that folder itself."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def read_table():
    """{folder: (folders it may include, whether MLIR is allowed)}, edges already transitive."""
    text = (ROOT / "docs/architecture.md").read_text()
    table = text.split("<!-- include-edges -->")[1].split("<!-- /include-edges -->")[0]
    direct, mlir = {}, {}
    for line in table.splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        names = re.findall(r"`([^`]+)`", cells[0])
        if len(cells) == 3 and names:
            direct[names[0]] = re.findall(r"`([^`]+)`", cells[1])
            mlir[names[0]] = cells[2] == "yes"

    def reach(folder, seen):
        for other in direct[folder]:
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen

    return {folder: (reach(folder, {folder}), mlir[folder]) for folder in direct}


def folder_of(path, folders):
    """The innermost folder of the table that a path relative to src lies in, or None."""
    inside = [f for f in folders if path.startswith(f + "/")]
    return max(inside, key=len) if inside else None


def violations():
    table = read_table()
    found = []
    files = [(p, p.relative_to(ROOT / "src").as_posix()) for p in (ROOT / "src").rglob("*")]
    files += [(p, p.relative_to(ROOT).as_posix()) for p in (ROOT / "tools").rglob("*")]
    for path, name in sorted(files):
        if path.suffix not in (".h", ".cpp", ".def"):
            continue
        folder = folder_of(name, table)
        if name.endswith("Test.cpp") and f"{folder}/testing" in table:
            folder = f"{folder}/testing"
        if folder is None:
            found.append(f"{name}: its folder is not in the table of docs/architecture.md")
            continue
        allowed, mlir = table[folder]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match.group(2)
            if target.startswith(("mlir/", "llvm/", "mlir-c/", "llvm-c/")) and not mlir:
                found.append(f"{name}:{number}: {folder} includes {target}, but may not know MLIR or LLVM")
            other = folder_of(target, table)
            if other is not None and other not in allowed:
                found.append(f"{name}:{number}: {folder} may not include {other} ({target})")
    return found


def main():
    found = violations()
    print("\n".join(found) if found else "every include edge is in the table", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
