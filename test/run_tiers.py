"""Programs on little data begin with built-in kernels, and compile others once that pays."""

import json
import os
import sys
import tempfile

import standalone
from command_tests import ROOT, script, tests_of, tokamak

EXAMPLES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.dml"))
BUILT_IN_FIRST = {"TOKAMAK_TIER": "built-in-first"}
HAVE_BUILT_IN = os.environ.get("TOKAMAK_PRESET") not in ("address", "thread")  # tools/CMakeLists.txt
STEP = "X = X * 0.999 + 1 / (1 + exp(-X)); s = s + sum(X * X)"
LOOP = f"""
X = matrix(seq(1, 200), rows=20, cols=10) / 100
s = 0.0
for (i in 1:$n) {{ {STEP} }}
print(s)
"""


def run(path, *options, **environment):
    """What it prints, and its statistics."""
    done = tokamak("run", path, "--seed=1", "--quiet", "--stats=json", *options, **BUILT_IN_FIRST | environment)
    return done.stdout, json.loads(done.stderr[done.stderr.index("{\n"):])


def loop_beside_compiled(folder, steps):
    """The loop's script, what it prints, which agrees with compiled kernels, and the statistics of both."""
    path = script(folder, LOOP)
    given = ("-nvargs", f"n={steps}")
    printed, report = run(path, *given)
    compiled, other = run(path, "--tier=compile-first", *given)
    assert abs(float(printed) - float(compiled)) < 1e-9 * float(compiled), (printed, compiled)
    return path, printed, report, other


def tiers_on_little_data_need_no_compiler():
    if not HAVE_BUILT_IN:
        return
    with tempfile.TemporaryDirectory() as folder:
        path, _, report, compiled = loop_beside_compiled(folder, 20)
        assert report["kernels_compiled"] == 0 and report["kernels_built_in"] > 0, report
        assert compiled["kernels_compiled"] > 0, compiled
        assert not any(operator.get("predicted_ns") for operator in report["operators"]), "nothing is known of this machine"
        assert any(operator.get("predicted_ns") for operator in compiled["operators"]), compiled
        tokamak("run", path, "-nvargs", "n=20", XDG_CACHE_HOME=folder + "/cache", **BUILT_IN_FIRST)
        assert not os.path.exists(f"{folder}/cache/tokamak/machine-model.json"), "nor is the machine measured"


def tiers_change_where_a_block_runs_long():
    if not HAVE_BUILT_IN:
        return
    with tempfile.TemporaryDirectory() as folder:
        path, printed, report, _ = loop_beside_compiled(folder, 5000)
        assert report["kernels_compiled"] > 0 and report["kernels_built_in"] > 0, report
        shown = tokamak("run", path, "--explain=recompile", "-nvargs", "n=5000", **BUILT_IN_FIRST).stderr
        assert "built-in kernels have run for as long as compiling takes" in shown, shown
        again = [run(path, "-nvargs", "n=5000")[0] for _ in range(3)]
        assert again == [printed] * 3, "the change comes after a number of executions, not after a time"


def tiers_begin_compiled_on_much_data():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, "X = rand(rows=3000, cols=1000, seed=1)\nprint(sum(X * X + exp(X)))")
        report = run(path)[1]
        assert report["kernels_compiled"] > 0, report
        assert report["specialisations"] == 1, "and planned once"


def tiers_begin_compiled_in_parallel_loops():
    """Which of their iterations came first must not matter."""
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, """
r = matrix(0, rows=40, cols=1)
X = matrix(seq(1, 200), rows=20, cols=10) / 100
parfor (i in 1:40) { r[i, 1] = sum(exp(X * i / 40) * X) }
print(sum(r))
""")
        printed, report = run(path, "--threads=2")
        assert report["kernels_compiled"] > 0, report
        assert printed == run(path, "--threads=1")[0] == run(path, "--tier=compile-first")[0]


def tiers_of_a_second_run_are_the_same():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, LOOP)
        # But for boosted trees, whose sizes change all the time: of their plans a few are made again.
        paths = [*(each for each in EXAMPLES if "car-mileage" not in each), path]
        cache = {"TOKAMAK_CACHE": folder + "/cache", "XDG_CACHE_HOME": folder}
        def run_all():
            return [run(each, *(("-nvargs", "n=5000") if each == path else ()), **cache) for each in paths]
        first, again = run_all(), run_all()
        # What is compiled in the background near the end of a run may not be complete when it ends: a later run has it then.
        for _ in range(3):
            if any(after["specialisations"] for _, after in again):
                first, again = again, run_all()
        assert [printed for printed, _ in again] == [printed for printed, _ in first]
        for (_, before), (_, after), each in zip(first, again, paths):
            assert after["specialisations"] == after["kernels_compiled"] == 0, (each, after)
            assert after["plans_loaded"] == before["specialisations"] + before["plans_loaded"], (each, before, after)
            assert after["kernels_built_in"] > 0 or before["kernels_built_in"] == 0, (each, before, after)


def discover():
    return tests_of(globals())


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
