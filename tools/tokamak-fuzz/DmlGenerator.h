// Generates one random DML program, statement by statement.
//
//   Random random(42);
//   std::cout << render(DmlGenerator(random).program());
#ifndef TOKAMAK_TOOLS_TOKAMAK_FUZZ_DMLGENERATOR_H
#define TOKAMAK_TOOLS_TOKAMAK_FUZZ_DMLGENERATOR_H

#include "tokamak-fuzz/Expressions.h"

#include <functional>
#include <set>

namespace tokamak::fuzz {

class DmlGenerator {
public:
  explicit DmlGenerator(Random &random) : random_(random), expressions_(random_) {}
  Node program();

private:
  using Statements = std::vector<Node>;
  using Step = void (DmlGenerator::*)();

  void emit(Node node) { current_->push_back(std::move(node)); }
  std::string fresh(const char *prefix) { return prefix + std::to_string(++names_); }
  std::map<std::string, Expression> &variables() { return expressions_.variables; }
  void define(const std::string &name, const Expression &value);
  std::string assign(const char *prefix, const Expression &value);
  std::string pick(const std::function<bool(const Expression &)> &accept);
  std::pair<Dimension, Dimension> shape();
  Expression condition();
  int depth() { return random_.choose({1, 1, 2, 2, 2, 3, large_ ? 4 : 2}); }
  Node scoped(const std::function<void()> &body);
  Node function(const std::string &name, const std::string &head,
                std::map<std::string, Expression> parameters, const std::function<void()> &body);

  void chooseSizes();
  void statements(int64_t count);
  void matrixAssignment();
  void scalarAssignment();
  void leftIndex();
  void dynamicSize();
  void sharedAggregates();
  void listOfValues();
  void note();
  void branch();
  void forLoop();
  void whileLoop();
  void loop(const std::string &head, std::vector<Node> headParts, const std::string &counter,
            bool counts);
  void growth();
  void parallelLoop();
  void functionCall();
  void recursion();
  void recursionOfNumbers();
  void failure();
  void failingStatement();
  // DmlSituations.cpp
  void sparseQuotients();
  void cellByCell();
  void neverTaken();
  void changingDensity();
  void sharedArguments();
  void frame();
  void computedSizes();
  void wholeInsert();
  void sliceOfProduct();
  void ruleExpression();

  Random &random_;
  Expressions expressions_;
  Statements functions_, main_;
  Statements *current_ = &main_;
  int names_ = 0, nesting_ = 0;
  // Most programs are small: they find as many errors in less time.
  bool large_ = random_.chance(0.1);
  std::set<std::string> locked_; // carried by an enclosing loop: assigned only at its end
};

} // namespace tokamak::fuzz
#endif
