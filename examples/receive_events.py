#!/usr/bin/env python3
"""An endpoint for partner events, with Python's standard library alone.

    VENTANILLA_WEBHOOK_SECRET=whsec_... python3 receive_events.py 9000

Put a proxy with TLS before it. It prints each event once, as a line of JSON. A real endpoint stores the event and its ID
before it answers, and processes it afterwards.
"""
import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
MAX_BYTES = 65_536
SECRET = os.environ["VENTANILLA_WEBHOOK_SECRET"]
seen = set()


def verified_event(secret, headers, body, now=None):
    """The event of a push; raises ValueError where the push is not genuine. `body` is the bytes as they came."""
    push_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isascii() or not timestamp.isdecimal():
        raise ValueError("webhook-timestamp is missing")
    if abs((now or time.time()) - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the push is too old, or the clock is wrong")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{push_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    signatures = headers.get("webhook-signature", "").encode().split(b" ")
    if not any(hmac.compare_digest(expected, one) for one in signatures):
        raise ValueError("the signature does not fit")
    return json.loads(body)


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        try:
            event = verified_event(SECRET, self.headers, body)
        except ValueError:
            return self.answer(400)
        if event["id"] not in seen:
            seen.add(event["id"])
            print(json.dumps(event), flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args):
        """Says nothing: standard output has the events alone."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Endpoint).serve_forever()
