// The calls of functions that @jit has compiled: a call whose arguments are like those of an earlier one, in types and sizes, goes
// to its program without running code of Python. Any other call goes to the method _call of the class that derives from this.
//
//   class Jit(_native.TracedCall):
//       def _call(self, *arguments, **options): ...        # captures, and notes with self._remember(...) what to do next time
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace tokamak::python {

void defineTracedCall(nb::module_ &module);

} // namespace tokamak::python
