"""tokamak run and check of ONNX models, as a user types them."""

import array
import json
import pathlib
import random
import re
import shutil
import struct
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
    assert convolution["share_of_peak"] > 0 and convolution["limited_by"] == "units", convolution
    moving = [step["name"] for step in report["operators"] if step.get("limited_by") == "memory"]
    assert moving, report["operators"]
    done = tokamak("run", model, *options, "--explain=fusion")
    assert f" at {model}: node 1 'relu1' (Relu, opset 17)\n" in done.stderr, done.stderr


def fusion_is_told_by_node():
    """A convolution, its normalisation and activation are one operator; and so are the two that a residual block adds up."""
    model = "test/onnx/models/resnet50/model.onnx"
    told = tokamak("run", model, "--input=image=zeros", "--explain=fusion", "--tier=compile-first",
                   "--machine-model=test/machine-model.json").stderr
    for operations, cells, node in ((3, "max(convolve@0 + arg4, 0)", "node 2 (Relu, opset 17)"),
                                    (6, "max(convolve@10 + arg10 + (convolve@12 + arg12), 0)",
                                     "node 15 (Relu, opset 17)")):
        operator = rf"\. row \S+, {operations} operations, .*\n +{re.escape(cells)} at {re.escape(model)}: {re.escape(node)}\n"
        assert re.search(operator, told), told
    # Images that are larger than the sizes of which plans know each one.
    told = tokamak("run", "test/onnx/models/digits_of_any_size/model.onnx", "--input=images=zeros", "--shape=images=1x1x200x200",
                   "--explain=fusion", "--tier=compile-first", "--machine-model=test/machine-model.json").stderr
    assert re.search(r"\. row 800x1, 3 operations, .*\n +max\(convolve@3 \+ arg5, 0\) at ", told), told


def cells_of(path):
    """Of a file .npy with floats of single precision."""
    file = pathlib.Path(path).read_bytes()
    cells = array.array("f")
    cells.frombytes(file[10 + int.from_bytes(file[8:10], "little"):])
    return cells


def few_plans_serve_many_sizes():
    """Of a cache that grows and at random: as all sizes are known before the first call, it makes one plan of each block, for sizes of 0, 1
    and more, and the results are those of a model that was compiled for the last size alone."""
    draw = random.Random(7)
    images = [f"{draw.randint(1, 4)}x1x{draw.randint(5, 40)}x{draw.randint(5, 40)}" for _ in range(60)]
    keys, values = ([shape.format(past) for past in range(40)] for shape in ("1x2x8x{}", "1x2x{}x8"))
    for model, shapes, output, options in (
            ("remembering_decoder", {"keys_0": keys, "keys_1": keys, "values_0": values, "values_1": values}, "add_133_0",
             ["--input=token=random:1"]),
            ("digits_of_any_size", {"images": images}, "gemm_12_0", []),
            ("perceptron", {"rows": [f"{draw.randint(1, 300)}x6" for _ in range(60)]}, "softmax_8_0", [])):
        path = f"test/onnx/models/{model}/model.onnx"
        with tempfile.TemporaryDirectory() as folder:
            def run(name, given, calls):
                for number, (key, lines) in enumerate(given.items()):
                    pathlib.Path(f"{folder}/{number}.txt").write_text("\n".join(lines) + "\n")
                made = [part for number, key in enumerate(given)
                        for part in (f"--input={key}=random:3", f"--shape={key}=@{folder}/{number}.txt")]
                done = tokamak("run", path, *options, *made, f"--output={output}={folder}/{name}.npy", "--stats=json", "--cache=off",
                               "--machine-model=test/machine-model.json")
                assert done.stderr.count(" ms\n") == calls, done
                return json.loads(done.stderr.split(" ms\n")[-1])
            count = len(next(iter(shapes.values())))
            whole = run("whole", shapes, count)
            assert whole["specialisations"] == whole["blocks_planned"], (model, whole["specialisations"], whole["blocks_planned"])
            assert whole["compile_ns"] == whole["compile_ns_in_first_run"], model
            run("last", {key: lines[-1:] for key, lines in shapes.items()}, 0)
            found, expected = cells_of(f"{folder}/whole.npy"), cells_of(f"{folder}/last.npy")
            largest = max(map(abs, expected))
            assert len(found) == len(expected) and all(abs(x - y) <= 1e-5 * largest for x, y in zip(found, expected)), model


def weights_stay_in_the_file():
    """Those whose place there is aligned, as four in ten bytes of this model's are by chance."""
    path = pathlib.Path("test/onnx/models/gpt2/model.onnx")
    report = json.loads(tokamak("run", str(path), "--input=tokens=zeros", "--stats=json").stderr)
    assert report["memory_before_bytes"] < 0.7 * (ROOT / path).stat().st_size, report["memory_before_bytes"]


def what_weights_decide_is_computed_once():
    """Factors of normalisations go into the filters before the first run: no operator of a run is of a normalisation alone."""
    model, both = "test/onnx/models/resnet50/model.onnx", "--disable=prepare-weights,fold-scales"
    run = ("run", model, "--input=image=random:1", "--fusion=none", "--repeat=2", "--stats=json")
    for options, multiplies in ((), False), ((both,), True):
        steps = json.loads(tokamak(*run, *options).stderr.split(" ms\n")[-1])["operators"]
        names = {step["name"] for step in steps if "(BatchNormalization" in step["place"]["file"]}
        assert multiplies == any(name.startswith("cell_mul") for name in names), names
    # Each of the two can be left out alone.
    results = {tokamak("run", model, "--input=image=random:1", *options).stdout
               for options in ((), ("--disable=prepare-weights",), ("--disable=fold-scales",), (both,))}
    assert len({text.split(",")[0] for text in results}) == 1, results
    means = [float(text.split("mean ")[1]) for text in results]
    assert max(means) - min(means) < 1e-3, means


def a_model_takes_schedules():
    model, options = "examples/models/digits.onnx", ("--input=image=random:1", "--shape=image=600x1x8x8", "--explain=schedule")
    name = re.search(r"^kernel (row_mul_sum_add_max_\d+)\n", tokamak("run", model, *options).stderr, re.M)[1]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(f"{folder}/given.schedule")
        file.write_text(f"kernel {name}\n  block 2\n")
        told = tokamak("run", model, *options, f"--schedule={file}").stderr
        assert re.search(rf"^kernel {name}\n(  .*\n)*  block 2\n", told, re.M), told
        file.write_text(f"kernel {name}\n  blok 2\n")
        wrong = tokamak("run", model, f"--schedule={file}", *options, status=1).stderr
        assert f"{file}:2:3: 'blok' is none of parallel, block, " in wrong, wrong


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


def integers_of_file(path, dims, cells):
    """A file of NumPy with integers of 64 bits."""
    header = str({"descr": "<i8", "fortran_order": False, "shape": tuple(dims)}).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(cells)}q", *cells))


def indices_outside_of_their_dimension_are_errors():
    """Also where the cell that such an index leads to is one of the array, in its next row."""
    for case, name, dims, cells, message in (
            ("gather_elements_0", "indices", (2, 2), [0, 1, 2, 0], "the index 2 is outside of -2 to 1"),
            ("gather_elements_0", "indices", (2, 2), [0, 1, -3, 0], "the index -3 is outside of -2 to 1"),
            ("gather_0", "indices", (3, ), [0, 1, 5], "take: there is no place 6 among the 5 along dimension 1"),
            ("gathernd_example_int32", "indices", (2, 2), [0, 2, 1, 1], "the index 2 is outside of -2 to 1"),
            ("gathernd_example_int32_batch_dim1", "indices", (2, 1), [1, 2], "the index 2 is outside of -2 to 1"),
            ("scatter_elements_with_axis", "indices", (1, 2), [1, 5], "the index 5 is outside of -5 to 4"),
            ("scatternd", "indices", (2, 1), [0, -5], "the index -5 is outside of -4 to 3"),
            ("reversesequence_batch", "sequence_lens", (4, ), [1, 5, 2, 4], "the index 5 is outside of 0 to 4"),
            ("maxunpool_export_with_output_shape", "xI", (1, 1, 2, 2), [5, 7, 13, 16], "the index 16 is outside of 0 to 15"),
            ("roialign_aligned_true", "batch_indices", (3, ), [0, -1, 0], "the index -1 is outside of 0 to 0"),
            ("nllloss_NC", "target", (3, ), [0, 5, 1], "the index 5 is outside of 0 to 4")):
        model = NODE / f"test_{case}"
        values = {}
        for path in (model / "test_data_set_0").glob("input_*.pb"):
            contents = path.read_bytes()
            begin = contents.index(b"B") + 2  # the name of a tensor stands behind its dimensions and its type
            values[contents[begin:begin + contents[begin - 1]].decode()] = path
        with tempfile.TemporaryDirectory() as folder:
            values[name] = pathlib.Path(folder) / "outside.npy"
            integers_of_file(values[name], dims, cells)
            for engine in "native", "reference":
                done = tokamak("run", f"{model}/model.onnx", f"--engine={engine}",
                               *(f"--input={key}={path}" for key, path in values.items()), status=1)
                assert message in done.stderr and f"{model}/model.onnx: node 0 (" in done.stderr, (case, done)


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
            (["run", path, "--input=x=zeros", "--shape=x=@/dev/null"],
             f"{path}: --shape=x=@/dev/null: the file has no line with sizes\n"),
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
