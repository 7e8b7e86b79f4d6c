"""Teams as the store knows them: a copy that an import once made; the truth is in the files (lionagi 0.36)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TeamRecord:
    """One team. Times are epoch seconds."""

    team_id: str
    name: str
    status: str
    created_at: float | None
    updated_at: float | None
    member_count: int
    members: tuple[str, ...]
    reason_code: str | None
    reason_summary: str | None
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TeamMessageRecord:
    """One message of a team. ``recipient`` is ``all`` or names with commas between them; ``created_at`` is in epoch seconds."""

    message_id: str
    team_id: str
    created_at: float | None
    sender: str
    recipient: str
    content: str
    summary: str | None
    read_by: tuple[str, ...]
    session_id: str | None
    defects: tuple[str, ...] = ()
