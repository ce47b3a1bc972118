#!/usr/bin/env python3
"""Tests of the command line that need more than one output compared: reports, documents, options.

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

import command_tests
import run_scripts
import standalone
from command_tests import ROOT, TOKAMAK, script, tokamak

EXAMPLE = "examples/breast-cancer-svm.dml"
ONE_KERNEL = "test/commands/one-kernel.dml"


def statistics_as_json():
    report = json.loads(tokamak("run", EXAMPLE, "--stats=json").stderr)
    assert report["run_ns"] > 0 and report["memory_peak_bytes"] > 0 and report["kernels_compiled"] > 0
    kernels = [op for op in report["operators"] if op["kind"] == "kernel"]
    assert any(op["place"]["file"] == "lib/l2svm.dml" and op["calls"] > 10 and op["bytes"] > 0 for op in kernels)
    assert all(op["predicted_ns"] > 0 for op in kernels), "every kernel was chosen by a prediction"
    assert any("call_ns" in op and op["calls"] > 1 for op in kernels), "calls beside the first are typical"
    assert any(op["kind"] == "native" and op["name"] == "read" for op in report["operators"])
    assert any(op["kind"] == "compilation" for op in report["operators"])
    measured = sum(op["ns"] for op in report["operators"] if op["kind"] != "compilation")
    assert measured <= report["run_ns"], "on one thread operators do not overlap"


def static_passes_are_timed():
    report = json.loads(tokamak("run", EXAMPLE, "--stats=json", "--disable=sink-cells").stderr)
    runs = {one["name"]: one["runs"] for one in report["passes"]}
    assert all(one["ns"] >= 0 for one in report["passes"])
    assert runs["outline-blocks"] == 1 and runs["canonicalize"] >= 1, runs
    assert "sink-cells" not in runs, "what is left out does not run"


def passes_can_be_left_out_unless_needed():
    names = [one["name"] for one in json.loads(tokamak("run", EXAMPLE, "--stats=json").stderr)["passes"]]
    plain, needed = tokamak("run", EXAMPLE).stdout, []
    for name in names:
        done = subprocess.run([TOKAMAK, "run", EXAMPLE, f"--disable={name}"], cwd=ROOT, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL)
        if done.returncode == 2:
            assert f"'{name}' can't be left out" in done.stderr, done.stderr
            needed.append(name)
        else:
            assert done.returncode == 0 and run_scripts.same_text(done.stdout, plain, 1e-9), (name, done.stdout, done.stderr)
    assert needed == ["report-contradictions", "outline-blocks"], needed


def statistics_as_text():
    plain = tokamak("run", EXAMPLE)
    done = tokamak("run", EXAMPLE, "--stats")
    assert done.stdout == plain.stdout, "the script's own output is not touched"
    for text in ("GB/s", "% mem", "memory peak", "static phase: ", "compile time", "lib/l2svm.dml:", "us/call",
                 "predicted times are off by "):
        assert text in done.stderr, text


def small_operators_are_predicted_beside_large_ones():
    model = json.loads((ROOT / "test/machine-model.json").read_text()) | {"farLaunchNanoseconds": 9000}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.json"
        path.write_text(json.dumps(model))

        def predicted(rows):
            report = json.loads(tokamak("run", "test/commands/beside-large.dml", f"--machine-model={path}", "--tier=compile-first",
                                        "--stats=json", "-nvargs", f"rows={rows}").stderr)
            return {op["place"]["line"]: op["predicted_ns"] for op in report["operators"] if op["kind"] == "kernel"}[7]
        assert predicted(50_000) > predicted(10) + 1800, "40 MB replace it in the caches"


def the_machine_says_how_far_ahead_kernels_prefetch():
    model = json.loads((ROOT / "test/machine-model.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.json"
        for distance, expected in ((0, "streams followed"), (640, "streams prefetched by 640"), (1e15, "streams prefetched by 1048576")):
            path.write_text(json.dumps(model | {"streamBytesAhead": distance}))
            err = tokamak("run", "test/commands/one-kernel.dml", f"--machine-model={path}", "--explain=schedule").stderr
            assert expected in err, err


def a_run_of_little_memory_measures_no_machine():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([TOKAMAK, "run", "test/commands/one-kernel.dml", "--memory=8M", "--tier=compile-first"], cwd=ROOT,
                              capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": folder})
        assert done.returncode == 0 and done.stdout, done.stderr
        assert not list(pathlib.Path(folder).rglob("machine-model.json"))


def statistics_count_what_slices_move():
    report = json.loads(tokamak("run", "test/commands/slices.dml", "--stats=json").stderr)
    moved = {(op["name"], op["place"]["line"]): op["bytes"] for op in report["operators"] if op["kind"] == "native"}
    assert moved["slice", 5] == 0, "rows are a view"
    assert moved["slice", 6] == 100 * 2 * 10 * 8, "ten cells are read and written"
    assert moved["insert", 7] == 100 * 2 * 2 * 8, "two cells are read and written"


def memory_peak_has_a_fitting_unit():
    with tempfile.NamedTemporaryFile("w", suffix=".dml") as script:
        script.write("X = rand(rows=10, cols=10, seed=1)\nprint(sum(X))\n")
        script.flush()
        # What measuring the machine's speeds takes, where that is due, would count, too.
        report = tokamak("run", script.name, "--stats", "--machine-model=test/machine-model.json").stderr
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
    errors = tokamak("run", EXAMPLE, "--engine=reference", "--explain=fusion", status=2).stderr
    assert "the reference engine plans nothing" in errors, errors


def schedules_are_shown_and_taken():
    program = "examples/batched-product.mlir"
    plain = tokamak("run", program)
    shown = tokamak("run", program, "--explain=schedule").stderr
    kernel = re.search(r"^kernel (row_mul_sum\w*)\n((?:  .*\n)*)", shown, re.M)
    # The block has as many rows as the processor's registers hold.
    assert kernel and re.search(r"^  block [48]$", kernel[2], re.M) and "  pack %1 by d2\n" in kernel[2], shown
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "my.schedule"

        def run_with(lines, status=0):
            file.write_text(f"# by hand\nkernel {kernel[1]}\n{lines}\n")
            return tokamak("run", program, f"--schedule={file}", status=status)
        assert run_with("  block 3\n  unroll 1\n  pack none\n  vectors inside").stdout == plain.stdout, "another result"
        # Kernels over rows take a schedule, too.
        assert run_with(kernel[2]).stdout == plain.stdout, "what is shown is not taken"
        wrong = {"  blok 3": "my.schedule:3:3: error: 'blok' is none of parallel, block",
                 "  block many": "my.schedule:3:3: error: expected a number instead of 'many'",
                 "\n  vector d9": "my.schedule:4:3: error: 'd9' is no axis; the operator has d0 to d3",
                 "  keep %99": "'%99' is no value of the body",
                 "  vector d0": "my.schedule:2:1: error: the schedule does not fit the kernel: d0 can't be computed in vectors",
                 "  block 1000": "blocks have 1 to 64 places"}
        for lines, message in wrong.items():
            assert message in run_with(lines, status=1).stderr, f"{lines}: no '{message}'"
        file.write_text("kernel nowhere\n")
        assert "no kernel of this run was called nowhere" in tokamak("run", program, f"--schedule={file}").stderr, "no warning"
        file.write_text("block 3\n")
        assert "expected 'kernel NAME'" in tokamak("run", program, f"--schedule={file}", status=2).stderr, "no complaint"
        assert "can't read" in tokamak("run", program, f"--schedule={folder}/none", status=2).stderr, "no complaint"


def operators_without_code_are_no_bugs():
    program = "test/commands/operator-without-code.mlir"
    assert tokamak("run", program, "--engine=reference").stdout == "40.0\n"
    error = tokamak("run", program, status=1).stderr
    assert "operator-without-code.mlir:12:10: error: 'plan.read' op there is no code for places" in error, error
    assert "bug in Tokamak" not in error, error


def doctor_begins_with_a_verdict():
    report = tokamak("doctor").stdout
    assert re.match(r"All is in order: programs run on \d+ threads?\.\n\n", report), report
    assert "machine model" in report and "linear algebra" in report
    facts = json.loads(tokamak("doctor", "--json").stdout)
    assert facts["in_order"] and facts["problems"] == [] and facts["threads"] >= 1 and facts["processor"]


def doctor_names_libraries_that_few_programs_need():
    facts = json.loads(tokamak("doctor", "--json").stdout)
    assert facts["hdf5_problem"] == "" and facts["sql_problem"] == "" and facts["pattern_problem"] == "", facts
    with tempfile.TemporaryDirectory() as folder:
        # The loader finds these first, and can't use them.
        for name in ("libpcre2-8.so.0", "libsqlite3.so.0", "libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5.so.200", "libhdf5.so.310", "libhdf5.so"):
            pathlib.Path(folder, name).write_text("no library\n")
        report = tokamak("doctor", LD_LIBRARY_PATH=folder).stdout
        hdf5 = "the format hdf5 needs the library libhdf5: it was not found (Debian's package is libhdf5-103-1)"
        assert report.startswith("All is in order") and f"  format hdf5      {hdf5}\n" in report, report
        sql = "sql needs the library libsqlite3: it was not found (Debian's package is libsqlite3-0)"
        assert f"  sql              {sql}\n" in report, report
        patterns = "regular expressions need the library libpcre2-8: it was not found (Debian's package is libpcre2-8-0)"
        assert f"  expressions      {patterns}\n" in report, report
        script = pathlib.Path(folder, "write.dml")
        script.write_text(f'write(matrix(1, 2, 2), "{folder}/X.h5", format="hdf5")\n')
        assert hdf5 in tokamak("run", script, status=1, LD_LIBRARY_PATH=folder).stderr


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


def libraries_are_not_taken_from_the_current_folder():
    with tempfile.TemporaryDirectory() as folder:
        for library in ("libzstd.so.1", "libz.so.1", "libm.so.6"):
            pathlib.Path(folder, library).write_text("no library\n")
        pathlib.Path(folder, "one.dml").write_text("print(1)\n")
        done = subprocess.run([TOKAMAK, "run", "one.dml"], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0 and done.stdout == "1\n", done.stderr


def trace_has_every_step():
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/trace.json"
        report = json.loads(tokamak("run", EXAMPLE, "--stats=json", f"--trace={path}").stderr)
        events = [e for e in json.load(open(path))["traceEvents"] if e["ph"] == "X"]
    assert len(events) == sum(op["calls"] for op in report["operators"])
    assert all(e["dur"] >= 0 and e["ts"] >= 0 and e["cat"] in ("kernel", "native", "compilation") for e in events)
    assert all(e["name"].startswith("compile ") == (e["cat"] == "compilation") for e in events)


def reports_that_cannot_be_written_stop_the_run():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "started.dml")
        script.write_text('print("started")\n')
        done = tokamak("run", script, "--trace=/dev/null/trace.json", status=2)
        assert "/dev/null/trace.json" in done.stderr and done.stdout == ""
        for closed in ("2>&-", "2</dev/null"):
            done = subprocess.run(["bash", "-c", f"{TOKAMAK} run {script} --stats {closed}"], capture_output=True, text=True)
            assert done.returncode == 2 and done.stdout == "", f"{closed}: {done}"
        done = subprocess.run(["bash", "-c", f"{TOKAMAK} run {script} --stats 2>/dev/full"], capture_output=True, text=True)
        assert done.returncode == 1 and done.stdout == "started\n", done


def a_failed_run_leaves_no_trace():
    with tempfile.TemporaryDirectory() as folder:
        tokamak("run", "test/scripts/errors/stop.dml", f"--trace={folder}/trace.json", status=1)
        assert os.listdir(folder) == []


def wrong_words_get_suggestions():
    for words, expected in [
            (["rum", "f.dml"], "unknown command 'rum'; did you mean 'run'?"),
            (["f.dml"], "did you mean 'tokamak run f.dml'?"),
            (["frobnicate"], "unknown command 'frobnicate'; there are run, explain, check"),
            ([], "expected a command: run, explain, check"),
            (["--verson"], "unknown option '--verson'; did you mean '--version'?"),
            (["run", EXAMPLE, "--treads=2"], "unknown option '--treads'; did you mean '--threads'?"),
            (["run", EXAMPLE, "-threads", "2"], "unknown option '-threads'; did you mean '--threads'?"),
            (["run", EXAMPLE, "-nvarg", "n=2"], "unknown option '-nvarg'; did you mean '-nvargs'"),
            (["check", EXAMPLE, "--threads=2"], "unknown option '--threads'"),
            (["run", EXAMPLE, "n=2"], "not expected: n=2; the script's own arguments stand behind -nvargs")]:
        assert expected in tokamak(*words, status=2).stderr, f"{words}: {tokamak(*words, status=2).stderr}"


def wrong_values_are_explained():
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/pipe")
        pathlib.Path(folder, "text").write_text("{}")
        for option, expected in [
                ("--threads=0", "expected a whole number from 1 to 4096, got '0'"),
                ("--threads=two", "expected a whole number from 1 to 4096, got 'two'"),
                ("--seed=-1", "expected a whole number from 0 to 9223372036854775807, got '-1'"),
                *((f"--memory={text}", f"expected a size such as 8G, 512M or 1000000, got '{text}'")
                  for text in ("abc", "8X", "-1G", "0", "nan", "1e300G", "8GB")),
                (f"--machine-model={folder}", "cannot be read"),
                (f"--machine-model={folder}/pipe", "cannot be read"),
                (f"--machine-model={folder}/text", "expected a number"),
                (f"--library={folder}/nowhere", f"can't read the folder '{folder}/nowhere': No such file or directory"),
                (f"--library={folder}/text", f"'{folder}/text' is a file, expected a folder")]:
            err = tokamak("run", EXAMPLE, option, status=2).stderr
            assert expected in err and len(err) < 500, f"{option}: {err}"
    for text in ("8G", "0.5G", "512M", "1e9", "1T"):
        tokamak("run", "test/commands/one-kernel.dml", f"--memory={text}")


def a_builtin_of_a_library_that_cannot_be_read():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/l2svm.dml")
        err = tokamak("run", EXAMPLE, f"--library={folder}", status=2).stderr
        assert f"can't read '{folder}/l2svm.dml': it is a folder" in err, err


def arguments_that_nothing_uses_are_reported():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "inner.dml").write_text("f = function() return (double y) { y = $inner }\n")
        script = pathlib.Path(folder, "outer.dml")
        script.write_text('source("inner.dml") as inner\nn = ifdef($n, 3)\nprint(n + inner::f())\n')
        options = dict(cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        run = [TOKAMAK, "run", script]
        done = subprocess.run([*run, "-nvargs", "N=5", "inner=1"], **options)
        assert done.stdout == "4.0\n" and done.returncode == 0, done
        assert "warning: the argument '$N' is given, but nothing uses it\n  note: did you mean '$n'?" in done.stderr, done
        assert subprocess.run([*run, "-nvargs", "n=5", "inner=1"], **options).stderr == ""
        assert subprocess.run([*run, "--quiet", "-nvargs", "N=5", "inner=1"], **options).stderr == ""


def undefined_names_in_the_dialect_s_text():
    """Errors behind a use of a name that comes before its definition; each of them once damaged the heap."""
    programs = ["""func.func @main() {
  %n1 = tok.constant 1 : i64
  %z = tok.binary add %n1, %n2 : (i64, i64) -> i64
  tok.for %i = %n1 to %n1 step %n1 {
    %n2 = tok.constant 2 : i64
    %b1 = tok.binary add %n1, %n1 : (i64, i1) -> i64
    tok.yield
  }
  return
}
""", """func.func @f() {
  %n1 = tok.constant 1 : i64
  %z = tok.binary add %n1, %n2 : (i64, i64) -> i64
  return
}
func.func @main() {
  %n1 = tok.constant 1 : i64
  %n2 = tok.constant 2 : i64
  %b1 = tok.binary add %n1, %n1 : (i64, i1) -> i64
  return
}
"""]
    environment = os.environ | {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}
    with tempfile.TemporaryDirectory() as folder:
        for text in programs:
            pathlib.Path(folder, "p.mlir").write_text(text)
            for command in ("run", "check"):
                done = subprocess.run([TOKAMAK, command, "p.mlir"], cwd=folder, capture_output=True, text=True,
                                      env=environment, stdin=subprocess.DEVNULL)
                assert done.returncode == 2 and "expects different type than prior uses" in done.stderr, done


def scripts_that_are_no_files():
    script = 'print("from a pipe")\n'
    done = subprocess.run([TOKAMAK, "run", "/dev/stdin"], input=script, capture_output=True, text=True)
    assert done.stdout == "from a pipe\n", done
    for path in ("/dev/zero", "/proc/self", "/nowhere/x.dml"):
        reason = {"/dev/zero": "larger than 256 MiB", "/proc/self": "it is a folder"}.get(path, "no such file")
        err = tokamak("run", path, status=2).stderr
        assert f"can't read '{path}': " in err and reason in err, err


def unusable_machine_models_are_replaced():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("folder", "pipe", "loop", "no-folder"):
            os.makedirs(f"{folder}/{name}/tokamak")
            path = f"{folder}/{name}/tokamak/machine-model.json"
            if name == "folder":
                os.mkdir(path)
            elif name == "pipe":
                os.mkfifo(path)
            elif name == "loop":
                os.symlink(path, path)
            else:
                os.rmdir(f"{folder}/{name}/tokamak")
                pathlib.Path(f"{folder}/{name}/tokamak").symlink_to(f"{folder}/{name}/tokamak")
            done = subprocess.run([TOKAMAK, "run", "test/commands/one-kernel.dml"], cwd=ROOT, capture_output=True, text=True,
                                  env=os.environ | {"XDG_CACHE_HOME": f"{folder}/{name}"}, stdin=subprocess.DEVNULL)
            assert done.returncode == 0, f"{name}: {done}"
            assert done.stderr.count("warning: can't use the machine model") == 1 == len(done.stderr.splitlines()), done


def refused_memory_is_an_error_of_the_script():
    """Under any limit of the address space: the run succeeds, or it fails as a user's error, mostly with a place."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "large.dml")
        script.write_text('X = rand(rows=500, cols=500, seed=1)\ns = ""\nfor (i in 1:3) {\n  X = X + exp(X %*% X / 500) * 0.1\n'
                          '  s = s + toString(X[1:100,])\n}\nprint(sum(X) > 0)\nY = rand(rows=7000, cols=7000, seed=2)\n'
                          'print(sum(Y %*% Y[,1]) > 0)\n')
        located = 0
        for megabytes in (150, 200, 250, 300, 350, 400, 500, 700, 1000):
            limited = f"ulimit -v {megabytes * 1024}; exec {TOKAMAK} run {script} --threads=2"
            done = subprocess.run(["bash", "-c", limited], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  timeout=60)
            assert done.returncode in (0, 1, 2), f"{megabytes} MB: exit status {done.returncode}\n{done.stderr}"
            assert done.returncode == 0 or "out of memory" in done.stderr or "cannot allocate" in done.stderr.lower(), done.stderr
            located += done.returncode == 1 and "large.dml:" in done.stderr
        assert located > 0


def status_is_1_once_something_was_executed():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "s.dml")
        for text, engine, status in [("X = read($f)\nprint(sum(X))\n", "native", 1),
                                     ("X = read($f)\nprint(sum(X))\n", "reference", 1),
                                     ("X = rand(rows=100000, cols=100000)\nprint(sum(X %*% X))\n", "native", 1),
                                     ("x = y\nprint(x)\n", "native", 2), ("x = y\nprint(x)\n", "reference", 2)]:
            script.write_text(text)
            done = tokamak("run", script, f"--engine={engine}", "--memory=100M", "-nvargs", "f=nowhere.csv", status=status)
            assert done.stdout == "" and "s.dml:1:" in done.stderr, done.stderr


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


def names_like_the_missing_one():
    done = tokamak("run", "examples/breast-cancer-swm.dml", status=2)
    assert "no such file; did you mean 'examples/breast-cancer-svm.dml'?" in done.stderr, done.stderr
    assert "it is a folder" in tokamak("run", "examples", status=2).stderr


SPARSE_ZEROS = """S = rand(rows=100, cols=100, sparsity=0.01, seed=1)
v = matrix(1, rows=100, cols=1)
v[3, 1] = 1 / 0
while (FALSE) {}
a = sum(is.nan(S * v))
b = sum(is.nan(S %*% v))
c = sum(is.nan(t(S) %*% S / 2))
print(a + " " + b + " " + c)
"""


def rule_of_sparse_zeros_is_said():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, SPARSE_ZEROS)
        reference = tokamak("run", path, "--engine=reference").stdout
        done = tokamak("run", path, "--stats")
        assert done.stdout != reference, "zeros times infinity are left out"
        assert "zeros of sparse matrices are zero times anything" in done.stderr and "script.dml:5" in done.stderr
        done = tokamak("run", path, "--compare")
        assert "both engines agree" in done.stdout and "script.dml:5: '*' has 0 in" in done.stdout, done.stdout
        for fusion in ("none", "patterns", "all", "no-redundancy", "cost"):
            done = tokamak("run", path, "--strict-zeros", "--stats", f"--fusion={fusion}")
            assert done.stdout == reference, fusion
            assert "zero times anything" not in done.stderr
        done = tokamak("run", path, "--strict-zeros", "--compare")
        assert "both engines agree" in done.stdout and "has 0 in" not in done.stdout, done.stdout


def check_warns_of_what_may_be_wrong():
    done = tokamak("check", "test/scripts/errors/wrong-in-a-branch.dml")
    assert ":9:38: warning: index out of range: row 7 of a 3x2 matrix" in done.stderr, done.stderr
    assert "no errors" in done.stdout


# What these take grows with the size of the program, not with its square; processor time, as the machine may be busy.
def check_generated(text, seconds):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/generated.dml"
        pathlib.Path(path).write_text(text)
        done = subprocess.run(["bash", "-c", f'ulimit -t {seconds}; exec "$0" check "$1"', TOKAMAK, path],
                              capture_output=True, text=True)
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr}"


def programs_of_many_lines():
    check_generated("X = rand(rows=2, cols=2, seed=1)\n" + "X = X + 1\n" * 30_000 + "print(sum(X))\n", seconds=30)


def programs_of_many_functions():
    functions = "".join(f"f{i} = function(double x) return (double y) {{ y = x + {i} }}\n" for i in range(100_000))
    check_generated(functions + "print(f3(1))\n", seconds=20)


def programs_of_functions_that_call_each_other():
    functions = "".join(f"f{i} = function(double x) return (double y) {{ y = f{i + 1}(x) + 1 }}\n" for i in range(50_000))
    check_generated(functions + "f50000 = function(double x) return (double y) { y = x }\nprint(f0(1))\n", seconds=60)


def plans_for_any_sizes_give_what_the_others_give():
    for name in ("columns-beside-columns-of-any-sizes", "products-of-nothing"):
        path = f"test/scripts/fuzz-found/{name}.dml"
        printed = (ROOT / path).with_suffix(".out").read_text()
        for selector in ("all", "no-redundancy"):
            assert tokamak("run", path, f"--fusion={selector}", "--disable=specialize-sizes").stdout == printed, (name, selector)


def statistics_of_a_script_whose_name_is_not_utf8():
    with tempfile.TemporaryDirectory() as folder:
        path = os.fsencode(folder) + b"/\xff.dml"
        pathlib.Path(os.fsdecode(path)).write_text("print(sum(rand(rows=9, cols=9)))\n")
        done = subprocess.run([TOKAMAK, "run", path, "--stats=json"], capture_output=True)
        assert done.returncode == 0 and json.loads(done.stderr)["run_ns"] > 0, done


def options_for_models_are_refused_for_scripts():
    for option, value, instead in (("--repeat", "3", "--stats"), ("--input", "X=a.csv", "-nvargs"),
                                   ("--shape", "X=1", "-nvargs"), ("--output", "X=o", "write")):
        done = tokamak("run", EXAMPLE, option, value, status=2)
        assert f"{option} is for models" in done.stderr and instead in done.stderr, done


def arguments_of_a_call_are_parameters():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, "f = function(double X, double k = 2) return (double r) { r = X * k }\nprint(1)\n")
        assert tokamak("run", path, "--call", "f", "-nvargs", "X=3", "k=5").stdout == "15.0\n"
        for arguments, message in (
                (["--call", "f", "-nvargs", "X=3", "K=5"], "'f' has no parameter 'K'\n  note: did you mean 'k'?"),
                (["--call", "f", "-args", "3", "4", "5"], "'f' has no parameter 3"),
                (["--call", ""], "--call: expected the name of a function"),
                (["--call", "f", "-args", "3", "-nvargs", "k=4"], "-nvargs: can't be combined with -args")):
            done = tokamak("run", path, *arguments, status=2)
            assert message in done.stderr and done.stdout == "", done


def infinite_arguments_are_numbers():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, "print($n + 1)\n")
        for text, printed in (("Inf", "Infinity"), ("-Inf", "-Infinity"), ("1e400", "Infinity")):
            assert tokamak("run", path, "-nvargs", f"n={text}").stdout == printed + "\n", text


def comparing_engines():
    with tempfile.TemporaryDirectory() as folder:
        for text in ("print(sum(rand(rows=100, cols=100)))", "t = time()\nprint(time() - t + sum(sample(9, 3)))"):
            assert "both engines agree" in tokamak("run", script(folder, text), "--compare").stdout, text
        done = tokamak("run", script(folder, 'print(sum(matrix(1, rows=2, cols=2)))\nstop("done")'), "--compare", status=1)
        assert "script.dml:2:1: error: done" in done.stderr and done.stdout == "both engines fail alike\n", done
        overwriting = f'X = read("{folder}/z.csv", format="csv")\nwrite(X + 1, "{folder}/./z.csv", format="csv")\nprint(sum(X))\n'
        done = tokamak("run", script(folder, overwriting), "--compare", status=2)
        assert "script.dml:2:1: error: --compare runs the program on both engines" in done.stderr, done


def discover():
    return command_tests.tests_of(globals())


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
