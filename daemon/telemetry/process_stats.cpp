#include "daemon/telemetry/process_stats.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace outcomed {
namespace {

struct Stat {
  double cpu_seconds = 0;
  double virtual_bytes = 0;
  double resident_bytes = 0;
};

// Fields 14, 15, 23 and 24 of /proc/self/stat (proc(5)); the name in field 2 may hold blanks.
Stat read_stat() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  for (int i = 16; i < 23; ++i) fields >> skipped;
  Stat stat;
  double pages = 0;
  fields >> stat.virtual_bytes >> pages;
  stat.cpu_seconds = (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  stat.resident_bytes = pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  return stat;
}

double open_files() {
  double count = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator("/proc/self/fd", error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    ++count;
  }
  return count;
}

double most_files() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

prometheus::MetricFamily family(const char* name, const char* help, prometheus::MetricType type,
                                double value) {
  prometheus::MetricFamily family{name, help, type, {}};
  prometheus::ClientMetric metric;
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family.metric.push_back(metric);
  return family;
}

}  // namespace

std::vector<prometheus::MetricFamily> ProcessStats::Collect() const {
  using prometheus::MetricType;
  const Stat stat = read_stat();
  return {
      family("process_cpu_seconds_total", "User and system CPU time in seconds.",
             MetricType::Counter, stat.cpu_seconds),
      family("process_resident_memory_bytes", "Resident memory in bytes.", MetricType::Gauge,
             stat.resident_bytes),
      family("process_virtual_memory_bytes", "Virtual memory in bytes.", MetricType::Gauge,
             stat.virtual_bytes),
      family("process_open_fds", "Open file descriptors.", MetricType::Gauge, open_files()),
      family("process_max_fds", "Limit of open file descriptors.", MetricType::Gauge, most_files()),
      family("process_start_time_seconds", "Start of the process, Unix seconds.", MetricType::Gauge,
             started_)};
}

}  // namespace outcomed
