// Commands with a configuration whose source is the test's database.
#pragma once

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <fstream>

#include "tests/daemon/sql/sql_fixture.h"
#include "tests/support/command_answer.h"
#include "tests/support/temp_folder.h"

namespace outcomed::testing {

class SqlCommandTest : public SqlTest {
 protected:
  // A source of this database, with more settings: ", timeout: 1s".
  [[nodiscard]] std::string source(const std::string& more = {}) const {
    return fmt::format(
        "{{kind: postgres, host: 127.0.0.1, port: {}, dbname: {}, user: reader, sslmode: "
        "disable{}}}",
        server().port(), database_, more);
  }
  void write_config(const std::string& text) { std::ofstream(config()) << text; }
  [[nodiscard]] std::string config() const { return folder_ / "outcomed.yaml"; }

  static Answer run(const std::vector<std::string>& arguments,
                    const std::string& standard_input = {}) {
    return run_command(arguments, {}, standard_input);
  }

  TempFolder folder_;
};

}  // namespace outcomed::testing
