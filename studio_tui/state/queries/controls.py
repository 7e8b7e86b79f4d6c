"""Statements about controls of runs.

The store has an index of the controls that wait, and none of all controls of a run. Those are few: people send them by hand.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, Text, bindparam, literal_column, or_, select

from studio_tui.domain.controls import ControlRecord
from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.queries.keysets import beyond_key, descending
from studio_tui.state.readers import as_epoch, as_object_or_empty, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import session_controls, sessions

_C: Final = session_controls.c
_RUN: Final = _C.session_id == bindparam("run_id", type_=Text)


def _as_words(value: Any, column: str, defects: list[str]) -> str | None:
    """The text of a message inside its payload."""
    return as_text(as_object_or_empty(value, column, defects).get("text"), column, defects)


control_record: Final = RowReader(
    ControlRecord,
    (as_required, "control_id=id run_id=session_id verb"),
    (_as_words, "text=payload"),
    (as_epoch, "created_at claimed_at applied_at"),
    (as_text, "result"),
)
_COLUMNS: Final = labelled(control_record, session_controls)
_page: Final[Select[Any]] = select(*_COLUMNS).where(_RUN).order_by(*descending(_C.created_at, _C.id)).limit(LIMIT)

CONTROLS: Final = {False: _page, True: _page.where(beyond_key(_C.created_at, _C.id))}
"""By whether the page stands behind a key."""

PENDING: Final[Select[Any]] = select(*_COLUMNS).where(_RUN, _C.applied_at.is_(None)).order_by(_C.created_at, _C.id).limit(LIMIT)
LAST_GATE: Final[Select[Any]] = (
    select(*_COLUMNS)
    .where(_RUN, _C.verb.in_([literal_column("'pause'"), literal_column("'resume'")]))
    .where(or_(_C.result.is_(None), _C.result == literal_column("'applied'")))
    .order_by(*descending(_C.created_at, _C.id))
    .limit(1)
)
LISTENER: Final[Select[Any]] = select(
    sessions.c.status, sessions.c.invocation_kind, sessions.c.run_id, sessions.c.node_metadata
).where(sessions.c.id == bindparam("run_id", type_=Text))
"""What decides whether anybody listens."""
