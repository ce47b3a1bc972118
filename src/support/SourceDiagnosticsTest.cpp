#include "support/SourceDiagnostics.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace tokamak::support;

static std::string rendered(DiagnosticEngine &engine, bool color = false) {
  std::string text;
  llvm::raw_string_ostream os(text);
  engine.render(os, color);
  return text;
}

TEST(SourceDiagnostics, showsLineUnderlineNotesAndCandidates) {
  DiagnosticEngine engine;
  engine.addSource("a.dml", "x = 1\r\ny = bta * 2\r\n");
  Diagnostic &diagnostic = engine.error("a.dml", 2, 5, "unknown variable 'bta'");
  diagnostic.candidates = {"beta", "eta"};
  diagnostic.note("variables are case-sensitive");
  EXPECT_EQ(rendered(engine), "a.dml:2:5: error: unknown variable 'bta'\n"
                              "    y = bta * 2\n"
                              "        ^~~\n"
                              "  note: variables are case-sensitive\n"
                              "  note: did you mean 'beta' or 'eta'?\n");
}

TEST(SourceDiagnostics, sortsByFileAndPosition) {
  DiagnosticEngine engine;
  engine.addSource("b.dml", "");
  engine.addSource("a.dml", "");
  engine.error("a.dml", 1, 1, "third");
  engine.error("b.dml", 9, 2, "second");
  engine.warning("b.dml", 2, 7, "first");
  EXPECT_EQ(rendered(engine), "b.dml:2:7: warning: first\n"
                              "b.dml:9:2: error: second\n"
                              "a.dml:1:1: error: third\n");
  EXPECT_EQ(engine.errorCount(), 2u);
}

TEST(SourceDiagnostics, showsNodesOfModelsWhereScriptsCallThem) {
  DiagnosticEngine engine;
  engine.addSource("a.dml", "y = onnx(\"net.onnx\", X)\n");
  const std::string node = "net.onnx: node 2 'conv1' (Conv, opset 11)";
  engine.error(node, 3, 0, "the sizes don't fit").notes = {{"called from here", "a.dml", 1, 5}};
  engine.error(node, 3, 0, "nobody calls it");
  EXPECT_EQ(rendered(engine), "a.dml:1:5: error: " + node +
                                  ": the sizes don't fit\n"
                                  "    y = onnx(\"net.onnx\", X)\n"
                                  "        ^~~~\n" +
                                  node + ": error: nobody calls it\n");
}

TEST(SourceDiagnostics, wantsCandidatesOfTheFirstHundredErrors) {
  DiagnosticEngine engine;
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(engine.wantsCandidates(engine.error("a.dml", 0, 0, "unknown")));
  Diagnostic &first = engine.error("a.dml", 0, 0, "unknown");
  EXPECT_FALSE(engine.wantsCandidates(first));
  ASSERT_EQ(first.notes.size(), 1u);
  EXPECT_EQ(first.notes[0].message, "similar names are not searched for after 100 errors");
  Diagnostic &second = engine.error("a.dml", 0, 0, "unknown");
  EXPECT_FALSE(engine.wantsCandidates(second));
  EXPECT_TRUE(second.notes.empty());
}

TEST(SourceDiagnostics, shortensLongMessages) {
  DiagnosticEngine engine;
  std::string digits(1000000, '7');
  engine.error("a.dml", 0, 0, "'" + digits + "' is too large").note("write '" + digits + ".0'");
  std::string text = rendered(engine);
  EXPECT_LT(text.size(), 2500u);
  EXPECT_TRUE(text.starts_with("a.dml: error: '7777")) << text;
  EXPECT_NE(text.find("777' is too large\n"), std::string::npos) << text;
  EXPECT_NE(text.find("777.0'\n"), std::string::npos) << text;
}

TEST(SourceDiagnostics, alignsTabsAndWideCharacters) {
  DiagnosticEngine engine;
  engine.addSource("a.dml", "\tprint('\xc3\xa9' + y)");
  Diagnostic diagnostic{Severity::Error, "a.dml", 1, 14, 15, "unknown variable 'y'", {}, {}};
  engine.report(diagnostic);
  EXPECT_EQ(rendered(engine), "a.dml:1:14: error: unknown variable 'y'\n"
                              "    \tprint('\xc3\xa9' + y)\n"
                              "    \t            ^\n");
}

TEST(SourceDiagnostics, putsCaretsUnderWideAndBesideCombiningCharacters) {
  DiagnosticEngine engine;
  engine.addSource("a.dml", "print(\"\u6570\u5b66\" + e\u0301 + yy)");
  engine.report({Severity::Error, "a.dml", 1, 7, 11, "text", {}, {}});
  engine.report({Severity::Error, "a.dml", 1, 19, 21, "unknown variable 'yy'", {}, {}});
  std::string text = rendered(engine), line = "    print(\"\u6570\u5b66\" + e\u0301 + yy)\n";
  EXPECT_EQ(text, "a.dml:1:7: error: text\n" + line + "          ^~~~~~\n" +
                      "a.dml:1:19: error: unknown variable 'yy'\n" + line +
                      "                       ^~\n");
}

TEST(SourceDiagnostics, cutsLongLinesBetweenCharacters) {
  DiagnosticEngine engine;
  std::string line = "x";
  for (int i = 0; i < 100; ++i)
    line += "\u00e9";
  engine.addSource("a.dml", line);
  engine.error("a.dml", 1, 1, "m");
  std::string text = rendered(engine);
  EXPECT_NE(text.find("\u00e9...\n"), std::string::npos) << text;
}

TEST(SourceDiagnostics, toleratesPositionsOutsideTheText) {
  DiagnosticEngine engine;
  engine.addSource("a.dml", "x");
  engine.error("a.dml", 1, 2, "at the end");
  engine.error("a.dml", 7, 3, "after the end");
  engine.error("missing.dml", 1, 1, "no such file");
  engine.error("", 0, 0, "nowhere");
  std::string text = rendered(engine);
  EXPECT_NE(text.find("a.dml:1:2: error: at the end\n    x\n     ^\n"), std::string::npos);
  EXPECT_NE(text.find("a.dml:7:3: error: after the end\n"), std::string::npos);
  EXPECT_NE(text.find("missing.dml:1:1: error: no such file\n"), std::string::npos);
  EXPECT_NE(text.find("error: nowhere\n"), std::string::npos);
}

TEST(SourceDiagnostics, findsLinesInAnyOrder) {
  DiagnosticEngine engine;
  engine.addSource("a.dml", "first\n\nthird\r\nlast");
  auto shown = [&](uint32_t line) {
    std::string text;
    llvm::raw_string_ostream os(text);
    engine.render({Severity::Error, "a.dml", line, 1, 0, "m", {}, {}}, os);
    return text;
  };
  EXPECT_EQ(shown(4), "a.dml:4:1: error: m\n    last\n    ^~~~\n");
  EXPECT_EQ(shown(1), "a.dml:1:1: error: m\n    first\n    ^~~~~\n");
  EXPECT_EQ(shown(3), "a.dml:3:1: error: m\n    third\n    ^~~~~\n");
  EXPECT_EQ(shown(2), "a.dml:2:1: error: m\n");
  EXPECT_EQ(shown(5), "a.dml:5:1: error: m\n");
}

// The places of lines are kept: searching the text for each of so many would take minutes.
TEST(SourceDiagnostics, showsManyLinesOfALongText) {
  constexpr uint32_t count = 200'000;
  std::string script;
  for (uint32_t i = 1; i <= count; ++i)
    script += "x" + std::to_string(i) + "\n";
  DiagnosticEngine engine;
  engine.addSource("a.dml", script);
  for (uint32_t i = 1; i <= count; ++i)
    engine.error("a.dml", i, 1, "m");
  std::string text = rendered(engine);
  EXPECT_NE(text.find("a.dml:199999:1: error: m\n    x199999\n"), std::string::npos);
}

TEST(SourceDiagnostics, showsTheSurroundingsInALongLine) {
  DiagnosticEngine engine;
  engine.addSource("a.dml", std::string(500, 'x') + " = alhpa + " + std::string(500, 'y'));
  engine.error("a.dml", 1, 504, "unknown variable 'alhpa'");
  std::string text = rendered(engine);
  EXPECT_NE(text.find("\n    ...xxx"), std::string::npos) << text;
  EXPECT_NE(text.find(" ^~~~~\n"), std::string::npos) << text;
  size_t excerpt = text.find("\n    ...") + 1,
         caret = text.find('^') - text.find('\n', excerpt) - 1;
  EXPECT_EQ(text.substr(excerpt + caret, 5), "alhpa") << text;
}

TEST(SourceDiagnostics, colors) {
  DiagnosticEngine engine;
  engine.error("", 0, 0, "bad");
  EXPECT_NE(rendered(engine, true).find("\x1b[1;31merror: "), std::string::npos);
}

TEST(SourceDiagnostics, forwardsMlirDiagnostics) {
  mlir::MLIRContext context;
  DiagnosticEngine engine;
  engine.addSource("a.dml", "f(x)\ny = x %*% z\n");
  mlir::Location callee = mlir::FileLineColLoc::get(&context, "a.dml", 2, 5);
  mlir::Location caller = mlir::FileLineColLoc::get(&context, "a.dml", 1, 1);
  {
    MlirDiagnosticForwarder forwarder(&context, engine);
    mlir::InFlightDiagnostic diagnostic = mlir::emitError(mlir::CallSiteLoc::get(callee, caller))
                                          << "sizes differ";
    diagnostic.attachNote(callee) << "3 and 4";
  }
  EXPECT_EQ(rendered(engine), "a.dml:2:5: error: sizes differ\n"
                              "    y = x %*% z\n"
                              "        ^\n"
                              "  a.dml:1:1: note: called from here\n"
                              "  note: 3 and 4\n");
  EXPECT_TRUE(engine.hasErrors());
}
