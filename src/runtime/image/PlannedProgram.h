// A program whose blocks are planned ahead of time: its image and, for each block, plans with the
// conditions under which they are valid. It runs without a compiler.
//
//   PlannedProgram program = PlannedProgram::from(bytes, code);
//   PlanTable plans(program);
//   Executor(program.image, &plans, context).run();
#ifndef TOKAMAK_RUNTIME_IMAGE_PLANNEDPROGRAM_H
#define TOKAMAK_RUNTIME_IMAGE_PLANNEDPROGRAM_H

#include "runtime/image/ImageFile.h"
#include "runtime/image/PlanConditions.h"

namespace tokamak::runtime {

// All that conditions say: equal bytes, equal conditions.
void writeConditions(const PlanConditions &conditions, ByteWriter &writer);

struct BlockPlan {
  PlanConditions conditions;
  std::shared_ptr<const Image> image;
};

struct PlannedBlock {
  std::string name;
  std::vector<BlockPlan> plans;
  // If the block is one operation whose plans are for all sizes with which it is right: how the language writes it, for the
  // message about others. Else empty.
  std::string operation = {};
};

// The first plan whose conditions hold; null if there is none.
std::shared_ptr<const Image> findPlan(const std::vector<BlockPlan> &plans,
                                      std::span<const Value> inputs);

struct PlannedProgram {
  Image image;
  std::vector<PlannedBlock> blocks; // by block number, as instructions refer to them

  // Conversion to and from the bytes of a file, which begin with imageFormat() and end
  // with a checksum. Reading throws Error if the format differs, the bytes are damaged,
  // or a kernel has no code.
  std::string bytes() const;
  static PlannedProgram from(std::string_view bytes, const CodeLookup &code);
};

// Looks up the plans of blocks in a program's table.
class PlanTable : public BlockProvider {
public:
  // `program` must outlive the table and the images that it returns.
  explicit PlanTable(const PlannedProgram &program) : program_(program) {}
  // Inputs become dense if the block has a plan for them then, but none for their own layouts; those of one operation on cells
  // become equally large likewise. Throws Error if it has no plan for these inputs.
  std::shared_ptr<const Image> planFor(int32_t block, std::span<Value> inputs,
                                       const BlockPlace &place) override;

private:
  const PlannedProgram &program_;
};

} // namespace tokamak::runtime
#endif
