#!/usr/bin/env python3
"""Tries the packages of ./dev package in a Debian 12 and in an Ubuntu 24.04 that have nothing else but Python and NumPy: no
compiler, no library of ours.

debootstrap makes each system in build/roots once. Needs root. Ends with `N passed, M failed`.

usage: package.py [--here | SYSTEM...]
  SYSTEM   bookworm or noble; both if none is named
  --here   tries the folder alone, unpacked elsewhere on this system, whose libraries it must not need
"""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "build/packages"
ROOTS = ROOT / "build/roots"
SYSTEM = ROOTS / "tried"  # a copy of the one that is tried
# By its name in the archive: what people call it, its Python, and debootstrap's arguments. Debian has no key of Ubuntu's archive, and
# its debootstrap no script for this release, which is made as those before it.
SYSTEMS = {"bookworm": ("Debian 12", "cp311", ["--include=python3-numpy", "bookworm"], []),
           "noble": ("Ubuntu 24.04", "cp312", ["--include=python3-numpy", "--components=main,universe", "--no-check-gpg", "noble"],
                     ["http://archive.ubuntu.com/ubuntu", "/usr/share/debootstrap/scripts/jammy"])}
SOLVE = """A = matrix("4 1 0 1 3 1 0 1 2", rows=3, cols=3)
[values, vectors] = eigen(A)
print(toString(t(values), decimal=4))
print(toString(t(solve(A, matrix("1 2 3", rows=3, cols=1))), decimal=4))
X = rand(rows=300000, cols=20, seed=7)
print(sum((t(X) %*% X) > 0))
sorted = order(target=X[, 1], by=1)
print(as.scalar(sorted[1, 1]) >= 0)
"""
SOLVED = ("1.2679 3.0000 4.7321", "0.2222 0.1111 1.4444", "400.0", "TRUE")
C_LIBRARY = re.compile(r"/(libc|libm|libdl|librt|libpthread|ld-linux\S*)\.so")
PRODUCT = """X = rand(rows=300000, cols=20, seed=7)
print(sum((t(X) %*% X) > 0))
print(sum(X > 2))
"""
CALLS = """import numpy as np
import tokamak as tk
solve = tk.compile("f = function(matrix[double] A, matrix[double] b) return (matrix[double] x) { x = solve(A, b) }").f
print(solve(np.array([[4.0, 1], [1, 3]]), np.array([1.0, 2])).round(4).ravel())
centres, labels = tk.library.kmeans(np.array([[1.0, 1], [1, 2], [9, 9], [9, 8]]), k=2, seed=7)
print(labels[0] == labels[1], labels[0] == labels[2])
"""
# What the system itself writes when a package comes and goes.
NOT_OURS = ("var/lib/dpkg", "var/log", "var/cache", "tmp", "proc", "dev", "root", "etc/ld.so.cache", "usr/share/info", "run")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def make_system(name):
    called, _, options, source = SYSTEMS[name]
    base = ROOTS / f"{name}-numpy"
    if not (base / "complete").exists():
        print(f"making {called} by debootstrap (some minutes)", file=sys.stderr, flush=True)
        shutil.rmtree(base, ignore_errors=True)
        base.parent.mkdir(parents=True, exist_ok=True)
        done = run("debootstrap", "--variant=minbase", *options, base, *source)
        if done.returncode:
            sys.exit(f"debootstrap failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        (base / "complete").touch()
    shutil.rmtree(SYSTEM, ignore_errors=True)
    run("cp", "-a", base, SYSTEM, check=True)


@contextlib.contextmanager
def mounted():
    """/proc, where a program finds out where it lies itself."""
    run("mount", "--bind", "/proc", SYSTEM / "proc", check=True)
    try:
        yield
    finally:
        run("umount", SYSTEM / "proc", check=True)


def inside(*command, folder="/"):
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C"}
    return run("chroot", SYSTEM, "sh", "-c", f"cd {folder} && exec \"$@\"", "sh", *command, env=environment)


def files():
    found = set()
    for folder, folders, names in os.walk(SYSTEM):
        place = os.path.relpath(folder, SYSTEM)
        folders[:] = [f for f in folders if os.path.normpath(os.path.join(place, f)) not in NOT_OURS]
        found |= {os.path.normpath(os.path.join(place, name)) for name in [*names, *folders]}
    return {name for name in found if name not in NOT_OURS}


def expect(name, done, *texts):
    output = done.stdout + done.stderr
    missing = [text for text in texts if text not in output]
    if done.returncode == 0 and not missing:
        return True
    print(f"FAILED {name}: exit status {done.returncode}, missing {missing}\n{output[-3000:]}")
    return False


def runs(program, documents):
    """Each of them: whether it holds."""
    (SYSTEM / "tmp/solve.dml").write_text(SOLVE)
    yield expect("version", inside(program, "--version"), "0.")
    yield expect("an example", inside(program, "run", "examples/breast-cancer-svm.dml", folder=documents), "accuracy")
    for threads in (1, 2):
        yield expect(f"solve and eigen, {threads} threads", inside(program, "run", "/tmp/solve.dml", f"--threads={threads}"), *SOLVED)
    yield expect("doctor", inside(program, "doctor"), "OpenBLAS")
    yield expect("a model", inside(program, "run", "examples/digits-network.dml", folder=documents))


def wheel(python):
    """That the wheel works, unpacked, for the Python that the system has."""
    wheels = list(PACKAGES.glob(f"*-{python}-*.whl"))
    if not wheels:
        print(f"no wheel for {python} was made: it is not tried", file=sys.stderr)
        return
    shutil.copy(wheels[0], SYSTEM / "tmp/tokamak.zip")
    (SYSTEM / "tmp/calls.py").write_text(CALLS)
    yield expect("unpacking the wheel", inside("python3", "-m", "zipfile", "-e", "/tmp/tokamak.zip", "/tmp/site"))
    yield expect("the wheel", inside("env", "PYTHONPATH=/tmp/site", "python3", "-W", "error", "/tmp/calls.py"),
                 "[0.0909 0.6364]", "[ True] [False]")


def tried(python):
    (archive,), (package,) = PACKAGES.glob("*.tar.zst"), PACKAGES.glob("*.deb")
    before = files()
    yield from wheel(python)
    run("tar", "--zstd", "-xf", archive, "-C", SYSTEM / "tmp", check=True)
    folder = f"/tmp/{archive.name.removesuffix('.tar.zst')}"
    yield from runs(f"{folder}/bin/tokamak", f"{folder}/share/doc/tokamak")
    # Without what comes along it says so, and goes on with one thread.
    shutil.rmtree(f"{SYSTEM}{folder}/lib")
    (SYSTEM / "tmp/product.dml").write_text(PRODUCT)
    alone = inside(f"{folder}/bin/tokamak", "run", "/tmp/product.dml", "--threads=2")
    yield expect("without its libraries", alone, "400.0", "one thread")
    refused = inside(f"{folder}/bin/tokamak", "run", "/tmp/solve.dml")
    refused.returncode = int(refused.returncode != 1)
    yield expect("decompositions without OpenBLAS", refused, "the library OpenBLAS, which does it, was not found")
    shutil.copy(package, SYSTEM / "tmp")
    yield expect("installing", inside("dpkg", "--install", f"/tmp/{package.name}"))
    yield from runs("tokamak", "/usr/share/doc/tokamak")
    yield expect("removing", inside("dpkg", "--remove", "tokamak"))
    left = files() - before
    print(f"FAILED removing leaves {sorted(left)[:10]}" if left else "", end="")
    yield not left


def here():
    """The folder on this system: that it runs, and what it loads."""
    (archive,) = PACKAGES.glob("*.tar.zst")
    with tempfile.TemporaryDirectory() as place:
        run("tar", "--zstd", "-xf", archive, "-C", place, check=True)
        (folder,) = pathlib.Path(place).iterdir()
        script = pathlib.Path(place) / "solve.dml"
        script.write_text(SOLVE)
        loaded = run(folder / "bin/tokamak", "run", script, "--threads=2", env={"LD_DEBUG": "files", "HOME": place})
        yield expect("solve and eigen", loaded, *SOLVED)
        initialised = set(re.findall(r"calling init: (\S+)", loaded.stderr))
        others = {name for name in initialised if not name.startswith(place) and not C_LIBRARY.search(name)}
        print(f"FAILED it loads {sorted(others)}\n" if others else "", end="")
        yield not others and len(initialised) > 5
        yield expect("a model", run(folder / "bin/tokamak", "run", "examples/digits-network.dml", cwd=folder / "share/doc/tokamak"))


def report(results):
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


def main():
    if sys.argv[1:] == ["--here"]:
        return report(list(here()))
    if os.geteuid():
        sys.exit("package.py: making a system and changing to it needs root")
    results = []
    for name in sys.argv[1:] or SYSTEMS:
        make_system(name)
        with mounted():
            found = list(tried(SYSTEMS[name][1]))
        print(f"{SYSTEMS[name][0]}: {sum(found)} of {len(found)}")
        results += found
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
