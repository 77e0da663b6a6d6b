// Name look-ups that fail or hang. This program's own getaddrinfo stands before the library's, so
// that libcurl really waits in it.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <netdb.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/daemon/net/net_fixture.h"
#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

struct HangingNames {
  std::mutex mutex;
  std::condition_variable changed;
  bool answering = false;
  int waiting = 0;
  int begun = 0;
};

HangingNames& hanging_names() {
  static HangingNames names;
  return names;
}

int hang_then_fail() {
  HangingNames& names = hanging_names();
  std::unique_lock lock(names.mutex);
  ++names.begun;
  ++names.waiting;
  names.changed.notify_all();
  names.changed.wait(lock, [&] { return names.answering; });
  --names.waiting;
  names.changed.notify_all();
  return EAI_AGAIN;
}

class CurlNamesTest : public NetTest {
 protected:
  CurlNamesTest() {
    const std::lock_guard lock(hanging_names().mutex);
    hanging_names().answering = false;
    hanging_names().begun = 0;
  }
  ~CurlNamesTest() override {
    std::unique_lock lock(hanging_names().mutex);
    hanging_names().answering = true;
    hanging_names().changed.notify_all();
    hanging_names().changed.wait(lock, [] { return hanging_names().waiting == 0; });
  }
};

TEST_F(CurlNamesTest, AnUnknownNameIsUnavailable) {
  auto response = client.send(get("http://unknown.test/secret-path"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(response.error().message, ::testing::HasSubstr("unknown.test"));
  EXPECT_THAT(response.error().message, ::testing::Not(::testing::HasSubstr("secret-path")));
}

TEST_F(CurlNamesTest, AHangingLookUpEndsAtTheDeadline) {
  HttpRequest request = get("http://hanging.test/");
  request.timeout = 200ms;
  auto response = client.send(request);  // Would wait for ever for the look-up's thread.
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::timeout);
  FaultyServer server;
  EXPECT_TRUE(client.send(get(server.url())));
}

TEST_F(CurlNamesTest, AHangingLookUpEndsAtTheConnectTimeout) {
  CurlOptions options;
  options.connect_timeout = 200ms;
  CurlClient hasty(secrets, options);
  HttpRequest request = get("http://hanging.test/");
  request.timeout = 1h;
  EXPECT_EQ(hasty.send(request).error().kind, ErrorKind::timeout);
}

TEST_F(CurlNamesTest, StoppingEndsAHangingLookUp) {
  std::atomic<bool> stop{false};
  CurlOptions options;
  options.connect_timeout = 1h;
  options.stopping = [&] { return stop.load(); };
  CurlClient stoppable(secrets, options);
  std::thread helper([&] {
    std::unique_lock lock(hanging_names().mutex);
    hanging_names().changed.wait(lock, [] { return hanging_names().begun > 0; });
    stop = true;
  });
  HttpRequest request = get("http://hanging.test/");
  request.timeout = 1h;
  EXPECT_EQ(stoppable.send(request).error().kind, ErrorKind::unavailable);
  helper.join();
}

}  // namespace

int fake_getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                     addrinfo** result) {
  const std::string_view name = node == nullptr ? "" : node;
  if (name == "hanging.test") return hang_then_fail();
  if (name == "unknown.test") return EAI_NONAME;
  using Function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(node, service, hints, result);
}

}  // namespace outcomed::testing

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** result) {
  return outcomed::testing::fake_getaddrinfo(node, service, hints, result);
}
