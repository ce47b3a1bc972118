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
import subprocess
import sys
import tempfile
import threading

import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release")
SOURCES = ROOT / "test/ahead_of_time"
FUNCTIONS = SOURCES / "functions.dml"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"]
SYSTEM_LIBRARIES = ["-lstdc++", "-lm", "-lpthread", "-ldl"]
MODEL_OF_MACHINE = f"--machine-model={ROOT}/test/machine-model.json"
CROSS = ["clang-19", "--target=aarch64-linux-gnu", "-fuse-ld=mold", "-static"]
MOST_BYTES_OF_RUNTIME = 1 << 20


def run(*command, status=0, **options):
    done = subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    assert done.returncode == status, f"{command[0]}: exit status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-3000:]}"
    return done


#===- data -----------------------------------------------------------------------------------------------------------===

class Data:
    """Matrices in a folder, as Tokamak reads them (.npy) and as the programs in C do (.bin)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def add(self, name, rows, columns, cell):
        cells = [float(cell(i, j)) for i in range(rows) for j in range(columns)]
        packed = struct.pack(f"<{len(cells)}d", *cells)
        header = str({"descr": "<f8", "fortran_order": False, "shape": (rows, columns)}).encode()
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        (self.folder / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + packed)
        (self.folder / f"{name}.bin").write_bytes(struct.pack("<qq", rows, columns) + packed)

    def line(self, name, path):
        """The line that print_matrix of matrices.h prints for a matrix that Tokamak wrote."""
        contents = (self.folder / path).read_bytes()
        length = struct.unpack("<H", contents[8:10])[0]
        rows, columns = (int(size) for size in re.search(rb"\((\d+), (\d+)\)", contents[10:10 + length]).groups())
        cells = struct.unpack(f"<{rows * columns}d", contents[10 + length:])
        return f"{name} {rows}x{columns} " + " ".join(cell.hex() for cell in cells)


def bits(line):
    """A line of print_matrix with cells as Python writes them: C libraries write hexadecimal numbers in several ways."""
    name, sizes, *cells = line.split()
    return " ".join([name, sizes, *(float.fromhex(cell).hex() for cell in cells)])


def classes(data, rows, columns):
    draw = random.Random(rows * 1000 + columns)
    data.add("X", rows, columns, lambda i, j: draw.gauss(i % 2, 1))
    data.add("Y", rows, 1, lambda i, j: 2 * (i % 2) - 1)
    data.add("w", columns, 1, lambda i, j: draw.gauss(0, 1))


def interpreted(data, text, *arguments):
    """Runs DML that writes .npy files into the folder: by the compiler, with kernels made for these sizes."""
    script = data.folder / "script.dml"
    script.write_text(f'source("{FUNCTIONS}") as functions\n{text}')
    return run(BUILD / "bin/tokamak", "run", script, "--tier=compile-first", MODEL_OF_MACHINE, "-nvargs", f"in={data.folder}", *arguments)


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


#===- programs -------------------------------------------------------------------------------------------------------===

def runtime(architecture):
    return BUILD / "lib/tokamak" / architecture / "libtokamak-runtime.a"


def compile_model(output, script, *arguments, status=0):
    return run(BUILD / "bin/tokamak", "compile", script, "-o", output, MODEL_OF_MACHINE, *arguments, status=status)


def build(folder, source, model, compiler=("cc",), architecture="x86_64", extra=()):
    """A program of test/ahead_of_time with the model (an archive or a shared library) in the folder."""
    program = pathlib.Path(folder) / f"{source}-{pathlib.Path(model).suffix[1:]}-{compiler[0]}"
    libraries = [] if model.endswith(".so") else [runtime(architecture), *SYSTEM_LIBRARIES]
    run(*compiler, *STRICT, "-I", folder, SOURCES / f"{source}.c", "-o", program, f"{folder}/{model}", *extra, *libraries,
        *([f"-Wl,-rpath,{folder}"] if model.endswith(".so") else []))
    return program


def same_bits(program, data, expected, *arguments, emulator=()):
    for threads in (1, 2):
        done = run(*emulator, program, *arguments, threads)
        found = [bits(line) for line in done.stdout.splitlines()]
        assert found == expected, f"{threads} threads: {found[0][:300]}\nnot {expected[0][:300]}"


def train(folder, program, rows, columns, emulator=()):
    data = Data(folder)
    classes(data, rows, columns)
    interpreted(data, L2SVM)
    same_bits(program, data, [data.line("w", "result.npy")], f"{folder}/X.bin", f"{folder}/Y.bin", emulator=emulator)


def cluster(folder, program, rows, columns, k, emulator=()):
    data = Data(folder)
    classes(data, rows, columns)
    interpreted(data, KMEANS, f"k={k}")
    same_bits(program, data, [data.line("C", "C.npy"), data.line("Y", "clusters.npy")], f"{folder}/X.bin", k, emulator=emulator)


def score(folder, program, rows, columns, emulator=()):
    data = Data(folder)
    classes(data, rows, columns)
    interpreted(data, SCORE)
    same_bits(program, data, [data.line("p", "result.npy")], f"{folder}/X.bin", f"{folder}/w.bin", 0.25, emulator=emulator)


MODELS = {
    "train": ["training", "l2svm", "--shape", "X=?x30"],
    "clusters": ["clusters", "kmeans", "--shape", "X=?x4", "--shape", "k=3"],
    "score": ["scoring", "score", "--shape", "X=?x100"],
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
            train(folder, program, 50, 3)
            train(folder, program, 3000, 100)


def kmeans():
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, "clusters", models(folder, "clusters", "a"))
        cluster(folder, program, 400, 4, 3)
        cluster(folder, program, 300, 70, 5)


def a_scoring_function_with_memory_of_the_caller():
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder, "score", models(folder, "score", "so"))
        for rows, columns in ((5000, 100), (1, 100), (300, 7), (1, 1), (0, 100)):
            score(folder, program, rows, columns)


def discover():
    """{name: function that returns None or what is wrong}"""
    def outcome(test):
        try:
            test()
        except (AssertionError, subprocess.SubprocessError, OSError) as failure:
            return f"{type(failure).__name__}: {failure}"
        return None
    return {f"commands/ahead-of-time/{t.__name__.replace('_', '-')}": lambda t=t: outcome(t) for t in TESTS}


TESTS = [l2svm_in_an_archive_and_a_shared_library, kmeans, a_scoring_function_with_memory_of_the_caller]


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
