"""ONNX's conformance cases that Debian's libonnx-testdata installs, our own in test/onnx/cases, and small whole models in
test/onnx/models, on both engines, with and without fusion, on one and two threads. Each case passes, or is in test/onnx/unsupported.txt with the reason for which its model is refused; one that passes and is
still in the list fails, so that the list never promises less than there is.

usage: run_onnx.py [--update]     prints how many cases of which operators pass; --update writes the list
"""

import collections
import os
import pathlib
import sys

import onnx_outcomes

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path("/usr/share/libonnx-testdata/data")
SUITES = ("node", "simple", "pytorch-converted", "pytorch-operator")
OWN = ROOT / "test/onnx"
OWN_SUITES = ("cases", "models")  # make_cases.py and make_models.py write them
# What results of whole models may be off by, as a share of the largest cell of each.
OF_LARGEST = "1e-4"
LIST = ROOT / "test/onnx/unsupported.txt"
HEAD = """# Cases of libonnx-testdata whose models are refused so far, and why; written by test/run_onnx.py --update.
"""
SECONDS = 600  # for one case; far more than any needs
# Cases whose expected values don't follow from their models: what the standard says gives other ones.
FAULTY = {"node/test_adam_multiple": "its values are for an epsilon of 0.01, which its node doesn't have (later releases of onnx added it)"}


def cases():
    if not DATA.is_dir():
        raise RuntimeError(f"{DATA} is missing: ./dev setup installs the package libonnx-testdata")
    return sorted(f"{suite}/{path.parent.name}" for folder, suites in ((DATA, SUITES), (OWN, OWN_SUITES))
                  for suite in suites for path in folder.glob(f"{suite}/*/model.onnx"))


def listed():
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def outcomes(program, names):
    """{name: (kind, reason)}"""
    folders = {name: str((OWN if name.split("/")[0] in OWN_SUITES else DATA) / name) for name in names}
    models = [folder for name, folder in folders.items() if name.startswith("models/")]
    others = [folder for folder in folders.values() if folder not in models]
    found = onnx_outcomes.outcomes([program], others, SECONDS) | onnx_outcomes.outcomes([program, "--of-largest", OF_LARGEST], models,
                                                                                       SECONDS)
    return {name: found[folder] for name, folder in folders.items()}


def judged(program, names, unsupported):
    for name, (kind, reason) in outcomes(program, names).items():
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
    for begin in range(0, len(names), onnx_outcomes.CHUNK):
        chunk = names[begin:begin + onnx_outcomes.CHUNK]

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
    for begin in range(0, len(names), onnx_outcomes.CHUNK):
        found |= outcomes(program, names[begin:begin + onnx_outcomes.CHUNK])
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
    return 1 if kinds["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
