// The smallest static MLIR program, a lower bound for Tokamak's start-up time: it creates a
// context, loads fifteen dialects and prints.

#include "MinimalDialects.h"

#include <cstdio>

int main() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  loadDialects(context);
  std::printf("1\n");
  return 0;
}
