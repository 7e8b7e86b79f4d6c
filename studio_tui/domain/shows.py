"""What the store and the disk each know of a show and its plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PlayRecord:
    """One play as one source knows it. Times are epoch seconds; ``None`` is not known to that source.

    On disk ``status`` is ``None`` when the play's directory or its ``_meta.json`` cannot be read; ``error`` then says why.
    ``None`` without ``error`` means that the disk says nothing: there is no ``_meta.json`` yet, or it names no status. The
    store's word then stands, and a play that only the disk knows is pending (lionagi 0.36). ``error`` beside a ``status``
    speaks of something else that cannot be read: the verdict.
    """

    name: str
    status: str | None = None
    attempt: int | None = None
    playbook: str | None = None
    session_id: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    worktree: str | None = None
    branch: str | None = None
    merge_sha: str | None = None
    merged_at: float | None = None
    gate_passed: bool | None = None
    gate_feedback: str | None = None
    depends_on: tuple[str, ...] = ()
    sort_order: int = 0
    reason_code: str | None = None
    reason_summary: str | None = None
    attention_opt_in: bool = False
    updated_at: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ShowRecord:
    """One show as one source knows it. Times are epoch seconds."""

    topic: str
    show_id: str | None = None
    status: str | None = None
    goal: str | None = None
    repo: str | None = None
    base_branch: str | None = None
    integration_branch: str | None = None
    show_dir: str | None = None
    created_at: float | None = None
    updated_at: float | None = None
    reason_code: str | None = None
    reason_summary: str | None = None
    plays: tuple[PlayRecord, ...] = ()
    documents: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None
