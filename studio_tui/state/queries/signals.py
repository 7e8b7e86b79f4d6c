"""Statements about signals of runs; all go along their numbers."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Integer, Select, Text, bindparam, func, select

from studio_tui.domain.signals import SignalRecord
from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.readers import as_count, as_epoch, as_object_or_empty, as_required
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import session_signals

_S: Final = session_signals.c
_RUN: Final = _S.session_id == bindparam("run_id", type_=Text)

signal_record: Final = RowReader(
    SignalRecord,
    (as_required, "signal_id=id run_id=session_id"),
    (as_count, "seq"),
    (as_required, "kind op_id"),
    (as_epoch, "at=ts"),
    (as_object_or_empty, "payload"),
)
_COLUMNS: Final = labelled(signal_record, session_signals)

AFTER: Final[Select[Any]] = select(*_COLUMNS).where(_RUN, _S.seq > bindparam("seq", type_=Integer)).order_by(_S.seq).limit(LIMIT)
TAIL: Final[Select[Any]] = (
    select(*_COLUMNS).where(_RUN, _S.seq < bindparam("before", type_=Integer)).order_by(_S.seq.desc()).limit(LIMIT)
)
"""Newest first; the caller turns them round."""

LAST_SEQ: Final[Select[Any]] = select(func.max(_S.seq)).where(_RUN)
