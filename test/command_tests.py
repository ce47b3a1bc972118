"""What tests of the command line share: a module's functions without parameters are its tests."""

import inspect
import os
import pathlib
import subprocess

import standalone

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKAMAK = ROOT / "build" / os.environ.get("TOKAMAK_PRESET", "release") / "bin/tokamak"


def tokamak(*arguments, status=0, **environment):
    done = subprocess.run([TOKAMAK, *arguments], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stderr}"
    return done


def script(folder, text):
    path = f"{folder}/script.dml"
    pathlib.Path(path).write_text(text)
    return path


def tests_of(module):
    """{name: function that raises what is wrong}; `module` is the globals() of the caller."""
    tests = [f for f in module.values() if inspect.isfunction(f) and f.__module__ == module["__name__"]
             and f.__name__ != "discover" and not inspect.signature(f).parameters]
    return standalone.named("commands/", tests)
