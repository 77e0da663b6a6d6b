// Configurations on disk.
#include "daemon/config/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/daemon/config/test_catalogs.h"

namespace outcomed {
namespace {

namespace fs = std::filesystem;

class ConfigFolder : public ::testing::Test {
 protected:
  ConfigFolder() {
    std::string name = (fs::temp_directory_path() / "outcomed-config-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ConfigFolder() override {
    std::error_code ignored;
    fs::permissions(folder_ / "rules.d", fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }

  void write(const fs::path& name, std::string_view text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  LoadedConfig load() { return load_config(main(), testing::test_catalogs()); }
  [[nodiscard]] fs::path main() const { return folder_ / "outcomed.yaml"; }
  // Messages with the folder taken away.
  [[nodiscard]] std::string told(const std::vector<ConfigProblem>& problems) const {
    std::string text = to_text(problems);
    const std::string prefix = folder_.string() + "/";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      text.erase(at, prefix.size());
    }
    return text;
  }

  fs::path folder_;
};

constexpr std::string_view kMain =
    "sources: {prom: {kind: prometheus, url: \"http://p:9090\"}}\n"
    "presets: [{litellm: {metrics: prom}}]\n";

std::string rule(std::string_view name) {
  return "rules: [{name: " + std::string(name) + ", kind: share, signal: requests, above: 10%}]\n";
}

TEST_F(ConfigFolder, AMissingFileIsAProblemWithItsRemedy) {
  EXPECT_EQ(
      told(load().problems),
      "outcomed.yaml: can't be read: No such file or directory; write the file, or name another "
      "with --config\n");
  EXPECT_EQ(load().config.rules.size(), 0U);
}

TEST_F(ConfigFolder, AFolderOrAPipeIsNoFile) {
  fs::create_directory(main());
  EXPECT_EQ(told(load().problems), "outcomed.yaml: is not a regular file; name a file\n");
  fs::remove(main());
  ASSERT_EQ(::mkfifo(main().c_str(), 0600), 0);
  EXPECT_EQ(told(load().problems), "outcomed.yaml: is not a regular file; name a file\n");
  EXPECT_EQ(to_text(load_config("/dev/zero", testing::test_catalogs()).problems),
            "/dev/zero: is not a regular file; name a file\n");
}

TEST_F(ConfigFolder, AHugeFileIsRefusedUnread) {
  write("outcomed.yaml", kMain);
  fs::resize_file(main(), 100'000'000);  // Sparse: reading it would take a while.
  EXPECT_EQ(told(load().problems),
            "outcomed.yaml: the file is larger than 1MiB; split it (rules.d/) or shorten it\n");
}

TEST_F(ConfigFolder, RulesBesideTheMainFileAreAddedInTheOrderOfTheirNames) {
  write("outcomed.yaml", std::string(kMain) + rule("main"));
  write("rules.d/20-b.yaml", rule("b"));
  write("rules.d/10-a.yaml", rule("a"));
  const LoadedConfig loaded = load();
  EXPECT_EQ(told(loaded.problems), "");
  ASSERT_EQ(loaded.config.rules.size(), 3U);
  EXPECT_EQ(loaded.config.rules[0].name, "main");
  EXPECT_EQ(loaded.config.rules[1].name, "a");
  EXPECT_EQ(loaded.config.rules[2].name, "b");
  EXPECT_EQ(loaded.text, std::string(kMain) + rule("main") + "--- # file: rules.d/10-a.yaml\n" +
                             rule("a") + "--- # file: rules.d/20-b.yaml\n" + rule("b"));
  const LoadedConfig again = load_config_text(loaded.text, main(), testing::test_catalogs());
  EXPECT_EQ(told(again.problems), "");
  EXPECT_EQ(again.hash, loaded.hash);
  EXPECT_EQ(again.config.rules.size(), 3U);
}

TEST_F(ConfigFolder, RulesBesideTheMainFileReplaceTheBuiltInOnes) {
  write("outcomed.yaml", kMain);
  write("rules.d/a.yaml", rule("a"));
  const LoadedConfig loaded = load();
  EXPECT_EQ(loaded.config.rules.size(), 1U);
  EXPECT_FALSE(loaded.config.default_rules);
}

TEST_F(ConfigFolder, ProblemsNameTheirFile) {
  write("outcomed.yaml", std::string(kMain) +
                             "rules:\n- {name: a, kind: share, signal: requests, "
                             "above: 10}\n");
  write("rules.d/b.yaml",
        "store: {}\nrules:\n- {name: a, kind: share, signal: requests, above: 20%}\n");
  write("rules.d/c.yaml", "rules: [\n");
  EXPECT_EQ(
      told(load().problems),
      "outcomed.yaml:4:51: rules[0].above: 10 is not a share; did you mean 10%?\n"
      "rules.d/b.yaml:1:1: store: only rules: may stand in rules.d; move it to the main file\n"
      "rules.d/b.yaml:3:10: rules[0].name: \"a\" is the name of another rule, at "
      "outcomed.yaml:4:10; rename one of them\n"
      "rules.d/c.yaml:2:1: not valid YAML: end of sequence flow not found; a [ or { is open "
      "since 1:8\n");
}

TEST_F(ConfigFolder, FoldersHiddenFilesAndOtherSuffixesAreLeftAlone) {
  write("outcomed.yaml", std::string(kMain) + rule("main") +
                             "receivers: [{name: a}]\nroute: "
                             "{receiver: a}\n");
  write("rules.d/sub/x.yaml", "broken: [");
  write("rules.d/.#x.yaml", "broken: [");
  write("rules.d/x.yaml~", "broken: [");
  write("rules.d/x.yaml.rpmsave", "broken: [");
  write("rules.d/README", "broken: [");
  write("rules.d/old.yml", "broken: [");
  const LoadedConfig loaded = load();
  EXPECT_EQ(told(loaded.problems), "");
  EXPECT_EQ(loaded.config.rules.size(), 1U);
  EXPECT_EQ(told(loaded.notes), "rules.d/old.yml: the file is not read; name it old.yaml\n");
}

TEST_F(ConfigFolder, ARulesFileThatCantBeReadIsAProblem) {
  write("outcomed.yaml", kMain);
  fs::create_directory(folder_ / "rules.d");
  fs::create_symlink("/nowhere/x", folder_ / "rules.d" / "gone.yaml");
  EXPECT_EQ(told(load().problems), "rules.d/gone.yaml: can't be read: No such file or directory\n");
}

TEST_F(ConfigFolder, RulesThatAreNoFolderAreAProblem) {
  write("outcomed.yaml", kMain);
  write("rules.d", "rules: []\n");
  EXPECT_EQ(told(load().problems), "rules.d: is not a folder; make it one, or remove it\n");
}

TEST_F(ConfigFolder, RelativePathsAreTakenFromTheFolderOfTheFile) {
  write("outcomed.yaml",
        "sources: {rec: {kind: recording, path: data/x.csv}, p: {kind: prometheus, url: "
        "\"http://p\", "
        "bearer_token: \"file:../token\", tls: {ca_file: /etc/ca.pem}}}\n"
        "signals: {s: {source: rec}}\nrules: []\nstore: {sqlite: history.db}\n");
  const LoadedConfig loaded = load();
  ASSERT_EQ(told(loaded.problems), "");
  EXPECT_EQ(settings_as<testing::Recorded>(*loaded.config.sources[0].settings)->path,
            (folder_ / "data/x.csv").string());
  const auto& access =
      settings_as<testing::MetricsServer>(*loaded.config.sources[1].settings)->access;
  EXPECT_EQ(access.bearer_token.name, (folder_.parent_path() / "token").string());
  EXPECT_EQ(access.ca_file, "/etc/ca.pem");
  EXPECT_EQ(loaded.config.store.sqlite, (folder_ / "history.db").string());
}

TEST_F(ConfigFolder, AnotherTextHasAnotherHash) {
  write("outcomed.yaml", kMain);
  const std::string before = load().hash;
  EXPECT_EQ(before.size(), 64U);
  EXPECT_EQ(load().hash, before);
  write("rules.d/a.yaml", rule("a"));
  EXPECT_NE(load().hash, before);
}

TEST(ConfigText, ComesApartAsItWasJoined) {
  const std::vector<ConfigFile> files = {{"/etc/outcomed/outcomed.yaml", "a: 1"},
                                         {"/etc/outcomed/rules.d/x.yaml", "---\nrules: []\n"},
                                         {"/etc/outcomed/rules.d/y.yaml", ""},
                                         {std::string(kBuiltInRules), "rules: []\n"}};
  const std::string text = join_config_text(files);
  const std::vector<ConfigFile> parts = split_config_text(text, files[0].name);
  ASSERT_EQ(parts.size(), 4U);
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i].name, files[i].name);
  EXPECT_EQ(parts[0].text, "a: 1\n");
  EXPECT_EQ(parts[1].text, files[1].text);
  EXPECT_EQ(parts[2].text, "");
  EXPECT_EQ(parts[3].text, files[3].text);
  EXPECT_EQ(join_config_text(parts), text);
}

TEST(ConfigText, AnEmptyMainFileKeepsItsPlace) {
  const std::vector<ConfigFile> parts =
      split_config_text(join_config_text({{"m", ""}, {"rules.d/x.yaml", "rules: []\n"}}), "m");
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].name, "rules.d/x.yaml");
}

}  // namespace
}  // namespace outcomed
