"""Approvals: what may be done once, who allowed it, and the ledger that shows it."""

from __future__ import annotations

from typing import Literal

from studio_tui.application.models.common import ApprovalId, ContractModel, Epoch, PageQuery, RunId, Seconds

ReasonClass = Literal["security", "policy", "mistake", "other"]


class Approval(ContractModel):
    """One approval. ``status`` is the one to show: one whose time ran out is expired, also where that is not written down yet.

    What was asked for is known by its hash only. ``remaining`` is what is left of its time while it can still be acted on.
    """

    approval_id: ApprovalId
    action_kind: str
    params_hash: str
    session_id: RunId | None = None
    status: str
    proposed_at: Epoch | None = None
    granted_at: Epoch | None = None
    consumed_at: Epoch | None = None
    expires_at: Epoch | None = None
    remaining: Seconds | None = None
    problems: tuple[str, ...] = ()


class GrantApproval(ContractModel):
    """Allow one that is pending, for one matching act."""

    approval_id: ApprovalId


class DenyApproval(ContractModel):
    """Refuse one that is pending. A reason has a class and words, or there is none."""

    approval_id: ApprovalId
    reason_class: ReasonClass | None = None
    reason: str | None = None


class LedgerQuery(PageQuery):
    """Lines of the ledger, the newest first: all, those that ended an approval (``decisions_only``), or those about one."""

    approval_id: ApprovalId | None = None
    decisions_only: bool = False


class LedgerLine(ContractModel):
    """One line: what became of which approval, and the hash that binds it to the line before."""

    sequence: int
    event_type: str
    approval_id: ApprovalId
    action_kind: str
    status_from: str | None = None
    status_to: str
    params_hash: str
    justification_class: str | None = None
    justification_reason: str | None = None
    created_at: Epoch | None = None
    chain_hash: str
    signed: bool
    problems: tuple[str, ...] = ()


class LedgerReport(ContractModel):
    """What checking every line came to. ``first_break`` says where the chain breaks first, and how."""

    valid: bool
    entries: int
    last_sequence: int
    broken: int
    first_break: str | None = None
