"""What Python programs pay for calling compiled functions: python_calls.py PEER ROW THREADS prints `ns N` for each repetition and
`result R`. PEER is tokamak, numpy, numba, jax or sklearn."""

import os
import pathlib
import sys
import time

PEER, ROW, THREADS = sys.argv[1], sys.argv[2], int(sys.argv[3])
CACHE = pathlib.Path(__file__).resolve().parents[2] / "build/bench-python-cache"
DML = """
scale = function(matrix[double] X) return (matrix[double] Y) { Y = X + 1 }
score = function(matrix[double] X, matrix[double] w) return (double s) { s = sum(max(1 - X %*% w, 0)^2) }
"""


def program(**options):
    import tokamak as tk
    return tk.compile(DML, threads=THREADS, **options)


def compiled(name, keeps=False):
    """The function of this peer, not compiled yet; `keeps` lets it find what an earlier process has compiled."""
    import numpy as np
    cache = CACHE / PEER
    if PEER == "tokamak":
        return getattr(program(cache=cache if keeps else "off"), name)
    if PEER == "numba":
        os.environ["NUMBA_CACHE_DIR"] = str(cache)
        import numba
        sys.path.insert(0, str(pathlib.Path(__file__).parent))
        import python_functions
        return numba.njit(cache=keeps)(getattr(python_functions, name))
    if PEER == "jax":
        import jax
        jax.config.update("jax_enable_x64", True)
        if keeps:
            jax.config.update("jax_compilation_cache_dir", str(cache))
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
            jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        jnp = jax.numpy
        functions = {"scale": lambda X: X + 1, "score": lambda X, w: jnp.sum(jnp.maximum(1 - X @ w, 0) ** 2)}
        function = jax.jit(functions[name])
        return lambda *arguments: np.asarray(function(*arguments))  # as long as it is compared with arrays of NumPy
    return {"scale": lambda X: X + 1, "score": lambda X, w: np.sum(np.maximum(1 - X @ w, 0) ** 2)}[name]


def report(nanoseconds, result):
    for each in nanoseconds:
        print("ns", round(each))
    print("result", float(result))


def call():
    """One of many calls on ten by ten cells."""
    import numpy as np
    function, X = compiled("scale"), np.ones((10, 10))
    result, times = function(X), []
    for _ in range(2000):
        function(X)
    for _ in range(9):
        began = time.perf_counter_ns()
        for _ in range(10_000):
            result = function(X)
        times.append((time.perf_counter_ns() - began) / 10_000)
    report(times, np.sum(result))


def first(keeps):
    """From the imported package to the first result."""
    import numpy as np
    package = {"tokamak": "tokamak", "numba": "numba", "jax": "jax"}[PEER]
    __import__(package)
    if PEER == "jax":
        import jax
        jax.devices()
    X, w = np.linspace(0, 1, 4000).reshape(200, 20), np.linspace(-1, 1, 20).reshape(20, 1)
    began = time.perf_counter_ns()
    result = compiled("score", keeps)(X, w)
    report([time.perf_counter_ns() - began], result)


def estimator():
    """Fits; repetitions after the first."""
    import numpy as np
    random = np.random.default_rng(7)
    n = 200_000
    X = random.random((n, 20))
    truth = X @ np.linspace(-1, 1, 20)
    labels = (truth + 0.1 * random.standard_normal(n) > 0).astype(float)
    if PEER == "tokamak":
        import tokamak
        from tokamak import learn as package
        tokamak.set_threads(THREADS)
        models = {"python-linear": lambda: package.LinearRegression(), "python-logistic": lambda: package.LogisticRegression(tol=1e-4),
                  "python-kmeans": lambda: package.KMeans(k=8, runs=1, maxi=20, eps=0, random_state=1),
                  "python-pca": lambda: package.PCA(K=5, scale=False)}
    else:
        from sklearn import cluster, decomposition, linear_model
        models = {"python-linear": lambda: linear_model.LinearRegression(), "python-logistic": lambda: linear_model.LogisticRegression(),
                  "python-kmeans": lambda: cluster.KMeans(8, n_init=1, max_iter=20, tol=0, random_state=1),
                  "python-pca": lambda: decomposition.PCA(5)}
    target = labels if ROW == "python-logistic" else truth
    times = []
    for _ in range(6):
        model = models[ROW]()
        began = time.perf_counter_ns()
        model.fit(X, target)
        times.append(time.perf_counter_ns() - began)
    quality = {"python-linear": lambda: model.score(X, truth), "python-logistic": lambda: model.score(X, labels),
               "python-kmeans": lambda: 0, "python-pca": lambda: np.abs(model.transform(X[:100])).sum()}
    report(times[1:], quality[ROW]())


def main():
    if ROW == "python-call":
        call()
    elif ROW in ("python-first-call", "python-warm-call"):
        first(keeps=ROW == "python-warm-call")
    else:
        estimator()


main()
