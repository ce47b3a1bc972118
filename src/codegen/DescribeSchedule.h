// What --explain=schedule says of kernels that have a fixed schedule: over the entries of sparse
// arrays. The text is a comment in the form of schedules.
//
//   describeSchedule(body)     // "  # the entries of operand 1, row by row; 2 passes over them, ..."
#ifndef TOKAMAK_CODEGEN_DESCRIBESCHEDULE_H
#define TOKAMAK_CODEGEN_DESCRIBESCHEDULE_H

#include "codegen/SparseBody.h"

#include <string>

namespace tokamak::codegen {

std::string describeSchedule(const SparseBody &body);

} // namespace tokamak::codegen
#endif
