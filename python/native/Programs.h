// Compiled scripts and models, and their functions, which are called like those of Python.
//
//   script = _native.Script(name, text, ...)
//   f = _native.Function(script, "f")
//   f(np.ones((2, 2)), k=3)
#pragma once

#include <nanobind/nanobind.h>

#include <tokamak.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace tokamak::python {

class Script {
public:
  // `source`: the text of a script, the bytes of a model, or None: the file of this name.
  Script(const std::string &name, nb::object source, int threads, int precision,
         std::optional<int64_t> seed, std::optional<std::string> cache,
         const std::string &libraries, const std::string &disable, bool keepsSparse);
  ~Script();
  Script(const Script &) = delete;
  Script &operator=(const Script &) = delete;

  bool keepsSparse() const { return keepsSparse_; }
  std::vector<std::string> names() const;
  tokamak_function *find(const std::string &name) const;
  void run(const std::vector<std::string> &names, const std::vector<std::string> &texts);
  nb::object counts() const;

private:
  tokamak_program *script_ = nullptr;
  bool keepsSparse_;
};

class Function {
public:
  Function(nb::object script, const std::string &name);

  nb::object name() const;
  nb::object comment() const;
  nb::object signature() const;
  nb::list parameters() const;
  nb::list results() const;
  // Of several results a tuple, of none None. `named`: a dict or null.
  nb::object call(PyObject *const *positional, Py_ssize_t count, PyObject *named) const;
  nb::object explanation(const std::string &what, nb::args positional, nb::kwargs named) const;

private:
  nb::object script_; // lives as long as its function
  bool keepsSparse_;
  tokamak_function *function_;
};

// What a slot of Python's, a function in C, returns: `body`'s result, or null with the exception that it threw.
template <typename Body> PyObject *withoutExceptions(Body body) {
  try {
    return body().release().ptr();
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

void definePrograms(nb::module_ &module);

} // namespace tokamak::python
