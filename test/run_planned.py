#!/usr/bin/env python3
"""The border between compiler and runtime: a program that was planned ahead of time is linked with the runtime alone, runs
without LLVM and MLIR in the process, and gives the same bits as the run that compiled it.

usage: run_planned.py [FILTER]
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release")
COMPILER = "clang++-19"
# What the runtime links; sanitizers of the preset, if any, must be linked, too.
LIBRARIES = ["tools/libtokamak_planned_program.a", "libtokamak_runtime.a", "libtokamak_base.a"]
SYSTEM_LIBRARIES = ["-lz", "-ldl", "-lpthread", "-lm"]


def run(*command, status=0, **options):
    done = subprocess.run([str(c) for c in command], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          **options)
    assert done.returncode == status, f"{command[0]}: exit status {done.returncode}\n{done.stdout[-500:]}{done.stderr[-3000:]}"
    return done


def plan(folder, script, *arguments):
    """Runs the script, which leaves what it needs in folder/planned, and links that; gives the run."""
    done = run(BUILD / "bin/tokamak", "run", script, f"--emit-aot={folder}/planned", "--threads=1",
               f"--machine-model={ROOT}/test/machine-model.json", *arguments)
    planned = pathlib.Path(folder) / "planned"
    run("clang-19", "-c", "-I", ROOT / "src", planned / "kernels.c", "-o", planned / "kernels.o")
    run(COMPILER, "-o", f"{folder}/program", *sorted(planned.glob("*.o")), *(BUILD / name for name in LIBRARIES),
        *SYSTEM_LIBRARIES)
    shutil.copy(BUILD / "bin/libtokamak-parallel.so", folder)
    return done


def same_bits_without_a_compiler():
    with tempfile.TemporaryDirectory() as folder:
        compiled = plan(folder, "test/planned/l2svm.dml", "-nvargs", f"out={folder}")
        weights = pathlib.Path(folder) / "weights.csv"
        expected = weights.read_bytes()
        assert expected.count(b"\n") == 30 and "accuracy 0.9" in compiled.stdout, compiled.stdout
        for threads in (1, 2):
            weights.unlink()
            done = run(f"{folder}/program", f"{folder}/planned/program.image", threads)
            assert done.stdout == compiled.stdout, f"{threads} threads print\n{done.stdout}not\n{compiled.stdout}"
            assert weights.read_bytes() == expected, f"{threads} threads write other weights"


def operators_of_many_axes():
    for example in ("fused-attention", "convolution", "batched-product"):
        with tempfile.TemporaryDirectory() as folder:
            compiled = plan(folder, f"examples/{example}.mlir")
            done = run(f"{folder}/program", f"{folder}/planned/program.image", 2)
            assert done.stdout == compiled.stdout, f"{example} prints\n{done.stdout}not\n{compiled.stdout}"


def a_network_in_a_script():
    """The weights of the model that a script calls are in its image."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = plan(folder, "examples/digits-network.dml")
        done = run(f"{folder}/program", f"{folder}/planned/program.image", 2)
        assert done.stdout == compiled.stdout and "read correctly" in done.stdout, done.stdout


def no_symbol_of_the_compiler():
    with tempfile.TemporaryDirectory() as folder:
        plan(folder, "test/planned/l2svm.dml", "-nvargs", f"out={folder}")
        symbols = run("nm", "--demangle", f"{folder}/program").stdout
        assert "TokKernel" in symbols or "tokKernels" in symbols
        for word in ("llvm::", "mlir::", "LLVM", "MLIR", "tokamak::codegen", "tokamak::pipeline", "tokamak::exec"):
            lines = [line for line in symbols.split("\n") if word in line]
            assert not lines, f"{len(lines)} symbols have {word}: {lines[:3]}"
        libraries = run("ldd", f"{folder}/program").stdout + run("ldd", f"{folder}/libtokamak-parallel.so").stdout
        assert "LLVM" not in libraries and "MLIR" not in libraries, libraries


def damaged_images_and_other_inputs():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "script.dml"
        data = pathlib.Path(folder) / "data.csv"
        script.write_text('X = read($data, format="csv")\nprint(sum(exp(X * 2)))\n')
        data.write_text("1,2\n3,4\n")
        plan(folder, script, "-nvargs", f"data={data}")
        image = pathlib.Path(folder) / "planned/program.image"
        program = f"{folder}/program"
        run(program, image)
        data.write_text("1,2,3\n3,4,5\n")
        error = run(program, image, status=1).stderr
        assert "has no plan for these inputs: input 1 has size 2x3" in error, error
        contents = bytearray(image.read_bytes())
        contents[len(contents) // 2] ^= 1
        image.write_bytes(contents)
        assert "the file is damaged" in run(program, image, status=1).stderr
        image.write_bytes(contents[:100])
        assert "the file is damaged" in run(program, image, status=1).stderr
        image.write_text("no image")
        assert "not a compiled Tokamak program" in run(program, image, status=1).stderr


TESTS = [same_bits_without_a_compiler, operators_of_many_axes, a_network_in_a_script, no_symbol_of_the_compiler,
         damaged_images_and_other_inputs]


def discover():
    """{name: function that returns None or what is wrong}"""
    def outcome(test):
        try:
            test()
        except (AssertionError, subprocess.SubprocessError, OSError) as failure:
            return f"{type(failure).__name__}: {failure}"
        return None
    return {f"commands/planned/{t.__name__.replace('_', '-')}": lambda t=t: outcome(t) for t in TESTS}


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
