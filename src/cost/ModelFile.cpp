#include "cost/ModelFile.h"

#include "base/Error.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace tokamak::cost {

namespace fs = std::filesystem;

// nullopt if the key is missing or has another form.
static std::optional<Measurement> parseMeasurement(const nlohmann::json &file) {
  auto found = file.find("measured");
  if (found == file.end() || !found->is_object())
    return std::nullopt;
  Measurement measured;
  try {
    measured.date = found->at("date");
    measured.processor = found->at("processor");
    measured.threads = found->at("threads");
    measured.version = found->at("version");
    measured.reason = found->at("reason");
    measured.isDisturbed = found->at("disturbed");
    measured.attempts = found->at("attempts");
  } catch (const nlohmann::json::exception &) {
    return std::nullopt;
  }
  return measured;
}

ModelFile readModelFile(const std::string &path) {
  std::error_code problem;
  std::ostringstream text;
  // Only regular files: opening a pipe would block until it has a writer.
  if (std::ifstream file; fs::is_regular_file(path, problem) && (file.open(path), file))
    text << file.rdbuf();
  else
    throw Error("machine model " + path + ": cannot be read");
  ModelFile result{parseMachineModel(text.str(), path), std::nullopt};
  result.measured = parseMeasurement(nlohmann::json::parse(text.str()));
  return result;
}

void writeModelFile(const ModelFile &file, const std::string &path) {
  auto json = nlohmann::ordered_json::parse(toJson(file.model));
  if (file.measured)
    json["measured"] = {
        {"date", file.measured->date},        {"processor", file.measured->processor},
        {"threads", file.measured->threads},  {"version", file.measured->version},
        {"reason", file.measured->reason},    {"disturbed", file.measured->isDisturbed},
        {"attempts", file.measured->attempts}};
  std::error_code problem;
  fs::path target(path);
  if (target.has_parent_path())
    fs::create_directories(target.parent_path(), problem);
  // Two processes may measure at the same time, so each writes its own temporary file.
  fs::path temporary = path + "." + std::to_string(getpid());
  std::ofstream out(temporary);
  out << json.dump(2) << '\n';
  out.close();
  if (out)
    fs::rename(temporary, target, problem);
  if (!out || problem) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw Error("machine model " + path + ": cannot be written");
  }
}

std::optional<std::string> machineModelPath() {
  auto variable = [](const char *name) -> std::optional<std::string> {
    const char *value = std::getenv(name);
    return value && *value ? std::optional<std::string>(value) : std::nullopt;
  };
  const std::string file = "/tokamak/machine-model.json";
  // The XDG specification: a relative path is to be ignored.
  if (auto cache = variable("XDG_CACHE_HOME"); cache && fs::path(*cache).is_absolute())
    return *cache + file;
  if (auto home = variable("HOME"))
    return *home + "/.cache" + file;
  return std::nullopt;
}

// x86 has a readable model name; Arm has only the numbers of implementer and part.
std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, numbers;
  while (std::getline(file, line)) {
    size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (!numbers.empty())
        break; // only the first core is described
      continue;
    }
    std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : "";
    if (key == "model name")
      return value;
    if (key == "CPU implementer" || key == "CPU part")
      numbers += (numbers.empty() ? "" : ", ") + key + " " + value;
  }
  return numbers.empty() ? "unknown" : numbers;
}

} // namespace tokamak::cost
