#!/usr/bin/env python3
"""Tests of files, pipes and output that the program reads and writes: when there is no room, and when it is killed.

usage: run_files.py [FILTER]
"""

import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import command_tests
import standalone
from command_tests import TOKAMAK, script, tokamak


def output_that_is_lost():
    with tempfile.TemporaryDirectory() as folder:
        little = script(folder, "print(1)")
        much = f"{folder}/much.dml"
        pathlib.Path(much).write_text("for (i in 1:100000) {\n  print(i)\n}\n")
        for command, path, message in (
                ("exec >/dev/full", little, "what was printed is lost"), ("exec >&-", little, "what was printed is lost"),
                ("exec >/dev/full", much, "much.dml:2:3: error: print: the output can't be written"),
                (f"ulimit -f 1; exec >{folder}/out", much, "much.dml:2:3: error: print: the output can't be written")):
            done = subprocess.run(["bash", "-c", f'{command}; exec "$0" run "$1"', TOKAMAK, path],
                                  stderr=subprocess.PIPE, text=True)
            assert done.returncode == 1 and message in done.stderr, (command, done)
        done = subprocess.run(["bash", "-c", 'exec "$0" doctor >/dev/full', TOKAMAK], stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and "what was printed is lost" in done.stderr, done


def closed_output_is_no_file():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, f'write(matrix(1, rows=1, cols=1), "{folder}/x.csv", format="csv")\nprint("text")\n')
        subprocess.run(["bash", "-c", 'exec "$0" run "$1" >&-', TOKAMAK, path], stderr=subprocess.PIPE)
        assert pathlib.Path(f"{folder}/x.csv").read_text() == "1.0\n"


def files_larger_than_the_limit():
    for kind in ("csv", "binary", "npy", "hdf5"):
        with tempfile.TemporaryDirectory() as folder:
            path = script(folder, f'print("begin")\nwrite(matrix(1, rows=9999, cols=1), "{folder}/x", format="{kind}")\n')
            done = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$0" run "$1"', TOKAMAK, path], capture_output=True,
                                  text=True)
            assert done.returncode == 1 and "script.dml:2:1: error" in done.stderr, done
            assert ("libhdf5 failed" if kind == "hdf5" else "ulimit -f") in done.stderr, done
            assert os.listdir(folder) == ["script.dml"]


def compiled_functions_larger_than_the_limit():
    """Also what a shared library is linked of, in the folder of temporary files; the linker here would not notice."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
        path = script(folder, "f = function(matrix[double] X) return (double s) { s = sum(X^2) }\n")
        for output in ("libf.a", "libf.so", "f/"):
            done = subprocess.run(["bash", "-c", 'ulimit -f 8; exec "$0" compile "$1" --entry f -o "$2"', TOKAMAK, path, f"{folder}/{output}"],
                                  capture_output=True, text=True, env=os.environ | {"CC": "true", "TMPDIR": temporary})
            assert done.returncode == 2 and "ulimit -f" in done.stderr, (output, done)
            assert os.listdir(folder) == ["script.dml"] and not os.listdir(temporary), output


def writer_that_is_killed():
    """Whenever a writer is killed, readers find the old file or the new one, and folders hold nothing else to read."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/parts"
        path = script(folder, f"""
i = 0
while (i < 1e9) {{
  write(matrix(1, rows=1 + i %% 2, cols=3000), "{out}/x.csv", format="csv")
  i = i + 1
}}
""")
        reader = f"{folder}/reader.dml"
        pathlib.Path(reader).write_text(f"""
X = read("{out}/x.csv")
Y = read("{out}", format="csv")
print(nrow(X) == nrow(Y) & sum(X) == sum(Y))
write(matrix(1, rows=1, cols=1), "{out}/x.csv", format="csv")
""")
        for trial in range(4):
            process = subprocess.Popen([TOKAMAK, "run", path], stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while not os.path.exists(f"{out}/x.csv.mtd") and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.03 + 0.007 * trial)
            process.kill()
            process.wait()
            assert tokamak("run", reader).stdout == "TRUE\n"
            assert sorted(os.listdir(out)) == ["x.csv", "x.csv.mtd"], "the next writer removes what is left"
            shutil.rmtree(out)


# Says on stderr what is synchronised with the disk and what is renamed, in order.
SYNC_OBSERVER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int fsync(int file) {
  struct stat status;
  fstat(file, &status);
  dprintf(2, "sync %s\n", S_ISDIR(status.st_mode) ? "folder" : "file");
  return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
int rename(const char *from, const char *to) {
  dprintf(2, "rename to %s\n", to);
  return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename"))(from, to);
}
"""


def written_files_are_on_the_disk_before_they_have_their_name():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["clang-19", "-shared", "-fPIC", "-x", "c", "-", "-o", f"{folder}/observer.so"], input=SYNC_OBSERVER,
                       text=True, check=True)
        path = script(folder, f'write(matrix(1, rows=1, cols=1), "{folder}/x.csv", format="csv")\n')
        done = subprocess.run([TOKAMAK, "run", path], env={**os.environ, "LD_PRELOAD": f"{folder}/observer.so"},
                              capture_output=True, text=True, check=True)
        data, metadata = f"rename to {folder}/x.csv", f"rename to {folder}/x.csv.mtd"
        assert done.stderr.splitlines() == ["sync file", "sync file", "sync folder", data, metadata, "sync folder"], done.stderr


def data_from_pipes():
    with tempfile.TemporaryDirectory() as folder:
        path = script(folder, 'X = read($f, format="csv")\nwrite(2 * X, $g, format="csv")\n')
        done = subprocess.run(["bash", "-c", 'printf "1,2\\n3,4\\n" | "$0" run "$1" -nvargs f=/dev/stdin g=/dev/stdout | cat',
                               TOKAMAK, path], capture_output=True, text=True)
        assert done.stdout == "2.0,4.0\n6.0,8.0\n" and not done.stderr, done


def long_line_in_little_memory():
    with tempfile.TemporaryDirectory() as folder:
        with gzip.open(f"{folder}/x.csv.gz", "wb", compresslevel=1) as file:
            for _ in range(90):
                file.write(b"0," * 500000)
        path = script(folder, f'print("begin")\nprint(sum(read("{folder}/x.csv.gz", format="csv")))\n')
        done = subprocess.run(["bash", "-c", 'ulimit -v 4000000; exec "$0" run "$1" --memory=50M', TOKAMAK, path],
                              capture_output=True, text=True)
        assert done.returncode == 1 and "script.dml:2:11: error" in done.stderr, done
        assert "would pass the budget of 50.0 MiB" in done.stderr, done


def discover():
    return command_tests.tests_of(globals())


if __name__ == "__main__":
    sys.exit(standalone.main(discover()))
