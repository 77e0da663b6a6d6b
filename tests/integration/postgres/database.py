"""PostgreSQL with the gateway's table, in a private folder, and who fills it."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from processes import Child, free_port, wait_for
from servers import peer

# Columns that are read; the gateway's index.
SCHEMA = """
create table "LiteLLM_SpendLogs" (
  request_id text primary key, call_type text not null, api_key text not null,
  spend double precision not null, total_tokens integer not null, prompt_tokens integer not null,
  completion_tokens integer not null, "startTime" timestamp(3) not null, "endTime" timestamp(3) not null,
  model text not null, model_id text, model_group text, custom_llm_provider text, api_base text,
  cache_hit text, status text, metadata jsonb);
create index on "LiteLLM_SpendLogs" ("startTime");
create role outcomed login;
grant select on "LiteLLM_SpendLogs" to outcomed;
"""


class Postgres:
    """Refuses to run as root, so root runs it as nobody."""

    def __init__(self):
        self.port, self.folder = free_port(), pathlib.Path(tempfile.mkdtemp(prefix="outcomed-postgres-"))
        self.as_user = []
        if os.getuid() == 0:
            os.chown(self.folder, pwd.getpwnam("nobody").pw_uid, -1)
            self.as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]
        data = self.folder / "data"
        made = subprocess.run([*self.as_user, peer("initdb"), "-D", data, "-U", "postgres", "-A", "trust",
                               "-N", "--locale=C", "-E", "UTF8", "--no-instructions"], cwd="/", text=True,
                              capture_output=True, check=False)
        if made.returncode != 0:
            raise AssertionError(f"initdb fails (user nobody must be able to read the peers): {made.stderr}")
        settings = {"port": self.port, "listen_addresses": "127.0.0.1",
                    "unix_socket_directories": self.folder, "fsync": "off", "timezone": "Europe/Moscow",
                    "shared_buffers": "64MB", "max_connections": "12"}
        with open(data / "postgresql.auto.conf", "a", encoding="ascii") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        self.child = Child([*self.as_user, peer("postgres"), "-D", data], self.folder / "log", cwd="/")
        status = data / "postmaster.pid"
        wait_for("PostgreSQL is ready",
                 lambda: status.exists() and "ready" in status.read_text("ascii", "ignore"))
        self.psql("-c", "create database litellm", database="postgres")
        self.psql("-c", SCHEMA)

    def psql(self, *words, database="litellm", text=None):
        ended = subprocess.run([peer("psql"), "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
                                "-p", str(self.port), "-U", "postgres", "-d", database, *words], text=True,
                               input=text, capture_output=True, cwd="/", check=False)
        if ended.returncode != 0:
            raise AssertionError(f"psql: {ended.stderr}")
        return ended.stdout.strip()

    def close(self):
        if not self.child.ended():
            self.child.end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


class Loader:
    """Copies the rows of a simulated gateway into the table when they land."""

    def __init__(self, postgres, file):
        self.postgres, self.file, self.rows, self.error = postgres, pathlib.Path(file), 0, None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        columns, rest = None, ""
        try:
            with open(self.file, encoding="utf-8") as rows:
                while not self.over.is_set():
                    text = rest + rows.read()
                    whole, _, rest = text.rpartition("\n")
                    lines = whole.splitlines()
                    if lines and columns is None:
                        columns = ", ".join(f'"{name}"' for name in lines.pop(0).split("\t")[1:])
                    if lines:
                        self.copy(columns, lines)
                    self.over.wait(0.2)
        except (AssertionError, OSError) as error:
            self.error = error

    def copy(self, columns, lines):
        self.postgres.psql("-c", f'\\copy "LiteLLM_SpendLogs" ({columns}) from stdin',
                           text="".join(line.split("\t", 1)[1] + "\n" for line in lines))
        self.rows += len(lines)

    def close(self):
        self.over.set()
        self.thread.join()


def sleep_until(unix_seconds):
    time.sleep(max(0, unix_seconds - time.time()))
