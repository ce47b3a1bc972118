// The precompiled header of the folders that don't use MLIR: the parts of the standard library, {fmt}, and those of our
// headers that most files read: the class templates in them need not be instantiated again for each file.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "abi/KernelPlan.h"
#include "base/Error.h"
#include "base/SparseSafety.h"
#include "runtime/values/Value.h"
