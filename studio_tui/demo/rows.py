"""Collects the rows of the demo home: ids that are the same each time, times before one instant, history for every status."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any, Final

from sqlalchemy import Table, insert

from studio_tui.state import schema
from studio_tui.state.async_core import AsyncConnection

MINUTE: Final = 60.0
HOUR: Final = 3600.0
DAY: Final = 86400.0

_SEED: Final = 36


class Rows:
    """Rows by table. ``now`` is the instant (epoch seconds) that all times are told from."""

    def __init__(self, now: float) -> None:
        self.now = now
        self.random = random.Random(_SEED)
        self._rows: defaultdict[Table, list[dict[str, Any]]] = defaultdict(list)

    def uuid(self) -> str:
        """An id as lionagi gives to sessions, messages and the like."""
        digits = self.digits(32)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def digits(self, length: int) -> str:
        """Hexadecimal digits: 12 for schedules, firings and invocations, 32 for transitions."""
        return f"{self.random.getrandbits(4 * length):0{length}x}"

    def add(self, table: Table, **values: Any) -> None:
        """Insert a row; columns left out get the table's own default."""
        self._rows[table].append(values)

    def changed(
        self,
        entity: str,
        identifier: str,
        at: float,
        previous: str | None,
        status: str,
        reason: str,
        summary: str = "",
        *,
        source: str = "executor",
        actor: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """Insert the history row of a status change."""
        self.add(
            schema.status_transitions,
            id=self.digits(32),
            entity_type=entity,
            entity_id=identifier,
            previous_status=previous,
            status=status,
            reason_code=reason,
            reason_summary=summary,
            evidence_refs=[],
            source=source,
            actor=actor,
            created_at=at,
            metadata=metadata or {},
        )

    async def insert(self, connection: AsyncConnection) -> None:
        """Write everything, tables that others refer to first."""
        for table in schema.metadata.sorted_tables:
            alike: defaultdict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
            for row in self._rows.get(table, ()):
                alike[tuple(row)].append(row)
            for rows in alike.values():
                await connection.execute(insert(table), rows)
