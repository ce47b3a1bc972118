#!/usr/bin/env python3
"""Fuzzes a reader or the front end with libFuzzer, ASan and UBSan; the last line says what was found.

usage: run_readers.py csv|mm|text|npy|libsvm|jsonl|binary|hdf5|mtd|onnx|parser [--minutes N] [--seed S]

Inputs that are kept stand in test/fuzz/corpus/TARGET: each run begins with them. What a run adds goes to
build/fuzz/corpus/TARGET, the log to build/fuzz/TARGET.log. An input that fails stands in build/fuzz/findings; running
build/fuzz/bin/fuzz-TARGET with it as only argument shows the failure again. Once it is fixed, the input belongs into the
corpus, and what it showed into a unit test.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build/fuzz"
SOURCES = ROOT / "test/fuzz"
TARGETS = ["csv", "mm", "text", "npy", "libsvm", "jsonl", "binary", "hdf5", "mtd", "onnx", "parser"]
LONGEST_INPUT = {"parser": 2048, "hdf5": 4096}
MORE_SEEDS = {"parser": ["test/scripts/language", "test/scripts/matrix", "test/scripts/errors", "lib"],
              "onnx": ["/usr/share/libonnx-testdata/data/simple", "/usr/share/libonnx-testdata/data/node"]}
SECONDS_OF_ONE_INPUT = 60  # under sanitizers, on a busy machine
MEGABYTES = 3000


def executions(log):
    for line in reversed(log.read_text(errors="replace").splitlines()):
        if line.startswith("stat::number_of_executed_units:"):
            return int(line.split()[1])
    return 0


def main():
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__.split("\n\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    corpus, findings = BUILD / "corpus" / options.target, BUILD / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    log = BUILD / f"{options.target}.log"
    command = [BUILD / f"bin/fuzz-{options.target}", corpus, SOURCES / "corpus" / options.target,
               *[ROOT / folder for folder in MORE_SEEDS.get(options.target, [])],
               f"-max_total_time={max(1, round(options.minutes * 60))}", f"-seed={options.seed}",
               f"-max_len={LONGEST_INPUT.get(options.target, 1024)}", f"-timeout={SECONDS_OF_ONE_INPUT}",
               f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={findings}/{options.target}-", "-print_final_stats=1"]
    dictionary = SOURCES / f"corpus/{options.target}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    # In a folder of its own: inputs may name files.
    with tempfile.TemporaryDirectory() as folder, log.open("w") as output:
        status = subprocess.run(command, cwd=folder, stdout=output, stderr=output, stdin=subprocess.DEVNULL).returncode
    if status != 0:
        lines = log.read_text(errors="replace").splitlines()
        print("\n".join(lines[-60:]), file=sys.stderr)
        print(f"{options.target}: a finding: see {log.relative_to(ROOT)} and build/fuzz/findings")
        return 1
    print(f"{options.target}: {executions(log)} inputs in {options.minutes:g} minutes, no finding")
    return 0


if __name__ == "__main__":
    sys.exit(main())
