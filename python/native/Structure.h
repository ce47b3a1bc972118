// What is evaluated to give nodes values, and the key by which its program is found again (tokamak/arrays/graph.py).
//
//   order, leaves, scalars, outputs, key = _native.structure([node], cell_operators, many, small, most)
//
// `order` has the nodes without values, each behind those it needs; `leaves` those with values that they need; `scalars` the numbers of
// Python among them; `outputs` the targets, and nodes behind them that are kept, too. `key` is a tuple.
//
//   _native.give_values(order, outputs, values)      # when the program has run
#pragma once

#include <nanobind/nanobind.h>

namespace tokamak::python {

void defineStructure(nanobind::module_ &module);

} // namespace tokamak::python
