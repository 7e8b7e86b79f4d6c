"""The outbox: messages that are delivered for sure, or end as dead letters."""

from __future__ import annotations

from pydantic import Field

from studio_tui.application.models.common import ContractModel, DispatchId, Epoch, FiringId, Moment, PageQuery, RunId


class DispatchQuery(PageQuery):
    """Messages, the newest first, of these statuses or of any."""

    status: tuple[str, ...] = ()


class Dispatch(ContractModel):
    """One message. ``attempt`` counts the attempts that were begun. The token of its consumer is never told."""

    dispatch_id: DispatchId
    kind: str
    deliver_to: str
    status: str
    attempt: int
    max_attempts: int
    next_attempt_at: Epoch | None = None
    created_at: Epoch | None = None
    expires_at: Epoch | None = None
    updated_at: Epoch | None = None
    ack_required: bool = False
    dedup_key: str | None = None
    session_id: RunId | None = None
    schedule_run_id: FiringId | None = None
    last_error: str | None = None
    problems: tuple[str, ...] = ()


class DispatchDetail(Dispatch):
    """One message with what is delivered."""

    payload: dict[str, object] | None = None


class DispatchCount(ContractModel):
    """How many messages have a status."""

    status: str
    count: int


class MessageTransport(ContractModel):
    """The program that carries messages, or why there is none (``problem``): then messages wait, and none is attempted."""

    program: str | None = None
    problem: str | None = None


class AcknowledgeDispatch(ContractModel):
    """Say in the consumer's place that it has the message; ``token`` came with it."""

    dispatch_id: DispatchId
    token: str


class RetryDispatch(ContractModel):
    """Try a dead letter or an expired message again from the first attempt."""

    dispatch_id: DispatchId


class PurgeDispatch(ContractModel):
    """Delete one message, whatever its status."""

    dispatch_id: DispatchId


class PurgeDispatches(ContractModel):
    """Delete messages of a status, or all ended ones, that changed at or before ``before``: one of both must be given.

    With ``dry_run`` they are only counted.
    """

    status: str | None = None
    before: Moment | None = None
    dry_run: bool = True


class PurgeReport(ContractModel):
    """How many messages were deleted, or would be (``dry_run``), by status."""

    dry_run: bool
    total: int = Field(ge=0)
    counts: tuple[DispatchCount, ...] = ()
