"""Invocations, engine runs and teams as the operations need them (ADR-0078 D3; rows of lionagi 0.36)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from studio_tui.domain.engine_runs import EngineDefinitionRecord, EngineRunRecord
from studio_tui.domain.invocations import InvocationRecord
from studio_tui.domain.teams import TeamMessageRecord, TeamRecord


@dataclass(frozen=True, slots=True)
class InvocationFilter:
    """Conditions on invocations, all of which must hold."""

    skill: str | None = None
    plugin: str | None = None
    status: str | None = None


class InvocationReadPort(Protocol):
    """Reads what started runs."""

    async def list_invocations(
        self, where: InvocationFilter, *, before: tuple[float, str] | None, limit: int
    ) -> tuple[InvocationRecord, ...]:
        """Invocations by ``(updated_at, id)`` descending, with how their runs do; prompts and long errors are left out."""
        ...

    async def get_invocation(self, invocation_id: str) -> InvocationRecord | None:
        """One invocation with all of it."""
        ...


@dataclass(frozen=True, slots=True)
class EngineRunFilter:
    """Conditions on engine runs, all of which must hold. ``session_id`` finds those of a run or of its parent."""

    kind: str | None = None
    status: str | None = None
    session_id: str | None = None


class EngineReadPort(Protocol):
    """Reads engine runs and the definitions of engines."""

    async def list_engine_runs(
        self, where: EngineRunFilter, *, before: tuple[float, str] | None, limit: int
    ) -> tuple[EngineRunRecord, ...]:
        """Engine runs by ``(started_at, id)`` descending, without what they were given."""
        ...

    async def get_engine_run(self, run_id: str) -> EngineRunRecord | None:
        """One engine run with all of it."""
        ...

    async def list_engine_definitions(
        self, *, kind: str | None, before: tuple[float, str] | None, limit: int
    ) -> tuple[EngineDefinitionRecord, ...]:
        """Definitions by ``(updated_at, id)`` descending."""
        ...

    async def get_engine_definition(self, id_or_name: str) -> EngineDefinitionRecord | None:
        """One definition by its id, else by its name."""
        ...


class TeamReadPort(Protocol):
    """Reads teams from the store: a copy that an import made once."""

    async def list_teams(self, *, before: tuple[float, str] | None, limit: int) -> tuple[TeamRecord, ...]:
        """Teams by ``(updated_at, id)`` descending."""
        ...

    async def get_team(self, team_id: str) -> TeamRecord | None:
        """One team by id."""
        ...

    async def team_messages(self, team_id: str, *, before: tuple[float, str] | None, limit: int) -> tuple[TeamMessageRecord, ...]:
        """Messages of a team by ``(created_at, id)`` descending."""
        ...
