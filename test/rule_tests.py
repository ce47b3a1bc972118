#!/usr/bin/env python3
"""Every rewrite rule has a lit test named after it that runs it, and every such test a rule.

usage: rule_tests.py    prints what is missing
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = ROOT / "src/rewrite/BlockRules.cpp"
TESTS = ROOT / "src/rewrite/test"
RULE = re.compile(r'^    \{"([a-z-]+)", "', re.M)


def rules():
    return set(RULE.findall(RULES.read_text()))


def violations():
    found = []
    names, tests = rules(), {path.stem: path for path in TESTS.glob("*.mlir")}
    if not names:
        found.append(f"{RULES.relative_to(ROOT)}: no rule was recognised; the pattern of this test has to follow the table")
    for name in sorted(names - set(tests)):
        found.append(f"the rule {name} has no test {TESTS.relative_to(ROOT)}/{name}.mlir")
    for name, path in sorted(tests.items()):
        if name not in names:
            found.append(f"{path.relative_to(ROOT)}: there is no rule of this name")
        elif not re.search(rf"RUN:.*\btok-{name}\b", path.read_text()):
            found.append(f"{path.relative_to(ROOT)}: it does not run tok-{name}")
    return found


def main():
    found = violations()
    print("\n".join(found) if found else f"{len(rules())} rules, each with a test", file=sys.stderr if found else sys.stdout)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
