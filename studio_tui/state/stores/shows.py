"""Reads shows from the store (implements ``ShowReadPort``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from studio_tui.domain.shows import PlayRecord, ShowRecord
from studio_tui.state.queries import shows as queries
from studio_tui.state.rows import play_record, show_record
from studio_tui.state.stores.reads import ReadStore


class ShowStore(ReadStore):
    """Implements ``ShowReadPort``. These are imports: the truth about a live play is on disk (lionagi 0.36)."""

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        """Every show with its plays in their order, the show that changed last first."""
        plays = _by_show(await self._rows(queries.PLAYS, {}))
        return tuple(_show(row, plays) for row in await self._rows(queries.SHOWS, {}))

    async def get_show(self, topic: str) -> ShowRecord | None:
        """One show with its plays."""
        row = await self._first_row(queries.SHOW_BY_TOPIC, {"topic": topic})
        return None if row is None else _show(row, _by_show(await self._rows(queries.PLAYS_OF_SHOW, {"topic": topic})))


def _by_show(rows: Iterable[Sequence[Any]]) -> Mapping[str | None, tuple[PlayRecord, ...]]:
    plays: dict[str | None, list[PlayRecord]] = {}
    for row in rows:
        plays.setdefault(row[0], []).append(play_record(row[1:]))
    return {show_id: tuple(records) for show_id, records in plays.items()}


def _show(row: Sequence[Any], plays: Mapping[str | None, tuple[PlayRecord, ...]]) -> ShowRecord:
    show_id = row[1]
    return show_record(row, plays=plays.get(show_id, ()))
