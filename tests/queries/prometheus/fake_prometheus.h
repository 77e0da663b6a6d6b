// A server of Prometheus' API in memory, that journals what it is asked and fails on command. It
// answers range selectors, topk(1, …) and remote read (chunks) or export, as switched on.
#pragma once

#include <snappy.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "queries/base/http_client.h"
#include "queries/base/matcher.h"
#include "queries/base/time.h"
#include "queries/counters/samples.h"
#include "queries/prometheus/protobuf.h"
#include "tests/queries/prometheus/remote_messages.h"
#include "tests/queries/prometheus/xor_encoder.h"

namespace outcomed {

class FakePrometheus final : public HttpClient {
 public:
  using Form = std::multimap<std::string, std::string>;

  std::map<Labels, std::vector<Sample>> data;
  Labels external;  // Added by remote read.
  bool offers_remote_read = false;
  bool offers_export = false;
  bool offers_label_values = true;
  bool refuses_post = false;
  std::size_t most_samples = SIZE_MAX;  // Beyond: "too many samples".
  std::string more;                     // Put behind the data of each reply: ,"warnings":[…]
  // Given instead, in order; nothing: the true answer.
  std::deque<std::optional<Result<HttpResponse>>> next_answers;
  std::vector<HttpRequest> journal;

  void add(const Labels& labels, std::vector<Sample> samples) { data[labels] = std::move(samples); }

  // "POST /path query=… time=…": what a test compares.
  [[nodiscard]] std::vector<std::string> asked() const {
    std::vector<std::string> lines;
    for (const HttpRequest& request : journal) {
      std::string line = request.method + ' ' + path_of(request);
      for (const char* name : {"query", "time", "match[]", "start", "end"}) {
        const Form form = form_of(request);
        const auto [first, last] = form.equal_range(name);
        for (auto it = first; it != last; ++it) line += ' ' + it->second;
      }
      lines.push_back(line);
    }
    return lines;
  }
  // Without the questions for jobs.
  [[nodiscard]] std::vector<std::string> samples_asked() const {
    std::vector<std::string> lines = asked();
    std::erase_if(lines,
                  [](const std::string& line) { return line.starts_with("GET /api/v1/label"); });
    return lines;
  }
  static std::string path_of(const HttpRequest& request) {
    const auto begin = request.url.find('/', request.url.find("://") + 3);
    return request.url.substr(begin, request.url.find('?') - begin);
  }
  static Form form_of(const HttpRequest& request) {
    Form form;
    std::string text = request.body;
    if (request.method == "GET") {
      const auto mark = request.url.find('?');
      text = mark == std::string::npos ? "" : request.url.substr(mark + 1);
    }
    while (!text.empty()) {
      const std::string field = text.substr(0, text.find('&'));
      text.erase(0, field.size() + 1);
      const auto equals = field.find('=');
      if (equals == std::string::npos) continue;
      form.emplace(decoded(field.substr(0, equals)), decoded(field.substr(equals + 1)));
    }
    return form;
  }

  Result<HttpResponse> send(const HttpRequest& request) override {
    journal.push_back(request);
    if (!next_answers.empty()) {
      const auto answer = next_answers.front();
      next_answers.pop_front();
      if (answer) return *answer ? deliver(request, **answer) : *answer;
    }
    const std::string path = path_of(request);
    if (path.ends_with("/api/v1/query")) {
      if (refuses_post && request.method == "POST") return deliver(request, {405, {}, "no POST"});
      return deliver(request,
                     {200, {{"content-type", "application/json"}}, query(form_of(request))});
    }
    if (path.ends_with("/api/v1/read") && offers_remote_read) {
      return deliver(
          request,
          {200, {{"content-type", "application/x-streamed-protobuf"}}, remote_read(request.body)});
    }
    if (path.ends_with("/api/v1/export") && offers_export) {
      return deliver(request, {200, {}, export_lines(form_of(request))});
    }
    if (path.ends_with("/api/v1/label/job/values") && offers_label_values) {
      return deliver(request, {200, {}, jobs(form_of(request))});
    }
    return deliver(request, {404, {}, "404 page not found"});
  }

 private:
  static std::string decoded(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        out += text[i];
        continue;
      }
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
    return out;
  }
  // As HttpClient promises: the body of a 2xx goes to on_body, in pieces; too much is an error.
  static Result<HttpResponse> deliver(const HttpRequest& request, HttpResponse response) {
    if (static_cast<std::int64_t>(response.body.size()) > request.max_bytes) {
      return Error{ErrorKind::too_large, "POST http://prom:9090/…: the answer is too large"};
    }
    if (response.status / 100 != 2 || !request.on_body) return response;
    for (std::size_t at = 0; at < response.body.size(); at += 100) {
      const auto piece = std::string_view(response.body).substr(at, 100);
      if (Status taken = request.on_body(piece); !taken) return std::move(taken).error();
    }
    response.body.clear();
    return response;
  }

  static Matchers matchers_of(std::string selector) {
    if (selector.starts_with("{")) selector = "any" + selector;
    auto parsed = Selector::parse(selector);
    Matchers matchers = parsed->matchers;
    if (parsed->metric != "any") {
      matchers.push_back(*Matcher::make("__name__", Matcher::Op::equal, parsed->metric));
    }
    return matchers;
  }
  static std::string json(const Labels& labels) {
    std::string text = "{";
    for (const auto& [name, value] : labels.pairs()) {
      text += (text.size() > 1 ? ",\"" : "\"") + name + "\":\"" + value + '"';
    }
    return text + "}";
  }
  static std::string json(const Sample& sample) {
    const std::string value = std::isnan(sample.value) ? "NaN" : std::to_string(sample.value);
    return "[" + std::to_string(double(sample.at_ms) / 1000) + ",\"" + value + "\"]";
  }

  std::string query(const Form& form) const {
    std::string expression = form.find("query")->second;
    const auto at = std::llround(std::stod(form.find("time")->second) * 1000);
    const bool topk = expression.starts_with("topk(1, ");
    Duration range = 5min;
    std::string selector;
    if (topk) {
      selector = expression.substr(8, expression.size() - 9);
    } else {
      const auto bracket = expression.rfind('[');
      range = *parse_duration(expression.substr(bracket + 1, expression.size() - bracket - 2));
      selector = expression.substr(0, bracket);
    }
    std::string result;
    std::size_t count = 0;
    for (const auto& [labels, samples] : data) {
      if (!all_match(matchers_of(selector), labels)) continue;
      std::string values;
      for (const Sample& sample : samples) {  // Closed at both ends, as Prometheus 2.
        if (sample.at_ms < at - range.count() || sample.at_ms > at) continue;
        values = topk ? json(sample) : values + (values.empty() ? "" : ",") + json(sample);
        ++count;
      }
      if (values.empty()) continue;
      if (!result.empty()) result += ',';
      result += "{\"metric\":" + json(labels) +
                (topk ? ",\"value\":" + values + "}" : ",\"values\":[" + values + "]}");
      if (topk) break;
    }
    if (count > most_samples) {
      return R"({"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"})";
    }
    return std::string(R"({"status":"success","data":{"resultType":")") +
           (topk ? "vector" : "matrix") + "\",\"result\":[" + result + "]}" + more + "}";
  }

  std::string jobs(const Form& form) const {
    std::set<std::string> jobs;
    const auto [first, last] = form.equal_range("match[]");
    for (auto it = first; it != last; ++it) {
      for (const auto& [labels, samples] : data) {
        if (all_match(matchers_of(it->second), labels)) jobs.emplace(labels.get("job"));
      }
    }
    std::string list;
    for (const std::string& job : jobs) list += (list.empty() ? "\"" : ",\"") + job + '"';
    return R"({"status":"success","data":[)" + list + "]}";
  }

  std::string export_lines(const Form& form) const {
    const auto begin = std::llround(std::stod(form.find("start")->second) * 1000);
    const auto end = std::llround(std::stod(form.find("end")->second) * 1000);
    std::string body;
    const auto [first, last] = form.equal_range("match[]");
    for (auto it = first; it != last; ++it) {
      for (const auto& [labels, samples] : data) {
        if (!all_match(matchers_of(it->second), labels)) continue;
        std::string values;
        std::string times;
        for (const Sample& sample : samples) {
          if (sample.at_ms < begin || sample.at_ms > end) continue;
          values += (values.empty() ? "" : ",") + std::to_string(sample.value);
          times += (times.empty() ? "" : ",") + std::to_string(sample.at_ms);
        }
        if (values.empty()) continue;
        body += "{\"metric\":" + json(labels) + ",\"values\":[" + values + "],\"timestamps\":[" +
                times + "]}\n";
      }
    }
    return body;
  }

  std::string remote_read(const std::string& compressed) const {
    std::string message;
    snappy::Uncompress(compressed.data(), compressed.size(), &message);
    std::string body;
    for (ProtoFields request(message); request.next();) {
      if (request.is(1, WireType::bytes)) body += answer_query(request.bytes());
    }
    return body;
  }
  std::string answer_query(std::string_view query) const {
    Matchers matchers;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    for (ProtoFields fields(query); fields.next();) {
      if (fields.is(1, WireType::varint)) begin = static_cast<std::int64_t>(fields.number());
      if (fields.is(2, WireType::varint)) end = static_cast<std::int64_t>(fields.number());
      if (!fields.is(3, WireType::bytes)) continue;
      constexpr Matcher::Op kOps[] = {Matcher::Op::equal, Matcher::Op::not_equal,
                                      Matcher::Op::match, Matcher::Op::not_match};
      Matcher::Op op{};
      std::string name;
      std::string value;
      for (ProtoFields matcher(fields.bytes()); matcher.next();) {
        if (matcher.is(1, WireType::varint)) op = kOps[matcher.number() & 3];
        if (matcher.is(2, WireType::bytes)) name = matcher.bytes();
        if (matcher.is(3, WireType::bytes)) value = matcher.bytes();
      }
      matchers.push_back(*Matcher::make(name, op, value));
    }
    std::string body;
    for (const auto& [labels, samples] : data) {
      const bool inside = std::ranges::any_of(
          samples, [&](const Sample& s) { return s.at_ms >= begin && s.at_ms <= end; });
      if (inside && all_match(matchers, labels)) body += frame(labels, samples);
    }
    return body;
  }
  // Whole chunks, of what lies outside the query too, as Prometheus sends them.
  std::string frame(Labels labels, const std::vector<Sample>& samples) const {
    for (const auto& [name, value] : external.pairs()) {
      if (labels.get(name).empty()) labels.set(name, value);
    }
    ProtoWriter chunks;
    for (std::size_t at = 0; at < samples.size(); at += 120) {
      const auto first = samples.begin() + static_cast<std::ptrdiff_t>(at);
      const auto last =
          samples.begin() + static_cast<std::ptrdiff_t>(std::min(at + 120, samples.size()));
      chunks.bytes(
          2, ProtoWriter().varint(3, 1).bytes(4, XorEncoder::encode({first, last})).message());
    }
    const std::string series = labels_message(labels.pairs()) + chunks.message();
    return frame_of(ProtoWriter().bytes(1, series).message());
  }
};

}  // namespace outcomed
