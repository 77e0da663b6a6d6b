"""What must hold after any crash, whatever it interrupted."""
import collections
import datetime
import json
import shutil
import sqlite3
import subprocess
import tempfile

RECEIVER = {"page": "oncall", "ticket": "desk"}


def episode(rule, model, severity, pending_at, fired_at, resolved_at, k, n):
    labels = {"model": model, "error_class": "router_refusal"} if model else {}
    return (rule, tuple(sorted(labels.items())), severity, pending_at, fired_at, resolved_at, k, n)


def unix(rfc3339):
    return datetime.datetime.fromisoformat(rfc3339.replace("Z", "+00:00")).timestamp()


def history(binary, store):
    """The stored episodes by id, in the form of `episode`."""
    ended = subprocess.run([binary, "history", "list", "--format", "json", "--store", store], text=True,
                           capture_output=True, timeout=60, check=False)
    if ended.returncode != 0:
        raise AssertionError(f"history list ends with {ended.returncode}: {ended.stderr}")
    return [(e["id"], (e["rule"], tuple(sorted(e["labels"].items())), e["severity"],
                       unix(e["pending_at"]), unix(e["fired_at"]),
                       e["resolved_at"] and unix(e["resolved_at"]), e["k"], e["n"]))
            for e in json.loads(ended.stdout)["episodes"]]


def integrity(store):
    """What SQLite's full check finds in a copy of the file and its log as they lie on the disk."""
    if not store.exists():
        return []
    with tempfile.TemporaryDirectory(dir=store.parent) as folder:
        for part in ("", "-wal"):
            source = store.with_name(store.name + part)
            if source.exists():
                shutil.copy(source, folder)
        with sqlite3.connect(f"{folder}/{store.name}") as database:
            found = [row[0] for row in database.execute("PRAGMA integrity_check")]
        database.close()
    return [] if found == ["ok"] else [f"integrity_check: {line}" for line in found[:3]]


# What tells one history from another: all but times and counts of attempts, and the configuration, which
# names the ports of a run.
TABLES = {
    "source": "*", "cell": "*", "bucket": "*", "alert": "*",
    "episode": "id, rule, severity, grouping, labels, onset, pending_at, fired_at, resolved_at, "
               "resolve_reason, k, n, measured, threshold, sentence, facts, resolve_sentence",
    "outbox": "id, receiver, rule, severity, grouping, episode, status, message, state"}


def contents(store):
    """The rows of each table, sorted; for comparing with another store."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        rows = {table: sorted(map(repr, database.execute(f"SELECT {columns} FROM {table}")))
                for table, columns in TABLES.items()}
    database.close()
    return rows


def outbox(store):
    """(receiver, episode, status, state) of each message."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        rows = list(database.execute("SELECT receiver, episode, status, state FROM outbox"))
    database.close()
    return rows


def told_wrongly(entries, wanted, crashes):
    """`entries` as in Journal; `wanted`: the (receiver, episode, status) that must be told."""
    complaints = []
    keys, news_of_key, deliveries = collections.defaultdict(set), {}, collections.Counter()
    last = {}  # (receiver, labels) -> (episode's time, resolved?) of the newest news
    for path, key, news in entries:
        deliveries[key] += 1
        if news_of_key.setdefault(key, (path, sorted(news))) != (path, sorted(news)):
            complaints.append(f"one key {key} for two messages")
        for status, name, labels in news:
            keys[path, name, status].add(key)
            rank = (int(name.rsplit("-", 1)[1]), status == "resolved")
            if rank < last.get((path, labels), rank):
                complaints.append(f"misordered: {status} of {name} to {path} came late")
            last[path, labels] = rank
    complaints += [f"lost: {news}" for news in sorted(wanted - keys.keys())]
    complaints += [f"told, not wanted: {news}" for news in sorted(keys.keys() - wanted)]
    complaints += [f"{len(some)} keys for {news}" for news, some in keys.items() if len(some) > 1]
    complaints += [f"{count} deliveries under {key} after {crashes} crashes"
                   for key, count in deliveries.items() if count > 1 + crashes]
    return complaints


def repeats(entries):
    """Deliveries that a receiver must drop by their key."""
    return len(entries) - len({key for _, key, _ in entries})


def complaints(binary, store, entries, expected, crashes):
    """Everything that is wrong at the end of a story; `expected`: tuples of `episode`."""
    found = integrity(store)
    stored = history(binary, store)
    for name, count in collections.Counter(e for _, e in stored).items():
        if count > 1:
            found.append(f"duplicate episode: {name}")
    found += [f"lost episode: {e}" for e in sorted(set(expected) - {e for _, e in stored})]
    found += [f"episode that is none: {e}" for e in sorted({e for _, e in stored} - set(expected))]
    wanted = {(RECEIVER[e[2]], name, status) for name, e in stored
              for status in ("firing", "resolved") if status == "firing" or e[5]}
    found += told_wrongly(entries, wanted, crashes)
    rows = outbox(store)
    if sorted(row[:3] for row in rows) != sorted(wanted):
        found.append("the outbox holds other news than the episodes")
    found += [f"{row} at the end" for row in rows if row[3] != "delivered"]
    return found
