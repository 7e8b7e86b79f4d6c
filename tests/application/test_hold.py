"""Holding all firing: what is kept, what is said, and whom it binds."""

from __future__ import annotations

import pytest

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.hold import HOLD_KEY, Hold
from studio_tui.application.hosting import DUE_LISTED, HostService
from studio_tui.domain.schedules import ScheduleRecord
from tests.application.records import a_schedule
from tests.fakes.ports import NOW, FakeHost, HeldClock, MemorySidecar


def service(sidecar: MemorySidecar, *schedules: ScheduleRecord) -> tuple[HostService, FakeHost]:
    host = FakeHost(state="hosting")

    async def due(until: float) -> tuple[ScheduleRecord, ...]:
        return tuple(one for one in schedules if (one.next_fire_at or 0.0) <= until)

    return HostService(host=host, sidecar=sidecar, clock=HeldClock(), due=due), host


async def test_a_hold_is_kept_and_says_what_will_be_due() -> None:
    sidecar = MemorySidecar()
    made, host = service(
        sidecar,
        a_schedule("a", "once", missed_fire_policy="run_once", next_fire_at=NOW + 60),
        a_schedule("b", "skip", missed_fire_policy="skip", next_fire_at=NOW + 90),
        a_schedule("c", "later", next_fire_at=NOW + 3601),
    )
    result = await made.hold_for("1h")
    assert result.until == NOW + 3600
    assert [(one.name, one.due_at, one.policy) for one in result.due] == [
        ("once", NOW + 60, "run_once"),
        ("skip", NOW + 90, "skip"),
    ]
    assert await Hold(sidecar, HeldClock()).until() == NOW + 3600, "another console of the home sees it"
    assert host.wakes == 1
    assert [note["act"] for note in sidecar.notes] == ["scheduler.hold"]
    await made.release()
    assert await Hold(sidecar, HeldClock()).until() is None
    assert [note["act"] for note in sidecar.notes] == ["scheduler.hold", "scheduler.release"]


async def test_no_more_are_listed_than_one_can_read() -> None:
    made, _ = service(MemorySidecar(), *(a_schedule(f"s{n}", next_fire_at=NOW + n) for n in range(DUE_LISTED + 7)))
    result = await made.hold(3600)
    assert (len(result.due), result.more) == (DUE_LISTED, 7)


@pytest.mark.parametrize("length", ["", "soon", "0s", "10", "-5m", "99999999999d"])
async def test_a_length_that_is_none_holds_nothing(length: str) -> None:
    sidecar = MemorySidecar()
    made, _ = service(sidecar)
    with pytest.raises(ValidationFailure) as caught:
        await made.hold_for(length)
    assert caught.value.field_errors[0].path == ("duration",)
    assert sidecar.kept == {}


@pytest.mark.parametrize("kept", [None, "", "none", "x", "nan", "inf", repr(NOW - 1), repr(NOW)])
async def test_what_is_over_or_cannot_be_read_holds_nothing(kept: str | None) -> None:
    sidecar = MemorySidecar(kept={} if kept is None else {HOLD_KEY: kept})
    assert await Hold(sidecar, HeldClock()).until() is None
