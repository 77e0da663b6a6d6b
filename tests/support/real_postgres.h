// PostgreSQL 15 of tests/peers.sh beside a test: a cluster of its own in a private folder, on a
// free port of 127.0.0.1. It refuses to run as root, so root runs it as nobody.
#pragma once

#include <pwd.h>

#include "tests/support/peer_process.h"

namespace outcomed::testing {

class RealPostgres;

// A hot standby of a server that has `wal_level = replica` and room for senders.
struct StandbyOf {
  const RealPostgres& primary;
};

class RealPostgres {
 public:
  // Roles: postgres (superuser, trusted) and what the test makes. `settings`: lines for
  // postgresql.conf.
  explicit RealPostgres(const std::string& encoding = "UTF8", const std::string& settings = {}) {
    error_ = missing_peer("postgres");
    if (!error_.empty()) return;
    if (getuid() == 0 && !hand_over(folder_.path())) return;
    const std::string data = folder_ / "data";
    if (run({program("initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", encoding,
             "--locale=C", "-N", "--no-instructions"}) != 0) {
      error_ = "initdb failed: " + log_text();
      return;
    }
    std::ofstream(data + "/postgresql.auto.conf", std::ios::app)
        << "port = " << port_ << "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '"
        << folder_.path().string() << "'\nfsync = off\nautovacuum = off\nlog_timezone = 'UTC'\n"
        << "timezone = 'Europe/Moscow'\nmax_connections = 12\nsuperuser_reserved_connections = 3\n"
        << "wal_level = minimal\nmax_wal_senders = 0\nshared_buffers = 64MB\n"
        << settings << "\n";
    // One role that must say its password, and one that must show a certificate.
    const std::string rules = read_file(data + "/pg_hba.conf");
    std::ofstream(data + "/pg_hba.conf") << "host all with_password 127.0.0.1/32 scram-sha-256\n"
                                         << "hostssl all with_certificate 127.0.0.1/32 cert\n"
                                         << rules;
    start();
  }
  explicit RealPostgres(const StandbyOf& of) {
    error_ = missing_peer("postgres");
    if (!error_.empty()) return;
    if (getuid() == 0 && !hand_over(folder_.path())) return;
    // Beside the server's own program, wherever that really lies.
    const auto tools = std::filesystem::canonical(program("postgres")).parent_path();
    if (run({tools / "pg_basebackup", "-h", "127.0.0.1", "-p", std::to_string(of.primary.port()),
             "-U", "postgres", "-D", folder_ / "data", "-R", "-X", "stream", "-c", "fast"}) != 0) {
      error_ = "pg_basebackup failed: " + log_text();
      return;
    }
    std::ofstream(folder_ / "data/postgresql.auto.conf", std::ios::app)
        << "unix_socket_directories = '" << folder() << "'\n";
    move_to(port_);
    start();
  }
  ~RealPostgres() { stop(SIGQUIT); }
  RealPostgres(const RealPostgres&) = delete;
  RealPostgres& operator=(const RealPostgres&) = delete;

  // Why there is no server; empty where there is one.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }
  [[nodiscard]] pid_t pid() const { return server_; }

  void start() {
    server_ = spawn({program("postgres"), "-D", folder_ / "data"});
    const bool up = wait_until([&] {
      return read_file(folder_ / "data/postmaster.pid").find("ready") != std::string::npos;
    });
    if (!up) error_ = "the server doesn't start: " + log_text();
  }
  // It listens there when it is started next.
  void move_to(int port) {
    port_ = port;
    std::ofstream(folder_ / "data/postgresql.auto.conf", std::ios::app)
        << "port = " << port << "\n";
  }
  // Reads its configuration again; returns when that is done.
  void reload() {
    const std::string loaded = "select pg_conf_load_time()";
    const std::string before = ask("postgres", loaded);
    sql("postgres", "select pg_reload_conf()");
    wait_until([&] { return ask("postgres", loaded) != before; });
  }
  // A file that only the server can read; its path.
  std::string take_file(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    std::filesystem::permissions(
        path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    if (getuid() == 0) hand_over(path);
    return path;
  }
  // SIGINT: clients are sent away; SIGQUIT: at once.
  void stop(int signal) {
    if (server_ <= 0) return;
    kill(server_, SIGCONT);
    kill(server_, signal);
    waitpid(server_, nullptr, 0);
    server_ = -1;
  }

  // Runs SQL as superuser; false, with psql's words in the log, where it fails.
  bool sql(const std::string& database, const std::string& text) {
    return psql(database, {"-c", text}) == 0;
  }
  bool file(const std::string& database, const std::string& path) {
    return psql(database, {"-f", path}) == 0;
  }
  // What a query answers: rows by lines, columns by |.
  std::string ask(const std::string& database, const std::string& text) {
    const std::string out = folder_ / "answer";
    if (psql(database, {"-At", "-o", out, "-c", text}) != 0) return "ERROR " + log_text();
    std::string answer = read_file(out);
    while (answer.ends_with('\n')) answer.pop_back();
    return answer;
  }
  // COPY's text form into a table.
  bool load(const std::string& database, const std::string& table, const std::string& lines) {
    const std::string path = folder_ / "rows.copy";
    std::ofstream(path) << lines;
    return psql(database, {"-c", "\\copy " + table + " from '" + path + "'"}) == 0;
  }
  // The newest of what servers and psql said.
  [[nodiscard]] std::string log_text() const {
    const std::string all = read_file(folder_ / "log");
    return all.substr(all.size() - std::min<std::size_t>(all.size(), 2000));
  }

 private:
  static std::string program(const std::string& name) {
    return (peers_folder() / "bin" / name).string();
  }

  bool hand_over(const std::filesystem::path& path) {
    const passwd* nobody = getpwnam("nobody");
    if (nobody == nullptr || chown(path.c_str(), nobody->pw_uid, nobody->pw_gid) != 0) {
      error_ = "PostgreSQL must not run as root, and there is no user nobody";
      return false;
    }
    if (run({program("postgres"), "--version"}) != 0) {
      error_ = peers_folder().string() + " can't be read by user nobody: set OUTCOMED_PEERS";
    }
    return error_.empty();
  }

  int psql(const std::string& database, std::vector<std::string> more) {
    std::vector<std::string> words = {
        program("psql"),       "-X", "-q",       "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
        std::to_string(port_), "-U", "postgres", "-d", database};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  int run(const std::vector<std::string>& words) {
    const pid_t child = spawn(words);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t spawn(std::vector<std::string> words) {
    if (getuid() == 0) {
      const std::vector<std::string> as = {"/usr/bin/setpriv", "--reuid=nobody", "--regid=nogroup",
                                           "--clear-groups", "--"};
      words.insert(words.begin(), as.begin(), as.end());
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0) return child;
    const int out = open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (chdir("/") != 0) _exit(126);
    execv(argv[0], argv.data());
    _exit(127);
  }

  PeerFolder folder_;
  int port_ = free_port();
  pid_t server_ = -1;
  std::string error_;
};

}  // namespace outcomed::testing
