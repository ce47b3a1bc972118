// The smallest static MLIR program, the floor that Tokamak's start-up is measured against: it makes
// a context, loads fifteen dialects and prints.

#include "MinimalDialects.h"

#include <cstdio>

int main() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadDialects(context);
  std::printf("1\n");
  return 0;
}
