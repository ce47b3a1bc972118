"""Runs GoogleTest programs for the levels that do: names of tests, and what was wrong with each."""

import json
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def names(binary):
    """The names SUITE.TEST of a program's tests. Raises RuntimeError where the program does not start."""
    listing = subprocess.run([binary, "--gtest_list_tests"], capture_output=True, text=True)
    if listing.returncode != 0:
        raise RuntimeError("it does not start\n" + listing.stderr)
    found, suite = [], ""
    for line in listing.stdout.splitlines():
        if line.startswith("  "):
            found.append(suite + line.split("#")[0].strip())
        elif line.split("#")[0].strip().endswith("."):
            suite = line.split("#")[0].strip()
    return found


def run(binary, wanted, environment=None):
    """Runs tests SUITE.TEST of a program; yields (name, None or what is wrong) for each."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        done = subprocess.run([binary, "--gtest_filter=" + ":".join(wanted), f"--gtest_output=json:{report.name}"],
                              cwd=ROOT, env=os.environ | (environment or {}), capture_output=True, text=True,
                              errors="replace")
        text = pathlib.Path(report.name).read_text()
    seen = set()
    if text:
        for suite in json.loads(text)["testsuites"]:
            for test in suite["testsuite"]:
                name = f"{suite['name']}.{test['name']}"
                if name in wanted:
                    seen.add(name)
                    yield name, "\n".join(f["failure"] for f in test.get("failures", [])) or None
    for name in wanted:
        if name not in seen:
            tail = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
            yield name, f"the program ended with status {done.returncode} before this test\n{tail}"
