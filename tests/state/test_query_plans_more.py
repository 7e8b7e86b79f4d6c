"""The statements of the smaller aggregates: each list reads along an index, and says so where the schema has none."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import Executable
from sqlalchemy.dialects import postgresql, sqlite

from studio_tui.state.queries import (
    admin_events,
    approvals,
    artifacts,
    attention,
    controls,
    definition_writes,
    engine_runs,
    invocations,
    outbox,
    projects,
    signals,
    stats,
    tags,
    teams,
    thresholds,
    workflow_writes,
)
from tests.state.test_query_plans import SORT
from tests.state.test_query_plans import planner as planner

KEY = {"key_time": 1.0, "key_id": "x"}
PAGE = {"limit": 5}
METRIC_INDEXES = {
    "failed_sessions": "idx_sessions_status_updated (status=? AND updated_at>?",
    "total_cost_usd": "idx_sessions_updated (updated_at>?",
    "p95_latency_ms": "idx_invocations_updated (updated_at>?",
    "github_poll_healthy_age_minutes": "idx_schedules_enabled (enabled=?",
    "github_poll_consecutive_401": "idx_schedules_enabled (enabled=?",
}

STATEMENTS: dict[str, tuple[Any, Mapping[str, object], str]] = {
    "artifact by id": (artifacts.ARTIFACT_BY_ID, {"artifact_id": "a"}, "sqlite_autoindex_artifacts_1"),
    "artifacts of a run": (artifacts.OF_RUN[False], {"owner_id": "a", **PAGE}, "idx_artifacts_session_time (session_id=?"),
    "artifacts of a run, on": (
        artifacts.OF_RUN[True],
        {"owner_id": "a", **KEY, **PAGE},
        "idx_artifacts_session_time (session_id=? AND created_at>?",
    ),
    "artifacts of an invocation": (artifacts.OF_INVOCATION[False], {"owner_id": "a", **PAGE}, "idx_artifacts_invocation_time"),
    "recent artifacts": (artifacts.RECENT[False], PAGE, "idx_artifacts_created"),
    "recent artifacts, on": (artifacts.RECENT[True], {**KEY, **PAGE}, "idx_artifacts_created (created_at<?"),
    "approval": (approvals.APPROVAL_BY_ID, {"approval_id": "a"}, "sqlite_autoindex_approvals_1"),
    "waiting approvals": (approvals.WAITING_APPROVALS, PAGE, "idx_approvals_status (status=?"),
    "lapsed approvals": (approvals.LAPSED_APPROVALS, {"now": 1.0, **PAGE}, "idx_approvals_status (status=?"),
    "last line": (approvals.LAST_LINE, {}, "idx_approval_evidence_sequence"),
    "evidence": (approvals.EVIDENCE, {"before": 9, **PAGE}, "idx_approval_evidence_sequence (sequence<?"),
    "decisions": (approvals.DECISIONS, {"before": 9, **PAGE}, "idx_approval_evidence_sequence (sequence<?"),
    "evidence of one": (approvals.EVIDENCE_OF, {"approval_id": "a"}, "idx_approval_evidence_approval (approval_id=?"),
    "lines after": (approvals.LINES_AFTER, {"after": 9, **PAGE}, "idx_approval_evidence_sequence (sequence>?"),
    "disposition": (attention.DISPOSITION, {"item_id": "a"}, "sqlite_autoindex_attention_dispositions_1"),
    "dispositions of": (attention.DISPOSITIONS_OF, {"ids": ["a", "b"], "now": 1.0}, "sqlite_autoindex_attention_dispositions_1"),
    "current dispositions": (
        attention.CURRENT,
        {"after": "", "now": 1.0, **PAGE},
        "sqlite_autoindex_attention_dispositions_1 (item_id>?",
    ),
    "revisions": (attention.REVISIONS_OF, {"ids": ["a"]}, "sqlite_autoindex_attention_disposition_revisions_1"),
    "last sequence": (attention.LAST_SEQUENCE, {}, "idx_attention_disposition_history_sequence"),
    "history of an item": (attention.HISTORY_OF, {"item_id": "a"}, "idx_attention_disposition_history_item (item_id=?"),
    "history of all": (attention.HISTORY, {"before": 9, **PAGE}, "idx_attention_disposition_history_sequence (sequence<?"),
    "dispatch": (outbox.DISPATCH_BY_ID, {"dispatch_id": "a"}, "sqlite_autoindex_dispatch_outbox_1"),
    "dispatch by key": (outbox.DISPATCH_BY_KEY, {"dedup_key": "a"}, "idx_dispatch_outbox_dedup (dedup_key=?"),
    "due": (outbox.DUE, {"now": 1.0, **PAGE}, "idx_dispatch_outbox_due (status=? AND next_attempt_at<?"),
    "past their time": (outbox.PAST_DEADLINE, {"now": 1.0, **PAGE}, "idx_dispatch_outbox_due (status=?"),
    "pending controls": (controls.PENDING, {"run_id": "a", **PAGE}, "idx_session_controls_pending (session_id=?"),
    "who listens": (controls.LISTENER, {"run_id": "a"}, "sqlite_autoindex_sessions_1"),
    "signals after": (
        signals.AFTER,
        {"run_id": "a", "seq": 1, **PAGE},
        "sqlite_autoindex_session_signals_2 (session_id=? AND seq>?",
    ),
    "signals before": (
        signals.TAIL,
        {"run_id": "a", "before": 9, **PAGE},
        "sqlite_autoindex_session_signals_2 (session_id=? AND seq<?",
    ),
    "last signal": (signals.LAST_SEQ, {"run_id": "a"}, "sqlite_autoindex_session_signals_2 (session_id=?"),
    "events": (admin_events.event_page(action=False, target=False, before=False), PAGE, "idx_admin_events_created"),
    "events, on": (
        admin_events.event_page(action=False, target=False, before=True),
        {**KEY, **PAGE},
        "idx_admin_events_created (created_at<?",
    ),
    "last event": (admin_events.LAST_OF_ACTION, {"action": "a"}, "idx_admin_events_action (action=?"),
    "tags": (tags.TAGS_OF, {"ids": ["a", "b"]}, "sqlite_autoindex_run_tags_1 (session_id=?"),
    "all tags": (tags.ALL_TAGS, PAGE, "COVERING INDEX idx_run_tags_tag"),
    "label": (tags.LABEL, {"run_id": "a"}, "sqlite_autoindex_sessions_1"),
    "project": (projects.PROJECT_BY_NAME, {"name": "a"}, "sqlite_autoindex_projects_1"),
    "runs of a project": (projects.RUN_COUNT, {"name": "a"}, "COVERING INDEX idx_sessions_project (project=?"),
    "running by project": (projects.RUNNING_COUNTS, {}, "idx_sessions_status"),
    "agents used": (projects.AGENTS_USED, {"name": "a", **PAGE}, "idx_sessions_project (project=?"),
    "invocation": (invocations.INVOCATION_BY_ID, {"invocation_id": "a"}, "sqlite_autoindex_invocations_1"),
    "runs by invocation": (
        invocations.CHILD_COUNTS,
        {"ids": ["a", "b"]},
        "COVERING INDEX idx_sessions_invocation_status_created",
    ),
    "running by invocation": (
        invocations.RUNNING_CHILDREN,
        {"ids": ["a", "b"], **PAGE},
        "idx_sessions_invocation_status_created (invocation_id=? AND status=?",
    ),
    "engine run": (engine_runs.ENGINE_RUN_BY_ID, {"run_id": "a"}, "sqlite_autoindex_engine_runs_1"),
    "engine definition": (engine_runs.ENGINE_DEFINITIONS_BY_ID_OR_NAME, {"id_or_name": "a"}, "MULTI-INDEX OR"),
    "teams": (teams.TEAMS[False], PAGE, "idx_teams_updated"),
    "team messages": (teams.TEAM_MESSAGES[False], {"team_id": "a", **PAGE}, "idx_team_msgs_team (team_id=?"),
    "activity": (stats.ACTIVITY, {"since": 1.0, "seconds": 3600}, "idx_sessions_updated (updated_at>?"),
    "spending": (stats.SPEND, {"since": 1.0}, "idx_sessions_updated (updated_at>?"),
    **{
        f"spending by {name}": (statement, {"since": 1.0, **PAGE}, "idx_sessions_updated (updated_at>?")
        for name, statement in stats.SPEND_BY.items()
    },
    "newest version": (definition_writes.NEWEST, {"kind": "a", "name": "b"}, "(kind=? AND name=?"),
    "newest number": (definition_writes.NEWEST_NUMBER, {"kind": "a", "name": "b"}, "(kind=? AND name=?"),
    "workflow": (workflow_writes.WORKFLOW_BY_ID, {"workflow_id": "a"}, "sqlite_autoindex_workflow_defs_1"),
}
"""Each with what its plan must name. ``idx_def_kind_name`` and the constraint's own index are the same to SQLite."""

WITHOUT_AN_INDEX: dict[str, tuple[Any, Mapping[str, object], str]] = {
    "messages by age": (outbox.dispatch_page(statuses=0, before=False), PAGE, "dispatch_outbox"),
    "messages by status": (outbox.COUNTS, {}, "dispatch_outbox"),
    "controls of a run": (controls.CONTROLS[False], {"run_id": "a", **PAGE}, "session_controls"),
    "the last gate": (controls.LAST_GATE, {"run_id": "a"}, "session_controls"),
    "projects": (projects.PROJECTS, {}, "projects"),
}
"""Lists for which the schema has no index, and to which none may be added. Their tables stay short: see the modules."""


def plan_of(connection: sqlite3.Connection, statement: Executable, values: Mapping[str, object]) -> list[str]:
    compiled = statement.compile(dialect=sqlite.dialect())  # type: ignore[attr-defined]
    expanded = compiled.construct_expanded_state(dict(values))
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {expanded.statement}", expanded.positional_parameters)]


def scans(plan: list[str]) -> list[str]:
    """Steps that read a whole table, not in the order of an index."""
    return [step for step in plan if re.match(r"SCAN \w+(?! USING)", step) and " USING " not in step]


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_list_goes_along_its_index(planner: sqlite3.Connection, name: str) -> None:
    statement, values, expected = STATEMENTS[name]
    plan = plan_of(planner, statement, values)
    assert any(expected in step for step in plan), plan
    assert scans(plan) == []


@pytest.mark.parametrize("name", [name for name in STATEMENTS if name.endswith(", on") or name.startswith("recent")])
def test_a_page_is_not_sorted(planner: sqlite3.Connection, name: str) -> None:
    statement, values, _ = STATEMENTS[name]
    assert not [step for step in plan_of(planner, statement, values) if step == SORT]


@pytest.mark.parametrize("name", WITHOUT_AN_INDEX)
def test_what_has_no_index_reads_its_own_short_table_only(planner: sqlite3.Connection, name: str) -> None:
    statement, values, table = WITHOUT_AN_INDEX[name]
    assert [step.split()[1] for step in scans(plan_of(planner, statement, values))] == [table]


@pytest.mark.parametrize("name", thresholds.METRICS)
def test_a_metric_reads_its_window_or_the_schedules_that_are_on(planner: sqlite3.Connection, name: str) -> None:
    plan = plan_of(planner, thresholds.METRICS[name], {"since": 1.0, "now": 2.0})
    assert any(METRIC_INDEXES[name] in step for step in plan), plan
    assert {step.split()[1] for step in scans(plan)} <= {"causes", "latencies", "entry"}, "what was found, and one row's list"


CONDITIONS = [
    {"skill": skill, "plugin": False, "status": status, "running": running, "before": before}
    for skill in (False, True)
    for status, running in ((False, False), (True, False), (True, True))
    for before in (False, True)
]


@pytest.mark.parametrize("flags", CONDITIONS, ids=str)
def test_a_page_of_invocations_looks_up_what_it_says_of_their_runs(planner: sqlite3.Connection, flags: dict[str, bool]) -> None:
    values = {"skill": "a", "status": "b", **KEY, **PAGE}
    plan = plan_of(planner, invocations.invocation_page(**flags), values)
    text = "\n".join(plan)
    assert scans(plan) == []
    assert "MATERIALIZE" not in text
    assert "AUTOMATIC" not in text
    walked = "idx_invocations_status (status=?" if flags["running"] else "idx_invocations_updated"
    assert f"invocations USING INDEX {walked}" in text or "invocations USING INDEX idx_invocations_reaper" in text
    for alias in ("newest_run", "firing"):
        assert f"SEARCH {alias} USING INDEX sqlite_autoindex_" in text
    assert "SEARCH candidate_run USING INDEX idx_sessions_invocation" in text
    assert "SEARCH fired USING INDEX idx_sched_runs_invocation (invocation_id=?" in text


@pytest.mark.parametrize(("kind", "status"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("before", [False, True])
def test_a_page_of_engine_runs_walks_their_keyset(planner: sqlite3.Connection, kind: bool, status: bool, before: bool) -> None:
    statement = engine_runs.engine_run_page(kind=kind, status=status, session=False, before=before)
    plan = plan_of(planner, statement, {"kind": "a", "status": "b", **KEY, **PAGE})
    assert any("engine_runs USING INDEX idx_engine_runs_started_id" in step for step in plan), plan
    assert SORT not in plan


def test_engine_runs_of_a_run_are_looked_up(planner: sqlite3.Connection) -> None:
    statement = engine_runs.engine_run_page(kind=False, status=False, session=True, before=False)
    plan = plan_of(planner, statement, {"session_id": "a", **PAGE})
    assert scans(plan) == []
    assert sum("SEARCH engine_runs USING INDEX idx_engine_runs_" in step for step in plan) == 3


def test_runs_by_project_are_counted_in_indexes_alone(planner: sqlite3.Connection) -> None:
    plan = plan_of(planner, projects.RUN_COUNTS, {})
    steps = [step for step in plan if "sessions" in step]
    assert len(steps) == 2
    assert all("COVERING INDEX" in step for step in steps)


@pytest.mark.parametrize("target", [False, True])
@pytest.mark.parametrize("action", [False, True])
def test_events_are_read_in_their_order_or_by_their_act(planner: sqlite3.Connection, action: bool, target: bool) -> None:
    statement = admin_events.event_page(action=action, target=target, before=True)
    values = {"action": "a", "target_id": "t", "quoted": '"t"', **KEY, **PAGE}
    plan = plan_of(planner, statement, values)
    assert scans(plan) == []
    assert any("idx_admin_events_" in step for step in plan)


def test_a_scan_would_be_noticed(planner: sqlite3.Connection) -> None:
    for sql in ("SELECT * FROM artifacts WHERE name = 'x'", "SELECT * FROM admin_events e ORDER BY actor"):
        assert scans([row[3] for row in planner.execute(f"EXPLAIN QUERY PLAN {sql}")])


@pytest.mark.parametrize("name", [*STATEMENTS, *WITHOUT_AN_INDEX])
def test_every_statement_has_a_form_for_postgresql(name: str) -> None:
    statement = (STATEMENTS.get(name) or WITHOUT_AN_INDEX[name])[0]
    text = str(statement.compile(dialect=postgresql.asyncpg.dialect()))
    for word in ("json_valid", "json_extract", "instr(", "rowid", "ifnull", "AS INTEGER"):
        assert word not in text
