"""The questions of the lists: asked of the stores, of plain sqlite3, and, where it knows them, of the peer's daemon."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from studio_tui.application.ports import RunFilter
from studio_tui.application.ports.invocations import InvocationFilter
from studio_tui.clock import SystemClock
from studio_tui.domain.stats import WINDOWS
from studio_tui.state.db import StateDB
from studio_tui.state.stores.definitions import DefinitionStore
from studio_tui.state.stores.invocations import InvocationStore
from studio_tui.state.stores.messages import MessageStore
from studio_tui.state.stores.overview import OverviewStore
from studio_tui.state.stores.projects import ProjectStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.schedules import ScheduleReadStore
from studio_tui.state.stores.shows import ShowStore
from studio_tui.state.stores.stats import StatsStore
from tests.bench.raw_reads import ACTIVITY, BOTH_TAGS, INVOCATIONS, LATEST, TAGGED, VISIBLE, Raw

NOBODY: Final = "zzqq"
COMMON: Final = "review"
PLAYS: Final = "SELECT * FROM plays WHERE show_id=? ORDER BY sort_order"
Answer = Sequence[str]


@dataclass(frozen=True)
class Question:
    """One question. Each side answers with the same texts: ids in order, or counts.

    ``peer`` is a path of the peer's API and what to take from its answer. ``page`` questions end when a page is full, so their
    time should not grow with the store; ``peer_aim`` is the ratio to the peer that is aimed at, ``raw_aim`` that to sqlite3
    (``None``: three times sqlite3 and a hop of SQLAlchemy for each of ``statements``).
    """

    name: str
    ours: Callable[[], Awaitable[Answer]]
    raw: Callable[[], Answer]
    peer: tuple[str, Callable[[Any], Answer]] | None = None
    page: bool = True
    peer_aim: float = 0.1
    raw_aim: float | None = None
    statements: int = 1


def _runs_of(answer: Any) -> Answer:
    return [run["id"] for run in answer["runs"]]


def run_questions(db: StateDB, raw: Raw) -> Iterator[Question]:
    """Every filter of the list of runs, and its ends."""
    runs = RunStore(db)

    async def page(where: RunFilter, *, backwards: bool = False, after: tuple[float, str] | None = None) -> Answer:
        return [run.run_id for run in (await runs.list_runs(where, after=after, backwards=backwards, limit=20)).runs]

    def ask(where: RunFilter, **options: Any) -> Callable[[], Awaitable[Answer]]:
        return partial(page, where, **options)

    def peer(query: str) -> tuple[str, Callable[[Any], Answer]]:
        return f"runs/?per_page=20{query}", _runs_of

    (count,) = raw.one("SELECT count(*) FROM sessions")
    deep = raw.one("SELECT updated_at, id FROM sessions ORDER BY updated_at DESC, id DESC LIMIT 1 OFFSET ?", count // 2)
    tags = [row[0] for row in raw.all("SELECT tag FROM run_tags GROUP BY tag ORDER BY count(*) DESC, tag LIMIT 2")]
    first, second = (*tags, NOBODY, NOBODY)[:2]
    failed, both = frozenset({"failed"}), frozenset({"completed", "failed", None})
    project, several = "+s.project='lionagi'", "(+s.status IN ('completed','failed') OR s.status IS NULL)"
    middle = "s.updated_at<=? AND (s.updated_at<? OR s.id<?)"
    yield Question("runs, first page", ask(RunFilter()), raw.page("1"), peer(""), peer_aim=0.01)
    yield Question("runs, from the middle on", ask(RunFilter(), after=deep), raw.page(middle, deep[0], *deep))
    yield Question("runs, last page", ask(RunFilter(), backwards=True), raw.page("1", backwards=True))
    yield Question("status", ask(RunFilter(status=failed)), raw.page("s.status='failed'"), peer("&status=failed"))
    yield Question("three statuses", ask(RunFilter(status=both)), raw.page(several))
    yield Question("kind", ask(RunFilter(kinds=frozenset({"flow"}))), raw.page("s.invocation_kind='flow'"), peer("&kind=flow"))
    yield Question("project", ask(RunFilter(project="lionagi")), raw.page(project), peer("&project=lionagi"))
    yield Question(
        "project and status",
        ask(RunFilter(project="lionagi", status=failed)),
        raw.page(f"{project} AND s.status='failed'"),
        peer("&project=lionagi&status=failed"),
    )
    yield Question("project of nobody", ask(RunFilter(project=NOBODY)), raw.page("s.project=?", NOBODY), peer("&project=zzqq"))
    yield Question("no project", ask(RunFilter(project_is_null=True)), raw.page("s.project IS NULL"))
    yield Question("playbook", ask(RunFilter(playbook="pb-0")), raw.page("s.playbook_name LIKE '%pb-0%'"))
    yield Question("tag", ask(RunFilter(tags=(first,))), raw.page(TAGGED, first), peer(f"&tag={first}"))
    yield Question(
        "tag and status", ask(RunFilter(tags=(first,), status=failed)), raw.page(f"s.status='failed' AND {TAGGED}", first)
    )
    yield Question("two tags", ask(RunFilter(tags=(first, second))), raw.page(BOTH_TAGS, first, second), page=False)
    yield Question("text, common", ask(RunFilter(text=COMMON)), raw.search(COMMON), peer(f"&search={COMMON}"))
    yield Question(
        "text, nowhere",
        ask(RunFilter(text=NOBODY)),
        raw.search(NOBODY),
        peer(f"&search={NOBODY}"),
        page=False,
        peer_aim=0.15,
        raw_aim=2.0,
    )


def count_questions(db: StateDB, raw: Raw) -> Iterator[Question]:
    """What is counted, and the lists that are not of runs only."""
    runs, overview, stats = RunStore(db), OverviewStore(db), StatsStore(db)
    invocations, projects, now = InvocationStore(db), ProjectStore(db, SystemClock()), time.time()

    edge = raw.one("SELECT updated_at, id FROM sessions ORDER BY updated_at DESC, id DESC LIMIT 1 OFFSET 20")

    async def newer() -> Answer:
        return [str(await runs.count_newer(RunFilter(), edge, limit=1000))]

    async def header() -> Answer:
        return [str(await overview.count_running())]

    async def total() -> Answer:
        return [str(await runs.approximate_count())]

    async def listed_invocations() -> Answer:
        return [one.invocation_id for one in await invocations.list_invocations(InvocationFilter(), before=None, limit=200)]

    async def listed_projects() -> Answer:
        found = await projects.list_projects()
        return sorted(f"{one.name} {one.run_count}" for one in found.projects)

    async def activity() -> Answer:
        return [str((await stats.activity(WINDOWS["24h"], now)).total)]

    since = WINDOWS["24h"].start(now)
    counted = f"SELECT count(*) FROM sessions s WHERE {VISIBLE} AND "
    newer_than, running = counted + "s.updated_at>=? AND (s.updated_at>? OR s.id>?)", counted + "s.status='running'"
    yield Question("count of newer runs", newer, raw.count(newer_than, edge[0], *edge))
    yield Question("count of running runs", header, raw.count(running))
    yield Question("count of all rows", total, raw.count("SELECT count(*) FROM sessions"), page=False)
    yield Question(
        "invocations, 200",
        listed_invocations,
        raw.ids(INVOCATIONS, 200),
        ("invocations/?limit=200", _invocations_of),
        statements=3,
    )
    yield Question(
        "projects with counts, nothing changed",
        listed_projects,
        lambda: sorted(
            f"{row[0]} {row[1]}"
            for row in raw.all(
                "SELECT p.name, coalesce(c.n, 0) FROM projects p LEFT JOIN (SELECT project, count(*) n FROM sessions"
                " WHERE project IS NOT NULL GROUP BY project) c ON c.project=p.name"
            )
        ),
        ("projects/", lambda answer: sorted(f"{one['name']} {one['session_count']}" for one in answer["projects"])),
        statements=3,
    )
    yield Question(
        "activity of a day",
        activity,
        lambda: [str(sum(row[2] for row in raw.all(ACTIVITY, since, since)))],
        ("stats/activity?window=24h", lambda answer: [str(answer["total"])]),
        page=False,
    )


def other_questions(db: StateDB, raw: Raw, manifest: dict[str, Any]) -> Iterator[Question]:
    """Schedules, firings, shows, definitions, transcripts."""
    schedules, shows, definitions = ScheduleReadStore(db), ShowStore(db), DefinitionStore(db)

    async def listed(**conditions: Any) -> Answer:
        wanted = {"enabled": None, "text": None, **conditions}
        found = await schedules.list_schedules(after=None, limit=50, **wanted)
        recent = await schedules.recent_firings([one.schedule_id for one in found], each=10)
        words = {name: ",".join(outcome.status for outcome in outcomes) for name, outcomes in recent.items()}
        return [f"{one.schedule_id} {words.get(one.schedule_id, '')}" for one in found]

    async def firings() -> Answer:
        return [one.run_id for one in await schedules.firings(manifest["schedules"]["first"], before=None, limit=50)]

    async def listed_shows() -> Answer:
        return [one.topic for one in await shows.list_shows()]

    async def latest() -> Answer:
        return sorted(f"{kind} {name}" for kind, name in await definitions.latest_versions())

    fired = (
        "SELECT r.id, r.*, (SELECT group_concat(s.id) FROM sessions s WHERE s.invocation_id=r.invocation_id) FROM schedule_runs r"
        " WHERE r.schedule_id=? ORDER BY r.fired_at DESC, r.id DESC LIMIT 50"
    )
    first = manifest["schedules"]["first"]
    yield Question("50 schedules, ten outcomes each", listed, raw.schedules(), statements=2)
    yield Question("schedules by name", partial(listed, text="-0003"), raw.schedules("name LIKE '%-0003%'"), statements=2)
    yield Question("schedules that are on", partial(listed, enabled=True), raw.schedules("enabled=1"), statements=2)
    yield Question(
        "firings of a schedule, 50",
        firings,
        raw.ids(fired, first),
        (f"schedules/{first}/runs?limit=50", lambda answer: [one["id"] for one in answer["runs"]]),
        statements=2,
    )
    yield Question(
        "shows with their plays",
        listed_shows,
        lambda: [
            row[0] for row in raw.all("SELECT topic, id, * FROM shows ORDER BY updated_at DESC, topic") if raw.all(PLAYS, row[1])
        ],
        statements=2,
    )
    yield Question("definitions, newest versions", latest, lambda: sorted(f"{row[0]} {row[1]}" for row in raw.all(LATEST)))


def transcript_questions(db: StateDB, raw: Raw, manifest: dict[str, Any]) -> Iterator[Question]:
    """The ends of a transcript of 50,000 messages and of one of 20."""
    transcripts = MessageStore(db)
    giant, typical = manifest["giant_session"], manifest["typical_sessions"][0]
    progression = "SELECT progression_id FROM branches WHERE session_id=? ORDER BY created_at LIMIT 1"

    async def tail(run_id: str, limit: int) -> Answer:
        (name,) = raw.one(progression, run_id)
        return [one.message_id for one in (await transcripts.tail(name, limit=limit)).messages]

    begins: list[int] = []

    async def older() -> Answer:
        (name,) = raw.one(progression, giant)
        if not begins:
            begins.append((await transcripts.tail(name, limit=200)).start)
        return [one.message_id for one in (await transcripts.before(name, begins[0], limit=200)).messages]

    yield Question(
        "longest transcript, newest 200",
        partial(tail, giant, 200),
        raw.transcript(giant, 200),
        (f"sessions/{giant}?limit=200", _messages_of),
        peer_aim=0.01,
        raw_aim=5.0,
    )
    yield Question("longest transcript, 200 before", older, raw.transcript(giant, 200, skipped=200), raw_aim=5.0)
    yield Question("longest transcript, newest 20", partial(tail, giant, 20), raw.transcript(giant, 20), statements=2)
    yield Question("transcript of 20 messages", partial(tail, typical, 20), raw.transcript(typical, 20), statements=2)


def _invocations_of(answer: Any) -> Answer:
    """The peer leaves open how rows of one instant follow one another."""
    return [key for _, key in sorted(((one["updated_at"], one["id"]) for one in answer["invocations"]), reverse=True)]


def _messages_of(answer: Any) -> Answer:
    return [message["id"] for branch in answer["branches"] for message in branch["messages"]]


def questions_of(home: Path, db: StateDB, raw: Raw) -> list[Question]:
    """All questions to one home."""
    manifest = json.loads((home / "bench_manifest.json").read_text())
    return [
        *run_questions(db, raw),
        *count_questions(db, raw),
        *other_questions(db, raw, manifest),
        *transcript_questions(db, raw, manifest),
    ]
