"""Reads engine runs and the definitions of engines (implements ``EngineReadPort``)."""

from __future__ import annotations

from studio_tui.application.ports.invocations import EngineRunFilter
from studio_tui.domain.engine_runs import EngineDefinitionRecord, EngineRunRecord
from studio_tui.state.queries import engine_runs as queries
from studio_tui.state.queries.engine_runs import engine_definition_record, engine_run_record
from studio_tui.state.queries.keysets import Key, key_values
from studio_tui.state.stores.reads import ReadStore


class EngineStore(ReadStore):
    """Implements ``EngineReadPort``."""

    async def list_engine_runs(self, where: EngineRunFilter, *, before: Key | None, limit: int) -> tuple[EngineRunRecord, ...]:
        """Engine runs, newest start first, without what they were given."""
        given = {"kind": where.kind, "status": where.status, "session_id": where.session_id}
        values = key_values(before, limit=limit, **{name: value for name, value in given.items() if value is not None})
        statement = queries.engine_run_page(
            kind=where.kind is not None,
            status=where.status is not None,
            session=where.session_id is not None,
            before=before is not None,
        )
        return tuple(map(engine_run_record, await self._rows(statement, values)))

    async def get_engine_run(self, run_id: str) -> EngineRunRecord | None:
        """One engine run with all of it."""
        row = await self._first_row(queries.ENGINE_RUN_BY_ID, {"run_id": run_id})
        return None if row is None else engine_run_record(row)

    async def list_engine_definitions(
        self, *, kind: str | None, before: Key | None, limit: int
    ) -> tuple[EngineDefinitionRecord, ...]:
        """Definitions, newest change first."""
        values = key_values(before, limit=limit)
        if kind is not None:
            values["kind"] = kind
        statement = queries.engine_definition_page(kind=kind is not None, before=before is not None)
        return tuple(map(engine_definition_record, await self._rows(statement, values)))

    async def get_engine_definition(self, id_or_name: str) -> EngineDefinitionRecord | None:
        """One definition by its id, else by its name."""
        row = await self._first_row(queries.ENGINE_DEFINITIONS_BY_ID_OR_NAME, {"id_or_name": id_or_name})
        return None if row is None else engine_definition_record(row)
