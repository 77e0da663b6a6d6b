// What a service manager hears on its socket.
#include "daemon/systemd_notify.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "tests/support/temp_folder.h"

namespace outcomed::testing {
namespace {

class Manager {
 public:
  explicit Manager(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0) << name;
  }
  ~Manager() { close(fd_); }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // One message; empty when there is none.
  std::string hear() const {
    char bytes[4096];
    const ssize_t got = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
    return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : std::string();
  }

 private:
  int fd_;
};

TEST(SystemdNotifyTest, EachMessageIsOneDatagramOnTheSocketOfThePath) {
  const TempFolder folder;
  const Manager manager(folder / "notify");
  const SystemdNotify notify(folder / "notify");
  EXPECT_TRUE(notify.send("READY=1\nSTATUS=watching 4 rules"));
  EXPECT_TRUE(notify.send("WATCHDOG=1"));
  EXPECT_EQ(manager.hear(), "READY=1\nSTATUS=watching 4 rules");
  EXPECT_EQ(manager.hear(), "WATCHDOG=1");
  EXPECT_EQ(manager.hear(), "");
}

TEST(SystemdNotifyTest, TheAbstractNameSpaceIsReachedWithAnAt) {
  const std::string name = "@outcomed-test-" + std::to_string(getpid());
  const Manager manager(name);
  EXPECT_TRUE(SystemdNotify(name).send("STOPPING=1"));
  EXPECT_EQ(manager.hear(), "STOPPING=1");
}

TEST(SystemdNotifyTest, WithoutAManagerNothingHappens) {
  const TempFolder folder;
  for (const std::string& socket :
       {std::string(), std::string("@"), std::string("/"), std::string("relative"),
        std::string("vsock:2:1"), folder / "nobody", "/" + std::string(200, 'x')}) {
    EXPECT_FALSE(SystemdNotify(socket).send("READY=1")) << socket;
  }
}

TEST(SystemdNotifyTest, AManagerThatDoesNotReadHoldsNothingUpForLong) {
  const TempFolder folder;
  const Manager manager(folder / "notify");
  const SystemdNotify notify(folder / "notify");
  int sent = 0;
  while (sent < 100'000 && notify.send("WATCHDOG=1")) ++sent;
  EXPECT_GT(sent, 0);
  EXPECT_LT(sent, 100'000);
}

}  // namespace
}  // namespace outcomed::testing
