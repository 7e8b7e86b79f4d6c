"""Acts on what is no longer as it was seen, and names that lead out of a root, for the operations of every screen."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.models.schedules import DeleteSchedule, PatchSchedule, SchedulePatch, SetScheduleEnabled
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.application.records import Schedules, a_command, a_schedule
from tests.builders import a_run

OUTSIDE = ("..", "../secret", "/etc/passwd", "a/../../secret", "secret\0", "~", "x" * 5_000)
"""Names that a lookup under a root must not follow."""


@covers("runs.resolve_run_id", "stale")
async def test_an_id_that_fits_several_runs_is_a_conflict(home: OpenHome) -> None:
    for run_id in ("abc1", "abc2"):
        await a_run(home.db, id=run_id)
    with pytest.raises(Conflict, match="abc1"):
        await home.studio.runs.resolve_run_id("abc")


@covers("store.create", "stale")
async def test_a_store_is_made_where_none_is_and_nowhere_else(home: OpenHome) -> None:
    before = (home.folder / "state.db").read_bytes()
    with pytest.raises(Conflict):
        await home.studio.store.create()
    assert (home.folder / "state.db").read_bytes() == before


@covers("schedules.create_schedule", "stale")
@covers("schedules.resolve_schedule", "stale")
async def test_names_of_schedules_are_taken_once_and_must_tell_one_apart() -> None:
    world = Schedules()
    await world.service.create_schedule(a_command("tidy-a"))
    with pytest.raises(Conflict):
        await world.service.create_schedule(a_command("tidy-a"))
    await world.service.create_schedule(a_command("tidy-b"))
    with pytest.raises(Conflict):
        await world.service.resolve_schedule("tidy")


@covers("schedules.set_enabled", "stale")
@covers("schedules.patch_schedule", "stale")
@covers("schedules.delete_schedule", "stale")
async def test_a_schedule_that_somebody_changed_meanwhile_stays_as_they_left_it() -> None:
    world = Schedules()
    schedule = a_schedule()
    world.port.add(schedule)
    seen = (schedule.updated_at or 0.0) - 1
    late: tuple[tuple[Any, Any], ...] = (
        (
            world.service.set_enabled,
            SetScheduleEnabled(schedule_id=schedule.schedule_id, enabled=False, expected_updated_at=seen),
        ),
        (
            world.service.patch_schedule,
            PatchSchedule(schedule_id=schedule.schedule_id, expected_updated_at=seen, changes=SchedulePatch(description="mine")),
        ),
        (world.service.delete_schedule, DeleteSchedule(schedule_id=schedule.schedule_id, expected_updated_at=seen)),
    )
    for act, command in late:
        with pytest.raises(Conflict):
            await act(command)
    assert world.port.schedules == {schedule.schedule_id: schedule}


@covers("definitions.get_definition", "containment")
@covers("definitions.list_versions", "containment")
@covers("shows.get_show", "containment")
@pytest.mark.parametrize("name", OUTSIDE)
async def test_a_name_that_leads_out_of_its_root_finds_nothing(home: OpenHome, name: str) -> None:
    (home.folder / "secret").write_text("outside of every root")
    (home.folder / "secret.md").write_text("outside of every root")
    (home.folder / "agents").mkdir()
    for read in (
        home.studio.definitions.get_definition("agent", name),
        home.studio.definitions.get_definition("skill", name),
        home.studio.definitions.list_versions("agent", name),
        home.studio.shows.get_show(name),
    ):
        with pytest.raises((NotFound, ValidationFailure)) as caught:
            await read
        assert "outside of every root" not in str(caught.value)
        assert str(home.folder) not in str(caught.value)
