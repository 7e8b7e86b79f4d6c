"""Polls of one server by the peer and by us: the same events, the same bookmarks, and rows of the same shape."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from studio_tui.clock import SystemClock
from studio_tui.domain.github_events import EVENT_FIELDS
from studio_tui.scheduler.polls.github import GitHub
from studio_tui.scheduler.polls.http import Http, Patience
from studio_tui.scheduler.polls.tokens import Tokens
from tests.fakes.github import FakeGitHub, a_pull, github
from tests.interop.peer_call import ask_peer
from tests.processes.waiting import until
from tests.scheduler.conftest import a_schedule
from tests.scheduler.real_host import console, github_at
from tests.scheduler.test_real import firings, select
from tests.scheduler.test_real import home as home
from tests.scheduler.test_real import schedule as stored_schedule

pytestmark = pytest.mark.interop

AT_THE_SERVER = """
import asyncio, httpx, os, time
os.environ.update(GITHUB_TOKEN="secret", LIONAGI_SCHEDULER_COMMAND_ALLOWLIST="sh")
from lionagi.studio.scheduler import github as peer
class Local(httpx.AsyncHTTPTransport):
    async def handle_async_request(self, request):
        request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=ARGUMENTS["port"])
        return await super().handle_async_request(request)
peer._client = httpx.AsyncClient(transport=Local(), timeout=15)
"""
POLLS = """
found = []
for row in ARGUMENTS["rows"]:
    polled = await peer.github_poll(row)
    items = [[item.event, item.cursor, item.dispatchable] for item in polled.items]
    found.append([polled.poll_status, polled.scan_complete, items])
return found
"""
PASS = """
from lionagi.studio.scheduler.engine import scheduler
async with StateDB() as db:
    schedule = await db.get_schedule(ARGUMENTS["schedule_id"])
await scheduler._tick_github(schedule, time.time())
return None
"""
FILTERS: list[dict[str, Any] | None] = [
    {"event": "pr_merged"},
    {"event": "pr_merged", "draft": False, "same_repo_only": True},
    {"event": "pr_merged", "draft": True, "base": "main"},
    {"event": "pr_opened", "state": "closed"},
    {"state": "all", "draft": "yes"},
    None,
]
CURSORS = [
    None,
    "2026-03-10T10:00:03Z",
    "2026-03-10T10:00:03Z#0000000006",
    "2026-03-10T10:01:00Z#0000000100",
    "2027-01-01T00:00:00Z",
]


@pytest.fixture
def server() -> Iterator[FakeGitHub]:
    with github() as fake:
        yield fake


def fill(server: FakeGitHub, repository: str, count: int) -> None:
    fork = {"sha": "f", "repo": {"id": 2, "full_name": "else/web", "fork": True}}
    for n in range(1, count + 1):
        changes: dict[str, Any] = {"draft": n % 5 == 0, "base": {"ref": "main", "repo": {"id": 1, "full_name": repository}}}
        if n % 4 == 0:
            changes["head"] = fork if n % 8 else {"sha": None, "repo": None}
        if n % 7 == 0:
            changes["user"] = None
        at = f"2026-03-10T10:{n // 120:02d}:{n // 2 % 60:02d}Z"
        merged = False if n % 6 == 0 else f"2026-03-10T{9 + n % 2:02d}:{n // 120:02d}:{n // 2 % 60:02d}Z"
        server.pulls.append(a_pull(n, at, merged=merged, **changes))


async def test_every_poll_finds_what_the_peers_finds(home: Path, server: FakeGitHub) -> None:
    fill(server, "acme/small", 20)
    fill(server, "acme/big", 620)
    asked = [("acme/small", FILTERS), ("acme/big", [FILTERS[0], FILTERS[3]])]
    rows = [
        {"github_repo": repository, "github_filter": filters, "github_cursor": cursor}
        for repository, chosen in asked
        for filters in chosen
        for cursor in CURSORS
    ]
    theirs = ask_peer(home, AT_THE_SERVER + POLLS, port=urlsplit(server.base).port, rows=rows)
    ours, expected = [], []
    tokens = Tokens(lambda: {"GITHUB_TOKEN": "secret"}, server.base)
    polls = GitHub(server.base, http=Http(server.base, Patience()), tokens=tokens, clock=SystemClock())
    for row, (status, complete, items) in zip(rows, theirs, strict=True):
        polled = await polls.poll(a_schedule(trigger_type="github_poll", **row))
        found = [[dict(event.fields), event.cursor, event.fires] for event in polled.found]
        if row["github_filter"] == FILTERS[3] and row["github_cursor"]:
            # The peer reads one page of changes and passes over those of the pages behind it.
            first_page = {event["pr_number"] for event, *_ in items}
            found = [item for item in found if item[0]["pr_number"] in first_page]
            complete = polled.complete
        ours.append((polled.status, polled.complete, found))
        expected.append((status, complete, items))
    await polls.close()
    assert ours == expected
    assert sum(len(found) for *_, found in ours) > 700
    assert {complete for _, complete, _ in ours} == {True, False}


def shape(row: dict[str, Any]) -> dict[str, str]:
    return {column: type(value).__name__ for column, value in row.items()}


async def test_a_pass_leaves_the_rows_of_the_peers(home: Path, tmp_path: Path, server: FakeGitHub) -> None:
    server.pulls = [a_pull(1, "2026-03-10T10:00:00Z"), a_pull(2, "2026-03-10T10:00:01Z", draft=True)]
    poll = {
        "trigger_type": "github_poll",
        "github_repo": "acme/web",
        "github_filter": {"event": "pr_merged", "draft": False},
        "interval_sec": None,
        "poll_interval_sec": 300,
        "next_fire_at": None,
        "name": "merges",
    }
    made = await stored_schedule(home, "sh", "-c", "exit 0", "{{pr_title}}", id="merges", **poll)
    other = tmp_path / "other"
    other.mkdir()
    with closing(sqlite3.connect(home / "state.db")) as source, closing(sqlite3.connect(other / "state.db")) as copy:
        source.backup(copy)
    ask_peer(other, AT_THE_SERVER + PASS, port=urlsplit(server.base).port, schedule_id=made)
    async with console(home, allowed=frozenset({"sh"}), **github_at(server.base)) as host:
        await host.host.start()
        await until(lambda: firings(home, "completed"))
        await until(lambda: select(home, "SELECT github_cursor FROM schedules")[0]["github_cursor"].endswith("2"))
        await host.host.idle()
    for table in ("schedules", "schedule_runs", "invocations"):
        (ours,), (theirs,) = select(home, f"SELECT * FROM {table}"), select(other, f"SELECT * FROM {table}")
        assert shape(ours) == shape(theirs), table
    (ours,), (theirs,) = select(home, "SELECT * FROM schedules"), select(other, "SELECT * FROM schedules")
    for column in ("github_cursor", "poller_consecutive_401", "predispatch_refusal_event", "predispatch_refusal_count"):
        assert ours[column] == theirs[column], column
    assert ours["github_cursor"] == "2026-03-10T10:00:01Z#0000000002"
    (ours,), (theirs,) = firings(home), firings(other)
    assert list(EVENT_FIELDS) == list(json.loads(theirs["trigger_context"])["github_events"][0])
    contexts = [json.loads(row["trigger_context"]) for row in (ours, theirs)]
    assert contexts[0] | {"fired_at": 0} == contexts[1] | {"fired_at": 0}
    assert [list(context) for context in contexts] == [["github_events", "repo", "fired_at"]] * 2
    for column in ("status", "status_reason_code", "action_args", "action_kind", "chain_depth", "exit_code"):
        assert ours[column] == theirs[column], column
