// TLS to a real PostgreSQL: whom it is believed to be, and that it isn't done without.
#include "tests/daemon/net/tls_server.h"
#include "tests/daemon/sql/sql_fixture.h"

namespace outcomed {
namespace {

using testing::Authority;
using testing::CertificateFiles;
using testing::SqlTest;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

class SqlTls : public SqlTest {
 protected:
  void SetUp() override {
    SqlTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    settings_.access.host = "localhost";
    settings_.access.sslmode = "verify-full";
    settings_.access.ca_file = authority_.file();
  }
  void TearDown() override {
    server().sql("postgres", "alter system reset ssl");
    server().sql("postgres", "alter system reset ssl_ca_file");
    server().reload();
    SqlTest::TearDown();
  }

  // The server speaks TLS with this certificate; `client_authority`: and asks for one.
  void use(const CertificateFiles& files, const std::string& client_authority = {}) {
    const auto setting = [&](const std::string& name, const std::string& value) {
      ASSERT_TRUE(server().sql("postgres", "alter system set " + name + " = '" + value + "'"));
    };
    setting("ssl_cert_file",
            server().take_file("server.crt", testing::read_file(files.certificate)));
    setting("ssl_key_file", server().take_file("server.key", testing::read_file(files.key)));
    if (!client_authority.empty()) {
      setting("ssl_ca_file",
              server().take_file("clients.crt", testing::read_file(client_authority)));
    }
    setting("ssl", "on");
    server().reload();
    ASSERT_EQ(server().ask("postgres", "show ssl"), "on") << server().log_text();
  }
  // What the server knows of the connection; or the error.
  std::string connected() {
    auto made = client_->connect(settings_.access, 5s);
    if (!made) return std::string(to_string(made.error().kind)) + ": " + made.error().message;
    return value(**made,
                 "select 'ssl ' || ssl::text from pg_stat_ssl where pid = pg_backend_pid()");
  }

  testing::SecretFolder folder_;
  Authority authority_{folder_, "authority"};
};

TEST_F(SqlTls, BelievesTheServerThatItsAuthorityVouchesFor) {
  use(authority_.issue("server"));
  EXPECT_EQ(connected(), "ssl true");
  settings_.access.host = "127.0.0.1";
  EXPECT_EQ(connected(), "ssl true") << "its certificate names the address, too";
  make_table();
  insert("a", kNoon + 5s);
  make_source({preset("requests", {"model"})});
  EXPECT_EQ(counted({kNoon, kNoon + 1min}), 1);
}

TEST_F(SqlTls, RefusesAServerOfAnotherAuthority) {
  const Authority stranger(folder_, "stranger");
  use(stranger.issue("server"));
  const std::string answer = connected();
  EXPECT_TRUE(answer.starts_with("unavailable: ")) << answer;
  EXPECT_NE(answer.find("certificate verify failed"), std::string::npos) << answer;
  EXPECT_NE(answer.find("localhost:" + std::to_string(server().port())), std::string::npos)
      << answer;
  settings_.access.sslmode = "require";
  settings_.access.ca_file.clear();
  EXPECT_EQ(connected(), "ssl true") << "require asks for TLS and for no proof";
}

TEST_F(SqlTls, RefusesACertificateOfAnotherName) {
  use(authority_.issue("server", {"DNS:db.corp.example", -1, 1, ""}));
  const std::string answer = connected();
  EXPECT_NE(answer.find("server certificate for \"db.corp.example\" does not match host name "
                        "\"localhost\""),
            std::string::npos)
      << answer;
  settings_.access.sslmode = "verify-ca";
  EXPECT_EQ(connected(), "ssl true") << "verify-ca doesn't ask for the name";
}

TEST_F(SqlTls, RefusesACertificateThatHasExpired) {
  use(authority_.issue("server", {"DNS:localhost", -3, -1, ""}));
  const std::string answer = connected();
  EXPECT_NE(answer.find("certificate"), std::string::npos) << answer;
  EXPECT_TRUE(answer.starts_with("unavailable: ")) << answer;
}

TEST_F(SqlTls, IsNotDoneWithoutWhereItIsDemanded) {
  ASSERT_EQ(server().ask("postgres", "show ssl"), "off");
  for (const char* mode : {"require", "verify-ca", "verify-full"}) {
    settings_.access.sslmode = mode;
    const std::string answer = connected();
    EXPECT_NE(answer.find("server does not support SSL, but SSL was required"), std::string::npos)
        << answer;
  }
  settings_.access.sslmode = "prefer";
  EXPECT_EQ(connected(), "ssl false");
}

TEST_F(SqlTls, ShowsItsOwnCertificateWhereTheServerAsksForOne) {
  use(authority_.issue("server"), authority_.file());
  sql("create role with_certificate login");
  settings_.access.user = "with_certificate";
  const std::string without = connected();
  EXPECT_NE(without.find("requires a valid client certificate"), std::string::npos) << without;
  const CertificateFiles own = authority_.issue("with_certificate");
  settings_.access.cert_file = own.certificate;
  settings_.access.key_file = own.key;
  std::filesystem::permissions(own.key, std::filesystem::perms::owner_read);
  EXPECT_EQ(connected(), "ssl true");
  sql("drop role with_certificate");
}

TEST_F(SqlTls, SaysThatTheAuthoritysFileIsMissing) {
  use(authority_.issue("server"));
  settings_.access.ca_file = folder_ / "gone.crt";
  const std::string answer = connected();
  EXPECT_NE(answer.find("gone.crt"), std::string::npos) << answer;
}

}  // namespace
}  // namespace outcomed
