"""Models of the folder models as files, and what runs them: Tokamak and other programs that read ONNX, each on the same file and inputs,
with all results in files.

    model = prepared("squeezenet")
    finish(model.tokamak_command(1), environment(1))
    finish(model.peer_command("onnxruntime", 1, 0), environment(1))
    print(max(model.differences("Tokamak", "onnxruntime")))
"""

import dataclasses
import json

from measuring import finish
from peer_commands import ROOT, TOKAMAK, VENV, install

FOLDER = ROOT / "build/bench-models"
# Of the largest cell of a result.
TOLERANCE = 1e-4
# Prints, for each result of two programs, the largest difference as a share of the second one's largest cell.
DIFFERENCES = """
import sys, numpy
own, other, count = sys.argv[1:]
for place in range(int(count)):
    x, y = (numpy.load(f"{prefix}.{place}.npy") for prefix in (own, other))
    assert x.shape == y.shape and x.dtype == y.dtype, f"result {place}: {x.dtype} {x.shape} and {y.dtype} {y.shape}"
    x, y = x.astype(numpy.float64), y.astype(numpy.float64)
    print(numpy.max(numpy.abs(x - y)) / max(numpy.max(numpy.abs(y)), 1e-30))
"""


@dataclasses.dataclass
class ModelFiles:
    name: str
    inputs: list
    outputs: list

    @property
    def path(self):
        return FOLDER / f"{self.name}.onnx"

    def given(self):
        return [f"{name}={FOLDER / self.name}.{place}.npy" for place, name in enumerate(self.inputs)]

    def results(self, program):
        """The beginning of the names of its results' files."""
        return FOLDER / f"{self.name}.{program}"

    def tokamak_command(self, threads, program="tokamak", *options, inputs=None):
        """`inputs`: values of some, by name, in place of those in files."""
        outputs = [f"--output={name}={self.results(program)}.{place}.npy" for place, name in enumerate(self.outputs)]
        values = dict(value.split("=", 1) for value in self.given()) | (inputs or {})
        return [TOKAMAK, "run", self.path, *(f"--input={name}={value}" for name, value in values.items()), *outputs, f"--threads={threads}",
                *options]

    def peer_command(self, package, threads, repetitions):
        return [VENV / "bin/python", ROOT / "bench/peers/onnx_peer.py", package, self.path, self.results(package), str(repetitions),
                str(threads), *self.given()]

    def differences(self, program, other):
        """Of each result. Raises RuntimeError where sizes or types differ."""
        command = [VENV / "bin/python", "-c", DIFFERENCES, self.results(program), self.results(other), str(len(self.outputs))]
        return [float(line) for line in finish(command, None).splitlines()]


def prepared(name):
    """Made where it isn't there; raises RuntimeError where it can't be."""
    if not install(("numpy", "onnx")):
        raise RuntimeError("not installed: numpy, onnx")
    listing = FOLDER / f"{name}.json"
    if not listing.exists():
        finish([VENV / "bin/python", ROOT / "bench/models", name, FOLDER], None)
    return ModelFiles(name, **json.loads(listing.read_text()))
