#!/usr/bin/env python3
"""Tests of what later runs use again: the machine's measured speeds, kernels, plans and programs.

usage: run_reuse.py [FILTER]
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import command_tests
import standalone
from command_tests import ROOT, TOKAMAK, script, tokamak
from run_commands import EXAMPLE, ONE_KERNEL


def machine_model_is_measured_on_first_use():
    """Runs that choose nothing by cost, or by a given model, measure nothing: neither do they leave a file."""
    def run(folder, *options):
        done = tokamak("run", ONE_KERNEL, "--stats=json", "--cache=off", *options, XDG_CACHE_HOME=folder)
        reason = json.loads(done.stderr[done.stderr.index("{\n"):])["measured_machine_because"]
        assert os.path.exists(f"{folder}/tokamak/machine-model.json") == bool(reason), reason
        return reason

    with tempfile.TemporaryDirectory() as folder:
        fixed = "--machine-model=test/machine-model.json"
        for options in (["--fusion=none"], [fixed], [fixed, "--fusion=all"]):
            assert run(folder, *options) == "", options
        tokamak("run", ONE_KERNEL, "--engine=reference", XDG_CACHE_HOME=folder)
        assert "no run before needed it" in tokamak("doctor", XDG_CACHE_HOME=folder).stdout
        assert run(folder, "--fusion=cost") == "no run before needed it"


def machine_model_is_of_this_processor():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokamak/machine-model.json"

        def run_with(model, **measured):
            path.write_text(json.dumps(model | {"measured": model["measured"] | measured}))
            tokamak("run", ONE_KERNEL, XDG_CACHE_HOME=folder)
            return json.loads(path.read_text())

        tokamak("run", ONE_KERNEL, XDG_CACHE_HOME=folder)
        first = json.loads(path.read_text())
        assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["measured"]["date"]), first
        assert first["measured"]["processor"] != "another"
        early = "2020-01-01T00:00:00Z"
        assert run_with(first, date=early, disturbed=False)["measured"]["date"] == early, "kept"
        changes = {"processor": ("another", "on another processor before, another"), "version": (-1, "another version"),
                   "threads": (1000, "but 1000 when it was measured before")}
        for key, (value, reason) in changes.items():
            again = run_with(first, date=early, **{key: value})["measured"]
            assert again[key] == first["measured"][key] and reason in again["reason"] and again["date"] != early, again
            assert reason in tokamak("doctor", XDG_CACHE_HOME=folder).stdout, "no reason"
        path.write_text(json.dumps(first | {"speed": 1}))
        assert "or damaged" in tokamak("run", ONE_KERNEL, "--stats", XDG_CACHE_HOME=folder).stderr, "no reason"
        one_core = ["taskset", "-c", str(min(os.sched_getaffinity(0))), TOKAMAK, "run", ONE_KERNEL, "--stats"]
        if len(os.sched_getaffinity(0)) > 1:
            done = subprocess.run(one_core, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"XDG_CACHE_HOME": folder})
            assert "because the process may use 1 thread, but " in done.stderr, done
        fast = {"launchNanoseconds": 0.5, "arrayNanoseconds": 0.25}
        again = run_with(first | fast, date=early, disturbed=True, attempts=2)
        assert again["measured"]["date"] != early
        assert again["measured"]["attempts"] == 3 and again["launchNanoseconds"] == 0.5, "the best of all"
        assert run_with(first, date=early, disturbed=True, attempts=5)["measured"]["date"] == early, "often enough"

        def calibrated(date):
            path.write_text(json.dumps(first | fast | {"measured": first["measured"] | {"date": date, "attempts": 1, "disturbed": False}}))
            said = tokamak("doctor", "--calibrate", XDG_CACHE_HOME=folder).stdout
            return json.loads(path.read_text()), "best figures of 2 measurements" in said

        model, is_best = calibrated(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        assert model["launchNanoseconds"] == 0.5 and is_best, "the better of each figure"
        model, is_best = calibrated(early)
        assert model["launchNanoseconds"] > 0.5 and not is_best, "the machine has changed"
        assert model["measured"]["date"] != early


def reports_of(paths, cache, *options):
    """What the runs print, and of their statistics the sums."""
    if not any(option.startswith("--machine-model") for option in options):
        options = ("--machine-model=test/machine-model.json", *options)  # not measured anew in between
    runs = [tokamak("run", path, "--seed=1", "--quiet", "--stats=json", *options, TOKAMAK_CACHE=cache) for path in paths]
    reports = [json.loads(done.stderr[done.stderr.index("{\n"):]) for done in runs]
    return [done.stdout for done in runs], {what: sum(report[what] for report in reports) for what in
                                            ("program_loaded", "specialisations", "plans_loaded", "kernels_compiled", "kernels_loaded", "kernels_built_in")}


def without_fusion_nothing_is_compiled():
    """Kernels of single operators are built in, but for conversions and arrays of four dimensions, which networks need, and a few
    that trees need."""
    if os.environ.get("TOKAMAK_PRESET") in ("address", "thread"):
        return  # these builds have none: tools/CMakeLists.txt
    needs_more = re.compile(r"onnx\(|xgboost|decisionTree")
    scripts = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.dml")
                     if not needs_more.search(path.read_text()))
    for precision in ("f64", "f32"):
        _, counts = reports_of(scripts, "off", "--fusion=none", f"--precision={precision}")
        assert counts["kernels_compiled"] == 0 and counts["kernels_built_in"] > 100, (precision, counts)


def layers_share_kernels():
    """Layers of a network that do the same to images of other sizes have one kernel."""
    for disabled, kernels in ([], 1), (["--disable=collapse-axes"], 2):
        _, counts = reports_of(["test/commands/two-layers.mlir"], "off", "--tier=compile-first", *disabled)
        assert counts["kernels_compiled"] == kernels, (disabled, counts)
    _, counts = reports_of(["test/commands/two-convolutions.mlir"], "off", "--tier=compile-first",
                           f"--machine-model={ROOT}/test/machine-model.json")
    assert counts["kernels_compiled"] == 1, counts


def a_second_run_compiles_nothing():
    """Nor does it plan anything, nor print anything else, whatever became of the files in between."""
    examples = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "examples").glob("*.*"))

    def truncate(content, number):
        del content[len(content) * (number % 8) // 8:]

    def flip_a_bit(content, number):
        content[len(content) * (number % 8) // 8] ^= 1 << number % 8

    with tempfile.TemporaryDirectory() as folder:
        outputs, first = reports_of(examples, folder)
        assert first["kernels_compiled"] > 50 and first["specialisations"] > 50 and first["program_loaded"] == 0, first
        again, second = reports_of(examples, folder)
        assert again == outputs and second["kernels_compiled"] == 0 and second["specialisations"] == 0, second
        assert second["plans_loaded"] == first["specialisations"] + first["plans_loaded"], (first, second)
        assert second["program_loaded"] == sum(example.endswith(".dml") for example in examples) > 10, second
        for damage in (truncate, flip_a_bit):
            for number, path in enumerate(sorted(pathlib.Path(folder).iterdir())):
                content = bytearray(path.read_bytes())
                damage(content, number)
                path.write_bytes(content)
            damaged, anew = reports_of(examples, folder)
            assert damaged == outputs, f"{damage.__name__}: another output"
            assert anew == first, f"{damage.__name__}: what is damaged is made anew: {anew}"
            assert reports_of(examples, folder)[1] == second, "and replaced"
        for path in list(pathlib.Path(folder).iterdir())[::2]:
            path.unlink()
        assert reports_of(examples, folder)[0] == outputs, "plans without their kernels"
        for off in (reports_of([ONE_KERNEL], folder, "--cache=off")[1], *(reports_of([ONE_KERNEL], word)[1] for word in ("Off", "FALSE", "0"))):
            assert off["kernels_loaded"] == 0 and off["plans_loaded"] == 0, off
        assert not pathlib.Path(ROOT, "Off").exists(), "no folder has this name"
        for _ in range(2):
            assert "vmov" in tokamak("run", ONE_KERNEL, "--explain=asm", TOKAMAK_CACHE=folder).stderr, "what is shown is compiled"
            assert "specialised in" in tokamak("run", ONE_KERNEL, "--explain=recompile", TOKAMAK_CACHE=folder).stderr, "and planned"


def what_decides_a_plan_keeps_it_apart():
    """Runs of one script that differ in one thing take no plans of each other; the same run takes all."""
    model = json.loads((ROOT / "test/machine-model.json").read_text())
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as scratch:
        path = script(scratch, """
X = rand(rows=$n, cols=30, sparsity=$s, seed=1)
print(sum(colSums(X) * 2) > sum(exp(X[1:5,]) * X[1:5,]))
""")
        other_model = pathlib.Path(scratch, "model.json")
        other_model.write_text(json.dumps(model | {"launchNanoseconds": 12345.0}))
        data = ["-nvargs", "n=1000", "s=1.0"]
        for different in (data, ["--fusion=all", *data], ["--fusion=no-redundancy", *data], ["--fusion=none", *data],
                          ["--precision=f32", *data], ["--disable=absorb-transpositions", *data], ["--strict-zeros", *data],
                          [f"--machine-model={other_model}", *data], ["-nvargs", "n=100000", "s=1.0"],
                          ["-nvargs", "n=1000", "s=0.01"]):
            first, second = (reports_of([path], folder, *different)[1] for _ in range(2))
            assert first["plans_loaded"] == 0 and first["specialisations"] > 0, (different, first)
            assert second["specialisations"] == 0 and second["plans_loaded"] == first["specialisations"], (different, second)


def a_program_is_kept_until_its_texts_change():
    with tempfile.TemporaryDirectory() as folder:
        other, data = pathlib.Path(folder, "other.dml"), pathlib.Path(folder, "data.txt")
        other.write_text("f = function(double x) return (double y) { y = x + 1 }\n")
        data.write_text("7\n")
        metadata = pathlib.Path(folder, "data.txt.mtd")
        metadata.write_text('{"data_type": "scalar", "value_type": "int", "format": "text"}')
        text = f"""
source("{other}") as other
x = read("{data}")
n = 0
for (i in 1:30000)
  n = n + i
print(other::f(x) + " " + x + " " + n + " " + $a)
"""
        path, cache = script(folder, text), f"{folder}/cache"

        def outcome(*options):
            (output,), counts = reports_of([path], cache, *options)
            return output, counts["program_loaded"]

        given = ["-nvargs", "a=1"]
        assert outcome(*given) == ("8.0 7 450015000 1\n", 0)
        assert outcome(*given) == ("8.0 7 450015000 1\n", 1)
        report = json.loads(tokamak("run", path, "--stats=json", *given, TOKAMAK_CACHE=cache).stderr)
        assert report["loops_compiled"] == 1 and report["passes"] == [], "loops of a kept program are compiled"
        assert outcome("-nvargs", "a=2") == ("8.0 7 450015000 2\n", 0), "another argument"
        assert outcome("--disable=inline", *given) == ("8.0 7 450015000 1\n", 0), "another option"
        assert outcome("--precision=f32", *given) == ("8.0 7 450015000 1\n", 0), "another option"
        other.write_text("f = function(double x) return (double y) { y = x + 2 }\n")
        assert [outcome(*given) for _ in range(2)] == [("9.0 7 450015000 1\n", 0), ("9.0 7 450015000 1\n", 1)], "a script"
        metadata.write_text('{"data_type": "scalar", "value_type": "double", "format": "text"}')
        assert [outcome(*given) for _ in range(2)] == [("9.0 7.0 450015000 1\n", 0), ("9.0 7.0 450015000 1\n", 1)], "a type"
        metadata.unlink()
        assert "got a matrix" in tokamak("run", path, *given, status=2, TOKAMAK_CACHE=cache).stderr, "the default type"
        metadata.write_text('{"data_type": "scalar", "value_type": "int", "format": "text"}')
        script(folder, text.replace("print(", "print(1 + "))
        assert outcome(*given)[1] == 0, "the script"
        script(folder, text.replace("n + i", "n + as.scalar(other::g(matrix(1, 1, i), i + 1))"))
        other.write_text("g = function(Matrix[Double] X, int i) return (Matrix[Double] y) { y = X[i, 1] }\n"
                         "f = function(double x) return (double y) { y = x + 1 }\n")
        for _ in range(2):
            again = tokamak("run", path, *given, status=1, TOKAMAK_CACHE=cache)
            assert again.stderr == tokamak("run", path, *given, status=1).stderr, "an error has its place"
            assert "other.dml:1:" in again.stderr and "script.dml:6:" in again.stderr, again.stderr


def plans_of_split_blocks_are_found_again():
    """The rows of Y depend on data, so that what reads it is planned as a block of its own; threads plan in any order."""
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, """
parfor (i in 1:8) {
  X = rand(rows=100 * i, cols=3, seed=i)
  Y = removeEmpty(target=X, margin="rows", select=(X[,1] > 0.5))
  print(nrow(Y) + " " + sum(t(Y) %*% Y + sum(exp(Y))))
}
""")
        shown = tokamak("run", path, "--explain=recompile").stderr
        assert re.search(r"# block_0_\d+ .* specialised", shown), shown
        cache = f"{folder}/cache"
        outputs, first = reports_of([path], cache, "--threads=2")
        again, second = reports_of([path], cache, "--threads=2")
        assert again == outputs and second["specialisations"] == second["kernels_compiled"] == 0, second
        assert second["plans_loaded"] == first["specialisations"] + first["plans_loaded"], (first, second)


def runs_at_the_same_time_share_a_folder():
    with tempfile.TemporaryDirectory() as folder:
        command = ["run", EXAMPLE, "--machine-model=test/machine-model.json"]
        expected = tokamak(*command).stdout
        runs = [subprocess.Popen([TOKAMAK, *command], stdout=subprocess.PIPE, text=True, cwd=ROOT,
                                 env={**os.environ, "TOKAMAK_CACHE": folder}) for _ in range(6)]
        assert all(run.communicate()[0] == expected and run.returncode == 0 for run in runs)
        assert reports_of([EXAMPLE], folder)[1]["specialisations"] == 0


def machine_is_not_measured_without_need():
    with tempfile.TemporaryDirectory() as folder:
        for option in ("--fusion=none", "--engine=reference"):
            tokamak("run", ONE_KERNEL, option, "--stats", XDG_CACHE_HOME=folder)
            assert not os.listdir(folder), option


def discover():
    return command_tests.tests_of(globals())


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
