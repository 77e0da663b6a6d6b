"""Clients of a gateway: seeded traffic in phases, and what each request got."""
import concurrent.futures
import http.client
import json
import random
import time


def outcome_class(status, message):
    """outcomed's class, from what the client saw; not from the gateway's own names."""
    if status == 200:
        return ""
    if status == 429:
        return "router_refusal" if "No deployments available" in message else "rate_limited"
    return {400: "invalid_request", 401: "authentication", 404: "model_not_found",
            408: "deadline_exceeded"}.get(status, "provider_unavailable" if status >= 500 else "?")


class Clients:
    def __init__(self, gateway_port, key, shares, seed, rate=8.0, streamed=0.4):
        self.port, self.key, self.shares = gateway_port, key, shares
        self.random, self.rate, self.streamed = random.Random(seed), rate, streamed
        self.got = []  # {"phase", "at", "model", "stream", "status", "class", "answered_by"}

    def send_for(self, phase, seconds):
        """Requests at random moments for so long; returns when all are answered."""
        at, began = 0.0, time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            while (at := at + self.random.expovariate(self.rate)) < seconds:
                model = self.random.choices(list(self.shares), list(self.shares.values()))[0]
                stream = self.random.random() < self.streamed
                time.sleep(max(0.0, began + at - time.monotonic()))
                pool.submit(self.one, phase, model, stream)
            time.sleep(max(0.0, began + seconds - time.monotonic()))

    def one(self, phase, model, stream):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps({
                "model": model, "stream": stream, "messages": [{"role": "user", "content": "hi"}]}),
                {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            status, text = answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            status, text = 0, repr(error)  # No counter of the gateway can be right about this one.
        finally:
            connection.close()
        self.got.append({"phase": phase, "at": time.time(), "model": model, "stream": stream,
                         "status": status, "class": outcome_class(status, text),
                         "text": text if status != 200 else "",
                         "answered_by": content(text, stream) if status == 200 else ""})


def content(text, stream):
    """What the answer says; the upstream says its model's name."""
    if not stream:
        return json.loads(text)["choices"][0]["message"]["content"]
    parts = [json.loads(line[6:]) for line in text.splitlines()
             if line.startswith("data: {")]
    return "".join(choice["delta"].get("content") or ""
                   for part in parts for choice in part.get("choices", []))
