// The format hdf5: a dataset of numbers with up to two dimensions in a file of HDF5; a vector is a column,
// a number a 1x1 matrix. libhdf5 runs in a child process: damaged files crash it.
#include "runtime/io/ChildProcess.h"
#include "runtime/io/Format.h"
#include "runtime/io/Hdf5Library.h"

#include <algorithm>
#include <cstdlib>

namespace tokamak::runtime {
namespace {

using Id = Hdf5Library::Id;
using Size = Hdf5Library::Size;

constexpr const char *defaultDataset = "matrix";
constexpr const char *noFile = "it is no HDF5 file, or it is damaged";
// What libhdf5 may take to open a file, and how fast it is at the least.
constexpr int64_t secondsToOpen = 10, bytesInSecond = int64_t{10} << 20;
constexpr int64_t slabBytes = int64_t{1} << 25; // read or written by one call

// What the child sends first: the size, followed by the cells, or the length of a message, followed by it.
struct Answer {
  int64_t isFound = 0, rows = 0, columns = 0, messageSize = 0;
};

// The part of the child that reads.
class DatasetReader {
public:
  DatasetReader(const Hdf5Library &library, int pipe) : library_(library), pipe_(pipe) {}

  // Reads the dataset of this name, or the only one, from the file at `path`, or from the bytes of one.
  bool run(const std::string &path, std::string_view bytes,
           const std::optional<std::string> &name) {
    Id access = Hdf5Library::defaults;
    if (!bytes.empty()) {
      constexpr size_t growth = 1 << 16;
      access = library_.Pcreate(library_.fileAccess);
      library_.Pset_fapl_core(access, growth, 0);
      library_.Pset_file_image(access, const_cast<char *>(bytes.data()), bytes.size());
    }
    file_ = library_.Fopen(path.c_str(), Hdf5Library::readOnly, access);
    if (file_ < 0)
      return refuse(noFile);
    std::string problem = openDataset(name);
    if (!problem.empty())
      return refuse(problem);
    return sendCells();
  }

private:
  bool refuse(const std::string &message) const {
    Answer answer{.messageSize = static_cast<int64_t>(message.size())};
    return ChildProcess::writeAll(pipe_, &answer, sizeof answer) &&
           ChildProcess::writeAll(pipe_, message.data(), message.size());
  }

  // The names of datasets in the root.
  std::vector<std::string> datasets() const {
    constexpr size_t longest = 1024, most = 100;
    std::vector<std::string> names;
    for (Size i = 0; names.size() < most; ++i) {
      char name[longest];
      if (library_.Lget_name_by_idx(file_, ".", Hdf5Library::byName, Hdf5Library::increasing, i,
                                    name, longest, Hdf5Library::defaults) < 0)
        break;
      Id object = library_.Oopen(file_, name, Hdf5Library::defaults);
      if (object < 0)
        continue;
      if (library_.Iget_type(object) == Hdf5Library::datasetType)
        names.emplace_back(name);
      library_.Oclose(object);
    }
    return names;
  }

  // Opens the dataset and finds its size; returns what is wrong.
  std::string openDataset(const std::optional<std::string> &name) {
    std::vector<std::string> known;
    if (!name || (dataset_ = library_.Dopen2(file_, name->c_str(), Hdf5Library::defaults)) < 0)
      known = datasets();
    std::string list;
    for (const std::string &each : known)
      list += (list.empty() ? "" : ", ") + quotedField(each);
    if (name && dataset_ < 0)
      return fmt::format("it has no dataset {}{}", quotedField(*name),
                         list.empty() ? "" : "; there is " + list);
    if (!name && known.size() != 1)
      return known.empty()
                 ? "it has no dataset outside of groups: give dataset=\"group/name\""
                 : fmt::format("it has several datasets: give dataset= as one of {}", list);
    name_ = name ? *name : known[0];
    if (!name)
      dataset_ = library_.Dopen2(file_, name_.c_str(), Hdf5Library::defaults);
    Id type = library_.Dget_type(dataset_);
    space_ = library_.Dget_space(dataset_);
    int kind = library_.Tget_class(type);
    if (dataset_ < 0 || type < 0 || space_ < 0)
      return fmt::format("the dataset {} is damaged", quotedField(name_));
    if (kind != Hdf5Library::integerClass && kind != Hdf5Library::floatClass)
      return fmt::format("the dataset {} holds no numbers", quotedField(name_));
    return findSizes();
  }

  std::string findSizes() {
    constexpr int mostDimensions = 32; // of HDF5
    Size sizes[mostDimensions] = {};
    rank_ = library_.Sget_simple_extent_ndims(space_);
    if (rank_ < 0 || rank_ > mostDimensions ||
        (rank_ > 0 && library_.Sget_simple_extent_dims(space_, sizes, nullptr) < 0))
      return fmt::format("the dataset {} is damaged", quotedField(name_));
    if (rank_ > 2) {
      std::string shape;
      for (int i = 0; i < rank_; ++i)
        shape += fmt::format("{}{}", i > 0 ? "x" : "", sizes[i]);
      return fmt::format("the dataset {} has {} cells: expected a matrix", quotedField(name_),
                         shape);
    }
    if (rank_ == 0 && library_.Sget_simple_extent_npoints(space_) != 1)
      return fmt::format("the dataset {} has no cells", quotedField(name_));
    rows_ = rank_ > 0 ? sizes[0] : 1;
    columns_ = rank_ > 1 ? sizes[1] : 1;
    if (rows_ > static_cast<Size>(largestSize) || columns_ > static_cast<Size>(largestSize) ||
        !productOfSizes({static_cast<int64_t>(rows_), static_cast<int64_t>(columns_), 8}))
      return fmt::format("the dataset {} has {}x{} cells, which is too large", quotedField(name_),
                         rows_, columns_);
    return "";
  }

  // Rows in a slab: whole chunks, so that none is decompressed twice.
  Size rowsAtOnce() const {
    Size rows = std::max<Size>(1, slabBytes / (8 * std::max<Size>(1, columns_)));
    Id properties = library_.Dget_create_plist(dataset_);
    Size chunk[2] = {1, 1};
    if (rank_ > 0 && properties >= 0 && library_.Pget_chunk(properties, rank_, chunk) > 0)
      rows = (rows + chunk[0] - 1) / std::max<Size>(1, chunk[0]) * chunk[0];
    return std::clamp<Size>(rows, 1, std::max<Size>(1, rows_));
  }

  bool sendCells() {
    Answer answer{.isFound = 1,
                  .rows = static_cast<int64_t>(rows_),
                  .columns = static_cast<int64_t>(columns_)};
    if (!ChildProcess::writeAll(pipe_, &answer, sizeof answer))
      return false;
    if (rows_ == 0 || columns_ == 0)
      return true;
    ChildProcess::allowSeconds(secondsToOpen +
                               static_cast<int64_t>(rows_ * columns_) * 8 / bytesInSecond);
    Size atOnce = rowsAtOnce();
    std::unique_ptr<double, void (*)(void *)> cells(
        static_cast<double *>(std::malloc(atOnce * columns_ * sizeof(double))), std::free);
    for (Size row = 0; cells && row < rows_; row += atOnce) {
      Size start[2] = {row, 0}, count[2] = {std::min(atOnce, rows_ - row), columns_};
      Id memory = library_.Screate_simple(2, count, nullptr);
      if (rank_ > 0 && library_.Sselect_hyperslab(space_, Hdf5Library::selectSet, start, nullptr,
                                                  count, nullptr) < 0)
        return false;
      if (library_.Dread(dataset_, library_.nativeDouble, memory, space_, Hdf5Library::defaults,
                         cells.get()) < 0 ||
          !ChildProcess::writeAll(pipe_, cells.get(), count[0] * columns_ * sizeof(double)))
        return false;
    }
    return cells != nullptr;
  }

  const Hdf5Library &library_;
  int pipe_;
  Id file_ = -1, dataset_ = -1, space_ = -1;
  std::string name_;
  int rank_ = 0;
  Size rows_ = 0, columns_ = 0;
};

ArrayReference read(const MatrixFile &file, TextSource &source, ExecutionContext &) {
  const Hdf5Library &library = Hdf5Library::instance();
  std::string_view bytes = bytesOfOnlyFile(file, source);
  auto fail = [&](const std::string &message) -> Error {
    return Error(fmt::format("{}: {}", file.path, message));
  };
  if (source.isPlainFile(0))
    bytes = {};
  else if (bytes.empty())
    throw fail(noFile);
  ChildProcess child(secondsToOpen, [&](int pipe) {
    return DatasetReader(library, pipe).run(source.pathOf(0), bytes, file.dataset);
  });
  constexpr const char *crashed = "it is damaged: libhdf5 can't read it";
  Answer answer;
  if (!child.read(&answer, sizeof answer))
    throw fail(crashed);
  if (!answer.isFound) {
    std::string message(static_cast<size_t>(answer.messageSize), ' ');
    throw fail(child.read(message.data(), message.size()) ? message : crashed);
  }
  checkSize(file, "column", file.columns, answer.columns);
  checkSize(file, "row", file.rows, answer.rows);
  ArrayPointer matrix = Array::create({answer.rows, answer.columns});
  if (!child.read(matrix->mutableData(), static_cast<size_t>(matrix->bytes())) ||
      !child.succeeded())
    throw fail("its cells can't be read: they are damaged, or compressed in a way that libhdf5 "
               "doesn't have");
  return Array::inBestLayout(matrix);
}

// Writes the matrix as a dataset of the file; the part of the child.
bool writeDataset(const Hdf5Library &library, const std::string &path, const std::string &name,
                  const Array &matrix) {
  Id file = library.Fcreate(path.c_str(), Hdf5Library::truncate, Hdf5Library::defaults,
                            Hdf5Library::defaults);
  Size rows = static_cast<Size>(matrix.rows()), columns = static_cast<Size>(matrix.columns());
  Size sizes[2] = {rows, columns};
  Id space = library.Screate_simple(2, sizes, nullptr);
  Id dataset =
      library.Dcreate2(file, name.c_str(), library.nativeDouble, space, Hdf5Library::defaults,
                       Hdf5Library::defaults, Hdf5Library::defaults);
  if (file < 0 || dataset < 0)
    return false;
  Size atOnce = std::max<Size>(1, slabBytes / (8 * std::max<Size>(1, columns)));
  for (Size row = 0; columns > 0 && row < rows; row += atOnce) {
    Size start[2] = {row, 0}, count[2] = {std::min(atOnce, rows - row), columns};
    auto begin = static_cast<int64_t>(row), end = static_cast<int64_t>(row + count[0]);
    std::vector<double> cells;
    const double *from = nullptr;
    if (matrix.isSparse()) { // the pool's locks may be held by threads that the child lacks
      cells.assign(count[0] * columns, 0);
      for (int64_t i = begin; i < end; ++i)
        for (int64_t p = matrix.rowOffsets()[i]; p < matrix.rowOffsets()[i + 1]; ++p)
          cells[(i - begin) * columns + matrix.columnIndices()[p]] = matrix.data()[p];
      from = cells.data();
    } else {
      from = matrix.data() + begin * matrix.columns();
    }
    Id memory = library.Screate_simple(2, count, nullptr);
    if (library.Sselect_hyperslab(space, Hdf5Library::selectSet, start, nullptr, count, nullptr) <
            0 ||
        library.Dwrite(dataset, library.nativeDouble, memory, space, Hdf5Library::defaults, from) <
            0)
      return false;
  }
  return library.Oclose(dataset) >= 0 && library.Fclose(file) >= 0;
}

void write(const Array &matrix, const WriteOptions &options, ExecutionContext &, FileWriter &file) {
  const Hdf5Library &library = Hdf5Library::instance();
  std::string name = options.dataset.value_or(defaultDataset);
  if (name.empty() || name.find('/') != name.npos)
    throw Error(
        fmt::format("write: dataset cannot be {}: it is empty or has a '/'", quotedField(name)));
  if (file.isCompressed())
    throw Error("write: the format hdf5 can't be written compressed: choose a name without .gz");
  if (file.isStream())
    throw Error("write: the format hdf5 can't be written to a pipe or a device");
  std::string path = file.temporaryPath();
  matrix.data(); // a repeated matrix becomes dense here, not in the child
  int64_t seconds = secondsToOpen + matrix.cells() * 8 / bytesInSecond;
  ChildProcess child(seconds, [&](int) { return writeDataset(library, path, name, matrix); });
  if (!child.succeeded())
    file.failWith("libhdf5 failed; the disk may be full");
}

} // namespace

constinit const Format Hdf5Format = {
    .name = "hdf5", .beginning = "\x89HDF", .readMatrix = read, .writeMatrix = write};

} // namespace tokamak::runtime
