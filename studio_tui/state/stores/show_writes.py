"""Makes shows and plays (implements ``ShowWritePort``)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Column, Table, select

from studio_tui.application.ports.show_writes import NewPlay, NewShow
from studio_tui.domain.statuses import VOCABULARIES
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import insert_into
from studio_tui.state.lifecycle import CREATED, creation, reason_columns, record
from studio_tui.state.schema import plays, sessions, shows
from studio_tui.state.stores.writes import WriteStore, require, require_json, require_row, require_some, require_text


class ShowWriteStore(WriteStore):
    """Implements ``ShowWritePort``. A row that is born in a status without a reason of its own gets no line (lionagi 0.36)."""

    async def add_show(self, new: NewShow) -> tuple[str, bool]:
        """A show, unless its topic is there."""
        require_some(topic=new.topic, show_dir=new.show_dir, status_source=new.status_source)
        values = _checked("show", asdict(new))

        async def work(connection: AsyncConnection) -> tuple[str, bool]:
            return await self._add(connection, "show", shows, values, (shows.c.topic,))

        return await self._db.write(work)

    async def add_play(self, new: NewPlay) -> tuple[str, bool]:
        """A play, unless its name is there in its show."""
        require_some(show_id=new.show_id, name=new.name)
        passed = None if new.gate_passed is None else int(new.gate_passed)
        values = _checked("play", {**asdict(new), "gate_passed": passed, "depends_on": list(new.depends_on)})

        async def work(connection: AsyncConnection) -> tuple[str, bool]:
            await require_row(connection, shows.c.id, new.show_id, "show")
            await require_row(connection, sessions.c.id, new.session_id, "run")
            return await self._add(connection, "play", plays, values, (plays.c.show_id, plays.c.name))

        return await self._db.write(work)

    async def _add(
        self, connection: AsyncConnection, entity: str, table: Table, values: Mapping[str, Any], name: tuple[Column[Any], ...]
    ) -> tuple[str, bool]:
        """The row with its line of history; the id of the one that bears the name already, of two writers' at once too."""
        now, status, row_id = self._now(), values["status"], str(uuid.uuid4())
        row = {**values, "id": row_id, "created_at": values["created_at"] or now, "updated_at": now}
        if (reason := CREATED.get((entity, status))) is not None:
            row |= reason_columns(reason, "", ())
        made = await connection.execute(insert_into(connection, table).values(**row).on_conflict_do_nothing(index_elements=name))
        if made.rowcount != 1:
            same = (column == values[column.name] for column in name)
            return str((await connection.execute(select(table.c.id).where(*same))).scalar_one()), False
        if reason is not None:
            await record(connection, creation(entity, row_id, status, actor=f"create_{entity}", now=now))
        return row_id, True


def _checked(entity: str, values: dict[str, Any]) -> dict[str, Any]:
    """The values. Raises :class:`ValidationFailure` for what no row can hold."""
    require("status", None if values["status"] in VOCABULARIES[entity].statuses else f"is none of a {entity}")
    require_text(**{name: value for name, value in values.items() if isinstance(value, str)})
    require_json(**{name: value for name, value in values.items() if isinstance(value, float | list)})
    return values
