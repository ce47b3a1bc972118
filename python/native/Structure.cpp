#include "Structure.h"

#include "Nodes.h"
#include "NumpyArrays.h"

#include <algorithm>
#include <utility>
#include <vector>

using namespace tokamak;
using namespace tokamak::python;

namespace {

Node *nodeAt(PyObject *tuple, Py_ssize_t i) {
  PyObject *input = PyTuple_GET_ITEM(tuple, i);
  return input == Py_None ? nullptr : reinterpret_cast<Node *>(input);
}

bool hasValue(const Node *node) { return node->value && node->value != Py_None; }

bool contains(nb::handle set, PyObject *object) {
  int found = PySet_Contains(set.ptr(), object);
  if (found < 0)
    throw nb::python_error();
  return found != 0;
}

bool isText(PyObject *object, const char *text) {
  return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, text) == 0;
}

// The interpreter's lock is held throughout, and nothing is made that Python may collect garbage for until all marks in nodes are read,
// so that they are of one structure at a time. Nodes keep their inputs meanwhile (evaluate() in graph.py).
class Structure {
public:
  Structure(nb::list targets, nb::handle cellOperators, nb::handle many, long long small, int most)
      : cellOperators_(cellOperators), many_(many), small_(small), most_(most) {
    static long long visits = 0;
    visit_ = ++visits;
    for (nb::handle target : targets)
      add(reinterpret_cast<Node *>(target.ptr()));
    for (nb::handle target : targets) {
      auto *node = reinterpret_cast<Node *>(target.ptr());
      node->isTarget = 1;
      outputs_.push_back(node);
    }
    keepOthers();
  }

  nb::object result(nb::handle threads) {
    std::vector<nb::object> key{nb::borrow(threads)};
    Py_ssize_t number = 0;
    for (Node *node : leaves_) {
      node->number = number++;
      key.push_back(nb::borrow(node->dtype));
      key.push_back(nb::int_(PyTuple_GET_SIZE(node->shape)));
    }
    key.push_back(nb::none());
    for (Node *node : order_) {
      node->number = number++;
      addTo(key, node);
    }
    key.push_back(nb::none());
    for (const Node *node : outputs_)
      key.push_back(nb::int_(node->number));
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(key.size())));
    for (size_t i = 0; i < key.size(); ++i)
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), key[i].release().ptr());
    return nb::make_tuple(listOf(order_), listOf(leaves_), listOf(scalars_), listOf(outputs_),
                          tuple);
  }

private:
  // Without recursion: graphs can be deep.
  void add(Node *target) {
    std::vector<std::pair<Node *, bool>> stack{{target, false}};
    while (!stack.empty()) {
      auto [node, isReady] = stack.back();
      stack.pop_back();
      if (isReady) {
        order_.push_back(node);
        continue;
      }
      if (node->visit == visit_)
        continue;
      node->visit = visit_;
      node->isTarget = node->isUsedByNew = 0;
      node->cellOperators = 0;
      if (hasValue(node)) {
        leaves_.push_back(node);
        continue;
      }
      stack.push_back({node, true});
      for (Py_ssize_t i = PyTuple_GET_SIZE(node->inputs); i-- > 0;)
        if (Node *input = nodeAt(node->inputs, i); input && input->visit != visit_)
          stack.push_back({input, false});
    }
  }

  // What a caller can still ask for gets a value, too, unless it is large and few operators on cells make it; and what an
  // earlier evaluation had computed already.
  void keepOthers() {
    for (Node *node : order_)
      for (Py_ssize_t i = 0; !node->isComputed && i < PyTuple_GET_SIZE(node->inputs); ++i)
        if (Node *input = nodeAt(node->inputs, i))
          input->isUsedByNew = 1;
    for (Node *node : order_) {
      long long count = most_ + 1;
      if (contains(cellOperators_, node->op)) {
        count = 1;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->inputs); ++i)
          if (Node *input = nodeAt(node->inputs, i))
            count += input->cellOperators;
      }
      node->cellOperators = static_cast<int>(std::min<long long>(count, most_ + 1));
      if (node->isTarget || PyTuple_GET_SIZE(node->inputs) == 0 || contains(many_, node->op))
        continue;
      bool isHeld = isAskedFor(node), isCheap = count <= most_ && isLarge(node);
      if ((isHeld && !isCheap) || (node->isComputed && (isHeld || node->isUsedByNew))) {
        outputs_.push_back(node);
        node->cellOperators = 0;
      }
    }
  }

  static bool isAskedFor(const Node *node) {
    if (!node->handle || node->handle == Py_None)
      return false;
    nb::object array = nb::steal(PyObject_CallNoArgs(node->handle));
    if (!array.is_valid())
      throw nb::python_error();
    return !array.is_none();
  }

  bool isLarge(const Node *node) const {
    double cells = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(node->shape); ++i)
      cells *= PyLong_AsDouble(PyTuple_GET_ITEM(node->shape, i));
    return cells > static_cast<double>(small_);
  }

  // Numbers of Python are no part of the key; of loops and branches their keys are, and not the nodes, which would live as
  // long as the key.
  void addTo(std::vector<nb::object> &key, Node *node) {
    if (isText(node->op, "scalar")) {
      key.push_back(nb::borrow(node->dtype));
      scalars_.push_back(node);
      return;
    }
    key.push_back(nb::borrow(node->op));
    nb::object attributes = nb::borrow(node->attributes);
    if (isText(node->op, "Loop"))
      key.push_back(attributes.attr("key"));
    else if (isText(node->op, "If"))
      for (size_t branch : {0, 1})
        key.push_back(attributes[branch].attr("key"));
    else
      key.push_back(std::move(attributes));
    Py_ssize_t count = PyTuple_GET_SIZE(node->inputs);
    key.push_back(nb::int_(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      Node *input = nodeAt(node->inputs, i);
      key.push_back(nb::int_(input ? input->number : -1));
    }
  }

  static nb::object listOf(const std::vector<Node *> &nodes) {
    nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(nodes.size())));
    for (size_t i = 0; i < nodes.size(); ++i)
      PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i),
                      nb::borrow(reinterpret_cast<PyObject *>(nodes[i])).release().ptr());
    return list;
  }

  nb::handle cellOperators_, many_;
  long long small_, visit_;
  int most_;
  std::vector<Node *> order_, leaves_, scalars_, outputs_;
};

// All of `order` were computed now; the outputs have values, and need no inputs any more.
void giveValues(nb::list order, nb::list outputs, nb::sequence values) {
  for (nb::handle node : order)
    reinterpret_cast<Node *>(node.ptr())->isComputed = 1;
  for (size_t i = 0; i < outputs.size(); ++i) {
    nb::object cells = values[i];
    if (!PyArray_Check(cells.ptr()))
      cells = nb::steal(PyArray_FromAny(cells.ptr(), nullptr, 0, 0, 0, nullptr));
    if (!cells.is_valid())
      throw nb::python_error();
    giveValue(reinterpret_cast<Node *>(outputs[i].ptr()), cells.ptr());
  }
}

} // namespace

void python::defineStructure(nb::module_ &module) {
  module.def(
      "structure",
      [](nb::list targets, nb::handle threads, nb::handle cellOperators, nb::handle many,
         long long small, int most) {
        return Structure(std::move(targets), cellOperators, many, small, most).result(threads);
      },
      nb::arg("targets"), nb::arg("threads").none(), nb::arg("cell_operators"), nb::arg("many"),
      nb::arg("small"), nb::arg("most"));
  module.def("give_values", giveValues);
}
