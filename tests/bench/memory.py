#!/usr/bin/env python3
"""T6: the memory of a daemon with all default rules: its first tick, which reads a day and an hour of a
Prometheus with 50 models, and the RSS after it.
    tests/bench/run memory [--keys N]
"""
import argparse
import subprocess
import time

from measure import cpu_seconds, load, markdown, memory, ms, publish
from peers import GATEWAY_SIM, Outcomed, Prometheus, World, peer, program, version

SCRIPT = """
noise 0.2%
0 - rate_limit share=0.4%
0 - caller_errors share=0.5%
0 - timeouts share=0.3%
0 - not_found share=0.1%
"""
# What the preset reads, so that the file stays small.
ONLY = ("litellm_proxy_failed_requests_metric_total,litellm_request_total_latency_metric_count,"
        "litellm_deployment_success_responses_total,litellm_deployment_failure_responses_total,"
        "litellm_deployment_cooled_down_total,fallbacks_total")


def fill(world, keys):
    (world / "script.txt").write_text(SCRIPT)
    subprocess.run([program(GATEWAY_SIM, "build the target gateway_sim"), "--script", world / "script.txt",
                    "--version", "1.106.12", "--models", "50", "--keys", str(keys), "--rate", "20",
                    "--days", "1.1", "--only", ONLY, "--openmetrics", world / "day.om"], check=True)
    subprocess.run([peer("promtool"), "tsdb", "create-blocks-from", "openmetrics",
                    "--max-block-duration=486h", "-q", world / "day.om", world / "tsdb"], check=True)
    (world / "day.om").unlink()
    return Prometheus(world, world / "tsdb")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--keys", type=int, default=1)
    options = options.parse_args()
    world = World()
    try:
        server = fill(world, options.keys)
        series = server.query("count({job=~'.%2B'})", time.time() - 60)[0]["value"][1]
        outcomed = Outcomed(world, "outcomed", {
            "sources": {"prom": {"kind": "prometheus", "url": server.url}},
            "presets": [{"litellm": {"metrics": "prom"}}], "receivers": [{"name": "nobody"}]})
        outcomed.start()
        outcomed.wait_for_ticks(1)
        pid = outcomed.child.process.pid
        found = {"series": int(series), "buckets": outcomed.metric("outcomed_buckets_total"),
                 "cpu": cpu_seconds(pid), "load": load(),
                 **{field: memory(pid, field) for field in ("VmRSS", "VmHWM", "RssAnon", "RssFile")}}
        outcomed.child.end()
    finally:
        world.close()
    rows = [[f"{found['series']:,}", f"{found['VmRSS']:.0f} MB", f"{found['VmHWM']:.0f} MB",
             f"{found['RssAnon']:.0f} + {found['RssFile']:.0f} MB", ms(found["cpu"]), f"{found['load']:.1f}"]]
    table = markdown(["series", "RSS after the first tick", "peak", "own + files (libraries)",
                      "CPU of start and first tick", "load"], rows)
    publish("memory", [table], {"servers": [version("prometheus")], **found})


if __name__ == "__main__":
    main()
