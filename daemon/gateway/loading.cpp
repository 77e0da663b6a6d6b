// The files of a gateway's configuration: the main one and those that it includes.
#include <fmt/core.h>

#include <set>

#include "daemon/config/files.h"
#include "daemon/config/words.h"
#include "daemon/gateway/reading.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxIncludes = 64;

void parse_one(std::string_view text, const std::string& name, ParsedFiles& files) {
  std::vector<ConfigProblem> said;
  ProblemSink sink(name, said);
  Node root;
  const bool usable = parse_yaml(text, root, sink, YamlDialect::pyyaml);
  auto& where = usable ? files.duplicates : files.problems;
  where.insert(where.end(), said.begin(), said.end());
  if (usable) files.texts.push_back({name, std::move(root)});
}

// The names in `include:`, with their places.
std::vector<GatewayValue> includes_of(const SourceText& text, ParsedFiles& files) {
  std::vector<GatewayValue> names;
  const Node::Entry* list = text.root.kind == Node::Kind::map ? text.root.find("include") : nullptr;
  if (!list) return names;
  ProblemSink sink(text.file, files.problems);
  if (list->value.kind != Node::Kind::sequence) {
    sink.add(list->value.place, "include", "is not a list of files", "write include: [FILE, …]");
    return names;
  }
  for (std::size_t i = 0; i < list->value.items.size(); ++i) {
    const Node& item = list->value.items[i];
    const std::string path = item_path("include", i);
    if (item.kind == Node::Kind::scalar) {
      names.push_back({item.text, {text.file, item.place, path}, item.quoted});
    } else {
      sink.add(item.place, path, "is not the name of a file", "write include: [FILE, …]");
    }
  }
  return names;
}

// Files that an included file includes are read too, relative to the main file's folder.
void follow_includes(const std::filesystem::path& main, ParsedFiles& files) {
  std::set<std::string> seen = {main.string()};
  for (std::size_t i = 0; i < files.texts.size(); ++i) {
    for (const GatewayValue& name : includes_of(files.texts[i], files)) {
      const std::string path = (main.parent_path() / name.text).string();
      ProblemSink sink(name.spot.file, files.problems);
      if (!seen.insert(path).second) {
        sink.add(name.spot.place, name.spot.path, fmt::format("{} is read twice", shown(name.text)),
                 "include each file once");
        continue;
      }
      if (seen.size() > kMaxIncludes) {
        sink.add(name.spot.place, name.spot.path,
                 fmt::format("more than {} files are included", kMaxIncludes), "join some");
        return;
      }
      const Result<std::string> text = read_config_text(path);
      if (text) {
        parse_one(*text, path, files);
      } else {
        sink.add(name.spot.place, name.spot.path,
                 Error{text.error().kind, fmt::format("{}: {}", path, text.error().message)});
      }
    }
  }
}

}  // namespace

LoadedGateway load_gateway(const std::filesystem::path& path) {
  ParsedFiles files;
  const Result<std::string> text = read_config_text(path);
  if (!text) {
    ProblemSink(path.string(), files.problems).add({}, "", text.error());
  } else {
    parse_one(*text, path.string(), files);
    follow_includes(path, files);
  }
  return read_gateway(path.string(), std::move(files));
}

LoadedGateway load_gateway_text(std::string_view text, const std::string& name) {
  ParsedFiles files;
  parse_one(text, name, files);
  return read_gateway(name, std::move(files));
}

}  // namespace outcomed
