"""Programs in C and in Python that call Tokamak, built against an installed release as their authors would.

C and C++: each of examples/c and examples/cpp prints what test/examples has, built with pkg-config and with CMake. Python: the tests of
python/tests, with the wheel installed in build/python-venv. What the documents show of all that is run by run_documents.py."""

import ast
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
import make_wheel

TESTS = ROOT / "python/tests"
EXAMPLES = {".c": ROOT / "examples/c", ".cpp": ROOT / "examples/cpp"}
COMPILERS = {".c": ["clang-19", "-std=c99"], ".cpp": ["clang++-19", "-std=c++17"]}
TIMEOUT = 300  # seconds
_lock = threading.Lock()
_prepared = {}


def once(name, action):
    """The action's result; it runs once, whoever asks first."""
    with _lock:
        if name not in _prepared:
            _prepared[name] = action()
        return _prepared[name]


def ran(*command, **options):
    options = {"capture_output": True, "text": True, "timeout": TIMEOUT, "stdin": subprocess.DEVNULL} | options
    try:
        return subprocess.run([str(word) for word in command], **options)
    except subprocess.TimeoutExpired as error:
        output = [text.decode(errors="replace") if isinstance(text, bytes) else text or "" for text in (error.stdout, error.stderr)]
        return subprocess.CompletedProcess(command, 124, output[0], f"{output[1]}\nit took longer than {TIMEOUT} s")


def environment(folder):
    return os.environ | {"XDG_CACHE_HOME": folder, "PYTHONDONTWRITEBYTECODE": "1"}


#===- C --------------------------------------------------------------------------------------------------------------===

def prefix():
    return once("prefix", make_wheel.install_release)


def difference(path, done):
    expected = (ROOT / "test" / path.parent.relative_to(ROOT) / f"{path.stem}.out").read_text()
    if done.returncode == 0 and done.stdout == expected and not done.stderr:
        return None
    return f"exit status {done.returncode}\n{done.stdout}{done.stderr}\nexpected:\n{expected}"


def built_by_pkg_config(path):
    place = prefix()
    with tempfile.TemporaryDirectory() as folder:
        flags = ran("pkg-config", "--cflags", "--libs", "tokamak", env=os.environ | {"PKG_CONFIG_PATH": str(place / "lib/pkgconfig")})
        if flags.returncode:
            return flags.stderr
        program = f"{folder}/{path.stem}"
        done = ran(*COMPILERS[path.suffix], "-pedantic-errors", "-Wall", "-Wextra", "-Werror", path, "-o", program, *flags.stdout.split(),
                   f"-Wl,-rpath,{place}/lib", "-lm")
        return done.stderr if done.returncode else difference(path, ran(program, cwd=path.parent, env=environment(folder)))


def built_by_cmake(suffix):
    examples = EXAMPLES[suffix]
    with tempfile.TemporaryDirectory() as folder:
        for command in (("cmake", "-S", examples, "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix()}",
                         "-DCMAKE_C_COMPILER=clang-19", "-DCMAKE_CXX_COMPILER=clang++-19"), ("ninja", "-C", folder)):
            done = ran(*command)
            if done.returncode:
                return done.stdout + done.stderr
        wrong = (difference(path, ran(f"{folder}/{path.stem}", cwd=examples, env=environment(folder)))
                 for path in sorted(examples.glob(f"*{suffix}")))
        return next(filter(None, wrong), None)


#===- Python ---------------------------------------------------------------------------------------------------------===

def interpreter():
    """Where the wheel of this build is installed. Throws make_wheel.Unreachable."""
    place = prefix()

    def install():
        try:
            make_wheel.install(make_wheel.make(place))
        except make_wheel.Unreachable as error:
            return error
        return make_wheel.VENV / "bin/python"
    found = once("wheel", install)
    if isinstance(found, make_wheel.Unreachable):
        raise found
    return found


RUNNER = """
import faulthandler, json, sys, unittest
faulthandler.dump_traceback_later(240, exit=True)  # says where it hangs
sys.path.insert(0, sys.argv[1])
class Result(unittest.TestResult):
    def report(self, test, wrong):
        print("@" + json.dumps([test.id(), wrong]), flush=True)
    def addSuccess(self, test): self.report(test, None)
    def addFailure(self, test, error): self.report(test, self._exc_info_to_string(error, test))
    addError = addFailure
    def addSubTest(self, test, part, error):
        if error: self.report(test, self._exc_info_to_string(error, test))
unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:]).run(Result())
"""


def methods(path):
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name.startswith("test_"):
                    yield f"{path.stem}.{node.name}.{method.name}"


def run_methods(names):
    """All of one file in one process."""
    wanted = {name.removeprefix("interfaces/python/"): name for name in names}
    with tempfile.TemporaryDirectory() as folder:
        done = ran(interpreter(), "-X", "faulthandler", "-c", RUNNER, TESTS, *wanted, cwd=folder, env=environment(folder))
    results = {}
    for line in done.stdout.splitlines():
        if line.startswith("@"):
            test, wrong = json.loads(line[1:])
            results[test] = results.get(test) or wrong
    for test, name in wanted.items():
        yield name, results[test] if test in results else f"it did not run\n{done.stdout[-2000:]}{done.stderr[-4000:]}"


def discover():
    def alone(run):
        return lambda names: [(name, run()) for name in names]

    tests = {f"interfaces/{suffix[1:]}/{path.stem}": alone(lambda path=path: built_by_pkg_config(path))
             for suffix, examples in EXAMPLES.items() for path in sorted(examples.glob(f"*{suffix}"))}
    tests |= {f"interfaces/{suffix[1:]}/cmake": alone(lambda suffix=suffix: built_by_cmake(suffix)) for suffix in EXAMPLES}
    if not (make_wheel.VENV / "installed").exists():
        try:
            make_wheel.pip_install(make_wheel.BUILT_WITH)
        except make_wheel.Unreachable as error:
            print(f"SKIPPED interfaces/python: PyPI can't be reached, where what they need comes from\n{error}", file=sys.stderr)
            return tests
    for path in sorted(TESTS.glob("test_*.py")):
        def runner(names):
            yield from run_methods(names)
        tests |= {f"interfaces/python/{name}": runner for name in methods(path)}
    return tests
