"""Pages of every list that goes by a time: no row twice, and none that was there skipped, while others are being written."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.models.artifacts import ArtifactListQuery
from studio_tui.application.models.evidence import EvidenceRequest
from studio_tui.application.models.invocations import EngineRunQuery, InvocationQuery, TeamQuery
from studio_tui.application.models.maintenance import AdminEventQuery
from studio_tui.application.models.outbox import DispatchQuery
from studio_tui.application.models.runs import RunQuery
from studio_tui.application.studio import Studio
from tests.application.home import OpenHome
from tests.builders import run_sql


@dataclass(frozen=True)
class Listing:
    """One paged list: how a row of it is written, how a page is asked for, and what names a row."""

    insert: str
    query: Any
    pages: Callable[[Studio], Callable[[Any], Any]]
    name: str


_RUN = (
    "INSERT INTO sessions (id, created_at, updated_at, progression_id, status, invocation_kind, source_kind)"
    " VALUES (:id, 1.0, :at, 'p', 'completed', 'agent', 'live')"
)

LISTINGS = {
    "runs": Listing(_RUN, RunQuery(), lambda s: s.runs.list_runs, "run_id"),
    "invocations": Listing(
        "INSERT INTO invocations (id, skill, status, started_at, created_at, updated_at)"
        " VALUES (:id, 's', 'completed', 1.0, 1.0, :at)",
        InvocationQuery(),
        lambda s: s.invocations.list_invocations,
        "invocation_id",
    ),
    "artifacts": Listing(
        "INSERT INTO artifacts (id, kind, name, content, created_at, updated_at) VALUES (:id, 'k', :id, '{}', :at, :at)",
        ArtifactListQuery(),
        lambda s: s.artifacts.list_artifacts,
        "id",
    ),
    "engine runs": Listing(
        "INSERT INTO engine_runs (id, kind, spec_json, status, started_at) VALUES (:id, 'review', '{}', 'completed', :at)",
        EngineRunQuery(),
        lambda s: s.engines.list_engine_runs,
        "run_id",
    ),
    "teams": Listing(
        "INSERT INTO teams (id, name, status, created_at, updated_at, member_count, node_metadata)"
        " VALUES (:id, :id, 'active', 1.0, :at, 0, '{}')",
        TeamQuery(),
        lambda s: s.teams.list_teams,
        "team_id",
    ),
    "admin events": Listing(
        "INSERT INTO admin_events (id, created_at, action, details, actor) VALUES (:id, :at, 'a', '{}', 'admin')",
        AdminEventQuery(),
        lambda s: s.maintenance.list_events,
        "event_id",
    ),
    "outbox": Listing(
        "INSERT INTO dispatch_outbox (id, kind, payload, deliver_to, status, attempt, max_attempts, next_attempt_at, created_at,"
        " updated_at, ack_required) VALUES (:id, 'k', '{}', 'x', 'pending', 0, 8, 1.0, :at, :at, 0)",
        DispatchQuery(),
        lambda s: s.outbox.list_dispatches,
        "dispatch_id",
    ),
    "controls": Listing(
        "INSERT INTO session_controls (id, session_id, verb, created_at) VALUES (:id, 'r1', 'pause', :at)",
        EvidenceRequest(run_id="r1", pane="controls"),
        lambda s: s.evidence.list_evidence,
        "control_id",
    ),
}

_TABLES = ("sessions", "invocations", "artifacts", "engine_runs", "teams", "admin_events", "dispatch_outbox", "session_controls")
_TIMES = st.sampled_from([0.0, 1.0, 1.5, 2.0, 1e9, 1_796_000_000.125]) | st.floats(0, 2e9)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("listing", LISTINGS.values(), ids=LISTINGS)
@given(times=st.lists(_TIMES, max_size=9), later=st.lists(_TIMES, min_size=1, max_size=4), limit=st.integers(1, 4))
async def test_no_row_comes_twice_and_none_is_skipped_while_rows_are_added(
    home: OpenHome, listing: Listing, times: list[float], later: list[float], limit: int
) -> None:
    for table in _TABLES:
        await run_sql(home.db, f"DELETE FROM {table}")
    await run_sql(home.db, "INSERT OR IGNORE INTO progressions (id, created_at, collection) VALUES ('p', 1.0, '[]')")
    if listing is LISTINGS["controls"]:
        await run_sql(home.db, _RUN, id="r1", at=1.0)
    names = (f"row{number:02}" for number in itertools.count())
    there = set()
    for at in times:
        there.add(name := next(names))
        await run_sql(home.db, listing.insert, id=name, at=at)
    seen: list[str] = []
    query, waiting = listing.query.model_copy(update={"limit": limit}), iter(later)
    for _ in range(len(times) + len(later) + 2):
        page = await listing.pages(home.studio)(query)
        seen += [getattr(item, listing.name) for item in page.items]
        if page.next_cursor is None:
            break
        query = query.model_copy(update={"cursor": page.next_cursor})
        if (at := next(waiting, None)) is not None:
            await run_sql(home.db, listing.insert, id=next(names), at=at)
    else:
        pytest.fail("the pages have no end")
    assert len(seen) == len(set(seen))
    assert there <= set(seen)


async def test_an_offset_passes_over_so_many_runs_and_a_cursor_goes_on_from_there(home: OpenHome) -> None:
    await run_sql(home.db, "INSERT INTO progressions (id, created_at, collection) VALUES ('p', 1.0, '[]')")
    for number in range(9):
        await run_sql(home.db, _RUN, id=f"r{number}", at=float(number // 2))
    runs = home.studio.runs
    order = [run.run_id for run in (await runs.list_runs(RunQuery())).items]
    for offset in range(11):
        page = await runs.list_runs(RunQuery(offset=offset, limit=3))
        assert ([run.run_id for run in page.items], page.offset) == (order[offset : offset + 3], offset)
        assert page.has_next == (offset + 3 < 9)
    page = await runs.list_runs(RunQuery(offset=2, limit=3))
    following = await runs.list_runs(RunQuery(cursor=page.next_cursor, limit=3))
    assert [run.run_id for run in following.items] == order[5:8]
    with pytest.raises(ValidationFailure):
        await runs.list_runs(RunQuery(offset=2, cursor=page.next_cursor))
