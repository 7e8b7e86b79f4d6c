"""References between tables around a rebuild: as many lead nowhere afterwards as did before, and not one more.

Stores hold some: rows that were written without enforcement, or before a column became a reference. They are no reason to
refuse an upgrade, and none may be added by it.
"""

from __future__ import annotations

from collections import Counter

from sqlalchemy import Table, exists, func, select
from sqlalchemy.engine import Connection

from studio_tui.application.errors import Conflict
from studio_tui.state.schema import metadata

Dangling = Counter[tuple[str, str]]
"""How many rows of a table (first name) refer to rows of another (second) that are not there."""


def dangling(connection: Connection, changed: Table) -> Dangling:
    """The references from and to a table, counted by the schema, whether or not the store declares them, and by SQLite."""
    return _by_schema(connection, changed) | _by_sqlite(connection, changed)


def require_unharmed(connection: Connection, changed: Table, before: Dangling) -> None:
    """Raises :class:`Conflict` when SQLite finds a reference leading nowhere that did not before."""
    if _by_sqlite(connection, changed) - before:
        message = f"Making {changed.name} anew would break references between rows: it stays as it was."
        raise Conflict("store", expected=None, actual=None, message=message)


def _by_sqlite(connection: Connection, changed: Table) -> Dangling:
    quote = connection.dialect.identifier_preparer.quote
    found: Dangling = Counter()
    for item in _around(connection, changed):
        rows = connection.exec_driver_sql(f"PRAGMA foreign_key_check({quote(item.name)})")
        found.update((str(row[0]), str(row[2])) for row in rows)
    return found


def _by_schema(connection: Connection, changed: Table) -> Dangling:
    found: Dangling = Counter()
    for child in _around(connection, changed):
        present = _columns(connection, child)
        for key in child.foreign_keys:
            if key.parent.name in present:
                parent = key.column.table.alias()
                named = select(func.count()).select_from(child).where(key.parent.is_not(None))
                if _columns(connection, key.column.table):
                    named = named.where(~exists().where(parent.c[key.column.name] == key.parent))
                found[child.name, key.column.table.name] += connection.scalar(named) or 0
    return found


def _around(connection: Connection, changed: Table) -> list[Table]:
    """The table and those that refer to it, as far as they are there."""
    children = [item for item in metadata.sorted_tables if any(key.column.table is changed for key in item.foreign_keys)]
    return [item for item in {changed: None, **dict.fromkeys(children)} if _columns(connection, item)]


def _columns(connection: Connection, item: Table) -> set[str]:
    """The columns that a table has in the store; none when it is not there."""
    return set(connection.exec_driver_sql("SELECT name FROM pragma_table_xinfo(?)", (item.name,)).scalars())
