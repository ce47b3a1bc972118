"""Runs tests: functions that raise what is wrong, or give it as a text, and None if all is well.

From the command line those of one file of this folder: `python3 test/run_dev.py [FILTER]`.
"""

import sys
import traceback


def named(prefix, tests):
    """{prefix + the function's name, with dashes: the test}"""
    return {prefix + test.__name__.replace("_", "-"): test for test in tests}


def wrong_with(run):
    """What a test says is wrong, or None. Whatever it raises counts, so that a broken test doesn't end the others."""
    try:
        return run()
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error}\n{place.filename}:{place.lineno}: {place.line}"


def said_by(runner, names):
    """Of all names: (name, None or what is wrong). `runner(names)` gives that; if it ends early, those it says nothing about failed."""
    results = []

    def run():
        for result in runner(names):
            results.append(result)
    ended = wrong_with(run)
    said = {name for name, _ in results}
    return results + [(name, ended or "nothing was said about it") for name in names if name not in said]


def failures(tests):
    """Runs all of them, prints what is wrong, and gives how many failed."""
    failed = 0
    for name, run in tests.items():
        wrong = wrong_with(run)
        failed += wrong is not None
        if wrong:
            print(f"FAILED {name}\n{wrong}")
    return failed


def main(tests):
    """`tests`: {name: test}. The exit status is 1 if one fails."""
    failed = 0
    for name, run in tests.items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        wrong = wrong_with(run)
        failed += wrong is not None
        print(f"{'ok  ' if wrong is None else 'FAIL'} {name}" + (f"\n{wrong}" if wrong else ""), flush=True)
    return 1 if failed else 0
