#include "reference/SourceTrace.h"

#include <vector>

namespace tokamak::reference {
namespace {

// Appends the place, then the places of the calls that led there, innermost first.
void appendPlaces(mlir::Location location, std::vector<SourcePlace> &places) {
  if (auto file = mlir::dyn_cast<mlir::FileLineColLoc>(location)) {
    places.push_back({file.getFilename().str(), static_cast<int>(file.getLine()),
                      static_cast<int>(file.getColumn())});
  } else if (auto name = mlir::dyn_cast<mlir::NameLoc>(location)) {
    appendPlaces(name.getChildLoc(), places);
  } else if (auto callSite = mlir::dyn_cast<mlir::CallSiteLoc>(location)) {
    appendPlaces(callSite.getCallee(), places);
    appendPlaces(callSite.getCaller(), places);
  } else if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location)) {
    for (mlir::Location part : fused.getLocations()) {
      appendPlaces(part, places);
      if (!places.empty())
        return;
    }
  }
}

} // namespace

void locate(Error &error, mlir::Location location) {
  if (error.place().isKnown())
    return;
  std::vector<SourcePlace> places;
  appendPlaces(location, places);
  if (places.empty())
    return;
  error.at(places.front());
  for (size_t i = 1; i < places.size(); ++i)
    error.calledFrom(places[i]);
}

void traceCall(Error &error, mlir::Location location) {
  std::vector<SourcePlace> places;
  appendPlaces(location, places);
  for (const SourcePlace &place : places)
    error.calledFrom(place);
}

} // namespace tokamak::reference
