"""What the store knows of a run (one row of ``sessions``), and the rules that name it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

RUN_KINDS: Final = ("agent", "play", "flow", "fanout", "show-play", "engine")
_NAMELESS: Final = frozenset({"", "agent", "session", "flow", "codex session"})
_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run as stored. Times are epoch seconds; ``None`` is unknown, never zero.

    ``metadata`` holds the keys of ``node_metadata`` that we read; it is empty when that column is broken, and in lists for runs
    that have ended.
    ``defects`` names the columns whose stored value could not be read as what it should be.
    ``has_messages`` is ``None`` where it was not asked for.
    """

    run_id: str
    created_at: float | None = None
    updated_at: float | None = None
    status: str | None = None
    name: str | None = None
    user_label: str | None = None
    show_topic: str | None = None
    show_play_name: str | None = None
    playbook_name: str | None = None
    agent_name: str | None = None
    kind: str | None = None
    source_kind: str | None = None
    invocation_id: str | None = None
    project: str | None = None
    project_source: str | None = None
    model: str | None = None
    provider: str | None = None
    effort: str | None = None
    agent_hash: str | None = None
    started_at: float | None = None
    ended_at: float | None = None
    ended_at_is_approximate: bool = False
    last_message_at: float | None = None
    current_phase: str | None = None
    reason_code: str | None = None
    reason_summary: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_cost_usd: float | None = None
    num_turns: int | None = None
    duration_ms: float | None = None
    artifacts_path: str | None = None
    progression_id: str | None = None
    has_messages: bool | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    verification: Mapping[str, object] | None = None
    contract: Mapping[str, object] | None = None
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """One branch (one agent's conversation) of a run. Times are epoch seconds."""

    branch_id: str
    run_id: str
    name: str | None
    agent_name: str | None
    model: str | None
    provider: str | None
    status: str | None
    created_at: float | None
    started_at: float | None
    ended_at: float | None
    progression_id: str
    system_message_id: str | None


@dataclass(frozen=True, slots=True)
class MessageRecord:
    """One message as stored. ``content`` is ``None`` when it is withheld or cannot be read."""

    message_id: str
    created_at: float | None
    lion_class: str
    role: str
    sender: str | None
    recipient: str | None
    content: Mapping[str, object] | None
    size_bytes: int
    branch_id: str | None = None


@dataclass(frozen=True, slots=True)
class MessageWindow:
    """Consecutive messages of one progression, oldest first.

    ``start`` and ``end`` are offsets in the stored id list as it is without blanks: a progression only grows at its end, so an
    offset once seen keeps its meaning. ``older`` tells whether ids stand before ``start``.
    """

    messages: tuple[MessageRecord, ...]
    start: int
    end: int
    older: bool


@dataclass(frozen=True, slots=True)
class TransitionRecord:
    """One row of ``status_transitions``. ``created_at`` is in epoch seconds."""

    transition_id: str
    entity_type: str
    entity_id: str
    previous_status: str | None
    status: str
    reason_code: str
    reason_summary: str | None
    source: str
    actor: str | None
    created_at: float | None


def display_name(run: RunRecord) -> str:
    """The name that a run goes by (lionagi 0.36, session_naming).

    User label, else play, else playbook, else ``agent · id · start``, else the stored name unless it says nothing,
    else the last twelve characters of the id.
    """
    for chosen in (run.user_label, run.show_play_name, run.playbook_name):
        if chosen and chosen.strip():
            return chosen.strip()
    if run.agent_name:
        return " · ".join(part for part in (run.agent_name, run.run_id[:4], _clock_time(run.started_at)) if part)
    cleaned = _BLANKS.sub(" ", run.name or "").strip()
    return cleaned if cleaned.lower() not in _NAMELESS else run.run_id[-12:]


def _clock_time(epoch: float | None) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%H:%M") if epoch is not None else ""


def effective_status(status: str | None) -> str:
    """The status that readers go by: a missing one counts as completed (lionagi 0.36)."""
    return status if status is not None else "completed"


def effective_kind(kind: str | None) -> str:
    """The kind that readers go by: a missing one counts as agent (lionagi 0.36)."""
    return kind if kind is not None else "agent"


def reported_cost(run: RunRecord) -> float | None:
    """Dollars as reported; ``None`` when nothing was reported. A codex run's cost is unknown (lionagi 0.36)."""
    return None if run.provider == "codex" else run.total_cost_usd


def shown_model(model: str | None) -> str | None:
    """The model to show; lionagi's place-holder for "no model" is hidden."""
    return None if model in (None, "", "<synthetic>") else model
