#include "daemon/config/named_files.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "daemon/config/words.h"

namespace outcomed {

std::vector<ConfigProblem> unreadable_file_notes(const std::vector<NamedFile>& files) {
  std::vector<ConfigProblem> notes;
  for (const NamedFile& file : files) {
    if (file.path == "store.sqlite" || ::access(file.name.c_str(), R_OK) == 0) continue;
    const std::string why = std::generic_category().message(errno);
    ProblemSink(file.config_file, notes)
        .add(file.place, file.path, shown(file.name) + " can't be read by this user: " + why,
             "put it there before the daemon starts, readable for the daemon's user");
  }
  return notes;
}

}  // namespace outcomed
