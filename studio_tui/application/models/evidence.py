"""What a run says and is told while it goes: signals, controls, and panes of its detail that come page by page."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from studio_tui.application.models.artifacts import ArtifactSummary
from studio_tui.application.models.common import ContractModel, Epoch, PageQuery, RunId

ControlVerb = Literal["pause", "resume", "message"]
EvidencePane = Literal["signals", "controls", "artifacts"]


class Signal(ContractModel):
    """One thing that a run told, numbered within the run; ``op_id`` is empty for the run as a whole."""

    seq: int
    kind: str
    op_id: str = ""
    at: Epoch | None = None
    payload: dict[str, object] = {}
    problems: tuple[str, ...] = ()


class SignalQuery(ContractModel):
    """Signals of a run behind a number, in order: ask again with the last number to follow it."""

    run_id: RunId
    after: int = Field(default=0, ge=0)
    limit: int = Field(default=200, ge=1, le=1000)


class SendControl(ContractModel):
    """Say something to a running run; ``text`` goes with ``message`` and only with it."""

    run_id: RunId
    verb: ControlVerb
    text: str | None = None


class Control(ContractModel):
    """One thing that a run was told, and what became of it: waiting, applying, applied, rejected or other."""

    control_id: str
    run_id: RunId
    verb: str
    text: str | None = None
    state: str
    detail: str | None = None
    created_at: Epoch | None = None
    claimed_at: Epoch | None = None
    applied_at: Epoch | None = None
    problems: tuple[str, ...] = ()


class ControlStanding(ContractModel):
    """What a run was told and has not taken up yet, in the order of delivery, and whether it stands at a pause."""

    run_id: RunId
    pending: tuple[Control, ...] = ()
    pause_held: bool = False


class EvidenceRequest(PageQuery):
    """One pane of a run's detail. Signals and controls come newest first, artifacts oldest first."""

    run_id: RunId
    pane: EvidencePane


class EvidencePage(ContractModel):
    """A page of one pane."""

    pane: EvidencePane
    items: tuple[Signal | Control | ArtifactSummary, ...]
    has_next: bool
    next_cursor: str | None = None
