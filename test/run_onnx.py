"""ONNX's conformance cases that Debian's libonnx-testdata installs, and our own in test/onnx/cases, on both engines, with and without fusion, on one and two
threads. Each case passes, or is in test/onnx/unsupported.txt with the reason for which its model is refused; one that passes and is
still in the list fails, so that the list never promises less than there is.

usage: run_onnx.py [--update]     prints how many cases of which operators pass; --update writes the list
"""

import collections
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
SUITES = ("node", "simple", "pytorch-converted", "pytorch-operator")
OWN = ROOT / "test/onnx"  # whose suite is "cases"; make_cases.py writes it
LIST = ROOT / "test/onnx/unsupported.txt"
HEAD = """# Cases of libonnx-testdata whose models are refused so far, and why; written by test/run_onnx.py --update.
"""
CHUNK = 100  # cases of one process
# Cases whose expected values don't follow from their models: what the standard says gives other ones.
FAULTY = {"node/test_adam_multiple": "its values are for an epsilon of 0.01, which its node doesn't have (later releases of onnx added it)"}


def cases():
    if not DATA.is_dir():
        raise RuntimeError(f"{DATA} is missing: ./dev setup installs the package libonnx-testdata")
    return sorted(f"{suite}/{path.parent.name}" for folder, suites in ((DATA, SUITES), (OWN, ("cases",)))
                  for suite in suites for path in folder.glob(f"{suite}/*/model.onnx"))


def listed():
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def outcomes(program, names):
    """{name: (kind, reason)}; a case that ends the process has no outcome."""
    folders = [str((OWN if name.startswith("cases/") else DATA) / name) for name in names]
    done = subprocess.run([program, *folders], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    named, found = dict(zip(folders, names)), {}
    for line in done.stdout.splitlines():
        kind, rest = line.split(maxsplit=1)
        folder, _, reason = rest.partition(": ")
        found[named[folder]] = (kind, reason)
    return found, done.stderr


def judged(program, names, unsupported):
    found, errors = outcomes(program, names)
    for name in names:
        kind, reason = found.get(name, ("failed", "no outcome: " + errors[-2000:]))
        wrong = None
        if name in FAULTY:
            wrong = None if kind == "failed" else f"{kind}: it is no longer faulty"
        elif kind == "failed":
            wrong = reason
        elif kind == "unsupported" and name not in unsupported:
            wrong = f"refused: {reason}"
        elif kind == "passed" and name in unsupported:
            wrong = f"passes: delete it from {LIST.relative_to(ROOT)}"
        yield "onnx/" + name, wrong


def discover(binaries):
    program, unsupported, names = binaries / "tokamak-conformance", listed(), cases()
    tests = {}
    for begin in range(0, len(names), CHUNK):
        chunk = names[begin:begin + CHUNK]

        def runner(group):
            wanted = [name.removeprefix("onnx/") for name in group]
            return judged(program, wanted, unsupported)
        tests |= {"onnx/" + name: runner for name in chunk}
    for gone in sorted(set(unsupported) - set(names)):
        tests[f"onnx/{gone}"] = lambda group: [(name, "there is no such case") for name in group]
    return tests


def main():
    program = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak-conformance"
    found = {}
    names = cases()
    for begin in range(0, len(names), CHUNK):
        found |= outcomes(program, names[begin:begin + CHUNK])[0]
    for name in FAULTY:
        if name in found and found[name][0] == "failed":
            found[name] = ("faulty", FAULTY[name])
    kinds = collections.Counter(kind for kind, _ in found.values())
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())), f"of {len(names)}")
    for name, (kind, reason) in found.items():
        if kind == "failed":
            print(f"failed {name}: {reason}")
    if "--update" in sys.argv:
        LIST.parent.mkdir(exist_ok=True)
        refused = sorted((name, reason) for name, (kind, reason) in found.items() if kind == "unsupported")
        LIST.write_text(HEAD + "".join(f"{name}: {reason}\n" for name, reason in refused))
    return 1 if kinds["failed"] or len(found) < len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
