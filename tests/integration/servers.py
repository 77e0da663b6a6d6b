"""The servers around outcomed, and outcomed itself, as integration tests need them."""
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

from processes import Child, fetch, fetch_json, free_port, wait_for

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PEERS = pathlib.Path(os.environ.get("OUTCOMED_PEERS", SOURCE / "build" / "peers")).resolve() / "bin"
BUILD = pathlib.Path(os.environ.get("OUTCOMED_BUILD", SOURCE / "build" / "release")).resolve()
OUTCOMED = BUILD / "outcomed"
GATEWAY_SIM = BUILD / "tests" / "support" / "gateway_sim" / "gateway_sim"


def program(path, remedy):
    if not path.exists():
        raise AssertionError(f"{path} is missing: {remedy}")
    return path


def peer(name):
    return program(PEERS / name, "run tests/peers.sh (or set OUTCOMED_PEERS)")


class Prometheus:
    """Scrapes one gateway every second."""

    def __init__(self, world, gateway_port, key=None):
        self.world, self.url = world, f"http://127.0.0.1:{free_port()}"
        job = {"job_name": "litellm", "metrics_path": "/metrics",
               "static_configs": [{"targets": [f"127.0.0.1:{gateway_port}"]}]}
        if key:
            job["authorization"] = {"credentials": key}
        # JSON is YAML.
        (world / "prometheus.yml").write_text(json.dumps(
            {"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": [job]}))
        self.start()

    def start(self):
        self.child = self.world.start("prometheus", [
            peer("prometheus"), f"--config.file={self.world / 'prometheus.yml'}",
            f"--storage.tsdb.path={self.world / 'tsdb'}", f"--web.listen-address={self.url[7:]}"],
            f"{self.url}/-/ready")

    def scrapes(self):
        """How often the gateway was scraped with success."""
        answer = fetch_json(f"{self.url}/api/v1/query?query=sum_over_time(up[1h])")
        return sum(int(series["value"][1]) for series in answer["data"]["result"])


class Alertmanager:
    """Notifies a webhook of every change at once."""

    def __init__(self, world, hook_url):
        self.world, self.url = world, f"http://127.0.0.1:{free_port()}"
        (world / "alertmanager.yml").write_text(json.dumps({
            "route": {"receiver": "hook", "group_by": ["..."], "group_wait": "0s",
                      "group_interval": "1s", "repeat_interval": "1h"},
            "receivers": [{"name": "hook", "webhook_configs": [{"url": hook_url}]}]}))
        self.start()

    def start(self):
        self.child = self.world.start("alertmanager", [
            SOURCE / "tests" / "support" / "alertmanager.sh", peer("prometheus-alertmanager"),
            f"--config.file={self.world / 'alertmanager.yml'}",
            f"--storage.path={self.world / 'alertmanager'}",
            f"--web.listen-address={self.url[7:]}", "--cluster.listen-address="],
            f"{self.url}/-/ready")

    def alerts(self):
        return fetch_json(f"{self.url}/api/v2/alerts")


class Journal:
    """A webhook receiver that writes down what it is told. It refuses the first post to `refuse_once`."""

    def __init__(self, refuse_once=None):
        self.posts = []  # {"path", "at", "status", "key", "body"}
        journal, refused, lock = self, [], threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    status = 200
                    if self.path == refuse_once and not refused:
                        refused.append(self.path)
                        status = 503
                    journal.posts.append({"path": self.path, "at": time.time(), "status": status,
                                          "key": self.headers.get("Idempotency-Key"), "body": body})
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def told(self, path, status, accepted=True, **labels):
        """The alerts of this status and these labels in the posts to `path`, each with its post."""
        return [(alert, post) for post in list(self.posts) if post["path"] == path
                and (post["status"] == 200) == accepted
                for alert in post["body"]["alerts"] if alert["status"] == status
                and labels.items() <= alert["labels"].items()]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Outcomed:
    """The daemon with one configuration, and the commands beside it."""

    def __init__(self, world, name, config, environment=None):
        """`config` is a dict; store and http are added."""
        self.world, self.name, self.port = world, name, free_port()
        self.environment = {**os.environ, **(environment or {})}
        self.config = world / f"{name}.yaml"
        self.store = world / f"{name}.db"
        self.document = {**config, "store": {"sqlite": str(self.store)},
                         "http": {"listen": f"127.0.0.1:{self.port}"}}
        self.write(self.document)
        self.child = None

    def write(self, document):
        self.config.write_text(json.dumps(document, indent=1))

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def start(self):
        self.child = self.world.start(self.name, [
            program(OUTCOMED, "run tests/run --build (or set OUTCOMED_BUILD)"), "run", "--config",
            self.config], self.url("/-/ready"), env=self.environment)

    def signal(self, number):
        self.child.process.send_signal(number)

    def kill(self):
        return self.child.end(signal.SIGKILL)

    def command(self, *words, config=None):
        """Runs a command to its end."""
        words = [str(word) for word in words]
        return subprocess.run([OUTCOMED, *words, "--config", config or self.config], text=True,
                              capture_output=True, timeout=120, env=self.environment, check=False)

    def json(self, *words, config=None):
        ended = self.command(*words, "--format", "json", config=config)
        if ended.returncode != 0:
            raise AssertionError(f"outcomed {' '.join(words)} ends with {ended.returncode}:\n{ended.stderr}")
        return json.loads(ended.stdout)

    def metric(self, name):
        """The sum of the series of this name on its own metrics page."""
        _, page = fetch(self.url("/metrics"))
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", page, re.M))

    def wait_for_ticks(self, count):
        wanted = self.metric("outcomed_ticks_total") + count
        wait_for(f"{count} ticks of {self.name}",
                 lambda: self.metric("outcomed_ticks_total") >= wanted)

    def without_daemon(self):
        """A configuration like its own whose API nobody answers: commands go to the sources."""
        path = self.world / f"{self.name}-alone.yaml"
        path.write_text(json.dumps({**self.document, "http": {"listen": f"127.0.0.1:{free_port()}"}}))
        return path


class GatewaySim:
    """A simulated gateway that plays a script and writes down what each client got."""

    def __init__(self, world, script, key, *words):
        self.port, self.truth_file, self.key = free_port(), world / "truth.jsonl", key
        (world / "script.txt").write_text(script)
        self.began = time.time()
        self.child = world.start("gateway_sim", [
            program(GATEWAY_SIM, "build the target gateway_sim"), "--port", self.port, "--key", key,
            "--script", world / "script.txt", "--truth", self.truth_file, *words],
            f"http://127.0.0.1:{self.port}/health/readiness")

    def truth(self):
        return [json.loads(line) for line in self.truth_file.read_text().splitlines()]
