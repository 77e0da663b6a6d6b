#include "tests/daemon/net/tls_server.h"

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace outcomed::testing {
namespace {

void require(bool done, const char* what) {
  if (!done) throw std::runtime_error(what);
}

using File = std::unique_ptr<FILE, int (*)(FILE*)>;
File writable(const std::string& path) { return {std::fopen(path.c_str(), "w"), &std::fclose}; }

void add_extension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  require(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1, "extension");
  X509_EXTENSION_free(extension);
}

}  // namespace

Authority::Authority(const SecretFolder& folder, const std::string& name) : folder_(folder) {
  certificate_ = make(name, key_.get(), Wish{"", -1, 1, ""});
  file_ = write_certificate(name, certificate_.get());
}

Authority::Certificate Authority::make(const std::string& name, EVP_PKEY* key,
                                       const Wish& wish) const {
  static std::atomic<long> serial{1};
  Certificate made(X509_new(), &X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial++);
  constexpr long kDay = 24L * 3600;
  X509_gmtime_adj(X509_getm_notBefore(made.get()), wish.first_day * kDay);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), wish.last_day * kDay);
  X509_set_pubkey(made.get(), key);
  const bool root = certificate_ == nullptr;
  X509_NAME* subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(made.get(), root ? subject : X509_get_subject_name(certificate_.get()));
  if (root) add_extension(made.get(), NID_basic_constraints, "critical,CA:TRUE");
  if (!wish.names.empty()) add_extension(made.get(), NID_subject_alt_name, wish.names);
  require(X509_sign(made.get(), key_.get(), EVP_sha256()) > 0, "sign");
  return made;
}

std::string Authority::write_certificate(const std::string& name, X509* certificate) const {
  const std::string path = folder_ / (name + ".crt");
  require(PEM_write_X509(writable(path).get(), certificate) == 1, "write certificate");
  return path;
}

std::string Authority::hashed_name() const {
  std::array<char, 16> name{};
  std::snprintf(
      name.data(), name.size(), "%08lx.0",
      X509_NAME_hash_ex(X509_get_subject_name(certificate_.get()), nullptr, nullptr, nullptr));
  return name.data();
}

CertificateFiles Authority::issue(const std::string& name, const Wish& wish) const {
  const Key key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Certificate certificate = make(name, key.get(), wish);
  CertificateFiles files{write_certificate(name, certificate.get()), folder_ / (name + ".key")};
  const bool locked = !wish.key_password.empty();
  const auto* password = reinterpret_cast<const unsigned char*>(wish.key_password.data());
  require(PEM_write_PrivateKey(writable(files.key).get(), key.get(),
                               locked ? EVP_aes_128_cbc() : nullptr, locked ? password : nullptr,
                               static_cast<int>(wish.key_password.size()), nullptr, nullptr) == 1,
          "write key");
  return files;
}

TlsServer::TlsServer(const CertificateFiles& files, const std::string& client_authority,
                     int newest_version)
    : context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free) {
  std::signal(SIGPIPE, SIG_IGN);  // As the daemon does: OpenSSL writes without MSG_NOSIGNAL.
  SSL_CTX* context = context_.get();
  require(SSL_CTX_use_certificate_file(context, files.certificate.c_str(), SSL_FILETYPE_PEM) == 1 &&
              SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) == 1,
          "use certificate");
  if (!client_authority.empty()) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    require(SSL_CTX_load_verify_locations(context, client_authority.c_str(), nullptr) == 1, "CA");
  }
  if (newest_version != 0) {
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, newest_version);
    require(SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0") == 1, "ciphers");
  }
  listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  require(::bind(listener_, raw, size) == 0 && ::getsockname(listener_, raw, &size) == 0 &&
              ::listen(listener_, 16) == 0,
          "listen");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { run(); });
}

TlsServer::~TlsServer() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

void TlsServer::run() {
  for (int fd = ::accept(listener_, nullptr, nullptr); fd >= 0;
       fd = ::accept(listener_, nullptr, nullptr)) {
    const std::lock_guard lock(mutex_);
    open_.insert(fd);
    threads_.emplace_back([this, fd] { serve(fd); });
  }
}

void TlsServer::serve(int fd) {
  SSL* connection = SSL_new(context_.get());
  SSL_set_fd(connection, fd);
  if (SSL_accept(connection) == 1) {
    ++handshakes_;
    answer_requests(connection);
  }
  SSL_free(connection);
  const std::lock_guard lock(mutex_);
  open_.erase(fd);
  ::close(fd);
}

void TlsServer::answer_requests(SSL* connection) {
  const char* name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  std::string request;
  std::array<char, 4096> piece{};
  for (int n = SSL_read(connection, piece.data(), piece.size()); n > 0;
       n = SSL_read(connection, piece.data(), piece.size())) {
    request.append(piece.data(), static_cast<std::size_t>(n));
    if (!request.ends_with("\r\n\r\n")) continue;
    {
      const std::lock_guard lock(mutex_);
      head_ = std::exchange(request, {});
      asked_name_ = name == nullptr ? "" : name;
    }
    ++requests_;
    constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecure";
    if (SSL_write(connection, kAnswer.data(), kAnswer.size()) <= 0) return;
  }
}

std::string TlsServer::head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}

std::string TlsServer::asked_name() const {
  const std::lock_guard lock(mutex_);
  return asked_name_;
}

}  // namespace outcomed::testing
