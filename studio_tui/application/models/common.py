"""Types that every contract model shares."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from studio_tui.domain.statuses import StateWord as StateWord

Epoch = Annotated[float, Field(description="epoch seconds")]
Seconds = Annotated[float, Field(description="a length of time in seconds")]
Usd = Annotated[float, Field(description="US dollars as reported by the provider")]

T = TypeVar("T")


class ContractModel(BaseModel):
    """A value that crosses the application boundary: frozen, and without unknown fields (ADR-0078 D2)."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Page(ContractModel, Generic[T]):
    """Consecutive records of an indexed order.

    ``next_cursor`` is opaque and fetches the records after the last one; it is ``None`` when there are none.
    """

    items: tuple[T, ...]
    limit: int = Field(ge=1)
    has_next: bool
    next_cursor: str | None = None
    offset: int = Field(default=0, ge=0)


class StatusChange(ContractModel):
    """One entry of a record's status history (``status_transitions``)."""

    at: Epoch | None
    previous_status: str | None
    status: str
    reason_code: str
    reason_summary: str | None
    source: str
    actor: str | None
