"""Whatever was applied before, afterwards the store says what the last document says, and both programs leave it alone."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.models.schedule_sets import ApplySet, PlanSet
from studio_tui.application.set_resolving import ResolvedMember, Resolver
from studio_tui.application.set_shape import read_document
from studio_tui.application.set_text import yaml_text
from studio_tui.files.schedule_sets import SetFiles
from tests.application.home import OpenHome
from tests.interop.sets import ALLOWED, Project, Stores, actions, theirs
from tests.interop.test_set_digests import FACTS, MEMBERS, document
from tests.unit.records import NOW, UTC

pytestmark = pytest.mark.interop

DOCUMENTS = st.lists(st.dictionaries(st.sampled_from("abc"), MEMBERS, max_size=3), min_size=2, max_size=4)
WHOLE = ("rate_limit", "github_filter", "notify_on", "action_command_args")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.make(tmp_path_factory.mktemp("converge"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Stores(tmp_path_factory.mktemp("stores")).make("home")


@given(documents=DOCUMENTS)
@settings(max_examples=15, deadline=None)
def test_the_last_document_is_what_stands(documents: list[dict[str, Any]], project: Project, store: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(project.user))
        patch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", ALLOWED)
        texts = [yaml_text({**document({}), "schedules": sound(members, project)}) for members in documents]
        assume(any("trigger" in text for text in texts[1:]))
        asyncio.run(_applied_in_turn(texts, project, store))


def sound(members: dict[str, Any], project: Project) -> dict[str, Any]:
    """The members that are valid."""
    return {key: member for key, member in members.items() if resolved(yaml_text(document(member)), project)}


def resolved(text: str, project: Project) -> tuple[ResolvedMember, ...]:
    files = SetFiles(Path(os.environ["HOME"]))
    read = files.read_set(str(project.write(text, "set.yaml")))
    try:
        return Resolver(files, FACTS, UTC, NOW).members(read_document(read), read)
    except ValidationFailure:
        return ()


async def _applied_in_turn(texts: list[str], project: Project, store: Path) -> None:
    home = OpenHome(store)
    await home.open()
    try:
        for table in ("schedules", "status_transitions"):
            await home.db.execute(f"DELETE FROM {table}")
        for text in texts:
            home.clock.at += 100.0
            expected = resolved(text, project)
            file = project.write(text)
            sets = home.studio.schedule_sets
            seen = await sets.plan_set(PlanSet(file=str(file)))
            done = await sets.apply_set(ApplySet(file=str(file), expected_plan=seen.plan_id))
            assert actions(done) == actions(seen)
            await _stands(home, expected)
            await _is_left_alone(home, file)
        await _has_a_history(home)
        peer = await theirs(store, file, dry_run=True)
        assert {action for name, action in peer.items() if name in {member.name for member in expected}} <= {"unchanged"}
    finally:
        await home.close()


async def _stands(home: OpenHome, expected: tuple[ResolvedMember, ...]) -> None:
    """Every member is as declared and has an instant to come; whatever else the set owns is off."""
    rows = {row["name"]: dict(row) for row in await home.db.fetch_all("SELECT * FROM schedules")}
    for member in expected:
        row = rows.pop(member.name)
        stored = {
            name: json.loads(row[name]) if name in WHOLE else row[name] for name in member.columns if name != "next_fire_at"
        }
        assert stored == {name: value for name, value in member.columns.items() if name != "next_fire_at"}
        assert row["resolved_digest"] == member.digest
        if row["enabled"] and row["trigger_type"] in ("cron", "interval"):
            assert row["next_fire_at"] > home.clock.now()
        elif row["trigger_type"] == "at" and member.columns["next_fire_at"] > home.clock.now():
            assert row["next_fire_at"] == member.columns["next_fire_at"]
    assert not any(row["enabled"] for row in rows.values())


async def _is_left_alone(home: OpenHome, file: Path) -> None:
    before = await home.db.fetch_all("SELECT * FROM schedules ORDER BY id")
    again = await home.studio.schedule_sets.apply_set(ApplySet(file=str(file)))
    assert set(actions(again).values()) <= {"unchanged"}
    assert await home.db.fetch_all("SELECT * FROM schedules ORDER BY id") == before


async def _has_a_history(home: OpenHome) -> None:
    """Each line follows the one before it, and the last one is what the schedule is."""
    lines = await home.db.fetch_all("SELECT * FROM status_transitions ORDER BY created_at, rowid")
    stand: dict[str, str | None] = {}
    for line in lines:
        assert line["previous_status"] == stand.get(line["entity_id"]) != line["status"]
        stand[line["entity_id"]] = line["status"]
    rows = await home.db.fetch_all("SELECT id, enabled FROM schedules")
    assert stand == {row["id"]: "enabled" if row["enabled"] else "disabled" for row in rows}
