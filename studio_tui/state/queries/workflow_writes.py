"""Statements behind changes of workflow definitions."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Select, Text, bindparam, select

from studio_tui.state.queries.columns import labelled
from studio_tui.state.rows import workflow_record
from studio_tui.state.schema import workflow_defs

WORKFLOW_BY_ID: Final[Select[Any]] = select(*labelled(workflow_record, workflow_defs)).where(
    workflow_defs.c.id == bindparam("workflow_id", type_=Text)
)
