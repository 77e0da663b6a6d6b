"""Real processes on free ports of 127.0.0.1, in one private folder, each ended by its own id."""
import datetime
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request


def free_port():
    """Below those that outgoing connections get, so that none of them takes it before the server does."""
    for port in random.SystemRandom().sample(range(20000, 32000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise AssertionError("no free port between 20000 and 32000")


# Proxies of the environment are none of our business: everything here is on this machine.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fetch(url, timeout=5, headers=None):
    """The status and the text of the answer; (0, reason) where nobody answers."""
    try:
        with _opener.open(urllib.request.Request(url, headers=headers or {}), timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return 0, str(error)


def fetch_json(url):
    status, text = fetch(url)
    if status != 200:
        raise AssertionError(f"{url} answers {status}: {text[:500]}")
    return json.loads(text)


def unix(rfc3339):
    return datetime.datetime.fromisoformat(rfc3339.replace("Z", "+00:00")).timestamp()


def wait_for(what, condition, seconds=60):
    """Asks until the condition gives something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain: {what}")
        time.sleep(0.05)


class Child:
    """One process; its output goes to a log file."""

    def __init__(self, words, log, **options):
        self.log = pathlib.Path(log)
        self.words = [str(word) for word in words]
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, **options)

    def ended(self):
        return self.process.poll() is not None

    def end(self, with_signal=signal.SIGTERM, seconds=20):
        """The exit status, negative for an end by signal, and how long it took."""
        began = time.monotonic()
        self.process.send_signal(with_signal)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.words[0]} did not end within {seconds} s") from None
        return status, time.monotonic() - began

    def tail(self, lines=30):
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])


class World:
    """The private folder and the children of one test. Leaving ends what still runs, last first."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="outcomed-integration-"))
        self.children = []

    def __truediv__(self, name):
        return self.folder / name

    def start(self, name, words, ready_url, seconds=60, **options):
        """Starts a program and waits until the page answers 200."""
        child = Child(words, self / f"{name}.log", **options)
        self.children.append(child)

        def up():
            if child.ended():
                raise AssertionError(f"{name} ended at once")
            return fetch(ready_url)[0] == 200

        try:
            wait_for(f"{name} answers {ready_url}", up, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{child.tail()}") from None
        return child

    def close(self):
        for child in reversed(self.children):
            if not child.ended():
                child.process.kill()
            child.process.wait()
        if os.environ.get("OUTCOMED_KEEP"):  # To look at what was left.
            print(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
