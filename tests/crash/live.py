"""The story as the daemon lives it: all its threads, the clock of the wall, steps of a second. Two models
fail until all that fires was told; then they are well again until all that ends was told."""
import contextlib
import json
import math
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import oracle
from processes import fetch, free_port, wait_for
from server import Journal, StoryServer
from story import Gateway, configuration
from tracing import calls_of, tracing

PATIENCE = 60  # Seconds for what takes two when the machine is idle.


class LiveStory:
    def __init__(self, binary, preload, folder):
        self.binary, self.preload, self.folder = binary, preload, folder
        self.began = math.floor(time.time()) - 20
        self.template = None

    def rehearse(self):
        """Plays it without a crash. The calls once the daemon is ready, and those of its two threads that
        tell: first of oncall, then of desk."""
        play = LivePlay(self)
        try:
            # The first start reads a day in steps of a second; no other one has to.
            words = [self.binary, "run", "--once", "--config", str(play.config)]
            subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE)
            with sqlite3.connect(play.store) as database:
                database.execute("DELETE FROM bucket")
            database.close()
            self.template = self.folder / "template.db"
            shutil.copy(play.store, self.template)
            trace = self.folder / "trace-live"
            play.start(trace_file=trace)
            tellers = play.tellers()
            self.must_be_right(play, play.play())
            calls = calls_of(trace, begin="connect(")
        finally:
            play.close()
        others = [(call, n) for thread, call, n in calls if thread not in tellers]
        return others, [[(call, n) for thread, call, n in calls if thread == teller]
                        for teller in tellers]

    @staticmethod
    def must_be_right(play, outcome):
        crashes, repeated, wrong = outcome
        if crashes or repeated or wrong:
            raise AssertionError(f"wrong without any crash: {outcome} {play.log_tail()}")

    def crash(self, kill_at=None, teller=None, delays=()):
        """Kills the daemon when some thread, or the one that tells the first (0) or second (1) receiver,
        makes its N-th call; or, again and again, that many seconds after each start."""
        play = LivePlay(self)
        try:
            if kill_at and teller is None:
                play.start(kill_at=kill_at)
            else:
                play.start()
            if teller is not None:
                play.attach(play.tellers()[teller], kill_at)
            return play.play(list(delays))
        finally:
            play.close()


class LivePlay:
    def __init__(self, story):
        self.story, self.crashes, self.found = story, 0, []
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=story.folder))
        self.store, self.config = self.folder / "history.db", self.folder / "live.json"
        if story.template:
            shutil.copy(story.template, self.store)
        self.gateway = Gateway(story.began, 1, [])
        self.journal = Journal()
        self.server = StoryServer(self.gateway, self.journal)
        self.port, self.daemon, self.tracer = free_port(), None, None
        self.config.write_text(configuration(self.server.url, self.port, self.store, "1s", "1s", "1s"))

    # ---- the daemon ----------------------------------------------------------------------------------

    def start(self, **trace):
        """Until it is ready, or dead."""
        words = [self.story.binary, "run", "--config", str(self.config)]
        environment = dict(os.environ)
        if trace:  # strace as a grandchild: the daemon itself is ours to signal and to wait for.
            tracer = tracing(**trace)
            words = [*tracer[:1], "-D", *tracer[1:], *words]
        else:  # Lets strace come later.
            environment["LD_PRELOAD"] = str(self.story.preload)
        with open(self.folder / "log", "ab") as log:
            self.daemon = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                           stderr=log)
        wait_for("the daemon is ready", lambda: self.ended() or self.is_ready(), PATIENCE)

    def is_ready(self):
        return fetch(f"http://127.0.0.1:{self.port}/-/ready")[0] == 200

    def ended(self):
        return self.daemon.poll() is not None

    def tellers(self):
        """The threads that tell are started last, in the order of the receivers."""
        return sorted(int(name) for name in os.listdir(f"/proc/{self.daemon.pid}/task"))[-2:]

    def attach(self, thread, kill_at):
        with open(self.folder / "log", "ab") as log:
            self.tracer = subprocess.Popen(tracing(kill_at=kill_at, thread=thread), stderr=log)
        status = pathlib.Path(f"/proc/{self.daemon.pid}/task/{thread}/status")
        wait_for("strace watches the thread", lambda: self.tracer.poll() is not None or
                 "\nTracerPid:\t0\n" not in status.read_text(), PATIENCE)

    def recover(self):
        """After an end that was not asked for."""
        if self.daemon.returncode == -signal.SIGKILL:
            self.crashes += 1
        else:
            self.found.append(f"the daemon ends with {self.daemon.returncode}: {self.log_tail()}")
        self.server.drain()
        self.found += oracle.integrity(self.store)
        self.start()

    def log_tail(self):
        return "\n".join((self.folder / "log").read_text(errors="replace").splitlines()[-5:])

    # ---- the story -----------------------------------------------------------------------------------

    def play(self, delays=()):
        """(Kills that happened, repeated deliveries, complaints.)"""
        failing_from = math.floor(time.time()) + 1
        self.gateway.outages = [(model, failing_from, None) for model in ("judge", "coder")]
        self.delays, self.started = list(delays), time.monotonic()
        if not self.go_on_until_told("firing"):
            return self.crashes, 0, self.found + ["lost: not all that fires was told"]
        well_from = math.floor(time.time()) + 1
        self.gateway.outages = [(model, failing_from, well_from) for model in ("judge", "coder")]
        if not self.go_on_until_told("resolved"):
            return self.crashes, 0, self.found + ["lost: not all that ended was told"]
        self.end()
        self.found += oracle.complaints(self.story.binary, self.store, self.journal.entries,
                                        list(self.expected(failing_from, well_from)), self.crashes)
        return self.crashes, oracle.repeats(self.journal.entries), self.found

    @staticmethod
    def expected(failing_from, well_from):
        """The line is crossed by the first second; a second later all fires."""
        times = (failing_from + 1, failing_from + 2, well_from + 1)
        for model in ("judge", "coder"):
            for severity in ("ticket", "page"):
                yield oracle.episode("model_failures", model, severity, *times, 80, 100)
        yield oracle.episode("gateway_failures", None, "page", *times, 160, 300)

    def go_on_until_told(self, status):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.ended():
                self.recover()
                self.started = time.monotonic()
            elif self.delays and time.monotonic() > self.started + self.delays[0]:
                self.delays.pop(0)
                self.daemon.kill()
                self.daemon.wait()
            elif self.journal.wait_for(lambda: self.told(status) == 5, 0.02):
                return True
        return False

    def told(self, status):
        return len([news for news in self.journal.news() if news[2] == status])

    def end(self):
        """Once nothing waits to be told, asks it to end. A kill that comes only now counts, too."""
        while True:
            wait_for("all is on record", lambda: self.ended() or self.nothing_waits(), PATIENCE)
            with contextlib.suppress(ProcessLookupError):
                self.daemon.terminate()
            self.daemon.wait(PATIENCE)
            if self.daemon.returncode == 0:
                return
            self.recover()

    def nothing_waits(self):
        """Both news of every episode are on record as delivered."""
        names = {name for _, name, _ in self.journal.news()}
        answers = [fetch(f"http://127.0.0.1:{self.port}/api/v1/episodes/{name}") for name in names]
        return all(status == 200 and [row["state"] for row in json.loads(text)["deliveries"]]
                   == ["delivered"] * 2 for status, text in answers)

    def close(self):
        for process in (self.daemon, self.tracer):
            if process and process.poll() is None:
                process.kill()
            if process:
                process.wait()
        self.server.close()
        shutil.rmtree(self.folder, ignore_errors=True)
