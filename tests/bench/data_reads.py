"""What the reads of the store cost beside plain sqlite3, in one run (metrics 3, 4, 5, and the data half of 6 and 7).

    python tests/bench/data_reads.py HOME [HOME …] [--pairs 60]

Each HOME is one of ``tests.bench.homes``. Ours and plain sqlite3 take turns and must give the same answers first. "hop" is
``SELECT 1`` through the same door; the aim for a page is three times plain sqlite3 plus one hop.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).parents[2]))

from studio_tui.application.ports import RunFilter
from studio_tui.state.db import StateDB
from studio_tui.state.stores.messages import MessageStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.schedules import ScheduleReadStore
from tests.bench.measure import median, p95

COLUMNS = (
    "s.id,s.run_id,s.name,s.user_label,s.created_at,s.updated_at,s.playbook_name,s.agent_name,s.invocation_kind,s.show_topic,"
    "s.show_play_name,s.artifacts_path,s.source_kind,s.status,s.started_at,s.ended_at,s.ended_at_is_approximate,"
    "s.last_message_at,s.invocation_id,s.model,s.provider,s.effort,s.project,s.status_reason_code,s.status_reason_summary,"
    "s.total_cost_usd,s.input_tokens,s.output_tokens,(SELECT COUNT(*) FROM branches b WHERE b.session_id=s.id)"
)
VISIBLE = "json_extract(s.node_metadata,'$.engine_parent_run_id') IS NULL"
STRIPS = (
    "SELECT sc.id, (SELECT group_concat(status) FROM (SELECT sr.status FROM schedule_runs sr WHERE sr.schedule_id=sc.id AND"
    " sr.chain_depth=0 ORDER BY sr.fired_at DESC LIMIT 10)) FROM schedules sc ORDER BY sc.name LIMIT 50"
)
NOBODY = "zzqq"


@dataclass(frozen=True)
class Case:
    """One question, asked of both; each answers with the ids that it found, in order."""

    name: str
    ours: Callable[[], Awaitable[Sequence[str]]]
    raw: Callable[[], Sequence[str]]
    aims: bool = True


class Raw:
    """Plain sqlite3 with one open read connection and statements that follow an index."""

    def __init__(self, store: Path) -> None:
        self._connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True, isolation_level=None)
        self._connection.execute("PRAGMA cache_size=-64000")

    def one(self, sql: str, *values: object) -> Any:
        """The first row of a question about the home."""
        return self._connection.execute(sql, values).fetchone()

    def page(self, where: str, *values: object) -> Callable[[], list[str]]:
        """The ids of a page of 20 whose rows were read."""
        sql = f"SELECT {COLUMNS} FROM sessions s WHERE {VISIBLE} AND {where} ORDER BY s.updated_at DESC, s.id DESC LIMIT 20"
        return lambda: [row[0] for row in self._connection.execute(sql, values).fetchall()]

    def scan(self, *names: str) -> Callable[[], list[str]]:
        """What looking at these columns of every row costs; nothing is found."""
        sql = f"SELECT id FROM sessions WHERE {' OR '.join(f'{name} LIKE ?' for name in names)}"
        return lambda: [row[0] for row in self._connection.execute(sql, [f"%{NOBODY}%"] * len(names)).fetchall()]

    def tail(self, branch_of: str, limit: int) -> list[str]:
        """A transcript's end: the newest ids by incremental read, their rows, decoded."""
        sql = "SELECT p.rowid FROM branches b JOIN progressions p ON p.id=b.progression_id WHERE b.session_id=?"
        (place,) = self.one(sql, branch_of)
        with self._connection.blobopen("progressions", "collection", place, readonly=True) as blob:
            blob.seek(max(0, len(blob) - 41 * limit))
            ids = blob.read().decode().split('"')[-2::-2][:limit][::-1]
        marks = ",".join("?" * len(ids))
        sql = f"SELECT id,created_at,sender,role,content,lion_class FROM messages WHERE id IN ({marks})"
        found = {row[0]: json.loads(row[4]) for row in self._connection.execute(sql, ids).fetchall()}
        return [name for name in ids if name in found]

    def strips(self) -> list[str]:
        """The last ten outcomes of the first fifty schedules."""
        return [row[0] for row in self._connection.execute(STRIPS).fetchall()]


def cases_of(db: StateDB, raw: Raw, manifest: dict[str, Any]) -> list[Case]:
    """The questions."""
    runs, transcripts, schedules = RunStore(db), MessageStore(db), ScheduleReadStore(db)
    giant = manifest["giant_session"]
    (progression,) = raw.one("SELECT progression_id FROM branches WHERE session_id=?", giant)
    (count,) = raw.one("SELECT count(*) FROM sessions")
    deep = raw.one("SELECT updated_at, id FROM sessions ORDER BY updated_at DESC, id DESC LIMIT 1 OFFSET ?", count - 45)
    (tag,) = raw.one("SELECT tag FROM run_tags GROUP BY tag ORDER BY count(*) DESC, tag LIMIT 1")

    def page(where: RunFilter, after: tuple[float, str] | None = None) -> Callable[[], Awaitable[list[str]]]:
        async def ask() -> list[str]:
            found = await runs.list_runs(where, after=after, backwards=False, limit=20)
            return [run.run_id for run in found.runs]

        return ask

    async def giant_tail() -> list[str]:
        window = await transcripts.tail(progression, limit=200)
        return [message.message_id for message in window.messages]

    async def strips() -> list[str]:
        found = await schedules.list_schedules(enabled=None, text=None, after=None, limit=50)
        await schedules.recent_firings([schedule.schedule_id for schedule in found], each=10)
        return [schedule.schedule_id for schedule in found]

    failed, both = frozenset({"failed"}), frozenset({"completed", "failed", None})
    project, several = "+s.project='lionagi'", "(s.status IN ('completed','failed') OR s.status IS NULL)"
    return [
        Case("runs, first page", page(RunFilter()), raw.page("1")),
        Case(
            "runs, last page", page(RunFilter(), deep), raw.page("s.updated_at<=? AND (s.updated_at<? OR s.id<?)", deep[0], *deep)
        ),
        Case("status", page(RunFilter(status=failed)), raw.page("s.status='failed'")),
        Case("three statuses", page(RunFilter(status=both)), raw.page(several.replace("s.status", "+s.status"))),
        Case("project", page(RunFilter(project="lionagi")), raw.page(project)),
        Case(
            "project and status", page(RunFilter(project="lionagi", status=failed)), raw.page(f"{project} AND s.status='failed'")
        ),
        Case("project of nobody", page(RunFilter(project=NOBODY)), raw.page("s.project=?", NOBODY), aims=False),
        Case("kind", page(RunFilter(kinds=frozenset({"flow"}))), raw.page("s.invocation_kind='flow'")),
        Case("tag", page(RunFilter(tags=(tag,))), raw.page("s.id IN (SELECT session_id FROM run_tags WHERE tag=?)", tag)),
        Case("search, rare", page(RunFilter(text=NOBODY)), raw.scan("name", "agent_name", "user_label"), aims=False),
        Case("giant transcript, newest 200", giant_tail, lambda: raw.tail(giant, 200), aims=False),
        Case("50 schedules, ten outcomes each", strips, raw.strips, aims=False),
    ]


async def measure(home: Path, pairs: int) -> dict[str, float]:
    """Print one home's table; our medians in ms by question."""
    manifest = json.loads((home / "bench_manifest.json").read_text())
    raw, medians = Raw(home / "state.db"), dict[str, float]()
    async with StateDB(home / "state.db") as db:

        async def hop() -> None:
            async with db.read() as connection:
                (await connection.execute(text("SELECT 1"))).all()

        print(f"\n{home}: {manifest['counts']['sessions']:,} runs; medians in ms")
        print(f"{'question':<34} {'sqlite3':>8} {'hop':>7} {'ours':>8} {'p95':>8} {'ratio':>7} {'3x+hop':>8}")
        for case in cases_of(db, raw, manifest):
            if list(await case.ours()) != list(case.raw()):
                raise SystemExit(f"{case.name}: the answers differ")
            plain, hops, ours = await _take_turns(case, hop, pairs)
            medians[case.name] = middle = median(ours)
            bound = 3 * median(plain) + median(hops)
            mark = " over" if case.aims and middle > bound else ""
            print(
                f"{case.name:<34} {median(plain):>8.3f} {median(hops):>7.3f} {middle:>8.3f} {p95(ours):>8.3f} "
                f"{middle / median(plain):>7.2f} {bound:>8.3f}{mark}"
            )
    return medians


async def _take_turns(case: Case, hop: Callable[[], Awaitable[None]], pairs: int) -> tuple[list[float], list[float], list[float]]:
    plain: list[float] = []
    hops: list[float] = []
    ours: list[float] = []
    for _ in range(pairs):
        start = time.perf_counter()
        case.raw()
        plain.append(time.perf_counter() - start)
        start = time.perf_counter()
        await hop()
        hops.append(time.perf_counter() - start)
        start = time.perf_counter()
        await case.ours()
        ours.append(time.perf_counter() - start)
        if sum(ours) > 10:
            break
    return [value * 1e3 for value in plain], [value * 1e3 for value in hops], [value * 1e3 for value in ours]


def main() -> None:
    """Run it; with several homes, the last against the first shows how flat the figures are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", nargs="+", type=Path, metavar="HOME")
    parser.add_argument("--pairs", type=int, default=60)
    options = parser.parse_args()
    tables = [asyncio.run(measure(home, options.pairs)) for home in options.homes]
    if len(tables) > 1:
        print("\nlast home against the first")
        for name, middle in tables[-1].items():
            print(f"{name:<34} {middle / tables[0][name]:>8.2f}")


if __name__ == "__main__":
    main()
