#include "codegen/CodeEmitter.h"

#include "codegen/MachineCode.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tokamak::codegen;

namespace {

constexpr const char *scales = R"(
define void @scale(ptr %cells, i64 %count) {
  br label %head
head:
  %i = phi i64 [ 0, %0 ], [ %next, %body ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %end
body:
  %address = getelementptr double, ptr %cells, i64 %i
  %vector = load <8 x double>, ptr %address, align 8
  %scaled = fmul <8 x double> %vector, splat (double 3.0)
  store <8 x double> %scaled, ptr %address, align 8
  %next = add i64 %i, 8
  br label %head
end:
  ret void
})";
constexpr const char *sines = R"(
declare double @sin(double)
define double @sines(double %x) {
  %y = call double @sin(double %x)
  %z = call double @sin(double %y)
  ret double %z
})";

std::string object(CodeEmitter &emitter, StringRef text) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  auto module = parseIR(MemoryBufferRef(text, "kernel"), diagnostic, context);
  module->setDataLayout(emitter.machine().createDataLayout());
  return emitter.emitObject(*module)->getBuffer().str();
}

TEST(CodeEmitterTest, ObjectsDontDependOnWhatWasEmittedBefore) {
  auto fresh = cantFail(CodeEmitter::create(hostTarget()));
  std::string scale = object(*fresh, scales);
  auto used = cantFail(CodeEmitter::create(hostTarget()));
  std::string sine = object(*used, sines);
  EXPECT_EQ(object(*used, scales), scale);
  EXPECT_EQ(object(*used, sines), sine);
  EXPECT_EQ(object(*used, scales), scale);
}

// A new cell operator may call a function of the C library that no kernel has called so far.
TEST(CodeEmitterTest, CodeCallsAnyFunctionOfTheMathematicsOfC) {
  auto emitter = cantFail(CodeEmitter::create(hostTarget()));
  for (std::string name : {"cbrt", "erf", "lgamma", "log1p", "fmod", "floor"}) {
    bool isBinary = name == "fmod";
    std::string operands = isBinary ? "double %x, double 100.0" : "double %x";
    std::string text = "declare double @" + name + "(double" + (isBinary ? ", double" : "") +
                       ")\ndefine double @f(double %x) {\n  %y = call double @" + name + "(" +
                       operands + ")\n  ret double %y\n}";
    auto code = cantFail(MachineCode::link(MemoryBufferRef(object(*emitter, text), "object")));
    auto function = reinterpret_cast<double (*)(double)>(code->address("f"));
    if (name == "cbrt")
      EXPECT_DOUBLE_EQ(function(27), 3);
    if (name == "fmod")
      EXPECT_EQ(function(27), 27);
  }
}

} // namespace
