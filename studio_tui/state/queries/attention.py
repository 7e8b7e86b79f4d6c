"""Statements about decisions on attention items."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Float, Integer, Select, Text, bindparam, func, or_, select

from studio_tui.domain.attention import Disposition, DispositionChange
from studio_tui.state.queries.columns import IDS, LIMIT, labelled
from studio_tui.state.readers import as_count, as_epoch, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import (
    attention_disposition_history,
    attention_disposition_revisions,
    attention_dispositions,
)

_D: Final = attention_dispositions.c
_H: Final = attention_disposition_history.c
_R: Final = attention_disposition_revisions.c
_ITEM: Final = bindparam("item_id", type_=Text)
_HOLDS: Final = or_(_D.expires_at.is_(None), _D.expires_at > bindparam("now", type_=Float))

disposition_record: Final = RowReader(
    Disposition,
    (as_required, "item_id state"),
    (as_text, "note"),
    (as_epoch, "created_at updated_at expires_at"),
    (as_required, "actor source_status"),
    (as_count, "revision"),
)
change_record: Final = RowReader(
    DispositionChange,
    (as_required, "change_id=id"),
    (as_count, "sequence"),
    (as_required, "item_id"),
    (as_text, "prior_state"),
    (as_required, "new_state"),
    (as_text, "note"),
    (as_required, "actor"),
    (as_text, "source_status"),
    (as_epoch, "created_at"),
)
_COLUMNS: Final = labelled(disposition_record, attention_dispositions)
_CHANGE_COLUMNS: Final = labelled(change_record, attention_disposition_history)

DISPOSITION: Final[Select[Any]] = select(*_COLUMNS).where(_D.item_id == _ITEM)
DISPOSITIONS_OF: Final[Select[Any]] = select(*_COLUMNS).where(_D.item_id.in_(IDS), _HOLDS)
CURRENT: Final[Select[Any]] = (
    select(*_COLUMNS).where(_D.item_id > bindparam("after", type_=Text), _HOLDS).order_by(_D.item_id).limit(LIMIT)
)
REVISIONS_OF: Final[Select[Any]] = select(_R.item_id, _R.revision).where(_R.item_id.in_(IDS))
LAST_REVISION: Final[Select[Any]] = select(_R.revision).where(_R.item_id == _ITEM)
LAST_SEQUENCE: Final[Select[Any]] = select(func.max(_H.sequence))
HISTORY_OF: Final[Select[Any]] = select(*_CHANGE_COLUMNS).where(_H.item_id == _ITEM).order_by(_H.sequence)
HISTORY: Final[Select[Any]] = (
    select(*_CHANGE_COLUMNS).where(_H.sequence < bindparam("before", type_=Integer)).order_by(_H.sequence.desc()).limit(LIMIT)
)
