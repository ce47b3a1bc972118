"""usage: python3 bench/models NAME FOLDER     writes FOLDER/NAME.onnx, FOLDER/NAME.N.npy for its inputs, and FOLDER/NAME.json, which
lists their names and those of its outputs; needs onnx and NumPy
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import models


def main():
    import numpy
    import onnx
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    file, inputs = models.MODELS[name].make()
    for place, value in enumerate(inputs.values()):
        numpy.save(folder / f"{name}.{place}.npy", value)
    (folder / f"{name}.onnx").write_bytes(file)
    names = {"inputs": list(inputs), "outputs": [output.name for output in onnx.load_from_string(file).graph.output]}
    unfinished = folder / f"{name}.unfinished"
    unfinished.write_text(json.dumps(names) + "\n")
    os.replace(unfinished, folder / f"{name}.json")  # last: where this is, all files are


main()
