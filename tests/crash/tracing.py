"""Kills a program at a call to the system of our choice, by strace's fault injection. A call that is
killed was not made."""
import collections
import re
import shutil

CALL = re.compile(r"(\d+) +(?:([a-z_0-9]+)\(|<\.\.\. [a-z_0-9]+ resumed>|[-+]{3})")
FILE_CALL = re.compile(r"\d+ +(pwrite64|ftruncate|fdatasync|fsync|sendto)\((\d+)"
                       r"(?:, \"POST /(\w+))?")


def strace():
    found = shutil.which("strace")
    if found is None:
        raise SystemExit("crash_test: strace is missing: daemon/demo/setup tests installs it")
    return found


def tracing(trace_file=None, kill_at=None, thread=None, environment=None):
    """The words before a program's own, or for a thread that runs. `kill_at`: (call, N)."""
    words = [strace(), "-qq", "-o", trace_file or "/dev/null"]
    if kill_at:
        call, number = kill_at
        words += ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"]
    if thread:
        return words + ["-p", str(thread)]
    words.append("-f")  # With --seccomp-bpf strace 6.1 injects no signals.
    for name, value in (environment or {}).items():
        words += ["-E", f"{name}={value}"]
    return words


def calls_of(trace_file, begin=None):
    """Each call as (thread, call, N): the N-th of this thread. With `begin`, from the first line on that
    holds this text."""
    counts, calls, begun = collections.Counter(), [], begin is None
    with open(trace_file, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = CALL.match(line)
            if match is None:
                raise AssertionError(f"strace wrote what isn't understood: {line}")
            begun = begun or begin in line
            thread, call = match.groups()
            if call is None:
                continue
            counts[thread, call] += 1
            if begun:
                calls.append((int(thread), call, counts[thread, call]))
    return calls


def sends(trace_file, hooks):
    """For each message to one of these paths: whether all that was written to files by then was synced, so
    that a power loss can't take it back."""
    unsynced, found = set(), []
    with open(trace_file, encoding="utf-8", errors="replace") as lines:
        for match in filter(None, map(FILE_CALL.match, lines)):
            call, file, path = match.groups()
            if call in ("fdatasync", "fsync"):
                unsynced.discard(file)
            elif call != "sendto":
                unsynced.add(file)
            elif path in hooks:
                found.append(not unsynced)
    return found


def spread(points, count):
    """At most `count` of them, evenly."""
    if len(points) <= count:
        return list(points)
    return [points[i * len(points) // count] for i in range(count)]
