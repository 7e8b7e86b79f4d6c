"""Tells a command something: in a session of its own, without a shell, for a bounded time, keeping little of what it says."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Final

from studio_tui.application.ports.commands import Told
from studio_tui.processes.liveness import identify
from studio_tui.processes.stop import stop_group

_KEPT: Final = 8_000
"""Bytes of a command's complaint that are kept; the rest is read and dropped, so that it never waits for us."""

_CHUNK: Final = 65_536


class Commands:
    """Implements :class:`~studio_tui.application.ports.commands.CommandPort`.

    ``environment`` answers afresh what a command begins with. Its output goes nowhere; the beginning of what it complains of is
    kept for the error.
    """

    def __init__(self, environment: Callable[[], Mapping[str, str]]) -> None:
        self._environment = environment

    async def tell(self, argv: Sequence[str], text: str, *, seconds: float) -> Told:
        """Run a command with ``text`` on its standard input. Counted is the end of its leader, not of what holds its streams."""
        try:
            given = await asyncio.to_thread(_file_of, text)
            with given, _complaint() as (heard, stream):
                process = await asyncio.create_subprocess_exec(
                    *argv,
                    stdin=given,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=stream,
                    env=dict(self._environment()),
                    start_new_session=True,
                )
                heard.begin()
                code = await _end_of(process, seconds)
                return _verdict(argv[0], code, heard.text(), seconds)
        except (OSError, ValueError) as failure:
            return Told(f"{argv[0]} could not be started: {getattr(failure, 'strerror', None) or failure}")


async def _end_of(process: asyncio.subprocess.Process, seconds: float) -> int | None:
    """Its exit code, or ``None`` once it had to be killed. However this is left, a leader that runs is killed with its group."""
    try:
        leader = identify(process.pid)
    except OSError:  # it has ended already
        return await process.wait()
    try:
        return await asyncio.wait_for(process.wait(), seconds)
    except TimeoutError:
        return None
    finally:
        if process.returncode is None:
            await asyncio.shield(asyncio.ensure_future(stop_group(leader, grace=0)))


def _verdict(name: str, code: int | None, complaint: str, seconds: float) -> Told:
    if code == 0:
        return Told()
    said = f": {complaint}" if complaint else ""
    if code is None:
        return Told(f"{name} did not end within {seconds:g} s and was killed{said}")
    return Told(complaint or (f"exit {code}" if code > 0 else f"ended by signal {-code}"))


def _file_of(text: str) -> IO[bytes]:
    """A file without a name that holds the text: unlike a pipe it is read when the command likes, or not at all."""
    given = tempfile.TemporaryFile()  # noqa: SIM115 - its user closes it
    given.write(text.encode("utf-8", "replace"))
    given.seek(0)
    return given


class _Heard:
    """The beginning of what arrives in a pipe."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._kept, self._open = descriptor, bytearray(), False

    def begin(self) -> None:
        """Read whenever something is there."""
        asyncio.get_running_loop().add_reader(self._descriptor, self._read)
        self._open = True

    def text(self) -> str:
        """What was heard, with what is left in the pipe."""
        while self._open and self._read():
            pass
        return self._kept.decode("utf-8", "replace").strip()

    def end(self) -> None:
        """Read no more."""
        if self._open:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            self._open = False

    def _read(self) -> bool:
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self.end()
        room = max(_KEPT - len(self._kept), 0)
        self._kept += chunk[:room]
        return bool(chunk) and room > 0


@contextmanager
def _complaint() -> Iterator[tuple[_Heard, int]]:
    """A pipe: who hears it, and the end that a command is given."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    heard = _Heard(reading)
    try:
        yield heard, writing
    finally:
        heard.end()
        os.close(reading)
        os.close(writing)
