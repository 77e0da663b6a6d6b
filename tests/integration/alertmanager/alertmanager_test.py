"""One outage of one small model, seen through a real Prometheus and told through a real Alertmanager
and a webhook, while outcomed is killed, restarted, reloaded and ended, and the servers around it are
restarted, too.

The story is played once, about two minutes and a half; each test looks at one side of what was seen.
    python3 alertmanager_test.py          $OUTCOMED_BUILD: the build folder, $OUTCOMED_PEERS: the peers
"""
import json
import pathlib
import signal
import sys
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counts  # noqa: E402
from processes import World, fetch, fetch_json, unix, wait_for  # noqa: E402
from servers import Alertmanager, GatewaySim, Journal, Outcomed, Prometheus  # noqa: E402

KEY = "sk-simulated"
# Quiet seconds at both ends, so that nothing is counted before somebody looks or after everybody did.
# The judge has 8 % of the requests, so the gateway-wide share stays below 8 %.
SCRIPT = """
noise 0.2%
0     15s  quiet
30s   65s  refuse  judge  share=92%
155s  -    quiet
"""
TRAFFIC, OUTAGE, OUTAGE_ENDS, TRAFFIC_ENDS = 15, 30, 95, 155
STEP = 5


def configuration(source, receiver):
    return {
        "sources": {"gateway": {"delay": "2s", **source}},
        "presets": [{"litellm": {"metrics": "gateway", "step": f"{STEP}s"}}],
        "rules": [
            {"name": "gateway_failures", "kind": "share", "signal": "requests", "above": "10%",
             "window": "1m", "for": "10s", "min_failures": 11, "severity": "page"},
            {"name": "model_failures", "kind": "share", "signal": "requests",
             "by": ["model", "error_class"], "above": "30%", "resolve_below": "25%", "window": "1m",
             "for": "10s", "min_requests": 20, "severity": "page",
             "annotations": {"runbook_url": "https://example.org/runbooks/model"}}],
        "receivers": [receiver]}


def judge_alert(alertmanager):
    return [alert for alert in alertmanager.alerts() if alert["labels"].get("model") == "judge"]


class Story:
    """Plays it and keeps what was seen, by the moment at which it was seen."""

    def __init__(self, world, journal):
        self.world, self.journal = world, journal
        self.gateway = GatewaySim(world, SCRIPT, KEY, "--version", "1.81.9", "--rate", "40")
        self.prometheus = Prometheus(world, self.gateway.port, KEY)
        self.alertmanager = Alertmanager(world, f"{journal.url}/from-alertmanager")
        prometheus = {"kind": "prometheus", "url": self.prometheus.url, "timeout": "3s"}
        self.watching = Outcomed(world, "watching", configuration(
            prometheus, {"name": "oncall", "webhook": {"url": f"{journal.url}/hook"},
                         "alertmanager": {"urls": [self.alertmanager.url], "resend_interval": "2s"}}))
        # Is away while the outage ends.
        (world / "state").mkdir()
        self.napping = Outcomed(world, "napping", configuration(
            prometheus, {"name": "napping", "webhook": {"url": f"{journal.url}/napping"}}),
            {"STATE_DIRECTORY": str(world / "state")})
        # Does without Prometheus.
        self.direct = Outcomed(world, "direct", configuration(
            {"kind": "exposition", "url": f"http://127.0.0.1:{self.gateway.port}/metrics",
             "bearer_token": "env:GATEWAY_KEY", "scrape_interval": "1s", "timeout": "1s"},
            {"name": "direct", "webhook": {"url": f"{journal.url}/direct"}}), {"GATEWAY_KEY": KEY})

    def play(self):
        wait_for("Prometheus scrapes the gateway", self.prometheus.scrapes)
        for daemon in (self.direct, self.watching, self.napping):
            daemon.start()
        self.started_after = time.time() - self.gateway.began
        self.while_it_fires()
        self.killed_and_restarted()
        self.reloaded()
        self.servers_restarted()
        self.until_it_resolves()
        self.ended()

    def told(self, path, status, **more):
        return self.journal.told(path, status, alertname="model_failures", **more)

    def told_of_config(self, path, status):
        return self.journal.told(path, status, alertname="config_broken")

    def while_it_fires(self):
        wait_for("the webhook hears of it", lambda: self.told("/hook", "firing"), 90)
        wait_for("Alertmanager lists it", lambda: judge_alert(self.alertmanager), 10)
        for hook in ("/direct", "/napping"):
            wait_for(f"{hook} hears of it", lambda: self.told(hook, "firing"), 30)
        self.firing = types.SimpleNamespace(
            alerts=self.alertmanager.alerts(),
            api=fetch_json(self.watching.url("/api/v1/alerts")),
            history=self.watching.json("history", "list", "--open"),
            explained=self.watching.json("explain", "model_failures", "model=judge"),
            explained_anew=self.watching.json("explain", "model_failures", "model=judge",
                                              config=self.watching.without_daemon()),
            table=self.watching.command("explain", "model_failures", "model=judge"),
            gateway_wide=self.watching.json("explain", "gateway_failures"),
            not_there=[fetch(self.watching.url(path)) for path in (
                "/api/v1/nothing", "/api/v1/explain?rule=nothing", "/api/v1/episodes/nothing")])

    def killed_and_restarted(self):
        # An attempt that a kill cuts off is repeated; here all is told and on record.
        for daemon in (self.watching, self.napping):
            daemon.wait_for_ticks(1)
            daemon.kill()
        self.watching.start()
        self.watching.wait_for_ticks(2)
        self.after_kill = types.SimpleNamespace(
            alerts=judge_alert(self.alertmanager),
            history=self.watching.json("history", "list", "--open"))

    def reloaded(self):
        broken = json.loads(json.dumps(self.watching.document))
        broken["rules"][1]["above"] = 30
        self.watching.write(broken)
        self.check = self.watching.command("check")
        self.watching.signal(signal.SIGHUP)
        wait_for("the broken file is refused",
                 lambda: self.watching.metric("outcomed_config_last_reload_successful") == 0, 20)
        wait_for("the webhook hears of the broken file", lambda: self.told_of_config("/hook", "firing"), 20)
        self.after_broken = fetch_json(self.watching.url("/api/v1/rules"))
        self.watching.write(self.watching.document)
        self.watching.signal(signal.SIGHUP)
        wait_for("the good file is in force again",
                 lambda: self.watching.metric("outcomed_config_last_reload_successful") == 1, 20)
        wait_for("the webhook hears that it is mended",
                 lambda: self.told_of_config("/hook", "resolved"), 20)
        self.after_good = self.watching.json("history", "list", "--open")

    def servers_restarted(self):
        self.alertmanager.child.end()
        self.alertmanager.start()
        wait_for("Alertmanager, empty at first, lists it again", lambda: judge_alert(self.alertmanager), 30)
        self.after_alertmanager_restart = judge_alert(self.alertmanager)
        self.prometheus.child.end()
        wait_for("outcomed misses it",
                 lambda: self.watching.metric("outcomed_fetch_errors_total") > 0, 20)
        self.explained_blind = self.watching.command("explain", "model_failures", "model=judge")
        self.prometheus.start()
        self.watching.wait_for_ticks(1)

    def until_it_resolves(self):
        wait_for("the webhook hears the end", lambda: self.told("/hook", "resolved"), 120)
        wait_for("Alertmanager tells the end", lambda: self.told("/from-alertmanager", "resolved"), 20)
        wait_for("Alertmanager lists it no more", lambda: not judge_alert(self.alertmanager), 10)
        wait_for("the direct one's webhook hears the end", lambda: self.told("/direct", "resolved"), 30)
        # Killed again: what resolved must not be told anew either.
        self.watching.wait_for_ticks(1)
        self.watching.kill()
        self.watching.start()
        # Its file was broken while it was away: it goes on with the copy of the last good one.
        self.napping.config.write_text("rules: [{name: half")
        self.napping.start()
        wait_for("the one that was away says what it runs with",
                 lambda: self.told_of_config("/napping", "firing"), 30)
        self.napping.write(self.napping.document)
        wait_for("the one that was away tells the end", lambda: self.told("/napping", "resolved"), 30)
        self.watching.wait_for_ticks(2)

    def ended(self):
        wait_for("the traffic ends", lambda: time.time() > self.gateway.began + TRAFFIC_ENDS, 120)
        wait_for("all is judged", lambda: self.watching.metric(
            "outcomed_watermark_timestamp_seconds") > self.gateway.began + TRAFFIC_ENDS + 2, 60)
        self.alertmanager_at_the_end = self.alertmanager.alerts()
        self.history_of_daemon = self.watching.command("history", "list", "--format", "json")
        episode = json.loads(self.history_of_daemon.stdout)["episodes"][0]["id"]
        self.shown_by_daemon = self.watching.command("history", "show", episode, "--format", "json")
        self.own_page = fetch(self.watching.url("/metrics"))[1]
        self.ends = {daemon.name: daemon.child.end()
                     for daemon in (self.watching, self.direct, self.napping)}
        self.history_of_file = self.watching.command("history", "list", "--format", "json")
        self.history_of_named_file = self.watching.command(
            "history", "list", "--format", "json", "--store", self.watching.store)
        self.shown_by_file = self.watching.command("history", "show", episode, "--format", "json")
        self.direct_history = self.direct.json("history", "list")
        self.napping_history = self.napping.json("history", "list")
        begin = int(self.gateway.began) - 30
        self.signals = self.watching.command("signals", "--signal", "requests", "--by",
                                             "model,error_class", "--from", begin)
        self.backtest = self.watching.json("backtest", "--from", begin)
        self.once = self.watching.command("run", "--once")
        self.prometheus.child.end()
        due = time.time() + STEP + 2  # Before that there is nothing to ask for.
        wait_for("another step is due", lambda: time.time() > due)
        self.once_blind = self.watching.command("run", "--once")


class OneOutageOfOneModel(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        world = World()
        cls.addClassCleanup(world.close)
        journal = Journal(refuse_once="/hook")
        cls.addClassCleanup(journal.close)
        cls.story = Story(world, journal)
        try:
            cls.story.play()
        except AssertionError as error:
            logs = [f"-- {child.log.name}\n{child.tail(20)}" for child in world.children]
            raise AssertionError("\n".join([str(error), *logs])) from None

    def only(self, found):
        self.assertEqual(len(found), 1, found)
        return found[0]

    # ---- what Alertmanager shows

    def test_alertmanager_lists_the_model_with_the_rule_and_its_labels(self):
        alert = self.only(self.story.firing.alerts)
        self.assertEqual(alert["labels"], {
            "alertname": "model_failures", "model": "judge", "error_class": "router_refusal",
            "severity": "page"})
        self.assertEqual(alert["annotations"]["runbook_url"], "https://example.org/runbooks/model")
        self.assertRegex(alert["annotations"]["description"], r"^judge: \d+ of \d+ requests \(\d+ %\)")

    def test_alertmanager_has_the_firing_time_of_the_history(self):
        alert, episode = self.only(self.story.firing.alerts), self.episode()
        self.assertEqual(unix(alert["startsAt"]), unix(episode["fired_at"]))

    def test_alertmanager_tells_its_receiver_once_that_it_fires_and_once_that_it_ended(self):
        # It would tell again if a restart or a reload had let the alert lapse or begin anew.
        self.only(self.story.told("/from-alertmanager", "firing"))
        alert, _ = self.only(self.story.told("/from-alertmanager", "resolved"))
        self.assertEqual(unix(alert["endsAt"]), unix(self.episode()["resolved_at"]))
        self.assertEqual(self.story.alertmanager_at_the_end, [])

    # ---- what the webhook hears

    def test_the_webhook_gets_the_sentence(self):
        alert, _ = self.only(self.story.told("/hook", "firing"))
        sentence = alert["annotations"]["description"]
        self.assertRegex(sentence, r"^judge: (\d+) of (\d+) requests \((\d+) %\) .*since ")
        self.assertIn("refused by the gateway's router", sentence)
        self.assertTrue(sentence.startswith(self.episode()["sentence"]), sentence)

    def test_the_webhook_hears_once_that_it_fires_and_once_that_it_ended(self):
        _, fired = self.only(self.story.told("/hook", "firing"))
        _, resolved = self.only(self.story.told("/hook", "resolved"))
        self.assertLess(fired["at"], resolved["at"])
        self.assertNotEqual(fired["key"], resolved["key"])

    def test_what_the_webhook_refused_at_first_comes_again_under_the_same_key(self):
        refused, first = self.only(self.story.told("/hook", "firing", accepted=False))
        accepted, second = self.only(self.story.told("/hook", "firing"))
        self.assertEqual(first["key"], second["key"])
        self.assertEqual(refused, accepted)

    # ---- what was found

    def outage_in(self, history):
        return self.only([episode for episode in history["episodes"]
                          if episode["rule"] != "config_broken"])

    def episode(self):
        return self.outage_in(json.loads(self.story.history_of_file.stdout))

    def test_it_fires_soon_and_not_before_the_outage(self):
        began, episode = self.story.gateway.began, self.episode()
        outage, over = began + OUTAGE, began + OUTAGE_ENDS
        # 30 % of a minute's requests are reached after about 20 s; then `for`, one step, the delay.
        self.assertGreaterEqual(unix(episode["pending_at"]), outage)
        self.assertLess(unix(episode["fired_at"]), outage + 45)
        self.assertGreaterEqual(unix(episode["fired_at"]), unix(episode["pending_at"]) + 10)
        self.assertTrue(over < unix(episode["resolved_at"]) < over + 60, episode)

    def test_the_numbers_of_the_episode_are_those_of_the_clients(self):
        episode = self.episode()
        end = unix(episode["fired_at"])
        window = [request for request in self.story.gateway.truth()
                  if request["model"] == "judge" and end - 60 < request["at"] <= end]
        refused = sum(request["class"] == "router_refusal" for request in window)
        # What happens in a window's first and last second may be scraped on the other side of its edge.
        self.assertAlmostEqual(episode["n"], len(window), delta=12)
        self.assertAlmostEqual(episode["k"], refused, delta=8)
        self.assertAlmostEqual(episode["measured"], episode["k"] / episode["n"], places=9)

    def test_the_gateway_wide_rule_stays_silent_below_ten_percent(self):
        group = self.only(self.story.firing.gateway_wide["groups"])
        self.assertEqual(group["phase"], "inactive")
        self.assertGreater(group["measured"], 0.01)
        self.assertLess(group["measured"], 0.10)
        self.assertEqual([post for post in self.story.journal.posts
                          if "gateway_failures" in json.dumps(post["body"])], [])

    def test_signals_from_prometheus_equal_what_the_clients_got(self):
        self.assertLess(self.story.started_after, TRAFFIC, "the servers were up after the first request")
        self.assertEqual(self.story.signals.returncode, 0, self.story.signals.stderr)
        truth = counts.of_clients((r["model"], r["class"] or "") for r in self.story.gateway.truth())
        self.assertGreater(truth.k["judge", "router_refusal"], 50)
        self.assertEqual(counts.of_signals(self.story.signals.stdout), truth)

    def test_a_backtest_over_prometheus_finds_the_episode_that_the_daemon_found(self):
        self.assert_same_but_for_a_step(self.only(self.story.backtest["episodes"]))

    def assert_same_but_for_a_step(self, other):
        """Where two readers saw a scrape on different sides of an edge, a neighbouring step decided."""
        lived = self.episode()
        for field in ("rule", "labels", "severity", "threshold"):
            self.assertEqual(other[field], lived[field], field)
        for field in ("pending_at", "fired_at", "resolved_at"):
            self.assertLessEqual(abs(unix(other[field]) - unix(lived[field])), STEP, field)

    def test_reading_the_page_without_prometheus_finds_the_same(self):
        self.assert_same_but_for_a_step(self.outage_in(self.story.direct_history))
        self.only(self.story.told("/direct", "firing"))
        self.only(self.story.told("/direct", "resolved"))

    # ---- what the commands say

    def test_explain_says_why_it_fires(self):
        group = self.only([group for group in self.story.firing.explained["groups"]
                           if group["labels"]["error_class"] == "router_refusal"])
        self.assertEqual(group["phase"], "firing")
        self.assertIn("fired at", group["why"])
        self.assertGreater(group["measured"], 0.3)
        self.assertIn("firing", self.story.firing.table.stdout)

    def test_explain_without_a_daemon_reads_the_same_from_prometheus(self):
        def numbers(document):
            return {(group["labels"]["error_class"], group["phase"]): group["at"]
                    for group in document["groups"]}
        told, read = numbers(self.story.firing.explained), numbers(self.story.firing.explained_anew)
        self.assertEqual(told.keys(), read.keys())
        same = [(told, read) for told, read in
                zip(self.story.firing.explained["groups"], self.story.firing.explained_anew["groups"])
                if told["at"] == read["at"]]
        for told, read in same:  # Where no new step ended between the two questions.
            self.assertEqual({**told, "facts": 0}, {**read, "facts": 0})

    def test_explain_says_that_its_numbers_stand_still_while_the_source_is_away(self):
        said = self.story.explained_blind
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertRegex(said.stdout, r"(?m)^state of \S+Z \(\S+ ago\)$")
        self.assertRegex(said.stdout, r"(?m)^it stands still: source gateway: .*connect")
        self.assertIsNone(self.story.firing.explained["source_error"])

    def test_the_api_says_what_is_not_there_in_the_shape_of_prometheus(self):
        for status, body in self.story.firing.not_there:
            self.assertEqual(status, 404, body)
            self.assertEqual(json.loads(body)["errorType"], "not_found")

    def test_the_api_lists_what_fires_in_the_shape_of_prometheus(self):
        alert = self.only(self.story.firing.api["data"]["alerts"])
        self.assertEqual(alert["state"], "firing")
        self.assertEqual(alert["labels"]["model"], "judge")

    def test_history_is_the_same_from_the_daemon_and_from_the_file(self):
        self.assertEqual(self.story.history_of_daemon.returncode, 0, self.story.history_of_daemon.stderr)
        self.assertEqual(self.story.history_of_daemon.stdout, self.story.history_of_file.stdout)
        self.assertEqual(self.story.history_of_daemon.stdout, self.story.history_of_named_file.stdout)
        self.assertEqual(self.story.shown_by_daemon.stdout, self.story.shown_by_file.stdout)
        self.assertIn("deliveries", json.loads(self.story.shown_by_file.stdout))

    # ---- killed, reloaded, ended

    def test_a_kill_and_a_restart_leave_the_alert_as_it_was(self):
        before, after = self.only(self.story.firing.alerts), self.only(self.story.after_kill.alerts)
        self.assertEqual(before["startsAt"], after["startsAt"])
        self.assertEqual(before["fingerprint"], after["fingerprint"])
        self.assertEqual(self.story.firing.history, self.story.after_kill.history)

    def test_one_that_was_away_while_it_cleared_tells_the_end_once_with_its_true_time(self):
        self.assert_same_but_for_a_step(self.outage_in(self.story.napping_history))
        self.only(self.story.told("/napping", "firing"))
        alert, post = self.only(self.story.told("/napping", "resolved"))
        self.assertLessEqual(abs(unix(alert["endsAt"]) - unix(self.episode()["resolved_at"])), STEP)
        self.assertGreater(post["at"], unix(alert["endsAt"]))

    def test_an_alertmanager_that_lost_everything_hears_it_again(self):
        before = self.only(self.story.firing.alerts)
        after = self.only(self.story.after_alertmanager_restart)
        self.assertEqual(before["startsAt"], after["startsAt"])
        self.assertEqual(before["labels"], after["labels"])

    def test_a_broken_file_is_refused_and_the_old_configuration_stays(self):
        self.assertEqual(self.story.check.returncode, 78)
        self.assertIn("did you mean 30%?", self.story.check.stderr)
        rules = self.story.after_broken["data"]["groups"][0]["rules"]
        self.assertEqual([rule["state"] for rule in rules], ["inactive", "firing"])
        self.assertEqual(rules[1]["tiers"][0]["threshold"], 0.3)
        log = (self.story.world / "watching.log").read_text()
        self.assertIn("the old configuration stays in force", log)
        self.assertIn("did you mean 30%?", log)

    def test_a_broken_file_is_told_and_so_is_its_end(self):
        alert, _ = self.only(self.story.told_of_config("/hook", "firing"))
        self.assertIn("did you mean 30%?", alert["annotations"]["description"])
        self.only(self.story.told_of_config("/hook", "resolved"))

    def test_a_start_with_a_broken_file_goes_on_with_the_last_good_one_and_says_so(self):
        alert, _ = self.only(self.story.told_of_config("/napping", "firing"))
        self.assertIn("is not in force", alert["annotations"]["description"])
        copy = self.story.world / "state" / "last-good.yaml"
        self.assertEqual(copy.stat().st_mode & 0o777, 0o600)

    def test_a_reload_keeps_the_episode(self):
        self.assertEqual(self.only(self.story.after_good["episodes"])["id"], self.episode()["id"])

    def test_sigterm_ends_it_well_and_soon(self):
        for name, (status, seconds) in self.story.ends.items():
            self.assertEqual(status, 0, name)
            self.assertLess(seconds, 10, name)

    def test_one_tick_by_hand_ends_with_0_and_with_69_where_a_source_is_away(self):
        self.assertEqual(self.story.once.returncode, 0, self.story.once.stderr)
        self.assertEqual(self.story.once_blind.returncode, 69, self.story.once_blind.stderr)
        self.assertIn("source does not answer", self.story.once_blind.stderr)

    def test_its_own_metrics_tell_the_story(self):
        page = self.story.own_page  # Of the last process, which began after the resolve.
        self.assertRegex(page, r'outcomed_alerts\{phase="firing"\} 0\b')
        self.assertRegex(page, r'outcomed_store_commits_total\{result="error"\} 0\b')
        self.assertNotRegex(page, r'outcomed_fetch_errors_total\{.*\} [1-9]')


if __name__ == "__main__":
    unittest.main(verbosity=2)
