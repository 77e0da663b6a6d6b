#include "daemon/config/yaml_tree.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

// {a=1@1:4 b=[x@2:5]@2:4}@1:1; quoted texts in quotes, null as ~.
std::string dump(const Node& node) {
  std::string text;
  switch (node.kind) {
    case Node::Kind::null:
      text = "~";
      break;
    case Node::Kind::scalar:
      text = node.quoted ? "'" + node.text + "'" : node.text;
      break;
    case Node::Kind::map:
      for (const Node::Entry& entry : node.entries) {
        text += (text.empty() ? "" : " ") + entry.key + "=" + dump(entry.value);
      }
      text = "{" + text + "}";
      break;
    case Node::Kind::sequence:
      for (const Node& item : node.items) text += (text.empty() ? "" : " ") + dump(item);
      text = "[" + text + "]";
      break;
  }
  return text + "@" + std::to_string(node.place.line) + ":" + std::to_string(node.place.column);
}

std::string parsed(std::string_view text) {
  std::vector<ConfigProblem> problems;
  ProblemSink sink("f", problems);
  Node root;
  const bool usable = parse_yaml(text, root, sink);
  return (usable ? dump(root) : std::string("refused")) + to_text(problems);
}

TEST(YamlTree, KnowsWhereEverythingStands) {
  EXPECT_EQ(parsed("a: 1\nb:\n  - x\n  - {c: 'd'}\n"),
            "{a=1@1:4 b=[x@3:5 {c='d'@4:9}@4:5]@3:3}@1:1");
  EXPECT_EQ(parsed("a: |\n  text\nb: >-\n  more\n  of it\n"),
            "{a='text\n'@1:4 b='more of it'@3:4}@1:1");
}

TEST(YamlTree, CountsColumnsInCharacters) {
  EXPECT_EQ(parsed("é: ü\nb: [ö, x: y]\n"), "{é=ü@1:4 b=[ö@2:5 {x=y@2:11}@2:8]@2:4}@1:1");
}

TEST(YamlTree, AByteOrderMarkAndWindowsLineEndsChangeNothing) {
  const std::string expected = "{a=1@1:4 b='x\ny\n'@2:4}@1:1";
  EXPECT_EQ(parsed("a: 1\nb: |\n  x\n  y\n"), expected);
  EXPECT_EQ(parsed("\xEF\xBB\xBF"
                   "a: 1\r\nb: |\r\n  x\r\n  y\r\n"),
            expected);
  EXPECT_EQ(parsed("a: 1\rb: |\r  x\r  y\r"), expected);
}

TEST(YamlTree, LeavesTextsAsTyped) {
  EXPECT_EQ(parsed("[no, yes, on, 010, 0x10, 1e3, 1_000, 22:30, .5, True, 2026-01-01, 'null']"),
            "[no@1:2 yes@1:6 on@1:11 010@1:15 0x10@1:20 1e3@1:26 1_000@1:31 22:30@1:38 .5@1:45 "
            "True@1:49 2026-01-01@1:55 'null'@1:67]@1:1");
}

TEST(YamlTree, NothingIsNull) {
  EXPECT_EQ(parsed(""), "~@0:0");
  EXPECT_EQ(parsed("# only words\n"), "~@0:0");
  EXPECT_EQ(parsed("---\n"), "~@2:1");
  EXPECT_EQ(parsed("a:\nb: ~\nc: null\nd: ''\n"), "{a=~@1:1 b=~@2:1 c=~@3:1 d=''@4:4}@1:1");
}

TEST(YamlTree, AVersionDirectiveAndDocumentMarksAreAllowed) {
  EXPECT_EQ(parsed("%YAML 1.2\n---\na: 1\n...\n"), "{a=1@3:4}@3:1");
}

TEST(YamlTree, OfDuplicateKeysTheFirstStaysAndEachIsNamed) {
  EXPECT_EQ(parsed("a: 1\nb: 2\na: 3\nA: 4\n'a': 5\n"),
            "{a=1@1:4 b=2@2:4 A=4@4:4}@1:1"
            "f:3:1: a: the key stands here again; it is already in line 1; remove one of them\n"
            "f:5:1: a: the key stands here again; it is already in line 1; remove one of them\n");
}

TEST(YamlTree, ADuplicateKeyIsNamedWithItsWholePath) {
  EXPECT_EQ(parsed("a:\n- {}\n- b:\n    - {c: 1, 'd.e': {c: 1, c: 2}}\n"),
            "{a=[{}@2:3 {b=[{c=1@4:11 d.e={c=1@4:25}@4:21}@4:7]@4:5}@3:3]@2:1}@1:1"
            "f:4:28: a[1].b[0][\"d.e\"].c: the key stands here again; it is already in line 4; "
            "remove one of them\n");
}

TEST(YamlTree, TellsAHalfWrittenQuoteFromAWholeOne) {
  EXPECT_EQ(parsed("a: 'it''s'\nb: \"\\\"\"\nc: 'two\n  lines'\n"),
            "{a='it's'@1:4 b='\"'@2:4 c='two lines'@3:4}@1:1");
  for (const char* text :
       {"a: 'x", "a: 'x''", "a: \"x", "a: \"x\\\"", "a: \"x\\", "a: '", "- \"a\n\n"}) {
    EXPECT_EQ(parsed(text).substr(0, 7), "refused") << text;
  }
}

TEST(YamlTree, SixtyFourLevelsAreEnough) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels - 1, '[') + "x" + std::string(levels - 1, ']');
  };
  EXPECT_EQ(parsed(nested(kMaxConfigDepth)).substr(0, 1), "[");
  EXPECT_EQ(parsed(nested(kMaxConfigDepth + 1)),
            "refusedf:1:65: more than 64 levels of nesting; write it flatter\n");
}

TEST(YamlTree, AHundredThousandValuesAreEnough) {
  std::string text;
  for (std::size_t i = 1; i < kMaxConfigNodes; ++i) text += "- a\n";
  EXPECT_EQ(parsed(text).substr(0, 1), "[");
  EXPECT_EQ(parsed(text + "- a\n"),
            "refusedf:100000:3: the file has more than 100000 values; split it\n");
  text.assign(kMaxConfigNodes + 1, ',');
  EXPECT_EQ(parsed(text), "refusedf: the file has more than 100000 values; split it\n");
}

TEST(YamlTree, AMebibyteIsEnough) {
  std::string text = "a: 1\n#";
  text.resize(kMaxConfigBytes, 'x');
  EXPECT_EQ(parsed(text), "{a=1@1:4}@1:1");
  EXPECT_EQ(parsed(text + "x"),
            "refusedf: the file is larger than 1MiB; split it (rules.d/) or shorten it\n");
}

TEST(YamlTree, RefusesEveryBrokenUtf8) {
  for (const char* bytes : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xED\xA0\x80",
                            "\xEF\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xFE", "\xFF"}) {
    EXPECT_EQ(parsed(std::string("a: ") + bytes),
              "refusedf:1:4: the file is not UTF-8 text; save it as UTF-8\n");
  }
  EXPECT_EQ(parsed("a: \xF0\x9F\x98\x80 \xF4\x8F\xBF\xBF\n").substr(0, 3), "{a=");
}

TEST(YamlTree, ReadsAliasesAsPythonDoesWhereAskedTo) {
  std::vector<ConfigProblem> problems;
  ProblemSink sink("f", problems);
  Node root;
  ASSERT_TRUE(parse_yaml("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}\nc: [*x]\nd: 1\nd: 2\n", root, sink,
                         YamlDialect::pyyaml));
  EXPECT_EQ(dump(root),
            "{a={p=1@1:11 q=2@1:17}@1:4 b={q=3@2:16 p=1@1:11}@2:4 "
            "c=[{p=1@1:11 q=2@1:17}@1:4]@3:4 d=2@5:4}@1:1");
  EXPECT_EQ(to_text(problems),
            "f:5:1: d: the key stands here again; it is already in line 4; "
            "remove one of them\n");
}

}  // namespace
}  // namespace outcomed
