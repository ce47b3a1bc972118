#!/usr/bin/env python3
"""Makes hdf5/*.h5, files of other programs for the tests of the format hdf5, with h5py 3.

usage: python3 test/scripts/files/data/make_hdf5.py     (in an environment with h5py and numpy)
"""

import pathlib

import h5py
import numpy

FOLDER = pathlib.Path(__file__).resolve().parent / "hdf5"
SIX = numpy.arange(1, 7).reshape(3, 2)


def make(name, datasets, **options):
    with h5py.File(FOLDER / name, "w", **options) as file:
        for path, (data, how) in datasets.items():
            file.create_dataset(path, data=data, **how)


def main():
    FOLDER.mkdir(exist_ok=True)
    make("one.h5", {"x": (SIX.astype("<f8"), {})})
    make("several.h5", {"x": (SIX.astype("<f4"), {}), "y": (SIX[:, 0].astype(">i2"), {}), "deep/z": (SIX.astype("u1") * 10, {}),
                        "number": (7.5, {}), "cube": (numpy.zeros((2, 3, 4)), {}), "words": (["a", "b"], {})})
    chunks = numpy.arange(2000, dtype="<i4").reshape(100, 20)
    make("chunks.h5", {"x": (chunks, {"chunks": (7, 6), "compression": "gzip", "shuffle": True})})
    make("latest.h5", {"x": (chunks, {"chunks": (7, 6), "maxshape": (None, None)})}, libver="latest")
    make("empty.h5", {"x": (numpy.zeros((0, 3)), {})})
    make("none.h5", {})


if __name__ == "__main__":
    main()
