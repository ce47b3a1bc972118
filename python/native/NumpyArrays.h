// NumPy's interface in C, which all files of the extension share; Module.cpp imports it.
//
//   int type = PyArray_TYPE(reinterpret_cast<PyArrayObject *>(object));
#pragma once

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL tokamak_numpy
#ifndef TOKAMAK_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif

#include <nanobind/nanobind.h>

#include <numpy/arrayobject.h>
