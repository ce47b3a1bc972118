#include "Programs.h"

#include "Interrupts.h"
#include "Objects.h"
#include "Values.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

using namespace tokamak;
using namespace tokamak::python;

namespace {

// An exception of what a call calls ends it. What compiles in the background has none.
void endCall(PyObject *where) {
  auto exception = std::make_unique<nb::python_error>();
  if (tokamak_stop_call(exception.get())) {
    exception.release(); // check() throws it
  } else {
    exception->restore();
    PyErr_WriteUnraisable(where);
  }
}

// What scripts print goes to sys.stdout, which may be None, and warnings to Python's.
void writeOutput(void *, const char *text, size_t bytes) {
  WithLock lock;
  nb::object output = nb::borrow(PySys_GetObject("stdout"));
  if (!output.is_valid() || output.is_none())
    return;
  nb::object written =
      nb::steal(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(bytes), "replace"));
  if (!written.is_valid() || PyFile_WriteObject(written.ptr(), output.ptr(), Py_PRINT_RAW) != 0)
    endCall(output.ptr());
}

void writeWarning(void *, const char *text) {
  WithLock lock;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text, 1) != 0)
    endCall(nullptr); // warnings are errors
}

// The arguments of a call.
class Arguments {
public:
  Arguments(PyObject *const *positional, Py_ssize_t count, PyObject *named) {
    arguments_.reserve(static_cast<size_t>(count + (named ? PyDict_GET_SIZE(named) : 0)));
    try {
      for (Py_ssize_t i = 0; i < count; ++i)
        add(nullptr, positional[i]);
      PyObject *key, *object;
      Py_ssize_t position = 0;
      while (named && PyDict_Next(named, &position, &key, &object)) {
        add(nameOf(key), object);
      }
    } catch (...) {
      release();
      throw;
    }
  }
  ~Arguments() { release(); }
  Arguments(const Arguments &) = delete;
  Arguments &operator=(const Arguments &) = delete;
  const tokamak_argument *data() const { return arguments_.data(); }
  size_t size() const { return arguments_.size(); }

private:
  // None: not given.
  void add(const char *name, PyObject *object) {
    if (name && object == Py_None)
      return;
    arguments_.push_back({name, nullptr});
    arguments_.back().value = valueOf(object);
  }
  void release() {
    for (const tokamak_argument &argument : arguments_)
      tokamak_value_free(argument.value);
    releaseUnused();
  }
  std::vector<tokamak_argument> arguments_;
};

nb::object described(const tokamak_parameter &parameter) {
  nb::object text = parameter.default_text ? textObject(parameter.default_text) : nb::none();
  return nb::make_tuple(textObject(parameter.name), textObject(parameter.type), text);
}

// The slot of calls: nanobind's own way of passing any arguments makes lists of them first.
PyObject *callFunction(PyObject *self, PyObject *positional, PyObject *named) {
  return withoutExceptions([&] {
    return nb::inst_ptr<Function>(self)->call(PySequence_Fast_ITEMS(positional),
                                              PyTuple_GET_SIZE(positional), named);
  });
}

// Found in a class it stays as it is. That there is such a slot makes a function a routine for help().
PyObject *getFunction(PyObject *self, PyObject *, PyObject *) {
  Py_INCREF(self);
  return self;
}

PyType_Slot functionSlots[] = {{Py_tp_call, reinterpret_cast<void *>(callFunction)},
                               {Py_tp_descr_get, reinterpret_cast<void *>(getFunction)},
                               {0, nullptr}};

} // namespace

python::Script::Script(const std::string &name, nb::object source, int threads, int precision,
                       std::optional<int64_t> seed, std::optional<std::string> cache,
                       const std::string &libraries, const std::string &disable, bool keepsSparse)
    : keepsSparse_(keepsSparse) {
  tokamak_options options = {};
  options.size = sizeof options;
  options.threads = threads;
  options.precision = static_cast<tokamak_precision>(precision);
  options.has_seed = seed.has_value();
  options.seed = seed.value_or(0);
  options.cache = cache ? cache->c_str() : nullptr;
  options.libraries = libraries.c_str();
  options.disable = disable.c_str();
  options.output = writeOutput;
  options.warning = writeWarning;
  std::optional<std::string> text;
  std::string_view bytes;
  if (nb::isinstance<nb::bytes>(source))
    bytes = {nb::cast<nb::bytes>(source).c_str(), nb::cast<nb::bytes>(source).size()};
  else if (!source.is_none())
    text = nb::cast<std::string>(source);
  tokamak_error *error;
  {
    WithoutLock section;
    error = text ? tokamak_program_compile(name.c_str(), text->c_str(), &options, &script_)
            : bytes.data() ? tokamak_program_compile_model(name.c_str(), bytes.data(), bytes.size(),
                                                           &options, &script_)
                           : tokamak_program_compile_file(name.c_str(), &options, &script_);
  }
  check(error);
}

// What compiles in the background may warn, for which it needs the interpreter's lock.
python::Script::~Script() {
  WithoutLock section;
  tokamak_program_free(script_);
}

std::vector<std::string> python::Script::names() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < tokamak_program_function_count(script_); ++i)
    names.emplace_back(tokamak_function_name(tokamak_program_function_at(script_, i)));
  return names;
}

tokamak_function *python::Script::find(const std::string &name) const {
  tokamak_function *function = nullptr;
  tokamak_error *error;
  {
    WithoutLock section;
    error = tokamak_program_function(script_, name.c_str(), &function);
  }
  check(error);
  return function;
}

void python::Script::run(const std::vector<std::string> &names,
                         const std::vector<std::string> &texts) {
  std::vector<const char *> namePointers, textPointers;
  for (size_t i = 0; i < names.size(); ++i) {
    namePointers.push_back(names[i].c_str());
    textPointers.push_back(texts[i].c_str());
  }
  callUnlocked([&] {
    return tokamak_program_run(script_, names.size(), namePointers.data(), textPointers.data());
  });
}

nb::object python::Script::counts() const {
  tokamak_value *counts = nullptr;
  tokamak_error *error;
  {
    WithoutLock section;
    error = tokamak_program_counts(script_, &counts);
  }
  check(error);
  Value held(counts);
  return objectOf(counts, false);
}

python::Function::Function(nb::object script, const std::string &name)
    : script_(std::move(script)), keepsSparse_(nb::cast<Script &>(script_).keepsSparse()),
      function_(nb::cast<Script &>(script_).find(name)) {}

nb::object python::Function::name() const { return textObject(tokamak_function_name(function_)); }

nb::object python::Function::comment() const {
  return textObject(tokamak_function_comment(function_));
}

nb::object python::Function::signature() const {
  return textObject(tokamak_function_signature(function_));
}

nb::list python::Function::parameters() const {
  nb::list list;
  for (size_t i = 0; i < tokamak_function_parameter_count(function_); ++i)
    list.append(described(tokamak_function_parameter(function_, i)));
  return list;
}

nb::list python::Function::results() const {
  nb::list list;
  for (size_t i = 0; i < tokamak_function_result_count(function_); ++i)
    list.append(described(tokamak_function_result(function_, i)));
  return list;
}

nb::object python::Function::call(PyObject *const *positional, Py_ssize_t count,
                                  PyObject *named) const {
  Arguments arguments(positional, count, named);
  Value held(nullptr);
  callUnlocked([&] {
    return tokamak_function_call(function_, arguments.data(), arguments.size(), held.place());
  });
  tokamak_value *results = held.get();
  size_t resultCount = tokamak_value_count(results);
  auto result = [&](size_t i) {
    return objectOf(const_cast<tokamak_value *>(tokamak_value_element(results, i)), keepsSparse_);
  };
  if (resultCount == 0)
    return nb::none();
  if (resultCount == 1)
    return result(0);
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(resultCount)));
  for (size_t i = 0; i < resultCount; ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), result(i).release().ptr());
  return tuple;
}

nb::object python::Function::explanation(const std::string &what, nb::args positional,
                                         nb::kwargs named) const {
  Arguments arguments(PySequence_Fast_ITEMS(positional.ptr()), PyTuple_GET_SIZE(positional.ptr()),
                      named.ptr());
  Value text(nullptr);
  callUnlocked([&] {
    return tokamak_function_explain(function_, arguments.data(), arguments.size(), what.c_str(),
                                    text.place());
  });
  return objectOf(text.get(), false);
}

void python::definePrograms(nb::module_ &module) {
  nb::class_<Script>(module, "Script")
      .def(nb::init<const std::string &, nb::object, int, int, std::optional<int64_t>,
                    std::optional<std::string>, const std::string &, const std::string &, bool>(),
           nb::arg("name"), nb::arg("source").none(), nb::arg("threads"), nb::arg("precision"),
           nb::arg("seed").none(), nb::arg("cache").none(), nb::arg("libraries"),
           nb::arg("disable"), nb::arg("sparse"))
      .def("names", &Script::names)
      .def("run", &Script::run)
      .def("counts", &Script::counts);
  nb::class_<Function>(module, "Function", nb::type_slots(functionSlots), nb::dynamic_attr())
      .def(nb::init<nb::object, const std::string &>())
      .def_prop_ro("name", &Function::name)
      .def_prop_ro("comment", &Function::comment)
      .def_prop_ro("signature", &Function::signature)
      .def_prop_ro("parameters", &Function::parameters)
      .def_prop_ro("results", &Function::results)
      .def("explanation", &Function::explanation);
}
