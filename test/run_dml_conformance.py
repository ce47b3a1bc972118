#!/usr/bin/env python3
"""Tests of ./dev conformance dml without Java: what counts as equal, how cases are read, and what the table says of them.

usage: run_dml_conformance.py [FILTER]
"""

import contextlib
import io
import sys
import tempfile

import dml_agreement
import dml_cases
import dml_conformance
import dml_files
import run_natives
import standalone
from dml_agreement import AGREES, DIFFERS, ORACLE_FAILS, REFUSED
from systemds import Answer, Answers


def check(condition, *values):
    assert condition, " ".join(map(repr, values))


def numbers_agree_up_to_the_tolerance():
    same = lambda a, b, tolerance=1e-9: dml_agreement.difference(a, b, tolerance) is None
    for a, b in ("1.5", "1.5000000001"), ("1", "1.0"), ("-0.0", "0"), ("NaN", "NaN"), ("-Infinity", "-Infinity"), ("1e300", "1.0E300"), \
            ("[1, 2.5]", "[1,2.5000000001]"), ("x=3", "x = 3.0"), ("1000000.0001", "1000000.0002"), ("a\n\nb\n", "a\nb"):
        check(same(a, b), a, b)
    for a, b in ("1.5", "1.51"), ("NaN", "0"), ("Infinity", "-Infinity"), ("Infinity", "1e308"), ("TRUE", "true"), ("inf", "Infinity"), \
            ("1_0", "10"), ("1 2", "1 2 3"), ("1\n2", "1"), ("1 2\n3", "1\n2 3"), ("1e-3", "1.1e-3"), ("ab", "abc"), ("", "0"):
        check(not same(a, b), a, b)
    check(same("1.5", "1.51", 0.1) and not same("1.5", "1.51", 1e-3))


def differences_name_their_place():
    check(dml_agreement.difference("a 1\nb 2 3\n", "a 1\nb 2 4\n", 1e-9) == "line 2 is `… 2 3`, SystemDS's `… 2 4`")
    said = dml_agreement.difference("1\n2\n", "1\n", 1e-9)
    check(said == "2 lines, SystemDS has 1; the first that only ours has is `2`", said)


def only_what_is_shown_counts_where_prints_are_ignored():
    text = "took 3 s\n[Y] 1 x 2\n1 2\n\n[end]\ntook 5 s\n[F] 1 x 1\n# FRAME\na\n[end]\nafter\n"
    check(dml_agreement.shown(text) == "[Y] 1 x 2\n1 2\n\n[end]\n[F] 1 x 1\n# FRAME\na\n[end]\n", dml_agreement.shown(text))
    case = dml_cases.Case("f", "timed", 1, "", prints=False)
    check(outcome(case, "took 1 s\n[Y] 1 x 1\n7\n[end]\n", "took 2 s\n[Y] 1 x 1\n7.0\n[end]\n") == AGREES)
    check(outcome(case, "[Y] 1 x 1\n7\n[end]\n", "[Y] 1 x 1\n8\n[end]\n") == DIFFERS)
    check(outcome(dml_cases.Case("f", "all", 1, ""), "took 1 s\n", "took 2 s\n") == DIFFERS)


def outcome(case, ours, theirs, succeeded=True, answered=True, error="", answer_error="", stopped=False):
    return dml_agreement.outcome(case, succeeded, ours, error, Answer(answered, theirs, answer_error, stopped))[0]


def failures_have_an_outcome():
    good, bad = dml_cases.Case("f", "dense", 1, ""), dml_cases.Case("f", "bad: k", 1, "")
    check(outcome(good, "", "1", succeeded=False, error="x.dml:1:1: error: no") == REFUSED)
    check(outcome(good, "1", "", answered=False, answer_error="no") == ORACLE_FAILS)
    check(outcome(good, "", "", succeeded=False, answered=False) == ORACLE_FAILS)
    check(outcome(bad, "", "", succeeded=False, answered=False, error="error: any", answer_error="other") == AGREES)
    check(outcome(bad, "1", "", answered=False) == DIFFERS)
    check(outcome(bad, "", "1", succeeded=False) == DIFFERS)
    check(outcome(bad, "1", "1") == DIFFERS, "a bad case that both accept is no bad case")


def messages_of_stop_have_to_be_the_same():
    bad = dml_cases.Case("f", "bad: k", 1, "")
    stopped = lambda ours, theirs: outcome(bad, "", "", False, False, f"x.dml:3:5: error: {ours}\n", theirs, True)
    check(stopped("f: k is 0", "f: k is 0") == AGREES)
    check(stopped("f: k is 2", "f: k is 2.0") == AGREES, "how numbers are written doesn't count")
    check(stopped("f: k is 1", "f: k is 0") == DIFFERS)
    check(stopped("unknown function", "f: k is 0") == DIFFERS)
    check(stopped("assertion failed", "assertion failed at 60:2-60:40") == AGREES)
    check(stopped("k is 0", "assertion failed at 60:2-60:40") == DIFFERS)


def messages_are_shortened():
    check(dml_agreement.first_line("note\nx.dml:3:5: error: no such thing\n  source\n") == "no such thing")
    check(dml_agreement.first_line("") == "no message")
    check(dml_agreement.last_reason("outer <- None <- the   cause\nof it <- ") == "the cause of it")


def cases_are_read():
    options = "tolerance=1e-4 prints=ignored draws=same"
    cases = dml_cases.read("f", f"# about f\n\n## dense\nx = 1\n\n## small  {options}\ny = 2\nz = 3\n## bad: k\nf(0)\n")
    check([(case.name, case.line, case.body) for case in cases] ==
          [("dense", 3, "x = 1\n"), ("small", 6, "y = 2\nz = 3\n"), ("bad: k", 9, "f(0)\n")], cases)
    check((cases[1].tolerance, cases[1].prints, cases[1].same_draws) == (1e-4, False, True))
    check((cases[0].tolerance, cases[0].prints, cases[0].same_draws) == (dml_cases.TOLERANCE, True, False))
    check(cases[2].bad and not cases[0].bad)
    for wrong in "x = 1\n## dense\n", "## dense  speed=3\nx = 1\n", "## dense  prints=all\n":
        try:
            dml_cases.read("f", wrong)
        except ValueError as error:
            check(str(error).startswith("f.dml:"), error)
        else:
            check(False, "was accepted:", wrong)


def readers_show_what_writers_showed():
    case = dml_files.Case("csv: dense", "X = numbers(2, 2, 1)", "matrix", "csv")
    says = lambda writes, reads: dml_files.difference(case, writes, reads, ("Tokamak", "SystemDS"))
    check(says((True, "2 x 2\n1 2\n", ""), (True, "2 x 2\n1.0 2\n", "")) is None)
    said = says((True, "2 x 2\n1 2\n", ""), (True, "2 x 2\n1 3\n", ""))
    check(said == "line 2 is `… 1 3`, the writer's `… 1 2`", said)
    said = says((True, "", ""), (False, "", "outer <- no such file"))
    check(said == "SystemDS does not read it: no such file", said)
    said = says((False, "", "x.dml:1:1: error: no"), (False, "", ""))
    check(said == "Tokamak does not write it: no", said)
    names = [case.name for case in dml_files.cases()]
    check(len(set(names)) == len(names), names)


def every_case_in_the_repository_is_read():
    cases = dml_cases.load()
    check(len(cases) > 190, len(cases))
    for function, own in cases.items():
        names = [case.name for case in own]
        check(names and len(set(names)) == len(names), function, names)
        check(all(case.body.strip() for case in own), function)
        check(any(function + "(" in case.body for case in own), function)


def rows(outcomes, known={}):
    """The table of functions whose cases have these outcomes: {function: [outcome of each]}"""
    results = {dml_cases.Case(function, f"case {k}", k, ""): (outcome, "why")
               for function, own in outcomes.items() for k, outcome in enumerate(own)}
    return dml_conformance.by_function(list(outcomes), results, known)


def known(**cases):
    """{(function, case): Known} of function_number=whose."""
    return {(name.split("_")[0], f"case {name.split('_')[1]}"): dml_conformance.Known(whose, "it is so") for name, whose in cases.items()}


def tables_count_by_function():
    table = rows({"good": [AGREES, AGREES], "mixed": [AGREES, REFUSED, DIFFERS], "refused": [REFUSED, AGREES], "broken": [ORACLE_FAILS],
                  "except": [AGREES, DIFFERS], "lacks": [AGREES, REFUSED], "new": []},
                 known(broken_0="SystemDS", except_1="SystemDS", lacks_1="Tokamak", mixed_1="SystemDS"))
    check({function: row.outcome for function, row in table.items()} ==
          {"good": AGREES, "mixed": DIFFERS, "refused": REFUSED, "broken": ORACLE_FAILS, "except": dml_conformance.AGREES_OTHERWISE,
           "lacks": REFUSED, "new": dml_conformance.NO_CASE}, table)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        dml_conformance.print_table(table)
    lines = text.getvalue().splitlines()
    for line in "| good | agrees | 2 | 2 | 0 | 0 |", "| mixed | differs; case 1 (SystemDS): it is so | 3 | 1 | 1 | 1 |", \
            "| broken | SystemDS fails; case 0 (SystemDS): it is so | 1 | 0 | 1 | 0 |", "  case 2 (line 2): differs: why":
        check(line in lines, line, lines)
    check("  case 1 (line 1): refused: why" not in lines[lines.index("mixed"):lines.index("refused")], "a known reason needs no details")
    check(lines[-2].startswith("1 of 7 functions agree in every case, 2 where SystemDS is right"), lines[-2])
    check(lines[-1] == "6 of 12 cases agree; of the others 3 are SystemDS's fault, 1 known of Tokamak, 2 not known", lines[-1])


def a_case_that_both_refuse_is_not_enough():
    results = {dml_cases.Case("f", "dense", 1, ""): (DIFFERS, "why"), dml_cases.Case("f", "bad: k", 2, ""): (AGREES, "")}
    table = dml_conformance.by_function(["f"], results, {("f", "dense"): dml_conformance.Known("SystemDS", "it is so")})
    check(table["f"].outcome == DIFFERS, table)


def the_status_depends_on_what_is_known():
    outcomes = {"good": [AGREES], "wrong": [AGREES, DIFFERS]}
    says = lambda **cases: dml_conformance.complaints(rows(outcomes, known(**cases)), known(**cases))
    check(says() == ["wrong: case 1 disagrees and isn't in known.csv"], says())
    check(says(wrong_1="Tokamak") == [] and says(wrong_1="SystemDS", absent_0="SystemDS") == [])
    for case in "good_0", "wrong_0", "wrong_7":
        check(len(says(**{"wrong_1": "SystemDS", case: "SystemDS"})) == 1, case)


def known_reasons_are_complete():
    head = "function,case,whose,reason\n"
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(head + 'a,"one, two",SystemDS,"x, y"\na,three,Tokamak,z\n')
        file.flush()
        check(dml_conformance.read_known(file.name) == {("a", "one, two"): ("SystemDS", "x, y"), ("a", "three"): ("Tokamak", "z")})
    twice = "a,b,Tokamak,x\na,b,Tokamak,y\n"
    for wrong in "function,reason\n", head + "a,b,SystemDS,\n", head + twice, head + "a,b,nobody,x\n", head + "a,b\n":
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(wrong)
            file.flush()
            try:
                dml_conformance.read_known(file.name)
            except SystemExit as error:
                check(file.name in str(error), error)
            else:
                check(False, "was accepted:", wrong)


def known_cases_exist():
    cases = {(function, case.name) for function, own in dml_cases.load().items() for case in own}
    inputs, natives = run_natives.load()
    cases |= {("natives", f"{case.dml} of {case.input}") for case in natives}
    cases |= {("files", f"{case.name} {direction}") for case in dml_files.cases() for direction in dml_files.DIRECTIONS}
    unknown = [row for row in dml_conformance.read_known() if row not in cases]
    check(not unknown, unknown)


def answers_depend_on_all_they_are_made_of():
    with tempfile.NamedTemporaryFile("w") as file:
        answers, paths = Answers(), []
        for content in "1", "2":
            file.seek(0)
            file.write(content)
            file.flush()
            paths.append(answers.path("x", (), [file.name]))
        paths += [answers.path("x"), answers.path("y"), answers.path("x", ["-nvargs"]), answers.path("x", ["-nvargs", "k=1"])]
    check(len(set(paths)) == len(paths), paths)
    check(answers.path("x") == Answers().path("x"))


TESTS = [numbers_agree_up_to_the_tolerance, differences_name_their_place, only_what_is_shown_counts_where_prints_are_ignored,
         failures_have_an_outcome, messages_of_stop_have_to_be_the_same, messages_are_shortened, cases_are_read,
         readers_show_what_writers_showed, every_case_in_the_repository_is_read, tables_count_by_function,
         a_case_that_both_refuse_is_not_enough, the_status_depends_on_what_is_known, known_reasons_are_complete, known_cases_exist,
         answers_depend_on_all_they_are_made_of]


def discover():
    """{name: function that raises what is wrong}"""
    return standalone.named("commands/dml-conformance-", TESTS)


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
