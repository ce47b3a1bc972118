#include "support/SourceLocations.h"

#include <algorithm>
#include <functional>

using namespace mlir;

namespace tokamak::support {

static bool isKnown(const SourcePlace &place) { return place.isKnown(); }

// Inlining nests on both sides of a call site: the callee may contain inlined code, and the caller may itself be inlined.
static void append(Location location, std::vector<SourcePlace> &places) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    places.push_back({file.getFilename().str(), static_cast<int>(file.getLine()),
                      static_cast<int>(file.getColumn())});
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    append(name.getChildLoc(), places);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    append(call.getCallee(), places);
    append(call.getCaller(), places);
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    size_t before = places.size();
    for (Location part : fused.getLocations()) {
      append(part, places);
      if (llvm::any_of(llvm::drop_begin(places, before), isKnown))
        return;
      places.resize(before);
    }
  }
}

std::vector<SourcePlace> placesOf(Location location) {
  std::vector<SourcePlace> places;
  append(location, places);
  if (!places.empty())
    places.erase(std::remove_if(std::next(places.begin()), places.end(), std::not_fn(isKnown)),
                 places.end());
  return places;
}

SourcePlace placeOf(Location location) {
  std::vector<SourcePlace> places = placesOf(location);
  return places.empty() ? SourcePlace() : places.front();
}

void locate(Error &error, Location location) {
  if (error.place().isKnown())
    return;
  error.at(placeOf(location));
  std::vector<SourcePlace> places = placesOf(location);
  for (size_t call = 1; call < places.size(); ++call)
    error.calledFrom(places[call]);
}

void traceCall(Error &error, Location location) {
  for (const SourcePlace &place : placesOf(location))
    error.calledFrom(place);
}

StringRef variableAt(Location location) {
  while (auto call = dyn_cast<CallSiteLoc>(location))
    location = call.getCallee();
  auto name = dyn_cast<NameLoc>(location);
  return name ? name.getName().getValue() : StringRef();
}

} // namespace tokamak::support
