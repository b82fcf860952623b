#!/usr/bin/env python3
"""Receives pushed events, with Python's standard library alone, and shows each one once.

    VENTANILLA_WEBHOOK_SECRET=whsec_... PORT=8090 python3 webhook.py

The operator of the service sets the URL (`ventanilla partner endpoint set`) and gives you the secret. After a rotation
give both secrets, separated by a space. Put a server with TLS in front.
"""
import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

TOLERANCE_SECONDS = 300
# An event is far smaller.
MAX_BODY_BYTES = 64 * 1024

# The ids of processed events. Keep them in your database, in the transaction that processes the event.
processed = set()


class Refused(Exception):
    """The request is no push of the service."""


def verify(body, headers, secrets):
    """The event of a pushed request, as https://www.standardwebhooks.com says. `body` is the bytes as they came."""
    parts = [headers.get(name, "") for name in ("webhook-id", "webhook-timestamp", "webhook-signature")]
    if "" in parts:
        raise Refused("a header is missing")
    event_id, timestamp, signatures = parts
    if not timestamp.isdecimal() or len(timestamp) > 12 or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise Refused("the time of the push is too far from this machine's clock")
    signed = f"{event_id}.{timestamp}.".encode() + body
    for secret in secrets:
        mac = hmac.new(base64.b64decode(secret.removeprefix("whsec_")), signed, hashlib.sha256).digest()
        expected = "v1," + base64.b64encode(mac).decode()
        # The comparison takes as long for a wrong signature as for a right one.
        if any(hmac.compare_digest(expected.encode(), one.encode()) for one in signatures.split(" ")):
            return json.loads(body)
    raise Refused("no signature fits: is the secret the right one?")


def handle(event):
    if event["id"] in processed:
        return
    # The type alone is shown here; event["data"] has the application.
    print(event["timestamp"], event["type"], event["data"].get("id", ""), flush=True)
    processed.add(event["id"])


class Handler(http.server.BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            return self.answer(413)
        try:
            # The service waits 10 seconds for a 2xx, and pushes the event again otherwise.
            handle(verify(self.rfile.read(int(length)), self.headers, self.server.secrets))
        except Refused as refusal:
            print(f"refused: {refusal}", file=sys.stderr, flush=True)
            return self.answer(400)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_args):
        pass


def main():
    secrets = os.environ.get("VENTANILLA_WEBHOOK_SECRET", "").split()
    if not secrets:
        raise SystemExit(__doc__)
    with http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8090"))), Handler) as server:
        server.secrets = secrets
        print(f"listening on port {server.server_port}", file=sys.stderr, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
