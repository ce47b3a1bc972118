"""The rows of the benchmark's table: what is computed, how large, beside whom, and which ratios are asked for.

A row is a program of bench/programs; peers compute the same under the program's name (HandWritten.cpp, peers/problems.py).
A ratio is a peer's time divided by Tokamak's. Bounds are smallest ratios.
"""

import dataclasses
import math

# Peers that are compared with together: the fastest of them counts.
GROUPS = {
    "best other": ("NumPy", "scikit-learn", "JAX", "torch.compile"),
    "best of all": ("NumPy", "JAX", "torch.compile", "numba"),
    "best SystemDS": ("SystemDS", "SystemDS codegen"),
}
SYSTEMDS = GROUPS["best SystemDS"]
ARRAYS = ("NumPy", "JAX", "numba", "torch.compile")  # peers in Python that have every kernel
CELL_BYTES = {"f64": 8, "f32": 4}


@dataclasses.dataclass
class Row:
    name: str
    program: str
    rows: int
    columns: int
    bounds: dict                # {peer or group: smallest ratio}
    parameters: dict = dataclasses.field(default_factory=dict)  # what else the program is given, as name=value
    peers: tuple = ("C++", *ARRAYS, *SYSTEMDS)
    element: str = "f64"
    repetitions: int = 7        # timed in one process
    rounds: int = 5             # processes of each peer, in turns
    tolerance: float = 1e-9     # relative difference of results
    elsewhere: tuple = ()       # peers that end elsewhere, whose results are not compared
    arrays: int = 0             # how many arrays of rows x columns a repetition must read
    flops: float = 0            # of products, which a repetition can't avoid
    gathers: float = 0          # cells that are read one by one where another array says
    # Instead of what a process times itself, the time of the whole process, with Tokamak's cache "cold" (nothing was compiled
    # before), "warm" or "off" (it compiles all of its kernels).
    process: str = ""

    def arguments(self):
        """What the program is given."""
        given = {"rows": self.rows, "cols": self.columns, "reps": self.repetitions} | self.parameters
        return [f"{name}={value}" for name, value in given.items()]

    def least_bytes(self):
        return self.arrays * self.rows * self.columns * CELL_BYTES[self.element]

    def smaller(self, factor):
        if self.program in ("builtin-product", "builtin-sparse-sum", "builtin-sparse-product"):  # of square matrices
            factor = math.isqrt(factor)
            return dataclasses.replace(self, rows=self.rows // factor, columns=self.columns // factor, flops=self.flops / factor**3)
        return dataclasses.replace(self, rows=max(self.rows // factor, 1), flops=self.flops / factor,
                                   gathers=self.gathers / factor)


def short(number):
    return f"{number // 1_000_000}M" if number >= 1_000_000 else f"{number // 1000}K"


def sized(program, rows, columns, bounds, **more):
    return Row(f"{program}-{short(rows)}x{columns}", program, rows, columns, bounds | {"best SystemDS": 4}, **more)


def single(row):
    """The twin in single precision of a row that is bound by memory.

    Its cells are rounded on the way (peers/inputs.py), so that the program in double precision ends elsewhere. Peers that add
    more than 2^24 cells in single precision lose up to 4 %.
    """
    return dataclasses.replace(row, name=row.name + "-f32", element="f32", tolerance=5e-2 if row.rows > 1 << 24 else 1e-3,
                               peers=("C++", *ARRAYS, "Tokamak f64"), elsewhere=("Tokamak f64",),
                               bounds={"C++": 0.95, "Tokamak f64": 1.7})


SUMS = {"C++": 0.95, "torch.compile": 1.0, "numba": 1.0, "NumPy": 4.5}
NORMAL = {"C++": 0.95, "numba": 1.4, "NumPy": 1.8, "torch.compile": 3.5}
SHARES = {"C++": 0.95, "JAX": 1.7, "NumPy": 12}
ALGORITHM = {"C++": 1.0, "numba": 1.5, "best other": 2.0}

AGGREGATES = [
    sized(program, rows, 100, SUMS | ({"JAX": 2} if rows == 200_000 else {}), arrays=arrays)
    for program, arrays in (("sum-of-product", 3), ("sum-pair", 3), ("sum-of-squares", 1)) for rows in (200_000, 1_000_000)]
PRODUCTS = [
    sized(program, *size, NORMAL, arrays=1)
    for program in ("normal-product", "weighted-product") for size in ((200_000, 100), (2_000_000, 100), (20_000_000, 10))]
ROWWISE = [sized("row-shares", rows, 100, SHARES, arrays=1) for rows in (200_000, 2_000_000)]
SOFTMAX = [sized("row-softmax", *size, {"C++": 0.9, "JAX": least}, arrays=2)
           for size, least in (((1_000_000, 10), 4), ((200_000, 100), 3))]
CLASSES = [
    Row(f"logistic-inner-k{k}", "logistic-inner", rows, 100, bounds | {"best SystemDS": 4}, {"classes": k}, arrays=1,
        flops=4 * rows * 100 * k)
    for k, rows, bounds in ((3, 1_000_000, {"C++": 1.0, "numba": 2}), (5, 1_000_000, {"C++": 1.0, "numba": 2}),
                            (10, 200_000, {"C++": 0.95}))]
SPARSE = [
    Row("sparse-chain", "sparse-chain", 1_000_000, 1000, {"C++": 0.95, "numba": 2.5, "NumPy": 3, "best SystemDS": 4},
        {"density": 1e-2}),
    *(Row(f"sampled-{density:g}", "sampled", 20_000, 20_000, {"C++": 0.95, "numba": 1.3, "NumPy": 12, "best SystemDS": 4},
          {"density": density}) for density in (1e-2, 1e-3, 1e-4)),
]


def algorithm(program, rows, columns, tolerance, **more):
    return sized(program, rows, columns, ALGORITHM, repetitions=1, rounds=3, tolerance=tolerance, **more)


# Conjugate gradients end elsewhere by up to 2e-4, and Newton's steps of L2SVM, which a rule stops, by up to 1e-2, if sums are
# added up in another order.
ALGORITHMS = [
    row for size in ((1_000_000, 100), (10_000_000, 10)) for row in (
        algorithm("linreg-cg", *size, 1e-3, arrays=21), algorithm("l2svm", *size, 2e-2), algorithm("glm", *size, 1e-4, elsewhere=SYSTEMDS),
        # From other random starts, k-means ends in other local minima; SystemDS returns no centres if it hasn't converged.
        algorithm("kmeans", *size, 0.25, arrays=20, parameters={"centres": 5}, elsewhere=SYSTEMDS), algorithm("multilogreg", *size, 2e-3))]
FACTORISATIONS = [
    Row("als", "als", 20_000, 20_000, ALGORITHM | {"best SystemDS": 4}, {"density": 1e-2, "rank": 10}, repetitions=1, rounds=3,
        tolerance=0.1),
    *(Row(f"pnmf-{rank}", "pnmf", 20_000, 20_000, {"C++": 0.9, "numba": 2, "best SystemDS": 4}, {"density": 1e-3, "rank": rank},
          repetitions=1, rounds=3, tolerance=0.1) for rank in (20, 100)),
    # Twelve bytes are read for each of ten million entries, twenty times; what they point to comes on top.
    Row("pagerank", "pagerank", 1_000_000, 10, {"C++": 1.0, "best of all": 1.2, "best SystemDS": 4}, repetitions=1, rounds=3,
        arrays=30, gathers=2e8),
]
AUTOENCODER = {"wide": 256, "narrow": 2, "batch": 512}
NETWORKS = [
    Row("autoencoder", "autoencoder", 60_000, 784, {"best other": 1.2, "best SystemDS": 4}, AUTOENCODER,
        ("NumPy", "JAX", "torch.compile", *SYSTEMDS), repetitions=1, rounds=3, tolerance=1e-6, flops=1.45e11),
    Row("autoencoder-f32", "autoencoder", 60_000, 784, {"best other": 1.2}, AUTOENCODER, ("NumPy", "JAX", "torch.compile"),
        element="f32", repetitions=1, rounds=3, tolerance=1e-2, flops=1.45e11),
]
# Beside scikit-learn, which stops where it has converged.
LIBRARIES = [
    Row(name, program, rows, columns, {"best other": 2.0}, parameters, ("NumPy", "scikit-learn"), repetitions=1, rounds=3,
        tolerance=tolerance, arrays=arrays, flops=flops)
    for name, program, rows, columns, parameters, tolerance, arrays, flops in (
        ("multilogreg-library", "multilogreg", 500_000, 50, {}, 2e-3, 0, 0),
        ("linreg-ds-library", "linreg-ds", 1_000_000, 100, {}, 1e-6, 0, 1e10),
        ("kmeans-library", "kmeans", 500_000, 50, {"centres": 10}, 0.15, 20, 1e10))]

# Where a selector that computes everything again loses, and where one that stores whatever has several readers does, too:
# only `./dev bench --selectors` compares them.
CHOICES = [Row("balanced-kernel", "balanced-kernel", 2000, 2000, {}, peers=()), Row("moments", "moments", 200_000, 100, {}, peers=())]

# Cells, scalars and small arrays: a repetition does `rows` of them, one after the other.
SMALL = [
    Row(f"small-{operation}", f"small-{operation}", count, 10, bounds, peers=tuple(bounds), tolerance=1e-6)
    for operation, count, bounds in (
        ("scalars", 1_000_000, {"numba": 0.3, "Python": 1}), ("cells", 20_000, {"NumPy": 3.5}), ("product", 20_000, {"NumPy": 2}),
        ("read", 100_000, {"NumPy": 4, "SystemDS": 10}), ("write", 100_000, {"NumPy": 5.6, "SystemDS": 10}),
        ("calls", 100_000, {"Python": 1, "SystemDS": 10}), ("recursion", 20, {"Python": 1}),
        ("append", 10_000, {"Python": 0.3}), ("append-column", 300, {"NumPy": 1}), ("growing", 300, {"NumPy": 1}))]

# Builtins that the runtime implements, over columns.
COLUMNS = [
    Row(f"dml-{name}", f"builtin-{name}", 10_000_000, 1, {"NumPy": 1} | more, peers=("NumPy", *frames, "SystemDS"), tolerance=1e-5,
        repetitions=5, rounds=3)
    for names, frames, more in (
        (("order", "order-index", "table", "table-pairs", "aggregate", "transformencode", "quantile", "remove-empty"),
         ("pandas", "Polars"), {}),
        (("cumsum",), ("pandas", "Polars"), {"SystemDS": 3}), (("rand", "rand-normal"), (), {}))
    for name in names] + [
    Row("dml-gather", "builtin-gather", 1_000_000, 10, {"NumPy": 1}, peers=("NumPy", "SystemDS")),
    Row("dml-product", "builtin-product", 2000, 2000, {"NumPy": 1}, peers=("NumPy", "SystemDS"), flops=1.6e10),
    *(Row(f"dml-{name}", f"builtin-{name}", 20_000, 20_000, {"NumPy": 1}, {"density": density}, ("NumPy", "SystemDS"), repetitions=5,
          rounds=3)
      for name, density in (("sparse-table", 1e-2), ("sparse-sum", 5e-3), ("sparse-product", 1e-3), ("dense-times-sparse", 1e-3)))]

# Whole processes.
NETWORK = {"wide": 32, "narrow": 2, "batch": 64}
STARTS = [
    Row("start-print", "print", 1, 1, {"minimal MLIR": 1 / 1.5}, peers=("minimal MLIR",), process="warm", rounds=30),
    Row("start-first-kernel", "first-kernel", 32, 32, {"minimal kernel": 1 / 2.5, "best of all": 1},
        peers=("minimal kernel", "numba", "JAX", "torch.compile"), process="off", rounds=7,
        repetitions=1),
    *(Row(f"network-{state}", "autoencoder", 1797, 64, {"NumPy": least}, NETWORK, ("NumPy",), repetitions=1, process=state,
          rounds=7, tolerance=1e-6) for state, least in (("cold", 1), ("warm", 2))),
]
WITH_START = [
    dataclasses.replace(row.smaller(100), name="with-start-" + row.name, peers=SYSTEMDS, bounds={"best SystemDS": 10},
                        process="cold", tolerance=max(row.tolerance, 0.5 if row.program in ("als", "kmeans") else 0.1))
    for row in [*ALGORITHMS, *FACTORISATIONS, *NETWORKS] if "SystemDS" in row.peers]

ROWS = [
    *STARTS, *AGGREGATES, *PRODUCTS, *ROWWISE, *SOFTMAX, *CLASSES,
    sized("kmeans-distance", 100_000, 50, {"C++": 0.95}, arrays=1, flops=1e8), *SPARSE,
    *(single(row) for row in [*AGGREGATES, *PRODUCTS, *ROWWISE] if row.rows * row.columns > 50_000_000),
    *ALGORITHMS, *FACTORISATIONS, *NETWORKS, *LIBRARIES, *CHOICES, *SMALL, *COLUMNS, *WITH_START,
]
