#!/usr/bin/env python3
"""Tests of the script ./dev: what it builds and installs, and when. It runs in a small tree of its own, with programs in
place of cmake, ninja and apt-get that only note how they were called.

usage: run_dev.py [FILTER]
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYSTEM_TOOLS = ["awk", "bash", "cat", "chmod", "cmp", "cp", "cut", "dirname", "env", "find", "flock", "grep", "head",
                "mkdir", "mv", "nproc", "printf", "rm", "sha1sum", "tee", "touch"]

# The program that this ninja builds prints its name and arguments.
NINJA = r"""#!/bin/bash
echo "ninja ${*: -1}" >>"$LOG"
echo "[0/1] Re-checking globbed directories..."
[[ ! -f $ROOT/broken ]] || { echo "FAILED: src/a.cpp.o"; exit 1; }
echo "[1/2] Building a.cpp"
mkdir -p "$2/bin"
printf '#!/bin/bash\necho "tokamak $*"\n' >"$2/bin/tokamak"
chmod +x "$2/bin/tokamak"
"""
CMAKE = r"""#!/bin/bash
echo "cmake $*" >>"$LOG"
mkdir -p "$ROOT/build/$2"
touch "$ROOT/build/$2/build.ninja"
"""
ALL_INSTALLED = r"""#!/bin/bash
for package in "$@"; do echo "installed $package"; done
"""
NOTHING_INSTALLED = "#!/bin/bash\n"
OFFLINE = r"""#!/bin/bash
echo "apt-get $*" >>"$LOG"
for i in {1..60}; do
  echo "Err:$i http://deb.debian.org/debian bookworm InRelease"
  echo "W: Failed to fetch http://deb.debian.org/debian/dists/bookworm/InRelease  Temporary failure resolving 'deb.debian.org'"
done
[[ $2 == update ]] || { echo "E: Unable to locate package clang-19"; exit 100; }
"""


class Tree:
    """A checkout with one source file."""

    def __init__(self, folder, **programs):
        self.root, self.log = pathlib.Path(folder), pathlib.Path(folder) / "log"
        self.root.chmod(0o755)
        for name in ("src/sub", "tools", "lib", "cmake", "test/fuzz/readers", "path"):
            (self.root / name).mkdir(parents=True)
        for name in ("src/sub/a.cpp", "CMakeLists.txt", "CMakePresets.json"):
            (self.root / name).write_text("first\n")
        shutil.copy(ROOT / "dev", self.root)
        for tool in SYSTEM_TOOLS:
            (self.root / "path" / tool).symlink_to(shutil.which(tool))
        for name, text in ({"ninja": NINJA, "cmake": CMAKE, "dpkg-query": ALL_INSTALLED} | programs).items():
            program = self.root / "path" / name
            program.write_text(text)
            program.chmod(0o755)

    def dev(self, *arguments, status=0, user=None):
        """What was printed on stderr, and the calls of the programs."""
        self.log.write_text("")
        self.log.chmod(0o666)
        environment = {"PATH": str(self.root / "path"), "ROOT": str(self.root), "LOG": str(self.log)}
        done = subprocess.run([self.root / "dev", *arguments], cwd=self.root, env=environment, user=user,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == status, f"exit status {done.returncode}\n{done.stderr}"
        assert done.stdout == ("tokamak run x.dml\n" if status == 0 and arguments[0] == "run" else ""), done.stdout
        return done.stderr, self.log.read_text().splitlines()


@contextlib.contextmanager
def tree(**programs):
    with tempfile.TemporaryDirectory() as folder:
        yield Tree(folder, **programs)


def first_run_builds_the_program_alone():
    with tree() as t:
        errors, calls = t.dev("run", "x.dml")
        assert calls == ["cmake --preset release", "ninja tokamak"], calls
        assert "building" in errors, errors


def run_up_to_date_is_silent():
    with tree() as t:
        t.dev("run", "x.dml")
        for _ in range(2):
            assert t.dev("run", "x.dml") == ("", []), "it started a program"


def run_sees_every_change():
    def older_file_in_place(root):
        (root / "old.cpp").write_text("older\n")
        os.utime(root / "old.cpp", (1e9, 1e9))
        shutil.copy2(root / "old.cpp", root / "src/sub/a.cpp")

    changes = {
        "an edited file": lambda root: (root / "src/sub/a.cpp").write_text("second\n"),
        "an older file in its place": older_file_in_place,
        "a new file": lambda root: (root / "src/sub/b.cpp").write_text(""),
        "a renamed file": lambda root: (root / "src/sub/b.cpp").rename(root / "src/sub/c.cpp"),
        "a removed file": lambda root: (root / "src/sub/c.cpp").unlink(),
        "a new folder": lambda root: (root / "tools/other").mkdir(),
        "CMakeLists.txt": lambda root: (root / "CMakeLists.txt").write_text("second\n"),
        "the program is gone": lambda root: (root / "build/release/bin/tokamak").unlink(),
        "the program is another": lambda root: (root / "build/release/bin/tokamak").write_text("#!/bin/bash\n"),
    }
    with tree() as t:
        t.dev("run", "x.dml")
        for change, make in changes.items():
            make(t.root)
            assert t.dev("run", "x.dml")[1] == ["ninja tokamak"], change
            assert t.dev("run", "x.dml") == ("", []), change


def changed_presets_are_configured():
    with tree() as t:
        t.dev("run", "x.dml")
        (t.root / "CMakePresets.json").write_text("second\n")
        assert t.dev("run", "x.dml")[1] == ["cmake --preset release", "ninja tokamak"]
        assert t.dev("run", "x.dml") == ("", [])


def failed_build_is_tried_again():
    with tree() as t:
        t.dev("run", "x.dml")
        (t.root / "broken").touch()
        (t.root / "src/sub/a.cpp").write_text("second\n")
        for _ in range(2):
            errors, calls = t.dev("run", "x.dml", status=1)
            assert calls == ["ninja tokamak"] and "FAILED: src/a.cpp.o" in errors, (errors, calls)
        (t.root / "broken").unlink()
        assert t.dev("run", "x.dml")[1] == ["ninja tokamak"]


def build_of_other_targets_is_another_build():
    with tree() as t:
        t.dev("run", "x.dml")
        assert t.dev("build", "tokamak-opt")[1] == ["ninja tokamak-opt"]
        assert t.dev("build", "tokamak-opt")[1] == []


def setup_without_root_prints_a_command():
    with tree(**{"dpkg-query": NOTHING_INSTALLED, "apt-get": OFFLINE}) as t:
        nobody = 65534 if os.geteuid() == 0 else None
        errors, calls = t.dev("setup", status=1, user=nobody)
        command = [line for line in errors.splitlines() if line.startswith("apt-get update && apt-get install -y ")]
        assert len(command) == 1 and "clang-19" in command[0] and "libmlir-19-dev" in command[0], errors
        assert calls == [], calls


def setup_without_network_is_one_summary():
    sudo = {"sudo": '#!/bin/bash\n[[ $1 == -* ]] || "$@"\n'}
    with tree(**{"dpkg-query": NOTHING_INSTALLED, "apt-get": OFFLINE} | sudo) as t:
        errors, calls = t.dev("setup", status=1)
        assert "the package servers can't be reached" in errors and "apt-get update && apt-get install" in errors, errors
        assert len(errors.splitlines()) < 10, errors
        assert len(calls) == 2 and "Err:60" in (t.root / "build/setup.log").read_text()


def version_is_that_of_the_newest_tag():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "cmake/Version.cmake"
        script.parent.mkdir()
        shutil.copy(ROOT / "cmake/Version.cmake", script)

        def version():
            return subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=True).stdout.strip()

        def git(*arguments):
            identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.com"]
            subprocess.run(["git", "-C", folder, *identity, *arguments], capture_output=True, check=True)
        without = version()
        assert without.count(".") == 2, without
        git("init")
        for tag, expected in (("v7.8.9", "7.8.9"), ("v7.10.0", "7.10.0"), ("later", "7.10.0"), ("v7.10.0-rc1", "7.10.0")):
            git("commit", "--allow-empty", "--message", tag)
            git("tag", tag)
            assert version() == expected, (tag, version())


def tests_that_raise_anything_fail_alone():
    def broken():
        return {}["missing"]

    def half(names):
        yield names[0], None
        broken()
    assert standalone.wrong_with(lambda: None) is None
    assert "KeyError: 'missing'" in standalone.wrong_with(broken), standalone.wrong_with(broken)
    (first, passed), (second, wrong), (third, _) = standalone.said_by(half, ["a", "b", "c"])
    assert (first, passed, second, third) == ("a", None, "b", "c")
    assert "KeyError: 'missing'" in wrong and "run_dev.py" in wrong, wrong
    assert standalone.said_by(lambda names: [], ["a"]) == [("a", "nothing was said about it")]


TESTS = [first_run_builds_the_program_alone, run_up_to_date_is_silent, run_sees_every_change, changed_presets_are_configured,
         failed_build_is_tried_again, build_of_other_targets_is_another_build, setup_without_root_prints_a_command,
         setup_without_network_is_one_summary, version_is_that_of_the_newest_tag, tests_that_raise_anything_fail_alone]


def discover():
    """{name: function that raises what is wrong}"""
    return standalone.named("commands/dev-", TESTS)


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
