#include "ir/tok/InferFacts.h"

#include "ir/tok/Density.h"

using namespace mlir;
using namespace tokamak;

void tok::inferFacts(Operation *operation, ArrayRef<Facts> operands,
                     MutableArrayRef<Facts> results) {
  if (auto inference = dyn_cast<FactsOpInterface>(operation))
    inference.inferFacts(operands, results);
  inferDensity(operation, operands, results);
}
