"""Programs in C that call models which were compiled ahead of time, the data that they read, and comparisons of what they give with what
`tokamak run` gives. The tests are in run_ahead_of_time.py."""

import math
import os
import pathlib
import random
import re
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release")
SOURCES = ROOT / "test/ahead_of_time"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"]
SYSTEM_LIBRARIES = ["-lstdc++", "-lm", "-lpthread", "-ldl"]
MODEL_OF_MACHINE = f"--machine-model={ROOT}/test/machine-model.json"


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
        return " ".join([name, f"{rows}x{columns}", *(cell.hex() for cell in cells)])


def bits(line):
    """A line of print_matrix with cells as Python writes them: C libraries write hexadecimal numbers in several ways."""
    name, sizes, *cells = line.split()
    return " ".join([name, sizes, *(float.fromhex(cell).hex() for cell in cells)])


#===- programs -------------------------------------------------------------------------------------------------------===

def runtime(architecture):
    """Of AArch64, what programs without files and frames call (cmake/RuntimeLibrary.cmake)."""
    folder = BUILD / ("runtime-aarch64" if architecture == "aarch64" else f"lib/tokamak/{architecture}")
    return folder / "libtokamak-runtime.a"


def compile_model(output, script, *arguments, status=0):
    return run(BUILD / "bin/tokamak", "compile", script, "-o", output, MODEL_OF_MACHINE, *arguments, status=status)


def build(folder, source, model, compiler=("cc",), architecture="x86_64", extra=(), needs_runtime=None, system=()):
    """A program of test/ahead_of_time with the model (an archive or a shared library) in the folder."""
    program = pathlib.Path(folder) / f"{source}-{pathlib.Path(model).suffix[1:]}-{compiler[0]}"
    if needs_runtime is None:
        needs_runtime = model.endswith(".a")
    libraries = [runtime(architecture), *SYSTEM_LIBRARIES] if needs_runtime else ["-lpthread"]
    run(*compiler, *STRICT, "-I", folder, SOURCES / f"{source}.c", "-o", program, f"{folder}/{model}", *extra, *libraries, *system,
        f"-Wl,-rpath,{folder}")
    return program


def numbers(text):
    """Of a text, decimal or hexadecimal; words that are none are left out."""
    number = re.compile(r"-?(nan|inf(inity)?|\d+(\.\d+)?(e[-+]\d+)?|0x[01]\.[0-9a-f]+p[-+]\d+)", re.IGNORECASE)
    return [float.fromhex(word) if "x" in word else float(word) for word in re.split(r"[\s,]+", text) if number.fullmatch(word)]


def close(found, expected):
    """Sums are added in another order where more, or less, is known of sizes. NaN is close to NaN only."""
    values, wanted = numbers(found), numbers(expected)
    assert values and len(values) == len(wanted), f"{len(values)} numbers, not {len(wanted)}: {found[:200]}"
    far = [(a, b) for a, b in zip(values, wanted)
           if not (math.isnan(a) and math.isnan(b)) and not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)]
    assert not far, far[:5]


def same_bits(program, data, expected, *arguments, emulator=(), isClose=False):
    """The lines that the program prints, on one and two threads. `isClose`: rounding errors may differ from those expected."""
    outputs = []
    for threads in (1, 2):
        done = run(*emulator, program, *arguments, threads)
        outputs.append([bits(line) for line in done.stdout.splitlines()])
    assert outputs[0] == outputs[1], "threads change bits"
    if isClose:
        for found, wanted in zip(outputs[0], expected, strict=True):
            assert found.split()[:2] == wanted.split()[:2], (found[:50], wanted[:50])
            close(" ".join(found.split()[2:]), " ".join(wanted.split()[2:]))
    else:
        assert outputs[0] == expected, f"{outputs[0][0][:300]}\nnot {expected[0][:300]}"
    return outputs[0]


#===- tensors --------------------------------------------------------------------------------------------------------===

# As NumPy and tokamak_type name them, with struct's letter; of halves the bits.
TYPES = {"<f8": (0, "d"), "<f4": (1, "f"), "<f2": (2, "H"), "|i1": (4, "b"), "<i2": (5, "h"), "<i4": (6, "i"), "<i8": (7, "q"),
         "|u1": (8, "B"), "<u2": (9, "H"), "<u4": (10, "I"), "<u8": (11, "Q"), "|b1": (12, "?")}


class Tensors:
    """Tensors in a folder, as Tokamak reads and writes them (.npy) and as tensors.c does (.bin)."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def add(self, name, numpy_type, sizes, cell):
        number, letter = TYPES[numpy_type]
        count = math.prod(sizes)
        packed = struct.pack(f"<{count}{letter}", *(cell(i) for i in range(count)))
        header = str({"descr": numpy_type, "fortran_order": False, "shape": tuple(sizes)}).encode()
        header += b" " * (-(len(header) + 11) % 64) + b"\n"
        (self.folder / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + packed)
        self.write(f"{name}.bin", number, sizes, packed)

    def write(self, name, number, sizes, packed):
        head = struct.pack("<ii8q", number, len(sizes), *sizes, *[0] * (8 - len(sizes)))
        (self.folder / name).write_bytes(head + packed)

    def expected(self, name):
        """The bytes that tensors.c writes for an array that Tokamak wrote."""
        contents = (self.folder / f"{name}.npy").read_bytes()
        length = struct.unpack("<H", contents[8:10])[0]
        header = contents[10:10 + length].decode()
        sizes = [int(size) for size in re.search(r"\(([\d, ]*)\)", header)[1].replace(",", " ").split()]
        number = TYPES[re.search(r"'descr': '([^']+)'", header)[1]][0]
        return struct.pack("<ii8q", number, len(sizes), *sizes, *[0] * (8 - len(sizes))) + contents[10 + length:]


def tensor_program(folder, name, inputs, outputs, *options, entry="_main", extra="", **build_options):
    """tensors.c for the model libNAME.a in the folder."""
    arguments = [f"&in[{i}]" for i in range(inputs)] + ([extra] if extra else []) + [f"&out[{i}]" for i in range(outputs)]
    return build(folder, "tensors", f"lib{name}.a", extra=[
        f"-DMODEL={name}", f'-DHEADER="{name}.h"', f"-DINPUTS={inputs}", f"-DOUTPUTS={outputs}", f"-DENTRY={entry}",
        f"-DARGUMENTS={','.join(arguments)}", "-Wl,--gc-sections", *options], **build_options)


def random_cell(seed, numpy_type):
    draw = random.Random(seed)
    return lambda _: draw.gauss(0, 1) if numpy_type[1] == "f" and numpy_type != "<f2" else draw.randrange(1, 9)


def close_tensors(found, wanted):
    """Floats of single precision whose rounding errors may differ."""
    assert found[:72] == wanted[:72], (found[:72], wanted[:72])
    cells, expected = (struct.unpack(f"<{(len(part) - 72) // 4}f", part[72:]) for part in (found, wanted))
    largest = max((abs(cell) for cell in expected), default=0)
    far = [(a, b) for a, b in zip(cells, expected) if abs(a - b) > 1e-6 * largest]
    assert not far, far[:5]


def same_tensors(folder, program, model, inputs, outputs, emulator=(), threads=(1, 2), isClose=False):
    """`inputs`: {name: (type, sizes)}; the program gives the bits that `tokamak run` gives. `isClose`: rounding errors may differ."""
    tensors = Tensors(folder)
    for number, (name, (numpy_type, sizes)) in enumerate(inputs.items()):
        tensors.add(f"in{number}", numpy_type, sizes, random_cell(number, numpy_type))
    run(BUILD / "bin/tokamak", "run", model, "--tier=compile-first", MODEL_OF_MACHINE,
        *(f"--input={name}={folder}/in{number}.npy" for number, name in enumerate(inputs)),
        *(f"--output={name}={folder}/out{number}.npy" for number, name in enumerate(outputs)))
    for count in threads:
        run(*emulator, program, count, *(f"{folder}/in{i}.bin" for i in range(len(inputs))),
            *(f"{folder}/out{i}.bin" for i in range(len(outputs))))
        for number, name in enumerate(outputs):
            found, wanted = (pathlib.Path(folder) / f"out{number}.bin").read_bytes(), tensors.expected(f"out{number}")
            if isClose:
                close_tensors(found, wanted)
            assert isClose or found == wanted, f"{model}: {name} on {count} threads: {found[:72]} not {wanted[:72]}"
