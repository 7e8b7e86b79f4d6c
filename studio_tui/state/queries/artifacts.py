"""Statements about artifacts."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Integer, Select, Text, bindparam, case, select, text

from studio_tui.domain.artifacts import ArtifactRecord
from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.queries.keysets import beyond_key, descending
from studio_tui.state.queries.sql_forms import stored_bytes
from studio_tui.state.readers import as_count, as_epoch, as_object, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import artifacts

LISTED_CONTENT: Final = 65_536
"""Contents up to this many bytes come with a list."""

_A: Final = artifacts.c
_SIZE: Final = stored_bytes(_A.content)
_LARGEST: Final = bindparam("largest", LISTED_CONTENT, type_=Integer)

artifact_record: Final = RowReader(
    ArtifactRecord,
    (as_required, "artifact_id=id kind name"),
    (as_text, "invocation_id session_id"),
    (as_epoch, "created_at updated_at"),
    (as_text, "file_path"),
    (as_count, "content_bytes"),
    (as_object, "content"),
)
_LISTED: Final = labelled(artifact_record, artifacts, content=case((_SIZE <= _LARGEST, _A.content)), content_bytes=_SIZE)

ARTIFACT_BY_ID: Final[Select[Any]] = select(*labelled(artifact_record, artifacts, content_bytes=_SIZE)).where(
    _A.id == bindparam("artifact_id", type_=Text)
)


def _of_owner(owner: Column[Any], *, after: bool) -> Select[Any]:
    conditions: list[ColumnElement[bool]] = [owner == bindparam("owner_id", type_=Text)]
    if after:
        conditions.append(beyond_key(_A.created_at, _A.id, newer=True))
    return select(*_LISTED).where(*conditions).order_by(_A.created_at, _A.id).limit(LIMIT)


OF_RUN: Final = {after: _of_owner(_A.session_id, after=after) for after in (False, True)}
OF_INVOCATION: Final = {after: _of_owner(_A.invocation_id, after=after) for after in (False, True)}
"""By whether the page stands after a key."""

_recent: Final[Select[Any]] = select(*_LISTED).order_by(*descending(_A.created_at, _A.id)).limit(LIMIT)
RECENT: Final = {False: _recent, True: _recent.where(beyond_key(_A.created_at, _A.id))}

NATURAL_KEYS: Final = {
    (True, True): ((_A.invocation_id, _A.session_id, _A.kind, _A.name), "invocation_id IS NOT NULL AND session_id IS NOT NULL"),
    (True, False): ((_A.invocation_id, _A.kind, _A.name), "invocation_id IS NOT NULL AND session_id IS NULL"),
    (False, True): ((_A.session_id, _A.kind, _A.name), "session_id IS NOT NULL AND invocation_id IS NULL"),
    (False, False): ((_A.kind, _A.name), "invocation_id IS NULL AND session_id IS NULL"),
}
"""By whether there is an invocation, and a run: the columns of the partial unique index, and its condition."""


def natural_key(*, invocation: bool, session: bool) -> dict[str, Any]:
    """The target of the upsert, as ``on_conflict_do_update`` takes it."""
    columns, condition = NATURAL_KEYS[invocation, session]
    return {"index_elements": list(columns), "index_where": text(condition)}
