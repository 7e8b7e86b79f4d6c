"""Invocations: what started runs, and how those runs do (lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studio_tui.domain.runs import RunRecord


@dataclass(frozen=True, slots=True)
class InvocationRecord:
    """One invocation. Times are epoch seconds.

    ``project`` and ``last_activity_at`` are those of the runs that it started, the newest one's first; ``firing_*`` those of the
    firing that made it. ``children`` counts its runs by stored status (``None`` is SQL NULL); ``running`` holds some of those
    that run, for their health. ``prompt`` and ``metadata`` are left out of lists.
    """

    invocation_id: str
    skill: str
    plugin: str | None
    status: str
    started_at: float | None
    ended_at: float | None
    created_at: float | None
    updated_at: float | None
    session_count: int
    reason_code: str | None
    reason_summary: str | None
    project: str | None
    project_source: str | None
    last_activity_at: float | None
    firing_id: str | None
    firing_exit_code: int | None
    firing_error: str | None
    action_kind: str | None
    prompt: str | None = None
    metadata: Mapping[str, object] | None = None
    defects: tuple[str, ...] = ()
    children: Mapping[str | None, int] = field(default_factory=dict)
    running: tuple[RunRecord, ...] = ()
