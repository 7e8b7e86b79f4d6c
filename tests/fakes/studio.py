"""A studio in memory: the application's operations over plain lists of contract models, with a clock that stands still.

Screens are tested on it: fill ``FakeStudio().runs.rows`` and so on, change them, and call ``changes.nudge("store")``. Setting a
service's ``error`` makes its reads fail; ``calls`` records what was asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from studio_tui.application.errors import Conflict, NotFound, StudioApplicationError
from studio_tui.application.models.common import Page
from studio_tui.application.models.definitions import DefinitionDetail, DefinitionSummary
from studio_tui.application.models.host import (
    AttentionCount,
    Check,
    HoldResult,
    HostStatus,
    MissedFire,
    Overview,
    StoreStatus,
)
from studio_tui.application.models.runs import MessagePage, MessageQuery, MessageView, RunDetail, RunQuery, RunSummary
from studio_tui.application.models.schedules import (
    Cadence,
    CadenceQuery,
    CreateSchedule,
    DeleteSchedule,
    Deletion,
    FireNow,
    FireResult,
    Firing,
    FiringQuery,
    PatchSchedule,
    ScheduleDetail,
    ScheduleQuery,
    ScheduleResult,
    ScheduleSummary,
    SetScheduleEnabled,
)
from studio_tui.application.models.shows import ShowDetail, ShowSummary
from studio_tui.application.models.state import MigrationPlan, MigrationProgress, MigrationReport, ProgressListener
from studio_tui.application.models.why import Why, WhyQuery

NOW = 1_773_285_120.0
"""2026-03-12 03:12:00 UTC."""


class FakeClock:
    """A clock that moves only when told."""

    def __init__(self, now: float = NOW) -> None:
        self.at = now

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += seconds


class FakeChanges:
    """A change feed that speaks when it is nudged."""

    def __init__(self) -> None:
        self._queues: list[asyncio.Queue[frozenset[str]]] = []

    async def subscribe(self) -> AsyncIterator[frozenset[str]]:
        queue: asyncio.Queue[frozenset[str]] = asyncio.Queue()
        self._queues.append(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._queues.remove(queue)

    def nudge(self, topic: str) -> None:
        for queue in self._queues:
            queue.put_nowait(frozenset({topic}))


class _Service:
    """Counts calls, waits where a test holds it back, and fails where a test says so."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.gate: asyncio.Event | None = None
        self.calls: list[tuple[str, Any]] = []

    async def _asked(self, name: str, argument: Any = None) -> None:
        self.calls.append((name, argument))
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error


def _page(rows: Sequence[Any], key: Callable[[Any], str], cursor: str | None, limit: int, backwards: bool = False) -> Page[Any]:
    """Rows after (or before) the one with this key; the cursor is simply that key."""
    places = {key(row): place for place, row in enumerate(rows)}
    if backwards:
        end = len(rows) if cursor is None else places.get(cursor, 0)
        start = max(0, end - limit)
        more = start > 0
        items = tuple(rows[start:end])
        return Page(items=items, limit=limit, has_next=more, next_cursor=key(items[0]) if more else None)
    start = 0 if cursor is None else places.get(cursor, -1) + 1
    items = tuple(rows[start : start + limit])
    more = start + limit < len(rows)
    return Page(items=items, limit=limit, has_next=more, next_cursor=key(items[-1]) if more else None)


class FakeRuns(_Service):
    """Runs, newest first, and their messages, oldest first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[RunSummary] = []
        self.details: dict[str, RunDetail] = {}
        self.messages: dict[str, list[MessageView]] = {}
        self.live: set[str] = set()

    def _matching(self, query: RunQuery) -> list[RunSummary]:
        rows = self.rows
        if query.status:
            rows = [row for row in rows if row.status in query.status]
        if query.kind:
            rows = [row for row in rows if row.invocation_kind == query.kind]
        if query.project:
            rows = [row for row in rows if row.project == query.project]
        if query.text:
            rows = [row for row in rows if query.text.lower() in f"{row.name} {row.run_id} {row.agent_name}".lower()]
        return rows

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        await self._asked("list_runs", query)
        return _page(self._matching(query), lambda row: row.run_id, query.cursor, query.limit, query.backwards)

    def cursor_at(self, updated_at: float | None, run_id: str) -> str:
        return run_id

    async def refresh_runs(self, ids: Sequence[str]) -> tuple[RunSummary, ...]:
        await self._asked("refresh_runs", tuple(ids))
        return tuple(row for row in self.rows if row.run_id in ids)

    async def count_newer(self, query: RunQuery, than: RunSummary) -> int:
        await self._asked("count_newer", query)
        ids = [row.run_id for row in self._matching(query)]
        return ids.index(than.run_id) if than.run_id in ids else 0

    async def approximate_count(self) -> int:
        await self._asked("approximate_count")
        return len(self.rows)

    async def get_run(self, run_id: str) -> RunDetail:
        await self._asked("get_run", run_id)
        if run_id in self.details:
            return self.details[run_id]
        for row in self.rows:
            if row.run_id == run_id:
                return RunDetail(**row.model_dump())
        raise NotFound("run", run_id)

    async def resolve_run_id(self, prefix: str) -> str:
        await self._asked("resolve_run_id", prefix)
        for row in self.rows:
            if row.run_id.startswith(prefix):
                return row.run_id
        raise NotFound("run", prefix)

    async def list_messages(self, query: MessageQuery) -> MessagePage:
        await self._asked("list_messages", query)
        messages = self.messages.get(query.run_id, [])
        if query.after is not None:
            start, end = query.after, min(len(messages), query.after + query.limit)
        else:
            end = len(messages) if query.before is None else query.before
            start = max(0, end - query.limit)
        return MessagePage(
            items=tuple(messages[start:end]), start=start, end=end, has_older=start > 0, live=query.run_id in self.live
        )


class FakeSchedules(_Service):
    """Schedules by name, and their firings, newest first."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[ScheduleSummary] = []
        self.details: dict[str, ScheduleDetail] = {}
        self.firings: dict[str, list[Firing]] = {}
        self.whys: dict[str, Why] = {}
        self.deletions: dict[str, Deletion] = {}
        self.cadences: Cadence = Cadence(words="every 15 min", zone=None, zone_source=None, fires=())

    async def list_schedules(self, query: ScheduleQuery) -> Page[ScheduleSummary]:
        await self._asked("list_schedules", query)
        rows = [row for row in self.rows if query.enabled is None or row.enabled is query.enabled]
        rows = [row for row in rows if not query.text or query.text.lower() in row.name.lower()]
        return _page(rows, lambda row: row.schedule_id, query.cursor, query.limit)

    async def get_schedule(self, schedule_id: str) -> ScheduleDetail:
        await self._asked("get_schedule", schedule_id)
        return self.details[schedule_id] if schedule_id in self.details else ScheduleDetail(**self._row(schedule_id).model_dump())

    async def resolve_schedule(self, name_or_prefix: str) -> str:
        await self._asked("resolve_schedule", name_or_prefix)
        for row in self.rows:
            if row.name == name_or_prefix or row.schedule_id.startswith(name_or_prefix):
                return row.schedule_id
        raise NotFound("schedule", name_or_prefix)

    async def list_firings(self, query: FiringQuery) -> Page[Firing]:
        await self._asked("list_firings", query)
        return _page(self.firings.get(query.schedule_id, []), lambda row: row.firing_id, query.cursor, query.limit)

    async def get_firing(self, firing_id: str) -> Firing:
        await self._asked("get_firing", firing_id)
        for firing in (one for firings in self.firings.values() for one in firings):
            if firing.firing_id == firing_id:
                return firing
        raise NotFound("firing", firing_id)

    async def create_schedule(self, command: CreateSchedule) -> ScheduleResult:
        await self._asked("create_schedule", command)
        return ScheduleResult(schedule_id="s-new", name=command.name, enabled=command.enabled, updated_at=NOW, next_fire_at=None)

    async def set_enabled(self, command: SetScheduleEnabled) -> ScheduleResult:
        await self._asked("set_enabled", command)
        row = self._row(command.schedule_id)
        return ScheduleResult(
            schedule_id=row.schedule_id, name=row.name, enabled=command.enabled, updated_at=NOW, next_fire_at=row.next_fire_at
        )

    async def patch_schedule(self, command: PatchSchedule) -> ScheduleResult:
        await self._asked("patch_schedule", command)
        row = self._row(command.schedule_id)
        if row.updated_at != command.expected_updated_at:
            raise Conflict("schedule", expected=repr(command.expected_updated_at), actual=repr(row.updated_at))
        changed = tuple(sorted(command.changes.model_fields_set))
        return ScheduleResult(
            schedule_id=row.schedule_id, name=row.name, enabled=True, updated_at=NOW, next_fire_at=None, changed=changed
        )

    async def deletion(self, schedule_id: str) -> Deletion:
        await self._asked("deletion", schedule_id)
        return self.deletions.get(schedule_id) or Deletion(
            schedule_id=schedule_id, name=self._row(schedule_id).name, firings=len(self.firings.get(schedule_id, ()))
        )

    async def delete_schedule(self, command: DeleteSchedule) -> Deletion:
        await self._asked("delete_schedule", command)
        gone = await self.deletion(command.schedule_id)
        self.rows = [row for row in self.rows if row.schedule_id != command.schedule_id]
        return gone

    async def why(self, query: WhyQuery) -> Why:
        await self._asked("why", query)
        return self.whys[query.firing_id or query.schedule_id]

    async def fire_now(self, command: FireNow) -> FireResult:
        await self._asked("fire_now", command)
        row = self._row(command.schedule_id)
        return FireResult(firing_id="f-now", schedule_id=row.schedule_id, name=row.name)

    def cadence(self, query: CadenceQuery) -> Cadence:
        self.calls.append(("cadence", query))
        return self.cadences

    def _row(self, schedule_id: str) -> ScheduleSummary:
        for row in self.rows:
            if row.schedule_id == schedule_id:
                return row
        raise NotFound("schedule", schedule_id)


class FakeShows(_Service):
    """Shows and their plays."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[ShowSummary] = []
        self.details: dict[str, ShowDetail] = {}

    async def list_shows(self) -> tuple[ShowSummary, ...]:
        await self._asked("list_shows")
        return tuple(self.rows)

    async def get_show(self, topic: str) -> ShowDetail:
        await self._asked("get_show", topic)
        if topic in self.details:
            return self.details[topic]
        for row in self.rows:
            if row.topic == topic:
                return ShowDetail(**row.model_dump())
        raise NotFound("show", topic)


class FakeDefinitions(_Service):
    """Definitions and the texts of their versions."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[DefinitionSummary] = []
        self.details: dict[tuple[str, str], DefinitionDetail] = {}
        self.versions: dict[tuple[str, str, int], str] = {}

    async def list_definitions(self) -> tuple[DefinitionSummary, ...]:
        await self._asked("list_definitions")
        return tuple(self.rows)

    async def get_definition(self, kind: str, name: str) -> DefinitionDetail:
        await self._asked("get_definition", (kind, name))
        if (kind, name) in self.details:
            return self.details[kind, name]
        for row in self.rows:
            if (row.kind, row.name) == (kind, name):
                return DefinitionDetail(**row.model_dump())
        raise NotFound(kind, name)

    async def get_version(self, kind: str, name: str, number: int) -> str:
        await self._asked("get_version", (kind, name, number))
        try:
            return self.versions[kind, name, number]
        except KeyError:
            raise NotFound("version", f"{kind} {name} v{number}") from None


class FakeHost(_Service):
    """Who fires."""

    def __init__(self) -> None:
        super().__init__()
        self.now = HostStatus(state="hosting", pass_age=2.0, slots=4)

    def status(self) -> HostStatus:
        return self.now

    async def decide(self, host: bool, remember: bool) -> None:
        await self._asked("decide", (host, remember))

    async def settle_missed(self, apply_policies: bool) -> None:
        await self._asked("settle_missed", apply_policies)

    async def hold_for(self, duration: str) -> HoldResult:
        await self._asked("hold_for", duration)
        self.now = self.now.model_copy(update={"state": "held", "held_until": NOW + 1800})
        return HoldResult(until=NOW + 1800, due=(MissedFire(schedule_id="a", name="nightly", due_at=NOW + 60, policy="skip"),))

    async def release(self) -> HoldResult:
        await self._asked("release", None)
        self.now = self.now.model_copy(update={"state": "hosting", "held_until": None})
        return HoldResult()


class FakeStore(_Service):
    """Which store it is."""

    def __init__(self) -> None:
        super().__init__()
        self.now = StoreStatus(mode="ready", label="state.db", home="/srv/agents", version="0.36.0")
        self.plan_now = MigrationPlan(label="state.db")
        self.steps: asyncio.Queue[MigrationProgress | None] = asyncio.Queue()

    def status(self) -> StoreStatus:
        return self.now

    async def create(self) -> None:
        await self._asked("create")
        self.now = self.now.model_copy(update={"mode": "ready", "reason": None})

    async def plan(self) -> MigrationPlan:
        await self._asked("plan")
        return self.plan_now

    async def migrate(self, listen: ProgressListener | None = None) -> MigrationReport:
        """Tells what the test puts into ``steps``, until that is ``None``."""
        await self._asked("migrate")
        while (step := await self.steps.get()) is not None:
            if listen is not None:
                listen(step)
        self.now = self.now.model_copy(update={"mode": "ready", "reason": None})
        return MigrationReport(label="state.db", changes=self.plan_now.changes, backups=("state.db.bak",))


class FakeOverview(_Service):
    """The figures of the header."""

    def __init__(self) -> None:
        super().__init__()
        self.now = Overview(running=3, attention=(AttentionCount(kind="failed_run", count=4),))

    async def overview(self) -> Overview:
        await self._asked("overview")
        return self.now


class FakeDoctor(_Service):
    """Checks."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Check] = []

    async def checks(self) -> tuple[Check, ...]:
        await self._asked("checks")
        return tuple(self.rows)


class FakeStudio:
    """All operations; give it to ``StudioApp(FakeStudio().open)``."""

    def __init__(self) -> None:
        self.runs, self.schedules, self.shows = FakeRuns(), FakeSchedules(), FakeShows()
        self.definitions, self.host, self.store = FakeDefinitions(), FakeHost(), FakeStore()
        self.overview, self.doctor, self.changes, self.clock = FakeOverview(), FakeDoctor(), FakeChanges(), FakeClock()
        self.open_error: StudioApplicationError | None = None
        self.opened = 0

    async def open(self) -> Any:
        """What the app awaits behind its first frame."""
        self.opened += 1
        if self.open_error is not None:
            raise self.open_error
        return self
