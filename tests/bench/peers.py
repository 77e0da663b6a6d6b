"""The servers that outcomed is measured against, and outcomed itself. Processes, ports and folders come
from the integration tests."""
import http.server
import json
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from processes import World, fetch, fetch_json, free_port, wait_for  # noqa: E402,F401
from servers import GATEWAY_SIM, OUTCOMED, Outcomed, peer, program  # noqa: E402,F401


def version(name):
    """The first line of what the program says of itself; `go install` leaves that empty, newest_peers not."""
    noted = peer(name).with_name(name + ".version")
    if noted.exists():
        return f"{name}: {noted.read_text().strip()}"
    flag = "--version" if name.startswith("prom") else "-version"
    ended = subprocess.run([peer(name), flag], capture_output=True, text=True, check=False)
    said = (ended.stdout + ended.stderr).strip().splitlines()
    return f"{name}: {said[0] if said else 'says no version'}"


class Server:
    """A server of metrics: `url`, `pid`, `name`."""

    def __init__(self, world, name, words, ready):
        self.name = name
        self.child = world.start(name, words, f"{self.url}{ready}", seconds=120)
        self.pid = self.child.process.pid

    def stop(self):
        self.child.end(seconds=60)

    def query(self, expression, at):
        answer = fetch_json(f"{self.url}/api/v1/query?time={at}&nocache=1&query={expression}")
        return answer["data"]["result"]

    def metric(self, name):
        """The sum of the series of this name on the server's own page."""
        status, page = fetch(f"{self.url}/metrics", timeout=30)
        assert status == 200, page
        return sum(float(line.rsplit(" ", 1)[1]) for line in page.splitlines()
                   if line.startswith((name + "{", name + " ")))


class Prometheus(Server):
    """With rules where a file is named; scrapes nothing."""

    def __init__(self, world, data, rules=None, name="prometheus"):
        self.url = f"http://127.0.0.1:{free_port()}"
        self.config = world / f"{name}.yml"
        self.configure(rules)
        super().__init__(world, name, [
            peer("prometheus"), f"--config.file={self.config}", f"--storage.tsdb.path={data}",
            "--storage.tsdb.retention.time=400d", "--web.enable-remote-write-receiver",
            "--web.enable-lifecycle", "--query.max-samples=500000000", "--log.level=warn",
            f"--web.listen-address={self.url[7:]}"], "/-/ready")

    def configure(self, rules=None):
        # JSON is YAML.
        self.config.write_text(json.dumps({"rule_files": [str(rules)] if rules else []}))


class VictoriaMetrics(Server):
    def __init__(self, world, data, name="victoria-metrics"):
        self.url = f"http://127.0.0.1:{free_port()}"
        # The latest samples are wanted now, as Prometheus gives them.
        super().__init__(world, name, [
            peer("victoria-metrics"), f"-storageDataPath={data}", "-retentionPeriod=12",
            "-loggerLevel=WARN", "-search.latencyOffset=0s", f"-httpListenAddr={self.url[7:]}"],
            "/health")


class Vmalert(Server):
    """Evaluates a rule file over a VictoriaMetrics and keeps its state there."""

    def __init__(self, world, rules, source, notifier, name="vmalert"):
        self.url = f"http://127.0.0.1:{free_port()}"
        super().__init__(world, name, [
            peer("vmalert"), f"-rule={rules}", f"-datasource.url={source}", f"-remoteWrite.url={source}",
            f"-remoteRead.url={source}", f"-notifier.url={notifier}", "-loggerLevel=WARN",
            f"-httpListenAddr={self.url[7:]}"], "/health")


class Listener:
    """Takes every message and drops it."""

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
