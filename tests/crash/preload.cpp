// Preloaded into outcomed by the crash test. The wall clock stands at OUTCOMED_TEST_CLOCK_MS (Unix
// milliseconds) where that is set, so that every run of a story makes the same calls; other clocks
// go on. Any process of this user may trace it, where Yama would allow only its parent.
#include <dlfcn.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <ctime>

namespace {

using GetTime = int (*)(clockid_t, timespec*);

__attribute__((constructor)) void allow_tracing() { prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); }

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* out) noexcept {
  static const auto real = reinterpret_cast<GetTime>(dlsym(RTLD_NEXT, "clock_gettime"));
  static const char* const text = std::getenv("OUTCOMED_TEST_CLOCK_MS");
  if (clock != CLOCK_REALTIME || text == nullptr) return real(clock, out);
  static const long long ms = std::atoll(text);
  out->tv_sec = ms / 1000;
  out->tv_nsec = static_cast<long>(ms % 1000) * 1'000'000;
  return 0;
}
