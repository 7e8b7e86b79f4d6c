"""Statements behind new versions of file definitions."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, Text, bindparam, func, select

from studio_tui.state.queries.columns import labelled
from studio_tui.state.rows import version_record
from studio_tui.state.schema import definitions

_D: Final = definitions.c
_OF_ONE: Final = (_D.kind == bindparam("kind", type_=Text), _D.name == bindparam("name", type_=Text))

NEWEST: Final[Select[Any]] = (
    select(*labelled(version_record, definitions, content_length=func.length(_D.content)))
    .where(*_OF_ONE)
    .order_by(_D.version.desc())
    .limit(1)
)
NEWEST_NUMBER: Final[Select[Any]] = select(func.max(_D.version)).where(*_OF_ONE)
