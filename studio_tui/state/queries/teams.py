"""Statements about teams and their messages."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, Text, bindparam, select

from studio_tui.domain.teams import TeamMessageRecord, TeamRecord
from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.queries.keysets import beyond_key, descending
from studio_tui.state.readers import as_count, as_epoch, as_required, as_text, as_texts
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import team_messages, teams

_T: Final = teams.c
_M: Final = team_messages.c
_TEAM: Final = bindparam("team_id", type_=Text)

team_record: Final = RowReader(
    TeamRecord,
    (as_required, "team_id=id name status"),
    (as_epoch, "created_at updated_at"),
    (as_count, "member_count"),
    (as_texts, "members"),
    (as_text, "reason_code=status_reason_code reason_summary=status_reason_summary"),
)
team_message_record: Final = RowReader(
    TeamMessageRecord,
    (as_required, "message_id=id team_id"),
    (as_epoch, "created_at"),
    (as_required, "sender recipient content"),
    (as_text, "summary"),
    (as_texts, "read_by"),
    (as_text, "session_id"),
)
_COLUMNS: Final = labelled(team_record, teams)
_page: Final[Select[Any]] = select(*_COLUMNS).order_by(*descending(_T.updated_at, _T.id)).limit(LIMIT)
_messages: Final[Select[Any]] = (
    select(*labelled(team_message_record, team_messages))
    .where(_M.team_id == _TEAM)
    .order_by(*descending(_M.created_at, _M.id))
    .limit(LIMIT)
)

TEAM_BY_ID: Final[Select[Any]] = select(*_COLUMNS).where(_T.id == _TEAM)
TEAMS: Final = {False: _page, True: _page.where(beyond_key(_T.updated_at, _T.id, moving=True))}
TEAM_MESSAGES: Final = {False: _messages, True: _messages.where(beyond_key(_M.created_at, _M.id))}
"""By whether the page stands behind a key. The index of messages knows their team, so the messages of one are sorted."""
