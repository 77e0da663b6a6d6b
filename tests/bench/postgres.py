#!/usr/bin/env python3
"""T7: what reading the gateway's table costs, on a real PostgreSQL with 5 million rows over 30 days.

One tick with all signals of the preset (median and worst of 110), its rows and the plan of its statement; a
backfill of nine days in day-long pieces, beside psql's COPY of the same columns of the same rows.
    tests/bench/run postgres [--rows N]
"""
import argparse
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from measure import load, markdown, publish, ratio, say
from peers import free_port, peer, program, wait_for
from servers import BUILD

UNTIL, UNTIL_UNIX = "2026-11-29 12:00:00", 1795953600
COLUMNS = ("request_id, \"endTime\", status, model, model_id, model_group, api_key, spend, prompt_tokens, "
           "completion_tokens, metadata->>'original_model_group', "
           "metadata->'error_information'->>'error_class', metadata->'usage_object'->>'prompt_tokens_details'")
NINE_DAYS = (f"\"startTime\" >= timestamp '{UNTIL}' - interval '10 days' and "
             f"\"startTime\" < timestamp '{UNTIL}' - interval '1 day'")
TICK = (f"\"startTime\" >= timestamp '{UNTIL}' - interval '76 minutes' and "
        f"\"startTime\" < timestamp '{UNTIL}' - interval '60 minutes' and "
        f"\"endTime\" >= timestamp '{UNTIL}' - interval '61 minutes' and "
        f"\"endTime\" < timestamp '{UNTIL}' - interval '60 minutes'")
SETTINGS = {"listen_addresses": "127.0.0.1", "shared_buffers": "512MB", "max_wal_size": "8GB", "fsync": "off",
            "autovacuum": "off", "wal_level": "minimal", "max_wal_senders": 0, "jit": "off"}


class Postgres:
    """In a private directory; as nobody where this is root, as which PostgreSQL refuses to run."""

    def __init__(self):
        self.port = free_port()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="outcomed-bench-"))
        as_user = []
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"]
        data = self.folder / "data"
        subprocess.run([*as_user, peer("initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-N",
                        "--locale=C", "-E", "UTF8"], check=True, capture_output=True, cwd="/")
        with open(data / "postgresql.auto.conf", "a", encoding="ascii") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in {
                **SETTINGS, "port": self.port, "unix_socket_directories": self.folder}.items())
        self.server = subprocess.Popen([*as_user, peer("postgres"), "-D", data], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, cwd="/")
        lock = data / "postmaster.pid"
        wait_for("PostgreSQL", lambda: lock.exists() and "ready" in lock.read_text("ascii", "ignore"))

    def psql(self, *words):
        return subprocess.run([peer("psql"), "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1",
                               "-p", str(self.port), "-U", "postgres", *words], check=True, text=True,
                              capture_output=True, cwd="/").stdout.strip()

    def close(self):
        self.server.send_signal(signal.SIGINT)
        self.server.wait(60)
        shutil.rmtree(self.folder)


def measure(database, rows):
    bench = program(BUILD / "tests" / "postgres_bench", "configure with -DOUTCOMED_BENCH=ON")
    say(f"filling a table with {rows:,} rows")
    database.psql("-v", f"rows={rows}", "-v", f"until={UNTIL}", "-f",
                  str(pathlib.Path(__file__).with_name("spend_logs.sql")))
    size = database.psql("-c", "select pg_size_pretty(pg_total_relation_size('\"LiteLLM_SpendLogs\"'))")
    say(f"{size}; ticks and a backfill")
    before = load()
    found = json.loads(subprocess.run([bench, str(database.port), str(UNTIL_UNIX)], check=True, text=True,
                                      capture_output=True).stdout)
    say("COPY of the same days")
    count = int(database.psql("-c", f"select count(*) from \"LiteLLM_SpendLogs\" where {NINE_DAYS}"))
    began = time.monotonic()
    database.psql("-o", "/dev/null", "-c",
                  f"copy (select {COLUMNS} from \"LiteLLM_SpendLogs\" where {NINE_DAYS}) to stdout")
    copied = count / (time.monotonic() - began)
    plan = database.psql("-c", f"explain (analyze, costs off, timing off) select {COLUMNS} "
                               f"from \"LiteLLM_SpendLogs\" where {TICK}")
    return {**found, "rows": rows, "size": size, "copy_rows_per_second": copied, "plan": plan,
            "load": [before, load()]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    options = parser.parse_args()
    database = Postgres()
    try:
        found = measure(database, options.rows)
    finally:
        database.close()
    filled = found["backfill_rows"] / found["backfill_seconds"]
    table = markdown([f"{found['rows']:,} rows, {found['size']}", ""], [
        ["one tick (median; worst of 110)", f"{found['tick_ms']:.2f} ms ({found['worst_tick_ms']:.1f} ms)"],
        ["rows the server sends per tick, sweeps included", f"{found['tick_rows']:.0f}"],
        [f"backfill of 9 days, {found['backfill_rows']:,} rows", f"{filled:,.0f} rows/s; of it outcomed's CPU "
         f"{1e6 * found['backfill_cpu'] / found['backfill_rows']:.2f} µs a row"],
        ["psql's COPY of 13 columns of the same rows", f"{found['copy_rows_per_second']:,.0f} rows/s; "
         f"{ratio(filled, found['copy_rows_per_second'])}"],
        ["memory at most: ticks, backfill", f"{found['tick_kb'] / 1024:.0f} MB, {found['backfill_kb'] / 1024:.0f} MB"],
        ["load of the machine", f"{found['load'][0]:.1f} to {found['load'][1]:.1f}"]])
    publish("postgres", [table, "Plan of a tick's statement:\n\n" +
                         "\n".join(f"    {line}" for line in found["plan"].splitlines())], found)


if __name__ == "__main__":
    main()
