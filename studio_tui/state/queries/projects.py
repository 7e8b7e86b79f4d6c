"""Statements about projects. Runs are counted in an index; their rows are not read."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column, CompoundSelect, Integer, Select, Text, bindparam, func, literal_column, null, select, union_all

from studio_tui.domain.projects import ProjectRecord
from studio_tui.state.queries.columns import LIMIT, labelled
from studio_tui.state.queries.runs import RUNNING
from studio_tui.state.readers import as_count, as_epoch, as_required, as_text
from studio_tui.state.rows import RowReader
from studio_tui.state.schema import projects, sessions

_P: Final = projects.c
_S: Final = sessions.c
_NAME: Final = bindparam("name", type_=Text)

project_record: Final = RowReader(
    ProjectRecord,
    (as_required, "name source"),
    (as_text, "path github description"),
    (as_epoch, "created_at updated_at last_seen_at"),
    (as_count, "run_count running_count"),
)
_NOT_COUNTED: Final = {"run_count": literal_column("0", Integer), "running_count": literal_column("0", Integer)}
_COLUMNS: Final = labelled(project_record, projects, **_NOT_COUNTED)

PROJECTS: Final[Select[Any]] = select(*_COLUMNS).order_by(func.coalesce(_P.last_seen_at, _P.updated_at).desc(), _P.name)
PROJECT_BY_NAME: Final[Select[Any]] = select(*_COLUMNS).where(_P.name == _NAME)

RUN_COUNTS: Final[CompoundSelect[Any]] = union_all(
    select(_S.project, func.count()).where(_S.project.is_not(None)).group_by(_S.project),
    select(null(), func.count()).select_from(sessions),
)
"""Runs by project, and with no name all of them: one statement, so that both are of the same moment."""

RUNNING_COUNTS: Final[Select[Any]] = select(_S.project, func.count()).where(RUNNING).group_by(_S.project)
RUN_COUNT: Final[Select[Any]] = select(func.count()).select_from(sessions).where(_S.project == _NAME)
RUNNING_COUNT: Final[Select[Any]] = select(func.count()).select_from(sessions).where(RUNNING, _S.project == _NAME)


def _used(column: Column[Any]) -> Select[Any]:
    count = func.count()
    return (
        select(column, count)
        .where(_S.project == _NAME, column.is_not(None))
        .group_by(column)
        .order_by(count.desc(), column)
        .limit(LIMIT)
    )


AGENTS_USED: Final = _used(_S.agent_name)
PLAYBOOKS_USED: Final = _used(_S.playbook_name)
