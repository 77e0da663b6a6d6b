// The rules of the house, checked on the source text itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/plugins.h"
#include "detectors/catalog.h"

namespace outcomed {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = OUTCOMED_SOURCE_DIR;

const std::vector<std::string> kOrder = {"queries", "detectors", "alerts", "daemon"};

// Third-party headers and the places that may name them.
const std::vector<std::pair<std::string, std::vector<std::string>>> kHomes = {
    {"simdjson", {"queries/"}},
    {"re2/", {"queries/base/"}},
    {"snappy", {"queries/prometheus/"}},
    {"zlib.h", {"queries/recording/", "daemon/net/"}},
    {"libpq-fe.h", {"daemon/sql/"}},
    {"Eigen/", {"detectors/"}},
    {"openssl/", {"alerts/", "daemon/config/"}},
    {"curl/", {"daemon/net/"}},
    {"sqlite3.h", {"daemon/storage/"}},
    {"yaml-cpp/", {"daemon/config/"}},
    {"prometheus/", {"daemon/telemetry/"}},
    {"microhttpd.h", {"daemon/http/"}},
    {"date/", {"daemon/calendar/"}},
    {"boost/", {"daemon/main.cpp", "daemon/commands/"}},
    {"spdlog/", {"daemon/log"}},
    {"nlohmann/", {"alerts/", "daemon/"}},
    {"regex", {}},  // std::regex overflows the stack on long input: nowhere.
};

// Words of the outside world that only daemon/ may say.
const std::vector<std::string> kShellOnly = {
    "system_clock::now", "steady_clock::now", "random_device", "getenv",    "std::cout",
    "std::cerr",         "std::thread",       "std::jthread",  "sleep_for", "spdlog"};

struct SourceFile {
  std::string top;
  std::string name;  // Relative to the root.
  std::vector<std::string> lines;
};

std::vector<SourceFile> all_sources() {
  std::vector<SourceFile> files;
  for (const std::string& top : kOrder) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const auto extension = entry.path().extension();
      if (extension != ".h" && extension != ".cpp") continue;
      SourceFile file{top, fs::relative(entry.path(), kRoot).generic_string(), {}};
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  return files;
}

// The name between quotes or angle brackets of an #include; empty for other lines.
std::string included(const std::string& line, char open, char close) {
  if (!line.starts_with("#include ")) return {};
  const auto begin = line.find(open);
  const auto end = line.find(close, begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return {};
  return line.substr(begin + 1, end - begin - 1);
}

std::string folder_of(const std::string& file) { return file.substr(0, file.rfind('/') + 1); }

TEST(Architecture, FoldersIncludeOnlyWhatComesBeforeThem) {
  for (const SourceFile& file : all_sources()) {
    const auto rank = std::ranges::find(kOrder, file.top) - kOrder.begin();
    for (const std::string& line : file.lines) {
      const std::string name = included(line, '"', '"');
      if (name.empty()) continue;
      const auto of = std::ranges::find(kOrder, name.substr(0, name.find('/'))) - kOrder.begin();
      EXPECT_LT(of, static_cast<std::ptrdiff_t>(kOrder.size())) << file.name << ": " << line;
      EXPECT_LE(of, rank) << file.name << " reaches up: " << line;
      if (file.name.starts_with("queries/base/")) {
        EXPECT_TRUE(name.starts_with("queries/base/")) << file.name << ": " << line;
      }
    }
  }
}

TEST(Architecture, PluginsDoNotKnowEachOther) {
  // What several plugins of a layer build on.
  const std::set<std::string> shared = {"queries/base/", "queries/counters/", "queries/prices/",
                                        "detectors/stats/"};
  // A recording of pages is read with the page reader of `exposition`.
  const std::set<std::pair<std::string, std::string>> allowed = {
      {"queries/recording/", "queries/exposition/"}};
  for (const SourceFile& file : all_sources()) {
    const std::string own = folder_of(file.name);
    if (file.top == "daemon" || std::ranges::count(file.name, '/') < 2) continue;
    for (const std::string& line : file.lines) {
      const std::string name = included(line, '"', '"');
      if (std::ranges::count(name, '/') < 2 || !name.starts_with(file.top + "/")) continue;
      const std::string other = folder_of(name);
      EXPECT_TRUE(other == own || shared.contains(other) || allowed.contains({own, other}))
          << file.name << " knows another plugin: " << line;
    }
  }
}

TEST(Architecture, EachLibraryHasItsHome) {
  for (const SourceFile& file : all_sources()) {
    for (const std::string& line : file.lines) {
      const std::string name = included(line, '<', '>');
      for (const auto& [library, homes] : kHomes) {
        if (!name.starts_with(library)) continue;
        const bool at_home = std::ranges::any_of(
            homes, [&](const std::string& home) { return file.name.starts_with(home); });
        EXPECT_TRUE(at_home) << file.name << " may not include <" << name << ">";
      }
    }
  }
}

// The name of a type that a line at the left edge defines; empty for other lines.
std::string defined_type(const std::string& line) {
  for (const std::string_view key : {"class ", "struct ", "enum class "}) {
    if (!line.starts_with(key)) continue;
    const auto end = line.find_first_of(" :{;", key.size());
    const auto body = line.find('{');
    if (end == std::string::npos || body == std::string::npos) return {};
    if (line.substr(end, 2) == "::") return {};  // The insides of a class, declared elsewhere.
    return std::string(line.substr(key.size(), end - key.size()));
  }
  return {};
}

// Two types of one name are one type to the linker, whatever they hold.
TEST(Architecture, ATypeNameMeansOneType) {
  std::map<std::string, std::string> places;
  for (const SourceFile& file : all_sources()) {
    bool own = false;  // In an unnamed namespace.
    std::string space;
    for (const std::string& line : file.lines) {
      if (line == "namespace {") own = true;
      if (line.starts_with("}  // namespace")) {
        if (line == "}  // namespace") own = false;
      } else if (line.starts_with("namespace outcomed")) {
        space = line;
      }
      const std::string name = defined_type(line);
      if (name.empty() || own) continue;
      const auto [first, fresh] = places.emplace(space + name, file.name);
      EXPECT_TRUE(fresh) << name << " is defined in " << first->second << " and in " << file.name;
    }
  }
}

TEST(Architecture, JsonStaysOutOfHeaders) {
  for (const SourceFile& file : all_sources()) {
    if (!file.name.ends_with(".h")) continue;
    for (const std::string& line : file.lines) {
      EXPECT_NE(included(line, '<', '>'), "nlohmann/json.hpp") << file.name;
    }
  }
}

TEST(Architecture, OnlyTheDaemonTouchesTheOutsideWorld) {
  for (const SourceFile& file : all_sources()) {
    if (file.top == "daemon") continue;
    for (const std::string& line : file.lines) {
      const std::string code = line.substr(0, line.find("//"));
      for (const std::string& word : kShellOnly) {
        EXPECT_EQ(code.find(word), std::string::npos) << file.name << ": " << line;
      }
    }
  }
}

TEST(Architecture, OnlyTheClockReadsTheClock) {
  for (const SourceFile& file : all_sources()) {
    // libcurl and poll wait in real time, so their deadlines are kept in real time too.
    if (file.name == "daemon/clock.cpp" || file.name.starts_with("daemon/net/curl_") ||
        file.name == "daemon/sql/deadline.h") {
      continue;
    }
    for (const std::string& line : file.lines) {
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_EQ(code.find("_clock::now"), std::string::npos) << file.name << ": " << line;
    }
  }
}

TEST(Architecture, MainIsShort) {
  const auto files = all_sources();
  const auto main = std::ranges::find(files, "daemon/main.cpp", &SourceFile::name);
  ASSERT_NE(main, files.end());
  EXPECT_LT(main->lines.size(), 80U);
}

std::set<std::string> folders_in(const std::string& parent) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(kRoot / parent)) {
    if (entry.is_directory()) names.insert(entry.path().filename());
  }
  return names;
}

// A folder, a page and a test for each plugin, and the reverse.
void expect_complete(const std::string& layer, const std::set<std::string>& not_plugins,
                     const std::vector<std::string>& kinds, const std::string& docs) {
  std::set<std::string> folders = folders_in(layer);
  for (const std::string& name : not_plugins) folders.erase(name);
  for (const std::string& kind : kinds) {
    EXPECT_TRUE(folders.erase(kind)) << "no folder " << layer << "/" << kind;
    EXPECT_TRUE(fs::exists(kRoot / docs / (kind + ".md")))
        << docs << "/" << kind << ".md is missing";
    const bool tested = fs::exists(kRoot / "tests" / layer / kind) ||
                        fs::exists(kRoot / "tests" / layer / (kind + "_test.cpp"));
    EXPECT_TRUE(tested) << "tests/" << layer << "/" << kind << "(_test.cpp) is missing";
  }
  for (const std::string& orphan : folders) {
    ADD_FAILURE() << layer << "/" << orphan << " is in no catalogue";
  }
}

TEST(Architecture, EveryPluginHasAFolderAPageAndATest) {
  std::vector<std::string> detectors;
  for (const DetectorEntry& entry : detector_catalog()) detectors.emplace_back(entry.kind);
  expect_complete("detectors", {"stats"}, detectors, "docs/rules");
  std::vector<std::string> sources;
  for (const SourceEntry& entry : catalogs().sources) sources.emplace_back(entry.kind);
  expect_complete("queries", {"base", "counters", "litellm", "prices"}, sources, "docs/sources");
  std::vector<std::string> receivers;
  for (const ReceiverEntry& entry : catalogs().receivers) receivers.emplace_back(entry.kind);
  expect_complete("alerts", {"rule_export"}, receivers, "docs/receivers");
}

TEST(Architecture, TopLevelHoldsNothingElse) {
  const std::set<std::string> allowed = {"CMakeLists.txt", "daemon",  "detectors", "queries",
                                         "alerts",         "tests",   "systemd",   "docs",
                                         "README.md",      "LICENSE", "build"};
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(".")) continue;
    EXPECT_TRUE(allowed.contains(name)) << name;
  }
}

}  // namespace
}  // namespace outcomed
