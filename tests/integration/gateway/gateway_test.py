"""outcomed behind a real LiteLLM gateway and a real Prometheus: what it counts is what the clients got.

    python3 gateway_test.py 1.81.9|1.106.12       after ./install; about two minutes
"""
import pathlib
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1])]
import counts  # noqa: E402
from clients import Clients  # noqa: E402
from gateways import KEY, Gateway  # noqa: E402
from processes import World, unix, wait_for  # noqa: E402
from servers import Journal, Outcomed, Prometheus  # noqa: E402
from upstream import Upstream  # noqa: E402

SHARES = {"gpt-4o": 0.5, "judge": 0.2, "flaky": 0.3}
STEP = 5
# Phase, seconds, what the upstream answers with.
PHASES = [("normal", 20, {}),
          ("judge is down", 30, {"judge": 500}),
          ("recovered", 15, {}),
          ("fallback serves", 15, {"flaky": 503}),
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


def configuration(source, hook):
    return {
        "sources": {"gateway": {"delay": "2s", **source}},
        "presets": [{"litellm": {"metrics": "gateway", "step": f"{STEP}s"}}],
        "rules": [{"name": "model_failures", "kind": "share", "signal": "requests",
                   "by": ["model", "error_class"], "above": "30%", "window": "30s", "for": "5s",
                   "min_requests": 10, "severity": "page"}],
        "receivers": [{"name": "hook", "webhook": {"url": hook}}]}


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
        gateway = Gateway(world, cls.version, gateway_configuration(upstream))
        prometheus = Prometheus(world, gateway.port, KEY)
        cls.outcomed = Outcomed(world, "outcomed", configuration(
            {"kind": "prometheus", "url": prometheus.url, "timeout": "3s"}, f"{cls.journal.url}/hook"))
        # The same without Prometheus: the gateway's own page, redirect and key included.
        cls.direct = Outcomed(world, "direct", configuration(
            {"kind": "exposition", "url": f"http://127.0.0.1:{gateway.port}/metrics", "timeout": "1s",
             "scrape_interval": "1s", "bearer_token": "env:GATEWAY_KEY"},
            f"{cls.journal.url}/direct"), {"GATEWAY_KEY": KEY})
        # Watched before the first request, so that all it counts can be proved.
        wait_for("Prometheus scrapes the gateway", lambda: prometheus.scrapes() >= 2)
        cls.outcomed.start()
        cls.direct.start()
        began = time.time()
        cls.clients = Clients(gateway.port, KEY, SHARES, seed=20261130)
        for phase, seconds, failing in PHASES:
            upstream.failing = failing
            cls.clients.send_for(phase, seconds)
        for hook in ("/hook", "/direct"):
            wait_for(f"{hook} hears the end", lambda: cls.journal.told(hook, "resolved"), 60)
        # Quiet seconds: the gateway books in the background, Prometheus looks once a second.
        quiet = time.time() + 8
        wait_for("all is judged", lambda: cls.outcomed.metric(
            "outcomed_watermark_timestamp_seconds") >= quiet, 60)
        cls.signals = {signal: cls.outcomed.command(
            "signals", "--signal", signal, "--by", f"model,{by}", "--from", int(began) - 60)
            for signal, by in (("requests", "error_class"), ("refusals", "cause"),
                               ("fallbacks", "fallback_model"))}
        cls.backtest = cls.outcomed.json("backtest", "--from", int(began) - 60)
        cls.ends = [cls.outcomed.child.end(), cls.direct.child.end()]
        cls.history, cls.direct_history = (daemon.json("history", "list")["episodes"]
                                           for daemon in (cls.outcomed, cls.direct))

    def got(self, **fields):
        return [request for request in self.clients.got if fields.items() <= request.items()]

    def only(self, found):
        self.assertEqual(len(found), 1, found)
        return found[0]

    def read(self, signal, by):
        self.assertEqual(self.signals[signal].returncode, 0, self.signals[signal].stderr)
        return counts.of_signals(self.signals[signal].stdout, by)

    def test_every_client_got_an_answer(self):
        self.assertEqual(self.got(status=0), [])

    def test_the_timeline_had_what_it_was_made_for(self):
        down = self.got(phase="judge is down", model="judge")
        self.assertGreater(len(self.refused()), len(down) / 2)
        self.assertGreater(len(self.got(model="judge", **{"class": "provider_unavailable"})), 0)
        self.assertGreater(len(self.served_by_the_other()), 20)
        for stream in (True, False):
            for requests in (self.refused(), self.served_by_the_other()):
                self.assertTrue([r for r in requests if r["stream"] == stream])

    def refused(self):
        return self.got(model="judge", **{"class": "router_refusal"})

    def served_by_the_other(self):
        return [r for r in self.got(model="flaky") if r["answered_by"].startswith("gpt-4o")]

    # ---- what was counted

    def test_requests_equal_the_clients_counts_by_model_and_class(self):
        truth = counts.of_clients((r["model"], r["class"]) for r in self.clients.got)
        self.assertEqual(self.read("requests", "error_class"), truth)

    def test_refusals_equal_the_clients_refusals(self):
        self.assertEqual(self.read("refusals", "cause").k,
                         {("judge", "cooldown"): len(self.refused())})

    def test_fallbacks_equal_the_answers_of_the_other_model(self):
        self.assertEqual(self.read("fallbacks", "fallback_model").k,
                         {("flaky", "gpt-4o"): len(self.served_by_the_other())})

    def test_it_knows_how_this_version_counts(self):
        facts = {fact["name"]: fact["value"] for fact in self.only(self.history)["facts"]}
        self.assertIn({"1.81.9": "counted twice", "1.106.12": "counted once"}[self.version],
                      facts["counting"])

    # ---- what was found

    def test_the_refused_model_is_found_and_nothing_else(self):
        episode = self.only(self.history)
        self.assertEqual(episode["rule"], "model_failures")
        self.assertEqual(episode["labels"], {"model": "judge", "error_class": "router_refusal"})

    def test_the_webhook_hears_once_that_it_fires_and_once_that_it_ended(self):
        fired, _ = self.only(self.journal.told("/hook", "firing"))
        self.only(self.journal.told("/hook", "resolved"))
        self.assertEqual(len(self.journal.told("/hook", "firing", model="judge")), 1)
        self.assertRegex(fired["annotations"]["description"],
                         r"^judge: \d+ of \d+ requests \(\d+ %\) failed in the last 30s, refused by the gateway")

    def test_it_fires_while_the_model_is_down(self):
        episode = self.only(self.history)
        down = [request["at"] for request in self.got(phase="judge is down")]
        self.assertGreater(unix(episode["fired_at"]), min(down))
        self.assertLess(unix(episode["fired_at"]), max(down) + STEP)

    def test_the_gateway_s_own_page_gives_the_same_episode_as_prometheus(self):
        direct, lived = self.only(self.direct_history), self.only(self.history)
        self.assertEqual((direct["rule"], direct["labels"]), (lived["rule"], lived["labels"]))
        for field in ("fired_at", "resolved_at"):  # Two scrapers: the neighbouring step at most.
            self.assertLessEqual(abs(unix(direct[field]) - unix(lived[field])), STEP, field)
        self.only(self.journal.told("/direct", "firing"))
        self.only(self.journal.told("/direct", "resolved"))

    def test_a_backtest_over_prometheus_finds_the_same_episode(self):
        replayed, lived = self.only(self.backtest["episodes"]), self.only(self.history)
        self.assertEqual((replayed["rule"], replayed["labels"]), (lived["rule"], lived["labels"]))
        for field in ("fired_at", "resolved_at"):  # A scrape may have come late for the live one.
            self.assertLessEqual(abs(unix(replayed[field]) - unix(lived[field])), STEP, field)

    def test_sigterm_ends_it_well_and_soon(self):
        for status, seconds in self.ends:
            self.assertEqual(status, 0)
            self.assertLess(seconds, 10)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    RealGateway.version = sys.argv.pop(1)
    unittest.main(verbosity=2)
