"""The one server of a run: the Prometheus that outcomed reads, and the webhooks that it tells. It writes
down every notification before it answers."""
import http.server
import json
import threading
import time
import urllib.parse

from processes import fetch


class Journal:
    """What was accepted, in order."""

    def __init__(self, entries=()):
        self.entries = list(entries)  # (receiver, key, [(status, episode, labels)])
        self.changed = threading.Condition()

    def write(self, path, key, body):
        news = [(alert["status"], alert["annotations"]["episode"],
                 tuple(sorted(alert["labels"].items()))) for alert in body["alerts"]]
        with self.changed:
            self.entries.append((path, key, news))
            self.changed.notify_all()

    def news(self):
        """Every (receiver, episode, status) that was told."""
        return {(path, name, status) for path, _, news in list(self.entries) for status, name, _ in news}

    def wait_for(self, condition, seconds):
        with self.changed:
            return self.changed.wait_for(condition, seconds)


class StoryServer:
    def __init__(self, gateway, journal):
        self.gateway, self.journal = gateway, journal
        self.open_connections = 0
        self.throttled = ()  # Receivers that want to be left alone for five minutes.
        story, lock = self, threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1  # An answer is one packet: the other side makes the same calls each time.

            def setup(self):
                super().setup()
                with lock:
                    story.open_connections += 1

            def finish(self):
                with lock:
                    story.open_connections -= 1
                super().finish()

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except ConnectionError:  # The other side was killed.
                    self.close_connection = True

            def do_GET(self):
                self.answer(200 if self.path == "/idle" else 404, "no such page")

            def do_POST(self):
                size = int(self.headers["Content-Length"])
                body = self.rfile.read(size)
                if len(body) < size:
                    self.close_connection = True
                elif self.path == "/api/v1/query":
                    form = dict(urllib.parse.parse_qsl(body.decode()))
                    self.answer(200, story.gateway.answer(form["query"], float(form["time"])))
                elif self.path[1:] in story.throttled:
                    self.answer(429, "", ("Retry-After", "300"))
                elif self.path in ("/oncall", "/desk"):
                    story.journal.write(self.path[1:], self.headers["Idempotency-Key"], json.loads(body))
                    self.answer(200, "")
                else:  # Remote read and export: the source falls back to range selectors.
                    self.answer(404, "no such page")

            def answer(self, status, text, *headers):
                data = text.encode()
                self.send_response(status)
                for name, value in [("Content-Type", "application/json"), *headers]:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def drain(self):
        """Waits until everything is read that a killed process had sent. A connection of its own comes
        behind those that still wait to be accepted."""
        status, text = fetch(f"{self.url}/idle")
        if status != 200:
            raise AssertionError(f"the story's server answers {status}: {text}")
        deadline = time.monotonic() + 10
        while self.open_connections > 0:
            if time.monotonic() > deadline:
                raise AssertionError("a connection of the killed process stays open")
            time.sleep(0.001)

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
