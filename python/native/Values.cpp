#include "Values.h"

#include "NumpyArrays.h"
#include "Objects.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

using namespace tokamak;
using namespace tokamak::python;

namespace {

// Of the package tokamak; never freed.
nb::handle errorClasses; // status -> class
nb::handle convertOther; // tokamak._convert.value

[[noreturn]] void raise(tokamak_error *error) {
  std::unique_ptr<tokamak_error, decltype(&tokamak_error_free)> owner(error, tokamak_error_free);
  if (void *cause = tokamak_error_cause(error)) {
    std::unique_ptr<nb::python_error> exception(static_cast<nb::python_error *>(cause));
    throw nb::python_error(std::move(*exception));
  }
  tokamak_status status = tokamak_error_status(error);
  if (status == TOKAMAK_INTERRUPTED) {
    if (PyErr_CheckSignals() == 0)
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
  }
  nb::object made = errorClasses[nb::int_(static_cast<int>(status))](
      textObject(tokamak_error_message(error)), textObject(tokamak_error_text(error)),
      textObject(tokamak_error_file(error)), tokamak_error_line(error),
      tokamak_error_column(error));
  PyErr_SetObject(made.type().ptr(), made.ptr());
  throw nb::python_error();
}

// Objects whose cells no array uses any more. They are let go where the interpreter's lock is held: an array may be freed by
// any thread, and none of them may wait for the lock.
class Released {
public:
  static void add(void *object) {
    std::lock_guard lock(mutex_);
    objects_.push_back(static_cast<PyObject *>(object));
    isEmpty_.store(false, std::memory_order_relaxed);
  }
  static void drain() {
    if (isEmpty_.load(std::memory_order_relaxed))
      return;
    std::vector<PyObject *> objects;
    {
      std::lock_guard lock(mutex_);
      objects.swap(objects_);
      isEmpty_.store(true, std::memory_order_relaxed);
    }
    for (PyObject *object : objects)
      Py_DECREF(object);
  }

private:
  static inline std::mutex mutex_;
  static inline std::vector<PyObject *> objects_;
  static inline std::atomic<bool> isEmpty_ = true;
};

std::optional<tokamak_type> typeOf(int numpy) {
  switch (numpy) {
  case NPY_FLOAT64:
    return TOKAMAK_F64;
  case NPY_FLOAT32:
    return TOKAMAK_F32;
  case NPY_FLOAT16:
    return TOKAMAK_F16;
  case NPY_BOOL:
    return TOKAMAK_BOOL;
  default:
    break;
  }
  // There are more names of integers than sizes.
  bool isSigned = PyTypeNum_ISSIGNED(numpy), isInteger = PyTypeNum_ISINTEGER(numpy);
  if (!isInteger)
    return std::nullopt;
  nb::object descriptor = nb::steal(reinterpret_cast<PyObject *>(PyArray_DescrFromType(numpy)));
  switch (PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr *>(descriptor.ptr()))) {
  case 1:
    return isSigned ? TOKAMAK_I8 : TOKAMAK_U8;
  case 2:
    return isSigned ? TOKAMAK_I16 : TOKAMAK_U16;
  case 4:
    return isSigned ? TOKAMAK_I32 : TOKAMAK_U32;
  default:
    return isSigned ? TOKAMAK_I64 : TOKAMAK_U64;
  }
}

// NumPy takes each byte but 0 for true, which views of other types as bool have; Tokamak's are 0 and 1.
bool hasOtherBytes(PyArrayObject *array) {
  const uint8_t *cells = static_cast<const uint8_t *>(PyArray_DATA(array));
  uint8_t all = 0;
  for (npy_intp i = 0, count = PyArray_SIZE(array); i < count; ++i)
    all |= cells[i];
  return all > 1;
}

nb::object ofZerosAndOnes(PyArrayObject *array) {
  nb::object made = nb::steal(PyArray_NewLikeArray(array, NPY_CORDER, nullptr, 0));
  if (!made.is_valid())
    throw nb::python_error();
  const uint8_t *cells = static_cast<const uint8_t *>(PyArray_DATA(array));
  auto *target =
      static_cast<uint8_t *>(PyArray_DATA(reinterpret_cast<PyArrayObject *>(made.ptr())));
  std::transform(cells, cells + PyArray_SIZE(array), target,
                 [](uint8_t cell) { return cell != 0; });
  return made;
}

// Without a copy where the cells lie row by row and in this machine's form.
tokamak_value *valueOfArray(PyArrayObject *array) {
  std::optional<tokamak_type> type = typeOf(PyArray_TYPE(array));
  if (!type)
    return nullptr;
  nb::object held = nb::borrow(reinterpret_cast<PyObject *>(array));
  if (!PyArray_ISCARRAY_RO(array)) {
    PyArray_Descr *native = PyArray_DescrFromType(PyArray_TYPE(array)); // FromArray takes it
    held = nb::steal(PyArray_FromArray(array, native, NPY_ARRAY_CARRAY_RO));
    if (!held.is_valid())
      throw nb::python_error();
    array = reinterpret_cast<PyArrayObject *>(held.ptr());
  }
  if (*type == TOKAMAK_BOOL && hasOtherBytes(array)) {
    held = ofZerosAndOnes(array);
    array = reinterpret_cast<PyArrayObject *>(held.ptr());
  }
  int64_t sizes[NPY_MAXDIMS];
  std::copy_n(PyArray_DIMS(array), PyArray_NDIM(array), sizes);
  tokamak_value *value = nullptr;
  check(tokamak_value_of_array(*type, PyArray_NDIM(array), sizes, PyArray_DATA(array),
                               Released::add, held.release().ptr(), &value));
  return value;
}

tokamak_value *valueOfText(PyObject *object) {
  Py_ssize_t bytes;
  const char *text = PyUnicode_AsUTF8AndSize(object, &bytes);
  if (!text)
    throw nb::python_error();
  tokamak_value *value = nullptr;
  check(tokamak_value_of_text(text, static_cast<size_t>(bytes), &value));
  return value;
}

tokamak_value *valueOfList(const std::vector<nb::object> &objects, const char *const *names) {
  Nested section;
  std::vector<Value> elements;
  std::vector<const tokamak_value *> pointers;
  for (const nb::object &object : objects)
    pointers.push_back(elements.emplace_back(valueOf(object.ptr())).get());
  tokamak_value *list = nullptr;
  check(tokamak_value_of_list(pointers.size(), pointers.data(), names, &list));
  return list;
}

tokamak_value *valueOfDict(nb::handle dict) {
  // Converting an element may run code that changes the dict.
  std::vector<nb::object> objects;
  std::vector<std::string> texts;
  PyObject *key, *element;
  Py_ssize_t position = 0;
  while (PyDict_Next(dict.ptr(), &position, &key, &element)) {
    texts.emplace_back(nameOf(key));
    objects.push_back(nb::borrow(element));
  }
  std::vector<const char *> names;
  for (const std::string &text : texts)
    names.push_back(text.c_str());
  return valueOfList(objects, names.data());
}

tokamak_value *valueOfInteger(PyObject *object) {
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow)
    throw nb::value_error("an integer doesn't fit 64 bits");
  if (number == -1 && PyErr_Occurred())
    throw nb::python_error();
  return tokamak_value_of_integer(number);
}

} // namespace

void python::check(tokamak_error *error) {
  if (error) [[unlikely]]
    raise(error);
}

python::Nested::Nested() {
  if (Py_EnterRecursiveCall(" while a list is converted"))
    throw nb::python_error();
}

const char *python::nameOf(PyObject *object) {
  Py_ssize_t bytes = 0;
  const char *name = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &bytes) : nullptr;
  if (name && std::strlen(name) == static_cast<size_t>(bytes))
    return name;
  PyErr_Clear();
  throw nb::type_error("the names of arguments, and those of a list's elements, which are the keys "
                       "of a dict, are strings of whole "
                       "characters other than NUL");
}

void python::releaseUnused() { Released::drain(); }

tokamak_value *python::valueOf(PyObject *object) {
  if (PyArray_CheckExact(object))
    if (tokamak_value *value = valueOfArray(reinterpret_cast<PyArrayObject *>(object)))
      return value;
  if (PyFloat_Check(object))
    return tokamak_value_of_double(PyFloat_AS_DOUBLE(object));
  if (PyBool_Check(object))
    return tokamak_value_of_boolean(object == Py_True);
  if (PyLong_Check(object))
    return valueOfInteger(object);
  if (PyUnicode_Check(object))
    return valueOfText(object);
  if (PyArray_CheckScalar(object) && !PyArray_Check(object)) {
    nb::object plain = nb::borrow(object).attr("item")();
    if (!PyArray_CheckScalar(plain.ptr()))
      return valueOf(plain.ptr());
  }
  if (PyDict_CheckExact(object))
    return valueOfDict(object);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    std::vector<nb::object> elements;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
      elements.push_back(nb::borrow(PySequence_Fast_GET_ITEM(object, i)));
    return valueOfList(elements, nullptr);
  }
  Value *known;
  if (nb::try_cast(nb::handle(object), known) && known)
    return tokamak_value_share(known->get());
  nb::object other = convertOther(nb::handle(object));
  return valueOf(other.ptr());
}

Value python::csrValue(nb::object cells, nb::object indices, nb::object offsets, int64_t rows,
                       int64_t columns) {
  auto array = [](nb::object &object, int type) {
    object = nb::steal(PyArray_FROMANY(object.ptr(), type, 1, 1, NPY_ARRAY_CARRAY_RO));
    if (!object.is_valid())
      throw nb::python_error();
    return reinterpret_cast<PyArrayObject *>(object.ptr());
  };
  bool isSingle = PyArray_Check(cells.ptr()) &&
                  PyArray_TYPE(reinterpret_cast<PyArrayObject *>(cells.ptr())) == NPY_FLOAT32;
  PyArrayObject *cellArray = array(cells, isSingle ? NPY_FLOAT32 : NPY_FLOAT64),
                *indexArray = array(indices, NPY_INT32), *offsetArray = array(offsets, NPY_INT64);
  if (PyArray_DIM(offsetArray, 0) != rows + 1)
    throw nb::value_error("a sparse matrix has one offset more than rows");
  int64_t entries = static_cast<const int64_t *>(PyArray_DATA(offsetArray))[rows];
  if (PyArray_DIM(indexArray, 0) < entries || PyArray_DIM(cellArray, 0) < entries)
    throw nb::value_error("a sparse matrix has fewer entries than its last offset says");
  nb::object owner = nb::make_tuple(cells, indices, offsets);
  tokamak_value *value = nullptr;
  check(tokamak_value_of_csr(isSingle ? TOKAMAK_F32 : TOKAMAK_F64, rows, columns,
                             static_cast<const int64_t *>(PyArray_DATA(offsetArray)),
                             static_cast<const int32_t *>(PyArray_DATA(indexArray)),
                             PyArray_DATA(cellArray), Released::add, owner.release().ptr(),
                             &value));
  return Value(value);
}

Value python::frameValue(int64_t rows, nb::list columns) {
  std::vector<tokamak_column> made(columns.size());
  std::vector<std::string> names(columns.size()), bytes(columns.size());
  std::vector<std::vector<int64_t>> offsets(columns.size());
  std::vector<std::vector<uint8_t>> missing(columns.size());
  std::vector<nb::object> held;
  for (size_t i = 0; i < columns.size(); ++i) {
    nb::tuple column = nb::cast<nb::tuple>(columns[i]);
    nb::object cells = column[1];
    names[i] = nb::cast<std::string>(column[0]);
    made[i].size = sizeof(tokamak_column);
    made[i].name = names[i].c_str();
    if (PyArray_Check(cells.ptr())) {
      auto *array = reinterpret_cast<PyArrayObject *>(cells.ptr());
      int type = PyArray_TYPE(array);
      made[i].kind = type == NPY_FLOAT64 ? TOKAMAK_DOUBLE
                     : type == NPY_BOOL  ? TOKAMAK_BOOLEAN
                                         : TOKAMAK_INTEGER;
      if (!PyArray_ISCARRAY_RO(array) || PyArray_SIZE(array) != rows ||
          (made[i].kind == TOKAMAK_INTEGER && type != NPY_INT64))
        throw nb::value_error(
            "a column is an array of float64, int64 or bool with one cell for each row");
      made[i].cells = PyArray_DATA(array);
      held.push_back(cells);
      continue;
    }
    nb::list texts = nb::cast<nb::list>(cells);
    if (static_cast<int64_t>(texts.size()) != rows)
      throw nb::value_error("a column has one cell for each row");
    offsets[i].push_back(0);
    for (nb::handle text : texts) {
      Py_ssize_t size = 0;
      const char *utf8 = text.is_none() ? "" : PyUnicode_AsUTF8AndSize(text.ptr(), &size);
      if (!utf8)
        throw nb::python_error();
      bytes[i].append(utf8, static_cast<size_t>(size));
      offsets[i].push_back(static_cast<int64_t>(bytes[i].size()));
      missing[i].push_back(text.is_none());
    }
    made[i].kind = TOKAMAK_TEXT;
    made[i].cells = bytes[i].data();
    made[i].offsets = offsets[i].data();
    made[i].missing = missing[i].data();
  }
  tokamak_value *value = nullptr;
  check(tokamak_value_of_frame(rows, made.size(), made.data(), &value));
  return Value(value);
}

void python::setUpValues(nb::dict errors, nb::object convert) {
  errorClasses = errors.release();
  convertOther = convert.release();
}
