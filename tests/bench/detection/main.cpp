// Detection bench: see docs/detection.md.
//   detection_bench quick                         what tests/run checks; ends with 1 when a promise
//   is broken detection_bench PART [PART…] [--key=value…]   rows of JSON on standard output
#include <fmt/core.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

#include "parts.h"

namespace outcomed::bench {
namespace {

using Options = std::map<std::string, std::string>;

class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const std::size_t equals = word.find('=');
      if (!word.starts_with("--")) {
        parts.push_back(word);
      } else if (equals != std::string::npos) {
        options_[word.substr(2, equals - 2)] = word.substr(equals + 1);
      } else {
        options_[word.substr(2)] = "yes";
      }
    }
  }
  [[nodiscard]] std::string text(const std::string& name, const std::string& usual) const {
    const auto at = options_.find(name);
    return at == options_.end() ? usual : at->second;
  }
  [[nodiscard]] double number(const std::string& name, double usual) const {
    const auto at = options_.find(name);
    return at == options_.end() ? usual : std::atof(at->second.c_str());
  }
  [[nodiscard]] std::vector<double> numbers(const std::string& name,
                                            const std::string& usual) const {
    std::vector<double> all;
    std::istringstream cells(text(name, usual));
    for (std::string cell; std::getline(cells, cell, ',');) all.push_back(std::atof(cell.c_str()));
    return all;
  }

  std::vector<std::string> parts;

 private:
  Options options_;
};

void append(Problems& problems, const Problems& more) {
  problems.insert(problems.end(), more.begin(), more.end());
}

Problems quick(const std::string& data) {
  Problems problems = false_page_times(1e7, false);
  append(problems, harmless());
  append(problems, real_requests(data));
  append(problems, real_answers(data));
  append(problems, quick_cell());
  return problems;
}

Problems run_part(const std::string& part, const Arguments& given, const std::string& data) {
  if (part == "quick") return quick(data);
  if (part == "mean_time") return false_page_times(given.number("minutes", 1e7), true);
  if (part == "grid") {
    const Effort effort{int(given.number("series", 20)), int(given.number("shifted", 12)),
                        int(given.number("repetitions", 4))};
    Problems problems;
    for (const double rate : given.numbers("rates", "0.2,1,5,20,100,500")) {
      append(problems,
             grid_cell(given.text("baseline", "iid"), rate, effort, data, given.text("dump", "")));
    }
    return problems;
  }
  if (part == "against_oracle") {
    return against_oracle(given.numbers("rates", "1,5,20,100,500"),
                          int(given.number("changes", 400)));
  }
  if (part == "many_series") return many_series(int(given.number("series", 300)));
  if (part == "outage") return provider_outage(data, int(given.number("outages", 40)));
  if (part == "ramp") return slow_ramp(int(given.number("series", 20)));
  if (part == "harmless") return harmless();
  if (part == "real_requests") return real_requests(data);
  if (part == "real_answers") return real_answers(data);
  if (part == "judge_swap")
    return judge_swap(data, int(given.number("years", 10)), given.text("dump", ""));
  return {fmt::format("there is no part {}", part)};
}

}  // namespace
}  // namespace outcomed::bench

int main(int argc, char** argv) {
  const outcomed::bench::Arguments given(argc, argv);
  if (given.parts.empty()) {
    fmt::print(
        stderr,
        "detection_bench: name a part: quick mean_time grid against_oracle many_series outage ramp "
        "harmless "
        "real_requests real_answers judge_swap\n");
    return 2;
  }
  int wrong = 0;
  for (const std::string& part : given.parts) {
    for (const std::string& problem : run_part(part, given, given.text("data", OUTCOMED_DATA))) {
      fmt::print(stderr, "broken promise: {}\n", problem);
      ++wrong;
    }
  }
  return wrong > 0 ? 1 : 0;
}
