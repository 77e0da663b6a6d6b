#include <curl/curl.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mount.h>

#include <thread>

#include "tests/daemon/net/tls_server.h"
#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;

class CurlTlsTest : public NetTest {
 protected:
  HttpRequest trusting(const std::string& url) {
    HttpRequest request = get(url);
    request.access.ca_file = authority.file();
    return request;
  }
  void expect_refused(const HttpRequest& request, ErrorKind kind, const std::string& reason) {
    auto response = client.send(request);
    ASSERT_FALSE(response) << reason;
    EXPECT_EQ(response.error().kind, kind) << response.error().message;
    EXPECT_THAT(response.error().message, HasSubstr(reason));
  }
  Authority authority{folder, "authority"};
};

TEST_F(CurlTlsTest, ATrustedCertificateWithTheRightNameIsAccepted) {
  const TlsServer server(authority.issue("good"));
  for (int i = 0; i < 3; ++i) {
    auto response = client.send(trusting(server.url()));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "secure");
  }
  EXPECT_EQ(server.handshakes(), 1);
}

TEST_F(CurlTlsTest, AnUnknownAuthorityIsRefused) {
  const TlsServer server(authority.issue("good"));
  expect_refused(get(server.url()), ErrorKind::unavailable, "certificate");
  const Authority other(folder, "other");
  HttpRequest request = get(server.url());
  request.access.ca_file = other.file();
  expect_refused(request, ErrorKind::unavailable, "certificate");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTlsTest, AnotherHostsCertificateIsRefused) {
  const TlsServer server(authority.issue("wrong", {"DNS:other.example", -1, 1, ""}));
  expect_refused(trusting(server.url()), ErrorKind::unavailable, "127.0.0.1");
  expect_refused(trusting(server.url("localhost")), ErrorKind::unavailable, "localhost");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTlsTest, ExpiredAndFutureCertificatesAreRefused) {
  const TlsServer expired(authority.issue("expired", {"IP:127.0.0.1", -10, -1, ""}));
  expect_refused(trusting(expired.url()), ErrorKind::unavailable, "expired");
  const TlsServer future(authority.issue("future", {"IP:127.0.0.1", 1, 10, ""}));
  expect_refused(trusting(future.url()), ErrorKind::unavailable, "not yet valid");
  EXPECT_EQ(expired.requests() + future.requests(), 0);
}

TEST_F(CurlTlsTest, OldTlsIsRefusedAndTheOldestAllowedIsNot) {
  const CertificateFiles files = authority.issue("good");
  const TlsServer tls11(files, "", TLS1_1_VERSION);
  expect_refused(trusting(tls11.url()), ErrorKind::unavailable, "");
  const TlsServer tls12(files, "", TLS1_2_VERSION);
  EXPECT_TRUE(client.send(trusting(tls12.url())));
}

TEST_F(CurlTlsTest, ServerNameIsAskedForAndRequired) {
  const TlsServer server(authority.issue("named", {"DNS:prometheus.internal", -1, 1, ""}));
  HttpRequest request = trusting(server.url());
  expect_refused(request, ErrorKind::unavailable, "127.0.0.1");
  request.access.server_name = "prometheus.internal";
  auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(server.asked_name(), "prometheus.internal");
  EXPECT_THAT(server.head(), HasSubstr("GET /x HTTP/1.1\r\n"));
  EXPECT_THAT(server.head(),
              HasSubstr("\r\nHost: 127.0.0.1:" + std::to_string(server.port()) + "\r\n"));
  request.access.server_name = "other.internal";
  expect_refused(request, ErrorKind::unavailable, "other.internal");
  request.access.server_name = "no name";
  expect_refused(request, ErrorKind::invalid, "server_name");
}

TEST_F(CurlTlsTest, ServerNameMeansNothingWithoutTls) {
  FaultyServer server;
  HttpRequest request = get(server.url());
  request.access.server_name = "prometheus.internal";
  ASSERT_TRUE(client.send(request));
  EXPECT_EQ(server.requests().at(0).header("host"),
            server.url().substr(7, server.url().size() - 8));
}

TEST_F(CurlTlsTest, AClientCertificateIsShown) {
  const TlsServer server(authority.issue("good"), authority.file());
  HttpRequest request = trusting(server.url());
  expect_refused(request, ErrorKind::unavailable, "");
  const CertificateFiles client_files = authority.issue("client");
  request.access.cert_file = client_files.certificate;
  request.access.key_file = client_files.key;
  auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  const CertificateFiles expired = authority.issue("expired", {"", -10, -1, ""});
  request.access.cert_file = expired.certificate;
  request.access.key_file = expired.key;
  expect_refused(request, ErrorKind::unavailable, "");
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(CurlTlsTest, MissingOrBrokenFilesAreInvalidAndNamed) {
  const TlsServer server(authority.issue("good"));
  HttpRequest request = get(server.url());
  request.access.ca_file = (folder / "missing.pem");
  expect_refused(request, ErrorKind::invalid, "missing.pem");
  request.access.ca_file = write_file(folder / "broken.pem", "not a certificate");
  expect_refused(request, ErrorKind::invalid, "broken.pem");
  request = trusting(server.url());
  request.access.cert_file = request.access.key_file = (folder / "missing.key");
  expect_refused(request, ErrorKind::invalid, "");
  // A key with a password must not make OpenSSL ask for it on a terminal.
  const CertificateFiles locked = authority.issue("locked", {"", -1, 1, "password"});
  request.access.cert_file = locked.certificate;
  request.access.key_file = locked.key;
  expect_refused(request, ErrorKind::invalid, "");
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTlsTest, AReplacedAuthorityFileCountsForTheNextConnection) {
  const Authority renewed(folder, "renewed");
  const TlsServer server(renewed.issue("good"));
  const auto text_of = [](const std::string& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  HttpRequest request = get(server.url());
  request.access.ca_file = write_file(folder / "ca.pem", text_of(authority.file()));
  expect_refused(request, ErrorKind::unavailable, "certificate");
  write_file(folder / "ca.pem", text_of(renewed.file()));
  auto response = client.send(request);
  EXPECT_TRUE(response) << response.error().message;
}

// libcurl trusts a directory beside the file unless told otherwise. A thread that sees another
// directory in its place tells whether it still looks there.
TEST_F(CurlTlsTest, AnAuthorityFileReplacesTheSystemsDirectoryToo) {
  const char* system_directory = curl_version_info(CURLVERSION_NOW)->capath;
  if (system_directory == nullptr) GTEST_SKIP() << "this libcurl has no directory of authorities";
  const Authority of_system(folder, "system");
  const SecretFolder directory;
  std::filesystem::copy(of_system.file(), directory / of_system.hashed_name());
  const TlsServer server(of_system.issue("good"));
  bool mounted = false;
  std::optional<Result<HttpResponse>> untrusted;
  std::thread([&] {
    const std::string source = directory.path().string();
    mounted = ::unshare(CLONE_NEWNS) == 0 &&
              ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
              ::mount(source.c_str(), system_directory, nullptr, MS_BIND, nullptr) == 0;
    if (mounted) untrusted = client.send(trusting(server.url()));
  }).join();
  if (!mounted) GTEST_SKIP() << "needs root, to put another directory in place of the system's";
  EXPECT_FALSE(*untrusted);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(CurlTlsTest, ProxiedTlsShowsTheProxyNothingButItsOwnCredentials) {
  const TlsServer server(authority.issue("good"));
  FaultyServer proxy;
  proxy.reply_with(Reply::tunnel(server.port()));
  environment["TOKEN"] = "t0ken";
  environment["PROXY_AUTH"] = "Basic cHJveHk6cHc=";
  HttpRequest request = trusting(server.url());
  request.access.proxy_url = proxy.url();
  request.access.bearer_token = env_ref("TOKEN");
  request.access.headers = {{"Proxy-Authorization", env_ref("PROXY_AUTH")}};
  auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "secure");
  EXPECT_EQ(response->headers.size(), 1U);  // The proxy's answer is no part of it.
  ASSERT_EQ(proxy.requests().size(), 1U);
  const ReceivedRequest connect = proxy.requests().at(0);
  EXPECT_EQ(connect.method, "CONNECT");
  EXPECT_EQ(connect.target, "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(connect.header("authorization"), "");
  EXPECT_EQ(connect.header("proxy-authorization"), "Basic cHJveHk6cHc=");
  EXPECT_THAT(server.head(), HasSubstr("Authorization: Bearer t0ken\r\n"));
  EXPECT_THAT(server.head(), ::testing::Not(HasSubstr("Proxy-Authorization")));
}

TEST_F(CurlTlsTest, ServerNameWorksThroughAProxy) {
  const TlsServer server(authority.issue("named", {"DNS:prometheus.internal", -1, 1, ""}));
  FaultyServer proxy;
  proxy.reply_with(Reply::tunnel(server.port()));
  HttpRequest request = trusting(server.url());
  request.access.proxy_url = proxy.url();
  request.access.server_name = "prometheus.internal";
  auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(proxy.requests().at(0).target, "127.0.0.1:" + std::to_string(server.port()));
}

TEST_F(CurlTlsTest, AProxyThatRefusesIsUnavailable) {
  const TlsServer server(authority.issue("good"));
  FaultyServer proxy;
  proxy.reply_with(Reply::with_status(407));
  HttpRequest request = trusting(server.url());
  request.access.proxy_url = proxy.url();
  expect_refused(request, ErrorKind::unavailable, "407");
  EXPECT_EQ(server.handshakes(), 0);
}

}  // namespace
}  // namespace outcomed::testing
