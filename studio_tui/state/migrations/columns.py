"""Columns that releases before lionagi 0.36 did not have, added to the rows that are there (facts of the peer's own list).

Unlike the peer we add them with their CHECK and their reference, so that the table equals that of a new store, and on
PostgreSQL with eight bytes where the peer's ``REAL`` keeps four: an epoch would lose two minutes.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Final

from sqlalchemy import CheckConstraint, Column, MetaData, Table, delete, inspect, update
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.schema import CreateColumn

from studio_tui.application.models.state import PlannedChange
from studio_tui.state.migrations.shape import Shape
from studio_tui.state.migrations.steps import Step, Tick
from studio_tui.state.schema import metadata, schema_meta

ADDED_NULLABLE: Final = frozenset(
    {("sessions", "updated_at"), ("sessions", "progression_id"), ("branches", "progression_id"), ("artifacts", "updated_at")}
)
"""NOT NULL in a new store, without a value that rows of an older one could be given by the column's definition."""
FILLED_FROM: Final = {("sessions", "updated_at"): "created_at", ("artifacts", "updated_at"): "created_at"}
"""What is known instead, when the column is added. (The peer leaves NULL and fills it in at a rebuild only.)"""
_PLACEHOLDERS: Final = {("attention_disposition_history", "sequence"): "0"}
"""Defaults that stand until a backfill gives the rows their values."""
_BACKFILLED: Final = {
    "migration.attention_dispositions_backfill": (
        ("attention_dispositions", "revision"),
        ("attention_disposition_history", "sequence"),
    ),
    "migration.dispatched_at_backfill": (("schedule_runs", "dispatched_at"),),
    "migration.session_ended_at_backfill": (("sessions", "ended_at"),),
}
"""A mark cannot be true of a column that is not there: it is taken back when the column is added."""


def missing_columns(shape: Shape) -> dict[Table, tuple[Column[object], ...]]:
    """The columns that each existing table lacks, tables in the order of their references."""
    found = {
        table: tuple(column for column in table.columns if column.name not in shape.columns[table.name])
        for table in metadata.sorted_tables
        if table.name in shape.tables
    }
    return {table: columns for table, columns in found.items() if columns}


def cannot_be_added(column: Column[object]) -> bool:
    """Whether rows that exist would have no value for it: it belongs to the oldest form of its table."""
    place = (column.table.name, column.name)
    wanted = not column.nullable and column.server_default is None
    return column.primary_key or (wanted and place not in ADDED_NULLABLE and place not in _PLACEHOLDERS)


def column_changes(table: Table, columns: Collection[Column[object]]) -> tuple[PlannedChange, ...]:
    """The words for added columns."""
    return tuple(
        PlannedChange(kind="column", table=table.name, name=column.name, detail=f"is added, {_value_words(column)}")
        for column in columns
    )


def column_steps(shape: Shape, rebuilt: Collection[str]) -> list[Step]:
    """One step for each table that lacks columns and is not made anew anyway."""
    return [
        Step(f"adding columns to {table.name}", column_changes(table, columns), partial(_add_columns, table))
        for table, columns in missing_columns(shape).items()
        if table.name not in rebuilt
    ]


def addition(column: Column[object], dialect: Dialect) -> str:
    """What stands after ADD COLUMN.

    A column that may be NULL gets no default: the peer leaves rows that are there without a value, whatever new rows get.
    """
    place = (column.table.name, column.name)
    nullable = column.nullable or place in ADDED_NULLABLE
    default = None if nullable else _PLACEHOLDERS.get(place) or column.server_default
    checks = [CheckConstraint(item.sqltext, name=item.name) for item in column.constraints if isinstance(item, CheckConstraint)]
    scratch = Column(column.name, column.type, *checks, nullable=nullable, server_default=default)
    Table(column.table.name, MetaData(), scratch)
    words = [str(CreateColumn(scratch).compile(dialect=dialect))]
    for key in column.foreign_keys:
        quote = dialect.identifier_preparer.quote
        words.append(f"REFERENCES {quote(key.column.table.name)} ({quote(key.column.name)})")
        words += [f"ON DELETE {key.ondelete}"] if key.ondelete else []
    return " ".join(words)


def take_back_marks(connection: Connection, table: str, added: Collection[str]) -> None:
    """Delete the marks of backfills whose column is only now there, in the transaction that adds it."""
    marks = [mark for mark, places in _BACKFILLED.items() if any((table, column) in places for column in added)]
    if marks and inspect(connection).has_table(schema_meta.name):
        connection.execute(delete(schema_meta).where(schema_meta.c.key.in_(marks)))


def is_marked(shape: Shape, marker: str) -> bool:
    """Whether a one-time backfill was done, and on columns that are really there."""
    places = _BACKFILLED.get(marker, ())
    return shape.marked(marker) and all(shape.has(table, column) for table, column in places if table in shape.tables)


def _add_columns(table: Table, connection: Connection, _tick: Tick) -> bool:
    present = {str(column["name"]) for column in inspect(connection).get_columns(table.name)}
    dialect = connection.dialect
    added = [column for column in table.columns if column.name not in present]
    unless_there = "IF NOT EXISTS " if dialect.name == "postgresql" else ""
    name = dialect.identifier_preparer.quote(table.name)
    for column in added:
        # the schema's own names and texts, not data: DDL takes no parameters
        connection.exec_driver_sql(f"ALTER TABLE {name} ADD COLUMN {unless_there}{addition(column, dialect)}")
        if source := FILLED_FROM.get((table.name, column.name)):
            connection.execute(update(table).values({column.name: table.c[source]}).where(column.is_(None)))
    take_back_marks(connection, table.name, [column.name for column in added])
    return False


def _value_words(column: Column[object]) -> str:
    place = (column.table.name, column.name)
    if place in FILLED_FROM:
        return f"with the value of {FILLED_FROM[place]}"
    if column.nullable or place in ADDED_NULLABLE:
        return "without a value for the rows that are there"
    default = _PLACEHOLDERS.get(place) or getattr(column.server_default, "arg", "")
    return f"with {default} for the rows that are there"
