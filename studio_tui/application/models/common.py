"""Types that every contract model shares."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from studio_tui.application.moments import dated
from studio_tui.domain.statuses import StateWord as StateWord

Epoch = Annotated[float, Field(description="epoch seconds")]
Moment = Annotated[float, Field(allow_inf_nan=False, description="epoch seconds; given by whoever asks, so a real instant")]
CalendarMoment = Annotated[Moment, AfterValidator(dated)]
Seconds = Annotated[float, Field(description="a length of time in seconds")]
Age = Annotated[float, Field(description="seconds since, never negative")]
Usd = Annotated[float, Field(description="US dollars as reported by the provider")]

RunId = Annotated[str, Field(description="the id of a run")]
BranchId = Annotated[str, Field(description="the id of a branch of a run")]
MessageId = Annotated[str, Field(description="the id of a message")]
ScheduleId = Annotated[str, Field(description="the id of a schedule")]
FiringId = Annotated[str, Field(description="the id of a firing of a schedule")]
InvocationId = Annotated[str, Field(description="the id of an invocation")]
EngineRunId = Annotated[str, Field(description="the id of a run of an engine")]
WorkflowId = Annotated[str, Field(description="the id of a workflow definition")]
ArtifactId = Annotated[str, Field(description="the id of an artifact")]
ApprovalId = Annotated[str, Field(description="the id of an approval")]
DispatchId = Annotated[str, Field(description="the id of a message in the outbox")]
TeamId = Annotated[str, Field(description="the id of a team")]
AttentionItemId = Annotated[str, Field(description="run:<id>, inv:<id>, sched:<id> or play:<topic>:<name>")]
ReconciliationId = Annotated[str, Field(description="the id of the record of a half-finished save")]

T = TypeVar("T")


class ContractModel(BaseModel):
    """A value that crosses the application boundary: frozen, and without unknown fields (ADR-0078 D2)."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, json_schema_serialization_defaults_required=True)


class Page(ContractModel, Generic[T]):
    """Consecutive records of an indexed order.

    ``next_cursor`` is opaque and fetches the records after the last one; it is ``None`` when there are none.
    """

    items: tuple[T, ...]
    limit: int = Field(ge=1)
    has_next: bool
    next_cursor: str | None = None
    offset: int = Field(default=0, ge=0)


class Items(ContractModel, Generic[T]):
    """A list as the command line prints it: ``next_cursor`` is there where more follow, and only there."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    items: tuple[T, ...]
    has_next: bool
    next_cursor: str = ""


class PageQuery(ContractModel):
    """A page of a longer list; ``cursor`` comes from the page before."""

    cursor: str | None = None
    limit: int = Field(default=100, ge=1, le=500)


class StatusChange(ContractModel):
    """One entry of a record's status history (``status_transitions``)."""

    at: Epoch | None
    previous_status: str | None
    status: str
    reason_code: str
    reason_summary: str | None
    source: str
    actor: str | None
