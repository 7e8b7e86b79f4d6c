"""Deleting schedules: what vanishes is said first, what runs stands in the way."""

from __future__ import annotations

import pytest

from studio_tui.application.errors import Conflict, NotFound
from studio_tui.application.models.schedules import DeleteSchedule
from tests.application.records import Schedules, a_firing, a_schedule

ID = "schedule-1"


@pytest.fixture
def world() -> Schedules:
    world = Schedules()
    world.port.add(a_schedule())
    world.port.firing_rows = [a_firing("f1"), a_firing("f2", status="skipped"), a_firing("other", schedule_id="schedule-2")]
    return world


async def test_what_would_vanish_is_counted_and_nothing_is_touched(world: Schedules) -> None:
    world.port.firing_rows.append(a_firing("f3", status="running"))
    deletion = await world.service.deletion(ID)
    assert (deletion.name, deletion.firings, deletion.running, deletion.obstacle) == ("tidy", 3, ("f3",), None)
    assert ID in world.port.schedules
    assert not world.port.changes


async def test_a_schedule_goes_with_its_firings(world: Schedules) -> None:
    gone = await world.service.delete_schedule(DeleteSchedule(schedule_id=ID))
    assert (gone.name, gone.firings) == ("tidy", 2)
    assert world.port.schedules == {}
    assert world.port.changes[0]["by"] == world.by
    assert world.host.wakes == 1
    (note,) = world.sidecar.notes
    assert (note["act"], note["target"], note["detail"]) == ("schedule.delete", ID, {"name": "tidy", "firings": 2})


async def test_a_running_one_is_deleted_only_on_purpose(world: Schedules) -> None:
    world.port.firing_rows.append(a_firing("f3", status="running"))
    with pytest.raises(Conflict, match="running now \\(f3\\)"):
        await world.service.delete_schedule(DeleteSchedule(schedule_id=ID))
    assert ID in world.port.schedules
    gone = await world.service.delete_schedule(DeleteSchedule(schedule_id=ID, although_running=True))
    assert gone.running == ("f3",)


async def test_what_may_not_lose_its_firings_stands_in_the_way_in_any_case(world: Schedules) -> None:
    world.port.obstacle = "1 message of the outbox refers to its firings"
    with pytest.raises(Conflict, match="cannot be deleted: 1 message of the outbox"):
        await world.service.delete_schedule(DeleteSchedule(schedule_id=ID, although_running=True))
    assert ID in world.port.schedules


async def test_another_version_than_the_one_seen_is_left_alone(world: Schedules) -> None:
    with pytest.raises(Conflict, match="changed meanwhile"):
        await world.service.delete_schedule(DeleteSchedule(schedule_id=ID, expected_updated_at=1.0))
    assert ID in world.port.schedules


async def test_what_is_not_there_is_not_found(world: Schedules) -> None:
    with pytest.raises(NotFound):
        await world.service.deletion("nobody")
    with pytest.raises(NotFound):
        await world.service.delete_schedule(DeleteSchedule(schedule_id="nobody"))
