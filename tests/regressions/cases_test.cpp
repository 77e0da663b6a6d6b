// docs/cases.md promises a test for each public bug case: each one named there must exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace outcomed {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// "Suite.Name" of every TEST, TEST_F and TEST_P in the tree.
std::set<std::string> all_tests() {
  std::set<std::string> names;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(OUTCOMED_SOURCE_DIR) / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = text_of(entry.path());
    for (const std::string macro : {"TEST(", "TEST_F(", "TEST_P("}) {
      for (auto at = text.find(macro); at != std::string::npos; at = text.find(macro, at + 1)) {
        const auto begin = at + macro.size();
        std::string inside = text.substr(begin, text.find(')', begin) - begin);
        std::erase_if(inside, [](char c) { return c == ' ' || c == '\n'; });
        if (const auto comma = inside.find(','); comma != std::string::npos) inside[comma] = '.';
        names.insert(inside);
      }
    }
  }
  return names;
}

TEST(Cases, EachPublicBugCaseHasItsTest) {
  const std::set<std::string> tests = all_tests();
  ASSERT_GT(tests.size(), 500U);
  std::istringstream table(text_of(fs::path(OUTCOMED_SOURCE_DIR) / "docs/cases.md"));
  int cases = 0;
  for (std::string line; std::getline(table, line);) {
    if (!line.starts_with("| ") || line.find('`') == std::string::npos) continue;
    const auto end = line.rfind('`');  // The test is what stands in the last quotes.
    const auto begin = line.rfind('`', end - 1) + 1;
    const std::string name = line.substr(begin, end - begin);
    EXPECT_TRUE(tests.contains(name)) << line.substr(2, 4) << ": there is no test " << name;
    ++cases;
  }
  EXPECT_GE(cases, 40);
}

}  // namespace
}  // namespace outcomed
