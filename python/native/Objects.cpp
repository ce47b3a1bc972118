#include "Objects.h"

#include "NumpyArrays.h"
#include "Values.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

using namespace tokamak;
using namespace tokamak::python;

namespace {

nb::handle frameMade, sparseMade; // of tokamak._convert; never freed

int numpyType(tokamak_type type) {
  switch (type) {
  case TOKAMAK_F64:
    return NPY_FLOAT64;
  case TOKAMAK_F32:
    return NPY_FLOAT32;
  case TOKAMAK_F16:
    return NPY_FLOAT16;
  case TOKAMAK_I8:
    return NPY_INT8;
  case TOKAMAK_I16:
    return NPY_INT16;
  case TOKAMAK_I32:
    return NPY_INT32;
  case TOKAMAK_I64:
    return NPY_INT64;
  case TOKAMAK_U8:
    return NPY_UINT8;
  case TOKAMAK_U16:
    return NPY_UINT16;
  case TOKAMAK_U32:
    return NPY_UINT32;
  case TOKAMAK_U64:
    return NPY_UINT64;
  case TOKAMAK_BOOL:
    return NPY_BOOL;
  case TOKAMAK_BF16:
    break;
  }
  throw nb::type_error("NumPy has no arrays of bfloat16");
}

nb::object arrayOver(const tokamak_array &array, tokamak_value *value) {
  npy_intp sizes[TOKAMAK_MOST_DIMENSIONS];
  std::copy_n(array.sizes, array.rank, sizes);
  int type = numpyType(array.type);
  if (!array.is_unique) {
    // Others can see the cells: the caller gets his own.
    nb::object copy = nb::steal(PyArray_SimpleNew(array.rank, sizes, type));
    if (!copy.is_valid())
      throw nb::python_error();
    auto *made = reinterpret_cast<PyArrayObject *>(copy.ptr());
    std::memcpy(PyArray_DATA(made), array.cells, static_cast<size_t>(PyArray_NBYTES(made)));
    return copy;
  }
  nb::object made = nb::steal(
      PyArray_SimpleNewFromData(array.rank, sizes, type, const_cast<void *>(array.cells)));
  if (!made.is_valid())
    throw nb::python_error();
  nb::capsule owner(tokamak_value_share(value), [](void *held) noexcept {
    tokamak_value_free(static_cast<tokamak_value *>(held));
  });
  PyArray_SetBaseObject(reinterpret_cast<PyArrayObject *>(made.ptr()), owner.release().ptr());
  return made;
}

nb::object listObject(tokamak_value *list, bool keepsSparse) {
  Nested section;
  size_t count = tokamak_value_count(list);
  bool isNamed = count > 0; // and each name is another one
  std::set<std::string_view> names;
  for (size_t i = 0; i < count; ++i) {
    std::string_view name = tokamak_value_name(list, i);
    isNamed &= !name.empty() && names.insert(name).second;
  }
  nb::dict dict;
  nb::list plain;
  for (size_t i = 0; i < count; ++i) {
    nb::object element =
        objectOf(const_cast<tokamak_value *>(tokamak_value_element(list, i)), keepsSparse);
    if (isNamed)
      dict[textObject(tokamak_value_name(list, i))] = element;
    else
      plain.append(element);
  }
  return isNamed ? nb::object(dict) : nb::object(plain);
}

nb::object columnObject(const tokamak_column &column, int64_t rows) {
  if (column.kind == TOKAMAK_TEXT) {
    nb::list texts;
    const char *bytes = static_cast<const char *>(column.cells);
    for (int64_t row = 0; row < rows; ++row) {
      nb::object text = nb::none();
      if (!column.missing[row])
        text = textObject(bytes + column.offsets[row],
                          static_cast<size_t>(column.offsets[row + 1] - column.offsets[row]));
      texts.append(text);
    }
    return texts;
  }
  npy_intp size = rows;
  int type = column.kind == TOKAMAK_DOUBLE    ? NPY_FLOAT64
             : column.kind == TOKAMAK_INTEGER ? NPY_INT64
                                              : NPY_BOOL;
  nb::object cells = nb::steal(PyArray_SimpleNew(1, &size, type));
  if (!cells.is_valid())
    throw nb::python_error();
  auto *made = reinterpret_cast<PyArrayObject *>(cells.ptr());
  std::memcpy(PyArray_DATA(made), column.cells, static_cast<size_t>(PyArray_NBYTES(made)));
  return cells;
}

nb::object frameObject(tokamak_value *frame) {
  nb::list columns;
  int64_t rows = tokamak_frame_rows(frame);
  for (size_t i = 0; i < tokamak_frame_columns(frame); ++i) {
    tokamak_column column = {};
    column.size = sizeof column;
    check(tokamak_frame_column(frame, i, &column));
    columns.append(nb::make_tuple(textObject(column.name), columnObject(column, rows)));
  }
  return frameMade(columns);
}

} // namespace

nb::object python::textObject(const char *text, size_t bytes) {
  PyObject *made = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(bytes), "replace");
  if (!made)
    throw nb::python_error();
  return nb::steal(made);
}
nb::object python::textObject(const char *text) { return textObject(text, std::strlen(text)); }

nb::object python::objectOf(tokamak_value *value, bool keepsSparse) {
  switch (tokamak_value_kind(value)) {
  case TOKAMAK_DOUBLE: {
    double number = 0;
    check(tokamak_value_double(value, &number));
    return nb::float_(number);
  }
  case TOKAMAK_INTEGER:
  case TOKAMAK_BOOLEAN: {
    int64_t number = 0;
    check(tokamak_value_integer(value, &number));
    if (tokamak_value_kind(value) == TOKAMAK_BOOLEAN)
      return nb::bool_(number != 0);
    return nb::int_(number);
  }
  case TOKAMAK_TEXT: {
    const char *text = nullptr;
    size_t bytes = 0;
    check(tokamak_value_text(value, &text, &bytes));
    return textObject(text, bytes);
  }
  case TOKAMAK_LIST:
    return listObject(value, keepsSparse);
  case TOKAMAK_FRAME:
    return frameObject(value);
  case TOKAMAK_ARRAY:
    break;
  }
  tokamak_array array;
  check(keepsSparse ? tokamak_value_stored(value, &array) : tokamak_value_array(value, &array));
  if (!array.offsets)
    return arrayOver(array, value);
  // Matrices computed from each other share offsets and indices.
  auto part = [&](tokamak_type type, int64_t size, const void *cells) {
    bool isUnique = array.is_unique && cells == array.cells;
    tokamak_array flat = {type, 1, {size}, cells, nullptr, nullptr, isUnique};
    return arrayOver(flat, value);
  };
  int64_t entries = array.offsets[array.sizes[0]];
  return sparseMade(
      part(array.type, entries, array.cells), part(TOKAMAK_I32, entries, array.indices),
      part(TOKAMAK_I64, array.sizes[0] + 1, array.offsets), array.sizes[0], array.sizes[1]);
}

void python::setUpObjects(nb::object frame, nb::object sparse) {
  frameMade = frame.release();
  sparseMade = sparse.release();
}
