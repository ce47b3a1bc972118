#!/usr/bin/env python3
"""Tests of the command line that need more than one output compared: reports, documents, files left behind.

usage: run_commands.py [FILTER]
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
EXAMPLE = "examples/breast-cancer-svm.dml"
ONE_KERNEL = "test/commands/one-kernel.dml"


def tokamak(*arguments, status=0, **environment):
    done = subprocess.run([TOKAMAK, *arguments], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stderr}"
    return done


def statistics_as_json():
    report = json.loads(tokamak("run", EXAMPLE, "--stats=json").stderr)
    assert report["run_ns"] > 0 and report["memory_peak_bytes"] > 0 and report["kernels_compiled"] > 0
    kernels = [op for op in report["operators"] if op["kind"] == "kernel"]
    assert any(op["place"]["file"] == "lib/l2svm.dml" and op["calls"] > 10 and op["bytes"] > 0 for op in kernels)
    assert all(op["predicted_ns"] > 0 for op in kernels), "every kernel was chosen by a prediction"
    assert any(op["kind"] == "native" and op["name"] == "read" for op in report["operators"])
    assert any(op["kind"] == "compilation" for op in report["operators"])
    measured = sum(op["ns"] for op in report["operators"] if op["kind"] != "compilation")
    assert measured <= report["run_ns"], "on one thread operators do not overlap"


def statistics_as_text():
    plain = tokamak("run", EXAMPLE)
    done = tokamak("run", EXAMPLE, "--stats")
    assert done.stdout == plain.stdout, "the script's own output is not touched"
    for text in ("GB/s", "% mem", "memory peak", "compile time", "lib/l2svm.dml:"):
        assert text in done.stderr, text


def statistics_count_what_slices_move():
    report = json.loads(tokamak("run", "test/commands/slices.dml", "--stats=json").stderr)
    moved = {(op["name"], op["place"]["line"]): op["bytes"] for op in report["operators"] if op["kind"] == "native"}
    assert moved["slice", 5] == 0, "rows are a view"
    assert moved["slice", 6] == 100 * 2 * 10 * 8, "ten cells are read and written"
    assert moved["insert", 7] == 100 * 2 * 8, "one cell is read and written"


def memory_peak_has_a_fitting_unit():
    with tempfile.NamedTemporaryFile("w", suffix=".dml") as script:
        script.write("X = rand(rows=10, cols=10, seed=1)\nprint(sum(X))\n")
        script.flush()
        report = tokamak("run", script.name, "--stats").stderr
    assert re.search(r"memory peak: [1-9][0-9.]* (bytes|KB)\n", report), report


def explain_shows_what_is_asked_for():
    shown = {kinds: tokamak("explain", EXAMPLE, *kinds).stdout
             for kinds in ((), ("--explain=program",), ("--explain=image",))}
    for kinds, text in shown.items():
        assert ("# program" in text) == (kinds != ("--explain=image",)), kinds
        assert ("# image" in text) == (kinds != ("--explain=program",)), kinds
    assert "# image" in tokamak("check", EXAMPLE, "--explain=image").stderr
    for command in ("explain", "check"):
        errors = tokamak(command, EXAMPLE, "--explain=fusion", status=2).stderr
        assert f"tokamak run {EXAMPLE} --explain=fusion" in errors, errors


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
        assert run_with(first, date=early, processor="another")["measured"]["processor"] == first["measured"]["processor"]
        again = run_with(first | {"launchNanoseconds": 0.5}, date=early, disturbed=True, attempts=2)
        assert again["measured"]["date"] != early
        if again["measured"]["disturbed"]:
            assert again["measured"]["attempts"] == 3 and again["launchNanoseconds"] == 0.5, "the best of all"
        assert run_with(first, date=early, disturbed=True, attempts=5)["measured"]["date"] == early, "often enough"
        tokamak("doctor", "--calibrate", XDG_CACHE_HOME=folder)
        assert json.loads(path.read_text())["measured"]["date"] != early


def machine_is_not_measured_without_need():
    with tempfile.TemporaryDirectory() as folder:
        for option in ("--fusion=none", "--engine=reference"):
            tokamak("run", ONE_KERNEL, option, "--stats", XDG_CACHE_HOME=folder)
            assert not os.listdir(folder), option


def doctor_begins_with_a_verdict():
    report = tokamak("doctor").stdout
    assert re.match(r"All is in order: programs run on \d+ threads?\.\n\n", report), report
    assert "machine model" in report and "linear algebra" in report
    facts = json.loads(tokamak("doctor", "--json").stdout)
    assert facts["in_order"] and facts["problems"] == [] and facts["threads"] >= 1 and facts["processor"]


def one_thread_without_the_library_for_more():
    with tempfile.TemporaryDirectory() as folder:
        # The loader finds this one first, and can't use it.
        pathlib.Path(folder, "libtbb.so.12").write_text("no library\n")
        arguments = ["run", "test/commands/all-parallel.dml", "--threads=2", "-nvargs", f"file={folder}/X.csv"]
        whole, broken = tokamak(*arguments), tokamak(*arguments, LD_LIBRARY_PATH=folder)
        assert broken.stdout == whole.stdout and whole.stderr == "", whole.stderr
        assert broken.stderr.count("warning") == 1 and "apt-get install libtbb12" in broken.stderr, broken.stderr
        assert f"{folder}/libtbb.so.12: " in broken.stderr, "what the loader says of it"
        quiet = tokamak(*arguments[:3], "--quiet", *arguments[3:], LD_LIBRARY_PATH=folder)
        assert quiet.stdout == whole.stdout and quiet.stderr == "", quiet.stderr
        report = tokamak("doctor", status=1, LD_LIBRARY_PATH=folder).stdout
        assert report.startswith("One thing is to mend:") and "apt-get install libtbb12" in report, report


def trace_has_every_step():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/trace.json"
        report = json.loads(tokamak("run", EXAMPLE, "--stats=json", f"--trace={path}").stderr)
        events = [e for e in json.load(open(path))["traceEvents"] if e["ph"] == "X"]
    assert len(events) == sum(op["calls"] for op in report["operators"])
    assert all(e["dur"] >= 0 and e["ts"] >= 0 and e["cat"] in ("kernel", "native", "compilation") for e in events)
    assert all(e["name"].startswith("compile ") == (e["cat"] == "compilation") for e in events)


def trace_that_cannot_be_written():
    done = tokamak("run", EXAMPLE, "--trace=/nowhere/trace.json", status=1)
    assert "/nowhere/trace.json" in done.stderr


def manual_names_every_option():
    page = tokamak("manual").stdout
    help_text = tokamak("run", "--help").stdout
    for word in help_text.split():
        if word.startswith("--"):
            option = word.split("=")[0].rstrip(",.")
            assert option.replace("-", "\\-") in page, option
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr


def completion_in_bash():
    script = tokamak("completion", "bash").stdout

    def complete(*words):
        line = " ".join(f"'{w}'" for w in words)
        code = f'{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _tokamak; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert complete("tokamak", "ru") == ["run"]
    assert "--fusion" in complete("tokamak", "run", "--fu")
    assert complete("tokamak", "run", "--fusion", "=", "no") == ["none", "no-redundancy"]
    assert complete("tokamak", "completion", "z") == ["zsh"]


def completion_in_other_shells():
    for shell in ("zsh", "fish"):
        script = tokamak("completion", shell).stdout
        assert "no-redundancy" in script and "machine-model" in script
        if shutil.which(shell):
            subprocess.run([shell, "-n"], input=script, text=True, check=True, capture_output=True)
    tokamak("completion", "csh", status=2)


def kernels_have_names_in_gdb():
    if not shutil.which("gdb"):
        return
    done = subprocess.run(
        ["gdb", "-q", "-batch", "-nx", "-ex", "set breakpoint pending on", "-ex", "break cell_exp_sum_1", "-ex", "run",
         "-ex", "bt 1", "-ex", "kill", "--args", TOKAMAK, "run", "test/commands/one-kernel.dml", "--threads=1"],
        cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert "in cell_exp_sum_1 ()" in done.stdout, done.stdout + done.stderr


def kernels_have_names_in_perf():
    process = subprocess.Popen([TOKAMAK, "run", "test/commands/one-kernel.dml"], cwd=ROOT, stdout=subprocess.DEVNULL,
                               env=os.environ | {"TOKAMAK_PERF_MAP": "1"})
    assert process.wait() == 0
    path = pathlib.Path(f"/tmp/perf-{process.pid}.map")
    lines = path.read_text().split("\n")
    path.unlink()
    assert any(line.endswith(" cell_exp_sum_1") for line in lines), lines


TESTS = [statistics_as_json, statistics_as_text, statistics_count_what_slices_move, memory_peak_has_a_fitting_unit,
         explain_shows_what_is_asked_for, machine_model_is_of_this_processor, machine_is_not_measured_without_need,
         doctor_begins_with_a_verdict, one_thread_without_the_library_for_more, trace_has_every_step, trace_that_cannot_be_written,
         manual_names_every_option, completion_in_bash, completion_in_other_shells, kernels_have_names_in_gdb,
         kernels_have_names_in_perf]


def discover():
    """{name: function that returns None or what is wrong}"""
    def outcome(test):
        try:
            test()
        except (AssertionError, subprocess.SubprocessError, LookupError, ValueError, OSError) as failure:
            return f"{type(failure).__name__}: {failure}"
        return None
    return {f"commands/{t.__name__.replace('_', '-')}": lambda t=t: outcome(t) for t in TESTS}


def main():
    failed = 0
    for name, run in discover().items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        wrong = run()
        failed += wrong is not None
        print(f"{'FAIL' if wrong else 'ok  '} {name}" + (f"\n{wrong}" if wrong else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
