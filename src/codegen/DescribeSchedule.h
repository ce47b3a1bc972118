// What --explain=schedule says of kernels that have a fixed schedule: over the rows of matrices, or
// over the entries of sparse ones. The text is a comment in the form of schedules; a schedule that is
// given for such a kernel makes it one of loops (loops/LoopEmitter.h).
//
//   describeSchedule(body)     // "  # rows of d0, in blocks of 8; 2 passes; kept: %3\n"
#ifndef TOKAMAK_CODEGEN_DESCRIBESCHEDULE_H
#define TOKAMAK_CODEGEN_DESCRIBESCHEDULE_H

#include "codegen/KernelBody.h"
#include "codegen/SparseBody.h"

#include <string>

namespace tokamak::codegen {

std::string describeSchedule(const KernelBody &body);
std::string describeSchedule(const SparseBody &body);

} // namespace tokamak::codegen
#endif
