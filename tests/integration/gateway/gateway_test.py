"""outcomed behind a real LiteLLM gateway and a real Prometheus: what it counts is what the clients got.

    python3 gateway_test.py 1.81.9|1.106.12       after ./install; about two minutes
"""
import json
import os
import pathlib
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1])]
import counts  # noqa: E402
from clients import Clients  # noqa: E402
from processes import World, fetch, free_port, wait_for  # noqa: E402
from servers import SOURCE, Journal, Outcomed, Prometheus, program  # noqa: E402
from upstream import Upstream  # noqa: E402

GATEWAYS = pathlib.Path(os.environ.get("OUTCOMED_GATEWAYS", SOURCE / "build" / "gateways"))
KEY = "sk-of-the-test"
SHARES = {"gpt-4o": 0.5, "judge": 0.2, "flaky": 0.3}
STEP = 5
# Phase, seconds, what the upstream answers with.
PHASES = [("normal", 20, {}),
          ("judge is down", 30, {"judge": 500}),
          ("recovered", 25, {}),
          ("fallback serves", 20, {"flaky": 503}),
          ("normal again", 5, {})]


def gateway_configuration(upstream):
    def deployment(group, model):
        return {"model_name": group, "model_info": {"id": f"{model}-1"}, "litellm_params": {
            "model": f"openai/{model}", "api_base": upstream.url, "api_key": "x", "max_retries": 0}}
    return {
        "model_list": [deployment("gpt-4o", "gpt-4o-us"), deployment("gpt-4o", "gpt-4o-eu"),
                       deployment("judge", "judge"), deployment("flaky", "flaky")],
        # One failure too many, and the only deployment of a model cools down: it is refused.
        "router_settings": {"num_retries": 2, "allowed_fails": 1, "cooldown_time": 8,
                            "fallbacks": [{"flaky": ["gpt-4o"]}], "enable_pre_call_checks": True},
        "litellm_settings": {"callbacks": ["prometheus"], "request_timeout": 3, "telemetry": False},
        "general_settings": {"master_key": KEY}}


class Gateway:
    def __init__(self, world, version, upstream):
        self.port = free_port()
        (world / "litellm.yaml").write_text(json.dumps(gateway_configuration(upstream)))
        self.child = world.start(f"litellm-{version}", [
            program(GATEWAYS / version / "bin" / "litellm",
                    "run tests/integration/gateway/install (or set OUTCOMED_GATEWAYS)"),
            "--config", world / "litellm.yaml", "--host", "127.0.0.1", "--port", self.port,
            "--num_workers", "1"], f"http://127.0.0.1:{self.port}/health/readiness", 240,
            cwd=world.folder, env={
                "PATH": os.environ["PATH"], "HOME": str(world.folder), "LANG": "C.UTF-8",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                # It asks nobody but the upstream.
                "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9",
                "NO_PROXY": "127.0.0.1,localhost"})


def configuration(prometheus, journal):
    return {
        "sources": {"prom": {"kind": "prometheus", "url": prometheus.url, "delay": "2s",
                             "timeout": "3s"}},
        "presets": [{"litellm": {"metrics": "prom", "step": f"{STEP}s"}}],
        "rules": [{"name": "model_failures", "kind": "share", "signal": "requests",
                   "by": ["model", "error_class"], "above": "30%", "window": "30s", "for": "5s",
                   "min_requests": 10, "severity": "page"}],
        "receivers": [{"name": "hook", "webhook": {"url": f"{journal.url}/hook"}}]}


class RealGateway(unittest.TestCase):
    version = ""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        world = World()
        cls.addClassCleanup(world.close)
        cls.journal, upstream = Journal(), Upstream()
        cls.addClassCleanup(cls.journal.close)
        cls.addClassCleanup(upstream.close)
        try:
            cls.play(world, upstream)
        except AssertionError as error:
            logs = [f"-- {child.log.name}\n{child.tail(20)}" for child in world.children]
            raise AssertionError("\n".join([str(error), *logs])) from None

    @classmethod
    def play(cls, world, upstream):
        gateway = Gateway(world, cls.version, upstream)
        prometheus = Prometheus(world, gateway.port, KEY)
        cls.outcomed = Outcomed(world, "outcomed", configuration(prometheus, cls.journal))
        # Watched before the first request, so that everything it counts can be proved.
        wait_for("Prometheus scrapes the gateway", lambda: prometheus.scrapes() >= 2)
        cls.outcomed.start()
        cls.began = time.time()
        cls.clients = Clients(gateway.port, KEY, SHARES, seed=20261130)
        for phase, seconds, failing in PHASES:
            upstream.failing = failing
            cls.clients.send_for(phase, seconds)
        wait_for("the end is told", lambda: cls.journal.told("/hook", "resolved"), 60)
        # Quiet seconds: the gateway books in the background, Prometheus looks once a second.
        quiet = time.time() + 8
        wait_for("all is booked and scraped", lambda: time.time() > quiet)
        wait_for("all is judged", lambda: cls.outcomed.metric(
            "outcomed_watermark_timestamp_seconds") >= quiet - STEP, 30)
        cls.signals = {by: cls.outcomed.command("signals", "--signal", signal, "--by", by,
                                                "--from", int(cls.began) - 60)
                       for signal, by in (("requests", "model,error_class"),
                                          ("fallbacks", "model,fallback_model"),
                                          ("refusals", "model,cause"))}
        cls.page = fetch(f"http://127.0.0.1:{gateway.port}/metrics", headers={
            "Authorization": f"Bearer {KEY}"})[1]
        cls.backtest = cls.outcomed.json("backtest", "--from", int(cls.began) - 60)
        cls.history = cls.outcomed.json("history", "list")
        cls.end = cls.outcomed.child.end()

    def got(self, **fields):
        return [request for request in self.clients.got if fields.items() <= request.items()]

    def test_every_client_got_an_answer(self):
        self.assertEqual(self.got(status=0), [])

    def test_requests_equal_the_clients_counts_by_model_and_class(self):
        read = self.signals["model,error_class"]
        self.assertEqual(read.returncode, 0, read.stderr)
        truth = counts.of_clients((r["model"], r["class"]) for r in self.clients.got)
        self.assertEqual(counts.of_signals(read.stdout), truth)

    def test_the_timeline_had_what_it_was_made_for(self):
        down = self.got(phase="judge is down", model="judge")
        self.assertGreater(len(self.got(model="judge", **{"class": "router_refusal"})), len(down) / 2)
        self.assertGreater(len(self.got(model="judge", **{"class": "provider_unavailable"})), 0)
        served = self.got(phase="fallback serves", model="flaky")
        self.assertGreater(len(served), 20)
        self.assertEqual({request["status"] for request in served}, {200})
        self.assertGreater(len([r for r in served if r["answered_by"].startswith("gpt-4o")]), 20)


def load_tests(loader, _, __):
    suite = unittest.TestSuite()
    suite.addTests(loader.loadTestsFromTestCase(RealGateway))
    return suite


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    RealGateway.version = sys.argv.pop(1)
    unittest.main(verbosity=2)
