"""An OpenAI-like server that answers chat completions, streamed or not, and fails on command."""
import http.server
import json
import threading
import time

FAILURES = {400: "invalid_request_error", 429: "rate_limit_exceeded", 500: "server_error",
            503: "server_error"}
MESSAGES = {400: "This model's maximum context length is 8 tokens."}


class Upstream:
    def __init__(self):
        self.failing = {}  # Provider's model -> status it answers with; all others work.
        self.asked = []  # The text of each request, in the order in which they came.
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                upstream.asked.append(asked["messages"][-1]["content"])
                status = upstream.failing.get(asked["model"], 200)
                if status != 200:
                    self.whole(status, {"error": {
                        "message": MESSAGES.get(status, "as told"), "type": FAILURES[status]}})
                elif asked.get("stream"):
                    self.stream(asked["model"])
                else:
                    self.whole(200, completion(asked["model"], "chat.completion", usage=True, message={
                        "role": "assistant", "content": asked["model"]}))

            def whole(self, status, document):
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def stream(self, model):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for chunk in (
                        completion(model, "chat.completion.chunk", delta={
                            "role": "assistant", "content": model}, finish=None),
                        completion(model, "chat.completion.chunk", delta={}),
                        {**completion(model, "chat.completion.chunk", usage=True), "choices": []}):
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")
                self.close_connection = True

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 64
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def completion(model, kind, usage=False, finish="stop", **part):
    document = {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": model,
                "choices": [{"index": 0, "finish_reason": finish, **part}]}
    if usage:
        document["usage"] = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}
    return document
