// What lazy arrays are made of (tokamak/arrays/graph.py): nodes of a graph, and arrays that hold one. They are types of C because
// each operator makes one of each, and because compiled functions take arrays apart and make new ones at each call.
//
//   node = _native.Node("Add", (x, y), dtype, (3,))
//   class Array(_native.ArrayBase): ...          # Array(node); array._node
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace nb = nanobind;

namespace tokamak::python {

// One operator's result. Null members are None.
struct Node {
  PyObject_HEAD PyObject *op; // a text; None of nodes whose cells are there
  PyObject *inputs;           // a tuple of nodes and None
  PyObject *attributes; // a tuple of (name, value), a number, subgraphs: what graph.py makes of it
  PyObject *dtype, *shape;
  PyObject *value;  // the cells, an array of NumPy
  PyObject *handle; // a weak reference to an array that a caller may have
  long long serial; // in the order in which nodes were made
  int depth;        // of the graph without cells below it
  char isTraced, isComputed, isWeak;
  // Of the structure that was asked for last (Structure.cpp).
  long long visit;
  Py_ssize_t number;
  int cellOperators;
  char isTarget, isUsedByNew;
};

struct ArrayBase {
  PyObject_HEAD Node *node;
  PyObject *weakReferences;
  long long serial; // when it was made, as of nodes
};

// The cells that the object's array has, a borrowed array of NumPy: of an array whose cells are there, or of NumPy's. Null else.
PyObject *cellsOf(PyObject *object);

// A new array of these cells; what is no array of NumPy becomes one first.
nb::object arrayOfCells(nb::object cells);

// The node needs its inputs no more.
void giveValue(Node *node, PyObject *cells);

void defineNodes(nb::module_ &module);

} // namespace tokamak::python
