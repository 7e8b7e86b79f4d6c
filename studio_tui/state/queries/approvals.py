"""Statements about approvals and their evidence."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Float, Integer, Select, Text, bindparam, literal_column, select

from studio_tui.domain.approvals import DECIDED, WAITING, ApprovalRecord, EvidenceRecord
from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.readers import as_count, as_epoch, as_flag, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import approval_evidence, approvals

_A: Final = approvals.c
_E: Final = approval_evidence.c
_BEFORE: Final = bindparam("before", type_=Integer)
_APPROVAL_ID: Final = bindparam("approval_id", type_=Text)
_WAITING: Final = _A.status.in_([literal_column(f"'{status}'") for status in WAITING])

approval_record: Final = RowReader(
    ApprovalRecord,
    (as_required, "approval_id=id action_kind params_hash"),
    (as_text, "session_id"),
    (as_required, "status"),
    (as_epoch, "proposed_at granted_at consumed_at expires_at"),
)
evidence_record: Final = RowReader(
    EvidenceRecord,
    (as_required, "evidence_id=id"),
    (as_count, "sequence"),
    (as_required, "event_type approval_id action_kind"),
    (as_text, "status_from"),
    (as_required, "status_to params_hash"),
    (as_text, "justification_class justification_reason"),
    (as_epoch, "created_at"),
    (as_required, "chain_hash"),
    (as_flag, "signed"),
)
_APPROVAL_COLUMNS: Final = labelled(approval_record, approvals)
_EVIDENCE_COLUMNS: Final = labelled(evidence_record, approval_evidence, signed=_E.hmac_sig.is_not(None))

APPROVAL_BY_ID: Final[Select[Any]] = select(*_APPROVAL_COLUMNS).where(_A.id == _APPROVAL_ID)
WAITING_APPROVALS: Final[Select[Any]] = select(*_APPROVAL_COLUMNS).where(_WAITING).order_by(_A.expires_at, _A.id).limit(LIMIT)
LAPSED_APPROVALS: Final[Select[Any]] = (
    select(*_APPROVAL_COLUMNS)
    .where(_WAITING, _A.expires_at < bindparam("now", type_=Float))
    .order_by(_A.expires_at, _A.id)
    .limit(LIMIT)
)

LAST_LINE: Final[Select[Any]] = select(_E.sequence, _E.chain_hash).order_by(_E.sequence.desc()).limit(1)
EVIDENCE: Final[Select[Any]] = select(*_EVIDENCE_COLUMNS).where(_E.sequence < _BEFORE).order_by(_E.sequence.desc()).limit(LIMIT)
DECISIONS: Final[Select[Any]] = (
    select(*_EVIDENCE_COLUMNS)
    .where(_E.sequence < _BEFORE, _E.status_to.in_([literal_column(f"'{status}'") for status in DECIDED]))
    .order_by(_E.sequence.desc())
    .limit(LIMIT)
)
EVIDENCE_OF: Final[Select[Any]] = select(*_EVIDENCE_COLUMNS).where(_E.approval_id == _APPROVAL_ID).order_by(_E.sequence)

LINES_AFTER: Final[Select[Any]] = (
    select(approval_evidence).where(_E.sequence > bindparam("after", type_=Integer)).order_by(_E.sequence).limit(LIMIT)
)
"""All columns, unread, for checking the chain."""
