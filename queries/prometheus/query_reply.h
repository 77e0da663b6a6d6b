// Reads replies of Prometheus' /api/v1/query (VictoriaMetrics and Thanos speak the same).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/result.h"
#include "queries/counters/samples.h"

namespace outcomed {

enum class ReplyType { matrix, vector, scalar };

struct ReplyInfo {
  // The server says itself that data is missing: it gave warnings, or isPartial was true.
  bool partial = false;
  std::vector<std::string> warnings;  // In its words; at most 10.
  std::size_t series = 0;
  std::size_t samples = 0;
};

// Keeps its working memory between replies. The key given to the sink is the JSON text of the
// `metric` object; values "NaN" (how VictoriaMetrics writes stale samples) are passed on.
//
// Errors, after which the sink may hold a part of the reply:
//   rejected     `status` is error: errorType and error in its words
//   corrupt      not JSON, cut off, HTML, another shape, values or times that are none, or one
//                label set twice (the message names it; the sink must give distinct series ids)
//   unsupported  another result type than asked for; native histograms (the message names the
//   metric)
class QueryReplyDecoder {
 public:
  QueryReplyDecoder();
  ~QueryReplyDecoder();

  // `body` stays the same text; it may be moved in memory, since the parser reads beyond its end.
  Result<ReplyInfo> decode(std::string& body, SampleSink& sink,
                           ReplyType expected = ReplyType::matrix);

  // Gives back working memory that replies of `bytes` don't need.
  void shrink_to(std::size_t bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Result<ReplyInfo> decode_query_reply(std::string& body, SampleSink& sink,
                                     ReplyType expected = ReplyType::matrix);

// Reads a reply of /api/v1/label/NAME/values. Errors rejected and corrupt as above.
Result<std::vector<std::string>> decode_label_values(std::string& body);

struct ApiError {
  std::string type;  // "bad_data", "execution", "timeout", …
  std::string text;
};
// The errorType and error of a body {"status":"error",…}; empty where it is none.
ApiError read_api_error(std::string_view body);

}  // namespace outcomed
