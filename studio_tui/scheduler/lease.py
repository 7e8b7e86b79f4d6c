"""Who looks for due schedules: one process per store, decided by a lock that the kernel frees with its holder.

The lock is taken on a file beside the SQLite store. What the file says (who, since when) is for people: the lock alone decides.
A store without a file (PostgreSQL) needs another class behind the same port; whoever wires the program chooses it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from studio_tui.application.ports import HostRecord
from studio_tui.domain.identity import ProcessIdentity

LEASE_SUFFIX: Final = ".studio-tui-host"
PEER_SOCKET: Final = Path("studio", "studio-reconnect.sock")
"""Where a ``li studio`` daemon listens, beside its store (lionagi 0.36, studio/reconnect)."""

_UNIX_SOCKETS: Final = Path("/proc/net/unix")
_ACCEPTS_CONNECTIONS: Final = 0x10000
_READ_LIMIT: Final = 4096


class FileLease:
    """Implements :class:`studio_tui.application.ports.LeasePort` beside a SQLite store.

    ``identity`` is this process; ``alive`` answers whether a recorded one lives; ``now`` reads the wall clock.
    """

    def __init__(
        self,
        store: Path,
        *,
        identity: ProcessIdentity,
        label: str,
        now: Callable[[], float],
        alive: Callable[[ProcessIdentity], bool | None],
    ) -> None:
        self._path = store.with_name(store.name + LEASE_SUFFIX)
        self._identity, self._label, self._now, self._alive = identity, label, now, alive
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
            os.close(descriptor)
            return False
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
