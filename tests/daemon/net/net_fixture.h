// A client with an environment and a folder of secret files of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include "daemon/net/curl_client.h"
#include "daemon/net/secret_reader.h"
#include "tests/support/temp_folder.h"

namespace outcomed::testing {

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

  TempFolder folder;
  std::map<std::string, std::string> environment;
  FileSecretReader secrets{[this](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  }};
  CurlClient client{secrets};
};

}  // namespace outcomed::testing
