"""Who looks for due schedules: one process per store, decided by a lock that the kernel frees with its holder.

The lock is taken on a file beside the SQLite store. What the file says (who, since when) is for people: the lock alone decides.
A holder that lives and does nothing (stopped, hung) would keep it for ever; so whoever has watched it give no sign of life for
:data:`QUIET_LIMIT` puts a locked file of its own in the place of that one. The old holder finds that out before it launches
anything more, since it holds the lock only while the file that it locked is the one beside the store.

A store without a file (PostgreSQL) needs another class behind the same port; whoever wires the program chooses it.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from studio_tui.application.ports import HostRecord
from studio_tui.domain.identity import ProcessIdentity

LEASE_SUFFIX: Final = ".studio-tui-host"
QUIET_LIMIT: Final = 60.0
"""Seconds without a sign of life, by the clock of whoever waits, after which a holder is taken for stopped. While the machine
sleeps that clock stands still; a wall clock that is set does not move it."""
PEER_SOCKET: Final = Path("studio", "studio-reconnect.sock")
"""Where a ``li studio`` daemon listens, beside its store (lionagi 0.36, studio/reconnect)."""

_UNIX_SOCKETS: Final = Path("/proc/net/unix")
_ACCEPTS_CONNECTIONS: Final = 0x10000
_READ_LIMIT: Final = 4096


class FileLease:
    """Implements :class:`studio_tui.application.ports.LeasePort` beside a SQLite store.

    ``identity`` is this process; ``alive`` answers whether a recorded one lives; ``now`` reads the wall clock, ``steady`` one
    that is never set.
    """

    def __init__(
        self,
        store: Path,
        *,
        identity: ProcessIdentity,
        label: str,
        now: Callable[[], float],
        alive: Callable[[ProcessIdentity], bool | None],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = store.with_name(store.name + LEASE_SUFFIX)
        self._identity, self._label, self._now, self._alive, self._steady = identity, label, now, alive, steady
        self._seen: tuple[tuple[int, int, int], float] | None = None
        self._descriptor: int | None = None
        self._problem: str | None = None
        self._since = 0.0

    @property
    def problem(self) -> str | None:
        """Why it cannot be taken by anybody (no permission, say), in words; ``None`` when it is free or merely held."""
        return self._problem

    def acquire(self) -> bool:
        """Take the lease if it is free; never waits."""
        if self.holds():
            return True
        self._drop()
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as failure:
            self._problem = f"the host file {self._path.name} beside the store cannot be opened: {failure.strerror}"
            return False
        self._problem = None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            mark = _mark(os.fstat(descriptor))
            os.close(descriptor)
            return self._is_quiet(mark) and self._replace(mark)
        except OSError as failure:
            os.close(descriptor)
            self._problem = f"the host file {self._path.name} beside the store cannot be locked: {failure.strerror}"
            return False
        return self._begin(descriptor)

    def holds(self) -> bool:
        """Whether this process holds it still: the file that we locked is the one that others would lock."""
        if self._descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path, follow_symlinks=False))
        except OSError:
            return False

    def beat(self) -> None:
        """Note that the holder is alive."""
        if self._descriptor is not None:
            now = self._now()
            os.utime(self._descriptor, (now, now))

    def holder(self) -> HostRecord | None:
        """Who holds it, as far as can be read: ``None`` when the last one gave it up or is known to be dead."""
        found = self._read()
        if found is None or found[1]:
            return None
        return None if self._alive(found[0].identity) is False else found[0]

    def last_host(self) -> HostRecord | None:
        """Who held it last, dead or alive."""
        found = self._read()
        return found[0] if found else None

    def release(self) -> None:
        """Give it up; harmless when not held. The file stays, so that nobody locks one that another is about to remove."""
        if self.holds():
            self._write(released=True)
        self._drop()

    def _is_quiet(self, mark: tuple[int, int, int]) -> bool:
        """Whether the holder has shown no life while we watched; ``mark`` changes whenever it does."""
        now = self._steady()
        if self._seen is None or self._seen[0] != mark:
            self._seen = (mark, now)
        return now - self._seen[1] > QUIET_LIMIT

    def _replace(self, mark: tuple[int, int, int]) -> bool:
        """Put a file that we have locked in the place of one whose holder is quiet, unless somebody was faster."""
        draft = self._path.with_name(f".{self._path.name}.{self._identity.pid}")
        try:
            descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _mark(os.stat(self._path, follow_symlinks=False)) != mark:
                os.close(descriptor)
                draft.unlink()
                return False
            draft.replace(self._path)
        except OSError as failure:
            self._problem = f"the host file {self._path.name} of a host that is quiet cannot be replaced: {failure.strerror}"
            return False
        return self._begin(descriptor)

    def _begin(self, descriptor: int) -> bool:
        self._descriptor = descriptor
        if not self.holds():  # removed and made again between opening and locking
            self._drop()
            return False
        self._since = self._now()
        self._write(released=False)
        return True

    def _drop(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, *, released: bool) -> None:
        text = json.dumps(
            {
                "pid": self._identity.pid,
                "created_at": self._identity.created_at,
                "host": self._identity.host,
                "boot_time": self._identity.boot_time,
                "label": self._label,
                "since": self._since,
                "released": released,
            }
        )
        assert self._descriptor is not None
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, text.encode("utf-8"), 0)
        except OSError as failure:  # a full disk: the lock holds all the same, only its label is missing
            self._problem = f"the host file {self._path.name} cannot be written: {failure.strerror}"
        self.beat()

    def _read(self) -> tuple[HostRecord, bool] | None:
        try:
            with self._path.open("rb") as file:
                stored = json.loads(file.read(_READ_LIMIT))
                seen_at = os.fstat(file.fileno()).st_mtime
            identity = ProcessIdentity(int(stored["pid"]), stored["created_at"], stored["host"], stored["boot_time"])
            record = HostRecord(identity, str(stored["label"]), float(stored["since"]), seen_at)
            return record, bool(stored["released"])
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _mark(found: os.stat_result) -> tuple[int, int, int]:
    """Which file it is, and its last sign of life."""
    return found.st_dev, found.st_ino, found.st_mtime_ns


def peer_daemon_listens(store: Path, *, table: Path = _UNIX_SOCKETS) -> bool:
    """Whether a ``li studio`` daemon is alive on the store in this directory.

    Its socket is looked up in the kernel's table and never connected to: a connection makes the daemon mint a pairing code. A
    socket file alone proves nothing, since a killed daemon leaves it behind. False where there is no such table.
    """
    wanted = store.parent / PEER_SOCKET
    names = {os.path.abspath(wanted), os.path.realpath(wanted)}
    try:
        with table.open(encoding="utf-8", errors="replace") as lines:
            return any(_listens_on(line, names) for line in lines)
    except OSError:
        return False


def _listens_on(line: str, names: set[str]) -> bool:
    fields = line.rstrip("\n").split(maxsplit=7)
    if len(fields) < 8 or not fields[7].endswith(str(PEER_SOCKET)):
        return False
    try:
        listening = int(fields[3], 16) & _ACCEPTS_CONNECTIONS
    except ValueError:
        return False
    return bool(listening) and (fields[7] in names or os.path.realpath(fields[7]) in names)
