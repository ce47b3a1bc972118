"""The pandas and Polars peers of the builtins over columns: `data_frame_peer.py LIBRARY PROGRAM name=value ...`."""

import sys

import process
from columns import over_columns


class Pandas:
    def __init__(self):
        import pandas
        self.frame = pandas.DataFrame

    programs = {
        "builtin-order": (lambda F: F["a"].sort_values(), lambda y: y.iloc[0] + y.iloc[len(y) // 2 - 1]),
        "builtin-order-index": (lambda F: F["a"].argsort(), lambda y: float((y + 1).sum())),
        "builtin-table": (lambda F: F.groupby("a").size(), lambda y: float(y @ y.index)),
        "builtin-table-pairs": (lambda F: F.groupby(["a", "b"]).size(), lambda y: float(y @ y.index.get_level_values(0))),
        "builtin-aggregate": (lambda F: F.groupby("a")["b"].mean(), lambda y: float(y @ y.index)),
        "builtin-transformencode": (lambda F: F["a"].factorize(sort=True)[0], lambda codes: codes.max() + 1.0),
        "builtin-quantile": (lambda F: F["a"].quantile(0.3, interpolation="lower"), float),
        "builtin-remove-empty": (lambda F: F["a"][F["a"] != 0], lambda y: float(y.sum())),
        "builtin-cumsum": (lambda F: F["a"].cumsum(), lambda y: y.iloc[-1]),
    }


class Polars:
    def __init__(self):
        import polars
        self.frame = polars.DataFrame

    programs = {
        "builtin-order": (lambda F: F["a"].sort(), lambda y: y[0] + y[len(y) // 2 - 1]),
        "builtin-order-index": (lambda F: F["a"].arg_sort(), lambda y: float((y.cast(float) + 1).sum())),
        "builtin-table": (lambda F: F.group_by("a").len(), lambda y: float(y["len"].cast(float) @ y["a"])),
        "builtin-table-pairs": (lambda F: F.group_by("a", "b").len(), lambda y: float(y["len"].cast(float) @ y["a"])),
        "builtin-aggregate": (lambda F: F.group_by("a").mean(), lambda y: float(y["a"] @ y["b"])),
        "builtin-transformencode": (lambda F: F["a"].rank("dense"), lambda codes: float(codes.max())),
        "builtin-quantile": (lambda F: F["a"].quantile(0.3, interpolation="lower"), float),
        "builtin-remove-empty": (lambda F: F["a"].filter(F["a"] != 0), lambda y: float(y.sum())),
        "builtin-cumsum": (lambda F: F["a"].cum_sum(), lambda y: y[-1]),
    }


class Library:
    compiles = False

    def __init__(self, library):
        self.library = library

    def ready(self, values):
        return values

    def problem(self, program, sizes):
        return over_columns(program, sizes, *self.library.programs[program],
                            lambda columns: [self.library.frame(dict(zip("ab", (c.copy() for c in columns))))])


if __name__ == "__main__":
    chosen = {"pandas": Pandas, "polars": Polars}[sys.argv.pop(1)]()
    process.main(Library(chosen))
