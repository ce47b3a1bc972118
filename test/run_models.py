"""tokamak run and check of ONNX models, as a user types them."""

import json
import pathlib
import re
import shutil
import sys
import tempfile

import standalone
from command_tests import ROOT, tests_of, tokamak

NODE = pathlib.Path("/usr/share/libonnx-testdata/data/node")
SOFTMAX = NODE / "test_softmax_axis_1"


def a_model_runs_on_values_from_files():
    value = f"--input=x={SOFTMAX}/test_data_set_0/input_0.pb"
    done = tokamak("run", f"{SOFTMAX}/model.onnx", value)
    assert done.returncode == 0 and done.stdout.startswith("y: f32 [3x4x5], from 0.0"), done
    with tempfile.TemporaryDirectory() as folder:
        assert tokamak("run", f"{SOFTMAX}/model.onnx", value, f"--output=y={folder}/y.npy").stdout == ""
        # Softmax of what it gave: rows of four add up to 1, so that the mean is a quarter.
        again = tokamak("run", f"{SOFTMAX}/model.onnx", f"--input=x={folder}/y.npy", "--engine=reference")
        assert again.stdout.endswith("mean 0.25\n"), again


def a_model_runs_on_made_values():
    done = tokamak("run", f"{SOFTMAX}/model.onnx", "--input=x=zeros", "--repeat=2")
    assert done.stdout == "y: f32 [3x4x5], from 0.25 to 0.25, mean 0.25\n", done
    assert done.stderr.count(" ms\n") == 2, done
    seeded = [tokamak("run", f"{SOFTMAX}/model.onnx", f"--input=x=random:{seed}").stdout for seed in (1, 1, 2)]
    assert seeded[0] == seeded[1] != seeded[2], seeded


def check_lists_what_goes_in_and_out():
    done = tokamak("check", f"{SOFTMAX}/model.onnx")
    assert done.stdout == ("input 'x': float [3, 4, 5]\noutput 'y': float [3, 4, 5]\n"
                           f"{SOFTMAX}/model.onnx: no errors\n"), done


def time_and_kernels_are_told_by_node():
    model, options = "examples/models/digits.onnx", ("--input=image=random:1", "--shape=image=600x1x8x8")
    done = tokamak("run", model, *options, "--stats")
    for node in ("node 0 'conv1' (Conv, opset 17)", "node 9 'scores' (Gemm, opset 17)"):
        assert f" {model}: {node}\n" in done.stderr, done.stderr
    report = json.loads(tokamak("run", model, *options, "--stats=json", "--repeat=3").stderr.split(" ms\n")[-1])
    convolution = next(step for step in report["operators"] if step["name"] == "convolve")
    assert convolution["calls"] == 3 and convolution["place"]["file"].startswith(f"{model}: node "), convolution
    done = tokamak("run", model, *options, "--explain=fusion")
    assert f" at {model}: node 1 'relu1' (Relu, opset 17)\n" in done.stderr, done.stderr


def fusion_is_told_by_node():
    """A convolution, its normalisation and activation are one operator; and so are the two that a residual block adds up."""
    model = "test/onnx/models/resnet50/model.onnx"
    told = tokamak("run", model, "--input=image=zeros", "--explain=fusion", "--tier=compile-first",
                   "--machine-model=test/machine-model.json").stderr
    for operations, cells, node in ((4, "max(convolve@0 * view@1 + view@1, 0)", "node 2 (Relu, opset 17)"),
                                    (8, "max(convolve@10 * view@11 + view@11 + (convolve@12 * view@13 + view@13), 0)",
                                     "node 15 (Relu, opset 17)")):
        operator = rf"\. row \S+, {operations} operations, .*\n +{re.escape(cells)} at {re.escape(model)}: {re.escape(node)}\n"
        assert re.search(operator, told), told


def engines_are_compared():
    done = tokamak("run", "examples/models/digits.onnx", "--input=image=random:1", "--shape=image=7x1x8x8", "--compare")
    assert re.fullmatch(r"both engines agree in \d+ values\n", done.stdout), done


def a_script_takes_a_model_that_changed():
    """The compiled program of a script is found again, but not with another model at the same path."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, cache = folder / "model.onnx", f"--cache={folder}/cache"
        models = ROOT / "test/scripts/onnx/models"
        (folder / "script.dml").write_text("X = onnx($1, matrix(1, rows=2, cols=16))\nprint(ncol(X))\n")
        runs = []
        for source, status in (("filters", 0), (None, 0), ("sizes", 2)):
            if source:
                shutil.copy(models / f"{source}.onnx", model)
            runs.append(tokamak("run", str(folder / "script.dml"), cache, "--stats", "-args", str(model), status=status))
        loaded = ["the program was compiled by an earlier run" in run.stderr for run in runs]
        assert [run.stdout for run in runs] == ["128\n", "128\n", ""] and loaded == [False, True, False], runs


def operators_are_listed():
    assert tokamak("onnx-operators").stdout == pathlib.Path("docs/onnx-operators.md").read_text(), \
        "write it again: build/release/bin/tokamak onnx-operators > docs/onnx-operators.md"


def mistakes_about_models_are_explained():
    path = f"{SOFTMAX}/model.onnx"
    gradient = NODE.parent / "simple/test_gradient_of_add/model.onnx"
    for arguments, message in (
            (["run", path], f"{path}: input 'x', float [3, 4, 5], has no value: give --input=x=FILE\n"),
            (["run", path, "--input=x=zeros", "--trace=x.json"],
             f"{path}: --trace of models is not supported yet; it is for scripts\n"),
            (["run", path, "--input=X=zeros"], f"{path}: the model has no input 'X'\n  note: did you mean 'x'?\n"),
            (["run", path, "--input=x=zeros", "--shape=x=3x4"],
             f"{path}: input 'x' is float [3, 4, 5], but the value f32 [3x4]\n"),
            (["run", path, "--input=x=y.txt"], f"{path}: 'y.txt': a value is a file .npy or .pb, zeros or random:SEED\n"),
            (["run", path, "--input=x=zeros", "--output=z=z.npy"], f"{path}: the model has no output 'z'\n"),
            (["check", str(gradient)],
             f"{gradient}: node 1 'my_gradient' (ai.onnx.preview.training.Gradient, opset 1): the operator 'Gradient' is not "
             "supported yet\n")):
        done = tokamak(*arguments, status=2)
        assert done.stderr == message, done.stderr


def discover():
    return tests_of(globals())


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
