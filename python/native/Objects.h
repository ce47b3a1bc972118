// Values of libtokamak.so as objects of Python: what functions give back.
//
//   nb::object array = objectOf(value, /*keepsSparse=*/false);   // holds the value's cells if nobody else can see them
#pragma once

#include <nanobind/nanobind.h>

#include <tokamak.h>

namespace nb = nanobind;

namespace tokamak::python {

// Texts may hold bytes of files that are no UTF-8.
nb::object textObject(const char *text, size_t bytes);
nb::object textObject(const char *text);

// keepsSparse: sparse matrices become SciPy's instead of arrays of all cells.
nb::object objectOf(tokamak_value *value, bool keepsSparse);

// Functions of tokamak/_convert.py that make frames of pandas and matrices of SciPy.
void setUpObjects(nb::object frame, nb::object sparse);

} // namespace tokamak::python
