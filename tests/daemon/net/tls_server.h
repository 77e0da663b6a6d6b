// Certificates made on the spot, and a small HTTPS server that uses them.
#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/daemon/net/net_fixture.h"

namespace outcomed::testing {

struct CertificateFiles {
  std::string certificate;
  std::string key;
};

// Signs certificates; `file()` is the one that clients trust.
class Authority {
 public:
  Authority(const SecretFolder& folder, const std::string& name);

  struct Wish {
    std::string names = "DNS:localhost,IP:127.0.0.1";  // subjectAltName; empty: none.
    long first_day = -1;                               // Relative to today.
    long last_day = 1;
    std::string key_password;
  };
  [[nodiscard]] CertificateFiles issue(const std::string& name, const Wish& wish) const;
  [[nodiscard]] CertificateFiles issue(const std::string& name) const {
    return issue(name, Wish{});
  }
  [[nodiscard]] const std::string& file() const { return file_; }
  // What OpenSSL calls the file in a directory of authorities.
  [[nodiscard]] std::string hashed_name() const;

 private:
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

  Certificate make(const std::string& name, EVP_PKEY* key, const Wish& wish) const;
  [[nodiscard]] std::string write_certificate(const std::string& name, X509* certificate) const;

  const SecretFolder& folder_;
  Key key_{EVP_EC_gen("P-256"), &EVP_PKEY_free};
  Certificate certificate_{nullptr, &X509_free};
  std::string file_;
};

// Answers every request with 200 "secure" and keeps its connections open, each with a thread.
class TlsServer {
 public:
  explicit TlsServer(const CertificateFiles& files, const std::string& client_authority = {},
                     int newest_version = 0);
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const {
    return "https://" + host + ":" + std::to_string(port_) + "/x";
  }
  [[nodiscard]] int handshakes() const { return handshakes_; }
  [[nodiscard]] int requests() const { return requests_; }
  // Of the last request.
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::string asked_name() const;  // SNI.

 private:
  void run();
  void serve(int fd);
  void answer_requests(SSL* connection);

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> handshakes_{0};
  std::atomic<int> requests_{0};
  mutable std::mutex mutex_;
  std::set<int> open_;
  std::string head_;
  std::string asked_name_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace outcomed::testing
