#include "codegen/MachineCode.h"

#include "codegen/CodeEmitter.h"

#include "llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tokamak::codegen;

extern "C" jit_descriptor __jit_debug_descriptor;

namespace {

Expected<std::shared_ptr<MachineCode>> link(StringRef text) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  auto emitter = cantFail(CodeEmitter::create(hostTarget()));
  auto module = parseIR(MemoryBufferRef(text, "functions"), diagnostic, context);
  module->setDataLayout(emitter->machine().createDataLayout());
  return MachineCode::link(emitter->emitObject(*module)->getMemBufferRef());
}

std::shared_ptr<MachineCode> linkFunctions() {
  return cantFail(link("define i32 @first() { ret i32 1 }\n"
                       "define i32 @second() { ret i32 2 }\n"));
}

// The address that a debugger would show for a function of the first object in the list.
uint64_t addressForDebugger(StringRef function) {
  jit_code_entry *entry = __jit_debug_descriptor.first_entry;
  auto file = cantFail(object::ELFObjectFile<object::ELF64LE>::create(
      MemoryBufferRef(StringRef(entry->symfile_addr, entry->symfile_size), "object")));
  for (const object::ELFSymbolRef &symbol : file.symbols())
    if (cantFail(symbol.getName()) == function) {
      auto section = cantFail(symbol.getSection());
      return section->getAddress() + cantFail(symbol.getValue());
    }
  return 0;
}

} // namespace

TEST(MachineCodeTest, DebuggersKnowFunctionsWhereTheyLie) {
  auto code = linkFunctions();
  for (const char *name : {"first", "second"})
    EXPECT_EQ(addressForDebugger(name), reinterpret_cast<uint64_t>(code->address(name))) << name;
}

TEST(MachineCodeTest, DebuggersForgetCodeThatIsDestroyed) {
  auto kept = linkFunctions();
  jit_code_entry *before = __jit_debug_descriptor.first_entry;
  auto other = linkFunctions();
  EXPECT_NE(__jit_debug_descriptor.first_entry, before);
  other.reset();
  EXPECT_EQ(__jit_debug_descriptor.first_entry, before);
  EXPECT_EQ(__jit_debug_descriptor.first_entry->prev_entry, nullptr);
}

TEST(MachineCodeTest, SymbolsThatTheObjectLacksHaveNoAddress) {
  EXPECT_EQ(linkFunctions()->address("third"), nullptr);
}

TEST(MachineCodeTest, FunctionsThatNoLibraryHasAreAnError) {
  auto code = link("declare i32 @nowhere()\n"
                   "define i32 @first() { %x = call i32 @nowhere()  ret i32 %x }\n");
  ASSERT_FALSE(static_cast<bool>(code));
  EXPECT_NE(toString(code.takeError()).find("nowhere"), std::string::npos);
}
