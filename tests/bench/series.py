"""Counters as a LiteLLM gateway has them, written straight into Prometheus (remote write) or
VictoriaMetrics (import): for each API key 350 series, 50 of requests by model and 300 of failures by
model and error class, and two of the target. Keys differ in their labels only, so that many are cheap
to make; every series is a series of its own to the server.
"""
import http.client
import json
import random
import struct
import urllib.parse

FAILED = "litellm_proxy_failed_requests_metric_total"
ALL = "litellm_proxy_total_requests_metric_total"
MODELS = 50
CLASSES = [("429", "RateLimitError"), ("500", "InternalServerError"), ("503", "ServiceUnavailableError"),
           ("400", "BadRequestError"), ("401", "AuthenticationError"), ("408", "Timeout")]
TARGET = {"instance": "litellm-0:4000", "job": "litellm"}


class History:
    """`times` in Unix milliseconds, the same for all series."""

    def __init__(self, keys, begin_ms, interval_ms, count, seed=1):
        self.keys = keys
        self.times = [begin_ms + i * interval_ms for i in range(count)]
        self.patterns = list(self._patterns(random.Random(seed)))

    def _patterns(self, rnd):
        """Labels without the key, values."""
        for number in range(MODELS):
            rate = 2 + 3 * (number % 17)
            asked = [rnd.randrange(2 * rate) for _ in self.times]
            model = {"requested_model": f"model-{number:03d}"}
            yield {"__name__": ALL, **model}, self._counter(asked)
            for index, (status, name) in enumerate(CLASSES):
                # A few groups lie above every line; the rest far below.
                share = 0.3 if number % 25 == 3 and index == 1 else 0.004
                failed = [sum(rnd.random() < share for _ in range(n)) for n in asked]
                yield ({"__name__": FAILED, **model, "exception_status": status, "exception_class": name},
                       self._counter(failed))

    @staticmethod
    def _counter(increments):
        values, total = [], 1000
        for increment in increments:
            total += increment
            values.append(total)
        return values

    def series(self):
        """Labels and the number of the pattern; the target's own two are `targets()`."""
        for key in range(self.keys):
            alias = {"api_key_alias": f"team-{key % 17:02d}-key-{key:03d}", "team": f"team-{key % 17:02d}",
                     "hashed_api_key": f"{(key * 2654435761 + 12345) % (1 << 64):016x}" * 4,
                     "user": "default_user_id", "route": "/chat/completions"}
            for number, (labels, _) in enumerate(self.patterns):
                yield {**TARGET, **alias, **labels}, number

    def targets(self):
        started = self.times[0] / 1000 - 3600
        return [({**TARGET, "__name__": "up"}, 1), ({**TARGET, "__name__": "process_start_time_seconds"}, started)]

    def count(self):
        return self.keys * len(self.patterns)


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(tag, payload):
    return bytes([tag << 3 | 2]) + varint(len(payload)) + payload


def snappy(data):
    """A valid snappy block of literals: nothing is packed."""
    out = [varint(len(data))]
    for begin in range(0, len(data), 65536):
        piece = data[begin:begin + 65536]
        out += [b"\xf4" + struct.pack("<H", len(piece) - 1), piece]
    return b"".join(out)


class Poster:
    def __init__(self, url):
        parts = urllib.parse.urlparse(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=600)
        self.path = parts.path

    def __call__(self, body, headers):
        self.connection.request("POST", self.path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status // 100 != 2:
            raise SystemExit(f"POST {self.path}: {answer.status} {text[:300]!r}")


def write_remote(history, url):
    """Into a Prometheus, 20 samples of every series in a request."""
    post = Poster(f"{url}/api/v1/write")
    headers = {"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf",
               "X-Prometheus-Remote-Write-Version": "0.1.0"}
    times = [b"\x10" + varint(at) for at in history.times]

    def encode(labels):
        return b"".join(field(1, field(1, name.encode()) + field(2, labels[name].encode()))
                        for name in sorted(labels))

    def samples(values, first):
        return b"".join(b"\x12" + bytes([9 + len(at)]) + b"\x09" + struct.pack("<d", value) + at
                        for value, at in zip(values, times[first:first + 20]))

    series = [(encode(labels), number) for labels, number in history.series()]
    targets = [(encode(labels), value) for labels, value in history.targets()]
    for first in range(0, len(times), 20):
        blobs = [samples(values[first:first + 20], first) for _, values in history.patterns]
        parts = [field(1, labels + samples([value] * 20, first)) for labels, value in targets]
        parts += [field(1, labels + blobs[number]) for labels, number in series]
        post(snappy(b"".join(parts)), headers)


def write_import(history, url):
    """Into a VictoriaMetrics, in requests of about 16 MB."""
    post = Poster(f"{url}/api/v1/import")
    times = json.dumps(history.times)
    texts = [json.dumps(values) for _, values in history.patterns]
    lines = [(labels, json.dumps([value] * len(history.times))) for labels, value in history.targets()]
    lines += [(labels, texts[number]) for labels, number in history.series()]
    body, size = [], 0
    for labels, values in lines:
        body.append(f'{{"metric":{json.dumps(labels)},"values":{values},"timestamps":{times}}}\n')
        size += len(body[-1])
        if size > 16 << 20:
            post("".join(body), {})
            body, size = [], 0
    post("".join(body), {})
