#!/usr/bin/env python3
"""What one request for all metrics costs a server against one request for each metric.

Fills a Prometheus of tests/peers.sh with six counters of 60 (600) series, scraped every 15 s for an
hour, and asks for the raw samples of the last minute both ways. CPU is the server's, of all its
threads, median of 40 rounds in turn.
    tests/peers.sh && python3 tests/bench/prometheus_grouping.py
"""
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = pathlib.Path(os.environ.get("OUTCOMED_PEERS", ROOT / "build" / "peers")) / "bin"
START = 1_795_996_800
METRICS = [f"litellm_outcome_{i}_metric_total" for i in range(6)]


def write_samples(path, series):
    with open(path, "w") as out:
        for metric in METRICS:
            out.write(f"# TYPE {metric[:-6]} counter\n")
            for i in range(series):
                labels = (f'job="litellm",instance="127.0.0.1:4000",requested_model="model-{i}",end_user="None",'
                          f'exception_class="RateLimitError",route="/v1/chat/completions",team="None"')
                for scrape in range(240):
                    out.write(f"{metric}{{{labels}}} {scrape * (i % 7)} {START + scrape * 15}\n")
        out.write("# EOF\n")


def cpu_seconds(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as stat:
            total += int(stat.read().split()[0])
    return total / 1e9


def ask(port, query):
    form = urllib.parse.urlencode({"query": query, "time": START + 3600}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query", form) as answer:
        return len(answer.read())


def measure(series):
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        write_samples(f"{folder}/data.om", series)
        pathlib.Path(f"{folder}/prometheus.yml").write_text("")
        subprocess.run([PEERS / "promtool", "tsdb", "create-blocks-from", "openmetrics",
                        f"{folder}/data.om", f"{folder}/tsdb"], check=True, capture_output=True)
        server = subprocess.Popen([PEERS / "prometheus", f"--config.file={folder}/prometheus.yml",
                                   f"--storage.tsdb.path={folder}/tsdb",
                                   f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
        try:
            while True:
                try:
                    ask(port, "1")
                    break
                except OSError:
                    time.sleep(0.05)
            ways = {"one request": ['{__name__=~"' + "|".join(METRICS) + '"}[60s]'],
                    "six requests": [f"{metric}[60s]" for metric in METRICS]}
            spent = {way: [] for way in ways}
            wall = {way: [] for way in ways}
            for _ in range(40):
                for way, queries in ways.items():
                    cpu, begin = cpu_seconds(server.pid), time.perf_counter()
                    size = sum(ask(port, query) for query in queries)
                    wall[way].append(time.perf_counter() - begin)
                    spent[way].append(cpu_seconds(server.pid) - cpu)
            for way in ways:
                print(f"{6 * series:6} series, {way:12}: server CPU {statistics.median(spent[way]) * 1e3:7.2f} ms, "
                      f"wall {statistics.median(wall[way]) * 1e3:7.2f} ms, {size} bytes")
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    for count in (60, 600):
        measure(count)
