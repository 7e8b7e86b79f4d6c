"""Statements about tags and labels of runs."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, Text, bindparam, func, select

from studio_tui.state.queries.columns import IDS, LIMIT
from studio_tui.state.schema import run_tags, sessions

_T: Final = run_tags.c

TAGS_OF: Final[Select[Any]] = select(_T.session_id, _T.tag).where(_T.session_id.in_(IDS)).order_by(_T.session_id, _T.tag)
ALL_TAGS: Final[Select[Any]] = select(_T.tag, func.count()).group_by(_T.tag).order_by(_T.tag).limit(LIMIT)
LABEL: Final[Select[Any]] = select(sessions.c.user_label).where(sessions.c.id == bindparam("run_id", type_=Text))
