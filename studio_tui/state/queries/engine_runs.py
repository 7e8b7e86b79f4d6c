"""Statements about engine runs and the definitions of engines."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, Text, and_, bindparam, or_, select

from studio_tui.domain.engine_runs import EngineDefinitionRecord, EngineRunRecord
from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.queries.keysets import beyond_key, descending
from studio_tui.state.queries.sql_forms import unindexed
from studio_tui.state.readers import as_epoch, as_flag, as_int, as_object, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import engine_defs, engine_runs

_R: Final = engine_runs.c
_F: Final = engine_defs.c
_KIND: Final = bindparam("kind", type_=Text)

engine_run_record: Final = RowReader(
    EngineRunRecord,
    (as_required, "run_id=id kind status"),
    (as_epoch, "started_at ended_at"),
    (as_text, "session_id invocation_id signal_session_id parent_session_id"),
    (as_object, "outcome=outcome_json"),
    (as_text, "export_dir"),
    (as_flag, "has_error"),
    (as_object, "spec=spec_json"),
    (as_text, "error"),
)
engine_definition_record: Final = RowReader(
    EngineDefinitionRecord,
    (as_required, "definition_id=id name kind"),
    (as_text, "model"),
    (as_int, "max_depth max_agents"),
    (as_object, "options"),
    (as_text, "description"),
    (as_epoch, "created_at updated_at"),
)
_HAS_ERROR: Final = _R.error.is_not(None)
_LISTED: Final = labelled(engine_run_record, engine_runs, without=("spec", "error"), has_error=_HAS_ERROR)
_DEFINITION: Final = labelled(engine_definition_record, engine_defs)

ENGINE_RUN_BY_ID: Final[Select[Any]] = select(*labelled(engine_run_record, engine_runs, has_error=_HAS_ERROR)).where(
    _R.id == bindparam("run_id", type_=Text)
)
ENGINE_DEFINITIONS_BY_ID_OR_NAME: Final[Select[Any]] = (
    select(*_DEFINITION)
    .where(or_(_F.id == bindparam("id_or_name", type_=Text), _F.name == bindparam("id_or_name", type_=Text)))
    .order_by((_F.id == bindparam("id_or_name", type_=Text)).desc())
    .limit(1)
)


def _of_session() -> ColumnElement[bool]:
    """Old rows name one run only, and that may be either (lionagi 0.36)."""
    session = bindparam("session_id", type_=Text)
    old = and_(_R.session_id == session, _R.signal_session_id.is_(None), _R.parent_session_id.is_(None))
    return or_(_R.signal_session_id == session, _R.parent_session_id == session, old)


@lru_cache(maxsize=16)
def engine_run_page(*, kind: bool, status: bool, session: bool, before: bool) -> Select[Any]:
    """Engine runs, newest start first; kind and status are checked on the walk, those of one run are few and looked up."""
    conditions: list[ColumnElement[bool]] = []
    if kind:
        conditions.append(unindexed(_R.kind) == _KIND)
    if status:
        conditions.append(unindexed(_R.status) == bindparam("status", type_=Text))
    if session:
        conditions.append(_of_session())
    if before:
        conditions.append(beyond_key(_R.started_at, _R.id))
    return select(*_LISTED).where(*conditions).order_by(*descending(_R.started_at, _R.id)).limit(LIMIT)


@lru_cache(maxsize=4)
def engine_definition_page(*, kind: bool, before: bool) -> Select[Any]:
    """Definitions, newest change first."""
    conditions: list[ColumnElement[bool]] = []
    if kind:
        conditions.append(unindexed(_F.kind) == _KIND)
    if before:
        conditions.append(beyond_key(_F.updated_at, _F.id, moving=True))
    return select(*_DEFINITION).where(*conditions).order_by(*descending(_F.updated_at, _F.id)).limit(LIMIT)
