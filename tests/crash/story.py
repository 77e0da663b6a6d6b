"""What the gateway's counters show and what is configured. Counters are a function of time alone, so a
program that comes back after a crash reads the same past again."""
import json
import re

SCRAPES = 4  # In each step.
RATE = 25  # Requests of each model between two scrapes;
FAILING = 20  # so many of them fail in an outage.
MODELS = ("judge", "coder", "writer")
FAILED = "litellm_proxy_failed_requests_metric_total"
SERVED = "litellm_request_total_latency_metric_count"
TARGET = {"job": "litellm", "instance": "gateway:4000"}

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(duration):
    return sum(int(number) * UNITS[unit] for number, unit in re.findall(r"(\d+)(ms|[smhd])", duration))


class Gateway:
    """A gateway with three models. `outages` holds (model, begin, end), Unix seconds on the grid of steps;
    an end of None is not known yet. What was shown once must not be changed."""

    def __init__(self, started, step, outages):
        self.started, self.scrape_interval, self.outages = started, step / SCRAPES, outages

    def failed(self, model, scrape):
        """Failures up to the scrape of this number."""
        count = 0
        for name, begin, end in list(self.outages):
            if name == model:
                first = round((begin - self.started) / self.scrape_interval)
                last = scrape if end is None else round((end - self.started) / self.scrape_interval)
                count += max(0, min(scrape, last) - first)
        return FAILING * count

    def series(self, names, begin, end):
        """All series of these metrics, with their samples in (begin, end]."""
        first = max(0, int((begin - self.started) // self.scrape_interval) + 1)
        last = int((end - self.started) // self.scrape_interval)
        scrapes = range(first, last + 1)
        for labels, value in self.counters(names):
            values = [[self.started + number * self.scrape_interval, str(value(number))]
                      for number in scrapes]
            # A client library shows a counter from its first event on.
            values = [pair for pair in values if pair[1] != "0"]
            if values:
                yield {"metric": labels, "values": values}

    def counters(self, names):
        if "up" in names:
            yield {"__name__": "up", **TARGET}, lambda _: 1
        if "process_start_time_seconds" in names:
            yield {"__name__": "process_start_time_seconds", **TARGET}, lambda _: self.started - 1
        for model in MODELS:
            labels = {"requested_model": model, **TARGET}
            if FAILED in names:
                yield ({"__name__": FAILED, "exception_class": "RouterRateLimitError",
                        "exception_status": "429", "route": "/chat/completions", **labels},
                       lambda number, model=model: self.failed(model, number))
            if SERVED in names:
                yield ({"__name__": SERVED, **labels},
                       lambda number, model=model: RATE * number - self.failed(model, number))

    def answer(self, query, at):
        """The reply of /api/v1/query to SELECTOR[RANGE]."""
        selector, duration = re.fullmatch(r"(.*)\[(\w+)\]", query).groups()
        by_pattern = re.search(r'__name__=~?"([^"]*)"', selector)
        name = by_pattern.group(1) if by_pattern else re.match(r"\w+", selector).group()
        result = list(self.series(set(name.split("|")), at - seconds(duration), at))
        return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def configuration(server, api, store, step, window, hold):
    """Durations are texts. One receiver of pages and one of tickets."""
    return json.dumps({
        "sources": {"prom": {"kind": "prometheus", "url": server, "delay": "0s", "timeout": "900ms",
                             "backfill": "range", "lookback": "20s" if step == "1s" else "5m"}},
        "presets": [{"litellm": {"metrics": "prom", "version": "1.106.12", "step": step}}],
        "rules": [
            {"name": "gateway_failures", "kind": "share", "signal": "requests", "above": "10%",
             "window": window, "for": hold, "severity": "page"},
            {"name": "model_failures", "kind": "share", "signal": "requests",
             "by": ["model", "error_class"], "window": window, "min_requests": 20, "min_failures": 5,
             "tiers": [{"above": "5%", "for": step, "severity": "ticket"},
                       {"above": "30%", "for": hold, "severity": "page"}]}],
        "receivers": [{"name": "oncall", "webhook": {"url": f"{server}/oncall", "timeout": "5s"}},
                      {"name": "desk", "webhook": {"url": f"{server}/desk", "timeout": "5s"}}],
        "route": {"receiver": "oncall", "group_by": ["rule"],
                  "routes": [{"matchers": ['severity="ticket"'], "receiver": "desk"}]},
        "store": {"sqlite": str(store)},
        "http": {"listen": f"127.0.0.1:{api}"}}, indent=1)
