"""Both halves of a gateway: its metrics through a real Prometheus, its rows in a real PostgreSQL, where
they land seconds late and in batches. In the middle of an outage nobody scrapes the metrics any more.

    python3 postgres_test.py      $OUTCOMED_BUILD: the build folder, $OUTCOMED_PEERS: the peers; two minutes
"""
import contextlib
import json
import pathlib
import signal
import sqlite3
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1])]
import counts  # noqa: E402
from database import Loader, Postgres, sleep_until  # noqa: E402
from processes import World, unix, wait_for  # noqa: E402
from servers import GatewaySim, Journal, Outcomed, Prometheus  # noqa: E402

KEY = "sk-simulated"
# Quiet seconds at both ends, so that nothing is counted before somebody looks or after everybody did.
SCRIPT = """
noise 0.2%
0     15s  quiet
15s   100s absorb    gpt-4o        share=10%
15s   100s timeouts  private/qwen  share=5%
30s   60s  refuse    judge         share=92%
115s  -    quiet
"""
OUTAGE, OUTAGE_ENDS, TRAFFIC_ENDS = 30, 90, 115
STEP, LATE = 5, 12  # Rows land 2 to 12 s after their request ended.


def rule(name, signal_name):
    return {"name": name, "kind": "share", "signal": signal_name, "by": ["model"], "above": "30%",
            "resolve_below": "25%", "window": "30s", "for": "5s", "min_requests": 10, "severity": "page"}


def configuration(sources, preset, rules, hook):
    return {"sources": sources, "presets": [{"litellm": {**preset, "step": f"{STEP}s"}}], "rules": rules,
            "receivers": [{"name": "hook", "webhook": {"url": hook}}]}


class BothHalves(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        world = World()
        cls.addClassCleanup(world.close)
        cls.journal, postgres = Journal(), Postgres()
        cls.addClassCleanup(cls.journal.close)
        cls.addClassCleanup(postgres.close)
        try:
            cls.play(world, postgres)
        except AssertionError as error:
            logs = [f"-- {child.log.name}\n{child.tail(20)}" for child in world.children]
            raise AssertionError("\n".join([str(error), *logs])) from None

    @classmethod
    def play(cls, world, postgres):
        cls.gateway = GatewaySim(world, SCRIPT, KEY, "--version", "1.106.12", "--rate", "40", "--rows",
                                 world / "rows.tsv", "--late", f"{LATE}s")
        loader = Loader(postgres, world / "rows.tsv")
        cls.addClassCleanup(loader.close)
        prometheus = Prometheus(world, cls.gateway.port, KEY)
        metrics = {"kind": "prometheus", "url": prometheus.url, "timeout": "3s", "delay": "2s"}
        ledger = {"kind": "postgres", "host": "127.0.0.1", "port": postgres.port, "dbname": "litellm",
                  "user": "outcomed", "sslmode": "disable", "delay": f"{LATE + 2}s"}
        hook = cls.journal.url
        # Its only rule judges the metrics; the rows are there to compare them with.
        both = Outcomed(world, "both", configuration(
            {"prom": metrics, "ledger": ledger}, {"metrics": "prom", "spend": "ledger"},
            [rule("by_metrics", "requests")], f"{hook}/both"))
        rows = Outcomed(world, "rows", configuration(
            {"ledger": ledger}, {"spend": "ledger"}, [rule("by_rows", "requests")], f"{hook}/rows"))
        wait_for("Prometheus scrapes the gateway", prometheus.scrapes)
        both.start()
        rows.start()
        wait_for("the metrics tell of it", lambda: cls.told("/both", "firing"), 60)
        # From here on Prometheus scrapes nothing.
        file = world / "prometheus.yml"
        file.write_text(json.dumps({**json.loads(file.read_text()), "scrape_configs": []}))
        prometheus.child.process.send_signal(signal.SIGHUP)
        cls.frozen_at = time.time()
        wait_for("the rows tell of it", lambda: cls.told("/rows", "firing"), 40)
        wait_for("the rows tell its end", lambda: cls.told("/rows", "resolved"), 120)
        sleep_until(cls.gateway.began + TRAFFIC_ENDS + LATE + 2 + STEP)
        wait_for("all rows are there", lambda: loader.error or loader.rows >= len(cls.gateway.truth()), 20)
        if loader.error:
            raise AssertionError(loader.error)
        begin = int(cls.gateway.began) - 30
        ask = ("--by", "model,error_class", "--from", begin)
        cls.signals = {"rows": rows.command("signals", "--signal", "requests", *ask),
                       "both": both.command("signals", "--signal", "requests_by_rows", *ask)}
        cls.attempts = int(postgres.psql(
            "-c", """select count(*) from "LiteLLM_SpendLogs" where request_id like '%-attempt-%'"""))
        both.wait_for_ticks(2)
        cls.by_metrics = both.json("history", "list")["episodes"]
        cls.by_rows = rows.json("history", "list")["episodes"]
        cls.ends = [daemon.child.end()[0] for daemon in (both, rows)]
        # While it runs the store is its alone.
        cls.marks = cls.watermarks(both)
        cls.down = cls.alerts(both, "source_down")
        cls.differ = cls.alerts(both, "sources_differ")

    @classmethod
    def told(cls, path, status):
        return cls.journal.told(path, status, model="judge")

    @staticmethod
    def query(daemon, text, *values):
        with contextlib.closing(sqlite3.connect(f"file:{daemon.store}?mode=ro", uri=True)) as store:
            return store.execute(text, values).fetchall()

    @classmethod
    def alerts(cls, daemon, name):
        return cls.query(daemon, "select grouping, phase, severity from alert where rule = ?", name)

    @classmethod
    def watermarks(cls, daemon):
        """When the newest step of each source ended that was read."""
        return dict(cls.query(daemon, "select name, watermark / 1000.0 from source"))

    def only(self, found):
        self.assertEqual(len(found), 1, found)
        return found[0]

    # ---- the rows

    def test_signals_from_rows_equal_what_the_clients_got(self):
        truth = counts.of_clients((r["model"], r["class"] or "") for r in self.gateway.truth())
        self.assertGreater(truth.k["judge", "router_refusal"], 50)
        for name, ended in self.signals.items():
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertEqual(counts.of_signals(ended.stdout), truth, name)

    def test_attempts_have_rows_and_are_no_requests(self):
        self.assertGreater(self.attempts, 0)

    def test_a_failing_model_is_found_from_rows_alone(self):
        episode = self.only(self.by_rows)
        self.assertEqual((episode["rule"], episode["labels"]["model"]), ("by_rows", "judge"))
        outage, over = self.gateway.began + OUTAGE, self.gateway.began + OUTAGE_ENDS
        self.assertTrue(outage < unix(episode["fired_at"]) < outage + 40, episode)
        self.assertTrue(over < unix(episode["resolved_at"]) < over + 40, episode)
        self.only(self.told("/rows", "firing"))
        self.only(self.told("/rows", "resolved"))

    # ---- the metrics, frozen

    def test_an_alert_on_frozen_metrics_neither_resolves_nor_fires_anew(self):
        episode = self.only(self.by_metrics)
        self.assertLess(unix(episode["fired_at"]), self.frozen_at)
        self.assertIsNone(episode["resolved_at"])
        self.only(self.told("/both", "firing"))
        self.assertEqual(self.told("/both", "resolved"), [])

    def test_the_source_without_scrapes_is_on_its_way_to_source_down(self):
        # It fires after five minutes; this test is shorter.
        grouping, phase, severity = self.only(self.down)
        self.assertIn("prom", grouping)
        self.assertEqual((phase, severity), ("pending", "page"))

    def test_the_rows_are_read_for_comparison_though_no_rule_judges_them(self):
        self.assertGreater(self.marks["ledger"], self.gateway.began + TRAFFIC_ENDS)
        # An hour with steps that nobody scraped says nothing.
        self.assertEqual(self.differ, [])

    def test_sigterm_ends_them_well(self):
        self.assertEqual(self.ends, [0, 0])


if __name__ == "__main__":
    unittest.main(verbosity=2)
