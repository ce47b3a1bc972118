// A program whose blocks are planned ahead of time: its image, and for each block the plans that
// were made, each with the conditions under which it serves. It runs without a compiler.
//
//   PlannedProgram program = PlannedProgram::read("program.image", kernels);
//   PlanTable plans(program);
//   Executor(program.image, &plans, context).run();
#ifndef TOKAMAK_RUNTIME_PLANNEDPROGRAM_H
#define TOKAMAK_RUNTIME_PLANNEDPROGRAM_H

#include "runtime/ImageFile.h"
#include "runtime/PlanConditions.h"

namespace tokamak::runtime {

struct BlockPlan {
  PlanConditions conditions;
  std::shared_ptr<const Image> image;
};

struct PlannedBlock {
  std::string name;
  std::vector<BlockPlan> plans;
};

// The first plan whose conditions hold; null where there is none.
std::shared_ptr<const Image> findPlan(const std::vector<BlockPlan> &plans,
                                      std::span<const Value> inputs);

struct PlannedProgram {
  Image image;
  std::vector<PlannedBlock> blocks; // by the number that instructions give

  // To and from the bytes of a file, which begin with what they are and end with a check sum.
  // Reading throws Error if they are of another version, or damaged, or kernels have no code.
  std::string bytes() const;
  static PlannedProgram from(std::string_view bytes, const KernelLookup &kernels);
  // The same with a file. Errors name it.
  void write(const std::string &path) const;
  static PlannedProgram read(const std::string &path, const KernelLookup &kernels);
};

// Plans blocks from a program's table.
class PlanTable : public BlockProvider {
public:
  // `program` must outlive the table and what it returns.
  explicit PlanTable(const PlannedProgram &program) : program_(program) {}
  // Throws Error if no plan was made for such inputs.
  std::shared_ptr<const Image> planFor(int32_t block, std::span<const Value> inputs) override;

private:
  const PlannedProgram &program_;
};

} // namespace tokamak::runtime
#endif
