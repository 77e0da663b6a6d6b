#include "alerts/rule_export/yaml_text.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

TEST(YamlText, StringsAreAlwaysQuotedAndKeepTheirText) {
  EXPECT_EQ(yaml_string("no"), R"("no")");
  EXPECT_EQ(yaml_string(""), R"("")");
  EXPECT_EQ(yaml_string("a\"\\\n\t\x7F"), R"("a\"\\\n\x09\x7F")");
  EXPECT_EQ(yaml_string("\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF"), R"("\x85\u2028\uFEFF")");
  EXPECT_EQ(yaml_string("\xFF"), "\"\xEF\xBF\xBD\"");
}

TEST(YamlText, ABlockIsUsedOnlyWhereItKeepsEveryCharacter) {
  EXPECT_EQ(yaml_block("  ", "expr", "a\nb"), "  expr: |-\n    a\n    b\n");
  EXPECT_EQ(yaml_block("", "expr", " a"), "expr: \" a\"\n");
  EXPECT_EQ(yaml_block("", "expr", "a\n"), "expr: \"a\\n\"\n");
  EXPECT_EQ(yaml_block("", "expr", "é"), "expr: \"é\"\n");
  EXPECT_EQ(yaml_block("", "expr", ""), "expr: \"\"\n");
}

TEST(YamlText, TemplatesOfUsersAreEscaped) {
  EXPECT_EQ(template_literal("a {{ b }} {"), R"(a {{"{{"}} b }} {)");
  EXPECT_EQ(template_literal("{{{{{"), R"({{"{{"}}{{"{{"}}{)");
}

}  // namespace
}  // namespace outcomed
