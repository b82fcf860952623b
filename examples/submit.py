#!/usr/bin/env python3
"""Submits the applications of a file, with Python's standard library alone.

    VENTANILLA_URL=https://host/DEV VENTANILLA_API_KEY=... python3 submit.py batch.json

The file is {"applications": [...]} with any number of applications. After a crash run the program again, within 24 hours
and with the same file: you get the same answers, and nobody is registered twice. Put corrected applications into a new
file. The exit code is 0 where all were registered, 2 where some were not, and 1 after an error.
"""
import hashlib
import http.client
import json
import os
import queue
import random
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

BATCH_SIZE = 100
ATTEMPTS = 7
TIMEOUT_SECONDS = 15
# An answer is far smaller.
MAX_ANSWER_BYTES = 4 * 1024 * 1024


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Makes an error of a 3xx, because the key must not follow a redirect to another server."""

    def redirect_request(self, *_args):
        return None


# A proxy can read plain HTTP but not HTTPS, so only HTTPS goes through a proxy.
PROXIES = {scheme: url for scheme, url in urllib.request.getproxies().items() if scheme == "https"}
OPENER = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler(PROXIES))


def read_applications(path):
    """The applications of the file."""
    with open(path, encoding="utf-8-sig") as file:
        content = json.load(file)
    applications = content.get("applications") if isinstance(content, dict) else None
    if not isinstance(applications, list):
        raise ValueError('the file has no list "applications"')
    return applications


def echo_of(application):
    """The ID number as the service repeats it: a text without spaces around it, at most 64 characters long; a whole
    number as a text; else None."""
    fields = application if isinstance(application, dict) else {}
    value = next((fields[name] for name in ("id_number", "cedula") if fields.get(name) is not None), None)
    if isinstance(value, str):
        return value.strip()[:64]
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53
    return str(value) if is_number else None


def batches(applications):
    """Lists of at most 100 applications. No list has an id_number twice, because it tells the outcomes apart."""
    batch, seen = [], set()
    for application in applications:
        if len(batch) == BATCH_SIZE or echo_of(application) in seen:
            yield batch
            batch, seen = [], set()
        batch.append(application)
        seen.add(echo_of(application))
    if batch:
        yield batch


def answer_to(request):
    """Status, headers and body of the answer. An OSError where the answer is too long or takes too long: the timeout of
    a socket alone would begin again with each byte."""
    def read():
        try:
            response = OPENER.open(request, timeout=TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            return response.code, response.headers, response.read(MAX_ANSWER_BYTES + 1)

    ended = queue.SimpleQueue()

    def run():
        try:
            ended.put((read(), None))
        except Exception as error:
            ended.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        answer, error = ended.get(timeout=TIMEOUT_SECONDS)
    except queue.Empty:
        raise TimeoutError(f"no answer within {TIMEOUT_SECONDS} s") from None
    if error is not None:
        raise error
    if len(answer[2]) > MAX_ANSWER_BYTES:
        raise OSError("the answer is too long: is this the URL of the service?")
    return answer


def post(url, api_key, body, idempotency_key):
    """The answer to one batch. Retries a 500 and a lost connection. The Idempotency-Key makes that safe, whether
    the lost request was registered or not."""
    headers = {
        "X-API-Key": api_key,
        "Content-Type": "application/json",
        "Idempotency-Key": idempotency_key,
    }
    for attempt in range(1, ATTEMPTS + 1):
        retry_after = None
        try:
            request = urllib.request.Request(url, body, headers, method="POST")
            status, answer_headers, answer = answer_to(request)
            if status == 200:
                return json.loads(answer)
            if status < 500:
                raise SystemExit(f"HTTP {status}: {answer[:1000].decode(errors='replace')}")
            problem, retry_after = f"HTTP {status}", answer_headers.get("Retry-After")
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = str(error)
        if attempt == ATTEMPTS:
            raise SystemExit(f"No answer after {ATTEMPTS} attempts ({problem}). Run it again later.")
        wait = min(2 ** (attempt - 1), 30) * random.uniform(0.5, 1)
        if retry_after and retry_after.isdecimal():
            wait = max(wait, int(retry_after))
        print(f"{problem}, next attempt in {wait:.1f} s", file=sys.stderr)
        time.sleep(wait)


def submit(url, api_key, applications):
    """Yields the entry of `results` or of `errors_detail` for each application."""
    for number, batch in enumerate(batches(applications)):
        body = json.dumps({"applications": batch}).encode()
        answer = post(url, api_key, body, f"{number}-{hashlib.sha256(body).hexdigest()}")
        # A 200 says that the batch was read, not that all of its applications were registered.
        results = answer.get("results") or answer.get("resultados") or []
        errors = answer.get("errors_detail") or answer.get("errores_detalle") or []
        by_echo = {entry.get("id_number", entry.get("cedula")): entry for entry in results + errors}
        if by_echo.keys() != {echo_of(application) for application in batch}:
            raise SystemExit("The answer does not fit the batch.")
        for application in batch:
            yield by_echo[echo_of(application)]


def main():
    url = os.environ.get("VENTANILLA_URL")
    api_key = os.environ.get("VENTANILLA_API_KEY", "").strip()
    if len(sys.argv) != 2 or not url or not api_key:
        raise SystemExit(__doc__)
    parts = urllib.parse.urlsplit(url)
    is_here = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here):
        raise SystemExit("VENTANILLA_URL must begin with https://: others could read the API key and the applicants.")
    # The library's own error would show the key.
    if not api_key.isascii() or not api_key.isprintable():
        raise SystemExit("VENTANILLA_API_KEY has a character that no key has.")
    registered = refused = 0
    for number, entry in enumerate(submit(url, api_key, read_applications(sys.argv[1])), start=1):
        if "error" in entry:
            refused += 1
            print(f"application {number}: not registered: {entry['error']}")
        else:
            registered += 1
            print(f"application {number}: {entry['decision']}, score {entry['score']}, id {entry['id']}")
    print(f"{registered} registered, {refused} not")
    return 2 if refused else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError) as error:
        raise SystemExit(f"error: {error}")
