#include "queries/recording/recording_source.h"

#include <fmt/core.h>

#include <filesystem>

#include "queries/recording/csv_recording.h"
#include "queries/recording/openmetrics_recording.h"
#include "queries/recording/pages_recording.h"

namespace outcomed {

void RecordingSettings::visit(ParamVisitor& visitor) {
  visitor.path(
      "path", path,
      "An OpenMetrics file (.om), a folder of metrics pages, or a file of buckets (.csv).");
  if (path.empty()) {
    visitor.problem("path", "is missing",
                    "write where the recording is: a .om or .csv file, or a "
                    "folder of pages");
  }
}

Result<RecordingForm> recording_form(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error && status.type() != std::filesystem::file_type::not_found) {
    return Error{ErrorKind::invalid, fmt::format("{}: {}", path, error.message())};
  }
  if (!std::filesystem::exists(status)) {
    return Error{ErrorKind::invalid, fmt::format("{}: no such file or folder", path)};
  }
  if (std::filesystem::is_directory(status)) return RecordingForm::pages;
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  if (name.ends_with(".csv")) return RecordingForm::buckets;
  if (name.ends_with(".om")) return RecordingForm::openmetrics;
  return Error{
      ErrorKind::invalid,
      fmt::format("{}: can't tell what kind of recording this is: an OpenMetrics file ends "
                  "in .om, a file of buckets in .csv, pages lie in a folder",
                  path)};
}

RecordingSource::RecordingSource(RecordingSettings settings, std::vector<SignalPlan> plans)
    : settings_(std::move(settings)), plans_(std::move(plans)) {}

Status RecordingSource::open() {
  if (recording_ != nullptr) return ok();
  const auto form = recording_form(settings_.path);
  if (!form) return form.error();
  switch (*form) {
    case RecordingForm::openmetrics:
      recording_ = std::make_unique<OpenMetricsRecording>(settings_.path, plans_);
      break;
    case RecordingForm::pages:
      recording_ = std::make_unique<PagesRecording>(settings_.path, plans_);
      break;
    case RecordingForm::buckets:
      recording_ = std::make_unique<CsvRecording>(settings_.path, plans_);
      break;
  }
  return ok();
}

Result<Fetch> RecordingSource::fetch(TimeRange range) {
  if (Status status = open(); !status) return std::move(status).error();
  return recording_->fetch(range);
}

void RecordingSource::seed_cells(std::size_t signal, const std::vector<Labels>& cells) {
  if (open()) recording_->seed_cells(signal, cells);
}

const std::vector<Labels>& RecordingSource::cells(std::size_t signal) const {
  static const std::vector<Labels> kNone;
  return recording_ == nullptr ? kNone : recording_->cells(signal);
}

Result<std::optional<TimeRange>> RecordingSource::span() {
  if (Status status = open(); !status) return std::move(status).error();
  return recording_->span();
}

void RecordingSource::save(Writer& writer) const {
  if (recording_ != nullptr) recording_->save(writer);
}

bool RecordingSource::load(Reader& reader) { return open() && recording_->load(reader); }

}  // namespace outcomed
