// Sequence files of Hadoop: records of a key and a value, of one class each. Records are found without
// being parsed, so that they can be parsed in parallel.
//
//   SequenceFile file("x.bin", bytes);
//   file.keyClass() == "org.apache.hadoop.io.LongWritable"
//   for (const SequenceRecord &record : file.records())
//     ...
//
//   SequenceWriter writer("org.apache.hadoop.io.LongWritable", "org.apache.hadoop.io.Text");
//   std::string text = writer.header() + writer.record(key, bytes);
//
// The format: https://hadoop.apache.org/docs/stable/api/org/apache/hadoop/io/SequenceFile.html (uncompressed).
#ifndef TOKAMAK_RUNTIME_IO_SEQUENCEFILE_H
#define TOKAMAK_RUNTIME_IO_SEQUENCEFILE_H

#include "runtime/memory/MemoryCharge.h"

#include <string>
#include <string_view>

namespace tokamak::runtime {

struct SequenceRecord {
  std::string_view key, value;
};

class SequenceFile {
public:
  static constexpr std::string_view beginning = "SEQ";

  // Throws Error, naming `path`, if the bytes are no such file, are compressed in a way that isn't
  // supported, or end early. `bytes` must outlive this object.
  SequenceFile(const std::string &path, std::string_view bytes);

  const std::string &keyClass() const { return keyClass_; }
  const std::string &valueClass() const { return valueClass_; }
  const BudgetedVector<SequenceRecord> &records() const { return records_; }

private:
  void parse(std::string_view bytes);

  std::string keyClass_, valueClass_;
  BudgetedVector<SequenceRecord> records_;
};

class SequenceWriter {
public:
  SequenceWriter(std::string_view keyClass, std::string_view valueClass)
      : keyClass_(keyClass), valueClass_(valueClass) {}

  std::string header();
  // The record, behind a mark if the last one lies far back: readers that begin in the middle of a
  // file look for marks. Throws Error if the value has 2 GB or more.
  std::string record(std::string_view key, std::string_view value);

private:
  std::string_view keyClass_, valueClass_;
  size_t sinceMark_ = 0;
};

} // namespace tokamak::runtime
#endif
