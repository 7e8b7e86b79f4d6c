"""Teams and their messages as the store knows them: a copy that an import once made."""

from __future__ import annotations

from studio_tui.application.errors import NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.models.common import Page
from studio_tui.application.models.invocations import Team, TeamMessage, TeamMessageQuery, TeamQuery
from studio_tui.application.pages import page_of
from studio_tui.application.ports.invocations import TeamReadPort
from studio_tui.application.views import view


@guarded
class TeamService:
    """Teams as screens and commands see them."""

    def __init__(self, *, teams: TeamReadPort) -> None:
        self._teams = teams

    async def list_teams(self, query: TeamQuery) -> Page[Team]:
        """A page of teams, the newest change first."""
        return await page_of(
            query,
            "teams",
            lambda key, limit: self._teams.list_teams(before=key, limit=limit),
            lambda record: (record.updated_at, record.team_id),
            lambda record: view(Team, record),
        )

    async def get_team(self, team_id: str) -> Team:
        """One team. Raises :class:`NotFound`."""
        found = await self._teams.get_team(team_id)
        if found is None:
            raise NotFound("team", team_id)
        return view(Team, found)

    async def list_messages(self, query: TeamMessageQuery) -> Page[TeamMessage]:
        """A page of a team's messages, the newest first. Raises :class:`NotFound` for a team that is not there."""
        await self.get_team(query.team_id)
        return await page_of(
            query,
            "team messages",
            lambda key, limit: self._teams.team_messages(query.team_id, before=key, limit=limit),
            lambda record: (record.created_at, record.message_id),
            lambda record: view(TeamMessage, record),
        )
