// A client with an environment and a folder of secret files of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "daemon/net/curl_client.h"
#include "daemon/net/secret_reader.h"

namespace outcomed::testing {

class SecretFolder {
 public:
  SecretFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "net_tests.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  ~SecretFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  SecretFolder(const SecretFolder&) = delete;
  SecretFolder& operator=(const SecretFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

// Replaces the file as rotation does: written beside it, then renamed over it. Returns the path.
inline std::string write_file(const std::string& path, const std::string& text,
                              mode_t mode = 0600) {
  const std::string fresh = path + ".new";
  std::ofstream(fresh, std::ios::binary) << text;
  ::chmod(fresh.c_str(), mode);
  std::filesystem::rename(fresh, path);
  return path;
}

class NetTest : public ::testing::Test {
 protected:
  static SecretRef file_ref(std::string path) { return {SecretRef::Kind::file, std::move(path)}; }
  static SecretRef env_ref(std::string name) { return {SecretRef::Kind::env, std::move(name)}; }
  static SecretRef cred_ref(std::string name) { return {SecretRef::Kind::cred, std::move(name)}; }
  static SecretRef literal(std::string text) { return {SecretRef::Kind::literal, std::move(text)}; }

  static HttpRequest get(std::string url) {
    HttpRequest request;
    request.url = std::move(url);
    return request;
  }
  static HttpRequest post(std::string url, std::string body) {
    HttpRequest request = get(std::move(url));
    request.method = "POST";
    request.body = std::move(body);
    return request;
  }

  SecretFolder folder;
  std::map<std::string, std::string> environment;
  FileSecretReader secrets{[this](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  }};
  CurlClient client{secrets};
};

}  // namespace outcomed::testing
