"""The demo's home: every state of every screen, the same each time, and a store that the real package calls its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from studio_tui.application.models.common import StateWord
from studio_tui.application.models.runs import MessageQuery, RunQuery
from studio_tui.application.models.schedules import FiringQuery, ScheduleQuery
from studio_tui.bootstrap import one_shot
from studio_tui.demo.home import build_demo
from studio_tui.demo.start import demo_flags
from studio_tui.domain.schedules import Zone
from studio_tui.domain.statuses import PLAY, SESSION
from studio_tui.settings import load_settings

NOW = 1_796_000_000.0
UTC = Zone("UTC", "env:TZ")


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """The demo as of this minute, since what counts as quiet is told from the wall clock."""
    import time

    home = tmp_path / "demo"
    await build_demo(home, now=time.time(), zone=UTC)
    return home


async def test_every_state_word_that_a_screen_can_show_is_there(home: Path) -> None:
    async with one_shot(load_settings(demo_flags({}, home)), print) as studio:
        runs = await studio.runs.list_runs(RunQuery(limit=500))
        schedules = await studio.schedules.list_schedules(ScheduleQuery())
        shows = await studio.shows.list_shows()
        words = {run.state for run in runs.items} | {show.state for show in shows}
        for schedule in schedules.items:
            words |= {schedule.state, *schedule.outcomes}
        for show in shows:
            words |= {play.state for play in (await studio.shows.get_show(show.topic)).plays}
    # Nothing is paused in a store of this version, and no firing waits for a worker in a home without one.
    assert set(StateWord) - words == {StateWord.PAUSED}


async def test_the_ways_of_a_definition_are_there(home: Path) -> None:
    async with one_shot(load_settings(demo_flags({}, home)), print) as studio:
        found = await studio.definitions.list_definitions()
        reviewer = await studio.definitions.get_definition("agent", "reviewer")
    assert {definition.kind for definition in found} == {"agent", "playbook", "skill", "workflow"}
    wanted = {"same", "edited", "no_snapshot", "file_missing", "unreadable", "no_history"}
    assert {definition.drift for definition in found} == wanted
    assert [version.version for version in reviewer.versions] == [3, 2, 1]


async def test_a_long_transcript_has_all_five_kinds_and_a_failed_call(home: Path) -> None:
    async with one_shot(load_settings(demo_flags({}, home)), print) as studio:
        runs = await studio.runs.list_runs(RunQuery(text="Rewrite the router"))
        run_id = runs.items[0].run_id
        start, kinds, errors = None, set(), 0
        while start != 0:
            window = await studio.runs.list_messages(MessageQuery(run_id=run_id, before=start, limit=100))
            kinds |= {message.kind for message in window.items}
            errors += sum(message.error is not None for message in window.items)
            start = window.start if window.has_older else 0
        flows = await studio.runs.list_runs(RunQuery(kind="flow"))
        branches = [len((await studio.runs.get_run(flow.run_id)).branches) for flow in flows.items]
    assert kinds == {"system", "instruction", "assistant", "tool_call", "tool_result"}
    assert errors == 1
    assert branches == [4, 4]


async def test_every_trigger_is_there_and_only_what_can_fire_is_armed(home: Path) -> None:
    async with one_shot(load_settings(demo_flags({}, home)), print) as studio:
        schedules = {s.name: s for s in (await studio.schedules.list_schedules(ScheduleQuery())).items}
        history = await studio.schedules.list_firings(FiringQuery(schedule_id=schedules["nightly-review"].schedule_id))
    assert {schedule.trigger_type for schedule in schedules.values()} == {"cron", "interval", "at", "github_poll"}
    assert schedules["nightly-review"].zone == "Europe/Berlin"
    assert not schedules["pull-requests"].enabled, "a sample asks nobody on the network"
    armed = {name for name, schedule in schedules.items() if schedule.next_fire_at is not None}
    assert not armed & {"half-written", "pull-requests", "migration-window", "quiet-hours", "expensive-survey"}
    assert len(history.items) == 12
    assert history.items[0].run_ids


def rows(store: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names if name != "schema_meta"}


async def test_it_is_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for number in (1, 2):
        home = tmp_path / str(number) / "demo"
        home.parent.mkdir()
        monkeypatch.chdir(home.parent)
        await build_demo(Path("demo"), now=NOW, zone=UTC)
        made.append(rows(home / "state.db"))
    assert made[0] == made[1]


@pytest.mark.interop
async def test_the_real_package_takes_it_for_its_own(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    await build_demo(home, now=NOW, zone=UTC)
    code = (
        "import asyncio, json\nfrom lionagi.state.db import StateDB\n"
        "async def main():\n"
        "    async with StateDB() as db:\n"
        "        runs = await db.list_sessions(limit=500)\n"
        "        schedules = await db.list_schedules()\n"
        "        print(json.dumps([len(runs), sorted({r['status'] for r in runs if r['status']}), len(schedules)]))\n"
        "asyncio.run(main())\n"
    )
    environment = {**os.environ, "LIONAGI_HOME": str(home)}
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    runs, statuses, schedules = json.loads(answer.stdout)
    assert runs > 90
    assert statuses == sorted(SESSION.statuses)
    assert schedules == 13


async def test_the_store_is_sound_and_holds_every_status_of_a_play(home: Path) -> None:
    with sqlite3.connect(f"{(home / 'state.db').as_uri()}?mode=ro", uri=True) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        plays = {status for (status,) in connection.execute("SELECT DISTINCT status FROM plays")}
        unended = connection.execute(
            "SELECT count(*) FROM sessions WHERE status NOT IN ('running') AND ended_at IS NULL"
        ).fetchone()
    assert plays == set(PLAY.statuses)
    assert unended == (0,)


async def test_nothing_lies_in_the_future_but_what_is_to_come(tmp_path: Path) -> None:
    home = tmp_path / "demo"
    await build_demo(home, now=NOW, zone=UTC)
    with sqlite3.connect(f"{(home / 'state.db').as_uri()}?mode=ro", uri=True) as connection:
        for table, columns in {
            "sessions": ("created_at", "updated_at", "ended_at"),
            "messages": ("created_at",),
            "schedule_runs": ("fired_at", "ended_at"),
            "status_transitions": ("created_at",),
            "plays": ("updated_at", "ended_at"),
            "shows": ("updated_at",),
        }.items():
            for column in columns:
                assert connection.execute(f"SELECT max({column}) <= ? FROM {table}", (NOW,)).fetchone() == (1,), (table, column)
