"""What stands in the way of a migration: found before anything is changed, since a rule of the new schema would refuse it."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Index, func, inspect, select, table
from sqlalchemy.engine import Connection

from studio_tui.state.migrations.backfills import ATTENTION
from studio_tui.state.migrations.columns import cannot_be_added, is_marked, missing_columns
from studio_tui.state.migrations.objects import missing_indexes, missing_tables
from studio_tui.state.migrations.rebuilds import outdated_tables
from studio_tui.state.migrations.shape import Shape
from studio_tui.state.migrations.stored_table import duplicates, read_table
from studio_tui.state.schema import attention_disposition_history


def find_obstacles(connection: Connection, shape: Shape) -> list[str]:
    """Each in a sentence; empty when the migration can be done."""
    return [
        *_stranded(connection, shape),
        *_columns(connection, shape),
        *_rebuilds(connection, shape),
        *_uniques(connection, shape),
    ]


def _stranded(connection: Connection, shape: Shape) -> list[str]:
    """Old releases of the peer changed tables without a transaction: a crash could leave the rows under another name."""
    found = []
    for item in missing_tables(shape):
        name = f"{item.name}_new"
        if inspect(connection).has_table(name) and (count := _count(connection, name)):
            found.append(
                f"The table {item.name} is not there, and {name} holds {count} rows that an interrupted upgrade by another "
                "program left: rename it back first."
            )
    return found


def _columns(connection: Connection, shape: Shape) -> list[str]:
    """Columns of the oldest form of a table, which no default can stand for."""
    rebuilt = outdated_tables(shape)
    return [
        f"The table {item.name} has {count} rows and lacks the column {column.name}, which a row cannot be without."
        for item, columns in missing_columns(shape).items()
        for column in columns
        if item not in rebuilt and cannot_be_added(column) and (count := _count(connection, item.name))
    ]


def _rebuilds(connection: Connection, shape: Shape) -> list[str]:
    return [sentence for item in outdated_tables(shape) for sentence in read_table(connection, item).obstacles(connection)]


def _uniques(connection: Connection, shape: Shape) -> list[str]:
    """Rows that a missing unique index would refuse. The history of attention gets its numbers before its index."""
    found = []
    for item in missing_indexes(shape):
        assert item.table is not None
        names = [str(column.name) for column in item.columns]
        numbered = item.table is attention_disposition_history and not is_marked(shape, ATTENTION)
        if item.unique and not numbered and shape.has(item.table.name, *names):
            found += duplicates(connection, item.table.name, names, _condition(item, shape.dialect))
    return found


def _condition(item: Index, dialect: str) -> ColumnElement[bool] | None:
    condition: ColumnElement[bool] | None = item.dialect_options[dialect]["where"]
    return condition


def _count(connection: Connection, name: str) -> int:
    return connection.scalar(select(func.count()).select_from(table(name))) or 0
