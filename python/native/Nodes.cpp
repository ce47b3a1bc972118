#include "Nodes.h"

#include "NumpyArrays.h"

#include <structmember.h>

#include <algorithm>
#include <utility>

using namespace tokamak;
using namespace tokamak::python;

namespace {

// Never freed.
PyTypeObject *nodeType;
PyTypeObject *arrayType; // tokamak.arrays.array.Array, which derives from ArrayBase
nb::handle shortened;    // what is called with a node whose graph is too deep
int largestDepth;

long long nextSerial() {
  static long long next = 0; // the interpreter's lock is held
  return next++;
}

//===- nodes ---------------------------------------------------------------------------------===//

void setMember(PyObject *&member, PyObject *value) {
  Py_INCREF(value);
  Py_XSETREF(member, value);
}

// Takes depth and flags from the inputs.
void look(Node *node) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->inputs); ++i) {
    PyObject *input = PyTuple_GET_ITEM(node->inputs, i);
    if (input == Py_None)
      continue;
    auto *each = reinterpret_cast<Node *>(input);
    node->depth = std::max(node->depth, each->depth);
    node->isTraced |= each->isTraced;
  }
  node->depth += 1;
}

int initNode(PyObject *self, PyObject *arguments, PyObject *named) {
  static const char *names[] = {"op", "inputs", "dtype", "shape", "attributes", nullptr};
  PyObject *op, *inputs, *dtype, *shape, *attributes = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, named, "OO!OO|O:Node", const_cast<char **>(names),
                                   &op, &PyTuple_Type, &inputs, &dtype, &shape, &attributes))
    return -1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(inputs); ++i)
    if (PyObject *input = PyTuple_GET_ITEM(inputs, i);
        input != Py_None && Py_TYPE(input) != nodeType) {
      PyErr_SetString(PyExc_TypeError, "the inputs of a node are nodes or None");
      return -1;
    }
  auto *node = reinterpret_cast<Node *>(self);
  setMember(node->op, op);
  setMember(node->inputs, inputs);
  setMember(node->dtype, dtype);
  setMember(node->shape, shape);
  if (attributes)
    setMember(node->attributes, attributes);
  else
    Py_XSETREF(node->attributes, PyTuple_New(0));
  node->serial = nextSerial();
  look(node);
  if (node->depth <= largestDepth || node->isTraced || !shortened.is_valid())
    return 0;
  PyObject *done = PyObject_CallOneArg(shortened.ptr(), self);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

template <typename Visit> int visitMembers(Node *node, Visit visit) {
  for (PyObject **member : {&node->op, &node->inputs, &node->attributes, &node->dtype, &node->shape,
                            &node->value, &node->handle})
    if (int stopped = visit(*member))
      return stopped;
  return 0;
}

int traverseNode(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  return visitMembers(reinterpret_cast<Node *>(self),
                      [&](PyObject *&member) { return member ? visit(member, arg) : 0; });
}

int clearNode(PyObject *self) {
  return visitMembers(reinterpret_cast<Node *>(self), [](PyObject *&member) {
    Py_CLEAR(member);
    return 0;
  });
}

// A loop that is written out makes chains of thousands of nodes, which are freed one by one and not by recursion.
void freeNode(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, freeNode) clearNode(self);
  type->tp_free(self);
  Py_DECREF(type);
  Py_TRASHCAN_END
}

PyMemberDef nodeMembers[] = {{"op", T_OBJECT, offsetof(Node, op), 0, nullptr},
                             {"inputs", T_OBJECT, offsetof(Node, inputs), 0, nullptr},
                             {"attributes", T_OBJECT, offsetof(Node, attributes), 0, nullptr},
                             {"dtype", T_OBJECT, offsetof(Node, dtype), READONLY, nullptr},
                             {"shape", T_OBJECT, offsetof(Node, shape), READONLY, nullptr},
                             {"value", T_OBJECT, offsetof(Node, value), 0, nullptr},
                             {"handle", T_OBJECT, offsetof(Node, handle), READONLY, nullptr},
                             {"serial", T_LONGLONG, offsetof(Node, serial), READONLY, nullptr},
                             {"depth", T_INT, offsetof(Node, depth), 0, nullptr},
                             {"is_traced", T_BOOL, offsetof(Node, isTraced), 0, nullptr},
                             {"is_computed", T_BOOL, offsetof(Node, isComputed), 0, nullptr},
                             {"is_weak", T_BOOL, offsetof(Node, isWeak), 0, nullptr},
                             {nullptr, 0, 0, 0, nullptr}};

PyType_Slot nodeSlots[] = {{Py_tp_init, reinterpret_cast<void *>(initNode)},
                           {Py_tp_new, reinterpret_cast<void *>(PyType_GenericNew)},
                           {Py_tp_traverse, reinterpret_cast<void *>(traverseNode)},
                           {Py_tp_clear, reinterpret_cast<void *>(clearNode)},
                           {Py_tp_dealloc, reinterpret_cast<void *>(freeNode)},
                           {Py_tp_members, nodeMembers},
                           {0, nullptr}};

PyType_Spec nodeSpec = {"tokamak._native.Node", sizeof(Node), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, nodeSlots};

//===- arrays --------------------------------------------------------------------------------===//

// Notes that a caller has an array of the node, if no other one does.
int noteHandle(Node *node, PyObject *array) {
  if (node->handle && node->handle != Py_None) {
    PyObject *other = PyObject_CallNoArgs(node->handle);
    if (!other)
      return -1;
    bool lives = other != Py_None;
    Py_DECREF(other);
    if (lives)
      return 0;
  }
  PyObject *made = PyWeakref_NewRef(array, nullptr);
  if (!made)
    return -1;
  Py_XSETREF(node->handle, made);
  return 0;
}

int setNode(PyObject *self, PyObject *value, void *) {
  if (!value || Py_TYPE(value) != nodeType) {
    PyErr_SetString(PyExc_TypeError, "an array is made by asarray() and by functions of arrays");
    return -1;
  }
  auto *array = reinterpret_cast<ArrayBase *>(self);
  Py_INCREF(value);
  Node *former = std::exchange(array->node, reinterpret_cast<Node *>(value));
  Py_XDECREF(former);
  return noteHandle(array->node, self);
}

PyObject *getNode(PyObject *self, void *) {
  auto *node = reinterpret_cast<PyObject *>(reinterpret_cast<ArrayBase *>(self)->node);
  if (!node)
    PyErr_SetString(PyExc_AttributeError, "_node");
  else
    Py_INCREF(node);
  return node;
}

int initArray(PyObject *self, PyObject *arguments, PyObject *named) {
  if ((named && PyDict_GET_SIZE(named) != 0) || PyTuple_GET_SIZE(arguments) != 1) {
    PyErr_SetString(PyExc_TypeError, "an array is made by asarray() and by functions of arrays");
    return -1;
  }
  reinterpret_cast<ArrayBase *>(self)->serial = nextSerial();
  return setNode(self, PyTuple_GET_ITEM(arguments, 0), nullptr);
}

int traverseArray(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<ArrayBase *>(self)->node);
  return 0;
}

int clearArray(PyObject *self) {
  Py_CLEAR(reinterpret_cast<ArrayBase *>(self)->node);
  return 0;
}

void freeArray(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<ArrayBase *>(self)->weakReferences)
    PyObject_ClearWeakRefs(self);
  clearArray(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef arrayMembers[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayBase, weakReferences), READONLY, nullptr},
    {"_serial", T_LONGLONG, offsetof(ArrayBase, serial), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef arrayProperties[] = {{"_node", getNode, setNode, nullptr, nullptr},
                                 {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot arraySlots[] = {{Py_tp_init, reinterpret_cast<void *>(initArray)},
                            {Py_tp_new, reinterpret_cast<void *>(PyType_GenericNew)},
                            {Py_tp_traverse, reinterpret_cast<void *>(traverseArray)},
                            {Py_tp_clear, reinterpret_cast<void *>(clearArray)},
                            {Py_tp_dealloc, reinterpret_cast<void *>(freeArray)},
                            {Py_tp_members, arrayMembers},
                            {Py_tp_getset, arrayProperties},
                            {0, nullptr}};

PyType_Spec arraySpec = {"tokamak._native.ArrayBase", sizeof(ArrayBase), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, arraySlots};

PyTypeObject *newType(nb::module_ &module, PyType_Spec &spec, const char *name) {
  nb::object made = nb::steal(PyType_FromSpec(&spec));
  if (!made.is_valid())
    throw nb::python_error();
  module.attr(name) = made;
  return reinterpret_cast<PyTypeObject *>(made.release().ptr());
}

} // namespace

PyObject *python::cellsOf(PyObject *object) {
  if (PyArray_CheckExact(object))
    return object;
  if (Py_TYPE(object) != arrayType)
    return nullptr;
  Node *node = reinterpret_cast<ArrayBase *>(object)->node;
  PyObject *value = node ? node->value : nullptr;
  return value && PyArray_CheckExact(value) ? value : nullptr;
}

// What leaf() in graph.py and Array() do. Nobody needs to know that a caller has the array: its cells are there.
nb::object python::arrayOfCells(nb::object cells) {
  if (!PyArray_CheckExact(cells.ptr()))
    cells = nb::steal(PyArray_FromAny(cells.ptr(), nullptr, 0, 0, 0, nullptr));
  if (!cells.is_valid())
    throw nb::python_error();
  auto *numpy = reinterpret_cast<PyArrayObject *>(cells.ptr());
  nb::object shape = nb::steal(PyTuple_New(PyArray_NDIM(numpy)));
  for (int i = 0; i < PyArray_NDIM(numpy); ++i)
    PyTuple_SET_ITEM(shape.ptr(), i, PyLong_FromSsize_t(PyArray_DIM(numpy, i)));
  nb::object object = nb::steal(nodeType->tp_alloc(nodeType, 0));
  nb::object made = nb::steal(arrayType->tp_alloc(arrayType, 0));
  if (!object.is_valid() || !made.is_valid())
    throw nb::python_error();
  auto *node = reinterpret_cast<Node *>(object.ptr());
  node->inputs = PyTuple_New(0);
  node->attributes = PyTuple_New(0);
  node->dtype = nb::borrow(reinterpret_cast<PyObject *>(PyArray_DESCR(numpy))).release().ptr();
  node->shape = shape.release().ptr();
  node->value = cells.release().ptr();
  node->serial = nextSerial();
  auto *array = reinterpret_cast<ArrayBase *>(made.ptr());
  array->serial = nextSerial();
  array->node = reinterpret_cast<Node *>(object.release().ptr());
  return made;
}

void python::giveValue(Node *node, PyObject *cells) {
  nb::object nothing = nb::steal(PyTuple_New(0));
  setMember(node->value, cells);
  setMember(node->op, Py_None);
  setMember(node->inputs, nothing.ptr());
  setMember(node->attributes, nothing.ptr());
  node->depth = 0;
}

void python::defineNodes(nb::module_ &module) {
  nodeType = newType(module, nodeSpec, "Node");
  newType(module, arraySpec, "ArrayBase");
  module.def("next_serial", nextSerial);
  // deep: called with a new node whose graph is deeper than `depth`, unless a function is being traced.
  module.def("set_up_nodes", [](nb::object deep, int depth) {
    shortened = deep.release();
    largestDepth = depth;
  });
  module.def("set_up_arrays", [](nb::object type) {
    arrayType = reinterpret_cast<PyTypeObject *>(type.release().ptr());
  });
}
