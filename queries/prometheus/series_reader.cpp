#include "queries/prometheus/series_reader.h"

#include <fmt/core.h>

namespace outcomed {

namespace od = simdjson::ondemand;

namespace {

// [1796008472.071,"8"]. Runs once a sample: faults are put into words outside of the way.
bool parse_point(od::array pair, Sample& sample, std::string& fault) {
  const auto say = [&fault](std::string_view what, std::string_view text) {
    fault = fmt::format("{} {}", what, text);
    return false;
  };
  int position = 0;
  for (auto entry : pair) {
    if (position == 0) {
      double seconds = 0;
      if (const auto code = entry.get_double().get(seconds)) {
        return say("a time:", simdjson::error_message(code));
      }
      if (!sample_time(seconds, sample.at_ms)) {
        return say("no time in Unix seconds:", fmt::format("{}", seconds));
      }
    } else if (position == 1) {
      std::string_view text;
      if (const auto code = entry.get_string().get(text)) {
        return say("a value:", simdjson::error_message(code));
      }
      if (!parse_sample_value(text, sample.value)) return say("no number:", excerpt(text, 40));
    }
    ++position;
  }
  return position == 2 || say("a value is not a pair", "of time and number");
}

}  // namespace

std::string_view name_of(ReplyType type) {
  switch (type) {
    case ReplyType::matrix:
      return "matrix";
    case ReplyType::vector:
      return "vector";
    case ReplyType::scalar:
      return "scalar";
  }
  return "matrix";
}

Error broken(std::string_view what) { return {ErrorKind::corrupt, std::string(what)}; }
Error broken(std::string_view what, simdjson::error_code code) {
  return broken(fmt::format("{}: {}", what, simdjson::error_message(code)));
}

Status SeriesReader::read_result(od::value value) {
  od::array array;
  if (const auto code = value.get_array().get(array)) return broken("`result` is no list", code);
  if (expected_ == ReplyType::scalar) {
    key_ = "{}";
    id_ = sink_.open(key_, [] { return Labels(); });
    if (Status read = read_point(array); !read) return read;
    flush();
    info_.series = 1;
    return ok();
  }
  for (auto entry : array) {
    od::value element;
    if (const auto code = entry.get(element)) {
      return broken("cut off or malformed", code);
    }
    if (Status read = read_element(element); !read) return read;
  }
  return ok();
}

Status SeriesReader::read_element(od::value value) {
  od::object object;
  if (const auto code = value.get_object().get(object)) {
    return broken("a series is no object", code);
  }
  key_ = {};
  if (Status read = read_series(object); !read) {
    if (key_.empty()) return read;
    return std::move(read).error().while_doing(excerpt(key_, 300));
  }
  flush();
  ++info_.series;
  return ok();
}

Status SeriesReader::read_series(od::object object) {
  const std::string_view wanted = expected_ == ReplyType::matrix ? "values" : "value";
  bool has_points = false;
  for (auto entry : object) {
    od::field field;
    std::string_view name;
    if (const auto code = std::move(entry).get(field)) return broken("cut off or malformed", code);
    if (const auto code = field.unescaped_key().get(name)) return broken("a field name", code);
    if (name == "metric") {
      od::object metric;
      if (const auto code = field.value().get_object().get(metric)) {
        return broken("`metric` is no object", code);
      }
      if (!key_.empty()) return broken("a series has two label sets");
      if (Status opened = open(metric); !opened) return opened;
    } else if (name == wanted) {
      if (key_.empty()) return broken("values stand before their labels");
      has_points = true;
      if (Status read = read_points(field.value()); !read) return read;
    } else if (name == "histogram" || name == "histograms") {
      return Error{ErrorKind::unsupported,
                   "the series is a native histogram; classic counters are needed (its _count and "
                   "_bucket series: `scrape_classic_histograms: true` in Prometheus)"};
    }
  }
  if (key_.empty() || !has_points) return broken("a series lacks its labels or its values");
  return ok();
}

Status SeriesReader::open(od::object metric) {
  if (const auto code = metric.raw_json().get(key_)) return broken("`metric` is malformed", code);
  while (!key_.empty() && key_.back() != '}') key_.remove_suffix(1);  // Blanks before the comma.
  Status labels_read = ok();
  const auto labels = [this, &labels_read] {
    auto parsed = label_parser_.parse(key_);
    if (parsed) return *std::move(parsed);
    labels_read = std::move(parsed).error();
    return Labels();
  };
  id_ = sink_.open(key_, labels);
  if (!labels_read) return labels_read;
  if (id_ >= seen_.size()) seen_.resize(std::size_t{id_} + 1);
  if (seen_[id_]) return broken("the reply holds this label set twice");
  seen_[id_] = true;
  return ok();
}

Status SeriesReader::read_points(od::value value) {
  od::array array;
  if (const auto code = value.get_array().get(array)) return broken("values are no list", code);
  if (expected_ == ReplyType::vector) return read_point(array);
  std::string fault;
  for (auto entry : array) {
    od::array pair;
    if (const auto code = entry.get_array().get(pair)) return broken("a value is no pair", code);
    if (!parse_point(pair, points_[point_count_], fault)) return broken(fault);
    if (++point_count_ == points_.size()) flush();
  }
  return ok();
}

Status SeriesReader::read_point(od::array pair) {
  std::string fault;
  if (!parse_point(pair, points_[point_count_], fault)) return broken(fault);
  if (++point_count_ == points_.size()) flush();
  return ok();
}

void SeriesReader::flush() {
  if (point_count_ > 0) sink_.append(id_, {points_.data(), point_count_});
  info_.samples += point_count_;
  point_count_ = 0;
}

}  // namespace outcomed
