"""Runs the tests of one file of this folder from the command line: `python3 test/run_dev.py [FILTER]`."""

import sys


def failures(tests):
    """Runs all of them, prints what is wrong, and gives how many failed."""
    failed = 0
    for name, run in tests.items():
        wrong = run()
        failed += wrong is not None
        if wrong:
            print(f"FAILED {name}\n{wrong}")
    return failed


def main(tests):
    """`tests`: {name: function that returns None or what is wrong}. The exit status is 1 if one fails."""
    failed = 0
    for name, run in tests.items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        wrong = run()
        failed += wrong is not None
        print(f"{'FAIL' if wrong else 'ok  '} {name}" + (f"\n{wrong}" if wrong else ""), flush=True)
    return 1 if failed else 0
