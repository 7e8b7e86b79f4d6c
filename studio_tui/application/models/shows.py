"""Shows and plays, each field with the source that says so."""

from __future__ import annotations

from typing import Literal

from studio_tui.application.models.common import ContractModel, Epoch, RunId, Seconds, StateWord

Source = Literal["store", "disk", "both"]


class ShowSummary(ContractModel):
    """One show in a list. ``gated`` counts plays that wait for a person; ``source`` says who knows the show.

    ``differences`` names what store and disk say differently of the show itself; the disk's word is the one shown.
    """

    topic: str
    state: StateWord
    status: str | None
    source: Source
    goal: str | None = None
    repo: str | None = None
    plays_total: int = 0
    plays_merged: int = 0
    gated: int = 0
    active_play: str | None = None
    created_at: Epoch | None = None
    updated_at: Epoch | None = None
    problem: str | None = None
    differences: tuple[str, ...] = ()


class PlayView(ContractModel):
    """One play. ``status`` is the disk's word where the disk has one, else the store's (facts: live truth is the disk).

    ``live_state`` is ``unavailable`` when the play's directory or its metadata cannot be read: that is never "not started".
    ``differences`` names what store and disk say differently. ``sources`` says, for each group of fields that is known
    (``status``, ``attempt``, ``times``, ``gate``, ``worktree``, ``merge``, ``session``), who says so.
    """

    name: str
    state: StateWord
    status: str | None
    source: Source
    live_state: Literal["available", "unavailable", "not_on_disk"]
    live_error: str | None = None
    attempt: int | None = None
    session_id: RunId | None = None
    started_at: Epoch | None = None
    ended_at: Epoch | None = None
    duration: Seconds | None = None
    gate: str | None = None
    gate_feedback: str | None = None
    needs_person: bool = False
    branch: str | None = None
    worktree: str | None = None
    merge_sha: str | None = None
    depends_on: tuple[str, ...] = ()
    reason: str = ""
    differences: tuple[str, ...] = ()
    sources: dict[str, Source] = {}


class ShowDetail(ShowSummary):
    """One show with its plays in order and the text of its documents."""

    base_branch: str | None = None
    integration_branch: str | None = None
    show_dir: str | None = None
    plays: tuple[PlayView, ...] = ()
    documents: dict[str, str] = {}
