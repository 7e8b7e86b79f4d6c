"""One document, two programs: the same digests, the same rows, and each leaves alone what the other applied."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from studio_tui.application.models.schedule_sets import ApplySet, ExportSets, PlanSet
from tests.application.home import OpenHome
from tests.interop.peer_call import run_li
from tests.interop.sets import ALLOWED, MEMBERS, OWN, Project, Stores, actions, our_valid, ours, their_members, theirs

pytestmark = pytest.mark.interop

TYPES = {
    "authored_spec",
    "resolved_target",
    "github_filter",
    "rate_limit",
    "notify_on",
    "action_command_args",
    "action_extra_args",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project.make(tmp_path)
    monkeypatch.setenv("HOME", str(project.user))
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", ALLOWED)
    return project


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path)


async def test_every_member_comes_to_the_same_with_the_same_digest(project: Project, stores: Stores) -> None:
    file = project.write(MEMBERS)
    found = {member.key: member for member in (await our_valid(stores.make("a"), file)).members}
    expected = their_members(file)
    assert list(found) == list(expected)
    for key, member in expected.items():
        assert found[key].resolved == json.loads(json.dumps(member.resolved)), key
        assert found[key].digest == member.digest, key
        assert found[key].name == member.qualified_name


async def test_the_rows_and_their_history_are_those_of_the_peer(project: Project, stores: Stores) -> None:
    file, a, b = project.write(MEMBERS), stores.make("a"), stores.make("b")
    await ours(a, ApplySet(file=str(file)))
    await theirs(b, file)
    mine, other = stores.rows(a), stores.rows(b)
    assert len(mine) == len(other) == 10
    for row, model in zip(mine, other, strict=True):
        for column in model:
            if column in TYPES:
                assert json.loads(row[column]) == json.loads(model[column]), (row["name"], column)
            elif column not in OWN:
                assert (row[column], type(row[column])) == (model[column], type(model[column])), (row["name"], column)
    order = "json_extract(metadata, '$.schedule_name')"
    for line, model in zip(stores.rows(a, "status_transitions", order), stores.rows(b, "status_transitions", order), strict=True):
        told, meant = json.loads(line["metadata"]), json.loads(model["metadata"])
        told["declaration"].pop("member_id"), meant["declaration"].pop("member_id")
        assert told.keys() == meant.keys()
        assert told["provenance"].keys() == meant["provenance"].keys()
        assert told["provenance"]["origin"] == meant["provenance"]["origin"] == line["source"] == model["source"]
        assert {**told, "provenance": 0} == {**meant, "provenance": 0}
        assert [line[name] for name in ("status", "reason_code")] == [model[name] for name in ("status", "reason_code")]


async def test_what_one_applied_the_other_leaves_alone(project: Project, stores: Stores) -> None:
    file, a, b = project.write(MEMBERS), stores.make("a"), stores.make("b")
    await ours(a, ApplySet(file=str(file)))
    assert set((await theirs(a, file, dry_run=True)).values()) == {"unchanged"}
    await theirs(b, file)
    before = stores.rows(b)
    assert set(actions(await ours(b, ApplySet(file=str(file)))).values()) == {"unchanged"}
    assert stores.rows(b) == before


EDITS = {
    "an interval": ("{every: 15m}", "{every: 20m}", "clock"),
    "an argument": ("[-u,", "[-R,", "clock"),
    "a zone": ("Europe/Berlin", "Asia/Tokyo", "weekdays"),
    "a prompt": ("Look at", "Look into", "weekdays"),
    "a policy": ("overlap: allow", "overlap: skip", "weekdays"),
    "on again": ("enabled: off", "enabled: on", "odd-spelling"),
    "another trigger": ("{every: 2d}", '{cron: {expression: "0 1 * * *", timezone: UTC}}', "other-spelling"),
    "another target": ("{kind: flow, file: flows/news.yaml}", "{kind: command, executable: date}", "flows"),
    "another repository": ("octo/cat, filter: {event", "octo/dog, filter: {event", "merged"),
    "another spelling": ("{every: 15m}", "{every: 900s}", "clock"),
}


async def test_an_edit_is_the_same_update_to_both(project: Project, stores: Stores) -> None:
    file, a, b = project.write(MEMBERS), stores.make("a"), stores.make("b")
    await ours(a, ApplySet(file=str(file)))
    await theirs(b, file)
    for what, (before, after, key) in EDITS.items():
        assert MEMBERS.count(before) == 1
        file.write_text(MEMBERS.replace(before, after))
        expected = await theirs(a, file, dry_run=True)
        assert [name for name, action in expected.items() if action != "unchanged"] == [f"atlas/{key}"], what
        assert actions(await ours(b, PlanSet(file=str(file)))) == expected, what
    everything = MEMBERS
    for before, after, _ in EDITS.values():
        everything = everything.replace(before, after)
    file.write_text(everything)
    assert actions(await ours(b, ApplySet(file=str(file)))) == await theirs(a, file)
    assert set((await theirs(b, file, dry_run=True)).values()) == {"unchanged"}


async def test_a_member_that_is_left_out_is_turned_off_as_the_peer_does(project: Project, stores: Stores) -> None:
    file, a, b = project.write(MEMBERS), stores.make("a"), stores.make("b")
    await ours(a, ApplySet(file=str(file)))
    await theirs(b, file)
    file.write_text(MEMBERS[: MEMBERS.index("  flows:")])
    assert actions(await ours(a, ApplySet(file=str(file))))["atlas/flows"] == "disable"
    assert (await theirs(b, file))["atlas/flows"] == "disable"
    for home in (a, b):
        line = next(line for line in stores.rows(home, "status_transitions", "created_at DESC"))
        assert (line["status"], line["reason_code"]) == ("disabled", "schedule_definition.disabled.omitted")
        assert json.loads(line["metadata"])["declaration"]["cause"] == "omitted"
    file.write_text(MEMBERS)
    assert (await theirs(a, file))["atlas/flows"] == "update"
    assert actions(await ours(b, ApplySet(file=str(file))))["atlas/flows"] == "update"


async def test_what_the_peer_ignores_is_applied(project: Project, stores: Stores) -> None:
    """Its digest leaves the description out, and it does not look at columns that were changed by hand."""
    file, a = project.write(MEMBERS), stores.make("a")
    await theirs(a, file)
    file.write_text(MEMBERS.replace("tells the time", "says the hour"))
    assert set((await theirs(a, file)).values()) == {"unchanged"}
    plan = await ours(a, ApplySet(file=str(file)))
    (entry,) = [entry for entry in plan.entries if entry.action != "unchanged"]
    assert [(change.field, change.stored, change.declared) for change in entry.changes] == [
        ("description", "tells the time", "says the hour")
    ]
    assert next(row for row in stores.rows(a) if row["name"] == "atlas/clock")["description"] == "says the hour"
    assert set((await theirs(a, file, dry_run=True)).values()) == {"unchanged"}


async def test_a_changed_trigger_moves_the_next_instant_which_the_peer_leaves(project: Project, stores: Stores) -> None:
    file, a, b = project.write(MEMBERS), stores.make("a"), stores.make("b")
    changed = MEMBERS.replace("{every: 15m}", "{every: 20m}").replace("9-17", "4-5")
    for home in (a, b):
        await ours(home, ApplySet(file=str(file)))
    file.write_text(changed)
    await ours(a, ApplySet(file=str(file)))
    await theirs(b, file)
    mine, other = ({row["name"]: row["next_fire_at"] for row in stores.rows(home)} for home in (a, b))
    for name in ("atlas/clock", "atlas/weekdays"):
        assert mine[name] is not None
        assert mine[name] != other[name]
    assert {name for name in mine if mine[name] != other[name]} == {"atlas/clock", "atlas/weekdays"}


async def test_what_we_export_the_peer_finds_unchanged(project: Project, stores: Stores) -> None:
    file, a = project.write(MEMBERS), stores.make("a")
    await ours(a, ApplySet(file=str(file)))
    opened = OpenHome(a)
    await opened.open()
    exported = project.sets / "exported.yaml"
    found = await opened.studio.schedule_sets.export_sets(ExportSets(file=str(exported)))
    await opened.close()
    assert [schedule.name for schedule in found.schedules if not schedule.exported] == []
    assert set((await theirs(a, exported, dry_run=True)).values()) == {"unchanged"}
    assert set(actions(await ours(a, PlanSet(file=str(exported)))).values()) == {"unchanged"}


async def test_round_trip_through_the_command_line_of_the_peer(
    project: Project, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``li schedule`` validates, applies and exports; we see nothing to do, and read its export with the same digests."""
    file, a = project.write(MEMBERS), stores.make("a")
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TZ")}
    allowed = {"LIONAGI_HOME": str(a), "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST": ALLOWED}
    monkeypatch.setattr("tests.interop.peer_call._environment", lambda _home: {**kept, **allowed})
    assert "10 schedule(s)" in run_li(a, "schedule", "validate", str(file)).stdout
    assert "10 created" in run_li(a, "schedule", "apply", str(file)).stdout
    exported = project.sets / "theirs.yaml"
    assert "10 ready, 0 blocked" in run_li(a, "schedule", "export", "--output", str(exported)).stderr
    assert set(actions(await ours(a, ApplySet(file=str(file)))).values()) == {"unchanged"}
    digests = {row["name"]: row["resolved_digest"] for row in stores.rows(a)}
    assert {member.name: member.digest for member in (await our_valid(a, exported)).members} == digests
