"""The conformance cases of ONNX's newer releases: Tokamak (both engines, with and without fusion, on one and two threads) beside ONNX
Runtime, OpenVINO and the reference evaluator of the package onnx, on the same files, each in processes of its own.

usage: onnx_conformance.py [FILTER] [--generated] [--peers onnxruntime,openvino,reference|none]

The cases are those that the wheel onnx 1.22.0 holds, the last that stores cases of single operators; with --generated, those that
the newest release of the package makes. Prints a table by operator, the totals, and the reason for each case that doesn't pass here;
build/onnx-conformance.json holds all outcomes.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import zipfile

import onnx_outcomes

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from peer_commands import VENV, install, say

WHEEL = "onnx==1.22.0"
FOLDER = ROOT / "build/onnx-conformance"
DATA = "onnx/backend/test/data/"
SUITES = ("node", "simple", "pytorch-converted", "pytorch-operator")
PEERS = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "reference": "onnx reference"}
PACKAGES = ("numpy", "onnx", "onnxruntime", "openvino")
SECONDS = 120  # for one case
# Cases whose results are draws of random numbers: no other generator makes the same ones.
DRAWS = {f"node/test_{name}" for name in (
    "bernoulli", "bernoulli_double", "bernoulli_seed", "bernoulli_expanded", "bernoulli_double_expanded", "bernoulli_seed_expanded",
    "training_dropout", "training_dropout_default", "training_dropout_mask", "training_dropout_default_mask")}
# Cases whose expected values are further from what their models mean than results may be.
FAULTY = {f"node/test_dft_inverse{name}": "its values have 1.9e-7 where zeros belong" for name in ("", "_opset19")}
# Prints `FOLDER OPERATOR` for each folder: the only operator of its model, or "-".
OPERATORS = """
import sys, onnx
for folder in sys.argv[1:]:
    found = {node.op_type for node in onnx.load(folder + "/model.onnx").graph.node}
    print(folder, found.pop() if len(found) == 1 else "-")
"""


def stored_cases():
    """The folder with the wheel's cases, which is made once."""
    folder = FOLDER / WHEEL.removeprefix("onnx==")
    if not folder.is_dir():
        say(f"downloading {WHEEL}")
        subprocess.run([VENV / "bin/pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", FOLDER, WHEEL],
                       check=True)
        partial = folder.with_suffix(".partial")
        with zipfile.ZipFile(next(FOLDER.glob(f"{WHEEL.replace('==', '-')}-*.whl"))) as wheel:
            wheel.extractall(partial, [name for name in wheel.namelist() if name.startswith(tuple(DATA + s + "/" for s in SUITES))])
        (partial / DATA).rename(folder)
    return folder


def generated_cases():
    """The folder with the cases that the installed package generates, which is made once for each of its releases."""
    version = subprocess.run([VENV / "bin/python", "-c", "import onnx; print(onnx.__version__)"], check=True, capture_output=True,
                             text=True).stdout.strip()
    folder = FOLDER / f"generated-{version}"
    if not folder.is_dir():
        say(f"generating the cases of onnx {version}")
        partial = folder.with_suffix(".partial")
        subprocess.run([VENV / "bin/python", ROOT / "test/onnx/generate.py", partial], check=True, capture_output=True)
        partial.rename(folder)
    return folder


def operators(folder, names):
    """{name: operator}. The operator of a case with its function's body is that of the case without."""
    done = subprocess.run([VENV / "bin/python", "-c", OPERATORS, *(folder / name for name in names)], check=True,
                          capture_output=True, text=True)
    single = dict(zip(names, (line.rsplit(" ", 1)[1] for line in done.stdout.splitlines())))
    found = {}
    for name in names:
        operator = single.get(name.split("_expanded")[0], "-")
        suite = name.split("/")[0]
        found[name] = f"({suite})" if suite != "node" else "(several operators)" if operator == "-" else operator
    return found


def run_all(command, folder, names):
    """{name: (kind, reason)}; as many processes as cores."""
    chunks = [names[i:i + onnx_outcomes.CHUNK] for i in range(0, len(names), onnx_outcomes.CHUNK)]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        parts = pool.map(lambda chunk: onnx_outcomes.outcomes(command, [str(folder / name) for name in chunk], SECONDS), chunks)
        found = {path: outcome for part in parts for path, outcome in part.items()}
    return {name: found[str(folder / name)] for name in names}


def cell(outcomes):
    kinds = collections.Counter(kind for kind, _ in outcomes)
    return f"{kinds['passed']}/{kinds['unsupported']}/{kinds['failed']}"


def print_table(names, operator_of, results):
    groups = collections.defaultdict(list)
    for name in names:
        groups[operator_of[name]].append(name)
    rows = [(operator, groups[operator]) for operator in sorted(groups, key=lambda text: (text[0] == "(", text))]
    for suite in SUITES:
        rows.append((f"all of {suite}", [name for name in names if name.startswith(suite + "/")]))
    rows.append(("all", names))
    print("Cases passed/refused/wrong.\n")
    print("| operator | cases | " + " | ".join(results) + " |\n|---|--:|" + "--:|" * len(results))
    for title, members in rows:
        if members:
            cells = (cell([outcomes[name] for name in members]) for outcomes in results.values())
            print(f"| {title} | {len(members)} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(prog="./dev conformance onnx")
    parser.add_argument("filter", nargs="?", default="")
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--peers", default=",".join(PEERS))
    options = parser.parse_args()
    peers = [] if options.peers == "none" else options.peers.split(",")
    if unknown := set(peers) - set(PEERS):
        parser.error(f"there is no peer {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    if not install(PACKAGES):
        sys.exit(f"{', '.join(PACKAGES)} could not be installed")
    folder = generated_cases() if options.generated else stored_cases()
    names = sorted(f"{suite}/{path.parent.name}" for suite in SUITES for path in folder.glob(f"{suite}/*/model.onnx"))
    names = [name for name in names if options.filter.lower() in name.lower()]
    if not names:
        sys.exit(f"no case has '{options.filter}' in its name")
    commands = {"Tokamak": [ROOT / "build/release/bin/tokamak-conformance"]}
    commands |= {PEERS[peer]: [VENV / "bin/python", ROOT / "test/onnx/peer.py", peer] for peer in peers}
    results = {}
    for title, command in commands.items():
        say(f"{len(names)} cases: {title}")
        results[title] = run_all(command, folder, names)
    print_table(names, operators(folder, names), results)
    print("\nNot passed here:\n")
    for name, (kind, reason) in results["Tokamak"].items():
        if kind != "passed":
            word = "draws" if name in DRAWS else "faulty" if name in FAULTY else {"unsupported": "refused", "failed": "wrong"}[kind]
            print(f"{word} {name}: {FAULTY.get(name, reason)}")
    (ROOT / "build/onnx-conformance.json").write_text(json.dumps(results, indent=1))
    wrong = [name for name, (kind, _) in results["Tokamak"].items() if kind == "failed" and name not in FAULTY]
    print(f"\n{cell(list(results['Tokamak'].values()))} of {len(names)} cases passed/refused/wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
