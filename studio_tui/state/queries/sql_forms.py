"""The few expressions that SQLite and PostgreSQL spell differently; those about JSON are in ``json_text``."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, ColumnElement, Integer, LargeBinary, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.operators import OperatorType


class Condition(FunctionElement[bool]):
    """A condition that stands in its own brackets; SQLAlchemy would compare it with 1 for SQLite."""

    inherit_cache = True
    type = Boolean()

    def self_group(self, against: OperatorType | None = None) -> Any:
        """Nothing has to be put around it."""
        return self


class unindexed(FunctionElement[Any]):  # noqa: N801 - a function of SQL
    """A column that SQLite shall not look for an index of: the order of the page comes from another one (facts: +column)."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any]) -> None:
        super().__init__(column)
        self.type = column.type


@compiles(unindexed)
def _unindexed(element: unindexed, compiler: SQLCompiler, **options: Any) -> str:
    return operand(element, compiler, options)


@compiles(unindexed, "sqlite")
def _unindexed_sqlite(element: unindexed, compiler: SQLCompiler, **options: Any) -> str:
    return f"+{operand(element, compiler, options)}"


class id_list(FunctionElement[bytes]):  # noqa: N801
    """A progression's list of ids as bytes, written without blanks.

    An append may write the whole list anew: with blanks (``jsonb`` of PostgreSQL) or without (``json_insert`` of SQLite). Places
    in the list keep their meaning only if one of the two is always read. Bytes, since SQLite finds a place in them at once.
    """

    inherit_cache = True
    type = LargeBinary()


@compiles(id_list)
def _id_list(element: id_list, compiler: SQLCompiler, **options: Any) -> str:
    return f"convert_to(replace({operand(element, compiler, options)}, '\", \"', '\",\"'), 'UTF8')"


@compiles(id_list, "sqlite")
def _id_list_sqlite(element: id_list, compiler: SQLCompiler, **options: Any) -> str:
    """A list is written in one style throughout, so its beginning tells whether the replacement (milliseconds) is needed."""
    column = operand(element, compiler, options)
    return (
        f"CAST(CASE WHEN instr(substr({column}, 1, 300), '\", \"') > 0 THEN replace({column}, '\", \"', '\",\"') "
        f"ELSE {column} END AS BLOB)"
    )


class last_bytes(FunctionElement[bytes]):  # noqa: N801
    """``last_bytes(value, count)``: the end of some bytes, or all of them when they are fewer."""

    inherit_cache = True
    type = LargeBinary()


@compiles(last_bytes)
def _last_bytes(element: last_bytes, compiler: SQLCompiler, **options: Any) -> str:
    value, count = operands(element, compiler, options)
    return f"substr({value}, greatest(length({value}) - {count} + 1, 1))"


@compiles(last_bytes, "sqlite")
def _last_bytes_sqlite(element: last_bytes, compiler: SQLCompiler, **options: Any) -> str:
    value, count = operands(element, compiler, options)
    return f"substr({value}, -{count})"


class stored_bytes(FunctionElement[int]):  # noqa: N801
    """The size of a stored text in bytes."""

    inherit_cache = True
    type = Integer()


@compiles(stored_bytes)
def _stored_bytes(element: stored_bytes, compiler: SQLCompiler, **options: Any) -> str:
    return f"octet_length(CAST({operand(element, compiler, options)} AS text))"


@compiles(stored_bytes, "sqlite")
def _stored_bytes_sqlite(element: stored_bytes, compiler: SQLCompiler, **options: Any) -> str:
    return f"length(CAST({operand(element, compiler, options)} AS BLOB))"


class matches(Condition):  # noqa: N801
    """``matches(column, pattern)``: LIKE without regard to case, with ``\\`` before what is meant literally.

    SQLite disregards the case of ASCII letters only; see ``queries.text_search.spellings``.
    """

    inherit_cache = True


@compiles(matches)
def _matches(element: matches, compiler: SQLCompiler, **options: Any) -> str:
    column, pattern = operands(element, compiler, options)
    return f"({column} ILIKE {pattern} ESCAPE '\\')"


@compiles(matches, "sqlite")
def _matches_sqlite(element: matches, compiler: SQLCompiler, **options: Any) -> str:
    column, pattern = operands(element, compiler, options)
    return f"({column} LIKE {pattern} ESCAPE '\\')"


class begins_with(Condition):  # noqa: N801
    """``begins_with(column, prefix)``, case and wildcards taken literally; on SQLite a range of the column's index."""

    inherit_cache = True


@compiles(begins_with)
def _begins_with(element: begins_with, compiler: SQLCompiler, **options: Any) -> str:
    column, prefix = operands(element, compiler, options)
    return f"starts_with({column}, {prefix})"


@compiles(begins_with, "sqlite")
def _begins_with_sqlite(element: begins_with, compiler: SQLCompiler, **options: Any) -> str:
    column, prefix = operands(element, compiler, options)
    again = operands(element, compiler, options)[1]
    return f"({column} >= {prefix} AND {column} < {again} || char(1114111))"


class insertion_order(FunctionElement[Any]):  # noqa: N801
    """``insertion_order(table.c.id)``: what tells rows of one instant apart. PostgreSQL keeps no order, so there it is the id."""

    inherit_cache = True
    type = Text()


@compiles(insertion_order)
def _insertion_order(element: insertion_order, compiler: SQLCompiler, **options: Any) -> str:
    return operand(element, compiler, options)


@compiles(insertion_order, "sqlite")
def _insertion_order_sqlite(element: insertion_order, compiler: SQLCompiler, **options: Any) -> str:
    return f"{operand(element, compiler, options).rpartition('.')[0]}.rowid"


def operand(element: FunctionElement[Any], compiler: SQLCompiler, options: dict[str, Any]) -> str:
    """The only argument, as SQL."""
    return operands(element, compiler, options)[0]


def operands(element: FunctionElement[Any], compiler: SQLCompiler, options: dict[str, Any]) -> list[str]:
    """The arguments, as SQL."""
    return [compiler.process(clause, **options) for clause in element.clauses]
