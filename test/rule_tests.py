#!/usr/bin/env python3
"""Every rewrite rule and every pass of the static phase has a lit test named after it that runs it, and every such test a
rule or a pass.

usage: rule_tests.py    prints what is missing
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What has names, the table of it, its tests, and those of other steps that lie there, too.
TABLES = [("rule", "src/rewrite/BlockRules.cpp", "src/rewrite/test", set()),
          ("static pass", "src/pipeline/StaticPasses.cpp", "src/pipeline/test", {"lower-to-image"})]
ENTRY = re.compile(r'^    \{"([a-z-]+)", "', re.M)


def names_in(table):
    return set(ENTRY.findall((ROOT / table).read_text()))


def violations():
    found = []
    for kind, table, folder, others in TABLES:
        names, tests = names_in(table), {path.stem: path for path in (ROOT / folder).glob("*.mlir")}
        if not names:
            found.append(f"{table}: no {kind} was recognised; the pattern of this test has to follow the table")
        for name in sorted(names - set(tests)):
            found.append(f"the {kind} {name} has no test {folder}/{name}.mlir")
        for name, path in sorted(tests.items()):
            if name not in names | others:
                found.append(f"{folder}/{name}.mlir: there is no {kind} of this name")
            elif not re.search(rf"RUN:.*\btok-{name}\b", path.read_text()):
                found.append(f"{folder}/{name}.mlir: it does not run tok-{name}")
    return found


def main():
    found = violations()
    counts = ", ".join(f"{len(names_in(table))} of {table}" for _, table, _, _ in TABLES)
    print("\n".join(found) if found else f"a test for each of {counts}", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
