// Remembers which settings a plugin declares and what it complains about.
#pragma once

#include <string>
#include <vector>

#include "queries/base/params.h"

namespace outcomed::testing {

class SettingsVisitor final : public ParamVisitor {
 public:
  void flag(std::string_view name, bool&, std::string_view help) override { add(name, help); }
  void count(std::string_view name, std::int64_t&, Bounds, std::string_view help) override {
    add(name, help);
  }
  void size(std::string_view name, std::int64_t&, std::string_view help) override {
    add(name, help);
  }
  void duration(std::string_view name, Duration&, std::string_view help) override {
    add(name, help);
  }
  void share(std::string_view name, std::optional<double>&, std::string_view help) override {
    add(name, help);
  }
  void text(std::string_view name, std::string&, std::string_view help) override {
    add(name, help);
  }
  void text_list(std::string_view name, std::vector<std::string>&, std::string_view help) override {
    add(name, help);
  }
  void url(std::string_view name, std::string&, std::string_view help) override { add(name, help); }
  void url_list(std::string_view name, std::vector<std::string>&, std::string_view help) override {
    add(name, help);
  }
  void path(std::string_view name, std::string&, std::string_view help) override {
    add(name, help);
  }
  void secret(std::string_view name, SecretRef&, std::string_view help) override {
    add(name, help);
  }
  void matchers(std::string_view name, Matchers&, std::string_view help) override {
    add(name, help);
  }
  void labels(std::string_view name, Labels&, std::string_view help) override { add(name, help); }
  void headers(std::string_view name, std::vector<std::pair<std::string, SecretRef>>&,
               std::string_view help) override {
    add(name, help);
  }
  bool begin(std::string_view name, std::string_view help) override {
    add(name, help);
    prefix_ = std::string(name) + ".";
    return true;
  }
  void end() override { prefix_.clear(); }
  std::size_t items(std::string_view name, std::size_t current, std::string_view help) override {
    add(name, help);
    return current;
  }
  void begin_item(std::size_t) override {}
  void end_items() override {}
  void problem(std::string_view name, std::string, std::string hint) override {
    problems.emplace_back(name);
    all_remedied = all_remedied && !hint.empty();
  }

  std::vector<std::string> names;
  std::vector<std::string> problems;
  bool all_explained = true;  // Help is a sentence.
  bool all_remedied = true;   // A problem says what to do.

 private:
  void add(std::string_view name, std::string_view help) {
    names.push_back(prefix_ + std::string(name));
    all_explained = all_explained && help.ends_with('.');
  }
  std::string prefix_;
};

}  // namespace outcomed::testing
