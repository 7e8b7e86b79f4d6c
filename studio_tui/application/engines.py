"""Runs of engines, and the definitions of engines."""

from __future__ import annotations

from studio_tui.application.errors import NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.models.common import Page
from studio_tui.application.models.invocations import (
    EngineDefinition,
    EngineDefinitionQuery,
    EngineRunDetail,
    EngineRunQuery,
    EngineRunSummary,
)
from studio_tui.application.pages import page_of
from studio_tui.application.ports.invocations import EngineReadPort, EngineRunFilter
from studio_tui.application.views import view


@guarded
class EngineService:
    """Engines as screens and commands see them."""

    def __init__(self, *, engines: EngineReadPort) -> None:
        self._engines = engines

    async def list_engine_runs(self, query: EngineRunQuery) -> Page[EngineRunSummary]:
        """A page of runs, the newest start first."""
        where = EngineRunFilter(kind=query.kind, status=query.status, session_id=query.run_id)
        return await page_of(
            query,
            "engine runs",
            lambda key, limit: self._engines.list_engine_runs(where, before=key, limit=limit),
            lambda record: (record.started_at, record.run_id),
            lambda record: view(EngineRunSummary, record),
        )

    async def get_engine_run(self, run_id: str) -> EngineRunDetail:
        """One run with what it was given. Raises :class:`NotFound`."""
        found = await self._engines.get_engine_run(run_id)
        if found is None:
            raise NotFound("engine run", run_id)
        return view(EngineRunDetail, found)

    async def list_engine_definitions(self, query: EngineDefinitionQuery) -> Page[EngineDefinition]:
        """A page of definitions, the newest change first."""
        return await page_of(
            query,
            "engine definitions",
            lambda key, limit: self._engines.list_engine_definitions(kind=query.kind, before=key, limit=limit),
            lambda record: (record.updated_at, record.definition_id),
            lambda record: view(EngineDefinition, record),
        )

    async def get_engine_definition(self, id_or_name: str) -> EngineDefinition:
        """One definition by its id, else by its name. Raises :class:`NotFound`."""
        found = await self._engines.get_engine_definition(id_or_name)
        if found is None:
            raise NotFound("engine definition", id_or_name)
        return view(EngineDefinition, found)
