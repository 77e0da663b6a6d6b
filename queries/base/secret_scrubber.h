// Takes secrets out of text that somebody else wrote: answers repeat what was sent to them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "queries/base/secret.h"

namespace outcomed {

class SecretScrubber {
 public:
  // Shorter ones would blank out ordinary words and numbers, and so give themselves away.
  static constexpr std::size_t kShortest = 4;

  SecretScrubber() = default;
  explicit SecretScrubber(const std::vector<Secret>& secrets);

  // The text with "***" for every secret, as it is, in base64, and escaped as in URLs and in JSON.
  [[nodiscard]] std::string scrub(std::string_view text) const;

 private:
  std::vector<Secret> forms_;  // Longest first: one secret may hold another.
};

std::string base64(std::string_view bytes);

}  // namespace outcomed
