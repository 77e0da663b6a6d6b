"""Ways out of a private group, each on a real LiteLLM: what the leak watch counts is what the cloud got,
the rule pages on the first request, and `gateway check` finds the way in the very file of that gateway.

    python3 leaks_test.py 1.81.9|1.106.12       after ./install; about two minutes
"""
import concurrent.futures
import csv
import http.client
import io
import json
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1])]
from gateways import KEY, Gateway  # noqa: E402
from processes import World, wait_for  # noqa: E402
from servers import OUTCOMED, Journal, Outcomed  # noqa: E402
from upstream import Upstream  # noqa: E402

RULE = "private_data_left"
# Nobody resolves this name: the gateway reaches it through its proxy, which is the cloud itself.
CLOUD = "http://cloud.example/v1"


def deployment(group, model, address):
    return {"model_name": group, "model_info": {"id": f"{group}: {model}"}, "litellm_params": {
        "model": f"openai/{model}", "api_base": address, "api_key": "x", "max_retries": 0,
        "cooldown_time": 0}}


def gateway_configuration(house, router=None, litellm=None, more=()):
    return {
        "model_list": [deployment("private/qwen", "qwen", house.url),
                       deployment("gpt-4o", "gpt-4o", CLOUD), *more],
        "router_settings": {"num_retries": 1, "retry_after": 1, **(router or {})},
        "litellm_settings": {"callbacks": ["prometheus"], "request_timeout": 5, "telemetry": False,
                             **(litellm or {})},
        "general_settings": {"master_key": KEY}}


def configurations(house):
    """By name: one way out each; the remedy; and ways that don't disturb each other, side by side."""
    return {
        "default": gateway_configuration(house, router={"default_fallbacks": ["gpt-4o"]}),
        "star": gateway_configuration(house, router={"fallbacks": [{"*": ["gpt-4o"]}]}),
        "remedy": gateway_configuration(house, router={"default_fallbacks": ["gpt-4o"],
                                                       "fallbacks": [{"private/qwen": []}]}),
        "others": gateway_configuration(
            house, litellm={"fallbacks": [{"private/qwen": ["gpt-4o"]}]},
            router={"model_group_alias": {"private/alias": "gpt-4o"},
                    "context_window_fallbacks": [{"private/long": ["gpt-4o"]}]},
            more=[deployment("private/long", "long", house.url),
                  deployment("private/mixed", "llama", house.url),
                  deployment("private/mixed", "gpt-4o", CLOUD)])}


def built_in_rule():
    """The default rule, as the program prints it. Alone: others would have to learn its short steps."""
    printed = subprocess.run([OUTCOMED, "check", "--print-defaults"], text=True, capture_output=True,
                             timeout=60, check=True).stdout
    lines = re.search(rf"^  - (name: {RULE}\n(?:    \S.*\n)+)", printed, re.M)[1].splitlines()
    pairs = (line.strip().split(": ", 1) for line in lines)
    return {key: value[1:-1].split(", ") if value.startswith("[") else value for key, value in pairs}


def watch(source, **more):
    return {"sources": {"gateway": source}, "rules": [built_in_rule()],
            "presets": [{"litellm": {"metrics": "gateway", "step": "2s", "private": ["private/*"]}}],
            **more}


class Watched:
    """A gateway, what it was asked, and its pages as they were recorded."""

    def __init__(self, world, version, name, configuration, cloud):
        self.name, self.asked = name, 0
        self.gateway = Gateway(world, version, configuration, name, proxy=cloud.url[:-len("/v1")])
        self.pages = world / f"{name}-pages"
        self.pages.mkdir()
        self.outcomed = Outcomed(world, f"{name}-recording",
                                 watch({"kind": "recording", "path": str(self.pages)}))
        self.first = None

    def ask(self, model, **more):
        """The status that the client got."""
        self.asked += 1
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.port, timeout=60)
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps({
                "model": model, **more, "messages": [
                    {"role": "user", "content": f"{self.name}: {model} {self.asked}"}]}),
                {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def record(self):
        """Pages over more than a step."""
        for _ in range(2):
            at, page = time.time(), self.gateway.page()
            (self.pages / f"{len(list(self.pages.iterdir()))}-{at:.3f}.prom").write_text(page)
            time.sleep(3)

    def record_when_booked(self):
        """The gateway books in the background."""
        def booked():
            return sum(float(value) for value in re.findall(
                r"^litellm_(?:request_total_latency_metric_count|proxy_failed_requests_metric_total)"
                r"\{(?![^}]*route=\"/metrics)[^}]*\} (\S+)$", self.gateway.page(), re.M))

        wait_for(f"{self.name} books {self.asked} requests", lambda: booked() >= self.asked)
        time.sleep(2)
        self.record()

    def backtest(self):
        episodes = self.outcomed.json("backtest", "--recording", self.pages)["episodes"]
        return [episode for episode in episodes if episode["rule"] == RULE]

    def leaks(self):
        """(model, served_by, way) to k, and the n of each model."""
        ended = self.outcomed.command("signals", "--signal", "leaks", "--by", "model,served_by,way",
                                      "--recording", self.pages)
        if ended.returncode != 0:
            raise AssertionError(ended.stderr)
        k, n, seen = {}, {}, set()
        for row in csv.DictReader(io.StringIO(ended.stdout)):
            if (row["start"], row["model"]) not in seen:
                seen.add((row["start"], row["model"]))
                n[row["model"]] = n.get(row["model"], 0) + int(row["n"])
            if int(row["k"]):
                cell = (row["model"], row["served_by"], row["way"])
                k[cell] = k.get(cell, 0) + int(row["k"])
        return k, {model: count for model, count in n.items() if count}

    def got_of(self, cloud, model):
        """The requests for the model that the cloud got; an attempt that was repeated is one."""
        return len({text for text in cloud.asked if text.startswith(f"{self.name}: {model} ")})

    def findings(self):
        """(check, level) of what fails a run."""
        ended = subprocess.run([OUTCOMED, "gateway", "check", self.gateway.file, "--format", "json"],
                               text=True, capture_output=True, timeout=60, check=False)
        return ended.returncode, sorted(
            (found["check"], found["level"]) for found in json.loads(ended.stdout)["findings"]
            if found["level"] != "note")


class Leaks(unittest.TestCase):
    version = ""
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        world = World()
        cls.addClassCleanup(world.close)
        cls.house, cls.cloud, cls.journal = Upstream(), Upstream(), Journal()
        for server in (cls.house, cls.cloud, cls.journal):
            cls.addClassCleanup(server.close)
        cls.house.failing = {"qwen": 500, "long": 400}
        try:
            cls.start(world)
            cls.play()
        except AssertionError as error:
            logs = [f"-- {child.log.name}\n{child.tail(20)}" for child in world.children]
            raise AssertionError("\n".join([str(error), *logs])) from None

    @classmethod
    def start(cls, world):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            started = {name: pool.submit(Watched, world, cls.version, name, configuration, cls.cloud)
                       for name, configuration in configurations(cls.house).items()}
        cls.watched = {name: watched.result() for name, watched in started.items()}
        cls.live = Outcomed(world, "live", watch(
            {"kind": "exposition", "url": cls.watched["remedy"].gateway.metrics, "timeout": "2s",
             "scrape_interval": "2s", "delay": "3s", "bearer_token": "env:GATEWAY_KEY"},
            receivers=[{"name": "hook", "webhook": {"url": f"{cls.journal.url}/hook"}}]),
            {"GATEWAY_KEY": KEY})
        cls.live.start()
        # Watched before the first request, so that all it counts can be proved.
        cls.live.wait_for_ticks(2)

    @classmethod
    def everywhere(cls, work):
        with concurrent.futures.ThreadPoolExecutor(len(cls.watched)) as pool:
            return dict(zip(cls.watched, pool.map(work, cls.watched.values())))

    @classmethod
    def play(cls):
        cls.everywhere(Watched.record)
        cls.everywhere(cls.first_request)
        cls.everywhere(cls.more_requests)
        remedy = cls.watched["remedy"]
        cls.kept = (remedy.backtest(), remedy.leaks(), remedy.got_of(cls.cloud, "private/qwen"))
        quiet = time.time()
        wait_for("all so far is judged", lambda: cls.live.metric(
            "outcomed_watermark_timestamp_seconds") >= quiet, 60)
        cls.told_before = cls.told("firing")
        cls.client_statuses = [remedy.ask("private/qwen", fallbacks=["gpt-4o"])]
        cls.told_first = wait_for("the rule pages on the first request", lambda: cls.told("firing"))
        cls.client_statuses += [remedy.ask("private/qwen", fallbacks=["gpt-4o"], stream=stream)
                                for stream in (True, False)]
        # Sent there, though it failed there.
        cls.cloud.failing = {"gpt-4o": 503}
        cls.failed_statuses = cls.everywhere(lambda watched: watched.ask(
            "private/qwen", **({"fallbacks": ["gpt-4o"]} if watched.name == "remedy" else {})))
        cls.everywhere(Watched.record_when_booked)

    @classmethod
    def told(cls, status):
        return [alert for alert, _ in cls.journal.told("/hook", status, alertname=RULE)]

    @staticmethod
    def first_request(watched):
        watched.ask("private/qwen")
        watched.record_when_booked()
        watched.first = watched.backtest()

    @staticmethod
    def more_requests(watched):
        if watched.name == "others":
            for model, times in (("private/alias", 2), ("private/long", 2), ("private/mixed", 12)):
                for _ in range(times):
                    watched.ask(model)
        for stream in (False, True, False):
            watched.ask("private/qwen", stream=stream)
            watched.ask("gpt-4o", stream=stream)  # Asked for the cloud: no leak.
        watched.record_when_booked()

    def only(self, found):
        self.assertEqual(len(found), 1, found)
        return found[0]

    def expect_leaks(self, name, model, k):
        """`k`: what is counted, by (served_by, way); in sum it is what the cloud got."""
        watched = self.watched[name]
        counted = {cell[1:]: count for cell, count in watched.leaks()[0].items() if cell[0] == model}
        self.assertEqual(counted, k)
        self.assertEqual(sum(counted.values()), watched.got_of(self.cloud, model))

    def expect_page_on_the_first(self, name, model, way):
        episode = self.only(self.watched[name].first)
        self.assertEqual(episode["labels"], {"model": model, "served_by": "gpt-4o", "way": way})
        self.assertEqual((episode["severity"], episode["resolved_at"]), ("page", None))

    # ---- the ways of the file

    def expect_way_of_qwen(self, name):
        self.expect_leaks(name, "private/qwen",
                          {("gpt-4o", "fallback"): 4, ("gpt-4o", "failed fallback"): 1})
        self.expect_page_on_the_first(name, "private/qwen", "fallback")

    def test_default_fallbacks(self):
        self.expect_way_of_qwen("default")
        self.assertEqual(self.watched["default"].findings(),
                         (1, [("private-default-fallback", "error")]))

    def test_fallbacks_for_all(self):
        self.expect_way_of_qwen("star")
        self.assertEqual(self.watched["star"].findings(), (1, [("private-fallback", "error")]))

    def test_fallbacks_in_litellm_settings(self):
        self.expect_way_of_qwen("others")

    def test_an_alias(self):
        self.expect_leaks("others", "private/alias", {("gpt-4o", "deployment"): 2})

    def test_fallbacks_of_prompts_that_are_too_long(self):
        self.expect_leaks("others", "private/long", {("gpt-4o", "fallback"): 2})

    def test_a_deployment_in_the_cloud_under_the_same_name(self):
        watched = self.watched["others"]
        got = watched.got_of(self.cloud, "private/mixed")
        self.assertGreater(got, 0)
        self.assertLess(got, 12)
        self.expect_leaks("others", "private/mixed", {("gpt-4o", "deployment"): got})

    def test_the_check_finds_each_of_several_ways(self):
        self.assertEqual(self.watched["others"].findings(), (1, [
            ("private-address", "error"), ("private-alias", "error"),
            ("private-context-window-fallback", "error"), ("private-fallback", "error")]))

    # ---- the remedy, and the way that no file shows

    def test_with_the_empty_list_nothing_leaves(self):
        episodes, (leaks, n), got = self.kept
        self.assertEqual((episodes, leaks, got), ([], {}, 0))
        self.assertEqual(self.told_before, [])
        self.assertEqual(self.watched["remedy"].findings(), (0, []))

    def test_a_client_that_names_a_fallback_itself(self):
        self.assertEqual(self.client_statuses, [200, 200, 200])
        self.expect_leaks("remedy", "private/qwen",
                          {("gpt-4o", "fallback"): 3, ("gpt-4o", "failed fallback"): 1})

    def test_the_rule_pages_on_the_first_request_that_left(self):
        alert = self.only(self.told_first)
        self.assertEqual({name: alert["labels"][name] for name in ("model", "served_by", "way")},
                         {"model": "private/qwen", "served_by": "gpt-4o", "way": "fallback"})
        self.assertRegex(alert["annotations"]["description"], r"\b1 of 1 requests\b")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    Leaks.version = sys.argv.pop(1)
    unittest.main(verbosity=2)
