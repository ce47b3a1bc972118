"""The kernels of the unit tests on another target: the tests run on this machine and record what they compile and launch
(src/codegen/testing/KernelCorpus.h); the kernels of the target are linked with test/target/Replay.cpp, without a C library, and
must give the same bits, under QEMU where this machine's processor can't run them.

./dev test --target NAME runs all of it, `./dev test` a sample for AArch64.
"""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import threading

import unit_programs

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass
class Target:
    triple: str
    emulator: list


TARGETS = {"aarch64": Target("aarch64-linux-gnu", ["qemu-aarch64"]),
           "x86-64": Target("x86_64-linux-gnu", []),  # AVX2, where this machine may have AVX-512
           "host": Target("x86_64-linux-gnu", [])}

# What `./dev test` runs: cells and functions of all types, rows, panels, entries.
SAMPLE = ("FloatKernelTest.EveryOperatorOnSpecialValues", "FloatKernelTest.RowsOfAllWidths",
          "IntegerKernelTest.AggregatesAreExact", "KernelCompilerTest.EveryOperatorOnSpecialValues",
          "KernelCompilerTest.RandomBodies", "KernelCompilerTest.Softmax", "LoopPassesTest.LayerNorm",
          "LoopPlacesTest.Gathers", "LoopProductsTest.AttentionOfAllTypes", "PanelKernelTest.NearestCentroids",
          "SparseKernelTest.RowProducts", "SparseKernelTest.SampledProducts", "VectorMathTest.functionsAreAsExactAsTheirTableSays",
          "VectorMathTest.Pow")



@dataclasses.dataclass
class Totals:
    """Of all launches that were replayed; parts add to them from several threads."""
    launches: int = 0
    nanoseconds: int = 0
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def add(self, report):
        with self.lock:
            self.launches += sum(int(count) for count in re.findall(r"^(?:passed|FAILED) \S+ (\d+)$", report, re.MULTILINE))
            self.nanoseconds += int(re.search(r"(\d+) ns in kernels", report)[1])

    def text(self):
        return f"{self.launches} launches, {self.nanoseconds / 1e9:.3f} s in kernels"


totals = Totals()

# So many programs record at once, each with a folder of its own.
PARTS = 4


def recording_suites():
    """The suites whose kernels the corpus gets: a suite is named as its file."""
    return {path.stem for path in (ROOT / "src/codegen").rglob("*Test.cpp")
            if re.search(r'CorpusCompiler compiler|"codegen/testing/(LoopKernel|KernelCompiler)Fixture.h"', path.read_text())}


def discover(programs, target, passes="", only=None):
    """{name: runner} for the tests of the corpus, or for those in `only`. `passes`: passes of LLVM to put back, `all` or one."""
    binary = programs / "tests/tokamak_codegen_tests"
    suites = recording_suites()
    tests = [name for name in unit_programs.names(binary) if name.split(".")[0] in suites]
    if only is not None:
        missing = set(only) - set(tests)
        if missing:
            raise RuntimeError("run_target.SAMPLE has tests that there are none of: " + " ".join(sorted(missing)))
        tests = [name for name in tests if name in only]
    runners = [lambda names, part=part: run(binary, target, passes, part, names) for part in range(PARTS)]
    return {f"targets/{target}/{test}": runners[number % PARTS] for number, test in enumerate(tests)}


def run(binary, target, passes, part, names):
    """Records the tests, replays their launches; yields (name, None or what is wrong)."""
    wanted = {name.split("/", 2)[2]: name for name in names}
    folder = ROOT / "build" / f"target-{target}" / str(part)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    recorded = dict(unit_programs.run(binary, wanted, {"TOKAMAK_KERNEL_CORPUS": str(folder), "TOKAMAK_KERNEL_TARGET": target,
                                                       "TOKAMAK_KERNEL_PASSES": passes}))
    verdicts, problem = replay(folder, TARGETS[target])
    failed = False
    for test, name in wanted.items():
        # Some tests look at what the compiler does and launch nothing. Those of the sample do.
        missing = "it recorded no launch" if test in SAMPLE else None
        wrong = recorded[test] or problem or verdicts.get(test, missing)
        failed = failed or wrong is not None
        yield name, wrong
    if not failed:
        shutil.rmtree(folder)


def replay(folder, target):
    """({test: None or what differs} for each test that recorded launches, None or why nothing ran)."""
    launches = folder / "launches"
    if not launches.exists() or launches.stat().st_size == 0:
        return {}, None  # none of these tests launches a kernel
    program = folder / "replay"
    linked = subprocess.run(["clang++-19", f"--target={target.triple}", "-std=c++20", "-O2", "-ffreestanding", "-fno-builtin",
                             "-fno-exceptions", "-fno-rtti", "-fno-stack-protector", "-nostdlib", "-static", "-fuse-ld=mold",
                             f"-I{ROOT}/src", f"-I{ROOT}/test/target", f"-I{folder}", ROOT / "test/target/Replay.cpp",
                             *sorted(folder.glob("*.o")), "-o", program], capture_output=True, text=True)
    if linked.returncode != 0:
        return {}, "the kernels don't link without a library\n" + linked.stderr
    if target.emulator and not shutil.which(target.emulator[0]):
        return {}, f"{target.emulator[0]} was not found; ./dev setup installs it"
    ran = subprocess.run([*target.emulator, program, launches], capture_output=True, text=True)
    verdicts, reasons = {}, []
    for line in ran.stdout.splitlines():
        if line.startswith(("FAILED ", "passed ")):
            verdicts[line.split()[1]] = "\n".join([*reasons, f"what it ran is in {folder}"]) if reasons else None
            reasons = []
        else:
            reasons.append(line)
    if ran.returncode != 0 or not ran.stdout.endswith("in kernels\n"):
        return verdicts, f"it ended with status {ran.returncode}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}"
    totals.add(ran.stdout)
    return verdicts, None
