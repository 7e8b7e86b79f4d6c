"""Lists on PostgreSQL in a store of some size: none reads a table whole that grows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects import postgresql

from studio_tui.state.queries import runs, schedules, scheduling, thresholds
from tests.postgres import Server
from tests.state.test_query_plans import KEYS, NARROWED, STATEMENTS
from tests.state.test_query_plans_all import STATEMENTS as EVERY
from tests.state.test_query_plans_all import values_for

ROWS = 20_000
MANY = f"generate_series(1, {ROWS}) AS n"
FILL = (
    "INSERT INTO progressions SELECT 'p' || n, n, '[]' FROM generate_series(1, 2000) AS n",
    "INSERT INTO invocations (id, skill, started_at, status, created_at, updated_at)"
    " SELECT 'i' || n, 's', n, 'completed', n, n FROM generate_series(1, 5000) AS n",
    "INSERT INTO sessions (id, created_at, updated_at, progression_id, status, project, invocation_kind, invocation_id, name,"
    " node_metadata) SELECT 's' || n, n, n, 'p' || (n % 2000 + 1),"
    " (ARRAY['completed', 'failed', 'running', 'aborted'])[n % 4 + 1], 'project-' || n % 40, 'agent', 'i' || (n % 5000 + 1),"
    f" 'run ' || n, json_build_object('pid', 1) FROM {MANY}",
    f"INSERT INTO branches (id, created_at, session_id, progression_id) SELECT 'b' || n, n, 's' || n, 'p1' FROM {MANY}",
    f"INSERT INTO messages (id, created_at, content, role, lion_class) SELECT 'm' || n, n, '{{}}', 'user', 2 FROM {MANY}",
    "INSERT INTO run_tags SELECT 's' || n, 'tag-' || n % 20, n FROM generate_series(1, 5000) AS n",
    "INSERT INTO schedules (id, name, trigger_type, interval_sec, action_kind, next_fire_at, created_at, updated_at)"
    " SELECT 'c' || n, 'schedule ' || n, 'interval', 60, 'command', n, n, n FROM generate_series(1, 3000) AS n",
    "INSERT INTO schedule_runs (id, schedule_id, invocation_id, trigger_context, action_kind, action_args, status, fired_at,"
    " created_at) SELECT 'f' || n, 'c' || (n % 300 + 1), 'i' || (n % 5000 + 1), '{}', 'command', '[]', 'completed', n, n"
    f" FROM {MANY}",
    "INSERT INTO status_transitions SELECT 't' || n, 'session', 's' || n, null, 'running', 'run.started.ok', '', '[]', 'system',"
    f" null, n, '{{}}' FROM {MANY}",
    "ANALYZE",
)
BY_PREFIX = {"ids by prefix", "schedules by prefix"}
"""No index of the peer serves these in a database that sorts by the rules of a language."""
OTHERWISE = {name for name in EVERY if name.endswith((" sqlite", "_BY_PREFIX"))}
"""Statements that another one takes the place of on PostgreSQL, and those that no index serves there."""
MORE = {
    "next due": (scheduling.NEXT_DUE, {}),
    "due": (scheduling.DUE, {"now": 5.0, "limit": 5}),
    "running of all": (scheduling.RUNNING_OF_ALL, {}),
    "executed": (scheduling.EXECUTED_RUNS, {"schedule_id": "c1"}),
    **{f"metric {name}": (statement, {"since": 19_999.0, "now": 20_001.0}) for name, statement in thresholds.METRICS.items()},
    "recent firings": (schedules.RECENT_OUTCOMES["postgresql"], {"ids": ["c1", "c2"], "each": 10}),
}
DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]
GROWING = ("sessions", "messages", "branches", "schedule_runs", "status_transitions", "progressions", "invocations")


@pytest.fixture(scope="module")
def filled(postgres: Server) -> Iterator[str]:
    """A database with a store of some size in it."""
    name = postgres.database()
    postgres.run(name, *FILL)
    yield name
    postgres.drop(name)


def _statements() -> Iterator[tuple[str, Select[Any], Mapping[str, object]]]:
    for name, where in NARROWED.items():
        for key, after in KEYS.items():
            for backwards in (False, True):
                shape = runs.shape_of(where, after, backwards=backwards)
                yield f"{name}, {key} key, {backwards}", runs.page(shape), runs.run_values(where, after, 21)
        yield f"newer: {name}", runs.newer(runs.shape_of(where, (1.0, "x"))), runs.run_values(where, (1.0, "x"), 100)
    for name, (statement, values) in {**STATEMENTS, **MORE}.items():
        if name not in BY_PREFIX:
            yield name, statement, values
    for name, statement in EVERY.items():
        if name not in OTHERWISE:
            yield name, statement, values_for(statement.compile(dialect=DIALECT))


def test_no_statement_reads_more_of_other_tables_than_its_runs_need(postgres: Server, filled: str) -> None:
    """As the server plans it: it may read runs whole where hardly any fits, or nearly all do; the tables beside them never."""
    scans = {name: found - {"sessions"} for name, found in _scans(postgres, filled).items() if found - {"sessions"}}
    assert scans == {}


def test_every_statement_has_an_index_to_go_by(postgres: Server, filled: str) -> None:
    assert _scans(postgres, filled, "SET enable_seqscan = off", "SET enable_bitmapscan = off") == {}


def _scans(postgres: Server, database: str, *settings: str) -> dict[str, set[str]]:
    """The tables that grow and that a statement reads whole, by its name."""
    names, questions = [], []
    for name, statement, values in _statements():
        compiled = statement.params(**values).compile(dialect=DIALECT, compile_kwargs={"literal_binds": True})
        names.append(name)
        questions.append(f"EXPLAIN (FORMAT json) {compiled}")
    answers = "\n".join("".join(row) for row in postgres.run(database, *settings, *questions))
    plans = _documents(answers)
    assert len(plans) == len(names)
    return {name: set(found) for name, plan in zip(names, plans, strict=True) if (found := _scanned(plan[0]["Plan"]))}


def _documents(text: str) -> list[Any]:
    decoder, found, place = json.JSONDecoder(), [], 0
    while place < len(text):
        document, place = decoder.raw_decode(text, place)
        found.append(document)
        while place < len(text) and text[place].isspace():
            place += 1
    return found


def _scanned(plan: Mapping[str, Any]) -> list[str]:
    here = [plan["Relation Name"]] if plan["Node Type"] == "Seq Scan" and plan["Relation Name"] in GROWING else []
    return here + [name for part in plan.get("Plans", ()) for name in _scanned(part)]
