// Results, one JSON object a line, on standard output.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace outcomed::bench {

class Row {
 public:
  explicit Row(std::string_view part) { add("part", part); }
  ~Row() {
    fmt::print("{}}}\n", text_);
    std::fflush(stdout);
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  Row& add(std::string_view name, std::string_view value) {
    return put(name, fmt::format("\"{}\"", value));
  }
  Row& add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
  Row& add(std::string_view name, double value) { return put(name, number(value)); }
  Row& add(std::string_view name, int value) { return put(name, fmt::format("{}", value)); }
  // "never" is null.
  Row& add(std::string_view name, const std::vector<double>& values) {
    std::string list;
    for (const double value : values) list += (list.empty() ? "" : ",") + number(value);
    return put(name, "[" + list + "]");
  }

 private:
  static std::string number(double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
  }
  Row& put(std::string_view name, std::string_view value) {
    text_ += fmt::format("{}\"{}\":{}", text_.empty() ? "{" : ",", name, value);
    return *this;
  }
  std::string text_;
};

}  // namespace outcomed::bench
