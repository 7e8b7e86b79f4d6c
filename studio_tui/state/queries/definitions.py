"""Statements about the history of file definitions, and about workflow definitions."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Integer, Select, Text, and_, bindparam, func, select

from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.rows import version_record, workflow_record
from studio_tui.state.schema import definitions, workflow_defs

_D = definitions.c
_KIND: Final = bindparam("kind", type_=Text)
_NAME: Final = bindparam("name", type_=Text)
_LENGTH: Final = func.length(_D.content)
_FULL: Final = labelled(version_record, definitions, content_length=_LENGTH)
_OUTLINE: Final = labelled(version_record, definitions, content_length=_LENGTH, without=("content",))

_newest = select(_D.kind, _D.name, func.max(_D.version).label("version")).group_by(_D.kind, _D.name).subquery()

LATEST_VERSIONS: Final[Select[Any]] = select(*_FULL).join_from(
    _newest, definitions, and_(_D.kind == _newest.c.kind, _D.name == _newest.c.name, _D.version == _newest.c.version)
)
VERSIONS: Final[Select[Any]] = (
    select(*_OUTLINE).where(_D.kind == _KIND, _D.name == _NAME).order_by(_D.version.desc()).limit(LIMIT)
)
VERSION: Final[Select[Any]] = select(*_FULL).where(
    _D.kind == _KIND, _D.name == _NAME, _D.version == bindparam("version", type_=Integer)
)

WORKFLOWS: Final[Select[Any]] = select(*labelled(workflow_record, workflow_defs, without=("spec",))).order_by(
    workflow_defs.c.name
)
WORKFLOW_BY_NAME: Final[Select[Any]] = select(*labelled(workflow_record, workflow_defs)).where(workflow_defs.c.name == _NAME)
