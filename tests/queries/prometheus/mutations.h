// Seeded damage to valid bytes, the same on every run.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace outcomed {

class Mutations {
 public:
  explicit Mutations(std::uint32_t seed) : random_(seed) {}

  // One to eight changes: bits flipped, bytes replaced by meaningful ones, pieces cut out, repeated
  // or moved, the end cut off.
  std::string damage(std::string_view valid) {
    std::string text(valid);
    for (std::size_t left = 1 + below(8); left > 0 && !text.empty(); --left) change(text);
    return text;
  }
  std::size_t below(std::size_t limit) { return std::size_t{random_()} % limit; }

 private:
  void change(std::string& text) {
    constexpr std::string_view kTelling("{}[]\",:\\-+.eN0192\n \0\xff\x80\x7f\x0a\x12", 26);
    const std::size_t at = below(text.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(text.size() - at, 32));
    switch (below(7)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text[at] = kTelling[below(kTelling.size())];
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      case 4:
        text.resize(at);
        break;
      case 5:
        text.insert(at, 1, kTelling[below(kTelling.size())]);
        break;
      default:
        text.replace(at, length, std::string(length, kTelling[below(kTelling.size())]));
        break;
    }
  }

  std::mt19937 random_;
};

}  // namespace outcomed
