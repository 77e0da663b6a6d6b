#include "daemon/sql/host_lookup.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace outcomed {
namespace {

// What a look-up found. Shared with its thread, since nobody says when a resolver answers: whoever
// is last frees it.
struct LookUp {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  int code = 0;  // As of getaddrinfo.
  std::vector<std::string> addresses;
};

std::vector<std::string> addresses_of(const addrinfo* found) {
  std::vector<std::string> addresses;
  for (; found != nullptr; found = found->ai_next) {
    char text[NI_MAXHOST];
    if (getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) != 0) {
      continue;
    }
    if (std::ranges::find(addresses, text) == addresses.end()) addresses.emplace_back(text);
  }
  return addresses;
}

bool is_address(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

void look_up(const std::string& host, LookUp& lookup) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), nullptr, &hints, &found);
  std::vector<std::string> addresses = addresses_of(found);
  if (found != nullptr) freeaddrinfo(found);
  const std::lock_guard lock(lookup.mutex);
  lookup.code = code;
  lookup.addresses = std::move(addresses);
  lookup.done = true;
  lookup.ended.notify_all();
}

}  // namespace

// A thread of our own and not getaddrinfo_a: glibc makes the threads of that one behind the back of
// the thread sanitizer, which then fails in them.
Result<std::vector<std::string>> look_up_host(const std::string& host,
                                              const SqlDeadline& deadline) {
  if (host.starts_with('/')) return std::vector<std::string>{};
  if (is_address(host)) return std::vector<std::string>{host};
  const auto lookup = std::make_shared<LookUp>();
  try {
    std::thread([host, lookup] { look_up(host, *lookup); }).detach();
  } catch (const std::system_error& error) {
    return Error{ErrorKind::unavailable, fmt::format("{}: {}", host, error.what())};
  }
  std::unique_lock lock(lookup->mutex);
  const auto left = std::chrono::milliseconds(std::max<int64_t>(deadline.left().count(), 0));
  if (!lookup->ended.wait_for(lock, left, [&] { return lookup->done; })) {
    return Error{ErrorKind::timeout,
                 fmt::format("{}: the name could not be looked up in time", host)};
  }
  if (lookup->code != 0)
    return Error{ErrorKind::unavailable, fmt::format("{}: {}", host, gai_strerror(lookup->code))};
  if (lookup->addresses.empty()) return Error{ErrorKind::unavailable, host + ": has no address"};
  return lookup->addresses;
}

}  // namespace outcomed
