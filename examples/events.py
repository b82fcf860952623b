#!/usr/bin/env python3
"""Shows what became of your applications, with Python's standard library alone.

    VENTANILLA_URL=https://host/PRO VENTANILLA_API_KEY=... python3 events.py cursor.txt [--follow]

The file keeps the cursor: the id of the last event that was shown. The next run goes on from there, also after a
crash. With --follow the program waits for more events until Ctrl-C. The exit code is 1 after an error.
"""
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

ATTEMPTS = 7
TIMEOUT_SECONDS = 15
# An answer is far smaller.
MAX_ANSWER_BYTES = 4 * 1024 * 1024
POLL_SECONDS = 5


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Makes an error of a 3xx, because the key must not follow a redirect to another server."""

    def redirect_request(self, *_args):
        return None


# A proxy can read plain HTTP but not HTTPS, so only HTTPS goes through a proxy.
PROXIES = {scheme: url for scheme, url in urllib.request.getproxies().items() if scheme == "https"}
OPENER = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler(PROXIES))


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


def get(url, api_key):
    """The JSON of an answer. Retries a 500 and a lost connection."""
    for attempt in range(1, ATTEMPTS + 1):
        retry_after = None
        try:
            request = urllib.request.Request(url, headers={"X-API-Key": api_key, "Accept-Language": "en"})
            status, headers, answer = answer_to(request)
            if status == 200:
                return json.loads(answer)
            if status == 410:
                raise SystemExit(
                    "The events after the cursor are no longer kept. Remove the cursor file to begin with the oldest "
                    "event, and check the applications that matter."
                )
            if status < 500:
                raise SystemExit(f"HTTP {status}: {answer[:1000].decode(errors='replace')}")
            problem, retry_after = f"HTTP {status}", headers.get("Retry-After")
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = str(error)
        if attempt == ATTEMPTS:
            raise SystemExit(f"No answer after {ATTEMPTS} attempts ({problem}). Run it again later.")
        wait = min(2 ** (attempt - 1), 30) * random.uniform(0.5, 1)
        if retry_after and retry_after.isdecimal():
            wait = max(wait, int(retry_after))
        print(f"{problem}, next attempt in {wait:.1f} s", file=sys.stderr)
        time.sleep(wait)


def events(url, api_key, cursor, follow):
    """Yields the events after the cursor, in order. None begins with the oldest event that the service keeps."""
    while True:
        query = {"limit": 100} if cursor is None else {"limit": 100, "after": cursor}
        page = get(f"{url.rstrip('/')}/events?{urllib.parse.urlencode(query)}", api_key)
        yield from page["events"]
        cursor = page["next"]
        if page["has_more"]:
            continue
        if not follow:
            return
        time.sleep(POLL_SECONDS)


def describe(event):
    data = event["data"]
    if event["type"] == "application.status_changed":
        return f"application {data['id']}: {data['from']} -> {data['to']} ({data['reason_code']})"
    if event["type"] == "application.interested":
        return f"application {data['id']}: the applicant is interested"
    if event["type"] == "message.failed":
        return f"application {data['id']}: the message \"{data['message']}\" was not delivered"
    # The service is newer than this program. The event must not stop the others.
    return f"an event of the type {event['type']}"


def read_cursor(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip() or None
    except FileNotFoundError:
        return None


def save_cursor(path, cursor):
    """Replaces the file at once: a crash leaves the old cursor or the new one."""
    with open(f"{path}.part", "w", encoding="utf-8") as file:
        file.write(f"{cursor}\n")
    os.replace(f"{path}.part", path)


def main():
    url = os.environ.get("VENTANILLA_URL")
    api_key = os.environ.get("VENTANILLA_API_KEY", "").strip()
    path, *flags = sys.argv[1:] or [None]
    if not path or flags not in ([], ["--follow"]) or not url or not api_key:
        raise SystemExit(__doc__)
    parts = urllib.parse.urlsplit(url)
    is_here = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here):
        raise SystemExit("VENTANILLA_URL must begin with https://: others could read the API key and the applicants.")
    # The library's own error would show the key.
    if not api_key.isascii() or not api_key.isprintable():
        raise SystemExit("VENTANILLA_API_KEY has a character that no key has.")
    for event in events(url, api_key, read_cursor(path), bool(flags)):
        print(event["timestamp"], describe(event), flush=True)
        # Saved after the event was processed: a crash in between shows the event again, and loses none.
        save_cursor(path, event["id"])


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
