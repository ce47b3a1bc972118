"""Our own tests on SystemDS, for ./dev conformance dml: the language scripts, and the builtins with golden values.

Both hold Tokamak to values that stand in the repository (./dev test); here these values are compared with SystemDS's.
"""

import sys

import dml_cases
import run_natives

sys.path.insert(0, str(dml_cases.ROOT / "test/oracle"))
import systemds_oracle


def language(answers, known, step):
    """(how many agree, all, complaints) of test/scripts; differences on purpose stand in test/oracle/systemds-differences.txt."""
    passed, failed = systemds_oracle.run(answers, step=step)
    return passed, passed + len(failed), [f"test/scripts/{name}.dml: see above" for name in failed]


def results_on_systemds(answers, inputs, name, cases):
    """({case number: (rows, columns, cells)}, {case number: why it has none})"""
    answer = answers.of(run_natives.script(inputs, name, cases))
    if answer.succeeded:
        return run_natives.results_of(answer.printed), {}
    if len(cases) == 1:
        return {}, {cases[0].number: answer.error}
    # Some case fails: halves of them tell which in few runs.
    half = len(cases) // 2
    first, second = (results_on_systemds(answers, inputs, name, part) for part in (cases[:half], cases[half:]))
    return first[0] | second[0], first[1] | second[1]


def natives(answers, known, step):
    """(how many agree, all, complaints) of test/golden/natives.json; known: {"natives/EXPRESSION of INPUT": reason}"""
    inputs, cases = run_natives.load()
    complaints, agreeing = [], 0
    for name in sorted({case.input for case in cases}):
        step(f"builtins of {name}")
        own = [case for case in cases if case.input == name]
        results, errors = results_on_systemds(answers, inputs, name, own)
        for case in own:
            row = f"natives/{case.dml} of {name}"
            wrong = run_natives.complaint(case, results[case.number]) if case.number in results \
                else "SystemDS fails: " + errors.get(case.number, "no result").split(" <- ")[-1][:200]
            agreeing += wrong is None
            if (wrong is None) == (row in known):
                complaints.append(f"{row}: {wrong or 'agrees, but stands in known.csv'}")
    return agreeing, len(cases), complaints


GROUPS = {"language": language, "natives": natives}
