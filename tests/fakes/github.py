"""GitHub's list of pull requests, served over real HTTP on loopback; everything else that it may answer is told to it."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

Answer = Callable[[BaseHTTPRequestHandler], None]
"""Answers one question in its own way."""


def a_pull(number: int, updated_at: str = "2026-03-10T10:00:00Z", *, merged: str | bool = True, **fields: Any) -> dict[str, Any]:
    """A pull request of ``acme/web`` as GitHub lists it; ``merged`` at ``updated_at`` unless it says when, or that it was not."""
    merged_at = updated_at if merged is True else merged or None
    return {
        "number": number,
        "title": f"change {number}",
        "html_url": f"https://github.example/acme/web/pull/{number}",
        "user": {"login": "octo"},
        "state": "closed" if merged_at else "open",
        "draft": False,
        "updated_at": updated_at,
        "merged_at": merged_at,
        "head": {"sha": f"{number:040x}", "repo": {"id": 1, "full_name": "acme/web", "fork": False}},
        "base": {"ref": "main", "repo": {"id": 1, "full_name": "acme/web"}},
        **fields,
    }


@dataclass
class Asked:
    """One question."""

    path: str
    query: dict[str, str]
    headers: Mapping[str, str]


@dataclass
class FakeGitHub:
    """``pulls`` is what it lists; ``tokens`` it accepts; ``next`` answers the coming questions instead, first come first;
    ``headers`` come with every list. ``asked`` keeps the questions."""

    pulls: list[dict[str, Any]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=lambda: {"secret"})
    next: deque[Answer | None] = field(default_factory=deque)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    base: str = ""

    def lists(self, handler: BaseHTTPRequestHandler) -> None:
        """The usual answer."""
        asked = self.asked[-1]
        if handler.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            answer(401, b'{"message": "Bad credentials"}')(handler)
            return
        query = asked.query
        state, base = query.get("state", "open"), query.get("base")
        here = [p for p in self.pulls if p["base"]["repo"]["full_name"] in asked.path or "/repositories/" in asked.path]
        fitting = [p for p in here if state in ("all", p["state"]) and base in (None, p["base"]["ref"])]
        fitting.sort(key=lambda pull: pull["updated_at"], reverse=True)
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        headers = dict(self.headers)
        if len(fitting) > size * page:
            headers["Link"] = f'<{self.base}{asked.path}?{urlencode({**query, "page": page + 1})}>; rel="next"'
        body = json.dumps(fitting[size * (page - 1) : size * page]).encode()
        tag = f'W/"{hashlib.sha256(body).hexdigest()}"'
        if handler.headers.get("If-None-Match") == tag:
            answer(304, b"", **headers)(handler)
        else:
            answer(200, body, ETag=tag, **headers)(handler)


def answer(status: int, body: bytes = b"", **headers: str) -> Answer:
    """A whole answer. Underscores in the names of headers are dashes."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return send


def broken_off(body: bytes) -> Answer:
    """Promises twice as much as it sends."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        answer(200, body, Content_Length=str(2 * len(body)))(handler)
        handler.close_connection = True
        handler.connection.close()

    return send


def silent(until: threading.Event) -> Answer:
    """Takes the question and says nothing."""

    def send(handler: BaseHTTPRequestHandler) -> None:
        until.wait(30)
        handler.close_connection = True

    return send


@contextmanager
def github() -> Iterator[FakeGitHub]:
    """A server that listens until the end of the block."""
    fake = FakeGitHub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            fake.asked.append(Asked(parts.path, dict(parse_qsl(parts.query)), dict(self.headers.items())))
            special = fake.next.popleft() if fake.next else None
            (special or fake.lists)(self)

        def log_message(self, format: str, *args: object) -> None:
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    server = Server(("127.0.0.1", 0), Handler)
    fake.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
