#!/usr/bin/env python3
"""Tests of the command line that need more than one output compared: reports, documents, files left behind.

usage: run_commands.py [FILTER]
"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"
EXAMPLE = "examples/breast-cancer-svm.dml"


def tokamak(*arguments, status=0):
    done = subprocess.run([TOKAMAK, *arguments], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
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


def script(folder, text):
    path = f"{folder}/script.dml"
    pathlib.Path(path).write_text(text)
    return path


def output_that_is_lost():
    with tempfile.TemporaryDirectory() as folder:
        little = script(folder, "print(1)")
        much = f"{folder}/much.dml"
        pathlib.Path(much).write_text("for (i in 1:100000) {\n  print(i)\n}\n")
        for command, path, message in (
                ("exec >/dev/full", little, "what was printed is lost"), ("exec >&-", little, "what was printed is lost"),
                ("exec >/dev/full", much, "much.dml:2:3: error: print: the output can't be written"),
                (f"ulimit -f 1; exec >{folder}/out", much, "much.dml:2:3: error: print: the output can't be written")):
            done = subprocess.run(["bash", "-c", f'{command}; exec "$0" run "$1"', TOKAMAK, path],
                                  stderr=subprocess.PIPE, text=True)
            assert done.returncode == 1 and message in done.stderr, (command, done)
        done = subprocess.run(["bash", "-c", 'exec "$0" doctor >/dev/full', TOKAMAK], stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and "what was printed is lost" in done.stderr, done


def closed_output_is_no_file():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, f'write(matrix(1, rows=1, cols=1), "{folder}/x.csv", format="csv")\nprint("text")\n')
        subprocess.run(["bash", "-c", 'exec "$0" run "$1" >&-', TOKAMAK, path], stderr=subprocess.PIPE)
        assert pathlib.Path(f"{folder}/x.csv").read_text() == "1.0\n"


def files_larger_than_the_limit():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, f'print("begin")\nwrite(matrix(1, rows=9999, cols=1), "{folder}/x.csv", format="csv")\n')
        done = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$0" run "$1"', TOKAMAK, path], capture_output=True,
                              text=True)
        assert done.returncode == 1 and "script.dml:2:1: error" in done.stderr and "ulimit -f" in done.stderr, done
        assert os.listdir(folder) == ["script.dml"]


def writer_that_is_killed():
    """Whenever a writer is killed, readers find the old file or the new one, and folders hold nothing else to read."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/parts"
        path = script(folder, f"""
i = 0
while (i < 1e9) {{
  write(matrix(1, rows=1 + i %% 2, cols=3000), "{out}/x.csv", format="csv")
  i = i + 1
}}
""")
        reader = f"{folder}/reader.dml"
        pathlib.Path(reader).write_text(f"""
X = read("{out}/x.csv")
Y = read("{out}", format="csv")
print(nrow(X) == nrow(Y) & sum(X) == sum(Y))
write(matrix(1, rows=1, cols=1), "{out}/x.csv", format="csv")
""")
        for trial in range(4):
            process = subprocess.Popen([TOKAMAK, "run", path], stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while not os.path.exists(f"{out}/x.csv.mtd") and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.03 + 0.007 * trial)
            process.kill()
            process.wait()
            assert tokamak("run", reader).stdout == "TRUE\n"
            assert sorted(os.listdir(out)) == ["x.csv", "x.csv.mtd"], "the next writer removes what is left"
            shutil.rmtree(out)


def data_from_pipes():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, 'X = read($f, format="csv")\nwrite(2 * X, $g, format="csv")\n')
        done = subprocess.run(["bash", "-c", 'printf "1,2\\n3,4\\n" | "$0" run "$1" -nvargs f=/dev/stdin g=/dev/stdout | cat',
                               TOKAMAK, path], capture_output=True, text=True)
        assert done.stdout == "2.0,4.0\n6.0,8.0\n" and not done.stderr, done


def long_line_in_little_memory():
    with tempfile.TemporaryDirectory() as folder:
        with gzip.open(f"{folder}/x.csv.gz", "wb", compresslevel=1) as file:
            for _ in range(90):
                file.write(b"0," * 500000)
        path = script(folder, f'print("begin")\nprint(sum(read("{folder}/x.csv.gz", format="csv")))\n')
        done = subprocess.run(["bash", "-c", 'ulimit -v 4000000; exec "$0" run "$1" --memory=50M', TOKAMAK, path],
                              capture_output=True, text=True)
        assert done.returncode == 1 and "script.dml:2:11: error" in done.stderr, done
        assert "would pass the budget of 50.0 MiB" in done.stderr, done


def names_like_the_missing_one():
    done = tokamak("run", "examples/breast-cancer-swm.dml", status=2)
    assert "no such file; did you mean 'examples/breast-cancer-svm.dml'?" in done.stderr, done.stderr
    assert "it is a folder" in tokamak("run", "examples", status=2).stderr


TESTS = [output_that_is_lost, closed_output_is_no_file, files_larger_than_the_limit, writer_that_is_killed,
         data_from_pipes, long_line_in_little_memory, names_like_the_missing_one, statistics_as_json,
         statistics_as_text, trace_has_every_step, trace_that_cannot_be_written, manual_names_every_option,
         completion_in_bash, completion_in_other_shells, kernels_have_names_in_gdb, kernels_have_names_in_perf]


def discover():
    """{name: function that returns None or what is wrong}"""
    def outcome(test):
        try:
            test()
        except (AssertionError, subprocess.SubprocessError, ValueError, OSError) as failure:
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
