"""Why a schedule fires, fired, or does not."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from studio_tui.application.models.common import CalendarMoment, ContractModel, Epoch
from studio_tui.application.models.schedules import Firing


class WhyQuery(ContractModel):
    """Ask about a schedule: its next firing, the one at an instant (a passed one is answered from records), or one recorded."""

    schedule_id: str
    at: Epoch | None = None
    firing_id: str | None = None


class WhyGate(ContractModel):
    """One gate: whether it lets the firing through, in words, with its figures. ``reason_code`` is what a refusal records."""

    gate: str
    passed: bool
    words: str
    reason_code: str | None = None
    evidence: dict[str, JsonValue] = Field(default_factory=dict)


class Why(ContractModel):
    """The answer in one sentence, and what it rests on.

    ``about``: ``coming`` is a prediction from how things stand now, by ``gates`` in the order in which they are asked;
    ``past`` is what was recorded: ``firing``, if there is a row, and ``records`` in words. ``fires`` is ``None`` where nothing
    is recorded. ``local`` is ``at`` on the schedule's own clock. ``chain`` says what follows a firing.
    """

    schedule_id: str
    name: str
    about: Literal["coming", "past"]
    at: Epoch | None
    local: str | None
    fires: bool | None
    answer: str
    gates: tuple[WhyGate, ...] = ()
    firing: Firing | None = None
    records: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()


class NextQuery(ContractModel):
    """Ask for the coming fires of a schedule, as the scheduler will compute them."""

    schedule_id: str
    count: int = Field(default=20, ge=1, le=1000)
    after: CalendarMoment | None = None
