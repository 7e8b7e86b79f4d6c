"""The few expressions that SQLite and PostgreSQL spell differently.

On SQLite a JSON column holds whatever was stored, and ``json_extract`` raises for the whole statement when one row is no JSON
(that is how one bad row empties every list of lionagi 0.36). Each expression here is guarded so that it cannot raise. On
PostgreSQL the column type ``json`` has checked the text already.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Boolean, ColumnElement, Integer, LargeBinary, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.operators import OperatorType

from studio_tui.state.readers import BROKEN, METADATA_KEYS

_CHILD_KEY: Final = "engine_parent_run_id"


class _Condition(FunctionElement[bool]):
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
    return _operand(element, compiler, options)


@compiles(unindexed, "sqlite")
def _unindexed_sqlite(element: unindexed, compiler: SQLCompiler, **options: Any) -> str:
    return f"+{_operand(element, compiler, options)}"


class is_listed(_Condition):  # noqa: N801
    """Whether a run is not the child of an engine run; those are never listed (lionagi 0.36).

    Most rows never name the key, and a text search is several times cheaper than a parse. A row whose metadata is no JSON is
    listed: nobody can say that it is a child, and it must be seen to be mended.
    """

    inherit_cache = True


@compiles(is_listed)
def _is_listed(element: is_listed, compiler: SQLCompiler, **options: Any) -> str:
    return f"(({_operand(element, compiler, options)} ->> '{_CHILD_KEY}') IS NULL)"


@compiles(is_listed, "sqlite")
def _is_listed_sqlite(element: is_listed, compiler: SQLCompiler, **options: Any) -> str:
    column = _operand(element, compiler, options)
    return (
        f"(CASE WHEN {column} IS NULL OR {column} NOT GLOB '*{_CHILD_KEY}*' OR NOT json_valid({column}) THEN 1 "
        f"ELSE json_extract({column}, '$.{_CHILD_KEY}') IS NULL END)"
    )


class picked_values(FunctionElement[str]):  # noqa: N801
    """The values of ``METADATA_KEYS`` in a metadata column, as the text of a JSON list; NULL when there is no metadata.

    What is no JSON object comes back as ``readers.BROKEN``.
    """

    inherit_cache = True
    type = Text()


@compiles(picked_values)
def _picked_values(element: picked_values, compiler: SQLCompiler, **options: Any) -> str:
    column = _operand(element, compiler, options)
    values = ", ".join(f"{column} -> '{key}'" for key in METADATA_KEYS)
    return (
        f"CASE json_typeof({column}) WHEN 'object' THEN CAST(json_build_array({values}) AS text) WHEN 'null' THEN NULL "
        f"ELSE CASE WHEN {column} IS NOT NULL THEN '{BROKEN}' END END"
    )


@compiles(picked_values, "sqlite")
def _picked_values_sqlite(element: picked_values, compiler: SQLCompiler, **options: Any) -> str:
    column = _operand(element, compiler, options)
    paths = ", ".join(f"'$.{key}'" for key in METADATA_KEYS)
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN NOT json_valid({column}) THEN '{BROKEN}' "
        f"ELSE CASE json_type({column}) WHEN 'object' THEN json_extract({column}, {paths}) WHEN 'null' THEN NULL "
        f"ELSE '{BROKEN}' END END"
    )


class broken_mark(FunctionElement[str]):  # noqa: N801
    """``readers.BROKEN`` for a metadata column that holds no JSON, else NULL: what a list needs to know of an ended run's."""

    inherit_cache = True
    type = Text()


@compiles(broken_mark)
def _broken_mark(element: broken_mark, compiler: SQLCompiler, **options: Any) -> str:
    return "NULL"


@compiles(broken_mark, "sqlite")
def _broken_mark_sqlite(element: broken_mark, compiler: SQLCompiler, **options: Any) -> str:
    column = _operand(element, compiler, options)
    return f"CASE WHEN {column} IS NOT NULL AND NOT json_valid({column}) THEN '{BROKEN}' END"


class id_list(FunctionElement[bytes]):  # noqa: N801
    """A progression's list of ids as bytes, written without blanks.

    An append may write the whole list anew: with blanks (``jsonb`` of PostgreSQL) or without (``json_insert`` of SQLite). Places
    in the list keep their meaning only if one of the two is always read. Bytes, since SQLite finds a place in them at once.
    """

    inherit_cache = True
    type = LargeBinary()


@compiles(id_list)
def _id_list(element: id_list, compiler: SQLCompiler, **options: Any) -> str:
    return f"convert_to(replace({_operand(element, compiler, options)}, '\", \"', '\",\"'), 'UTF8')"


@compiles(id_list, "sqlite")
def _id_list_sqlite(element: id_list, compiler: SQLCompiler, **options: Any) -> str:
    """A list is written in one style throughout, so its beginning tells whether the replacement (milliseconds) is needed."""
    column = _operand(element, compiler, options)
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
    value, count = _operands(element, compiler, options)
    return f"substr({value}, greatest(length({value}) - {count} + 1, 1))"


@compiles(last_bytes, "sqlite")
def _last_bytes_sqlite(element: last_bytes, compiler: SQLCompiler, **options: Any) -> str:
    value, count = _operands(element, compiler, options)
    return f"substr({value}, -{count})"


class stored_bytes(FunctionElement[int]):  # noqa: N801
    """The size of a stored text in bytes."""

    inherit_cache = True
    type = Integer()


@compiles(stored_bytes)
def _stored_bytes(element: stored_bytes, compiler: SQLCompiler, **options: Any) -> str:
    return f"octet_length(CAST({_operand(element, compiler, options)} AS text))"


@compiles(stored_bytes, "sqlite")
def _stored_bytes_sqlite(element: stored_bytes, compiler: SQLCompiler, **options: Any) -> str:
    return f"length(CAST({_operand(element, compiler, options)} AS BLOB))"


class matches(_Condition):  # noqa: N801
    """``matches(column, pattern)``: LIKE without regard to case, with ``\\`` before what is meant literally.

    SQLite disregards the case of ASCII letters only; see ``queries.text_search.spellings``.
    """

    inherit_cache = True


@compiles(matches)
def _matches(element: matches, compiler: SQLCompiler, **options: Any) -> str:
    column, pattern = _operands(element, compiler, options)
    return f"({column} ILIKE {pattern} ESCAPE '\\')"


@compiles(matches, "sqlite")
def _matches_sqlite(element: matches, compiler: SQLCompiler, **options: Any) -> str:
    column, pattern = _operands(element, compiler, options)
    return f"({column} LIKE {pattern} ESCAPE '\\')"


class begins_with(_Condition):  # noqa: N801
    """``begins_with(column, prefix)``, case and wildcards taken literally; on SQLite a range of the column's index."""

    inherit_cache = True


@compiles(begins_with)
def _begins_with(element: begins_with, compiler: SQLCompiler, **options: Any) -> str:
    column, prefix = _operands(element, compiler, options)
    return f"starts_with({column}, {prefix})"


@compiles(begins_with, "sqlite")
def _begins_with_sqlite(element: begins_with, compiler: SQLCompiler, **options: Any) -> str:
    column, prefix = _operands(element, compiler, options)
    again = _operands(element, compiler, options)[1]
    return f"({column} >= {prefix} AND {column} < {again} || char(1114111))"


class insertion_order(FunctionElement[Any]):  # noqa: N801
    """``insertion_order(table.c.id)``: what tells rows of one instant apart. PostgreSQL keeps no order, so there it is the id."""

    inherit_cache = True
    type = Text()


@compiles(insertion_order)
def _insertion_order(element: insertion_order, compiler: SQLCompiler, **options: Any) -> str:
    return _operand(element, compiler, options)


@compiles(insertion_order, "sqlite")
def _insertion_order_sqlite(element: insertion_order, compiler: SQLCompiler, **options: Any) -> str:
    return f"{_operand(element, compiler, options).rpartition('.')[0]}.rowid"


def _operand(element: FunctionElement[Any], compiler: SQLCompiler, options: dict[str, Any]) -> str:
    return _operands(element, compiler, options)[0]


def _operands(element: FunctionElement[Any], compiler: SQLCompiler, options: dict[str, Any]) -> list[str]:
    return [compiler.process(clause, **options) for clause in element.clauses]
