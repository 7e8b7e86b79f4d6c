"""Every reading operation over a home that the real package made: nothing in it stops a list, a detail or a transcript."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.definitions import DefinitionService
from studio_tui.application.models.runs import MessageQuery, RunQuery
from studio_tui.application.models.schedules import FiringQuery, ScheduleQuery
from studio_tui.application.overview import OverviewService
from studio_tui.application.runs import RunService
from studio_tui.application.schedules import ScheduleService
from studio_tui.application.shows import ShowService
from studio_tui.files.definitions import DefinitionFiles
from studio_tui.files.roots import Roots
from studio_tui.files.shows import ShowFiles
from studio_tui.state.store import Store
from studio_tui.state.stores.definitions import DefinitionStore
from studio_tui.state.stores.messages import MessageStore
from studio_tui.state.stores.overview import OverviewStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.schedules import ScheduleReadStore
from studio_tui.state.stores.shows import ShowStore
from tests.application.records import BERLIN, Schedules
from tests.fakes.ports import FakeProcesses, HeldClock, MemoryLogs

pytestmark = pytest.mark.interop

PEER_NOW = 1_796_000_000.0
"""The instant for which ``peer_home`` is made."""


@pytest.fixture
async def store(peer_home: Path) -> AsyncIterator[Store]:
    store = Store(None, home=peer_home)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock(PEER_NOW)


@pytest.fixture
def roots(peer_home: Path) -> Roots:
    return Roots.of(peer_home, peer_home / "shows")


async def test_every_run_has_a_row_a_detail_and_a_whole_transcript(store: Store, clock: HeldClock) -> None:
    runs = RunService(runs=RunStore(store.db), messages=MessageStore(store.db), processes=FakeProcesses(), clock=clock)
    seen: list[str] = []
    kinds: Counter[str] = Counter()
    cursor = None
    while True:
        page = await runs.list_runs(RunQuery(limit=9, cursor=cursor))
        for summary in page.items:
            detail = await runs.get_run(summary.run_id)
            assert {name: value for name, value in summary if value != getattr(detail, name)} == {}
            kinds.update(await _transcript(runs, summary.run_id))
            seen.append(summary.run_id)
        if page.next_cursor is None:
            break
        cursor = page.next_cursor
    assert len(seen) == len(set(seen)) == await runs.approximate_count()
    assert set(kinds) == {"system", "instruction", "assistant", "tool_call", "tool_result"}


async def _transcript(runs: RunService, run_id: str) -> list[str]:
    """The kinds of all messages of a run, read in small windows from the tail; every message is met once."""
    ids: list[str] = []
    kinds: list[str] = []
    page = await runs.list_messages(MessageQuery(run_id=run_id, limit=4))
    while True:
        ids += [view.message_id for view in page.items]
        kinds += [view.kind for view in page.items]
        if not page.has_older:
            break
        page = await runs.list_messages(MessageQuery(run_id=run_id, before=page.start, limit=4))
    assert len(ids) == len(set(ids))
    return kinds


async def test_every_schedule_has_a_row_a_detail_and_its_firings(store: Store, clock: HeldClock) -> None:
    world = Schedules()
    schedules = ScheduleService(
        reads=ScheduleReadStore(store.db),
        writes=ScheduleWriteStore(store.db),
        host=world.host,
        logs=MemoryLogs(),
        sidecar=world.sidecar,
        launch=world.facts(),
        zone=BERLIN,
        by=world.by,
        clock=clock,
    )
    items = (await schedules.list_schedules(ScheduleQuery())).items
    assert len(items) > 5
    assert [item.name for item in items] == sorted(item.name for item in items)
    firings: list[Any] = []
    for item in items:
        detail = await schedules.get_schedule(item.schedule_id)
        assert (detail.name, detail.trigger, detail.outcomes) == (item.name, item.trigger, item.outcomes)
        assert bool(detail.next_fires) == (item.enabled and item.trigger_type != "github_poll" and not item.problems)
        firings += (await schedules.list_firings(FiringQuery(schedule_id=item.schedule_id))).items
    assert {firing.state for firing in firings} >= {"OK", "FAIL", "SKIP", "RUN"}
    for firing in firings:
        assert await schedules.get_firing(firing.firing_id) == firing


async def test_every_show_and_definition_is_listed_and_opens(store: Store, clock: HeldClock, roots: Roots) -> None:
    shows = ShowService(reads=ShowStore(store.db), files=ShowFiles(roots), clock=clock)
    summaries = await shows.list_shows()
    assert {summary.source for summary in summaries} >= {"both", "disk"}
    for summary in summaries:
        detail = await shows.get_show(summary.topic)
        assert len(detail.plays) == summary.plays_total
    library = DefinitionService(files=DefinitionFiles(roots), history=DefinitionStore(store.db))
    rows = await library.list_definitions()
    assert {row.kind for row in rows} == {"agent", "playbook", "skill", "workflow"}
    for row in rows:
        definition = await library.get_definition(row.kind, row.name)
        assert (definition.drift, definition.version, definition.problem) == (row.drift, row.version, row.problem)
        for version in definition.versions:
            assert len(await library.get_version(row.kind, row.name, version.version)) == version.content_length


async def test_the_header_counts_what_the_lists_show(store: Store, clock: HeldClock, roots: Roots) -> None:
    overview = await OverviewService(
        reads=OverviewStore(store.db),
        schedules=ScheduleReadStore(store.db),
        shows=ShowStore(store.db),
        show_files=ShowFiles(roots),
        processes=FakeProcesses(),
        zone=BERLIN,
        clock=clock,
    ).overview()
    runs = RunService(runs=RunStore(store.db), messages=MessageStore(store.db), processes=FakeProcesses(), clock=clock)
    running = await runs.list_runs(RunQuery(status=("running",), limit=500))
    assert overview.running == len(running.items)
    counts = {item.kind: item.count for item in overview.attention}
    assert counts["lost"] == sum(run.effective_health in ("stale", "orphaned", "unresponsive") for run in running.items)
    shows = await ShowService(reads=ShowStore(store.db), files=ShowFiles(roots), clock=clock).list_shows()
    assert counts["gated"] == sum(show.gated for show in shows)
