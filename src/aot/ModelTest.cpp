#include "aot/ModelFiles.h"
#include "aot/ModelHeader.h"
#include "aot/ModelObject.h"
#include "base/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ELFObjectFile.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tokamak;
using namespace tokamak::aot;

namespace {

Model sampleModel(const exec::ObjectKeeper &objects) {
  Model model{"scoring", &codegen::x86Target(), &objects, {}};
  ModelEntry entry{"f.g", "What it does.", {}, {}, {}, {}};
  entry.parameters = {{"X", TOK_MODEL_MATRIX, "matrix[double], any x 100"},
                      {"int", TOK_MODEL_INTEGER, "int"}};
  entry.results = {{"X", TOK_MODEL_MATRIX, "matrix[double]"}, {"s", TOK_MODEL_DOUBLE, "double"}};
  entry.program.image.functions.emplace_back();
  model.entries.push_back(std::move(entry));
  return model;
}

} // namespace

TEST(Model, hasIdentifiersOfC) {
  EXPECT_EQ(identifier("score"), "score");
  EXPECT_EQ(identifier("a.b-c"), "a_b_c");
  EXPECT_EQ(identifier("3d"), "_3d");
  EXPECT_EQ(identifier("int"), "int_");
  EXPECT_EQ(identifier("constexpr"), "constexpr_");
  EXPECT_EQ(identifier("int64_t"), "int64_t_");
  EXPECT_EQ(identifier("INT64_MAX"), "INT64_MAX_");
  EXPECT_EQ(identifier("SIZE_MAX"), "SIZE_MAX_");
  exec::ObjectKeeper objects;
  Model model = sampleModel(objects);
  EXPECT_EQ(functionName(model, model.entries.front()), "scoring_f_g");
}

TEST(Model, hasEachFunctionOnce) {
  auto errorOf = [](std::vector<std::string> entries) -> std::string {
    try {
      checkFunctionNames("m", entries);
      return "no error";
    } catch (const Error &error) {
      return error.message();
    }
  };
  EXPECT_EQ(errorOf({"f", "g"}), "no error");
  EXPECT_EQ(errorOf({"f", "f"}), "--entry f: expected each function once");
  EXPECT_EQ(errorOf({"a.b", "a_b"}), "--entry a.b,a_b: both functions would be m_a_b in C; "
                                     "expected names that differ in letters or digits");
  for (const char *taken : {"context", "context.error", "matrix_free"})
    EXPECT_TRUE(errorOf({taken}).starts_with(std::string("--entry ") + taken + ": every compiled"))
        << errorOf({taken});
}

TEST(Model, keepsCommentsOnTheirLines) {
  exec::ObjectKeeper objects;
  Model model = sampleModel(objects);
  model.entries.front().comment = "Splits paths at \\\n  and joins them.";
  EXPECT_NE(modelHeader(model).find("// Splits paths at \\.\n// and joins them.\n"),
            std::string::npos);
}

TEST(Model, declaresItsFunctions) {
  exec::ObjectKeeper objects;
  Model model = sampleModel(objects);
  EXPECT_EQ(declarationOf(model, model.entries.front()),
            "int scoring_f_g(scoring_context *context,\n"
            "                const tokamak_matrix *X,\n"
            "                int64_t int_,\n"
            "                tokamak_matrix *X_result,\n"
            "                double *s);\n");
  std::string header = modelHeader(model);
  EXPECT_NE(header.find("#ifndef SCORING_H\n"), std::string::npos);
  EXPECT_NE(header.find("//   X: matrix[double], any x 100\n"), std::string::npos);
}

TEST(Model, hasOptionsForWhatMayBeLeftOut) {
  exec::ObjectKeeper objects;
  Model model = sampleModel(objects);
  std::vector<ModelValue> &parameters = model.entries.front().parameters;
  parameters[1].byDefault = int64_t{3};
  parameters.push_back({"name", TOK_MODEL_TEXT, "string, \"a?\""});
  parameters.back().byDefault = std::string("a?");
  EXPECT_EQ(declarationOf(model, model.entries.front()),
            "int scoring_f_g(scoring_context *context,\n"
            "                const tokamak_matrix *X,\n"
            "                const scoring_f_g_options *options,\n"
            "                tokamak_matrix *X_result,\n"
            "                double *s);\n");
  EXPECT_NE(
      modelHeader(model).find("typedef struct scoring_f_g_options {\n"
                              "  int64_t int_; // int\n"
                              "  const char *name; // string, \"a?\"\n"
                              "} scoring_f_g_options;\n"
                              "static inline scoring_f_g_options scoring_f_g_defaults(void) {\n"
                              "  scoring_f_g_options options;\n"
                              "  options.int_ = 3;\n"
                              "  options.name = \"a\\077\";\n"
                              "  return options;\n"
                              "}\n"),
      std::string::npos)
      << modelHeader(model);
}

TEST(Model, writesDefaultsThatCHasNoLiteralFor) {
  exec::ObjectKeeper objects;
  Model model = sampleModel(objects);
  std::vector<ModelValue> &parameters = model.entries.front().parameters;
  const double numbers[] = {INFINITY, -INFINITY, NAN, -0.0, 2, 0.5, 1e300};
  for (auto [place, number] : llvm::enumerate(numbers)) {
    parameters.push_back({"d" + std::to_string(place), TOK_MODEL_DOUBLE, "double"});
    parameters.back().byDefault = number;
  }
  EXPECT_NE(modelHeader(model).find("  options.d0 = __builtin_inf();\n"
                                    "  options.d1 = -__builtin_inf();\n"
                                    "  options.d2 = __builtin_nan(\"\");\n"
                                    "  options.d3 = -0.0;\n"
                                    "  options.d4 = 2.0;\n"
                                    "  options.d5 = 0.5;\n"
                                    "  options.d6 = 1e+300;\n"),
            std::string::npos)
      << modelHeader(model);
}

TEST(Model, definesThemInItsObject) {
  exec::ObjectKeeper objects;
  for (const codegen::Target *target : {&codegen::x86Target(), &codegen::aarch64Target()}) {
    Model model = sampleModel(objects);
    model.target = target;
    std::string bytes = modelObject(model);
    auto object = llvm::cantFail(
        llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "scoring")));
    EXPECT_EQ(object->getArch(), llvm::Triple(target->triple).getArch());
    std::set<std::string> defined, undefined;
    for (const llvm::object::SymbolRef symbol : object->symbols()) {
      bool isUndefined = llvm::cantFail(symbol.getFlags()) & llvm::object::SymbolRef::SF_Undefined;
      (isUndefined ? undefined : defined).insert(llvm::cantFail(symbol.getName()).str());
    }
    EXPECT_TRUE(defined.contains("scoring_f_g"));
    EXPECT_TRUE(defined.contains("scoring_context_create"));
    EXPECT_TRUE(undefined.contains("tokamak_model_call"));
  }
}

TEST(ModelOutput, takesTheNameFromThePath) {
  EXPECT_EQ(ModelOutput::of("build/libscoring.a").name, "scoring");
  EXPECT_EQ(ModelOutput::of("build/libscoring.a").header(), "build/scoring.h");
  EXPECT_EQ(ModelOutput::of("scoring.so").name, "scoring");
  EXPECT_EQ(ModelOutput::of("models/my-model/").name, "my_model");
  EXPECT_EQ(ModelOutput::of("models/my-model/").header(), "models/my-model/my_model.h");
  EXPECT_EQ(ModelOutput::of("model/").kind, ModelOutput::Kind::Folder);
  EXPECT_THROW(ModelOutput::of("model"), Error);
  EXPECT_THROW(ModelOutput::of("libtokamak_model.a"), Error);
  EXPECT_THROW(ModelOutput::of("model.exe"), Error);
  EXPECT_THROW(ModelOutput::of("/"), Error);
}
