"""Tables of older stores whose CHECK lacks a word are made anew on SQLite, which cannot change a CHECK in place.

The peer sees such a table by its CREATE statement (facts of the released package), and so do we. The new table gets all rows,
the columns, indexes and triggers that somebody added, and the definition of a new store. All of it is one transaction: a crash
leaves the old table or the new one. Foreign keys are not enforced meanwhile (dropping a parent would delete its children);
what they protect is compared before the commit instead.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from sqlalchemy import ColumnElement, Integer, Table, and_, column, func, insert, null, select, table, true
from sqlalchemy.engine import Connection
from sqlalchemy.schema import CreateTable

from studio_tui.application.errors import Conflict
from studio_tui.application.models.state import PlannedChange
from studio_tui.state.migrations import references
from studio_tui.state.migrations.columns import FILLED_FROM, column_changes, missing_columns, take_back_marks
from studio_tui.state.migrations.create_text import column_definitions, table_constraints
from studio_tui.state.migrations.outdated import lacking
from studio_tui.state.migrations.shape import Shape
from studio_tui.state.migrations.steps import Step, Tick
from studio_tui.state.migrations.stored_table import StoredTable, read_table
from studio_tui.state.schema import metadata

_CHUNK: Final = 20_000
"""Rows that are copied between two words about how far it is."""


def outdated_tables(shape: Shape) -> dict[Table, tuple[str, ...]]:
    """The tables that must be made anew, with what each lacks. None on PostgreSQL."""
    found = {item: lacking(item.name, shape.tables.get(item.name, "")) for item in metadata.sorted_tables}
    return {item: lacks for item, lacks in found.items() if lacks}


def rebuild_steps(shape: Shape) -> list[Step]:
    """A step for each outdated table; the columns that it lacks come with it."""
    missing = missing_columns(shape)
    steps = []
    for item, lacks in outdated_tables(shape).items():
        change = PlannedChange(
            kind="rebuild", table=item.name, name=item.name, detail=f"is made anew to allow {_listed(lacks)}, after a backup"
        )
        changes = (change, *column_changes(item, missing.get(item, ())))
        steps.append(Step(f"rebuilding {item.name}", changes, partial(rebuild, item), backup_before=item.name))
    return steps


def rebuild(target: Table, connection: Connection, tick: Tick) -> bool:
    """Make the table anew, inside a transaction. Raises :class:`Conflict` for what cannot be carried over."""
    stored = read_table(connection, target)
    if not lacking(target.name, stored.create):
        return False
    if obstacles := stored.obstacles(connection):
        raise Conflict("store", expected=None, actual=None, message=" ".join(obstacles))
    before = references.dangling(connection, target)
    new_name = f"studio_tui_new_{target.name}"
    connection.exec_driver_sql(_create_statement(connection, stored, new_name))
    _copy(connection, stored, new_name, tick)
    _compare(connection, stored, new_name)
    quote = connection.dialect.identifier_preparer.quote
    connection.exec_driver_sql(f"DROP TABLE {quote(target.name)}")
    connection.exec_driver_sql(f"ALTER TABLE {quote(new_name)} RENAME TO {quote(target.name)}")
    for statement in (*stored.indexes, *stored.triggers):
        connection.exec_driver_sql(statement)
    take_back_marks(connection, target.name, [item.name for item in target.columns if item.name not in stored.names])
    references.require_unharmed(connection, target, before)
    return False


def _create_statement(connection: Connection, stored: StoredTable, name: str) -> str:
    """The definition of a new store, with the columns that somebody added behind ours and before the table's constraints."""
    ours = str(CreateTable(stored.target).compile(dialect=connection.dialect))
    definitions = column_definitions(ours)
    assert definitions is not None
    parts = (*definitions.values(), *stored.extra_definitions.values(), *table_constraints(ours))
    return f"CREATE TABLE {connection.dialect.identifier_preparer.quote(name)} (\n\t" + ", \n\t".join(parts) + "\n)"


def _copy(connection: Connection, stored: StoredTable, new_name: str, tick: Tick) -> None:
    """All rows in their order, in pieces. What is computed (generated columns) is computed anew."""
    rowid = column("rowid", Integer)
    old = table(stored.target.name, rowid, *map(column, stored.writable))
    values = _values(stored, old.c)
    into = insert(table(new_name, *map(column, values)))
    total, done = connection.scalar(select(func.count()).select_from(old)) or 0, 0
    edge: int | None = None
    while True:
        rest: ColumnElement[bool] = true() if edge is None else rowid > edge
        edge = connection.scalar(select(rowid).select_from(old).where(rest).order_by(rowid).limit(1).offset(_CHUNK - 1))
        piece = rest if edge is None else and_(rest, rowid <= edge)
        rows = select(*values.values()).select_from(old).where(piece).order_by(rowid)
        done += connection.execute(into.from_select(list(values), rows)).rowcount
        tick(done, total)
        if edge is None:
            return


def _values(stored: StoredTable, old: Any) -> dict[str, ColumnElement[Any]]:
    """By the column of the new table, what its rows get there. Where nothing is said, the default of a new row is meant."""
    values = {name: _value(stored.target, old, name) for name in stored.writable}
    for missing in stored.target.columns:
        source = FILLED_FROM.get((stored.target.name, missing.name))
        if missing.name not in stored.names and (source is not None or missing.nullable):
            # a nullable column gets no default: that is for new rows, and the peer leaves it out as well
            values[missing.name] = null() if source is None else old[source]
    return values


def _value(target: Table, old: Any, name: str) -> ColumnElement[Any]:
    """The stored value; rows of the oldest stores have no time of change, and get that of their making (as from the peer)."""
    if (target.name, name) == ("sessions", "updated_at"):
        return func.coalesce(old.updated_at, old.created_at, time.time())
    found: ColumnElement[Any] = old[name]
    return found


def _compare(connection: Connection, stored: StoredTable, new_name: str) -> None:
    """Nothing is dropped before the new table has every row and every column of the old one."""
    counts = [connection.scalar(select(func.count()).select_from(table(name))) for name in (stored.target.name, new_name)]
    new = read_table(connection, stored.target, name=new_name)
    carried = {name: stored.facts[name] for name in stored.extra} == {name: new.facts.get(name) for name in stored.extra}
    if counts[0] != counts[1] or not carried:
        message = f"The table {stored.target.name} could not be carried over whole: it stays as it was."
        raise Conflict("store", expected=None, actual=None, message=message)


def _listed(lacks: Sequence[str]) -> str:
    return lacks[0] if len(lacks) == 1 else f"{', '.join(lacks[:-1])} and {lacks[-1]}"
