"""Whether somebody committed to a store on PostgreSQL, asked often and cheaply, with nothing added to the peer's database.

Three questions, each asked only when the one before gives reason to:

1. The snapshot of the server. It moves with every transaction that writes, in any database of the server, and reading does not
   move it. Asking costs a twentieth of a millisecond on the server; while it stands, nothing was committed.
2. The latest instants in the tables that carry one, from their indexes; when a session of this database last ended a change;
   and the server's own count of rows that were ever written to our tables. The first tell of activity and of every change of a
   status at once. What moves no instant (labels, tags, deletions) is told by the second: a session counts its rows only when a
   second has passed since it did so last, or ten seconds after it fell idle, but what it did last is seen at once. The third
   tells of the rest, and of sessions of other logins, whose doings the server shows to its administrators only.
3. What was told of once is not told of again when its rows are counted later: the count alone does not tell while the snapshot
   stands where it stood when we last told.

Nobody is woken while nothing is written to our tables, except that a change which was taken back is counted like one that was
kept, and that beside a busy neighbour on the same server the late count of a change, or a transaction of this database that only
read, may be taken for one. Such a neighbour costs us question 2 four times a second.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, Final

from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.schema import metadata

COUNTED_WITHIN: Final = 12.0
"""Seconds for which rows of a past commit may still be counted: an idle session reports after ten at the latest."""

_SNAPSHOT: Final = "SELECT CAST(pg_current_snapshot() AS text)"
_NAMES: Final = ", ".join(f"'{name}'" for name in sorted(metadata.tables))
_WRITTEN: Final = " + ".join(f"pg_stat_get_tuples_{done}(place)" for done in ("inserted", "updated", "deleted"))
_ENDED: Final = (
    "SELECT max(state_change) FROM pg_stat_activity WHERE datname = current_database()"
    r" AND query ~* '^\s*(commit|end|insert|update|delete|merge|copy|truncate|with)\M'"
)
"""When a session of this database last began or ended a statement that may have stored something; the server knows at once."""
_INSTANTS: Final = (
    ("sessions", "updated_at"),
    ("invocations", "updated_at"),
    ("schedules", "updated_at"),
    ("shows", "updated_at"),
    ("status_transitions", "created_at"),
    ("messages", "created_at"),
    ("admin_events", "created_at"),
)
_FINGERPRINT: Final = (
    f"SELECT ({_ENDED}), (SELECT sum({_WRITTEN}) FROM (SELECT to_regclass(name) AS place FROM unnest(ARRAY[{_NAMES}]) AS name)"
    " AS ours), " + ", ".join(f"(SELECT max({column}) FROM {table})" for table, column in _INSTANTS)
)


class ServerChanges:
    """Counts changes for one opening of a store. Numbers of different openings differ."""

    def __init__(self) -> None:
        self._number = time.monotonic_ns()
        self._seen = self._told = ""
        self._until = 0.0
        self._ended: datetime | None = None
        self._fingerprint: tuple[Any, ...] | None = None

    async def number(self, connection: AsyncConnection) -> int:
        """A number that changes when anybody has committed to our tables."""
        snapshot = str((await connection.exec_driver_sql(_SNAPSHOT)).scalar_one())
        now = time.monotonic()
        if snapshot != self._seen:
            self._seen, self._until = snapshot, now + COUNTED_WITHIN
        if snapshot == self._told or now > self._until:
            return self._number
        ended, *found = (await connection.exec_driver_sql(_FINGERPRINT)).one()
        self._ended = max(filter(None, (self._ended, ended)), default=None)  # a session that reads again forgets what it ended
        fingerprint = (self._ended, *found)
        if fingerprint != self._fingerprint:
            self._fingerprint, self._told = fingerprint, snapshot
            self._number += 1
        return self._number
