"""Runs: queries, list rows, details, and windows of their messages."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from studio_tui.application.models.common import (
    BranchId,
    ContractModel,
    Epoch,
    FiringId,
    InvocationId,
    MessageId,
    RunId,
    ScheduleId,
    Seconds,
    StateWord,
    StatusChange,
    Usd,
)

MessageKind = Literal["system", "instruction", "assistant", "tool_call", "tool_result", "unknown"]


class RunQuery(ContractModel):
    """Which runs to list, newest activity first. Every given condition must hold.

    ``status`` holds stored statuses (``completed`` also matches a missing one); ``text`` is looked for, literally and
    without regard to case, in name, label, agent, playbook and id. ``cursor`` comes from the page before. ``offset`` passes over
    so many runs instead, for whoever has no page before; it costs as much as reading them.
    """

    status: tuple[str, ...] = ()
    kind: str | None = None
    project: str | None = None
    project_is_null: bool = False
    tags: tuple[str, ...] = ()
    playbook: str | None = None
    text: str | None = None
    cursor: str | None = None
    offset: int = Field(default=0, ge=0, le=100_000)
    backwards: bool = False
    limit: int = Field(default=200, ge=1, le=500)


class RunSummary(ContractModel):
    """One run in a list. ``None`` is unknown or not reported, never zero.

    ``state`` is the word that screens show; ``status`` is what the store says (a missing one reads as completed).
    ``effective_health`` is derived for running runs only: healthy, idle, unresponsive, stale, orphaned.
    ``problems`` names stored values that could not be read.
    """

    run_id: RunId
    name: str
    state: StateWord
    status: str
    effective_health: str | None = None
    playbook_name: str | None = None
    agent_name: str | None = None
    invocation_kind: str = "agent"
    invocation_id: InvocationId | None = None
    project: str | None = None
    model: str | None = None
    provider: str | None = None
    started_at: Epoch | None = None
    ended_at: Epoch | None = None
    ended_at_is_approximate: bool = False
    updated_at: Epoch | None = None
    last_message_at: Epoch | None = None
    duration: Seconds | None = None
    current_phase: str | None = None
    status_reason_code: str | None = None
    status_reason_summary: str | None = None
    reason: str = ""
    total_cost_usd: Usd | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    problems: tuple[str, ...] = ()


class BranchSummary(ContractModel):
    """One branch (one agent's conversation) of a run."""

    branch_id: BranchId
    name: str
    model: str | None = None
    provider: str | None = None
    status: str | None = None
    started_at: Epoch | None = None
    ended_at: Epoch | None = None


class Provenance(ContractModel):
    """Where a run came from: schedule, firing, invocation. Absent links are ``None``."""

    invocation_id: InvocationId | None = None
    invocation_skill: str | None = None
    schedule_id: ScheduleId | None = None
    schedule_name: str | None = None
    firing_id: FiringId | None = None
    resumed_from: RunId | None = None


class RunDetail(RunSummary):
    """One run with everything its screen shows except the messages."""

    effort: str | None = None
    num_turns: int | None = None
    artifacts_path: str | None = None
    artifact_status: str | None = None
    missing_required: tuple[str, ...] = ()
    branches: tuple[BranchSummary, ...] = ()
    history: tuple[StatusChange, ...] = ()
    provenance: Provenance = Provenance()
    siblings: tuple[RunId, ...] = ()
    pid: int | None = None
    pid_host: str | None = None


class MessageQuery(ContractModel):
    """A window of a run's transcript.

    With neither ``before`` nor ``after`` it is the newest ``limit`` messages. ``before`` and ``after`` are positions from
    an earlier window (``start`` and ``end``). ``branch_id`` narrows to one branch.
    """

    run_id: RunId
    branch_id: BranchId | None = None
    before: int | None = Field(default=None, ge=0)
    after: int | None = Field(default=None, ge=0)
    limit: int = Field(default=200, ge=1, le=1000)


class MessageView(ContractModel):
    """One message, ready to draw. ``text`` is what a person reads; arguments and output are compact JSON or text.

    ``withheld_bytes`` is set when the body is too large to send; ``pruned_bytes`` when retention has reclaimed it.
    ``call_id`` of a result names the ``message_id`` of the call that it answers, and the other way round.
    """

    message_id: MessageId
    kind: MessageKind
    at: Epoch | None = None
    sender: str | None = None
    text: str = ""
    function: str | None = None
    arguments: str | None = None
    output: str | None = None
    error: str | None = None
    call_id: str | None = None
    size_bytes: int = 0
    withheld_bytes: int | None = None
    pruned_bytes: int | None = None


class MessagePage(ContractModel):
    """Consecutive messages, oldest first, and where they stand in the transcript."""

    items: tuple[MessageView, ...]
    start: int
    end: int
    has_older: bool
    live: bool
