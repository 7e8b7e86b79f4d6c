"""What answers on a port, and what does not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from studio_tui.scheduler.neighbour import peer_answers

HEALTH = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


@contextmanager
def answering(*answers: bytes) -> Iterator[int]:
    """A port of this machine that gives these answers, one a connection."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()

        def serve() -> None:
            for answer in answers:
                with server.accept()[0] as connection:
                    connection.recv(4096)
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)


@pytest.mark.parametrize(
    ("answer", "is_peer"),
    [
        (HEALTH + b'{"status": "ok"}', True),
        (HEALTH + b'{"status": "down"}', False),
        (HEALTH + b"[]", False),
        (HEALTH + b"<html>", False),
        (HEALTH.replace(b"200 OK", b"404 Not Found") + b'{"status": "ok"}', False),
        (b"SSH-2.0-OpenSSH_9.6\r\n", False),
        (b"", False),
    ],
)
def test_only_what_answers_as_the_peer_is_taken_for_it(answer: bytes, is_peer: bool) -> None:
    with answering(answer) as port:
        assert peer_answers(port) is is_peer


def test_a_closed_port_is_nobody() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert peer_answers(port) is False
