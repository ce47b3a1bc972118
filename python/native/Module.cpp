// The extension module tokamak._native, over the library's interface in C: values and programs (Programs.h), and what lazy
// arrays are made of (Nodes.h, TracedCall.h).
#define TOKAMAK_IMPORTS_NUMPY
#include "Interrupts.h"
#include "Nodes.h"
#include "NumpyArrays.h"
#include "Objects.h"
#include "Programs.h"
#include "Structure.h"
#include "TracedCall.h"
#include "Values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tokamak.h>

#include <string>
#include <vector>

using namespace tokamak;

static int importNumpy() {
  import_array1(-1);
  return 0;
}

NB_MODULE(_native, module) {
  if (importNumpy() != 0)
    throw nb::python_error();
  nb::class_<python::Value>(module, "Value");
  python::definePrograms(module);
  python::defineNodes(module);
  python::defineStructure(module);
  python::defineTracedCall(module);
  module.def("csr_value", python::csrValue);
  module.def("frame_value", python::frameValue);
  module.def("set_up",
             [](nb::dict errors, nb::object convert, nb::object frame, nb::object sparse) {
               python::setUpValues(std::move(errors), std::move(convert));
               python::setUpObjects(std::move(frame), std::move(sparse));
             });
  module.def("handle_interrupts", python::handleInterrupts);
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
