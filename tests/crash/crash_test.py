"""kill -9 at the calls that outcomed makes to the system while alerts fire and resolve. After each kill it
is started again, the story goes on, and the oracle looks: nothing lost, no episode twice, no resolve
before its firing, the same key for the same news, at most one more delivery for each crash.

    crash_test.py OUTCOMED --preload LIBRARY           about 260 kills, one to three minutes
    crash_test.py … --full                             every call; second kills while it recovers
    crash_test.py … --only once/3/pwrite64:108         one point, as a failure names it

Points: once/CHAPTER/CALL:N[+CALL:N…] (once.py), live/CALL:N, live/oncall/CALL:N, live/after:SECONDS,…
(live.py). $OUTCOMED_KEEP keeps the folder.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from live import LiveStory  # noqa: E402
from once import OnceStory  # noqa: E402
from tracing import spread  # noqa: E402

RECEIVERS = ("oncall", "desk")
# Between two of these nothing changes that anybody else can see.
DECISIVE = {"fdatasync", "fsync", "ftruncate", "unlink", "rename", "connect", "sendto", "recvfrom"}

Point = collections.namedtuple("Point", "name play")  # play: () -> (kills, repeats, complaints)


def text(kill):
    return f"{kill[0]}:{kill[1]}"


def once_point(story, chapter, *kills, to_the_end=True):
    return Point(f"once/{chapter}/{'+'.join(map(text, kills))}",
                 lambda: story.crash(chapter, *kills, to_the_end=to_the_end))


def live_point(story, kill, teller=None):
    who = "" if teller is None else RECEIVERS[teller] + "/"
    return Point(f"live/{who}{text(kill)}", lambda: story.crash(kill_at=kill, teller=teller))


def live_delays(story, delays):
    return Point("live/after:" + ",".join(map(str, delays)), lambda: story.crash(delays=delays))


def once_points(story, calls, full):
    every = [(chapter, call) for chapter, some in enumerate(calls) for call in some]
    if not full:
        decisive = [point for point in every if point[1][0] in DECISIVE]
        others = [point for point in every if point[1][0] not in DECISIVE]
        return [once_point(story, *point) for point in spread(decisive, 110) + spread(others, 130)]
    points = [once_point(story, *point, to_the_end=i % 5 == 0) for i, point in enumerate(every)]
    draw = random.Random(1)
    for chapter, first in spread(every, 300):
        points.append(once_point(story, chapter, first, draw.choice(calls[chapter])))
    return points


def live_points(story, others, tellers, full):
    points = [live_point(story, call) for call in spread(others, 40 if full else 6)]
    for teller, calls in enumerate(tellers):
        points += [live_point(story, call, teller) for call in spread(calls, 30 if full else 9)]
    draw = random.Random(2)
    for _ in range(20 if full else 0):
        points.append(live_delays(story, [round(draw.uniform(0, 1.5), 2) for _ in range(5)]))
    return points


def named_point(once, live, name):
    kind, *words = name.split("/")
    if kind == "live" and words[0].startswith("after:"):
        return live_delays(live, [float(word) for word in words[0][6:].split(",")])
    kills = [(call, int(number)) for call, number in
             (kill.split(":") for kill in words[-1].split("+"))]
    if kind == "once":
        return once_point(once, int(words[0]), *kills)
    return live_point(live, kills[0], RECEIVERS.index(words[0]) if len(words) == 2 else None)


class Tally:
    def __init__(self):
        self.points = self.reached = self.kills = self.repeats = self.repeating = 0
        self.failed = []

    def add(self, point, outcome):
        kills, repeats, complaints = outcome
        self.points += 1
        self.reached += kills > 0
        self.kills += kills
        self.repeats += repeats
        self.repeating += repeats > 0
        if complaints:
            self.failed.append(point.name)
            print(f"FAILED {point.name}", *complaints, sep="\n    ", flush=True)

    def report(self, least, seconds):
        print(f"{self.kills} kills at {self.reached} of {self.points} points in {seconds:.0f} s: "
              f"{len(self.failed)} wrong (lost, duplicate episode, misordered, second key, damaged "
              f"file), {self.repeats} deliveries repeated under their key in {self.repeating} runs.")
        if self.failed:
            print(f"Again: crash_test.py … --only {self.failed[0]}")
            return 1
        if least > 0:
            print(f"0 of {self.reached}: at 95 % at most {300 / max(self.reached, 1):.2f} % of such "
                  "crashes go wrong.")
        if self.reached < least:
            print(f"FAILED: a sweep of less than {least} kills says little; was strace hindered?")
            return 1
        return 0


def outcome_of(point):
    try:
        return point, point.play()
    except Exception as error:  # pylint: disable=broad-except  # The sweep goes on with other points.
        return point, (0, 0, [f"{type(error).__name__}: {error}"])


def sweep(once, live, jobs):
    """Runs of the still clock compute, those of the daemon mostly wait."""
    tally = Tally()
    with concurrent.futures.ThreadPoolExecutor(jobs) as computing, \
            concurrent.futures.ThreadPoolExecutor(3 * jobs) as waiting:
        runs = [waiting.submit(outcome_of, point) for point in live]
        runs += [computing.submit(outcome_of, point) for point in once]
        for run in concurrent.futures.as_completed(runs):
            tally.add(*run.result())
    return tally


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("outcomed", type=pathlib.Path)
    options.add_argument("--preload", type=pathlib.Path, required=True, help="the library crash_preload")
    options.add_argument("--full", action="store_true", help="every call")
    options.add_argument("--jobs", type=int, default=2, help="runs at a time")
    options.add_argument("--only", nargs="+", metavar="POINT", help="these points")
    chosen = options.parse_args()
    for path in (chosen.outcomed, chosen.preload):
        if not path.exists():
            options.error(f"{path} is missing: build the targets outcomed and crash_preload")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="outcomed-crash-"))
    began = time.monotonic()
    try:
        programs = (chosen.outcomed.resolve(), chosen.preload.resolve(), folder)
        once, live = OnceStory(*programs), LiveStory(*programs)
        calls, (others, tellers) = once.rehearse(), live.rehearse()
        if chosen.only:
            named = [named_point(once, live, name) for name in chosen.only]
            return sweep(named, [], chosen.jobs).report(0, time.monotonic() - began)
        tally = sweep(once_points(once, calls, chosen.full),
                      live_points(live, others, tellers, chosen.full), chosen.jobs)
        return tally.report(2000 if chosen.full else 150, time.monotonic() - began)
    finally:
        if os.environ.get("OUTCOMED_KEEP"):
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
