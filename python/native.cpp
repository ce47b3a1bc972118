// The extension module tokamak._native: NumPy's arrays as values of libtokamak.so and back. What else there is in Python
// (pandas, SciPy, Arrow, DLPack) is converted by tokamak/_convert.py, which calls what stands here.
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numpy/arrayobject.h>

#include <tokamak.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace nb = nanobind;

namespace {

//===- errors --------------------------------------------------------------------------------===//

// Python's exceptions, which tokamak/__init__.py defines.
nb::handle errorClasses; // status -> class; never freed

// Texts may hold bytes of files that are no UTF-8.
nb::object textObject(const char *text, size_t bytes) {
  PyObject *made = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(bytes), "replace");
  if (!made)
    throw nb::python_error();
  return nb::steal(made);
}
nb::object textObject(const char *text) { return textObject(text, std::strlen(text)); }

[[noreturn]] void raise(tokamak_error *error) {
  std::unique_ptr<tokamak_error, decltype(&tokamak_error_free)> owner(error, tokamak_error_free);
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

void check(tokamak_error *error) {
  if (error) [[unlikely]]
    raise(error);
}

//===- owners of arrays ----------------------------------------------------------------------===//

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

//===- values --------------------------------------------------------------------------------===//

// A value as an object of Python: what converts in more than one step.
class Value {
public:
  explicit Value(tokamak_value *value) : value_(value) {}
  Value(Value &&other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Value(const Value &) = delete;
  Value &operator=(const Value &) = delete;
  ~Value() { tokamak_value_free(value_); }
  tokamak_value *get() const { return value_; }
  tokamak_value *take() { return std::exchange(value_, nullptr); }

private:
  tokamak_value *value_;
};

nb::handle convertOther; // tokamak._convert.value; never freed

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
  int64_t sizes[NPY_MAXDIMS];
  std::copy_n(PyArray_DIMS(array), PyArray_NDIM(array), sizes);
  tokamak_value *value = nullptr;
  check(tokamak_value_of_array(*type, PyArray_NDIM(array), sizes, PyArray_DATA(array),
                               Released::add, held.release().ptr(), &value));
  return value;
}

tokamak_value *valueOf(PyObject *object);

tokamak_value *valueOfText(PyObject *object) {
  Py_ssize_t bytes;
  const char *text = PyUnicode_AsUTF8AndSize(object, &bytes);
  if (!text)
    throw nb::python_error();
  tokamak_value *value = nullptr;
  check(tokamak_value_of_text(text, static_cast<size_t>(bytes), &value));
  return value;
}

// A list may hold itself.
class Nested {
public:
  Nested() {
    if (Py_EnterRecursiveCall(" while a list is converted"))
      throw nb::python_error();
  }
  ~Nested() { Py_LeaveRecursiveCall(); }
  Nested(const Nested &) = delete;
  Nested &operator=(const Nested &) = delete;
};

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
    const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : nullptr;
    if (!name) {
      PyErr_Clear();
      throw nb::type_error("the names of a list's elements, keys of a dict, are strings");
    }
    texts.emplace_back(name);
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

// A new value, which the caller frees.
tokamak_value *valueOf(PyObject *object) {
  if (PyArray_Check(object))
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
  if (PyDict_Check(object))
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

//===- results -------------------------------------------------------------------------------===//

nb::handle frameMade, sparseMade; // of tokamak._convert; never freed

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

nb::object objectOf(tokamak_value *value, bool keepsSparse);

nb::object listObject(tokamak_value *list, bool keepsSparse) {
  Nested section;
  size_t count = tokamak_value_count(list);
  bool isNamed = count > 0;
  for (size_t i = 0; i < count; ++i)
    isNamed &= *tokamak_value_name(list, i) != 0;
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

nb::object objectOf(tokamak_value *value, bool keepsSparse) {
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
  return sparseMade(part(array.type, entries, array.cells),
                    part(TOKAMAK_I32, entries, array.indices),
                    part(TOKAMAK_I64, array.sizes[0] + 1, array.offsets), array.sizes[0],
                    array.sizes[1]);
}

//===- interrupts ----------------------------------------------------------------------------===//

// While functions run in the main thread, Ctrl-C stops them, too; then Python's own handler has its turn.
std::atomic<int> runningInMain = 0;
struct sigaction formerAction;

void onInterrupt(int signal, siginfo_t *info, void *context) {
  if (runningInMain.load() > 0)
    tokamak_interrupt();
  if (formerAction.sa_flags & SA_SIGINFO)
    formerAction.sa_sigaction(signal, info, context);
  else if (formerAction.sa_handler != SIG_DFL && formerAction.sa_handler != SIG_IGN)
    formerAction.sa_handler(signal);
}

bool handlesInterrupts = false;

// Called by the main thread, while Python handles interrupts itself.
void handleInterrupts() {
  struct sigaction action = {};
  action.sa_sigaction = onInterrupt;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGINT, &action, &formerAction);
  handlesInterrupts = true;
}

// Whoever sets a handler in Python replaces ours: notebooks do it for each cell. Asking takes as long as a tenth of a small
// call, and is done only now and then in a loop of calls.
void handleInterruptsAgain() {
  constexpr int64_t pause = 20'000'000; // ns
  static int64_t asked = 0;             // of the main thread
  timespec clock;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &clock);
  int64_t time = clock.tv_sec * 1'000'000'000 + clock.tv_nsec;
  if (!handlesInterrupts || time - asked < pause)
    return;
  asked = time;
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) == 0 &&
      !(now.sa_flags & SA_SIGINFO) && now.sa_handler == formerAction.sa_handler)
    handleInterrupts();
}

// Other threads run during a call.
class Unlocked {
public:
  Unlocked() {
    if (isMainThread())
      handleInterruptsAgain();
    state_ = PyEval_SaveThread();
    runningInMain += isMainThread();
  }
  ~Unlocked() {
    runningInMain -= isMainThread();
    PyEval_RestoreThread(state_);
  }
  Unlocked(const Unlocked &) = delete;
  Unlocked &operator=(const Unlocked &) = delete;

private:
  static bool isMainThread() {
    static thread_local const bool isMain = gettid() == getpid();
    return isMain;
  }
  PyThreadState *state_;
};

// What scripts print goes to sys.stdout, warnings to Python's.
void writeOutput(void *, const char *text, size_t bytes) {
  nb::gil_scoped_acquire lock;
  nb::object written = nb::steal(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(bytes), "replace"));
  nb::object output = nb::borrow(PySys_GetObject("stdout"));
  if (!output.is_valid() || !written.is_valid() ||
      PyFile_WriteObject(written.ptr(), output.ptr(), Py_PRINT_RAW) != 0)
    PyErr_WriteUnraisable(output.ptr());
}

void writeWarning(void *, const char *text) {
  nb::gil_scoped_acquire lock;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text, 1) != 0)
    PyErr_WriteUnraisable(nullptr); // warnings are errors, which can't pass through the call
}

//===- scripts -------------------------------------------------------------------------------===//

class Script {
public:
  // `source`: the text of a script, the bytes of a model, or None: the file of this name.
  Script(const std::string &name, nb::object source, int threads, int precision,
         std::optional<int64_t> seed, std::optional<std::string> cache, const std::string &libraries,
         const std::string &disable, bool keepsSparse)
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
      nb::gil_scoped_release section;
      error = text ? tokamak_program_compile(name.c_str(), text->c_str(), &options, &script_)
              : bytes.data() ? tokamak_program_compile_model(name.c_str(), bytes.data(), bytes.size(),
                                                             &options, &script_)
                             : tokamak_program_compile_file(name.c_str(), &options, &script_);
    }
    check(error);
  }
  // What compiles in the background may warn, for which it needs the interpreter's lock.
  ~Script() {
    nb::gil_scoped_release section;
    tokamak_program_free(script_);
  }
  Script(const Script &) = delete;
  Script &operator=(const Script &) = delete;

  tokamak_program *get() const { return script_; }
  bool keepsSparse() const { return keepsSparse_; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (size_t i = 0; i < tokamak_program_function_count(script_); ++i)
      names.emplace_back(tokamak_function_name(tokamak_program_function_at(script_, i)));
    return names;
  }
  tokamak_function *find(const std::string &name) const {
    tokamak_function *function = nullptr;
    tokamak_error *error;
    {
      nb::gil_scoped_release section;
      error = tokamak_program_function(script_, name.c_str(), &function);
    }
    check(error);
    return function;
  }
  void run(const std::vector<std::string> &names, const std::vector<std::string> &texts) {
    std::vector<const char *> namePointers, textPointers;
    for (size_t i = 0; i < names.size(); ++i) {
      namePointers.push_back(names[i].c_str());
      textPointers.push_back(texts[i].c_str());
    }
    tokamak_error *error;
    {
      Unlocked section;
      error = tokamak_program_run(script_, names.size(), namePointers.data(), textPointers.data());
    }
    check(error);
  }
  nb::object counts() const {
    tokamak_value *counts = nullptr;
    tokamak_error *error;
    {
      nb::gil_scoped_release section;
      error = tokamak_program_counts(script_, &counts);
    }
    check(error);
    Value held(counts);
    return objectOf(counts, false);
  }

private:
  tokamak_program *script_ = nullptr;
  bool keepsSparse_;
};

// The arguments of a call.
class Arguments {
public:
  Arguments(PyObject *positional, PyObject *named) {
    Py_ssize_t count = PyTuple_GET_SIZE(positional);
    arguments_.reserve(static_cast<size_t>(count + (named ? PyDict_GET_SIZE(named) : 0)));
    try {
      for (Py_ssize_t i = 0; i < count; ++i)
        add(nullptr, PyTuple_GET_ITEM(positional, i));
      PyObject *key, *object;
      Py_ssize_t position = 0;
      while (named && PyDict_Next(named, &position, &key, &object)) {
        const char *name = PyUnicode_AsUTF8(key);
        if (!name)
          throw nb::python_error();
        add(name, object);
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
    Released::drain();
  }
  std::vector<tokamak_argument> arguments_;
};

class Function {
public:
  Function(nb::object script, const std::string &name)
      : script_(std::move(script)), keepsSparse_(nb::cast<Script &>(script_).keepsSparse()),
        function_(nb::cast<Script &>(script_).find(name)) {}

  nb::object name() const { return textObject(tokamak_function_name(function_)); }
  nb::object comment() const { return textObject(tokamak_function_comment(function_)); }
  nb::object signature() const { return textObject(tokamak_function_signature(function_)); }
  nb::list parameters() const {
    nb::list list;
    for (size_t i = 0; i < tokamak_function_parameter_count(function_); ++i)
      list.append(described(tokamak_function_parameter(function_, i)));
    return list;
  }
  nb::list results() const {
    nb::list list;
    for (size_t i = 0; i < tokamak_function_result_count(function_); ++i)
      list.append(described(tokamak_function_result(function_, i)));
    return list;
  }
  // Of several results a tuple.
  nb::object call(PyObject *positional, PyObject *named) const {
    Arguments arguments(positional, named);
    tokamak_value *results = nullptr;
    tokamak_error *error;
    {
      Unlocked section;
      error = tokamak_function_call(function_, arguments.data(), arguments.size(), &results);
    }
    check(error);
    Value held(results);
    size_t count = tokamak_value_count(results);
    auto result = [&](size_t i) {
      return objectOf(const_cast<tokamak_value *>(tokamak_value_element(results, i)), keepsSparse_);
    };
    if (count == 0)
      return nb::none();
    if (count == 1)
      return result(0);
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; i < count; ++i)
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), result(i).release().ptr());
    return tuple;
  }
  nb::object explanation(const std::string &what, nb::args positional, nb::kwargs named) const {
    Arguments arguments(positional.ptr(), named.ptr());
    tokamak_value *text = nullptr;
    tokamak_error *error;
    {
      Unlocked section;
      error = tokamak_function_explain(function_, arguments.data(), arguments.size(), what.c_str(),
                                       &text);
    }
    check(error);
    Value held(text);
    return objectOf(text, false);
  }

private:
  static nb::object described(const tokamak_parameter &parameter) {
    nb::object text = parameter.default_text ? textObject(parameter.default_text) : nb::none();
    return nb::make_tuple(textObject(parameter.name), textObject(parameter.type), text);
  }
  nb::object script_; // lives as long as its function
  bool keepsSparse_;
  tokamak_function *function_;
};

// The slot of calls: nanobind's own way of passing any arguments makes lists of them first.
PyObject *callFunction(PyObject *self, PyObject *positional, PyObject *named) {
  try {
    return nb::inst_ptr<Function>(self)->call(positional, named).release().ptr();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (const nb::builtin_exception &error) {
    PyErr_SetString(error.type() == nb::exception_type::value_error ? PyExc_ValueError
                                                                    : PyExc_TypeError,
                    error.what());
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// Found in a class it stays as it is. That there is such a slot makes a function a routine for help().
PyObject *getFunction(PyObject *self, PyObject *, PyObject *) {
  Py_INCREF(self);
  return self;
}

PyType_Slot functionSlots[] = {{Py_tp_call, reinterpret_cast<void *>(callFunction)},
                               {Py_tp_descr_get, reinterpret_cast<void *>(getFunction)},
                               {0, nullptr}};

//===- what tokamak/_convert.py calls ----------------------------------------------------------===//

Value csrValue(nb::object cells, nb::object indices, nb::object offsets, int64_t rows,
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

// Columns: (name, cells), cells an array of f64, i64 or bool, or a list of strings and None.
Value frameValue(int64_t rows, nb::list columns) {
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
        throw nb::value_error("a column is an array of float64, int64 or bool with one cell for each row");
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

void setUp(nb::dict classes, nb::object convert, nb::object frame, nb::object sparse) {
  errorClasses = classes.release();
  convertOther = convert.release();
  frameMade = frame.release();
  sparseMade = sparse.release();
}

int importNumpy() {
  import_array1(-1);
  return 0;
}

} // namespace

NB_MODULE(_native, module) {
  if (importNumpy() != 0)
    throw nb::python_error();
  nb::class_<Value>(module, "Value");
  nb::class_<Script>(module, "Script")
      .def(nb::init<const std::string &, nb::object, int, int,
                    std::optional<int64_t>, std::optional<std::string>, const std::string &,
                    const std::string &, bool>(),
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
  module.def("csr_value", csrValue);
  module.def("frame_value", frameValue);
  module.def("set_up", setUp);
  module.def("handle_interrupts", handleInterrupts);
  module.def("set_memory", tokamak_set_memory);
  module.def("memory", [] {
    int64_t inUse = 0, cached = 0;
    tokamak_memory(&inUse, &cached);
    return nb::make_tuple(inUse, cached);
  });
  module.def("version", tokamak_version);
  module.def("library_names", [] {
    std::vector<std::string> names;
    for (size_t i = 0; const char *name = tokamak_library_name(i); ++i)
      names.emplace_back(name);
    return names;
  });
}
