"""One table as a SQLite store has it, with whatever somebody added, and what stands in the way of making it anew."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import CheckConstraint, ColumnElement, Table, UniqueConstraint, and_, column, func, select, table, text
from sqlalchemy.engine import Connection

from studio_tui.state.migrations.columns import FILLED_FROM
from studio_tui.state.migrations.create_text import column_definitions, table_constraints

Facts = tuple[str, bool, str | None, bool, int]
"""Of a column: type, NOT NULL, default, part of the primary key, and 0 for a plain one, 2 or 3 for a generated one."""


@dataclass(frozen=True)
class StoredTable:
    """``facts`` are those of its columns; ``indexes`` and ``triggers`` the statements that made them."""

    target: Table
    create: str
    facts: dict[str, Facts]
    indexes: tuple[str, ...]
    triggers: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """All columns."""
        return frozenset(self.facts)

    @property
    def writable(self) -> tuple[str, ...]:
        """Columns that hold a value of their own."""
        return tuple(name for name, facts in self.facts.items() if facts[4] == 0)

    @property
    def extra(self) -> tuple[str, ...]:
        """Columns that lionagi 0.36 does not know."""
        return tuple(name for name in self.facts if name not in self.target.columns)

    @cached_property
    def extra_definitions(self) -> dict[str, str]:
        """The text of each added column's definition, as far as it can be read for certain."""
        found = column_definitions(self.create) or {}
        return {name: found[name] for name in self.extra if name in found}

    def obstacles(self, connection: Connection) -> list[str]:
        """Why it cannot be made anew without losing something, each in a sentence; empty when it can."""
        return [*self._unreadable_columns(), *self._missing_values(connection), *self._broken_rules(connection)]

    def _unreadable_columns(self) -> list[str]:
        found = []
        for name in self.extra:
            rules = [rule for rule in table_constraints(self.create) if re.search(rf"\b{re.escape(name)}\b", rule)]
            if name not in self.extra_definitions or self.facts[name][3] or rules:
                found.append(
                    f"The table {self.target.name} has the column {name[:60]}, which lionagi 0.36 does not know and which cannot "
                    "be carried over with certainty: remove it, or keep it elsewhere."
                )
        return found

    def _missing_values(self, connection: Connection) -> list[str]:
        """Rows without a value that a row of the new table must have."""
        found = []
        for wanted in self.target.columns:
            if wanted.nullable or (self.target.name, wanted.name) in FILLED_FROM:
                continue
            if wanted.name in self.facts:
                count = self._count(connection, column(wanted.name).is_(None))
            else:
                count = 0 if wanted.server_default is not None else self._count(connection)
            if count:
                found.append(f"{count} rows of {self.target.name} have no {wanted.name}, and a row cannot be without.")
        return found

    def _broken_rules(self, connection: Connection) -> list[str]:
        """Rows that the CHECKs and UNIQUEs of the new table would refuse."""
        found = []
        for owner in self.target.columns:
            for rule in owner.constraints:
                if isinstance(rule, CheckConstraint) and owner.name in self.facts:
                    count = self._count(connection, text(f"NOT ({rule.sqltext})"))
                    if count:
                        found.append(f"{count} rows of {self.target.name} hold a {owner.name} that lionagi 0.36 does not know.")
        for unique in self.target.constraints:
            if isinstance(unique, UniqueConstraint) and self.names.issuperset(unique.columns.keys()):
                found += duplicates(connection, self.target.name, unique.columns.keys())
        return found

    def _count(self, connection: Connection, *where: Any) -> int:
        rows = select(func.count()).select_from(table(self.target.name))
        return connection.scalar(rows.where(*where)) or 0


def duplicates(connection: Connection, name: str, columns: list[str], where: ColumnElement[bool] | None = None) -> list[str]:
    """The sentence about rows that a unique rule over these columns would refuse; none when there are none."""
    keys: list[ColumnElement[Any]] = [column(key) for key in columns]
    rows = select(*keys).select_from(table(name)).where(and_(*(key.is_not(None) for key in keys)))
    rows = rows if where is None else rows.where(where)
    groups = rows.group_by(*keys).having(func.count() > 1).subquery()
    count = connection.scalar(select(func.count()).select_from(groups))
    if not count:
        return []
    return [f"{count} groups of rows of {name} share what must be unique ({', '.join(columns)})."]


def read_table(connection: Connection, target: Table, *, name: str | None = None) -> StoredTable:
    """The table as it is stored (under another name, if given)."""
    rows = connection.exec_driver_sql("SELECT type, sql FROM sqlite_master WHERE tbl_name = ?", (name or target.name,)).all()
    made = {kind: tuple(str(sql) for found, sql in rows if found == kind and sql) for kind in ("table", "index", "trigger")}
    columns = connection.exec_driver_sql(
        'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid', (name or target.name,)
    )
    facts = {str(row[0]): (str(row[1]), bool(row[2]), row[3], bool(row[4]), int(row[5])) for row in columns}
    return StoredTable(target, "".join(made["table"]), facts, made["index"], made["trigger"])
