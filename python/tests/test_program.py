"""Scripts that are compiled and called from Python."""

import concurrent.futures
import gc
import inspect
import os
import pathlib
import pickle
import pydoc
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import tokamak as tk

SCRIPT = """
# The mean squared error of a linear model.
# Columns of X are features.
loss = function(matrix[double] X, matrix[double] y, matrix[double] w, double lambda = 0.1) return (double loss) {
  loss = mean((X %*% w - y)^2) + lambda * sum(w^2)
}
moments = function(matrix[double] X) return (matrix[double] mean, double total, string text, boolean any, int rows) {
  mean = colMeans(X)
  total = sum(X)
  text = "sum " + total
  any = total > 0
  rows = nrow(X)
}
scale = function(matrix[double] X, double factor = 2) return (matrix[double] Y) { Y = X * factor }
same = function(matrix[double] X) return (matrix[double] Y) { Y = X }
say = function(string what, int times = 1) {
  for (i in 1:times) print(what + " " + i)
}
endless = function(int n) return (double s) {
  s = 0
  while (n > 0) { s = s + 1 }
}
draw = function(int n) return (matrix[double] R) { R = rand(rows=n, cols=1) }
rows_of = function(frame[unknown] F, string column) return (frame[unknown] R, int n) { R = F[1:2, ]; n = nrow(F) }
second = function(list[unknown] l) return (double x) { x = as.scalar(l[2]) }
say_number = function(int n) return (int same) { same = n }
first_of = function(list[unknown] l, matrix[double] X) return (matrix[double] Y) { Y = as.matrix(l[1]) + 0 * sum(X) }
fails = function(matrix[double] X) return (matrix[double] Y) {
  if (sum(X) > 0) stop("X is positive")
  Y = X
}
"""
signal.signal(signal.SIGINT, signal.default_int_handler)  # which processes that a shell starts in the background ignore
program = tk.compile(SCRIPT)


class Calls(unittest.TestCase):
    def test_arguments_by_position_and_by_name(self):
        X, y, w = np.ones((4, 2)), np.ones(4), np.zeros(2)
        self.assertEqual(program.loss(X, y, w), 1.0)
        self.assertEqual(program.loss(w=w, X=X, y=y), 1.0)
        self.assertEqual(program.loss(X, y, np.ones(2), **{"lambda": 0.5}), 2.0)
        self.assertEqual(program.loss(X, y, np.ones(2), lambda_=0.5), 2.0, "names that Python reserves")

    def test_several_results_have_names(self):
        results = program.moments(np.array([[1.0, 2], [3, 4]]))
        np.testing.assert_array_equal(results.mean, [[2, 3]])
        self.assertEqual((results.total, results.text, results.any, results.rows), (10.0, "sum 10.0", True, 2))
        self.assertIs(type(results.any), bool)
        self.assertIs(type(results.rows), int)
        mean, *_ = results
        np.testing.assert_array_equal(mean, [[2, 3]])

    def test_functions_of_the_library(self):
        X = np.array([[1.0, 1], [1, 2], [9, 9], [9, 8]])
        centres, labels = tk.library.kmeans(X, k=2, seed=7)
        self.assertEqual(centres.shape, (2, 2))
        self.assertEqual(labels[0], labels[1])
        self.assertNotEqual(labels[0], labels[2])
        self.assertIn("kmeans", dir(tk.library))
        self.assertRaises(AttributeError, lambda: tk.library.no_such_function)
        self.assertEqual(program.function("kmeans")(X, k=2, seed=7).C.shape, (2, 2))

    def test_a_script_runs_with_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "script.dml")
            path.write_text('write(matrix($value, rows=2, cols=2), $out, format="csv")\n')
            for source in (path, str(path)):
                tk.compile(source).run(value=3, out=f"{folder}/out.csv")
                self.assertEqual(pathlib.Path(folder, "out.csv").read_text().split(), ["3.0,3.0"] * 2)
            for value in (True, np.bool_(True)):
                out = pathlib.Path(folder, type(value).__module__)
                tk.compile('if ($value) write(matrix(1, rows=1, cols=1), $out, format="csv")').run(value=value, out=out)
                self.assertTrue(out.exists())

    def test_what_scripts_print_goes_to_sys_stdout(self):
        import contextlib
        import io
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertIsNone(program.say("hello", times=2))
        self.assertEqual(output.getvalue(), "hello 1\nhello 2\n")

    def test_threads_call_at_the_same_time(self):
        X, results = np.random.default_rng(1).random((500, 40)), []
        expected = program.scale(X)

        def call():
            for _ in range(50):
                results.append(np.array_equal(program.scale(X), expected))
        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [True] * 200)

    def test_seeds(self):
        seeded = tk.compile(SCRIPT, seed=7)
        np.testing.assert_array_equal(seeded.draw(5), seeded.draw(5))
        self.assertFalse(np.array_equal(program.draw(5), program.draw(5)))

    def test_one_thread_gives_the_same(self):
        X = np.random.default_rng(2).random((1000, 300))
        one = tk.compile(SCRIPT, threads=1)
        self.assertEqual(one.moments(X).total, program.moments(X).total)
        tk.set_threads(1)
        try:
            self.assertEqual(tk.compile(SCRIPT).moments(X).total, program.moments(X).total)
            alone = tk.library.scale(X).Out
        finally:
            tk.set_threads(None)
        np.testing.assert_array_equal(tk.library.scale(X).Out, alone)
        self.assertRaises(ValueError, tk.set_threads, 0)


class Arrays(unittest.TestCase):
    def test_types_of_cells(self):
        for dtype in (np.float64, np.float32, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
                      np.uint64, np.bool_):
            X = np.array([[0, 1], [1, 1]], dtype=dtype)
            result = program.scale(X)
            np.testing.assert_array_equal(result, X.astype(float) * 2)
            single = dtype in (np.float32, np.float16)
            self.assertEqual(result.dtype, np.float32 if single else np.float64, dtype)

    def test_precision_can_be_fixed(self):
        X = np.ones((2, 2), dtype=np.float32)
        self.assertEqual(tk.compile(SCRIPT, precision="double").scale(X).dtype, np.float64)
        self.assertEqual(tk.compile(SCRIPT, precision="single").scale(X.astype(float)).dtype, np.float32)
        mixed = program.loss(X, np.ones(2), np.ones(2, dtype=np.float32))
        self.assertAlmostEqual(mixed, 1.2, places=12)
        double = np.full((2, 2), 1 / 3)
        np.testing.assert_array_equal(program.first_of([double], X), double, "doubles in lists count, too")

    def test_layouts(self):
        X = np.arange(24.0).reshape(4, 6)
        big_endian = X.astype(">f8")
        unaligned = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(4, 6)
        for view in (X, X.T, X[::2], X[:, ::-1], np.asfortranarray(X), big_endian, unaligned, X[:0], X[:, :1]):
            np.testing.assert_array_equal(program.scale(view), np.asarray(view, dtype=float) * 2)

    def test_ranks(self):
        self.assertEqual(program.scale(np.arange(3.0)).shape, (3, 1))
        self.assertEqual(program.scale(np.ones((2, 2)), np.array(3.0))[0, 0], 3)
        self.assertEqual(program.scale(np.ones((2, 2)), np.float32(3))[0, 0], 3)
        self.assertEqual(program.scale(np.ones((2, 2)), np.int64(3))[0, 0], 3)
        self.assertEqual(program.scale(np.ones((2, 2)), np.array([[3]]))[0, 0], 3)
        large = 2**53 + 1
        self.assertEqual(program.say_number(np.array(large)), large)
        self.assertEqual(program.say_number(np.array([[large]])), large)
        with self.assertRaisesRegex(tk.Error, "64 bits"):
            program.say_number(np.array([2**63], dtype=np.uint64))
        with self.assertRaisesRegex(tk.CompileError, "a matrix has two dimensions, X has size 2x2x2"):
            program.scale(np.ones((2, 2, 2)))

    def test_nothing_is_copied(self):
        X = np.random.rand(1000, 100)
        before = tk.memory()["in use"]
        result = program.scale(X)
        self.assertLess(tk.memory()["in use"] - before, X.nbytes * 1.5, "one array: the result")
        self.assertIsNotNone(result.base, "the cells are those of the program's array")
        self.assertTrue(result.flags.writeable and result.flags.c_contiguous)
        del result
        gc.collect()
        self.assertLess(tk.memory()["in use"] - before, X.nbytes / 2)

    def test_arguments_live_as_long_as_they_are_used_and_no_longer(self):
        X = np.random.rand(100, 10)
        references = sys.getrefcount(X)
        for _ in range(10):
            program.scale(X)
        self.assertEqual(sys.getrefcount(X), references)
        np.testing.assert_array_equal(program.scale(np.ones((300, 300)) * 3), np.full((300, 300), 6.0))

    def test_results_are_no_views_of_arguments(self):
        X = np.ones((3, 3))
        result = program.same(X)
        result[0, 0] = 5
        self.assertEqual(X[0, 0], 1)
        again = program.scale(X)
        again += 1
        self.assertEqual(program.scale(X)[0, 0], 2)

    def test_sparse_matrices(self):
        from scipy import sparse
        S = sparse.random(300, 200, density=0.01, format="csr", random_state=1)
        for matrix in (S, S.tocsc(), S.tocoo(), sparse.csr_array(S), S.astype(np.float32), S[5:100]):
            result = program.scale(matrix)
            np.testing.assert_allclose(result, matrix.toarray() * 2, rtol=1e-6)
        kept = tk.compile(SCRIPT, sparse=True).scale(S)
        self.assertTrue(sparse.issparse(kept))
        self.assertEqual((kept - 2 * S).nnz, 0)
        self.assertEqual(kept.nnz, S.nnz)
        unsorted = sparse.csr_matrix((np.array([1.0, 2, 3]), np.array([5, 1, 1]), np.array([0, 3])), shape=(1, 6))
        np.testing.assert_array_equal(program.scale(unsorted), unsorted.toarray() * 2)
        self.assertFalse(unsorted.has_canonical_format, "the caller's matrix stays as it is")
        long = sparse.csr_array((np.array([1.0, 2]), (np.array([0, 1]), np.array([3, 0]))), shape=(2, 4))
        long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
        np.testing.assert_array_equal(program.scale(long), long.toarray() * 2)

    def test_sparse_matrices_by_keys(self):
        from scipy import sparse
        for matrix in (sparse.dok_matrix((3, 2)), sparse.dok_array((3, 2))):
            matrix[1, 0] = 5.0
            np.testing.assert_array_equal(program.scale(matrix), matrix.toarray() * 2)

    def test_cells_of_bool_whose_bytes_are_others(self):
        from scipy import sparse
        cells = np.array([[0, 255], [2, 1]], np.uint8).view(bool)
        expected = cells.view(np.uint8) != 0
        for given in (cells, cells.T, sparse.csr_matrix(cells)):
            self.assertEqual(program.moments(given).total, 3.0)
        self.assertEqual(cells.view(np.uint8).tolist(), [[0, 255], [2, 1]])
        self.assertEqual(float(tk.sum(tk.astype(tk.asarray(cells), tk.float64))), 3.0)
        np.testing.assert_array_equal(np.asarray(~tk.asarray(cells)), ~expected)

    def test_masked_arrays(self):
        masked = np.ma.masked_array([1.0, 99.0, 3.0], [False, True, False])
        with self.assertRaisesRegex(TypeError, r"\.filled"):
            program.scale(masked)
        np.testing.assert_array_equal(program.scale(masked[:1]), [[2.0]])
        np.testing.assert_array_equal(program.scale(masked.filled(0)), [[2.0], [0.0], [6.0]])

    def test_sparse_results_share_nothing_that_can_be_written(self):
        from scipy import sparse
        S = sparse.random(300, 200, density=0.01, format="csr", random_state=1)
        before, keeping = S.copy(), tk.compile(SCRIPT, sparse=True)
        result = keeping.scale(S)
        result.data[::2] = 0
        result.eliminate_zeros()
        self.assertEqual((S - before).nnz, 0)
        np.testing.assert_array_equal(S.indices, before.indices)

    def test_dlpack(self):
        class Exported:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
        np.testing.assert_array_equal(program.scale(Exported(np.ones((2, 2)))), np.full((2, 2), 2.0))

    def test_what_is_no_array(self):
        for wrong, message in ((np.array([1j]), "complex"), (np.array(["a"]), "pandas DataFrame"), (object(), "expected an array"),
                               (np.array([object()]), "DataFrame"), (2**70, "64 bits")):
            with self.assertRaisesRegex((TypeError, ValueError), message):
                program.scale(wrong)


class Printing(unittest.TestCase):
    def printing_to(self, output, function):
        kept, sys.stdout = sys.stdout, output
        try:
            return function()
        finally:
            sys.stdout = kept

    def test_exceptions_of_write_end_the_call(self):
        class Output:
            def __init__(self, error):
                self.error, self.lines = error, 0

            def write(self, text):
                self.lines += 1
                if self.lines == 3:
                    raise self.error
        for error in (BrokenPipeError("gone"), SystemExit(3), KeyboardInterrupt()):
            output = Output(error)
            with self.assertRaises(type(error)) as caught:
                self.printing_to(output, lambda: program.say("x", 1_000_000_000))
            self.assertIs(caught.exception, error)
            self.assertEqual(output.lines, 3)
        self.assertEqual(program.endless(0), 0.0, "the next call runs")

    def test_exceptions_of_write_are_of_their_call(self):
        class Output:
            def write(self, text):
                if "wrong" in text:
                    raise OSError("full")
        results = []

        def call(what):
            try:
                results.append(program.say(what, 20_000))
            except OSError as error:
                results.append(str(error))

        def both():
            threads = [threading.Thread(target=call, args=(what,)) for what in ("right", "wrong", "right")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.printing_to(Output(), both)
        self.assertEqual(sorted(results, key=str), [None, None, "full"])

    def test_exceptions_of_write_end_their_call_at_once(self):
        lines = {"right": 0, "wrong": 0}

        class Output:
            def write(self, text):
                for what in lines:
                    lines[what] += what in text
                if lines["wrong"] == 3 and "wrong" in text:
                    raise OSError("full")
                if lines["wrong"] >= 3 and lines["right"] >= 3 and "right" in text:
                    raise SystemExit(3)  # the other call has run until now

        def call(what):
            self.assertRaises(SystemExit if what == "right" else OSError, recursive.say_deep, what, 1)
        recursive = tk.compile("""
say_deep = function(string what, int n) return (int s) {
  s = n
  while (n > 0) print(what)
  if (n < 0) s = say_deep(what, n + 1)
}
""")

        def both():
            with concurrent.futures.ThreadPoolExecutor(2) as threads:
                list(threads.map(call, ("right", "wrong")))
        self.printing_to(Output(), both)
        self.assertEqual(lines["wrong"], 3)

    def test_no_stdout(self):
        self.assertIsNone(self.printing_to(None, lambda: program.say("x")))


class Frames(unittest.TestCase):
    def test_pandas(self):
        import pandas as pd
        table = pd.DataFrame({"name": ["a", None, "cä"], "n": [1, 2, 3], "x": [0.5, np.nan, 2], "b": [True, False, True],
                              "kind": pd.Categorical(["u", "v", "u"]), "maybe": pd.array([1, None, 3], dtype="Int64")})
        rows, count = program.rows_of(table, "name")
        self.assertEqual(count, 3)
        self.assertEqual(list(rows.columns), list(table.columns))
        self.assertEqual(rows["name"][0], "a")
        self.assertTrue(pd.isna(rows["name"][1]) or rows["name"][1] == "")
        self.assertEqual(list(rows["n"]), [1, 2])
        self.assertTrue(np.isnan(rows["x"][1]))
        self.assertEqual(list(rows["b"]), [True, False])
        self.assertEqual(list(rows["kind"]), ["u", "v"])
        self.assertTrue(rows["maybe"][0] == 1 and np.isnan(rows["maybe"][1]))
        with self.assertRaisesRegex(ValueError, "beyond 64 bits"):
            program.rows_of(pd.DataFrame({"hash": np.array([2**63 + 5], dtype=np.uint64)}), "hash")
        again = program.rows_of(rows, "name").R
        self.assertEqual(list(again["n"]), [1, 2])

    def test_series_are_columns(self):
        import pandas as pd
        np.testing.assert_array_equal(program.scale(pd.Series([1, 2, 3])), [[2], [4], [6]])
        np.testing.assert_array_equal(program.scale(pd.DataFrame({"a": [1.0, 2], "b": [3.0, 4]}).to_numpy()), [[2, 6], [4, 8]])
        np.testing.assert_array_equal(program.scale(pd.Index([1, 2])), [[2], [4]])
        np.testing.assert_array_equal(program.scale(pd.array([1, None])), [[2], [np.nan]])

    def test_a_frame_of_numbers_is_a_matrix_where_one_is_asked_for(self):
        import pandas as pd
        np.testing.assert_array_equal(program.scale(pd.DataFrame({"a": [1.0, 2], "b": [3, 4]})), [[2, 6], [4, 8]])

    def test_arrow(self):
        import pyarrow as pa
        table = pa.table({"name": ["a", None, "c"], "n": [1, 2, 3], "x": [0.5, None, 2.0], "b": [True, False, None]})
        rows, count = program.rows_of(table, "n")
        self.assertEqual(count, 3)
        self.assertEqual(list(rows["n"]), [1, 2])
        self.assertTrue(np.isnan(rows["x"][1]))
        np.testing.assert_array_equal(program.scale(pa.array([1.5, 2.5])), [[3], [5]])
        np.testing.assert_array_equal(program.scale(pa.array([True, None])), [[2], [np.nan]])

    def test_lists_and_dicts(self):
        self.assertEqual(program.second([1, 2.5]), 2.5)
        self.assertEqual(program.second((1, 2.5)), 2.5)
        self.assertEqual(program.second({"a": 1, "b": 2.5}), 2.5)
        lists = tk.compile("""f = function(matrix[double] X) return (list[unknown] l, list[unknown] m) {
          l = list(a=X, b=sum(X)); m = list(1, "x") }""")
        result = lists.f(np.ones((2, 2)))
        np.testing.assert_array_equal(result.l["a"], np.ones((2, 2)))
        self.assertEqual(result.l["b"], 4)
        self.assertEqual(result.m, [1, "x"])
        import collections
        self.assertEqual(program.second(collections.OrderedDict(a=1, b=2.5)), 2.5)
        repeated = tk.compile("f = function(int n) return (list[unknown] l) { l = list(a=n, a=n + 1) }")
        self.assertEqual(repeated.f(1), [1, 2], "a dict would have lost one")
        endless = []
        endless.append(endless)
        self.assertRaises(RecursionError, program.second, endless)


class Models(unittest.TestCase):
    PATH = pathlib.Path(__file__).resolve().parents[2] / "examples/models/digits.onnx"

    def test_a_model_is_a_function(self):
        model = tk.compile(self.PATH)
        images = np.random.default_rng(1).random((5, 1, 8, 8), dtype=np.float32)
        scores = model.main(images)
        self.assertEqual((scores.shape, scores.dtype), ((5, 10), np.float32))
        np.testing.assert_array_equal(model.main(image=images.astype(float)), scores)
        np.testing.assert_allclose(model.main(images[:1]), scores[:1], rtol=1e-4)
        np.testing.assert_allclose(model.main(images[::-1]), scores[::-1], rtol=1e-4)
        self.assertIn("image: float [digits, 1, 8, 8]", model.main.__doc__)
        self.assertIn("parallel d0", str(model.main.explain(images, show="schedule")))

    def test_mistakes(self):
        model = tk.compile(str(self.PATH))
        with self.assertRaisesRegex(tk.CompileError, "got an array of size 8x8"):
            model.main(np.ones((8, 8)))
        with self.assertRaisesRegex(tk.CompileError, "'image' is missing"):
            model.main()
        self.assertRaises(tk.Error, tk.compile, "/no/such.onnx")


class Errors(unittest.TestCase):
    def test_mistakes_in_scripts(self):
        with self.assertRaises(tk.CompileError) as caught:
            tk.compile("f = function(matrix[double] X) return (double s) { s = sum(X }")
        self.assertIn("^", str(caught.exception))
        self.assertEqual(caught.exception.line, 1)
        broken = tk.compile("f = function(matrix[double] X) return (double s) {\n  s = sum(Y)\n}")
        with self.assertRaises(tk.CompileError) as caught:
            broken.f(np.ones((2, 2)))
        self.assertEqual((caught.exception.file, caught.exception.line, caught.exception.column), ("<text>", 2, 11))
        self.assertIn("  s = sum(Y)\n", str(caught.exception))
        self.assertRaises(tk.Error, tk.compile, pathlib.Path("/no/such.dml"))

    def test_wrong_arguments(self):
        X = np.ones((2, 2))
        for call, message in ((lambda: program.scale(), "the argument 'X' is missing"),
                              (lambda: program.scale(X, 1, 2), "takes 2 arguments, but 3"),
                              (lambda: program.scale(X, factr=1), "did you mean 'factor'"),
                              (lambda: program.scale(X, X=X), "'X' is given twice"),
                              (lambda: program.scale("text"), "X"),
                              (lambda: program.function("kmeens"), "did you mean 'kmeans'")):
            with self.assertRaisesRegex(tk.Error, message):
                call()
        self.assertRaises(AttributeError, lambda: program.scal)

    def test_names_that_are_none(self):
        with self.assertRaises((TypeError, UnicodeError)):
            program.scale(np.ones((2, 2)), **{"\ud800": 2})
        with self.assertRaisesRegex(TypeError, "NUL"):
            program.scale(np.ones((2, 2)), **{"factor\0s": 2})

    def test_exceptions_travel_between_processes(self):
        with self.assertRaises(tk.RunError) as caught:
            program.fails(np.ones((1, 1)))
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((type(again), str(again), again.line), (tk.RunError, str(caught.exception), caught.exception.line))

    def test_files_need_not_be_utf_8(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "latin.dml")
            path.write_bytes(b"# Gr\xf6\xdfe\nf = function(matrix[double] X) return (double s) { s = sum(X) }")
            self.assertEqual(tk.compile(path).f(np.ones((2, 2))), 4)

    def test_failures_of_the_run(self):
        with self.assertRaises(tk.RunError) as caught:
            program.loss(np.ones((4, 2)), np.ones(3), np.zeros(2))
        self.assertEqual(caught.exception.line, 5)
        self.assertIn("sizes do not agree: 4x1 - 3x1", caught.exception.message)
        with self.assertRaisesRegex(tk.RunError, "X is positive"):
            program.fails(np.ones((1, 1)))
        np.testing.assert_array_equal(program.fails(-np.ones((1, 1))), [[-1]])

    def test_options_are_checked(self):
        for options, message in (({"precision": "half"}, "precision"), ({"threads": 0}, "threads"),
                                 ({"disable": ["no-such-rule"]}, "no rule or pass")):
            with self.assertRaisesRegex((ValueError, tk.Error), message):
                tk.compile("", **options)
        self.assertRaises(TypeError, tk.compile, 5)
        with self.assertRaisesRegex(tk.CompileError, "no rule or pass 'no-such-rule'"):
            tk.compile("", disable="no-such-rule")
        for limit in ("much", "99999999T", 0):
            self.assertRaises(ValueError, tk.set_memory, limit)
        for wrong, options in ((TypeError, {"threads": 1.5}), (TypeError, {"seed": "a"}), (ValueError, {"seed": -7}),
                               (ValueError, {"threads": 1 << 40}), (ValueError, {"seed": 1 << 70})):
            with self.assertRaisesRegex(wrong, f"{next(iter(options))} is"):
                tk.compile("", **options)
        with tempfile.TemporaryDirectory() as folder:
            tk.compile(SCRIPT, cache=os.fsencode(folder)).scale(np.ones((2, 2)))
        for text in ("x = 1\udc80", "x = 1\0y = +"):
            with self.assertRaisesRegex(ValueError, "position 5"):
                tk.compile(text)

    def test_memory_has_a_limit(self):
        tk.set_memory("16M")
        try:
            with self.assertRaisesRegex(tk.RunError, "memory"):
                program.draw(10_000_000)
        finally:
            tk.set_memory(None)
        self.assertEqual(program.draw(10).shape, (10, 1))

    def test_interrupts_stop_a_call(self):
        for _ in range(2):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            self.assertRaises(KeyboardInterrupt, program.endless, 1)
            signal.signal(signal.SIGINT, signal.default_int_handler)  # as notebooks do, for each cell
        self.assertEqual(program.endless(0), 0.0, "the next call runs")

    def test_a_handler_of_ones_own_decides(self):
        handled = []
        former = signal.signal(signal.SIGINT, lambda *_: handled.append(True))
        try:
            program.scale(np.ones((2, 2)))  # looks whether a notebook has set its handler
            for seconds in (0.05, 0.05):
                threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
                self.assertEqual(tk.library.kmeans(np.random.default_rng(1).random((20000, 20)), k=30, runs=3, seed=1)[0].shape, (30, 20))
            self.assertEqual(handled, [True, True])
        finally:
            signal.signal(signal.SIGINT, former)

    def test_interrupts_outside_of_calls_are_pythons(self):
        with self.assertRaises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass
        self.assertEqual(program.endless(0), 0.0)


class Help(unittest.TestCase):
    def test_help_says_what_a_function_takes(self):
        text = pydoc.render_doc(program.loss, renderer=pydoc.plaintext)
        self.assertIn("The mean squared error of a linear model.\n", text)
        self.assertIn("lambda: double = 0.1) -> (loss: double)", text)
        self.assertEqual(str(inspect.signature(program.scale)), "(X: 'matrix[double]', factor: 'double' = 2) -> '(Y: matrix[double])'")
        self.assertIn("scale(X: matrix[double]", repr(program))
        self.assertIn("loss", dir(program))
        self.assertIn("k ", tk.library.kmeans.__doc__)

    def test_explanations(self):
        text = program.moments.explain(np.ones((100, 100)))
        self.assertIn("fusion of block", text)
        self.assertIn("<pre>", text._repr_html_())
        both = program.scale.explain(np.ones((10, 10)), factor=3, show="image,loops")
        self.assertIn("# image", both)
        self.assertRaises(tk.Error, program.scale.explain, np.ones((2, 2)), show="everything")
        X, y, w = np.ones((4, 2)), np.ones(4), np.zeros(2)
        self.assertIn("fusion of block", program.loss.explain(X, y, w, lambda_=0.5))

    def test_statistics(self):
        fresh = tk.compile(SCRIPT, cache="off")
        fresh.scale(np.ones((100, 100)))
        stats = fresh.stats()
        self.assertEqual(stats["plans made"], 1)
        self.assertIn("plans made", repr(stats))
        self.assertIn("<table>", stats._repr_html_())

    def test_one_compilation_serves_numbers_of_both_kinds(self):
        fresh = tk.compile(SCRIPT, cache="off")
        for factor in (2, 2.0, np.float32(2), True):
            fresh.scale(np.ones((10, 10)), factor)
        self.assertLessEqual(fresh.stats()["plans made"], 2, "booleans are of another kind")


class Process(unittest.TestCase):
    def test_the_library_lists_what_it_has(self):
        for name, function in inspect.getmembers(tk.library):
            if not name.startswith("_") and callable(function):
                self.assertTrue(function.__doc__, name)
        self.assertFalse(hasattr(tk.library, "sigmoid"), "a builtin of the language")
        self.assertEqual([name for name in dir(tk.library) if not hasattr(tk.library, name)], [])
        self.assertIn("kmeans", pydoc.render_doc(tk.library, renderer=pydoc.plaintext))

    def test_fork_while_another_thread_asks_the_library(self):
        tk.library.kmeans  # the parent's program is there
        with tk.library._lock:
            child = os.fork()
            if child == 0:
                os._exit(0 if tk.library._lock.acquire(timeout=5) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_python_ends_beside_a_thread_that_calls(self):
        code = ("import threading, time, numpy as np, tokamak as tk\n"
                "x = np.ones((300, 300))\n"
                "def work():\n"
                "    while True: float(tk.sum(tk.exp(tk.asarray(x))))\n"
                "threading.Thread(target=work, daemon=True).start()\n"
                "time.sleep(0.3)\n")
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_cache_is_where_it_was_when_the_script_was_compiled(self):
        code = ("import os, sys, tokamak as tk, numpy as np\n"
                "os.chdir(sys.argv[1])\n"
                "f = tk.compile('f = function(matrix[double] X) return (matrix[double] Y) { Y = exp(X) * 2 + 1 }', cache='kept').f\n"
                "os.mkdir('other'), os.chdir('other')\n"
                "f(np.ones((100, 100)))\n"
                "print(os.listdir('.'), os.listdir('..'))\n")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True)
            self.assertEqual((done.stderr, done.stdout[:4], "'kept'" in done.stdout), ("", "[] [", True))

    def test_functions_and_results_may_outlive_their_program(self):
        code = ("import numpy as np, tokamak as tk\n"
                "f = tk.compile('f = function(matrix[double] X) return (matrix[double] Y) { Y = X + 1 }').f\n"
                "y = f(np.zeros((200, 200)))\n"
                "del f\n"
                "print(y.sum())\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("40000.0\n", "", 0))

    def test_importing_brings_nothing_but_numpy(self):
        code = "import sys, tokamak\nprint([m for m in ('pandas', 'scipy', 'pyarrow') if m in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(done.stdout, "[]\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
