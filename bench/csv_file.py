"""A large csv file for the benchmark of readers, in the folder for temporary files; it goes when the benchmark is over."""

import contextlib
import os
import pathlib
import random
import tempfile

COLUMNS = 20
BLOCK_ROWS = 40_000  # about 16 MB of text, which the file repeats


def block():
    """Rows of normally distributed numbers, with all their digits."""
    draw = random.Random(1).gauss
    return "".join(",".join(repr(draw(0, 1)) for _ in range(COLUMNS)) + "\n" for _ in range(BLOCK_ROWS)).encode()


@contextlib.contextmanager
def csv_file(megabytes):
    """(path, number of rows) of a file of at least so many megabytes, in the page cache."""
    text = block()
    repetitions = -(-megabytes * 1_000_000 // len(text))
    handle, name = tempfile.mkstemp(prefix="tokamak-bench-", suffix=".csv")
    path = pathlib.Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            for _ in range(repetitions):
                file.write(text)
        yield path, repetitions * BLOCK_ROWS
    finally:
        path.unlink()
