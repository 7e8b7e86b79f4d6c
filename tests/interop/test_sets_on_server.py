"""One set on PostgreSQL: what one program applied the other finds unchanged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
from lionagi.state.db import StateDB as PeerDB
from lionagi.studio.services import schedule_declaration as peer

from studio_tui.application.models.schedule_sets import ApplySet, ExportSets, PlanSet
from studio_tui.application.schedule_sets import ScheduleSetService
from studio_tui.assembly import Assembly
from studio_tui.settings import load_settings
from tests.interop.sets import ALLOWED, MEMBERS, Project, actions

pytestmark = pytest.mark.interop


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project.make(tmp_path)
    monkeypatch.setenv("HOME", str(project.user))
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", ALLOWED)
    return project


@pytest.fixture
async def sets(project: Project, lent_url: str, tmp_path: Path) -> AsyncIterator[ScheduleSetService]:
    """Our operations on a store of the server; the project comes first, for it says where the user's profiles are."""
    home = tmp_path / "home"
    home.mkdir()
    assembly = Assembly(load_settings({"home": home, "db": lent_url}), hosts=False)
    await assembly.database.open()
    yield cast("ScheduleSetService", assembly.schedule_sets)
    await assembly.database.close()


async def theirs(url: str, file: Path, *, dry_run: bool) -> dict[str, str]:
    """What the peer makes of a document on the server."""
    document = peer.parse_schedule_set(file.read_text(encoding="utf-8"))
    async with PeerDB(url=url) as db:
        if dry_run:
            plan, _ = await peer.build_plan(db, document, file.parent)
        else:
            plan = (await peer.apply_schedule_set(db, document, file.parent)).plan
    return {entry.qualified_name: entry.action.lower() for entry in plan}


async def test_each_leaves_alone_what_the_other_applied(lent_url: str, sets: ScheduleSetService, project: Project) -> None:
    file = project.write(MEMBERS)
    await sets.apply_set(ApplySet(file=str(file)))
    assert set((await theirs(lent_url, file, dry_run=True)).values()) == {"unchanged"}
    file.write_text(MEMBERS.replace("{every: 15m}", "{every: 20m}"))
    changed = await theirs(lent_url, file, dry_run=False)
    assert [name for name, action in changed.items() if action != "unchanged"] == ["atlas/clock"]
    assert set(actions(await sets.plan_set(PlanSet(file=str(file)))).values()) == {"unchanged"}
    exported = project.sets / "exported.yaml"
    await sets.export_sets(ExportSets(file=str(exported)))
    assert set((await theirs(lent_url, exported, dry_run=True)).values()) == {"unchanged"}
