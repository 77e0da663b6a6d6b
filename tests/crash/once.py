"""The story in single steps: `run --once` at seven times of a clock that stands still. One thread, the
same calls each time: every one of them can be the last."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

import oracle
from server import Journal, StoryServer
from story import Gateway, configuration
from tracing import calls_of, sends, tracing

NOON = 1796040000


def minute(number):
    return NOON + 60 * number


# When it is judged: a new store; tickets fire while pages are pending; pages fire, but oncall wants to be
# left alone for five minutes; two resolve, which waits for that, while a third has fired; that resolves;
# the first fires again; all is over.
CHAPTERS = (0, 3, 5, 9, 12, 14, 17)
THROTTLED = 2
OUTAGES = [("judge", 1, 7), ("coder", 1, 7), ("writer", 5, 10), ("judge", 11, 15)]


def expected():
    """By hand: 80 of 100 requests a minute fail, the window is two minutes. So a line is crossed at the
    end of an outage's first minute and until the second minute after it; a ticket fires one minute after
    that, a page two. For the gateway the outages are one, 80 of 300 at least."""
    for model, pending, resolved in (("judge", 2, 9), ("coder", 2, 9), ("writer", 6, 12),
                                     ("judge", 12, 17)):
        for severity, hold in (("ticket", 1), ("page", 2)):
            yield oracle.episode("model_failures", model, severity, minute(pending),
                                 minute(pending + hold), minute(resolved), 160, 200)
    yield oracle.episode("gateway_failures", None, "page", minute(2), minute(4), minute(17), 320, 600)


class OnceStory:
    def __init__(self, binary, preload, folder):
        self.binary, self.preload, self.folder = binary, preload, folder
        self.gateway = Gateway(minute(-20), 60, [(m, minute(a), minute(b)) for m, a, b in OUTAGES])
        self.before = []  # For each chapter: a copy of the folder, what was told by then.
        self.after = []  # For each chapter: the contents of the store at its end, what was told by then.

    def rehearse(self):
        """Plays it without a crash. The calls of each chapter, from the first that outcomed's own code
        makes on."""
        calls, synced = [], []
        play = OncePlay(self)
        try:
            for chapter in range(len(CHAPTERS)):
                shutil.copytree(play.folder, self.folder / f"before-{chapter}")
                self.before.append((self.folder / f"before-{chapter}", list(play.journal.entries)))
                trace = self.folder / f"trace-{chapter}"
                play.must_end_well(play.run(chapter, trace_file=trace), chapter)
                play.attempts = 0
                synced += sends(trace, ("oncall", "desk"))
                calls.append([(call, n) for _, call, n in calls_of(trace, begin="once.json")])
                self.after.append((oracle.contents(play.store), play.journal.news()))
            wrong = oracle.complaints(self.binary, play.store, play.journal.entries, list(expected()), 0)
            if wrong or oracle.repeats(play.journal.entries):
                raise AssertionError("wrong without any crash: " + "; ".join(wrong))
            if not synced or not all(synced):
                raise AssertionError(f"{synced.count(False)} of {len(synced)} messages left before what "
                                     "they say was safe on the disk")
        finally:
            play.close()
        return calls

    def crash(self, chapter, *kills, to_the_end=True):
        """Kills the chapter's run at the first point, the run after it at the second, …, then lets it
        end. (Kills that happened, repeated deliveries, complaints.)"""
        play = OncePlay(self, chapter)
        try:
            return play.crash(chapter, kills, to_the_end)
        finally:
            play.close()


class OncePlay:
    """One run of the story, or its rest from a chapter on, in a folder of its own."""

    def __init__(self, story, chapter=0):
        self.story, self.attempts = story, 0
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=story.folder))
        self.store, self.config = self.folder / "history.db", self.folder / "once.json"
        before, told = story.before[chapter] if story.before else (None, [])
        if before:
            shutil.copytree(before, self.folder, dirs_exist_ok=True)
        self.journal = Journal(told)
        self.server = StoryServer(story.gateway, self.journal)
        self.config.write_text(configuration(self.server.url, 9469, self.store, "1m", "2m", "2m"))

    def run(self, chapter, **trace):
        """The exit status; -9 after a kill. Each attempt is some seconds after the one before, so that a
        message whose attempt was cut off is due again."""
        now = minute(CHAPTERS[chapter]) + 5 + 3 * self.attempts
        self.server.throttled = ("oncall",) if chapter == THROTTLED else ()
        self.attempts += 1
        environment = {"LD_PRELOAD": str(self.story.preload), "OUTCOMED_TEST_CLOCK_MS": str(now * 1000)}
        words = [self.story.binary, "run", "--once", "--config", str(self.config)]
        if trace:
            words = tracing(environment=environment, **trace) + words
        with open(self.folder / "log", "ab") as log:
            return subprocess.run(words, env=os.environ if trace else {**os.environ, **environment},
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=60,
                                  check=False).returncode

    def go_through(self, chapter):
        """Runs until all is as it was without a crash (status 69: something waits for its time). What
        isn't so after all."""
        contents, told = self.story.after[chapter]
        for _ in range(6):
            self.must_end_well(self.run(chapter), chapter)
            now = oracle.contents(self.store)
            different = [table for table in contents if now[table] != contents[table]]
            if not different and told <= self.journal.news():
                return []
        return [f"after chapter {chapter} table {table} is another one than without a crash"
                for table in different] + [f"lost: {news}" for news in told - self.journal.news()]

    def must_end_well(self, status, chapter):
        if status not in (0, 69):
            log = (self.folder / "log").read_text(errors="replace").splitlines()[-5:]
            raise AssertionError(f"chapter {chapter} ends with {status}: " + "\n".join(log))

    def crash(self, chapter, kills, to_the_end):
        crashes, found = 0, []
        for kill in kills:
            status = self.run(chapter, kill_at=kill)
            if status == -9:
                crashes += 1
                self.server.drain()
                found += oracle.integrity(self.store)
            else:
                self.must_end_well(status, chapter)
        found += self.go_through(chapter)
        if not to_the_end:
            found += oracle.told_wrongly(self.journal.entries, self.story.after[chapter][1], crashes)
            return crashes, oracle.repeats(self.journal.entries), found
        for later in range(chapter + 1, len(CHAPTERS)):
            self.attempts = 0
            found += self.go_through(later)
        found += oracle.complaints(self.story.binary, self.store, self.journal.entries,
                                   list(expected()), crashes)
        return crashes, oracle.repeats(self.journal.entries), found

    def close(self):
        self.server.close()
        shutil.rmtree(self.folder, ignore_errors=True)
