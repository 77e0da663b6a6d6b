#!/usr/bin/env python3
"""T4, T5, T6: what watching costs live. `outcomed run` beside Prometheus' own rules and beside vmalert.

300 groups (50 models, 6 error classes) of 350, 3,500 and 35,000 series (1, 10 and 100 API keys) lie in
the head of a real Prometheus and in a VictoriaMetrics. The same share rules over all groups are run, in
turn, by outcomed and by the peer: Prometheus itself, or vmalert beside VictoriaMetrics, with the cheapest
PromQL there is for them. Time is compressed: a step takes 1 s (5 s at 100 keys) instead of a minute, a
window 60 steps, a step holds four samples: as many samples in a window and a tick as with scrapes every
15 s, ticks every minute and windows of an hour. The samples of the minutes to come are written
beforehand, so that no writer disturbs.

Counted is the CPU of outcomed and what the server spends while outcomed asks, against what Prometheus
(vmalert and VictoriaMetrics) spends for one evaluation of the rules. What the server spends with nobody
asking is measured just before in each round and taken off all of them. Medians of the rounds.
Memory is RSS; outcomed's peak is that of its start, which reads all there is at once.
    tests/bench/run tick [--cases KEYS:RULES,…] [--rounds N] [--servers prometheus,victoria-metrics]
"""
import argparse
import json
import time
import urllib.request

from measure import cpu_seconds, load, markdown, median, memory, ms, publish, ratio, say
from peers import Listener, Outcomed, Prometheus, VictoriaMetrics, Vmalert, World, version
from series import ALL, FAILED, History, write_import, write_remote

SAMPLES_PER_STEP, STEPS_PER_WINDOW = 4, 60
IDLE = 3  # Seconds.


def step_of(keys):
    return 5 if keys >= 100 else 1


def outcomed_config(url, step, rules):
    return {"sources": {"prom": {"kind": "prometheus", "url": url, "delay": "0s",
                                 "timeout": f"{step * 900}ms"}},
            "signals": {"requests": {
                "source": "prom", "failures": FAILED, "requests": ALL, "labels": ["requested_model"],
                "failure_labels": ["exception_class"], "step": f"{step}s"}},
            "rules": [{"name": f"share_{i:04d}", "kind": "share", "signal": "requests",
                       "by": ["requested_model", "exception_class"], "above": f"{10 + i / 100:g}%",
                       "window": f"{step * STEPS_PER_WINDOW}s", "for": f"{5 * step}s"}
                      for i in range(rules)],
            "receivers": [{"name": "nobody"}]}


def peer_rules(step, rules):
    window = f"{step * STEPS_PER_WINDOW}s"
    return {"groups": [{"name": "bench", "interval": f"{step}s", "rules": [{
        "alert": f"share_{i:04d}", "for": f"{5 * step}s",
        "expr": f"sum by (requested_model, exception_class) (increase({FAILED}[{window}])) "
                f"/ on (requested_model) group_left () "
                f"sum by (requested_model) (increase({ALL}[{window}])) > {0.1 + i / 10000:.4f}"}
        for i in range(rules)]}]}


class Spent:
    """CPU of some processes over a stretch of time."""

    def __init__(self, *pids):
        self.pids, self.at = pids, time.perf_counter()
        self.before = [cpu_seconds(pid) for pid in pids]

    def end(self):
        """CPU seconds of each, wall seconds."""
        return ([cpu_seconds(pid) - before for pid, before in zip(self.pids, self.before)],
                time.perf_counter() - self.at)


def idle_share(server):
    """Seconds of CPU a second with nobody asking; garbage of the work before is waited for."""
    deadline, share = time.monotonic() + 15, None
    while share is None or (share > 0.02 and time.monotonic() < deadline):
        spent = Spent(server.pid)
        time.sleep(IDLE)
        (cpu,), wall = spent.end()
        share = cpu / wall
    return share


def measure_outcomed(outcomed, server, step, ticks, idle):
    """Own and the server's CPU for each tick."""
    outcomed.start()
    outcomed.wait_for_ticks(2)
    pid = outcomed.child.process.pid
    # From between two ticks to between two ticks.
    time.sleep(step - (time.time() - step * 0.8) % step)
    before = outcomed.metric("outcomed_ticks_total")
    spent = Spent(pid, server.pid)
    time.sleep(ticks * step)
    (own, asked), wall = spent.end()
    done = outcomed.metric("outcomed_ticks_total") - before
    errors = outcomed.metric("outcomed_fetch_errors_total")
    found = {"own": own / done, "server": max(0, asked - idle * wall) / done, "ticks": done,
             "rss_mb": memory(pid, "VmRSS"), "peak_mb": memory(pid, "VmHWM"), "load": load()}
    outcomed.child.end()
    if errors or not 0 <= ticks - done <= 1:
        raise SystemExit(f"{done} ticks of {ticks}, {errors} failed fetches:\n{outcomed.child.tail()}")
    return found


def measure_evaluations(evaluations, pids, idle, least, most):
    """CPU for each evaluation, of every process, from the end of one to the end of another at least
    `least` seconds and two evaluations later; `idle` belongs to the first process."""

    def next_end(known):
        deadline = time.monotonic() + most
        while evaluations() <= known:
            if time.monotonic() > deadline:
                raise SystemExit(f"waited {most} s for {known + 1:.0f} evaluations in vain")
            time.sleep(0.1)
        return evaluations()

    start = next_end(evaluations())
    spent = Spent(*pids)
    time.sleep(least)
    count = next_end(max(evaluations(), start + 1)) - start
    cpu, wall = spent.end()
    cpu[0] = max(0, cpu[0] - idle * wall)
    return {"cpu": [seconds / count for seconds in cpu], "evaluations": count, "load": load()}


class PrometheusSide:
    name, peer = "prometheus", "Prometheus' rules"

    def __init__(self, world):
        self.world = world
        self.server = Prometheus(world, world / "prometheus-data")

    def write(self, history):
        write_remote(history, self.server.url)

    def reload(self, rules):
        self.server.configure(rules)
        urllib.request.urlopen(urllib.request.Request(f"{self.server.url}/-/reload", method="POST"),
                               timeout=60).close()

    def measure(self, rules, idle, least, most):
        self.reload(rules)
        found = measure_evaluations(
            lambda: self.server.metric("prometheus_rule_group_duration_seconds_count"),
            [self.server.pid], idle, least, most)
        found["rss_mb"] = memory(self.server.pid, "VmRSS")
        self.reload(None)
        return found

    versions = staticmethod(lambda: version("prometheus"))


class VictoriaSide:
    name, peer = "victoria-metrics", "vmalert + VictoriaMetrics"

    def __init__(self, world):
        self.world, self.listener = world, Listener()
        self.server = VictoriaMetrics(world, world / "victoria-data")

    def write(self, history):
        write_import(history, self.server.url)

    def measure(self, rules, idle, least, most):
        vmalert = Vmalert(self.world, rules, self.server.url, self.listener.url)
        found = measure_evaluations(lambda: vmalert.metric("vmalert_iteration_duration_seconds_count"),
                                    [self.server.pid, vmalert.pid], idle, least, most)
        found["rss_mb"] = memory(self.server.pid, "VmRSS") + memory(vmalert.pid, "VmRSS")
        vmalert.stop()
        return found

    versions = staticmethod(lambda: version("victoria-metrics") + " with vmalert")


def measure_case(world, side, keys, rules, rounds):
    """One row: medians of the rounds."""
    step = step_of(keys)
    ticks, least, most = (8, 6, 60) if step == 1 else (4, 12, 90)
    path = world / f"rules-{keys}-{rules}.yml"
    path.write_text(json.dumps(peer_rules(step, rules)))
    ours, theirs = [], []
    for number in range(rounds):
        idle = idle_share(side.server)
        outcomed = Outcomed(world, f"outcomed-{keys}-{rules}-{number}",
                            outcomed_config(side.server.url, step, rules))
        ours.append(measure_outcomed(outcomed, side.server, step, ticks, idle))
        theirs.append(side.measure(path, idle, least, most))
        say(f"{side.name} {keys}x, {rules} rules: idle {idle * 1000:.1f} ms/s; tick "
            f"{ms(ours[-1]['own'])} + {ms(ours[-1]['server'])}; evaluation "
            f"{' + '.join(ms(cpu) for cpu in theirs[-1]['cpu'])} ({theirs[-1]['evaluations']:.0f})")
    return {"server": side.name, "keys": keys, "rules": rules, "step": step, "ours": ours,
            "theirs": theirs}


def row_of(case, peer):
    own = median(run["own"] for run in case["ours"])
    server = median(run["server"] for run in case["ours"])
    theirs = median(sum(run["cpu"]) for run in case["theirs"])
    peak = max(run["peak_mb"] for run in case["ours"])
    mine, rss = (median(run["rss_mb"] for run in case[whose]) for whose in ("ours", "theirs"))
    loads = [run["load"] for run in case["ours"] + case["theirs"]]
    return [f"{350 * case['keys']:,}", case["rules"], peer, f"{ms(own)} + {ms(server)}", ms(theirs),
            ratio(own + server, theirs), f"{mine:.0f} ({peak:.0f}) MB", f"{rss:.0f} MB",
            f"{min(loads):.1f}–{max(loads):.1f}"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--cases", default="1:10,1:100,10:10,100:10")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--servers", default="prometheus,victoria-metrics")
    options = options.parse_args()
    cases = [tuple(map(int, case.split(":"))) for case in options.cases.split(",")]
    sides = [side for side in (PrometheusSide, VictoriaSide) if side.name in options.servers.split(",")]
    rows, results = [], []
    for keys in dict.fromkeys(keys for keys, _ in cases):
        for make_side in sides:
            world = World()
            try:
                side = make_side(world)
                fill(side, keys, sum(known == keys for known, _ in cases) * options.rounds)
                for known, rules in cases:
                    if known != keys:
                        continue
                    results.append(measure_case(world, side, keys, rules, options.rounds))
                    rows.append(row_of(results[-1], side.peer))
            finally:
                world.close()
    table = markdown(["series", "rules", "against", "outcomed's tick: own + server's CPU",
                      "peer's evaluation", "", "outcomed's RSS (peak)", "peer's RSS", "load"], rows)
    publish("tick", [table], {"peers": [side.versions() for side in sides], "cases": results})


def fill(side, keys, rounds):
    """A window of the past, and as much of what is to come as the rounds need."""
    step = step_of(keys)
    begin = time.time()
    past = (STEPS_PER_WINDOW + 5) * step
    ahead = rounds * (60 if step == 1 else 100) + 60
    interval = step * 1000 // SAMPLES_PER_STEP
    history = History(keys, int((begin - past) * 1000), interval,
                      (past + ahead) * 1000 // interval)
    side.write(history)
    say(f"{side.name}: {history.count():,} series, {len(history.times)} samples each, written in "
        f"{time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
