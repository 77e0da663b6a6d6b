// What decoding costs, on data made here: XOR chunks (remote read), JSON of the query API, export
// lines of VictoriaMetrics. Prints nanoseconds of CPU for each sample, best of five.
//   cmake -S . -B build/bench -G Ninja -DOUTCOMED_BENCH=ON
//   ninja -C build/bench prometheus_decoders_bench && build/bench/tests/prometheus_decoders_bench
#include <fmt/core.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <unordered_map>

#include "queries/prometheus/query_reply.h"
#include "queries/prometheus/remote_read.h"
#include "queries/prometheus/vm_export.h"
#include "tests/queries/prometheus/remote_messages.h"
#include "tests/queries/prometheus/xor_encoder.h"

namespace outcomed {
namespace {

constexpr std::int64_t kStart = INT64_C(1'796'000'000'000);

// Finds series by key as a counting sink does, and adds up.
class SummingSink final : public SampleSink {
 public:
  SeriesId open(std::string_view key, const std::function<Labels()>& labels) override {
    const auto found = ids_.find(key);
    if (found != ids_.end()) return found->second;
    labels_ += labels().pairs().size();
    return ids_.emplace(std::string(key), static_cast<SeriesId>(ids_.size())).first->second;
  }
  void append(SeriesId, std::span<const Sample> samples) override {
    for (const Sample& sample : samples) sum_ += sample.value + double(sample.at_ms);
    count += samples.size();
  }
  [[nodiscard]] double checksum() const { return sum_ + double(labels_); }
  std::size_t count = 0;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, SeriesId, Hash, std::equal_to<>> ids_;
  std::size_t labels_ = 0;
  double sum_ = 0;
};

// Labels as long as LiteLLM's.
Pairs labels_of(int series) {
  return {{"__name__", "litellm_proxy_failed_requests_metric_total"},
          {"api_key_alias", "key-" + std::to_string(series % 100)},
          {"end_user", "None"},
          {"exception_class", "Openai.RateLimitError"},
          {"exception_status", "429"},
          {"hashed_api_key", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
          {"instance", "127.0.0.1:4000"},
          {"job", "litellm"},
          {"requested_model", "model-" + std::to_string(series)},
          {"route", "/v1/chat/completions"},
          {"team", "None"},
          {"team_alias", "None"},
          {"user", "default_user_id"}};
}

// A counter scraped every `step` ms, one scrape in ten some milliseconds late (Prometheus smooths
// out less); it rises in every third scrape.
std::vector<Sample> samples_of(int series, int count, std::int64_t step) {
  std::mt19937 random(static_cast<std::uint32_t>(series));
  std::vector<Sample> samples;
  double value = 0;
  for (int i = 0; i < count; ++i) {
    if (random() % 3 == 0) value += double(random() % 20);
    const std::int64_t late = random() % 10 == 0 ? 4 : 0;
    samples.push_back({kStart + i * step + late, value});
  }
  return samples;
}

std::string json_labels(int series) {
  std::string text;
  for (const auto& [name, value] : labels_of(series)) {
    text += (text.empty() ? "{\"" : ",\"") + name + "\":\"" + value + '"';
  }
  return text + "}";
}

std::string chunk_frames(int series_count, int samples, std::int64_t step) {
  std::string body;
  for (int series = 0; series < series_count; ++series) {
    const auto all = samples_of(series, samples, step);
    ProtoWriter chunks;
    for (std::size_t at = 0; at < all.size(); at += 120) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
      const auto last = all.begin() + static_cast<std::ptrdiff_t>(std::min(at + 120, all.size()));
      const ProtoWriter chunk =
          ProtoWriter().varint(3, 1).bytes(4, XorEncoder::encode({first, last}));
      chunks.bytes(2, chunk.message());
    }
    const std::string message = labels_message(labels_of(series)) + chunks.message();
    body += frame_of(ProtoWriter().bytes(1, message).message());
  }
  return body;
}

std::string query_reply(int series_count, int samples, std::int64_t step) {
  std::string body = R"({"status":"success","data":{"resultType":"matrix","result":[)";
  for (int series = 0; series < series_count; ++series) {
    body +=
        (series == 0 ? "{\"metric\":" : ",{\"metric\":") + json_labels(series) + ",\"values\":[";
    for (const Sample& sample : samples_of(series, samples, step)) {
      if (body.back() != '[') body += ',';
      body +=
          fmt::format("[{}.{:03},\"{}\"]", sample.at_ms / 1000, sample.at_ms % 1000, sample.value);
    }
    body += "]}";
  }
  return body + "]}}";
}

std::string export_lines(int series_count, int samples, std::int64_t step) {
  std::string body;
  for (int series = 0; series < series_count; ++series) {
    std::string values;
    std::string times;
    for (const Sample& sample : samples_of(series, samples, step)) {
      values += fmt::format("{}{}", values.empty() ? "" : ",", sample.value);
      times += fmt::format("{}{}", times.empty() ? "" : ",", sample.at_ms);
    }
    body += "{\"metric\":" + json_labels(series) + ",\"values\":[" + values + "],\"timestamps\":[" +
            times + "]}\n";
  }
  return body;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

void report(const char* what, std::size_t bytes, const std::function<std::size_t()>& run) {
  double best = 1e9;
  std::size_t samples = 0;
  for (int round = 0; round < 5; ++round) {
    const double begin = cpu_seconds();
    samples = run();
    best = std::min(best, cpu_seconds() - begin);
  }
  fmt::print("{:44} {:>10} samples {:>8.2f} MB {:>9.3f} ms {:>7.1f} ns/sample {:>6.0f} MB/s\n",
             what, samples, double(bytes) / 1e6, best * 1e3, best * 1e9 / double(samples),
             double(bytes) / 1e6 / best);
}

template <class Decode>
std::size_t in_pieces(const std::string& body, std::size_t piece, Decode decode) {
  for (std::size_t at = 0; at < body.size(); at += piece) {
    if (!decode(std::string_view(body).substr(at, piece))) return 0;
  }
  return 1;
}

// What the export decoder would cost on a general parser: numbers only, no series looked up.
std::size_t by_simdjson(const std::string& body) {
  simdjson::ondemand::parser parser;
  std::string line;
  std::vector<double> values;
  std::vector<Sample> samples;
  SummingSink sink;
  for (std::size_t at = 0; at < body.size(); at += line.size() + 1) {
    line.assign(body, at, body.find('\n', at) - at);
    line.reserve(line.size() + simdjson::SIMDJSON_PADDING);
    simdjson::ondemand::document document =
        parser.iterate(line.data(), line.size(), line.size() + simdjson::SIMDJSON_PADDING);
    values.clear();
    samples.clear();
    for (auto field : document.get_object()) {
      const std::string_view name = field.unescaped_key();
      if (name == "values") {
        for (auto value : field.value().get_array()) values.push_back(value.get_double());
      } else if (name == "timestamps") {
        for (auto time : field.value().get_array()) {
          const std::int64_t ms = time.get_int64();
          samples.push_back({ms, values[samples.size()]});
        }
      }
    }
    sink.append(0, samples);
  }
  return sink.count;
}

void run() {
  constexpr SampleSpan kAlways{INT64_MIN, INT64_MAX};
  constexpr std::size_t kPiece = 64 * 1024;  // As they come from a socket.
  {
    const std::string body = chunk_frames(350, 43'200, 60'000);
    report("remote read, 350 series x 30 d", body.size(), [&] {
      SummingSink sink;
      RemoteReadDecoder decoder(sink, kAlways);
      in_pieces(body, kPiece,
                [&](std::string_view piece) { return decoder.feed(piece).has_value(); });
      return decoder.finish("application/x-streamed-protobuf") ? sink.count : 0;
    });
  }
  struct Reply {
    const char* what;
    int series;
    int samples;
    std::int64_t step;
  };
  for (const Reply& reply : {Reply{"query reply, 350 series [60s]", 350, 4, 15'000},
                             Reply{"query reply, 35,000 series [60s]", 35'000, 4, 15'000},
                             Reply{"query reply, 350 series [7d]", 350, 10'080, 60'000}}) {
    std::string body = query_reply(reply.series, reply.samples, reply.step);
    QueryReplyDecoder decoder;
    SummingSink sink;
    report(reply.what, body.size(), [&] {
      const std::size_t before = sink.count;
      return decoder.decode(body, sink) ? sink.count - before : 0;
    });
  }
  {
    const std::string body = export_lines(350, 10'080, 60'000);
    report("export, 350 series x 7 d", body.size(), [&] {
      SummingSink sink;
      VmExportDecoder decoder(sink, kAlways);
      in_pieces(body, kPiece,
                [&](std::string_view piece) { return decoder.feed(piece).has_value(); });
      return decoder.finish() ? sink.count : 0;
    });
    report("the same lines by simdjson On-Demand", body.size(), [&] { return by_simdjson(body); });
  }
}

}  // namespace
}  // namespace outcomed

int main() { outcomed::run(); }
