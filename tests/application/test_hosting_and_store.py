"""Who hosts, the operator's word on it, and the store as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import Conflict, PermissionDenied, StateUnavailable
from studio_tui.application.hosting import HostService, kept_answer
from studio_tui.application.ports import HostRecord, StoreCondition
from studio_tui.application.store import StoreService
from studio_tui.domain.identity import ProcessIdentity
from tests.application.records import a_schedule
from tests.fakes.ports import NOW, FakeHost, FakeStore, HeldClock, MemorySidecar, NudgedChanges


class World:
    """A host service on twins."""

    def __init__(self, **host: Any) -> None:
        self.host, self.sidecar, self.clock = FakeHost(**host), MemorySidecar(), HeldClock()
        self.service = HostService(host=self.host, sidecar=self.sidecar, clock=self.clock)


def test_a_status_is_what_the_host_says_with_ages_instead_of_instants() -> None:
    world = World(state="hosting", last_pass_at=988.0, restarts=2, next_due_at=NOW + 5, slots=4, running=("a", "b"))
    status = world.service.status()
    assert (status.state, status.pass_age, status.restarts, status.next_due_at) == ("hosting", 12.0, 2, NOW + 5)
    assert (status.running, status.slots, status.holder) == (2, 4, None)


def test_an_age_is_never_negative_and_unknown_before_the_first_pass() -> None:
    assert World(last_pass_at=5_000.0).service.status().pass_age == 0.0
    assert World(last_pass_at=None).service.status().pass_age is None


def test_another_host_is_named_by_process_and_machine() -> None:
    holder = HostRecord(ProcessIdentity(4711, 1.0, "build-1", 1.0), "console", NOW - 60, NOW)
    status = World(state="standby", holder=holder).service.status()
    assert (status.state, status.holder) == ("standby", "console (pid 4711 on build-1)")


def test_missed_instants_name_schedule_and_policy() -> None:
    missed = (
        (a_schedule("a", "once", missed_fire_policy="run_once"), NOW - 100),
        (a_schedule("b", "skip", missed_fire_policy="skip"), NOW - 50),
        (a_schedule("c", "odd", missed_fire_policy="sometimes"), NOW - 10),
    )
    status = World(missed=missed).service.status()
    assert [(item.name, item.due_at, item.policy) for item in status.missed] == [
        ("once", NOW - 100, "run_once"),
        ("skip", NOW - 50, "skip"),
        ("odd", NOW - 10, "skip"),
    ]


@pytest.mark.parametrize("answer", [True, False])
async def test_an_answer_is_kept_only_when_that_was_asked_for(answer: bool) -> None:
    world = World(state="undecided")
    await world.service.decide(host=answer, remember=False)
    assert world.host.decided == [answer]
    assert await kept_answer(world.sidecar) is None
    await world.service.decide(host=answer, remember=True)
    assert await kept_answer(world.sidecar) is answer
    assert [note["act"] for note in world.sidecar.notes] == ["scheduler.decide"] * 2


async def test_an_answer_of_another_version_counts_as_none() -> None:
    sidecar = MemorySidecar(kept={"scheduler.host": "perhaps"})
    assert await kept_answer(sidecar) is None


async def test_an_answer_that_the_host_refuses_is_not_kept() -> None:
    world = World()
    world.host.trouble = PermissionDenied("the store is read-only")
    with pytest.raises(PermissionDenied):
        await world.service.decide(host=True, remember=True)
    assert not world.sidecar.kept
    assert not world.sidecar.notes


async def test_missed_instants_are_settled_by_one_word() -> None:
    world = World(missed=((a_schedule(), NOW - 100),))
    await world.service.settle_missed(apply_policies=True)
    assert world.host.settled == [True]
    assert world.sidecar.notes[0]["detail"] == {"apply_policies": True, "schedules": ["tidy"]}
    assert world.service.status().missed == ()


def _store(condition: StoreCondition) -> tuple[StoreService, FakeStore, NudgedChanges]:
    store, changes = FakeStore(now=condition), NudgedChanges()
    return StoreService(store=store, changes=changes, home="/home/ann/.lionagi"), store, changes


def test_a_store_says_what_it_is_and_why() -> None:
    service, _, _ = _store(StoreCondition("read_only", "state.db", "made by a newer version", "9"))
    status = service.status()
    assert (status.mode, status.label, status.reason, status.version) == ("read_only", "state.db", "made by a newer version", "9")
    assert status.home == "/home/ann/.lionagi"


async def test_a_store_is_made_once_and_everybody_looks_again() -> None:
    service, _, changes = _store(StoreCondition("missing", "state.db"))
    await service.create()
    assert service.status().mode == "ready"
    assert changes.nudged == ["store"]
    with pytest.raises(Conflict):
        await service.create()
    assert changes.nudged == ["store"]


async def test_a_store_that_cannot_be_made_says_so() -> None:
    service, store, changes = _store(StoreCondition("missing", "state.db"))
    store.trouble = OSError("disk full")
    with pytest.raises(StateUnavailable):
        await service.create()
    assert not changes.nudged
