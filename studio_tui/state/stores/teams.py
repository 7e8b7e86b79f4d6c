"""Reads teams from the store (implements ``TeamReadPort``)."""

from __future__ import annotations

from studio_tui.domain.teams import TeamMessageRecord, TeamRecord
from studio_tui.state.queries import teams as queries
from studio_tui.state.queries.keysets import Key, key_values
from studio_tui.state.queries.teams import team_message_record, team_record
from studio_tui.state.stores.reads import ReadStore


class TeamStore(ReadStore):
    """Implements ``TeamReadPort``."""

    async def list_teams(self, *, before: Key | None, limit: int) -> tuple[TeamRecord, ...]:
        """Teams, newest change first."""
        rows = await self._rows(queries.TEAMS[before is not None], key_values(before, limit=limit))
        return tuple(map(team_record, rows))

    async def get_team(self, team_id: str) -> TeamRecord | None:
        """One team by id."""
        row = await self._first_row(queries.TEAM_BY_ID, {"team_id": team_id})
        return None if row is None else team_record(row)

    async def team_messages(self, team_id: str, *, before: Key | None, limit: int) -> tuple[TeamMessageRecord, ...]:
        """Messages of a team, newest first."""
        values = key_values(before, team_id=team_id, limit=limit)
        return tuple(map(team_message_record, await self._rows(queries.TEAM_MESSAGES[before is not None], values)))
