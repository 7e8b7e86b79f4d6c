"""Tags and labels of runs (implements ``TagPort``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import delete, update

from studio_tui.application.errors import Conflict, NotFound
from studio_tui.domain.labels import cleaned_label, cleaned_tag, label_fault
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import insert_into
from studio_tui.state.queries import tags as queries
from studio_tui.state.schema import run_tags, sessions
from studio_tui.state.stores.reads import in_parts
from studio_tui.state.stores.writes import WriteStore, require, require_row, require_some, require_text

_T: Final = run_tags.c


class TagStore(WriteStore):
    """Implements ``TagPort``. It writes no column of a run but its label."""

    async def add_tag(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Tag a run; a tag that it has already stays as it is."""
        require_some(tag=tag)
        values = {"session_id": run_id, "tag": cleaned_tag(tag)}

        async def work(connection: AsyncConnection) -> tuple[str, ...]:
            await require_row(connection, sessions.c.id, run_id, "run")
            statement = insert_into(connection, run_tags).values(created_at=self._now(), **values)
            await connection.execute(statement.on_conflict_do_nothing(index_elements=[_T.session_id, _T.tag]))
            return await _tags(connection, run_id)

        return await self._db.write(work)

    async def remove_tag(self, run_id: str, tag: str) -> tuple[str, ...]:
        """Take a tag off a run: exactly this one, for others may have stored what we would have cleaned."""
        require_text(tag=tag)

        async def work(connection: AsyncConnection) -> tuple[str, ...]:
            await connection.execute(delete(run_tags).where(_T.session_id == run_id, _T.tag == tag))
            return await _tags(connection, run_id)

        return await self._db.write(work)

    async def tags_of(self, run_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """The tags of runs in their order."""
        found: dict[str, tuple[str, ...]] = {}
        for ids in in_parts(run_ids):
            for run_id, tag in await self._rows(queries.TAGS_OF, {"ids": ids}):
                found[run_id] = (*found.get(run_id, ()), tag)
        return found

    async def all_tags(self, *, limit: int) -> tuple[tuple[str, int], ...]:
        """Tags in their order, each with its number of runs."""
        return tuple((str(tag), int(count)) for tag, count in await self._rows(queries.ALL_TAGS, {"limit": limit}))

    async def set_label(self, run_id: str, label: str | None, *, seen: str | None) -> str | None:
        """Label a run, or take its label off."""
        require("label", None if label is None else label_fault(label))
        kept = cleaned_label(label)
        require_text(label=kept)

        async def work(connection: AsyncConnection) -> str | None:
            row = (await connection.execute(queries.LABEL.with_for_update(), {"run_id": run_id})).first()
            if row is None:
                raise NotFound("run", run_id)
            if row[0] != seen:
                raise Conflict("label", expected=seen, actual=row[0])
            await connection.execute(update(sessions).where(sessions.c.id == run_id).values(user_label=kept))
            return kept

        return await self._db.write(work)


async def _tags(connection: AsyncConnection, run_id: str) -> tuple[str, ...]:
    return tuple(tag for _, tag in await connection.execute(queries.TAGS_OF, {"ids": [run_id]}))
