#include "codegen/MachineCode.h"

#include "codegen/CodeEmitter.h"
#include "codegen/LoadedImages.h"

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

// Code with a constant in memory, which it addresses by its distance.
static std::shared_ptr<MachineCode> linkScale() {
  return cantFail(
      link("define i32 @one() { ret i32 1 }\n"
           "define double @scale(double %x) { %y = fmul double %x, 2.5  ret double %y }\n"));
}

TEST(MachineCodeTest, ImagesRunWhereverTheyLie) {
  std::string image;
  int64_t scale = 0, one = 0;
  {
    auto code = linkScale();
    image = code->image();
    scale = code->offsetInImage(code->address("scale"));
    one = code->offsetInImage(code->address("one"));
  }
  ASSERT_FALSE(image.empty());
  EXPECT_EQ(image, linkScale()->image()) << "an image depends on where it was linked";
  auto loaded = LoadedImages::load({image, image});
  for (size_t number : {0, 1}) {
    char *begin = loaded->begin(number);
    EXPECT_EQ(reinterpret_cast<double (*)(double)>(begin + scale)(3), 7.5);
    EXPECT_EQ(reinterpret_cast<int (*)()>(begin + one)(), 1);
  }
  EXPECT_EQ(addressForDebugger("scale"), reinterpret_cast<uint64_t>(loaded->begin(1) + scale));
}

TEST(MachineCodeTest, CodeThatRefersElsewhereIsNoImage) {
  EXPECT_EQ(cantFail(link("declare double @cbrt(double)\n"
                          "define double @root(double %x) {\n"
                          "  %y = call double @cbrt(double %x)\n"
                          "  ret double %y }\n"))
                ->image(),
            "");
  EXPECT_EQ(cantFail(link("@own = constant ptr @own\n"
                          "define ptr @address() { ret ptr @own }\n"))
                ->image(),
            "");
}
