"""Our own tests on SystemDS, for ./dev conformance dml: the language scripts, and the builtins with golden values.

Both hold Tokamak to values that stand in the repository (./dev test); here these values are compared with SystemDS's.
"""

import sys

import dml_cases
import dml_files
import run_natives

sys.path.insert(0, str(dml_cases.ROOT / "test/oracle"))
import systemds_oracle


def language(answers, known, step):
    """Of test/scripts; differences on purpose stand in test/oracle/systemds-differences.txt."""
    failed = systemds_oracle.run(answers, step=step)[1]
    listed = sum(name not in failed for name in systemds_oracle.known_differences())
    total = len(systemds_oracle.tests())
    return total - listed - len(failed), listed, total, [f"test/scripts/{name}.dml: see above" for name in failed]


def results_on_systemds(answers, inputs, name, cases):
    """({case number: (rows, columns, cells)}, {case number: why it has none})"""
    # SystemDS has no as.matrix of a matrix, but one of a list that holds a matrix or a scalar.
    answer = answers.of(run_natives.script(inputs, name, cases, "as.matrix(list({}))"))
    shown = run_natives.results_of(answer.printed)
    missing = [case for case in cases if case.number not in shown]
    if answer.succeeded or not missing:
        return shown, {}
    if shown or len(missing) == 1:  # the first that is missing failed during the run, or is the only one
        failed, rest = missing[:1], [missing[1:]]
    else:  # refused before it began: halves tell which case is
        failed, rest = [], [missing[:len(missing) // 2], missing[len(missing) // 2:]]
    errors = {case.number: answer.error or "no result" for case in failed}
    for part in rest:
        if part:
            results, reasons = results_on_systemds(answers, inputs, name, part)
            shown, errors = shown | results, errors | reasons
    return shown, errors


def difference(case, result):
    """None where SystemDS's result of the case is the expected one, else a sentence."""
    rows, columns, cells = result
    # SystemDS shows zeros of matrices that have no cells.
    return run_natives.complaint(case, (rows, columns, cells if rows * columns else []))


def natives(answers, known, step):
    """Of test/golden/natives.json; known: {("natives", "EXPRESSION of INPUT"): reason}"""
    inputs, cases = run_natives.load()
    complaints, agreeing, listed = [], 0, 0
    for name in sorted({case.input for case in cases}):
        step(f"builtins of {name}")
        own = [case for case in cases if case.input == name]
        results, errors = results_on_systemds(answers, inputs, name, own)
        for case in own:
            row = "natives", f"{case.dml} of {name}"
            wrong = difference(case, results[case.number]) if case.number in results \
                else "SystemDS fails: " + errors.get(case.number, "no result").split(" <- ")[-1][:200]
            agreeing, listed = agreeing + (wrong is None), listed + (wrong is not None and row in known)
            if (wrong is None) == (row in known):
                complaints.append(f"{': '.join(row)}: {wrong or 'agrees, but stands in known.csv'}")
    return agreeing, listed, len(cases), complaints


# Functions of the answers, known.csv and a function to call with each name, which give how many agree, how many differ as is known,
# how many there are, and complaints about the others.
GROUPS = {"language": language, "natives": natives, "files": dml_files.run}
