"""Prints the messages that outcomed posts. python3 webhook_printer.py PORT"""
import http.server
import json
import sys
import time


class Printer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for alert in body["alerts"]:
            colour = {"firing": "\033[31m", "resolved": "\033[32m"}[alert["status"]]
            on, off = (colour, "\033[0m") if sys.stdout.isatty() else ("", "")
            clock = time.strftime("%H:%M:%S", time.gmtime())
            print(f"\n{clock} {on}{alert['status'].upper()}{off} {alert['annotations']['summary']}")
            print(f"         {alert['annotations']['description']}", flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Printer).serve_forever()
