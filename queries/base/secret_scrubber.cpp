#include "queries/base/secret_scrubber.h"

#include <algorithm>
#include <cstdint>

#include "queries/base/http_client.h"

namespace outcomed {
namespace {

constexpr std::string_view kBlank = "***";
constexpr std::string_view kEllipsis = "…";
// So much of a secret's beginning is blanked out where the text was cut within it.
constexpr std::size_t kShortestPiece = 8;

// As JSON writers do it: some escape the slash.
std::string json_escaped(std::string_view text, bool slash) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\' || (slash && c == '/')) out += '\\';
    out += c;
  }
  return out;
}

void replace_all(std::string& text, std::string_view what) {
  for (auto at = text.find(what); at != std::string::npos;
       at = text.find(what, at + kBlank.size())) {
    text.replace(at, what.size(), kBlank);
  }
}

// How much of the secret's beginning stands at the end of the text.
std::size_t begun_at_end(std::string_view text, std::string_view secret) {
  for (std::size_t length = std::min(secret.size(), text.size()); length >= kShortestPiece;
       --length) {
    if (text.ends_with(secret.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += i <= three.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return out;
}

SecretScrubber::SecretScrubber(const std::vector<Secret>& secrets) {
  std::vector<std::string> forms;
  for (const Secret& secret : secrets) {
    const std::string& text = secret.reveal();
    if (text.size() < kShortest) continue;
    for (std::string form : {text, base64(text), url_encode(text), json_escaped(text, false),
                             json_escaped(text, true)}) {
      if (std::ranges::find(forms, form) == forms.end()) forms.push_back(std::move(form));
    }
  }
  std::ranges::stable_sort(forms, std::ranges::greater{}, &std::string::size);
  for (std::string& form : forms) forms_.emplace_back(std::move(form));
}

std::string SecretScrubber::scrub(std::string_view text) const {
  std::string out(text);
  for (const Secret& form : forms_) replace_all(out, form.reveal());
  // An excerpt may end within a secret.
  std::size_t end = out.ends_with(kEllipsis) ? out.size() - kEllipsis.size() : out.size();
  for (const Secret& form : forms_) {
    const std::size_t begun = begun_at_end(std::string_view(out).substr(0, end), form.reveal());
    if (begun == 0) continue;
    out.replace(end - begun, begun, kBlank);
    break;
  }
  return out;
}

}  // namespace outcomed
