"""Values of other packages as values of Tokamak, and back: pandas, SciPy, Arrow, and what has __dlpack__ or __array__. None of
these packages is imported here unless a value of it is there."""

import importlib.util
import sys

import numpy as np

from . import _native


def value(thing):
    """Called for what the extension doesn't know itself: something that it knows."""
    package = type(thing).__module__.partition(".")[0]
    if package == "scipy" and hasattr(thing, "tocsr"):
        return _sparse(thing.tocsr())
    if package == "pandas":
        return _pandas(thing)
    if package == "pyarrow":
        return _arrow(thing)
    if type(thing) is np.ndarray:
        raise TypeError(_no_numbers(thing))
    if isinstance(thing, np.ndarray):
        return cells_of(thing)
    if isinstance(thing, dict):
        return dict(thing)
    for protocol, convert in (("__dlpack__", np.from_dlpack), ("__array__", np.asarray)):
        if hasattr(thing, protocol):
            converted = convert(thing)
            if isinstance(converted, np.ndarray) and converted.dtype.kind in "biuf":
                return converted
    raise TypeError(f"expected an array, a frame, a list, a number or a text, got {type(thing).__module__}."
                    f"{type(thing).__qualname__}")


def cells_of(thing):
    """What numpy.asarray() gives, which would drop a mask silently."""
    if isinstance(thing, np.ma.MaskedArray) and np.ma.is_masked(thing):
        raise TypeError("cells of a masked array are masked; expected all of them: call .filled(...) with what stands for those that are")
    return np.asarray(thing)


def _no_numbers(array):
    if array.dtype.kind == "c":
        return "arrays of complex numbers are not supported"
    return f"expected an array of numbers, got one of {array.dtype}; tables with texts are frames: pass a pandas DataFrame"


def _sparse(matrix):
    if len(matrix.shape) == 1:
        return _sparse(matrix.reshape(-1, 1).tocsr())
    rows, columns = matrix.shape
    if matrix.dtype.kind not in "biuf":
        raise TypeError(_no_numbers(matrix))
    if columns > np.iinfo(np.int32).max:
        raise ValueError(f"a sparse matrix has at most {np.iinfo(np.int32).max} columns, this one has {columns}")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return _native.csr_value(_zeros_and_ones(matrix.data), matrix.indices.astype(np.int32, copy=False), matrix.indptr, rows, columns)


def _zeros_and_ones(cells):
    """Of bool, whose bytes may be others where they are a view of another type."""
    return cells.view(np.uint8) != 0 if cells.dtype == np.bool_ else cells


def _column(cells):
    """Of one dimension: an array of float64, int64 or bool, or a list of texts and None."""
    cells = _zeros_and_ones(np.asarray(cells))
    kinds = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}
    if cells.dtype == np.uint64 and cells.size and cells.max() > np.iinfo(np.int64).max:
        raise ValueError("a column has integers beyond 64 bits with a sign; convert it to float64 or to texts")
    if cells.dtype.kind in kinds:
        return np.ascontiguousarray(cells, dtype=kinds[cells.dtype.kind])
    return [None if cell is None or cell is _pandas_missing() or cell != cell else str(cell) for cell in cells.tolist()]


def _pandas_missing():
    pandas = sys.modules.get("pandas")
    return pandas.NA if pandas else None


def _pandas(thing):
    import pandas

    if isinstance(thing, pandas.Series):
        return _pandas_numbers(thing) if thing.dtype.kind in "biuf" else _pandas(thing.to_frame())
    if isinstance(thing, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        return _pandas(pandas.Series(thing))
    if not isinstance(thing, pandas.DataFrame):
        raise TypeError(f"expected a DataFrame, a Series, an Index or an array of pandas, got {type(thing).__name__}")
    columns = []
    for position, name in enumerate(thing.columns):
        series = thing.iloc[:, position]
        kind = getattr(series.dtype, "kind", "O")
        cells = _pandas_numbers(series) if kind in "biuf" else series.astype(object).to_numpy()
        columns.append((str(name), _column(cells)))
    return _native.frame_value(len(thing), columns)


def _pandas_numbers(series):
    """Columns with missing numbers are floats, in which those are NaN."""
    return series.to_numpy(dtype=np.float64, na_value=np.nan) if series.isna().any() else series.to_numpy(dtype=series.dtype.type
                           if isinstance(series.dtype, np.dtype) else None)


def _arrow(thing):
    import pyarrow

    if isinstance(thing, (pyarrow.Array, pyarrow.ChunkedArray)):
        return _arrow_numbers(thing)
    if not isinstance(thing, (pyarrow.Table, pyarrow.RecordBatch)):
        raise TypeError(f"expected a table of Arrow, got {type(thing).__name__}")
    columns = []
    for name, column in zip(thing.schema.names, thing.columns):
        is_text = not (pyarrow.types.is_integer(column.type) or pyarrow.types.is_floating(column.type) or
                       pyarrow.types.is_boolean(column.type))
        if is_text:
            columns.append((name, [None if cell is None else str(cell) for cell in column.to_pylist()]))
        else:
            columns.append((name, _column(_arrow_numbers(column))))
    return _native.frame_value(thing.num_rows, columns)


def _arrow_numbers(column):
    """Missing ones are NaN, those of bool, too."""
    import pyarrow

    cells = column.to_numpy(zero_copy_only=False) if isinstance(column, pyarrow.Array) else column.to_numpy()
    if cells.dtype == object and pyarrow.types.is_boolean(column.type):
        cells = np.array([np.nan if cell is None else float(cell) for cell in cells])
    return cells


def frame(columns):
    """A DataFrame of (name, cells) if there is pandas, else a dict."""
    if importlib.util.find_spec("pandas") is None:
        return dict(columns)
    import pandas

    return pandas.DataFrame(dict(columns) if len(dict(columns)) == len(columns) else
                            {i: cells for i, (_, cells) in enumerate(columns)}).set_axis([name for name, _ in columns], axis=1)


def sparse(cells, indices, offsets, rows, columns):
    from scipy.sparse import csr_matrix

    return csr_matrix((cells, indices, offsets), shape=(rows, columns), copy=False)
