// Objects of Python as values of libtokamak.so: numbers, texts, lists, and NumPy's arrays, without a copy where their
// cells lie row by row. What else there is (pandas, SciPy, Arrow, DLPack) is converted by tokamak/_convert.py first.
//
//   Value held(valueOf(object));
#pragma once

#include <nanobind/nanobind.h>

#include <tokamak.h>

#include <utility>

namespace nb = nanobind;

namespace tokamak::python {

// Throws the exception of Python that belongs to the error, and frees it; does nothing without one.
void check(tokamak_error *error);

// Lets go of objects whose cells no array uses any more; the caller holds the interpreter's lock.
void releaseUnused();

// A value that is an object of Python, too: what converts in more than one step.
class Value {
public:
  explicit Value(tokamak_value *value) : value_(value) {}
  Value(Value &&other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Value(const Value &) = delete;
  Value &operator=(const Value &) = delete;
  ~Value() { tokamak_value_free(value_); }
  tokamak_value *get() const { return value_; }
  tokamak_value **place() { return &value_; } // for what makes one; there is none yet

private:
  tokamak_value *value_;
};

// The text of a name, which lives as long as the object. Throws TypeError if it is none that C can have.
const char *nameOf(PyObject *object);

// A new value, which the caller frees. Throws TypeError or ValueError for what has none. Classes that derive from NumPy's array or from
// dict, such as masked arrays and SciPy's matrices by keys, are for _convert.py to know.
tokamak_value *valueOf(PyObject *object);

// While a list is converted, which may hold itself: lists within lists are as deep as Python allows calls.
class Nested {
public:
  Nested();
  ~Nested() { Py_LeaveRecursiveCall(); }
  Nested(const Nested &) = delete;
  Nested &operator=(const Nested &) = delete;
};

// What tokamak/_convert.py calls. A matrix of the three arrays of a CSR matrix, and a frame of columns: (name, cells), cells
// an array of f64, i64 or bool, or a list of strings and None.
Value csrValue(nb::object cells, nb::object indices, nb::object offsets, int64_t rows,
               int64_t columns);
Value frameValue(int64_t rows, nb::list columns);

// errors: status -> class; convert makes what valueOf knows of other objects.
void setUpValues(nb::dict errors, nb::object convert);

} // namespace tokamak::python
