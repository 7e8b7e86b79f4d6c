"""Every list reads along an index: none scans a table that grows, and none sorts more than it shows."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects import postgresql, sqlite

from studio_tui.application.ports import RunFilter
from studio_tui.state.queries import definitions, messages, overview, run_facts, runs, schedules, shows

GROWING = ("sessions", "key_row", "messages", "branches", "schedule_runs", "newest", "status_transitions", "progressions")
"""Tables that hold many rows, and the names under which statements read them a second time."""

IN_ORDER = ("SCAN sessions USING INDEX idx_sessions_updated", "SCAN sessions USING COVERING INDEX idx_sessions_updated")
"""Not a scan in any harmful sense: the walk along the order of the list, which ends when the page is full, or, for the place
where a walk for tags ends, after 2,500 entries of the index."""

SORT = "USE TEMP B-TREE FOR ORDER BY"

NARROWED = {
    "everything": RunFilter(),
    "one status": RunFilter(status=frozenset({"failed"})),
    "no status": RunFilter(status=frozenset({None})),
    "two statuses": RunFilter(status=frozenset({"completed", None})),
    "four statuses": RunFilter(status=frozenset({"completed", None, "failed", "aborted"})),
    "kind": RunFilter(kinds=frozenset({"flow", None})),
    "no project": RunFilter(project_is_null=True),
    "playbook": RunFilter(playbook="x"),
    "text": RunFilter(text="x"),
    "text and status": RunFilter(text="ä", status=frozenset({"failed"})),
    "project": RunFilter(project="web"),
    "project and status": RunFilter(project="web", status=frozenset({"failed"})),
    "project and statuses": RunFilter(project="web", status=frozenset({"completed", None})),
    "tag": RunFilter(tags=("a",)),
    "tags and project": RunFilter(tags=("a", "b"), project="web", kinds=frozenset({"flow"})),
}
KEYS = {"first": None, "given key": (1.0, "x"), "stored key": (0.0, "x")}
STATEMENTS: dict[str, tuple[Select[Any], Mapping[str, object]]] = {
    "runs by id": (run_facts.RUNS_BY_ID, {"ids": ["a", "b"]}),
    "ids by prefix": (run_facts.IDS_BY_PREFIX, {"prefix": "a", "limit": 5}),
    "branches": (run_facts.BRANCHES, {"run_id": "a"}),
    "transitions": (run_facts.TRANSITIONS, {"entity_type": "session", "entity_id": "a", "limit": 5}),
    "runs of an invocation": (run_facts.RUNS_OF_INVOCATION, {"invocation_id": "a", "limit": 5}),
    "firing of an invocation": (run_facts.FIRING_OF_INVOCATION, {"invocation_id": "a"}),
    "skill of an invocation": (run_facts.SKILL_OF_INVOCATION, {"invocation_id": "a"}),
    "recent firings": (schedules.RECENT_OUTCOMES["sqlite"], {"ids": ["a", "b"], "each": 10}),
    "firings": (schedules.FIRINGS, {"schedule_id": "a", "limit": 5}),
    "firings before": (schedules.FIRINGS_BEFORE, {"schedule_id": "a", "key_time": 0.0, "key_id": "x", "limit": 5}),
    "firing by id": (schedules.FIRING_BY_ID, {"firing_id": "a"}),
    "runs of invocations": (schedules.RUNS_OF_INVOCATIONS, {"ids": ["a", "b"], "limit": 5}),
    "executed counts": (schedules.EXECUTED_COUNTS, {"ids": ["a", "b"]}),
    "running counts": (schedules.RUNNING_COUNTS, {"ids": ["a", "b"]}),
    "last piece": (messages.LAST_PIECE, {"progression_id": "a", "length": 5}),
    "piece": (messages.PIECE, {"progression_id": "a", "start": 0, "length": 5}),
    "messages by id": (messages.MESSAGES_BY_ID, {"ids": ["a", "b"], "largest": 5}),
    "content by id": (messages.CONTENT_BY_ID, {"ids": ["a", "b"]}),
    "running": (overview.RUNNING_COUNTED, {}),
    "running runs": (overview.RUNNING_RUNS, {"limit": 5}),
    "failed": (overview.FAILED_COUNTED, {"since": 0.0}),
    "versions": (definitions.VERSIONS, {"kind": "a", "name": "b", "limit": 5}),
    "plays of a show": (shows.PLAYS_OF_SHOW, {"topic": "a"}),
    "exact schedules": (schedules.EXACT_SCHEDULES, {"name": "a", "limit": 5}),
    "schedules by prefix": (schedules.SCHEDULES_BY_PREFIX, {"name": "a", "limit": 5}),
}


@pytest.fixture(params=["without statistics", "with statistics"])
def planner(request: pytest.FixtureRequest, native_file: Path) -> Iterator[sqlite3.Connection]:
    """A native store; with statistics it is one of 100,000 runs on which somebody has run ANALYZE."""
    with closing(sqlite3.connect(native_file, isolation_level=None)) as connection:
        if request.param == "with statistics":
            _pretend_statistics(connection)
        yield connection


def _pretend_statistics(connection: sqlite3.Connection) -> None:
    connection.execute("ANALYZE")
    rows = {
        "idx_sessions_updated": "100000 1",
        "idx_sessions_status_updated": "100000 15000 1",
        "idx_sessions_project": "90000 8000",
        "idx_sessions_invocation": "60000 2",
        "sqlite_autoindex_sessions_1": "100000 1",
        "idx_run_tags_tag": "5000 1000",
        "sqlite_autoindex_run_tags_1": "5000 1 1",
        "idx_sched_runs_schedule": "50000 250 1",
        "sqlite_autoindex_schedule_runs_1": "50000 1",
        "idx_branches_session_created": "150000 2 1",
        "idx_status_transitions_entity": "400000 100000 2 1",
    }
    for index, statistics in rows.items():
        (table,) = connection.execute("SELECT tbl_name FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
        connection.execute("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", (table, index, statistics))
    connection.execute("ANALYZE sqlite_schema")


def plan_of(connection: sqlite3.Connection, statement: Select[Any], values: Mapping[str, object]) -> list[str]:
    compiled = statement.compile(dialect=sqlite.dialect()).construct_expanded_state(dict(values))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {compiled.statement}", compiled.positional_parameters)]


def scans_of_growing_tables(plan: list[str]) -> list[str]:
    return [step for step in plan if (found := re.match(r"SCAN (\w+)", step)) and found[1] in GROWING]


@pytest.mark.parametrize(("name", "key", "backwards"), itertools.product(NARROWED, KEYS, (False, True)))
def test_a_page_of_runs_walks_an_index(planner: sqlite3.Connection, name: str, key: str, backwards: bool) -> None:
    where, after = NARROWED[name], KEYS[key]
    shape = runs.shape_of(where, after, backwards=backwards)
    plan = plan_of(planner, runs.page(shape), runs.run_values(where, after, 21))
    assert [step for step in scans_of_growing_tables(plan) if step not in IN_ORDER] == []
    text = "\n".join(plan)
    if where.status:
        assert "idx_sessions_status_updated (status=?" in text
    elif not where.tags:
        assert "idx_sessions_updated" in text
    if where.project and not where.tags:
        assert "idx_sessions_project (project=?)" in text
    if where.tags:
        assert "SEARCH run_tags USING INDEX idx_run_tags_tag (tag=?)" in text
    looked_up = bool(where.project or where.tags)
    sorted_keys = looked_up or len(where.status) > 1
    assert plan.count(SORT) == looked_up + sorted_keys


@pytest.mark.parametrize("name", NARROWED)
def test_counting_newer_runs_reads_only_those(planner: sqlite3.Connection, name: str) -> None:
    where, than = NARROWED[name], (1.0, "x")
    plan = plan_of(planner, runs.newer(runs.shape_of(where, than)), runs.run_values(where, than, 100))
    assert scans_of_growing_tables(plan) == []
    assert any("updated_at>?" in step for step in plan)
    assert SORT not in plan


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_statement_scans_a_table_that_grows(planner: sqlite3.Connection, name: str) -> None:
    plan = plan_of(planner, *STATEMENTS[name])
    assert scans_of_growing_tables(plan) == []
    assert plan


def test_all_runs_are_counted_in_an_index(planner: sqlite3.Connection) -> None:
    (step,) = plan_of(planner, run_facts.ALL_COUNTED, {})
    assert "COVERING INDEX" in step


def test_a_scan_would_be_noticed(planner: sqlite3.Connection) -> None:
    plan = [row[3] for row in planner.execute("EXPLAIN QUERY PLAN SELECT * FROM sessions WHERE lower(name) = 'x' ORDER BY name")]
    assert scans_of_growing_tables(plan) == ["SCAN sessions"]
    assert SORT in plan


@pytest.mark.parametrize("name", [*NARROWED, *STATEMENTS])
def test_every_statement_has_a_form_for_postgresql(name: str) -> None:
    if name in NARROWED:
        for after in KEYS.values():
            str(runs.page(runs.shape_of(NARROWED[name], after)).compile(dialect=postgresql.asyncpg.dialect()))
        return
    statement = schedules.RECENT_OUTCOMES["postgresql"] if name == "recent firings" else STATEMENTS[name][0]
    text = str(statement.compile(dialect=postgresql.asyncpg.dialect()))
    for word in ("json_valid", "json_extract", "GLOB", "rowid"):
        assert word not in text
