#!/usr/bin/env python3
"""Makes the wheel of the Python package in build/packages, of a release build.

What it is built with (versions stand here) is installed from PyPI in build/python-venv, where the tests of the package run,
too. The tag names the oldest C library that it runs with, which is checked.

usage: make_wheel.py [--install]     --install also installs it in build/python-venv, with what its tests need
Ends with status 3 if PyPI can't be reached.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
VENV = ROOT / "build/python-venv"
PREFIX = ROOT / "build/installed"
PACKAGES = ROOT / "build/packages"
BUILT_WITH = ["nanobind==3.1.0", "scikit-build-core==1.1.2", "numpy==2.4.6", "wheel==0.48.0"]
TESTED_WITH = ["numpy==2.4.6", "scipy==1.17.1", "pandas==3.1.1", "pyarrow==26.0.1",
               "scikit-learn==1.9.1", "hypothesis==6.170.17", "array-api-strict==2.6.1", "array-api-compat==1.16.0",
               "array-api-extra==0.11.5"]
C_LIBRARY = "2.36"  # Debian 12's
MOST_BYTES = 60 << 20


UNREACHABLE = 3  # exit status


class Unreachable(Exception):
    """PyPI, where what the package is built with comes from."""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"make_wheel.py: {' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def pip_install(requirements):
    """Does nothing where they are there."""
    marker = VENV / "installed"
    there = marker.read_text().split() if marker.exists() else []
    wanted = [each for each in requirements if each not in there]
    if not wanted:
        return
    if not (VENV / "bin/pip").exists():
        run(sys.executable, "-m", "venv", VENV)
    done = subprocess.run([VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *wanted], capture_output=True, text=True)
    if done.returncode:
        raise Unreachable(done.stderr[-2000:])
    marker.write_text(" ".join(there + wanted))


def check_c_library(wheel):
    """No library of the wheel needs a newer one than the tag says."""
    unpacked = ROOT / "build/python-checked"
    shutil.rmtree(unpacked, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        libraries = [name for name in archive.namelist() if ".so" in name]
        archive.extractall(unpacked, libraries)
    for name in libraries:
        for version in re.findall(r"GLIBC_(2\.\d+)", run("objdump", "-T", unpacked / name)):
            if int(version.split(".")[1]) > int(C_LIBRARY.split(".")[1]):
                sys.exit(f"make_wheel.py: {name} needs version {version} of the C library, the tag says {C_LIBRARY}")
    shutil.rmtree(unpacked)


def install_release():
    """The release in a folder of its own, as packages have it."""
    shutil.rmtree(PREFIX, ignore_errors=True)
    run("cmake", "--install", BUILD, "--prefix", PREFIX, "--strip")
    return PREFIX


def make(prefix):
    """The wheel of the release that is installed there, its path. Throws Unreachable."""
    pip_install(BUILT_WITH)
    version = run("cmake", "-P", ROOT / "cmake/Version.cmake")
    (ROOT / "build/version.txt").write_text(version)  # pyproject.toml reads it
    made = ROOT / "build/python-wheels"
    shutil.rmtree(made, ignore_errors=True)
    environment = {"PATH": f"{VENV / 'bin'}:/usr/bin:/bin", "CC": "clang-19", "CXX": "clang++-19", "CMAKE_PREFIX_PATH": str(prefix)}
    run(VENV / "bin/pip", "wheel", "--no-build-isolation", "--no-deps", "--disable-pip-version-check", "--wheel-dir", made,
        "--config-settings", f"build-dir={ROOT / 'build/python-extension'}", ROOT / "python", env=environment)
    (plain,) = made.glob("*.whl")
    tag = f"manylinux_{C_LIBRARY.replace('.', '_')}_x86_64"
    run(VENV / "bin/python", "-m", "wheel", "tags", "--platform-tag", tag, "--remove", plain)
    (wheel,) = made.glob("*.whl")
    check_c_library(wheel)
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"make_wheel.py: {wheel.name} has {wheel.stat().st_size >> 20} MB")
    PACKAGES.mkdir(parents=True, exist_ok=True)
    for old in PACKAGES.glob("*.whl"):
        old.unlink()
    return pathlib.Path(shutil.copy(wheel, PACKAGES))


def install(wheel):
    pip_install(TESTED_WITH)
    run(VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheel)


def main():
    try:
        wheel = make(install_release())
        if "--install" in sys.argv[1:]:
            install(wheel)
    except Unreachable as error:
        print(f"make_wheel.py: no wheel was made: what it is built with can't be fetched from PyPI\n{error}", file=sys.stderr)
        sys.exit(UNREACHABLE)
    print(wheel.relative_to(ROOT))


if __name__ == "__main__":
    main()
