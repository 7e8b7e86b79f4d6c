"""Whole tables and indexes that a store lacks, and on PostgreSQL the two checks that are widened in place."""

from __future__ import annotations

from functools import partial
from typing import Final

from sqlalchemy import CheckConstraint, Index, Table, inspect
from sqlalchemy.engine import Connection

from studio_tui.application.models.state import PlannedChange
from studio_tui.state.migrations.shape import Shape
from studio_tui.state.migrations.steps import Step, Tick
from studio_tui.state.schema import metadata, sessions

_WIDENED: Final = {"ck_sessions_invocation_kind": "engine", "ck_sessions_source_kind": "imported_codex"}
"""Checks of ``sessions`` that grew, with the newest word of each (lionagi 0.36). A check that is not there allows it already."""


def missing_tables(shape: Shape) -> tuple[Table, ...]:
    """The tables that are not there, in the order of their references."""
    return tuple(table for table in metadata.sorted_tables if table.name not in shape.tables)


def missing_indexes(shape: Shape) -> tuple[Index, ...]:
    """The indexes that tables which are there lack, by name; a missing table brings its own."""
    tables = [table for table in metadata.sorted_tables if table.name in shape.tables]
    return tuple(
        item for table in tables for item in sorted(table.indexes, key=index_name) if index_name(item) not in shape.indexes
    )


def index_name(item: Index) -> str:
    """The name of an index of ours: all of them have one."""
    return str(item.name)


def table_steps(shape: Shape) -> list[Step]:
    """One step for all missing tables."""
    tables = missing_tables(shape)
    changes = tuple(
        PlannedChange(kind="table", table=table.name, name=table.name, detail="is made, with its indexes") for table in tables
    )
    return [Step("making missing tables", changes, partial(_make_tables, tables))] if tables else []


def index_steps(shape: Shape) -> list[Step]:
    """A step for each missing index: on a big table each takes its time."""
    return [
        Step(f"making the index {index_name(item)}", (_index_change(item),), partial(_make_index, item))
        for item in missing_indexes(shape)
    ]


def constraint_steps(shape: Shape) -> list[Step]:
    """A step for each check of ``sessions`` on PostgreSQL that lacks its newest word."""
    return [
        Step(f"widening the check {name}", (_check_change(name, word),), partial(_widen, name))
        for name, word in _WIDENED.items()
        if _is_narrow(shape.checks.get(name), word)
    ]


def _index_change(item: Index) -> PlannedChange:
    assert item.table is not None
    kind = "unique index" if item.unique else "index"
    columns = ", ".join(getattr(column, "name", None) or str(column) for column in item.expressions)
    return PlannedChange(kind="index", table=item.table.name, name=index_name(item), detail=f"the {kind} on {columns} is made")


def _check_change(name: str, word: str) -> PlannedChange:
    return PlannedChange(kind="constraint", table=sessions.name, name=name, detail=f"also allows {word}")


def _is_narrow(check: str | None, word: str) -> bool:
    return check is not None and word not in check


def _make_tables(tables: tuple[Table, ...], connection: Connection, _tick: Tick) -> bool:
    metadata.create_all(connection, tables=list(tables), checkfirst=True)
    return False


def _make_index(item: Index, connection: Connection, _tick: Tick) -> bool:
    item.create(connection, checkfirst=True)
    return False


def _widen(name: str, connection: Connection, _tick: Tick) -> bool:
    present = {str(found["name"]): str(found["sqltext"]) for found in inspect(connection).get_check_constraints(sessions.name)}
    ours = next(item for column in sessions.columns for item in column.constraints if item.name == name)
    assert isinstance(ours, CheckConstraint)
    if _is_narrow(present.get(name), _WIDENED[name]):
        # the schema's own names and words, not data: DDL takes no parameters
        connection.exec_driver_sql(f"ALTER TABLE sessions DROP CONSTRAINT {name}")
        connection.exec_driver_sql(f"ALTER TABLE sessions ADD CONSTRAINT {name} CHECK ({ours.sqltext})")
    return False
