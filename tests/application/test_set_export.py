"""Schedules spelt as sets: as their authors wrote them where that still holds, as they are in any case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound
from studio_tui.application.models.schedule_sets import ApplySet, ExportSets, PlanSet, SetExport
from studio_tui.application.models.schedules import CreateSchedule, PatchSchedule, SchedulePatch, SetScheduleEnabled
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.application.sets import CLOCK, HEAD, TICK, Sets, actions
from tests.builders import a_schedule

FLOW = "  flow:\n    trigger: {every: 1d}\n    target: {kind: flow, file: flows/news.yaml}\n"
NEWS = "prompt: |\n  Collect # all\n\n  the news\n"


@pytest.fixture
def sets(home: OpenHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sets:
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "date,echo")
    folder = tmp_path / "sets"
    (folder / "flows").mkdir(parents=True)
    (folder / "flows" / "news.yaml").write_text(NEWS)
    return Sets(home, folder)


async def export(sets: Sets, name: str = "out.yaml", **query: Any) -> SetExport:
    return await sets.service.export_sets(ExportSets(file=str(sets.folder / name), **query))


async def again(sets: Sets, name: str = "out.yaml", **options: Any) -> dict[str, str]:
    """What applying an exported file would do."""
    return actions(await sets.service.plan_set(PlanSet(file=str(sets.folder / name), **options)))


async def test_a_set_comes_back_as_it_was_written(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK + TICK + FLOW)
    found = await export(sets)
    assert [(one.name, one.exported) for one in found.schedules] == [
        ("atlas/clock", True),
        ("atlas/flow", True),
        ("atlas/tick", True),
    ]
    (document,) = found.documents
    assert document.owner_key == "atlas/nightly"
    assert document.file == str(sets.folder / "out.yaml")
    assert Path(document.file).read_text() == document.text
    assert 'every: "15m"\n' in document.text
    assert "file: flows/news.yaml\n" in document.text
    assert set((await again(sets)).values()) == {"unchanged"}


async def test_what_is_off_is_exported_as_off(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK + TICK)
    row = await sets.row("atlas/clock")
    await sets.home.studio.schedules.set_enabled(SetScheduleEnabled(schedule_id=row["id"], enabled=False))
    (document,) = (await export(sets)).documents
    assert document.text.count("enabled: false") == document.text.count("enabled: true") == 1
    assert 'every: "15m"' in document.text, "the rest is as its author wrote it"
    before = await sets.rows()
    plan = await sets.service.apply_set(ApplySet(file=str(sets.folder / "out.yaml")))
    changes = {entry.name: [change.field for change in entry.changes] for entry in plan.entries}
    assert changes == {"atlas/clock": ["declaration"], "atlas/tick": []}, "it is declared as off now"
    assert [row["enabled"] for row in await sets.rows()] == [row["enabled"] for row in before] == [0, 1]
    assert set((await again(sets)).values()) == {"unchanged"}


async def test_what_was_changed_since_is_exported_as_it_is_now(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK)
    row = await sets.row("atlas/clock")
    changes = SchedulePatch.model_validate({"trigger": {"kind": "interval", "seconds": 60}, "max_runs": 3, "description": "new"})
    patch = PatchSchedule(schedule_id=row["id"], expected_updated_at=row["updated_at"], changes=changes)
    await sets.home.studio.schedules.patch_schedule(patch)
    found = await export(sets)
    assert "spelt otherwise than it was declared" in found.schedules[0].notes
    plan = await sets.service.plan_set(PlanSet(file=str(sets.folder / "out.yaml")))
    (entry,) = plan.entries
    assert [change.field for change in entry.changes] == ["declaration"], "the same schedule, declared in other words"


async def test_a_flow_that_is_not_there_any_more_gets_a_file_beside_the_document(sets: Sets) -> None:
    await sets.apply(HEAD + FLOW)
    (sets.folder / "flows" / "news.yaml").write_text("prompt: something else\n")
    (schedule,) = (await export(sets)).schedules
    assert "its flow is in out.flows/atlas_flow.flow.yaml; move both together" in schedule.notes
    assert (sets.folder / "out.flows" / "atlas_flow.flow.yaml").read_text() == NEWS
    before = await sets.row("atlas/flow")
    await sets.service.apply_set(ApplySet(file=str(sets.folder / "out.yaml")))
    assert (await sets.row("atlas/flow"))["action_flow_yaml"] == before["action_flow_yaml"] == NEWS
    (schedule,) = (await sets.service.export_sets(ExportSets())).schedules
    assert schedule.exported or "name a file" in (schedule.reason or "")


async def test_a_document_elsewhere_names_the_directory_that_its_place_meant(sets: Sets, tmp_path: Path) -> None:
    await sets.apply(HEAD + CLOCK)
    other = tmp_path / "elsewhere" / "out.yaml"
    await sets.service.export_sets(ExportSets(file=str(other)))
    assert f"cwd: {sets.folder}" in other.read_text().replace('"', "")
    plan = await sets.service.plan_set(PlanSet(file=str(other)))
    assert actions(plan) == {"atlas/clock": "unchanged"}


async def test_sets_go_into_files_of_their_own_and_schedules_of_a_command_line_by_project(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK)
    await sets.apply(HEAD.replace("nightly", "weekly") + TICK)
    await sets.apply(
        HEAD.replace("project: atlas}", "project: atlas, scope: global}").replace("nightly", "all")
        + CLOCK
        + "    execution: {cwd: .}\n"
    )
    command = {"kind": "command", "command": "date", "cwd": str(sets.folder)}
    made = CreateSchedule.model_validate({"name": "by-hand", "trigger": {"kind": "interval", "seconds": 60}, "action": command})
    await sets.home.studio.schedules.create_schedule(made)
    found = await export(sets)
    files = {document.owner_key: Path(document.file or "").name for document in found.documents}
    assert files == {
        "export/export": "out.export.export.yaml",
        "atlas/all": "out.atlas.all.yaml",
        "atlas/nightly": "out.atlas.nightly.yaml",
        "atlas/weekly": "out.atlas.weekly.yaml",
    }
    for owner, name in files.items():
        expected = {"create"} if owner == "export/export" else {"unchanged"}
        assert set((await again(sets, name)).values()) == expected
    assert set((await again(sets, "out.export.export.yaml", adopt=True)).values()) == {"adopt"}
    one = await export(sets, "one.yaml", owner_key="atlas/weekly")
    assert [schedule.name for schedule in one.schedules] == ["atlas/tick"]


BLOCKED: dict[str, tuple[dict[str, Any], str]] = {
    "chain": ({"on_fail": {"kind": "play", "playbook": "x"}}, "on_fail"),
    "extra": ({"action_kind": "play", "action_playbook": "x", "action_extra_args": ["y"]}, "action_extra_args"),
    "figure": (
        {"threshold_config": {"metric": "failed_sessions", "op": "gt", "value": 1, "window_minutes": 5}},
        "threshold_config",
    ),
    "fanout": ({"action_kind": "fanout", "action_model": "m", "action_prompt": "p"}, "no action 'fanout'"),
    "model-only": ({"action_kind": "agent", "action_model": "m", "action_prompt": "p"}, "without a profile"),
    "prompted": ({"action_kind": "play", "action_playbook": "x", "action_prompt": "p"}, "hands a prompt"),
    "no-zone": ({"trigger_type": "cron", "cron_expr": "0 9 * * *"}, "names no zone"),
    "spent": ({"trigger_type": "at"}, "its instant is stored no more"),
    "quick-poll": ({"trigger_type": "github_poll", "github_repo": "a/b", "poll_interval_sec": 60}, "polls every 60 seconds"),
    "forbidden": ({"action_command": "rm"}, "ALLOWLIST"),
    "broken": ({"rate_limit": [1]}, "rate_limit cannot be read"),
    "a control \x07": ({}, "characters that can be shown"),
}


async def test_what_a_set_cannot_say_is_left_out_with_the_reason_and_the_rest_is_there(sets: Sets) -> None:
    plain = {"action_command": "date", "action_cwd": str(sets.folder)}
    for name, (columns, _) in BLOCKED.items():
        await a_schedule(sets.home.db, name=name, **{**plain, **columns})
    await a_schedule(sets.home.db, name="sound", **plain, max_runs=4, rate_limit={"max_fires": 1, "window_sec": 60})
    noted = {"trigger_type": "cron", "cron_expr": "0 9 * * *", "effective_timezone": "UTC"}
    await a_schedule(sets.home.db, name="web/zoned", **plain, **noted)
    found = await export(sets, plain=True)
    told = {schedule.name: schedule for schedule in found.schedules}
    for name, (_, said) in BLOCKED.items():
        assert not told[name].exported, name
        assert said in (told[name].reason or ""), (name, told[name].reason)
    assert told["sound"].exported
    assert told["web/zoned"].exported
    assert "applied, it is called legacy-export/sound; --adopt takes this one over" in told["sound"].notes
    names = [Path(document.file or "").name for document in found.documents]
    assert names == ["out.legacy-export.legacy-export-legacy-export.yaml", "out.web.legacy-export-web.yaml"]
    assert await again(sets, names[0], adopt=True) == {"legacy-export/sound": "adopt"}
    assert await again(sets, names[1], adopt=True) == {"web/zoned": "adopt"}


@covers("schedule_sets.export_sets", "stale")
async def test_a_file_that_is_there_is_written_over_only_on_demand(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK)
    before = (sets.folder / "set.yaml").read_text()
    with pytest.raises(Conflict, match="is there already"):
        await export(sets, "set.yaml")
    assert (sets.folder / "set.yaml").read_text() == before
    await export(sets, "set.yaml", overwrite=True)
    assert (sets.folder / "set.yaml").read_text() != before
    assert [path.name for path in sets.folder.iterdir() if path.name.startswith(".")] == []


async def test_a_set_that_owns_nothing(sets: Sets) -> None:
    with pytest.raises(NotFound, match="no schedule set atlas/none"):
        await sets.service.export_sets(ExportSets(owner_key="atlas/none"))
    found = await sets.service.export_sets(ExportSets())
    assert (found.documents, found.schedules) == ((), ())
