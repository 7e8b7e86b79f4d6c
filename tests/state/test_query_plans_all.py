"""Every statement that a module of questions holds is found here by itself: none reads a table whole that grows."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sqlite3
from collections.abc import Iterator, Mapping

from sqlalchemy import Alias, Float, Select, String, Table, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql import visitors
from sqlalchemy.sql.compiler import SQLCompiler

from studio_tui.state import queries
from studio_tui.state.schema import sessions
from tests.state.test_query_plans import planner as planner

SHORT = {
    "definitions.LATEST_VERSIONS": {"definitions"},  # in an index that holds all it needs
    "definitions.WORKFLOWS": {"workflow_defs"},
    "outbox.COUNTS": {"dispatch_outbox"},
    "projects.PROJECTS": {"projects"},
    "run_facts.ALL_COUNTED": {"sessions"},  # in an index that holds all it needs
    "schedule_facts.VANISHING_COUNTS": {"dispatch_outbox", "workers"},
    "shows.PLAYS": {"plays"},
    "shows.SHOWS": {"shows"},
    "controls.CONTROLS False": {"session_controls"},
    "controls.CONTROLS True": {"session_controls"},
    "controls.LAST_GATE": {"session_controls"},
    "controls._page": {"session_controls"},
}
"""Tables that a statement reads to their end: they stay short, the schema has no index for it, and none may be added."""


RECENTLY = 4_990.0
"""An instant, where the clock of a test began at 0 and few things happened later."""


def _found() -> Iterator[tuple[str, Select[tuple[object, ...]]]]:
    for module in pkgutil.iter_modules(queries.__path__):
        for name, value in vars(importlib.import_module(f"{queries.__name__}.{module.name}")).items():
            for key, statement in value.items() if isinstance(value, Mapping) else [("", value)]:
                if isinstance(statement, Select) and key != "postgresql":
                    yield f"{module.name}.{name} {key}".rstrip(), statement


STATEMENTS = dict(_found())


def values_for(compiled: SQLCompiler) -> dict[str, object]:
    """Something for each parameter that fits its type."""
    values: dict[str, object] = {}
    for name, bound in compiled.binds.items():
        value = "a" if isinstance(bound.type, String) else RECENTLY if isinstance(bound.type, Float) else 1
        values[name] = [value, value] if bound.expanding else value
    return values


def plan_of(connection: sqlite3.Connection, statement: Select[tuple[object, ...]]) -> list[str]:
    compiled = statement.compile(dialect=sqlite.dialect())
    expanded = compiled.construct_expanded_state(values_for(compiled))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {expanded.statement}", expanded.positional_parameters)]


def tables_of(statement: Select[tuple[object, ...]]) -> dict[str, str]:
    """The tables of a statement by the names under which it reads them."""
    found: dict[str, str] = {}
    for part in visitors.iterate(statement):
        if isinstance(part, Table):
            found[part.name] = part.name
        elif isinstance(part, Alias) and isinstance(part.element, Table):
            found[part.name] = part.element.name
    return found


def read_whole(plan: list[str], statement: Select[tuple[object, ...]]) -> set[str]:
    """Tables that are read to their end. A walk along an index ends with the page, if there is one."""
    paged, tables = statement._limit_clause is not None, tables_of(statement)
    scans = [found for step in plan if (found := re.match(r"SCAN (\w+)(.*)", step))]
    return {tables[found[1]] for found in scans if found[1] in tables and not (paged and "INDEX" in found[2])}


def test_no_table_that_grows_is_read_to_its_end(planner: sqlite3.Connection) -> None:
    found = {name: read_whole(plan_of(planner, statement), statement) for name, statement in STATEMENTS.items()}
    assert {name: tables for name, tables in found.items() if not tables <= SHORT.get(name, set())} == {}


def test_no_index_is_made_for_one_question(planner: sqlite3.Connection) -> None:
    assert [name for name, statement in STATEMENTS.items() if "AUTOMATIC" in " ".join(plan_of(planner, statement))] == []


def test_every_module_is_looked_at() -> None:
    assert len(STATEMENTS) > 100
    assert SHORT.keys() <= STATEMENTS.keys()


def test_a_scan_would_be_noticed(planner: sqlite3.Connection) -> None:
    newest = sessions.alias("newest")
    for table in (sessions, newest):
        statement = select(table.c.id).where(table.c.name == "x")
        assert read_whole(plan_of(planner, statement), statement) == {"sessions"}
