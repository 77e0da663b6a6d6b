// LiteLLM before 1.81.14 counts each failed request twice (both hooks of its callback list run).
// This learns which kind of gateway stands behind each target.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "queries/signal.h"

namespace outcomed::litellm {

class DoubleCount final : public Calibration {
 public:
  // `version`: "auto", or the gateway's version ("1.81.9"), which then decides for all targets.
  explicit DoubleCount(std::string_view version);

  [[nodiscard]] const std::vector<Selector>& interest() const override { return interest_; }
  [[nodiscard]] bool settled() const override;
  void learn(const std::vector<LastValue>& values) override;
  void restarted(std::string_view target) override;
  [[nodiscard]] int divisor(std::string_view target) const override;
  [[nodiscard]] std::vector<std::string> facts() const override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

 private:
  enum class Basis : std::uint8_t { open, org_label, totals };
  struct Known {
    int divisor = 1;
    Basis basis = Basis::open;
  };

  int configured_ = 0;  // 0: learn.
  std::string version_;
  std::vector<Selector> interest_;
  std::map<std::string, Known, std::less<>> known_;
};

// 2 before 1.81.14, else 1; 0 where the text is no version ("auto").
int divisor_of_version(std::string_view version);

}  // namespace outcomed::litellm
