#!/usr/bin/env python3
"""T1: a rule over 30 days out of a Prometheus: `outcomed backtest` against `vmalert -replay`.

357 counters of a simulated gateway (50 models, 6 error classes), a sample a minute, in blocks of a real
Prometheus. The rule: share of failed attempts by model and class above 10 % of an hour, for 5 minutes.
vmalert asks the same Prometheus with its largest steps and writes what it finds into an empty
VictoriaMetrics, whose CPU isn't counted. Each program has a Prometheus of its own, warmed up by one run
that isn't counted. Both must find the same groups.
    tests/bench/run backtest [--runs N]
"""
import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess
import urllib.parse

from measure import DATA, Finished, cpu_seconds, load, markdown, median, memory, ms, publish, ratio, say
from peers import (GATEWAY_SIM, OUTCOMED, Prometheus, VictoriaMetrics, World, fetch, free_port, peer,
                   program, version)

BEGIN, END = 1793318400, 1795910400  # 2026-10-30 and 2026-11-29, midnight UTC.
SCRIPT = pathlib.Path(__file__).with_name("month.txt")
FAILED = "litellm_deployment_failure_responses_total"
ALL = "litellm_deployment_total_requests_total"
GROUP = ("model_group", "exception_class")

RULES = {"groups": [{"name": "bench", "interval": "1m", "rules": [{
    "alert": "failures", "for": "5m",
    "expr": f"sum by (model_group, exception_class) (increase({FAILED}[1h])) / on (model_group) "
            f"group_left () sum by (model_group) (increase({ALL}[1h])) > 0.1"}]}]}


def config(url):
    return {"sources": {"prom": {"kind": "prometheus", "url": url}},
            "signals": {"attempts": {
                "source": "prom", "failures": FAILED, "requests": ALL, "labels": ["model_group"],
                "failure_labels": ["exception_class"]}},
            "rules": [{"name": "failures", "kind": "share", "signal": "attempts", "by": list(GROUP),
                       "above": "10%", "window": "1h", "for": "5m"}],
            "receivers": [{"name": "nobody"}]}


def month():
    """The folder with the blocks; made once (about three minutes and 8 GB on the way)."""
    words = ["--version", "1.106.12", "--models", "50", "--rate", "20", "--days", "30",
             "--end", "2026-11-29T00:00:00Z", "--only", f"{FAILED},{ALL}"]
    recipe = SCRIPT.read_bytes() + " ".join(words).encode()
    folder = DATA / f"month-{hashlib.sha256(recipe).hexdigest()[:12]}"
    if folder.exists():
        return folder
    DATA.mkdir(parents=True, exist_ok=True)
    text, blocks = folder.with_suffix(".om"), folder.with_suffix(".new")
    shutil.rmtree(blocks, ignore_errors=True)
    say("a month of a simulated gateway (once; it stays below build/bench-data)")
    subprocess.run([program(GATEWAY_SIM, "build the target gateway_sim"), "--script", SCRIPT,
                    *words, "--openmetrics", text], check=True)
    say("as blocks of Prometheus")
    subprocess.run([peer("promtool"), "tsdb", "create-blocks-from", "openmetrics",
                    "--max-block-duration=486h", "-q", text, blocks], check=True)
    text.unlink()
    blocks.rename(folder)
    return folder


class Runs:
    """Of one program: wall, its CPU, the Prometheus' CPU, peaks."""

    def __init__(self):
        self.runs = []

    def take(self, finished, server_cpu):
        self.runs.append({"wall": finished.wall, "cpu": finished.cpu, "server_cpu": server_cpu,
                          "peak_mb": finished.peak, "load": load()})

    def median(self, *names):
        return median(sum(run[name] for name in names) for run in self.runs)


def run_both(world, folder, runs):
    ours, theirs = Runs(), Runs()
    for server_name, runner, into in (("ours", outcomed_once, ours), ("theirs", vmalert_once, theirs)):
        data = world / f"{server_name}-tsdb"
        shutil.copytree(folder, data)
        server = Prometheus(world, data, name=f"prometheus-{server_name}")
        for i in range(runs + 1):
            before = cpu_seconds(server.pid)
            finished, groups = runner(world, server, i)
            spent = cpu_seconds(server.pid) - before
            say(f"{server_name} {i or 'warm-up'}: wall {finished.wall:.2f} s, CPU {finished.cpu:.2f} + "
                f"{spent:.2f} s, {len(groups)} groups fired, load {load():.1f}")
            if i > 0:
                into.take(finished, spent)
        into.groups = groups
        into.server_peak = memory(server.pid, "VmHWM")
        server.stop()
    return ours, theirs


def outcomed_once(world, server, _):
    path = world / "outcomed.yaml"
    path.write_text(json.dumps({**config(server.url), "store": {"sqlite": str(world / "unused.db")},
                                "http": {"listen": f"127.0.0.1:{free_port()}"}}))
    finished = Finished([program(OUTCOMED, "build the target outcomed"), "backtest", "--config", path,
                         "--from", BEGIN, "--to", END, "--format", "json"])
    episodes = json.loads(finished.out)["episodes"]
    return finished, {tuple(episode["labels"][name] for name in GROUP) for episode in episodes}


def vmalert_once(world, server, number):
    rules = world / "rules.yml"
    rules.write_text(json.dumps(RULES))
    results = VictoriaMetrics(world, world / f"results-{number}", name=f"results-{number}")
    finished = Finished([
        peer("vmalert"), f"-rule={rules}", f"-datasource.url={server.url}",
        f"-remoteWrite.url={results.url}", "-replay.timeFrom=2026-10-30T00:00:00Z",
        "-replay.timeTo=2026-11-29T00:00:00Z", "-replay.disableProgressBar", "-replay.rulesDelay=0s",
        "-replay.maxDatapointsPerQuery=10000", "-datasource.queryStep=60s",
        f"-httpListenAddr=127.0.0.1:{free_port()}"])
    fetch(f"{results.url}/internal/force_flush")
    firing = urllib.parse.quote('max by (model_group, exception_class) '
                                '(count_over_time(ALERTS{alertstate="firing"}[31d]))')
    groups = {tuple(series["metric"][name] for name in GROUP) for series in results.query(firing, END)}
    results.stop()
    return finished, groups


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=3)
    runs = options.parse_args().runs
    folder = month()
    world = World()
    try:
        ours, theirs = run_both(world, folder, runs)
    finally:
        world.close()
    rows = []
    for what, names in (("wall", ["wall"]), ("CPU, program and Prometheus", ["cpu", "server_cpu"]),
                        ("… of the program", ["cpu"]), ("… of Prometheus", ["server_cpu"])):
        mine, other = ours.median(*names), theirs.median(*names)
        rows.append([what, ms(mine), ms(other), ratio(mine, other)])
    for what, mine, other in (("peak RSS of the program", ours.median("peak_mb"), theirs.median("peak_mb")),
                              ("… of Prometheus", ours.server_peak, theirs.server_peak)):
        rows.append([what, f"{mine:.0f} MB", f"{other:.0f} MB", f"{mine / other:.2g}"])
    same = ours.groups == theirs.groups
    rows.append(["groups that fired", len(ours.groups), len(theirs.groups), "the same" if same else "DIFFER"])
    loads = [run["load"] for run in ours.runs + theirs.runs]
    rows.append(["load of the machine", f"{min(loads):.1f} to {max(loads):.1f}", "", ""])
    table = markdown(["30 days × 357 series, one rule", "outcomed backtest", "vmalert -replay", ""], rows)
    publish("backtest", [table], {
        "peers": [version("prometheus"), version("vmalert")], "ours": ours.runs, "theirs": theirs.runs,
        "groups": sorted(ours.groups), "only_ours": sorted(ours.groups - theirs.groups),
        "only_theirs": sorted(theirs.groups - ours.groups)})
    if not same:
        raise SystemExit("the two found different groups: see only_ours and only_theirs")


if __name__ == "__main__":
    main()
