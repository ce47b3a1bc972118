// Branches and loops: which variables they carry, with which types.
#include "frontend/dml/FunctionGenerator.h"

#include "base/NearestNames.h"
#include "frontend/dml/ParforDependencies.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

namespace tokamak::frontend {

using llvm::cast;
using mlir::Value;

// The type of a variable that has type `a` on one path and `b` on another; null if the two are
// incompatible.
static mlir::Type joinTypes(mlir::Type a, mlir::Type b) {
  if (!a || !b || a == b)
    return a ? a : b;
  return tok::isScalar(a) && tok::isScalar(b) ? mlir::Type(tok::ScalarType::get(a.getContext()))
                                              : mlir::Type();
}

mlir::Type FunctionGenerator::join(const std::string &name, const Variable &before,
                                   const Variable &here) {
  mlir::Type first = before.value ? before.value.getType() : mlir::Type();
  mlir::Type second = here.value ? here.value.getType() : mlir::Type();
  mlir::Type joined = joinTypes(first, second);
  if (!joined && first && second)
    module_
        .error(here.assignedAt, "'" + name + "' is " + tok::describeType(second).str() +
                                    " here and " + tok::describeType(first).str() +
                                    " on another path to the same point")
        .notes.push_back(
            module_.noteAt(before.assignedAt, "it is " + tok::describeType(first).str() + " here"));
  return joined;
}

Value FunctionGenerator::valueOrUndefined(const Scope &scope, const std::string &name,
                                          mlir::Type type, mlir::Location place) {
  auto found = scope.find(name);
  if (found == scope.end() || !found->second.value)
    return builder_.create<tok::UndefOp>(place, type, name);
  Value value = found->second.value;
  if (value.getType() == type)
    return value;
  // Widening the type of an unassigned variable does not read it, so it must not raise its error.
  if (auto undefined = value.getDefiningOp<tok::UndefOp>())
    return builder_.create<tok::UndefOp>(place, type, name);
  return builder_.create<tok::CastOp>(place, type, value);
}

Value FunctionGenerator::predicate(const Expression &expression, llvm::StringRef statement) {
  Value value = generate(expression);
  if (!value)
    return {};
  mlir::Type type = value.getType();
  if (tok::isNumber(type) || llvm::isa<tok::ScalarType>(type))
    return castTo(value, builder_.getI1Type(), expression.range());
  auto &error = module_.error(expression.range(), "the condition of '" + statement.str() +
                                                      "' must be a boolean or a number, it is " +
                                                      tok::describeType(type).str());
  if (tok::isArray(type))
    error.note("as.scalar turns a 1x1 matrix into a number; sum, min and max reduce a matrix");
  return {};
}

//===-- if --===//

void FunctionGenerator::generateIf(const IfStatement &statement) {
  Value condition = predicate(statement.predicate(), "if");
  // If the condition is constant, generate only the taken branch: types in the other may be
  // incompatible.
  if (std::optional<bool> isTaken = constantBoolean(condition))
    return generate(*isTaken ? statement.thenBody() : statement.elseBody());

  mlir::Location place = location(statement.range());
  mlir::Region regions[2];
  Scope before = scope_, ends[2];
  for (size_t side = 0; side < 2; ++side) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&regions[side].emplaceBlock());
    scope_ = before;
    generate(side == 0 ? statement.thenBody() : statement.elseBody());
    ends[side] = std::move(scope_);
  }

  scope_ = std::move(before);
  const NameSet &needed = flow_.neededAfter(statement);
  llvm::SmallVector<std::string> names;
  llvm::SmallVector<mlir::Type> types;
  for (const std::string &name : flow_.assignedIn(statement)) {
    auto first = ends[0].find(name), second = ends[1].find(name);
    bool inFirst = first != ends[0].end(), inSecond = second != ends[1].end();
    if (!inFirst && !inSecond)
      continue;
    Variable joined = inSecond ? second->second : first->second;
    joined.mayBeUnassigned |= !inFirst || !inSecond || first->second.mayBeUnassigned;
    mlir::Type type;
    if (inFirst && inSecond) {
      bool isSecondNewer =
          !scope_.contains(name) || !(second->second.assignedAt == scope_[name].assignedAt);
      type = isSecondNewer ? join(name, first->second, second->second)
                           : join(name, second->second, first->second);
      joined.isPending = first->second.isPending && second->second.isPending;
    } else if (joined.value) {
      type = joined.value.getType();
    }
    joined.value = {};
    scope_.erase(name);
    if (!needed.contains(name))
      continue;
    scope_[name] = joined;
    if (type) {
      names.push_back(name);
      types.push_back(type);
    }
  }
  if (!condition) {
    for (auto [name, type] : llvm::zip(names, types))
      scope_[name].value = builder_.create<tok::UndefOp>(place, type, name);
    return;
  }

  for (size_t side = 0; side < 2; ++side) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&regions[side].front());
    llvm::SmallVector<Value> results;
    for (auto [name, type] : llvm::zip(names, types))
      results.push_back(valueOrUndefined(ends[side], name, type, place));
    builder_.create<tok::YieldOp>(place, results);
  }
  auto operation = builder_.create<tok::IfOp>(place, types, condition);
  operation.getThenRegion().takeBody(regions[0]);
  operation.getElseRegion().takeBody(regions[1]);
  for (auto [name, result] : llvm::zip(names, operation.getResults()))
    scope_[name].value = result;
}

//===-- loops --===//

llvm::SmallVector<FunctionGenerator::Carried> FunctionGenerator::carriedBy(const Statement &loop) {
  const NameSet &needed = flow_.neededAtHead(loop);
  const auto &known = loopTypes_[&loop];
  llvm::SmallVector<Carried> carried;
  for (const std::string &name : flow_.assignedIn(loop)) {
    if (!needed.contains(name))
      continue;
    auto entry = scope_.find(name);
    mlir::Type type =
        entry != scope_.end() && entry->second.value ? entry->second.value.getType() : mlir::Type();
    if (auto found = known.find(name); found != known.end())
      if (mlir::Type joined = joinTypes(type, found->second))
        type = joined;
    carried.push_back({name, type});
  }
  return carried;
}

mlir::Block &FunctionGenerator::enterRegion(mlir::Region &region, llvm::ArrayRef<Carried> carried,
                                            bool hasCounter) {
  mlir::Block &block = region.emplaceBlock();
  builder_.setInsertionPointToStart(&block);
  mlir::Location place = builder_.getUnknownLoc();
  if (hasCounter)
    block.addArgument(builder_.getI64Type(), place);
  for (const Carried &variable : carried) {
    auto [entry, isNew] = scope_.try_emplace(variable.name, Variable{{}, {}, /*isPending=*/true});
    Variable &inside = entry->second;
    inside.mayBeUnassigned |= isNew;
    if (variable.type) {
      inside.value = block.addArgument(
          variable.type, mlir::NameLoc::get(builder_.getStringAttr(variable.name), place));
      inside.isPending = false;
    }
  }
  return block;
}

bool FunctionGenerator::widenTypes(const Statement &loop, llvm::MutableArrayRef<Carried> carried,
                                   const Scope &entry) {
  // A variable that isn't carried must not change between matrix, scalar and list either.
  for (const std::string &name : flow_.assignedIn(loop)) {
    auto before = entry.find(name);
    auto after = scope_.find(name);
    if (before != entry.end() && after != scope_.end())
      join(name, before->second, after->second);
  }
  bool isWider = false;
  for (Carried &variable : carried) {
    auto end = scope_.find(variable.name);
    if (end == scope_.end() || !end->second.value)
      continue;
    mlir::Type joined = joinTypes(variable.type, end->second.value.getType());
    variable.isConflicting = !joined;
    if (!joined)
      module_.error(end->second.assignedAt,
                    "'" + variable.name + "' changes its data type from one iteration to the next");
    if (joined && joined != variable.type) {
      variable.type = joined;
      isWider = true;
    }
  }
  return isWider;
}

void FunctionGenerator::resolvePendingReads(
    const Scope &entry, std::vector<std::pair<std::string, SourceRange>> outer) {
  for (auto &[name, place] : pendingReads_) {
    auto before = entry.find(name);
    if (before != entry.end() && before->second.isPending) {
      outer.emplace_back(name, place);
      continue;
    }
    auto end = scope_.find(name);
    bool isWrongAnyway =
        end != scope_.end() && !end->second.isPending && !end->second.value && module_.hasErrors();
    if (!isWrongAnyway && (end == scope_.end() || !end->second.value))
      reportUnknownVariable(name, place);
  }
  pendingReads_ = std::move(outer);
}

void FunctionGenerator::generateLoop(const Statement &statement, EmitRegions emit,
                                     CreateLoop create) {
  const Scope entry = scope_;
  auto outerReads = std::exchange(pendingReads_, {});
  llvm::SmallVector<Carried> carried = carriedBy(statement);
  std::unique_ptr<LoopRegions> regions;
  do {
    regions = std::make_unique<LoopRegions>();
    scope_ = entry;
    pendingReads_.clear();
    mlir::OpBuilder::InsertionGuard guard(builder_);
    emit(*regions, carried);
  } while (widenTypes(statement, carried, entry));
  resolvePendingReads(entry, std::move(outerReads));

  mlir::Location place = location(statement.range());
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<Value> inits, ends;
  mlir::Block *end = &regions->body.front();
  bool isComplete = regions->isComplete;
  for (const Carried &variable : carried) {
    isComplete &= !variable.isConflicting;
    if (!variable.type)
      continue;
    types.push_back(variable.type);
    loopTypes_[&statement][variable.name] = variable.type;
    inits.push_back(valueOrUndefined(entry, variable.name, variable.type, place));
  }
  mlir::Operation *loop = nullptr;
  if (isComplete) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(end);
    for (const Carried &variable : carried)
      if (variable.type)
        ends.push_back(valueOrUndefined(scope_, variable.name, variable.type, place));
    builder_.create<tok::YieldOp>(place, ends);
  }
  if (isComplete)
    loop = create(*regions, types, inits);

  Scope after = entry;
  for (const std::string &name : flow_.assignedIn(statement))
    after.erase(name);
  unsigned position = 0;
  for (const Carried &variable : carried) {
    auto inside = scope_.find(variable.name);
    Variable result = inside != scope_.end() ? inside->second : Variable();
    result.value = {};
    auto before = entry.find(variable.name);
    result.mayBeUnassigned |= before == entry.end() || before->second.mayBeUnassigned;
    if (variable.type) {
      result.value = loop ? Value(loop->getResult(position)) : inits[position];
      result.isPending = false;
      ++position;
    }
    after[variable.name] = result;
  }
  scope_ = std::move(after);
}

void FunctionGenerator::generateWhile(const WhileStatement &statement) {
  mlir::Location place = location(statement.range());
  const auto *literal = llvm::dyn_cast<BooleanLiteral>(&statement.predicate());
  if (literal && !literal->value() && statement.body().empty()) {
    builder_.create<tok::BarrierOp>(place);
    return;
  }
  auto emit = [&](LoopRegions &regions, llvm::ArrayRef<Carried> carried) {
    Scope entry = scope_;
    mlir::Block &head = enterRegion(regions.condition, carried, /*hasCounter=*/false);
    callFreeZone_ = "while";
    Value condition = predicate(statement.predicate(), "while");
    callFreeZone_ = {};
    regions.isComplete = condition != nullptr;
    if (condition)
      builder_.create<tok::ConditionOp>(place, condition, head.getArguments());
    scope_ = std::move(entry);
    enterRegion(regions.body, carried, /*hasCounter=*/false);
    generate(statement.body());
  };
  auto create = [&](LoopRegions &regions, mlir::TypeRange types, mlir::ValueRange inits) {
    auto loop = builder_.create<tok::WhileOp>(place, types, inits);
    loop.getConditionRegion().takeBody(regions.condition);
    loop.getBodyRegion().takeBody(regions.body);
    return loop.getOperation();
  };
  generateLoop(statement, emit, create);
}

static std::string valueOf(const LoopOption &option, const ImportOptions &options) {
  auto argument = options.arguments.find(option.argument);
  return argument != options.arguments.end() ? argument->second : option.text;
}

// The options of parfor and their allowed values; an empty list stands for a positive integer.
// Options other than check and par select execution strategies of SystemDS and have no effect here.
static const std::map<std::string, std::vector<std::string>> &parforOptions() {
  static const std::map<std::string, std::vector<std::string>> options = {
      {"check", {"0", "1"}},
      {"par", {}},
      {"mode", {"LOCAL", "REMOTE_SPARK", "REMOTE_SPARK_DP"}},
      {"taskpartitioner",
       {"FIXED", "NAIVE", "STATIC", "FACTORING", "FACTORING_CMIN", "FACTORING_CMAX"}},
      {"tasksize", {}},
      {"datapartitioner",
       {"NONE", "LOCAL", "REMOTE_SPARK", "ROW_WISE", "COLUMN_WISE", "ROW_BLOCK_WISE",
        "COLUMN_BLOCK_WISE", "CELL"}},
      {"resultmerge", {"LOCAL_MEM", "LOCAL_FILE", "LOCAL_AUTOMATIC", "REMOTE_SPARK"}},
      {"opt", {"NONE", "RULEBASED", "CONSTRAINED", "HEURISTIC", "GREEDY", "FULL_DP"}},
      {"log", {"ALL", "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"}},
      {"profile", {"0", "1"}}};
  return options;
}

static void checkOptions(const ForStatement &statement, ModuleGenerator &module) {
  auto upper = [](const std::string &text) { return llvm::StringRef(text).upper(); };
  for (const LoopOption &option : statement.options()) {
    auto known = parforOptions().find(option.name);
    if (known == parforOptions().end()) {
      std::vector<std::string> names;
      for (const auto &[name, values] : parforOptions())
        names.push_back(name);
      module.error(option.range, "unknown option '" + option.name + "' of parfor").candidates =
          nearestCandidates(option.name, names);
      continue;
    }
    std::string value = valueOf(option, module.options());
    if (known->second.empty()) {
      uint64_t number = 0;
      if (llvm::StringRef(value).getAsInteger(10, number) || number == 0 || number > INT32_MAX)
        module.error(option.range,
                     option.name + " of parfor must be a positive integer, not '" + value + "'");
    } else if (!llvm::is_contained(known->second, upper(value))) {
      auto &error = module.error(option.range, option.name + " of parfor can't be '" + value + "'");
      error.candidates = nearestCandidates(upper(value), known->second);
      if (error.candidates.empty())
        error.note("it is one of " + llvm::join(known->second, ", "));
    }
  }
}

static std::optional<std::string> optionOf(const ForStatement &statement, llvm::StringRef name,
                                           const ImportOptions &options) {
  for (const LoopOption &option : statement.options())
    if (option.name == name)
      return valueOf(option, options);
  return std::nullopt;
}

static bool isUnchecked(const ForStatement &statement, const ImportOptions &options) {
  return statement.isParallel() && optionOf(statement, "check", options) == "0";
}

// Whether the iterations are proved independent; reports those that aren't.
bool FunctionGenerator::checkIndependence(const ForStatement &statement) {
  auto valueOf = [this](const std::string &name) {
    auto found = scope_.find(name);
    return found == scope_.end() ? Value() : found->second.value;
  };
  ParforSurroundings surroundings;
  surroundings.isDefined = [&](const std::string &name) { return scope_.contains(name); };
  surroundings.isMatrix = [&](const std::string &name) {
    Value value = valueOf(name);
    return value && tok::isArray(value.getType());
  };
  surroundings.isNeededAfter = [&](const std::string &name) {
    return flow_.neededAfter(statement).contains(name);
  };
  surroundings.constant = [&](const std::string &name) { return constantNumber(valueOf(name)); };
  surroundings.isUnchecked = [&](const ForStatement &loop) {
    return isUnchecked(loop, module_.options());
  };
  surroundings.resolve = flow_.resolve();
  ParforConflicts conflicts = findParforConflicts(statement, surroundings);
  for (const ParforConflict &conflict : conflicts.found) {
    auto &error = module_.error(conflict.place, conflict.message);
    if (!conflict.otherMessage.empty())
      error.notes.push_back(module_.noteAt(conflict.otherPlace, conflict.otherMessage));
    error.note("parfor(..., check=0) skips this test; for runs the iterations in order");
  }
  return conflicts.isIndependent;
}

void FunctionGenerator::generateFor(const ForStatement &statement) {
  checkOptions(statement, module_);
  bool isIndependent = statement.isParallel() && !isUnchecked(statement, module_.options()) &&
                       checkIndependence(statement);
  mlir::Location place = location(statement.range());
  const IterationRange &iteration = statement.iteration();
  auto bound = [&](const Expression &expression, const char *purpose) {
    callFreeZone_ = "for";
    Value value = generate(expression);
    callFreeZone_ = {};
    return convert(value, ParameterType::Integer, purpose, expression.range());
  };
  Value from = bound(*iteration.from, "the start of a loop");
  Value to = bound(*iteration.to, "the end of a loop");
  Value step;
  if (iteration.increment) {
    step = bound(*iteration.increment, "the increment of a loop");
  } else if (from && to) {
    // Compare as integers: doubles can't distinguish all 64-bit bounds.
    auto first = constantInteger(from), last = constantInteger(to);
    if (first && last) {
      step = constant(*first <= *last ? 1 : -1, place);
    } else {
      Value isUpwards =
          builder_.create<tok::BinaryOp>(place, tokamak::BinaryOperator::Le, from, to);
      Value up = constant(1, place), down = constant(-1, place);
      step = builder_.create<tok::IfElseOp>(place, builder_.getI64Type(), isUpwards, up, down);
    }
  }

  auto emit = [&](LoopRegions &regions, llvm::ArrayRef<Carried> carried) {
    mlir::Block &body = enterRegion(regions.body, carried, /*hasCounter=*/true);
    scope_[statement.variable()] = {body.getArgument(0), statement.variableRange()};
    regions.isComplete = from && to && step;
    generate(statement.body());
  };
  auto create = [&](LoopRegions &regions, mlir::TypeRange types,
                    mlir::ValueRange inits) -> mlir::Operation * {
    auto fill = [&](auto loop) {
      loop.getBodyRegion().takeBody(regions.body);
      return loop.getOperation();
    };
    if (statement.isParallel()) {
      auto loop = builder_.create<tok::ParForOp>(place, types, from, to, step, inits);
      if (isIndependent)
        loop->setAttr(tok::independentAttributeName, builder_.getUnitAttr());
      int64_t workers = 0;
      if (auto limit = optionOf(statement, "par", module_.options());
          limit && !llvm::StringRef(*limit).getAsInteger(10, workers))
        loop->setAttr(tok::workersAttributeName, builder_.getI64IntegerAttr(workers));
      return fill(loop);
    }
    return fill(builder_.create<tok::ForOp>(place, types, from, to, step, inits));
  };
  generateLoop(statement, emit, create);
}

} // namespace tokamak::frontend
