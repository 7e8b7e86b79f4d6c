"""A pooler between client and server that gives every transaction another connection of the server, as PgBouncer does in
transaction mode: a statement or a setting that outlives its transaction is met again by somebody else, or by nobody."""

from __future__ import annotations

import asyncio
import shutil
import struct
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Self

_SSL, _GSS, _CANCEL = 80877103, 80877104, 80877102
_KNOWN: Final = frozenset({"user", "database", "client_encoding", "application_name", "datestyle", "timezone"})
_OWN_PID: Final = 999_999

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


_LAST: Final = frozenset({b"S", b"Q"})
"""Messages after which the server says that it is ready."""


@dataclass
class _Turn:
    """A connection of the server while one client has it: how many answers are owed, and whether the last question is whole."""

    server: Streams
    asked: int = 0
    whole: bool = True
    answering: asyncio.Task[None] = field(init=False)


class Pooler:
    """Listens in ``folder`` while it is entered; ``size`` connections go round among all clients of one database."""

    def __init__(self, server: Path, *, user: str, database: str, size: int = 3) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pooler-"))
        self.refused: list[str] = []
        self._server, self._user, self._database, self._size = server, user, database, size
        self._free: asyncio.Queue[Streams] = asyncio.Queue()
        self._greeting = b""
        self._clients: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        for _ in range(self._size):
            self._free.put_nowait(await self._connect())
        self._listening = await asyncio.start_unix_server(self._serve, self.folder / ".s.PGSQL.5432")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._listening.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)
        while not self._free.empty():
            self._free.get_nowait()[1].close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _connect(self) -> Streams:
        reader, writer = await asyncio.open_unix_connection(self._server / ".s.PGSQL.5432")
        fields = b"".join(part.encode() + b"\0" for part in ("user", self._user, "database", self._database)) + b"\0"
        writer.write(struct.pack("!ii", len(fields) + 8, 196608) + fields)
        greeting = b""
        while (message := await _message(reader))[:1] != b"Z":
            assert message[:1] != b"E", message
            greeting += message if message[:1] == b"S" else b""
        self._greeting = greeting
        return reader, writer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        try:
            if await self._greet(reader, writer):
                await self._relay(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self._clients.discard(task)
            writer.close()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        while True:
            (length, code) = struct.unpack("!ii", await reader.readexactly(8))
            body = await reader.readexactly(length - 8)
            if code in (_SSL, _GSS):
                writer.write(b"N")
                continue
            if code == _CANCEL:
                return False
            names = body.split(b"\0")[::2]
            strange = [name.decode() for name in names if name and name.decode().lower() not in _KNOWN]
            if strange:
                self.refused += strange
                text = f"SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: {strange[0]}\0\0".encode()
                writer.write(b"E" + struct.pack("!i", len(text) + 4) + text)
                await writer.drain()
                return False
            hello = b"R" + struct.pack("!ii", 8, 0) + self._greeting + b"K" + struct.pack("!iii", 12, _OWN_PID, 1)
            writer.write(hello + b"Z" + struct.pack("!i", 5) + b"I")
            return True

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hand messages on; a client has a connection of the server from its first question to the end of the transaction."""
        turn: _Turn | None = None
        try:
            while (message := await _message(reader))[:1] != b"X":
                if turn is None or turn.answering.done():
                    server = await self._free.get()
                    turn = _Turn(server)
                    turn.answering = asyncio.create_task(self._answer(turn, writer))
                turn.whole = message[:1] in _LAST
                turn.asked += turn.whole
                turn.server[1].write(message)
        finally:
            if turn is not None and not turn.answering.done():
                turn.answering.cancel()
                turn.server[1].close()
                with suppress(OSError):
                    self._free.put_nowait(await self._connect())

    async def _answer(self, turn: _Turn, writer: asyncio.StreamWriter) -> None:
        """Hand answers back until the server is in no transaction and has answered everything, then give it to the next."""
        while True:
            message = await _message(turn.server[0])
            done = False
            if message[:1] == b"Z":
                turn.asked -= 1
                done = turn.whole and not turn.asked and message[5:] == b"I"
            if done:
                self._free.put_nowait(turn.server)
            writer.write(message)
            if done:
                return


async def _message(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(5)
    return head + await reader.readexactly(struct.unpack("!i", head[1:])[0] - 4)
