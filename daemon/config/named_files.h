// The files that a configuration names: certificates, secrets, recordings.
#pragma once

#include <string>
#include <vector>

#include "daemon/config/problem.h"

namespace outcomed {

struct NamedFile {
  std::string config_file;
  Place place;
  std::string path;  // sources.prom.password
  std::string name;  // On disk, absolute.
};

// Those that this user can't read now. Notes, not problems: the daemon may run as another user, on
// another machine, or before the file is put there, and reads secrets anew with each request. The
// history's own file is left out: the daemon makes it.
std::vector<ConfigProblem> unreadable_file_notes(const std::vector<NamedFile>& files);

}  // namespace outcomed
