#include "TracedCall.h"

#include "Nodes.h"
#include "NumpyArrays.h"
#include "Programs.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

using namespace tokamak;
using namespace tokamak::python;

namespace {

// What was noted before set_threads() is not used any more: it runs with another number of threads.
uint64_t generation = 0;

// What an argument must be like.
class Pattern {
public:
  // None for what only _call takes apart: lists, objects, arrays whose cells are not there yet.
  static std::optional<Pattern> of(PyObject *argument) {
    Pattern made;
    if (auto *cells = reinterpret_cast<PyArrayObject *>(cellsOf(argument))) {
      made.kind_ = Kind::cells;
      made.object_ = nb::borrow(reinterpret_cast<PyObject *>(PyArray_DESCR(cells)));
      made.sizes_.assign(PyArray_DIMS(cells), PyArray_DIMS(cells) + PyArray_NDIM(cells));
    } else if (PyFloat_CheckExact(argument)) {
      made.kind_ = Kind::number;
    } else if (PyLong_CheckExact(argument) || PyBool_Check(argument) ||
               PyUnicode_CheckExact(argument) || argument == Py_None) {
      made.kind_ = Kind::constant;
      made.object_ = nb::borrow(argument);
    } else {
      return std::nullopt;
    }
    return made;
  }

  bool matches(PyObject *argument) const {
    if (kind_ == Kind::number)
      return PyFloat_CheckExact(argument);
    if (kind_ == Kind::constant)
      return argument == object_.ptr() ||
             (Py_TYPE(argument) == Py_TYPE(object_.ptr()) &&
              PyObject_RichCompareBool(argument, object_.ptr(), Py_EQ) == 1);
    auto *cells = reinterpret_cast<PyArrayObject *>(cellsOf(argument));
    auto isSameType = [&] { // arrays that were unpickled have types of their own
      return reinterpret_cast<PyObject *>(PyArray_DESCR(cells)) == object_.ptr() ||
             PyArray_EquivTypes(PyArray_DESCR(cells),
                                reinterpret_cast<PyArray_Descr *>(object_.ptr()));
    };
    return cells && isSameType() && PyArray_NDIM(cells) == static_cast<int>(sizes_.size()) &&
           std::equal(sizes_.begin(), sizes_.end(), PyArray_DIMS(cells));
  }

  bool isInput() const { return kind_ != Kind::constant; }
  PyObject *object() const { return object_.ptr(); }

private:
  enum class Kind { cells, number, constant };
  Kind kind_;
  nb::object object_; // the type of cells, or the constant
  std::vector<npy_intp> sizes_;
};

// A program for all calls with such arguments.
struct Trace {
  uint64_t generation;
  std::vector<Pattern> patterns; // positional arguments, then those with names
  std::vector<nb::object> names; // of the latter
  nb::object function;           // a Function
  std::vector<size_t> taken;     // of the arguments that are inputs, those that the program reads
  std::vector<nb::object> constants; // arrays that follow them
  nb::object finish; // makes the result of what the program gives; None: it is one array

  bool matches(PyObject *positional, PyObject *named) const {
    size_t count = static_cast<size_t>(PyTuple_GET_SIZE(positional));
    size_t namedCount = named ? static_cast<size_t>(PyDict_GET_SIZE(named)) : 0;
    if (generation != ::generation || namedCount != names.size() ||
        count + namedCount != patterns.size())
      return false;
    for (size_t i = 0; i < patterns.size(); ++i) {
      PyObject *argument = argumentAt(positional, named, i);
      if (!argument)
        PyErr_Clear(); // a name that can't be compared
      if (!argument || !patterns[i].matches(argument))
        return false;
    }
    return true;
  }

  int traverse(visitproc visit, void *arg) const {
    for (const Pattern &pattern : patterns)
      Py_VISIT(pattern.object());
    for (const std::vector<nb::object> *objects : {&names, &constants})
      for (const nb::object &each : *objects)
        Py_VISIT(each.ptr());
    Py_VISIT(function.ptr());
    Py_VISIT(finish.ptr());
    return 0;
  }

  nb::object call(PyObject *positional, PyObject *named) const {
    std::vector<PyObject *> inputs, given;
    for (size_t i = 0; i < patterns.size(); ++i)
      if (patterns[i].isInput()) {
        PyObject *argument = argumentAt(positional, named, i);
        PyObject *cells = cellsOf(argument);
        inputs.push_back(cells ? cells : argument);
      }
    for (size_t number : taken)
      given.push_back(inputs[number]);
    for (const nb::object &constant : constants)
      given.push_back(constant.ptr());
    // While the program runs, other threads may assign to parts of an array, which gives it another node.
    std::vector<nb::object> held;
    for (PyObject *each : given)
      held.push_back(nb::borrow(each));
    nb::object found = nb::inst_ptr<Function>(function)->call(
        given.data(), static_cast<Py_ssize_t>(given.size()), nullptr);
    return finish.is_none() ? arrayOfCells(std::move(found)) : finish(found);
  }

private:
  PyObject *argumentAt(PyObject *positional, PyObject *named, size_t i) const { // borrowed
    size_t count = patterns.size() - names.size();
    return i < count ? PyTuple_GET_ITEM(positional, static_cast<Py_ssize_t>(i))
                     : PyDict_GetItemWithError(named, names[i - count].ptr());
  }
};

// Programs of calls in the order of their last use. A function that is called with more kinds of arguments is one whose time is
// that of its programs.
constexpr size_t mostTraces = 8;
using Traces = std::vector<std::shared_ptr<const Trace>>;

struct TracedCall {
  PyObject_HEAD Traces *traces;
};

PyObject *newCall(PyTypeObject *type, PyObject *, PyObject *) {
  PyObject *made = type->tp_alloc(type, 0);
  if (made)
    reinterpret_cast<TracedCall *>(made)->traces = new Traces;
  return made;
}

int traverseCall(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  for (const auto &trace : *reinterpret_cast<TracedCall *>(self)->traces)
    if (int stopped = trace->traverse(visit, arg))
      return stopped;
  return 0;
}

// What traces hold may run any code when it is freed, and let other threads run: nothing may find them then.
int clearCall(PyObject *self) {
  Traces former;
  former.swap(*reinterpret_cast<TracedCall *>(self)->traces);
  return 0;
}

void freeCall(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clearCall(self);
  delete reinterpret_cast<TracedCall *>(self)->traces;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject *call(PyObject *self, PyObject *positional, PyObject *named) {
  Traces &traces = *reinterpret_cast<TracedCall *>(self)->traces;
  for (size_t i = 0; i < traces.size(); ++i)
    if (traces[i]->matches(positional, named)) {
      std::rotate(traces.begin(), traces.begin() + i, traces.begin() + i + 1);
      std::shared_ptr<const Trace> trace = traces.front(); // another call may remove it
      return withoutExceptions([&] { return trace->call(positional, named); });
    }
  PyObject *method = PyObject_GetAttrString(self, "_call");
  PyObject *result = method ? PyObject_Call(method, positional, named) : nullptr;
  Py_XDECREF(method);
  return result;
}

// _remember(generation, arguments, options, function, taken, constants, finish): the generation is that in which the function was
// found. Does nothing if the arguments aren't plain.
PyObject *remember(PyObject *self, PyObject *arguments) {
  unsigned long long made;
  PyObject *positional, *named, *function, *taken, *constants, *finish;
  if (!PyArg_ParseTuple(arguments, "KO!O!OO!O!O", &made, &PyTuple_Type, &positional, &PyDict_Type,
                        &named, &function, &PyList_Type, &taken, &PyList_Type, &constants, &finish))
    return nullptr;
  return withoutExceptions([&]() -> nb::object {
    auto trace = std::make_shared<Trace>();
    trace->generation = made;
    auto add = [&](PyObject *argument) {
      std::optional<Pattern> pattern = Pattern::of(argument);
      if (pattern)
        trace->patterns.push_back(std::move(*pattern));
      return pattern.has_value();
    };
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(positional); ++i)
      if (!add(PyTuple_GET_ITEM(positional, i)))
        return nb::none();
    PyObject *name, *argument;
    Py_ssize_t position = 0;
    while (PyDict_Next(named, &position, &name, &argument)) {
      if (!add(argument))
        return nb::none();
      trace->names.push_back(nb::borrow(name));
    }
    trace->function = nb::borrow(function);
    for (nb::handle each : nb::borrow<nb::list>(taken))
      trace->taken.push_back(nb::cast<size_t>(each));
    for (nb::handle each : nb::borrow<nb::list>(constants))
      trace->constants.push_back(nb::borrow(each));
    trace->finish = nb::borrow(finish);
    Traces &traces = *reinterpret_cast<TracedCall *>(self)->traces;
    Traces kept = {std::move(trace)};
    for (const auto &each : traces)
      if (each->generation == generation && kept.size() < mostTraces)
        kept.push_back(each);
    kept.swap(traces); // the others are freed when nothing finds them any more
    return nb::none();
  });
}

PyMethodDef methods[] = {{"_remember", remember, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(newCall)},
                       {Py_tp_traverse, reinterpret_cast<void *>(traverseCall)},
                       {Py_tp_clear, reinterpret_cast<void *>(clearCall)},
                       {Py_tp_dealloc, reinterpret_cast<void *>(freeCall)},
                       {Py_tp_call, reinterpret_cast<void *>(call)},
                       {Py_tp_methods, methods},
                       {0, nullptr}};

PyType_Spec spec = {"tokamak._native.TracedCall", sizeof(TracedCall), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

} // namespace

void python::defineTracedCall(nb::module_ &module) {
  nb::object type = nb::steal(PyType_FromSpec(&spec));
  if (!type.is_valid())
    throw nb::python_error();
  module.attr("TracedCall") = type;
  module.def("forget_traced_calls", [] { ++generation; });
  module.def("generation_of_traced_calls", [] { return generation; });
}
