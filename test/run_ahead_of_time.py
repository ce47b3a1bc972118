#!/usr/bin/env python3
"""`tokamak compile`: functions become object code with a C header, and programs in C that call them give the bits that `tokamak run`
gives, without LLVM in the process, on AArch64 under QEMU, too.

usage: run_ahead_of_time.py [FILTER]
"""

import os
import pathlib
import random
import re
import shutil
import struct
import sys
import tempfile

import standalone
from ahead_of_time_programs import (BUILD, MODEL_OF_MACHINE, SOURCES, STRICT, Data, Tensors, bits, build, close, compile_model,
                                    random_cell, run, same_bits, same_tensors, tensor_program)

FUNCTIONS = SOURCES / "functions.dml"
CROSS = ["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=mold", "-static", "-Wl,--gc-sections"]
MOST_BYTES_OF_RUNTIME = 1 << 20
# What a compiled function does for sizes that it wasn't planned for: a kernel for each operation, for any size.
OF_ANY_SIZE = ("--fusion=none", "--disable=specialize-sizes")


#===- scripts --------------------------------------------------------------------------------------------------------===

def classes(data, rows, columns):
    draw = random.Random(rows * 1000 + columns)
    data.add("X", rows, columns, lambda i, j: draw.gauss(i % 2, 1))
    data.add("Y", rows, 1, lambda i, j: 2 * (i % 2) - 1)
    data.add("w", columns, 1, lambda i, j: draw.gauss(0, 1))


def interpreted(data, text, *options):
    """Runs DML that writes .npy files into the folder, with kernels made for these sizes unless options say otherwise."""
    script = data.folder / "script.dml"
    script.write_text(f'source("{FUNCTIONS}") as functions\n{text}')
    return run(BUILD / "bin/tokamak", "run", script, "--tier=compile-first", MODEL_OF_MACHINE, *options, "-nvargs",
               f"in={data.folder}")


L2SVM = """X = read($in + "/X.npy", format="npy")
Y = read($in + "/Y.npy", format="npy")
w = l2svm(X=X, Y=Y, intercept=TRUE, epsilon=1e-12, reg=1, maxIterations=20, maxii=20)
write(w, $in + "/result.npy", format="npy")
"""
KMEANS = """X = read($in + "/X.npy", format="npy")
[C, Y] = kmeans(X=X, k=$k, runs=3, max_iter=50, eps=1e-6, avg_sample_size_per_centroid=50, seed=7)
write(C, $in + "/C.npy", format="npy")
write(Y, $in + "/clusters.npy", format="npy")
"""
SCORE = """X = read($in + "/X.npy", format="npy")
w = read($in + "/w.npy", format="npy")
p = functions::score(X, w, 0.25)
write(p, $in + "/result.npy", format="npy")
"""


COMBINE = """X = read($in + "/X.npy", format="npy")
Y = read($in + "/Y.npy", format="npy")
[Z, s] = functions::combine(X, Y)
write(Z, $in + "/result.npy", format="npy")
"""


def train(folder, program, rows, columns, emulator=(), isClose=False):
    data = Data(folder)
    classes(data, rows, columns)
    interpreted(data, L2SVM)
    return same_bits(program, data, [data.line("w", "result.npy")], f"{folder}/X.bin", f"{folder}/Y.bin", emulator=emulator,
                     isClose=isClose)


def cluster(folder, program, rows, columns, k, options=(), emulator=()):
    data = Data(folder)
    classes(data, rows, columns)
    interpreted(data, KMEANS.replace("$k", str(k)), *options)
    same_bits(program, data, [data.line("C", "C.npy"), data.line("Y", "clusters.npy")], f"{folder}/X.bin", k, emulator=emulator)


def score(folder, program, rows, columns, options=(), emulator=(), isClose=False):
    data = Data(folder)
    classes(data, rows, columns)
    interpreted(data, SCORE, *options)
    same_bits(program, data, [data.line("p", "result.npy")], f"{folder}/X.bin", f"{folder}/w.bin", 0.25, emulator=emulator,
              isClose=isClose)


MODELS = {
    "train": ["training", "l2svm", "--shape", "X=600x30", "--shape", "Y=600x1",
              *(word for fixed in ("intercept=TRUE", "epsilon=1e-12", "reg=1", "maxIterations=20", "maxii=20", "verbose=FALSE",
                                   "columnId=-1") for word in ("--fix", fixed))],
    "clusters": ["clusters", "kmeans", "--shape", "X=?x4", "--shape", "k=3"],
    "score": ["scoring", "score", "--shape", "X=?x100", "--shape", "w=?x1"],
    "combine": ["combining", "combine", "--shape", "X=NxM", "--shape", "Y=NxM"],
}


def models(folder, source, ending, *arguments):
    name, entry, *shapes = MODELS[source]
    model = f"lib{name}.{ending}"
    compile_model(f"{folder}/{model}", FUNCTIONS, "--entry", entry, *shapes, *arguments)
    return model


def l2svm_in_an_archive_and_a_shared_library():
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("a", "so"):
            model = models(folder, "train", ending)
            for compiler in ("cc", "clang-19"):
                program = build(folder, "train", model, (compiler,))
                train(folder, program, 600, 30)
            train(folder, program, 50, 3, isClose=True)
            train(folder, program, 3000, 100, isClose=True)
        MODELS["any"] = ["training", "l2svm", *MODELS["train"][6:]]
        train(folder, build(folder, "train", models(folder, "any", "a")), 700, 20, isClose=True)


def kmeans():
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, "clusters", models(folder, "clusters", "a"))
        cluster(folder, program, 400, 4, 3)
        cluster(folder, program, 300, 70, 5, OF_ANY_SIZE)


def a_scoring_function_with_memory_of_the_caller():
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, "score", models(folder, "score", "so"))
        for rows in (5000, 17, 1, 0):
            score(folder, program, rows, 100)
        for rows, columns in ((300, 7), (1, 1), (50, 600), (0, 3)):
            score(folder, program, rows, columns, OF_ANY_SIZE)


def operands_that_are_broadcast_in_every_way():
    """The model was compiled for equal sizes; cells are the same bits under every plan."""
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, "combine", models(folder, "combine", "a"))
        data = Data(folder)
        for (rows, columns), (others, places) in [((40, 30), (40, 30)), ((40, 30), (1, 30)), ((40, 30), (40, 1)), ((1, 30), (40, 30)),
                                                  ((40, 1), (40, 30)), ((1, 1), (1, 1)), ((40, 30), (1, 1)), ((40, 1), (1, 1))]:
            draw = random.Random(rows)
            data.add("X", rows, columns, lambda i, j: draw.gauss(0, 1))
            data.add("Y", others, places, lambda i, j: draw.gauss(0, 1))
            done = run(program, f"{folder}/X.bin", f"{folder}/Y.bin", 2)
            found = [bits(line) for line in done.stdout.splitlines()]
            for options in ((), OF_ANY_SIZE):
                interpreted(data, COMBINE, *options)
                assert found[:1] == [data.line("Z", "result.npy")], f"{rows}x{columns}, {others}x{places}: {found[0][:200]}"
        data.add("X", 40, 30, lambda i, j: 1)
        data.add("Y", 7, 30, lambda i, j: 1)
        wrong = run(program, f"{folder}/X.bin", f"{folder}/Y.bin", 2, status=1)
        assert re.match(r".*functions\.dml:24:\d+: error: sizes do not agree: 40x30 . 7x30", wrong.stderr), wrong.stderr


SEVERAL = """described a name
|20 3 1 a name 3
0.022977 0.562177 0.095349
1 {functions}: error: score: result p: it has 200x1 cells, and the memory that the caller gave is for 2
200
2 scoring: error: score: argument w: the matrix is NULL
2 describing: error: describe: argument name: the text is NULL
1 {functions}:5:24: error: %*%: the inner dimensions differ: 200x2 %*% 200x2
/functions.dml 5 24
1 {functions}:12:{column}: error: {index}
"""


def several_models_threads_and_errors():
    with tempfile.TemporaryDirectory() as folder:
        for endings in (("a", "a"), ("so", "so"), ("so", "a")):
            for (name, entry), ending in zip((("scoring", "score"), ("describing", "describe")), endings):
                compile_model(f"{folder}/lib{name}.{ending}", FUNCTIONS, "--entry", entry)
            program = build(folder, "several", f"libscoring.{endings[0]}", extra=[f"{folder}/libdescribing.{endings[1]}"],
                            needs_runtime="a" in endings)
            done = run(program)
            lines, expected = done.stdout.splitlines(), SEVERAL.splitlines()
            assert len(lines) == len(expected), done.stdout
            for line, wanted in zip(lines, expected):
                pattern = re.escape(wanted).replace(r"\{functions\}", r"\S*(functions\.dml|scoring)").replace(r"\{column\}", r"\d+")
                assert re.fullmatch(pattern.replace(r"\{index\}", ".*3.*"), line), f"{line}\nnot {wanted}"


def parameters_that_are_left_out():
    with tempfile.TemporaryDirectory() as folder:
        compile_model(f"{folder}/libscaling.a", FUNCTIONS, "--entry", "scale")
        header = pathlib.Path(folder, "scaling.h").read_text()
        assert "  double factor; // double, -1 / 2\n" in header and "  options.name = " in header, header
        assert "//   columns: int (ncol(X) in the script, if it isn't given)\n" in header, header
        done = run(build(folder, "options", "libscaling.a"))
        assert done.stdout == '-1 a "b" ? 2\n-1 a "b" ? 2\n1 a "b" ? 2\n-16 other 2\n', done.stdout
        script = pathlib.Path(folder, "script.dml")
        script.write_text("f = function(double a = 1) return (double b) { b = a }\n"
                          "f_defaults = function(double a) return (double b) { b = a }\n")
        wrong = compile_model(f"{folder}/libm.a", script, "--entry", "f,f_defaults", status=2)
        assert "--entry f,f_defaults: m_f_defaults is what belongs to f in C" in wrong.stderr, wrong.stderr


def matrices_of_single_precision():
    """They are tensors; sparse ones, too."""
    with tempfile.TemporaryDirectory() as folder:
        compile_model(f"{folder}/libscoring.a", FUNCTIONS, "--entry", "score", "--precision=f32", "--shape", "X=200x30",
                      "--shape", "w=30x1")
        assert "//   X: matrix of 2 dimensions, TOKAMAK_F32, planned for 200 x 30\n" in pathlib.Path(folder, "scoring.h").read_text()
        program = tensor_program(folder, "scoring", 2, 1, entry="_score", extra="NULL")
        for rows, columns, options in ((200, 30, ()), (7, 1100, OF_ANY_SIZE)):
            tensors = Tensors(folder)
            for name, sizes in (("X", (rows, columns)), ("w", (columns, 1))):
                tensors.add(name, "<f4", sizes, random_cell(columns, "<f4"))
            interpreted(tensors, SCORE.replace("0.25", "0"), "--precision=f32", *options)
            for threads in (1, 2):
                run(program, threads, f"{folder}/X.bin", f"{folder}/w.bin", f"{folder}/p.bin")
                found, wanted = pathlib.Path(folder, "p.bin").read_bytes(), tensors.expected("result")
                assert found[4:72] == wanted[4:72] and found[0] == 1, (found[:72], wanted[:72])
                # Scripts write doubles.
                assert found[72:] == struct.pack(f"<{rows}f", *struct.unpack(f"<{rows}d", wanted[72:])), f"{rows}x{columns}"


def several_sparse_matrices():
    with tempfile.TemporaryDirectory() as folder:
        compile_model(f"{folder}/liboverlapping.a", FUNCTIONS, "--entry", "overlap")
        done = run(build(folder, "sparse", "liboverlapping.a"))
        # 2 * 10 + 3 * 30; 1 + 12 ^ 2 + 20 ^ 2 + 33 ^ 2; 1 + 8 + 20 + 27; 3 * 0.5
        assert done.stdout == "110 1634 56 1.5\n", done.stdout


def processors_that_lack_something():
    """Code isn't called on processors that it isn't for; on an emulated one with AVX2 it gives the same bits."""
    if os.uname().machine != "x86_64":
        return
    assert shutil.which("qemu-x86_64"), "qemu-x86_64 was not found; ./dev setup installs it"
    with tempfile.TemporaryDirectory() as folder:
        for target, processor, missing in (("x86-64-v3", "Nehalem", "avx, avx2, bmi"), ("x86-64-v4", "max", "avx512f, avx512bw, ")):
            program = build(folder, "score", models(folder, "score", "a", "--target", target))
            data = Data(folder)
            classes(data, 3, 100)
            refused = run("qemu-x86_64", "-cpu", processor, program, f"{folder}/X.bin", f"{folder}/w.bin", 0.25, 1, status=2)
            assert re.match(rf"scoring: error: it was compiled for processors with {missing}.*, which this one doesn't have; expected a "
                            "model that was compiled for another --target", refused.stderr), refused.stderr
            if target == "x86-64-v3":
                score(folder, program, 20, 100, emulator=("qemu-x86_64", "-cpu", "max"))


def statements(folder, script, *arguments):
    """Compiles a whole script; gives the program."""
    compile_model(f"{folder}/libstatements.a", script, "-nvargs", *arguments)
    return build(folder, "statements", "libstatements.a", system=["-lz"])


def statements_of_a_script():
    """Files, a parfor, printing; plans for sizes that are known once files have been read."""
    with tempfile.TemporaryDirectory() as folder:
        script = "test/ahead_of_time/l2svm.dml"
        done = run(BUILD / "bin/tokamak", "run", script, MODEL_OF_MACHINE, "--threads=1", "-nvargs", f"out={folder}")
        weights = pathlib.Path(folder) / "weights.csv"
        expected = weights.read_bytes()
        assert expected.count(b"\n") == 30 and "accuracy 0.9" in done.stdout, done.stdout
        program, outputs = statements(folder, script, f"out={folder}"), set()
        for threads in (1, 2):
            weights.unlink()
            ran = run(program, threads)
            close(ran.stdout, done.stdout)
            close(weights.read_text(), expected.decode())
            outputs.add((ran.stdout, weights.read_bytes()))
        assert len(outputs) == 1, "threads change bits"


def operators_of_many_axes():
    for example in (*(f"examples/{name}" for name in ("fused-attention.mlir", "convolution.mlir", "batched-product.mlir",
                                                      "digits-network.dml")), SOURCES / "choice.mlir"):
        with tempfile.TemporaryDirectory() as folder:
            expected = run(BUILD / "bin/tokamak", "run", example, MODEL_OF_MACHINE, "--threads=1").stdout
            found = run(statements(folder, example), 2).stdout
            assert found == expected, f"{example} prints\n{found}not\n{expected}"


def a_folder_with_cmake():
    with tempfile.TemporaryDirectory() as folder:
        compile_model(f"{folder}/scoring/", FUNCTIONS, "--entry", "score,positiveSums", "--shape", "X=?x5", "--shape", "w=?x1")
        names = sorted(path.name for path in pathlib.Path(folder, "scoring").iterdir())
        assert names == ["CMakeLists.txt", "README", "libtokamak-runtime.a", "objects", "scoring.h"], names
        shutil.copy(SOURCES / "score.c", folder)
        shutil.copy(SOURCES / "matrices.h", folder)
        pathlib.Path(folder, "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(score LANGUAGES C)\nadd_subdirectory(scoring)\n"
            "add_executable(score score.c)\ntarget_link_libraries(score PRIVATE scoring)\n")
        run("cmake", "-S", folder, "-B", f"{folder}/build", "-G", "Ninja")
        run("cmake", "--build", f"{folder}/build")
        score(folder, f"{folder}/build/score", 300, 5)


def the_runtime_is_small_and_has_no_compiler():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "empty.c").write_text("int main(void) { return 0; }\n")
        run("cc", "-O1", f"{folder}/empty.c", "-o", f"{folder}/empty", "-Wl,--gc-sections", "-s")
        empty = os.path.getsize(f"{folder}/empty")
        sizes = {}
        for source in ("combine", "score"):
            program = build(folder, source, models(folder, source, "a"), extra=["-Wl,--gc-sections"])
            symbols = run("nm", "--demangle", program).stdout
            assert "tokamak_model_call" in symbols
            libraries = run("ldd", program).stdout
            for word in ("llvm::", "mlir::", "LLVM", "MLIR", "tokamak::codegen", "tokamak::pipeline", "tokamak::exec"):
                assert word not in symbols and word not in libraries, word
            run("strip", program)
            sizes[source] = os.path.getsize(program) - empty
        assert sizes["combine"] <= MOST_BYTES_OF_RUNTIME, sizes
        exported = run("nm", "--dynamic", "--defined-only", f"{folder}/{models(folder, 'score', 'so').replace('.a', '.so')}").stdout
        names = {line.split()[-1] for line in exported.splitlines()}
        assert names and all(name.startswith("scoring_") for name in names), names


def what_is_wrong_is_said_and_nothing_written():
    with tempfile.TemporaryDirectory() as folder:
        output = f"{folder}/libm.a"
        for arguments, expected in [
                (["--entry", "scroe"], "neither the script nor the library has such a function; did you mean 'score'?"),
                (["--entry", "score", "--shape", "X=?x"], "expected a size: a number"),
                (["--entry", "score", "--shape", "x=?x3"], "no parameter 'x'; did you mean 'X'?"),
                (["--entry", "score", "--fix", "b=many"], "--fix b=many: expected a number"),
                (["--entry", "score", "--fix", "c=1"], "no function that is compiled has such a parameter"),
                (["--entry", "score", "--target", "z80"], "not in {native,x86-64-v3,x86-64-v4,aarch64,aarch64-v8.2}"),
                (["--entry", "transformencode"], "--entry transformencode: neither the script nor the library has such a function"),
                (["--entry", "score,score"], "--entry score: expected each function once")]:
            wrong = run(BUILD / "bin/tokamak", "compile", FUNCTIONS, "-o", output, *arguments, status=2)
            assert expected in wrong.stderr, wrong.stderr
            assert not os.listdir(folder), os.listdir(folder)
        for output, expected in [(f"{folder}/model.exe", "none of the endings"), ("/proc/none/libm.a", "/proc/none/"),
                                 ("/proc/none/libm.so", "/proc/none"), ("/proc/none/model/", "/proc/none")]:
            wrong = run(BUILD / "bin/tokamak", "compile", FUNCTIONS, "--entry", "score", "-o", output, status=2)
            assert expected in wrong.stderr, wrong.stderr
        wrong = run(BUILD / "bin/tokamak", "compile", FUNCTIONS, "--entry", "score", "-o", f"{folder}/libm.so", status=2,
                    env=os.environ | {"CC": "no-such-compiler"})
        assert "no-such-compiler" in wrong.stderr and not os.listdir(folder), wrong.stderr
        other = "x86-64-v3" if os.uname().machine == "aarch64" else "aarch64"
        wrong = run(BUILD / "bin/tokamak", "compile", FUNCTIONS, "--entry", "score", "-o", f"{folder}/libm.so", "--target", other,
                    status=2, env={name: value for name, value in os.environ.items() if name != "CC"})
        assert "write an archive (.a) and link it with the target's linker" in wrong.stderr, wrong.stderr
        for arguments, expected in [(["--entry", "f"], "--entry is for scripts; expected none, as a model is compiled as a whole"),
                                    (["--precision", "f32"], "--precision is for scripts"),
                                    (["--shape", "image=?x2x8x8"], "'image' has 4 sizes: image=?x1x8x8"),
                                    (["--shape", "image=?x64"], "'image' has 4 sizes: image=?x1x8x8"),
                                    (["--shape", "imgae=?x1x8x8"], "no parameter 'imgae'; did you mean 'image'?")]:
            wrong = run(BUILD / "bin/tokamak", "compile", DIGITS, "-o", f"{folder}/libm.a", *arguments, status=2)
            assert expected in wrong.stderr and not os.listdir(folder), wrong.stderr
        for script, expected in [("test/dml.onnx", "test/dml.onnx"),
                                 ("examples/convolution.mlir", "a .mlir file is compiled as a whole")]:
            wrong = run(BUILD / "bin/tokamak", "compile", script, "--entry", "f", "-o", output, status=2)
            assert expected in wrong.stderr, wrong.stderr
        assert not os.listdir(folder), os.listdir(folder)
        script = pathlib.Path(folder, "wrong.dml")
        script.write_text("f = function(matrix[double] X) return (matrix[double] Y) { Y = X %*% }\n")
        wrong = run(BUILD / "bin/tokamak", "compile", script, "--entry", "f", "-o", f"{folder}/libm.a", status=2)
        assert f"{script}:1:" in wrong.stderr and "^" in wrong.stderr, wrong.stderr
        script.write_text("f = function(list[unknown] X) return (double y) { y = 1 }\n")
        wrong = run(BUILD / "bin/tokamak", "compile", script, "--entry", "f", "-o", f"{folder}/libm.a", status=2)
        assert "the parameter 'X' is of type list" in wrong.stderr, wrong.stderr


def no_other_files_are_lost():
    """Folders and headers are replaced only if a command like this one wrote all that is in them."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "script.dml")
        script.write_text("f = function(double a) return (double b) { b = 2 * a }\n")
        command = [BUILD / "bin/tokamak", "compile", script, "--entry", "f", "--quiet", "-o"]
        model = pathlib.Path(folder, "model")

        def refused(output, *words):
            before = {path: path.is_file() and path.read_bytes() for path in pathlib.Path(folder).rglob("*")}
            wrong = run(*command, output, status=2)
            assert all(str(word) in wrong.stderr for word in words), wrong.stderr
            assert before == {path: path.is_file() and path.read_bytes() for path in pathlib.Path(folder).rglob("*")}

        refused(model, f"expected {model}.a, an archive")
        run(*command, f"{model}/")
        run(*command, f"{model}/")
        run(*command, model)
        for name in ("notes.txt", "objects/mine.o", "README", "model.h"):
            file = model / name
            old = file.read_bytes() if file.exists() else None
            file.write_text("mine\n")
            refused(f"{model}/", "would be replaced", file)
            refused(model, "has no ending that says what to write")
            file.unlink()
            if old is not None:
                file.write_bytes(old)
        header = pathlib.Path(folder, "m.h")
        header.write_text("// mine\n")
        refused(f"{folder}/libm.a", header, "no header of a compiled model m")
        header.unlink()
        run(*command, f"{folder}/libm.a")
        run(*command, f"{folder}/libm.a")


def the_header_is_c_and_cpp():
    """Names that are words of C++, and comments that end in a backslash."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "words.dml")
        script.write_text("# Splits at \\\n"
                          "new = function(double class, int int64_t) return (double constexpr) { constexpr = class + int64_t }\n")
        compile_model(f"{folder}/libwords.a", script, "--entry", "new")
        program = pathlib.Path(folder, "words.c")
        program.write_text('#include "words.h"\nint main(void) { double sum; return words_new(NULL, 1, 2, &sum) != 0 || sum != 3; }\n')
        run("cc", *STRICT, "-I", folder, "-fsyntax-only", program)
        run("c++", "-Wall", "-Wextra", "-Werror", "-I", folder, "-x", "c++", "-fsyntax-only", program)
        # Beside the header of the library that compiles.
        for first, second in (("words.h", "tokamak.h"), ("tokamak.h", "words.h")):
            program.write_text(f'#include "{first}"\n#include "{second}"\ntokamak_tensor tensor = {{TOKAMAK_F32}};\n')
            run("cc", *STRICT, "-Wno-missing-field-initializers", "-I", folder, "-I", "src/api", "-fsyntax-only", program)


def libraries_are_named_in_folders():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "reads.dml")
        script.write_text('print(sum(read("x.csv", format="csv")))\n')
        compile_model(f"{folder}/reads/", script)
        assert " -ldl -lz\n" in pathlib.Path(folder, "reads/README").read_text()
        assert " pthread dl z)\n" in pathlib.Path(folder, "reads/CMakeLists.txt").read_text()


def sizes_of_any_kind_have_no_plan_for_accidental_ones():
    with tempfile.TemporaryDirectory() as folder:
        plans = compile_model(f"{folder}/libm.a", FUNCTIONS, "--entry", "combine", "--shape", "X=NxM", "--shape", "Y=NxM",
                              "--explain=image").stdout
        sizes = re.findall(r"# plan of \S+ for (.*)", plans)
        assert sizes and not any(re.search(r"(?<![\w.:~])(?!1\b)\d+(?= x )|(?<= x )(?!1\b)\d+\b", text) for text in sizes), sizes


#===- tensors --------------------------------------------------------------------------------------------------------===

DIGITS = "examples/models/digits.onnx"


def onnx_models():
    with tempfile.TemporaryDirectory() as folder:
        header = pathlib.Path(folder, "model.h")
        for model, inputs, outputs, shapes in [
                (DIGITS, {"image": ("<f4", (5, 1, 8, 8))}, ["scores"], ["image=5x1x8x8"]),
                ("test/onnx/models/torch_convolutions_dynamo/model.onnx", {"image": ("<f4", (3, 3, 15, 13))}, ["linear"],
                 ["image=3x3x15x13"]),
                ("test/onnx/models/minilm/model.onnx", {"tokens": ("<i8", (1, 7))}, ["layernormalization_119_0"], []),
                ("test/onnx/models/sklearn_forest/model.onnx", {"x": ("<f4", (20, 4))}, ["label", "probabilities"], ["x=20x4"]),
                # Ranks from 0 to 3, loops, booleans.
                ("test/onnx/cases/loop_counted_5/model.onnx", {"x": ("<f4", (4, 3)), "n": ("<i8", ())}, ["y", "ys", "is", "bs"], ["x=4x3"]),
                # Halves and integers of 16 and 32 bits.
                ("test/onnx/cases/bits/model.onnx", {"x": ("<f4", (7,)), "h": ("<f2", (7,))}, ["i", "y", "u"], [])]:
            compile_model(f"{folder}/libmodel.a", model, *(word for shape in shapes for word in ("--shape", shape)))
            program = tensor_program(folder, "model", len(inputs), len(outputs))
            same_tensors(folder, program, model, inputs, outputs)
        assert "int model_main(model_context *context,\n               const tokamak_tensor *x,\n" in header.read_text()


def onnx_models_for_other_sizes():
    """Sums of a convolution may have another order where less is known of sizes."""
    with tempfile.TemporaryDirectory() as folder:
        compile_model(f"{folder}/libdigits.a", DIGITS, "--shape", "image=?x1x8x8")
        program = tensor_program(folder, "digits", 1, 1)
        for digits in (1, 4, 300, 0):
            same_tensors(folder, program, DIGITS, {"image": ("<f4", (digits, 1, 8, 8))}, ["scores"], isClose=True)
        # Sizes that the file says are checked, and so are types and ranks.
        tensors = Tensors(folder)
        for numpy_type, sizes, message in [
                ("<f4", (2, 1, 8, 9), "digits: error: main: argument image: expected f32 of size ?x1x8x8, got f32 of size 2x1x8x9"),
                ("<f4", (2, 64), "digits: error: main: argument image: expected f32 of size ?x1x8x8, got f32 of size 2x64"),
                ("<f8", (2, 1, 8, 8), "digits: error: main: argument image: expected f32 of size ?x1x8x8, got f64 of size 2x1x8x8")]:
            tensors.add("wrong", numpy_type, sizes, lambda i: 0)
            wrong = run(program, 1, f"{folder}/wrong.bin", f"{folder}/out.bin", status=2)
            assert wrong.stderr == message + "\n", wrong.stderr


#===- another processor ----------------------------------------------------------------------------------------------===

def aarch64_under_an_emulator():
    assert shutil.which("qemu-aarch64"), "qemu-aarch64 was not found; ./dev setup installs it"
    run("cmake", "--build", BUILD, "--target", "tokamak-runtime-aarch64-without-files", "-j", str(os.cpu_count()))
    emulator = ("qemu-aarch64",)
    with tempfile.TemporaryDirectory() as folder:
        programs = {source: build(folder, source, models(folder, source, "a", "--target", "aarch64"), CROSS, "aarch64")
                    for source in ("train", "clusters", "score")}
        train(folder, programs["train"], 600, 30, emulator=emulator)
        cluster(folder, programs["clusters"], 100, 4, 3, emulator=emulator)
        score(folder, programs["score"], 200, 100, emulator=emulator)
        compile_model(f"{folder}/libdigits.a", DIGITS, "--shape", "image=7x1x8x8", "--target", "aarch64")
        program = tensor_program(folder, "digits", 1, 1, compiler=CROSS, architecture="aarch64")
        same_tensors(folder, program, DIGITS, {"image": ("<f4", (7, 1, 8, 8))}, ["scores"], emulator=emulator)
        # A product of any size is OpenBLAS's, where there is one.
        score(folder, programs["score"], 20, 7, OF_ANY_SIZE, emulator=emulator, isClose=True)
        # A Cortex-A53 has ARMv8.0.
        later = build(folder, "score", models(folder, "score", "a", "--target", "aarch64-v8.2"), CROSS, "aarch64")
        score(folder, later, 20, 100, emulator=("qemu-aarch64", "-cpu", "max"))
        data = Data(folder)
        classes(data, 3, 100)
        refused = run("qemu-aarch64", "-cpu", "cortex-a53", later, f"{folder}/X.bin", f"{folder}/w.bin", 0.25, 1, status=2)
        assert re.match("scoring: error: it was compiled for processors with lse, fullfp16, rdm, .*dotprod, which this one doesn't have",
                        refused.stderr), refused.stderr


def other_processors_of_this_kind():
    with tempfile.TemporaryDirectory() as folder:
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
        targets = [target for target, flag in (("x86-64-v3", "avx2"), ("x86-64-v4", "avx512vl")) if flag in flags]
        if not targets:
            print("other-processors-of-this-kind: this processor has neither AVX2 nor AVX-512; nothing was compared", file=sys.stderr)
        for target in targets:
            score(folder, build(folder, "score", models(folder, "score", "a", "--target", target)), 500, 100)
            train(folder, build(folder, "train", models(folder, "train", "a", "--target", target)), 600, 30)
            compile_model(f"{folder}/libdigits.a", DIGITS, "--shape", "image=7x1x8x8", "--target", target)
            same_tensors(folder, tensor_program(folder, "digits", 1, 1), DIGITS, {"image": ("<f4", (7, 1, 8, 8))}, ["scores"])


def discover():
    """{name: function that raises what is wrong}"""
    return standalone.named("commands/ahead-of-time/", TESTS)


TESTS = [l2svm_in_an_archive_and_a_shared_library, kmeans, a_scoring_function_with_memory_of_the_caller,
         operands_that_are_broadcast_in_every_way, several_models_threads_and_errors, parameters_that_are_left_out,
         matrices_of_single_precision, several_sparse_matrices, processors_that_lack_something, statements_of_a_script,
         operators_of_many_axes, onnx_models, onnx_models_for_other_sizes, a_folder_with_cmake, the_runtime_is_small_and_has_no_compiler,
         what_is_wrong_is_said_and_nothing_written, no_other_files_are_lost, the_header_is_c_and_cpp, libraries_are_named_in_folders,
         sizes_of_any_kind_have_no_plan_for_accidental_ones, aarch64_under_an_emulator, other_processors_of_this_kind]


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
