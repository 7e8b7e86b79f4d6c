"""JSON that lists look into, in the spelling of each database.

On SQLite a JSON column holds whatever was stored, and ``json_extract`` raises for the whole statement when one row is no JSON
(that is how one bad row empties every list of lionagi 0.36). Each expression here is guarded so that it cannot raise. On
PostgreSQL the column type ``json`` has checked the text already, but takes text that spells a NUL or half a character, and then
raises when it is looked into: there the spelling is replaced first.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from studio_tui.state.queries.sql_forms import Condition, operand
from studio_tui.state.readers import BROKEN, METADATA_KEYS

_CHILD_KEY: Final = "engine_parent_run_id"
_SPELLED: Final = r"E'\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})'"
_MARKED: Final = r"E'\\\\ufffd'"


class is_listed(Condition):  # noqa: N801
    """Whether a run is not the child of an engine run; those are never listed (lionagi 0.36).

    Most rows never name the key, and a text search is several times cheaper than a parse. A row whose metadata is no JSON is
    listed: nobody can say that it is a child, and it must be seen to be mended.
    """

    inherit_cache = True


@compiles(is_listed)
def _is_listed(element: is_listed, compiler: SQLCompiler, **options: Any) -> str:
    column = operand(element, compiler, options)
    return (
        f"(CASE WHEN {column} IS NULL OR strpos(CAST({column} AS text), '{_CHILD_KEY}') = 0 THEN true "
        f"ELSE ({_readable(column)} ->> '{_CHILD_KEY}') IS NULL END)"
    )


def _readable(column: str) -> str:
    """PostgreSQL: the column, or what can be looked into in its place."""
    text = f"CAST({column} AS text)"
    marked = f"CAST(regexp_replace({text}, {_SPELLED}, {_MARKED}, 'g') AS json)"
    return f"CASE WHEN {text} ~ {_SPELLED} THEN {marked} ELSE {column} END"


@compiles(is_listed, "sqlite")
def _is_listed_sqlite(element: is_listed, compiler: SQLCompiler, **options: Any) -> str:
    column = operand(element, compiler, options)
    return (
        f"(CASE WHEN {column} IS NULL OR {column} NOT GLOB '*{_CHILD_KEY}*' OR NOT json_valid({column}) THEN 1 "
        f"ELSE json_extract({column}, '$.{_CHILD_KEY}') IS NULL END)"
    )


class names_an_invocation(Condition):  # noqa: N801
    """Whether a list of evidence names an invocation, as one does that a reaper wrote (lionagi 0.36).

    What is no list, or no JSON, names none; the cheap search of the text comes first.
    """

    inherit_cache = True


@compiles(names_an_invocation)
def _names_an_invocation(element: names_an_invocation, compiler: SQLCompiler, **options: Any) -> str:
    column = operand(element, compiler, options)
    readable = _readable(column)
    return (
        f"(CASE WHEN {column} IS NULL OR strpos(CAST({column} AS text), 'invocation') = 0 "
        f"OR json_typeof({column}) <> 'array' THEN false "
        f"ELSE EXISTS (SELECT 1 FROM json_array_elements({readable}) AS entry(item) "
        f"WHERE json_typeof(entry.item) = 'object' AND entry.item ->> 'kind' = 'invocation') END)"
    )


@compiles(names_an_invocation, "sqlite")
def _names_an_invocation_sqlite(element: names_an_invocation, compiler: SQLCompiler, **options: Any) -> str:
    column = operand(element, compiler, options)
    return (
        f"(CASE WHEN {column} IS NULL OR {column} NOT GLOB '*invocation*' OR NOT json_valid({column}) THEN 0 "
        f"WHEN json_type({column}) <> 'array' THEN 0 "
        f"ELSE EXISTS (SELECT 1 FROM json_each({column}) AS entry "
        f"WHERE entry.type = 'object' AND json_extract(entry.value, '$.kind') = 'invocation') END)"
    )


class picked_values(FunctionElement[str]):  # noqa: N801
    """The values of ``METADATA_KEYS`` in a metadata column, as the text of a JSON list; NULL when there is no metadata.

    What is no JSON object comes back as ``readers.BROKEN``.
    """

    inherit_cache = True
    type = Text()


@compiles(picked_values)
def _picked_values(element: picked_values, compiler: SQLCompiler, **options: Any) -> str:
    column = operand(element, compiler, options)
    values = ", ".join(f"readable.it -> '{key}'" for key in METADATA_KEYS)
    picked = f"SELECT CAST(json_build_array({values}) AS text) FROM (SELECT {_readable(column)} AS it OFFSET 0) AS readable"
    return (
        f"CASE json_typeof({column}) WHEN 'object' THEN ({picked}) WHEN 'null' THEN NULL "
        f"ELSE CASE WHEN {column} IS NOT NULL THEN '{BROKEN}' END END"
    )


@compiles(picked_values, "sqlite")
def _picked_values_sqlite(element: picked_values, compiler: SQLCompiler, **options: Any) -> str:
    column = operand(element, compiler, options)
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
    column = operand(element, compiler, options)
    return f"CASE WHEN {column} IS NOT NULL AND NOT json_valid({column}) THEN '{BROKEN}' END"
