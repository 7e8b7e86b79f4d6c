"""What people decided about things that need attention; the things themselves stay as they are."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from studio_tui.application.models.common import AttentionItemId, ContractModel, Epoch, Moment, PageQuery

DispositionState = Literal["acknowledged", "resolved", "expected", "snoozed"]


class AttentionDisposition(ContractModel):
    """What holds for one item. ``clears`` says whether it takes the item out of the queue; ``revision`` counts its decisions."""

    item_id: AttentionItemId
    state: str
    note: str | None = None
    created_at: Epoch | None = None
    updated_at: Epoch | None = None
    expires_at: Epoch | None = None
    actor: str
    source_status: str
    revision: int
    clears: bool
    problems: tuple[str, ...] = ()


class AttentionStanding(ContractModel):
    """How one item stands: the last revision of what was ever decided about it (0: nothing), and what holds now."""

    item_id: AttentionItemId
    revision: int = Field(ge=0)
    disposition: AttentionDisposition | None = None


class DecideAttention(ContractModel):
    """Decide about an item that was in ``source_status`` when it was looked at.

    ``expected`` needs a note, ``expected`` and ``snoozed`` need ``expires_at``. ``expected_revision`` is the one seen: an item
    that was opened again since cannot be decided without it.
    """

    item_id: AttentionItemId
    state: DispositionState
    source_status: str = Field(min_length=1)
    note: str | None = None
    expires_at: Moment | None = None
    expected_revision: int | None = Field(default=None, ge=0)


class ReopenAttention(ContractModel):
    """Take a decision back."""

    item_id: AttentionItemId


class AttentionHistoryQuery(PageQuery):
    """What was decided, the newest first; with ``item_id`` about one item."""

    item_id: AttentionItemId | None = None


class AttentionChange(ContractModel):
    """One line of that history, numbered over all items. ``new_state`` is ``open`` where a decision was taken back."""

    sequence: int
    item_id: AttentionItemId
    prior_state: str | None = None
    new_state: str
    note: str | None = None
    actor: str
    source_status: str | None = None
    created_at: Epoch | None = None
    problems: tuple[str, ...] = ()
