// Fuzzes the DML front end: every text must become either a module that verifies or an error
// message.
#include "base/Error.h"
#include "frontend/dml/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdlib>

using namespace tokamak;

// LLVM's allocators poison memory for ASan only where they are compiled with it: templates in our
// code would, LLVM's libraries would not.
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0"; }

// Renew the context from time to time, because it never frees types and attributes.
static mlir::MLIRContext &currentContext() {
  constexpr int usesOfContext = 500;
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (uses++ % usesOfContext == 0)
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  frontend::SourceManager sources;
  support::DiagnosticEngine diagnostics;
  frontend::ImportOptions options;
  options.arguments = {{"a", "1.5"}, {"1", "text"}};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  auto module = frontend::importDml(sources, "x.dml", text, options, currentContext(), diagnostics);
  diagnostics.render(stream);
  bool isSilentFailure = !module && messages.empty();
  if (isSilentFailure || (module && mlir::failed(mlir::verify(*module)))) {
    llvm::errs() << (isSilentFailure ? "refused without a message\n"
                                     : "the module does not verify\n");
    std::abort();
  }
  return 0;
}
