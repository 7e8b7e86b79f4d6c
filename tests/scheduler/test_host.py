"""Who hosts: the operator's word, the lease, the peer; and what the console sees of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, StateUnavailable
from studio_tui.application.ports import HostRecord
from studio_tui.domain.schedules import FiringRecord
from studio_tui.scheduler.host import PEER_HOSTS, SchedulerHost
from studio_tui.scheduler.supervision import how_it_ended
from tests.fakes.clock import NOW
from tests.fakes.processes import an_identity
from tests.processes.waiting import until
from tests.scheduler.conftest import Bench, a_schedule

OTHER = HostRecord(an_identity(9), "the other console", NOW - 600, NOW)


@dataclass
class ToldLease:
    """A lease that somebody else holds, or nobody."""

    other: HostRecord | None = None
    problem: str | None = None
    held: bool = False
    log: list[str] = field(default_factory=list)

    def acquire(self) -> bool:
        if self.other is None and self.problem is None and not self.held:
            self.held = True
            self.log.append("acquire")
        return self.held

    def holds(self) -> bool:
        return self.held

    def beat(self) -> None:
        self.log.append("beat")

    def holder(self) -> HostRecord | None:
        return self.other

    def release(self) -> None:
        if self.held:
            self.held = False
            self.log.append("release")


@dataclass
class Outer:
    """What the host looks at outside."""

    lease: ToldLease = field(default_factory=ToldLease)
    peer: bool = False
    near: bool = False
    until: float | None = None
    obstacle: str | None = None
    looks: int = 0

    async def hold(self) -> float | None:
        return self.until

    def look(self) -> str | None:
        self.looks += 1
        return self.obstacle

    async def turns(self) -> None:
        """Let the host look around a few times."""
        seen = self.looks
        await until(lambda: self.looks >= seen + 4)


Start = Callable[..., Any]


@pytest.fixture
async def begin(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """``await begin(outer, answer=…)``: a started host."""
    monkeypatch.setattr("studio_tui.scheduler.host.TAKE_OVER_EVERY", 0.01)
    hosts: list[SchedulerHost] = []

    async def begin(outer: Outer, *, answer: bool | None = True, **settings: Any) -> SchedulerHost:
        host = SchedulerHost(
            bench.outside,
            lease=outer.lease,
            settings=replace(bench.settings, **settings),
            answer=answer,
            obstacle=outer.look,
            peer_runs=lambda: outer.peer,
            peer_near=lambda: outer.near,
            hold=outer.hold,
        )
        hosts.append(host)
        await host.start()
        return host

    yield begin
    for host in hosts:
        await host.stop()


async def test_nothing_fires_before_the_answer(bench: Bench, begin: Start) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule())
    outer = Outer()
    host = await begin(outer, answer=None)
    await outer.turns()
    assert (host.state, outer.lease.log, bench.state.rows()) == ("undecided", [], [])
    await host.decide(host=True)
    assert host.state == "hosting"
    await until(lambda: bench.state.rows("completed"))
    await until(lambda: host.next_due_at == NOW + 60)
    assert host.last_pass_at == bench.clock.monotonic()


async def test_no_means_no_and_may_be_said_later(bench: Bench, begin: Start) -> None:
    outer = Outer()
    host = await begin(outer)
    await until(lambda: host.state == "hosting")
    await host.decide(host=False)
    assert (host.state, host.reason) == ("off", "not hosted here: the operator said so")
    assert outer.lease.log[-1] == "release"
    bench.state.add(a_schedule())
    host.wake()
    await outer.turns()
    assert bench.state.rows() == []


async def test_an_obstacle_is_off_with_its_reason_until_it_goes(begin: Start) -> None:
    outer = Outer(obstacle="the store is read-only")
    host = await begin(outer)
    await outer.turns()
    assert (host.state, host.reason, outer.lease.log) == ("off", "the store is read-only", [])
    outer.obstacle = None
    await until(lambda: host.state == "hosting")


async def test_another_host_makes_it_stand_by_and_its_end_take_over(bench: Bench, begin: Start) -> None:
    bench.state.add(a_schedule())
    outer = Outer(ToldLease(other=OTHER))
    host = await begin(outer)
    await until(lambda: host.state == "standby" and host.holder)
    assert (host.holder, host.reason) == (OTHER, None)
    await outer.turns()
    assert bench.state.rows() == []
    bench.clock.advance(95)
    await until(lambda: host.reason)
    assert host.reason == "the host has given no sign of life for 1 min 35 s (stopped, or its machine asleep)"
    outer.lease.other = None
    await until(lambda: host.state == "hosting")
    assert (host.holder, host.reason) == (None, None)


async def test_a_lease_that_nobody_can_take_says_why(begin: Start) -> None:
    host = await begin(Outer(ToldLease(problem="no permission")))
    await until(lambda: host.reason)
    assert (host.state, host.reason) == ("standby", "no permission")


async def test_the_peers_daemon_makes_it_stand_by(bench: Bench, begin: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.host._PEER_EVERY", 0.0)
    outer = Outer(peer=True)
    host = await begin(outer)
    await until(lambda: host.state == "standby")
    assert (host.reason, outer.lease.log) == (PEER_HOSTS, [])
    outer.peer = False
    await until(lambda: host.state == "hosting")
    outer.peer = True
    await until(lambda: outer.lease.log[-1] == "release")
    assert (host.state, host.reason) == ("standby", PEER_HOSTS)


async def test_unless_told_otherwise(begin: Start) -> None:
    host = await begin(Outer(peer=True), beside_peer=True)
    await until(lambda: host.state == "hosting")


async def test_a_lost_lease_ends_hosting_and_leaves_what_runs_supervised(bench: Bench, begin: Start) -> None:
    bench.state.add(a_schedule())
    outer = Outer()
    host = await begin(outer)
    process = await bench.launched()
    outer.lease.held, outer.lease.other = False, OTHER
    await until(lambda: host.state == "standby")
    assert len(host.running) == 1
    process.end(0)
    await host.idle()
    assert bench.state.rows("completed")
    assert host.running == ()


async def test_the_holder_gives_signs_of_life(bench: Bench, begin: Start) -> None:
    outer = Outer()
    host = await begin(outer)
    await until(lambda: host.state == "hosting")
    for expected in range(1, 4):
        await until(lambda expected=expected: outer.lease.log.count("beat") == expected)
        bench.clock.advance(10)


async def test_missed_instants_are_held_until_the_word(bench: Bench, begin: Start) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule(next_fire_at=NOW - 600, missed_fire_policy="run_once"))
    host = await begin(Outer(), ask_about_missed=True)
    await until(lambda: host.state == "held")
    assert host.reason == "missed instants wait for your word: 1"
    ((schedule, at),) = host.missed
    assert (schedule.name, at) == ("tick", NOW - 600)
    await host.settle_missed(apply_policies=True)
    assert host.missed == ()
    await until(lambda: bench.state.rows("completed"))
    assert host.state == "hosting"


async def test_a_loop_in_trouble_is_stalled_and_says_why(bench: Bench, begin: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.loop.BACKOFF", (0.05,))
    bench.state.trouble["list_due"] = [StateUnavailable("the store is locked", retryable=True)]
    host = await begin(Outer())
    await until(lambda: host.state == "stalled")
    assert (host.reason, host.restarts) == ("the store is locked", 1)
    await until(lambda: host.state == "hosting")
    assert host.reason is None
    bench.clock.advance(80)
    assert host.state == "stalled", "no pass for two periods"
    host.wake()
    await until(lambda: host.state == "hosting")


async def test_a_clock_that_was_set_is_noticed_without_being_told(bench: Bench, begin: Start) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule(next_fire_at=NOW + 3600))
    outer = Outer()
    host = await begin(outer)
    await until(lambda: host.last_pass_at is not None)
    await outer.turns()
    bench.clock.jump(3600)
    await until(lambda: bench.state.rows())


async def test_a_loop_that_was_cancelled_is_started_again(bench: Bench, begin: Start, caplog: pytest.LogCaptureFixture) -> None:
    bench.processes.at_once = 0
    host = await begin(Outer())
    await until(lambda: host.last_pass_at is not None)
    (loop,) = (task for task in asyncio.all_tasks() if task.get_name() == "scheduler loop")
    loop.cancel()
    await until(lambda: host.restarts == 1)
    assert "begun again: scheduler loop (cancelled)" in caplog.text
    bench.state.add(a_schedule())
    host.wake()
    await until(lambda: bench.state.rows("completed"))


async def test_how_a_task_ended_is_said_in_words() -> None:
    async def work(failure: BaseException | None) -> None:
        if failure is not None:
            raise failure

    tasks = [asyncio.create_task(work(failure), name="work") for failure in (None, ValueError("oh"), asyncio.CancelledError())]
    await asyncio.wait(tasks)
    assert list(map(how_it_ended, tasks)) == ["work (returned)", "work (ValueError('oh'))", "work (cancelled)"]


async def test_firings_that_lost_their_host_are_looked_for_again_and_again(
    bench: Bench, begin: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio_tui.scheduler.host.RECOVER_EVERY", 0.01)
    monkeypatch.setattr("studio_tui.scheduler.host.RECOVER_SOON", 0.01)
    host = await begin(Outer())
    await until(lambda: host.last_pass_at is not None)
    bench.state.trouble["list_dispatched"] = [StateUnavailable("x", retryable=True), RuntimeError("y")]
    seen = bench.state.asked["list_dispatched"]
    await until(lambda: bench.state.asked["list_dispatched"] > seen + 3)


async def test_by_hand_needs_no_host(bench: Bench, begin: Start) -> None:
    bench.state.add(a_schedule())
    host = await begin(Outer(ToldLease(other=OTHER)))
    run_id = await host.fire_now(bench.state.schedules["tick"])
    assert host.running == (run_id,)
    (await bench.launched()).end(0)
    await host.idle()
    assert bench.state.firings[run_id].status == "completed"


@pytest.mark.parametrize(("terminate", "what"), [(False, "left"), (True, "stopped")])
async def test_stopping_says_what_became_of_each(bench: Bench, begin: Start, terminate: bool, what: str) -> None:
    bench.state.add(a_schedule(), a_schedule("other"))
    outer = Outer()
    host = await begin(outer)
    await bench.launched(2)
    fates = await host.stop(terminate=terminate)
    assert sorted((fate.schedule_name, fate.what) for fate in fates) == [("other", what), ("tick", what)]
    assert outer.lease.log[-1] == "release"
    assert host.state == "off"
    assert await host.stop() == (), "a second stop is no harm"
    assert len(asyncio.all_tasks()) == 1, "no task is left behind"


async def test_a_host_that_never_started_can_fire_and_stop(bench: Bench) -> None:
    bench.state.add(a_schedule())
    host = SchedulerHost(bench.outside, lease=ToldLease(), settings=bench.settings, answer=None)
    await host.fire_now(bench.state.schedules["tick"])
    (fate,) = await host.stop()
    assert fate.what == "left"


# --- held -------------------------------------------------------------------------------------------------------------


async def test_a_hold_stops_all_firing_and_its_end_settles_what_passed(bench: Bench, begin: Start) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule(next_fire_at=NOW + 600), a_schedule("once", next_fire_at=NOW + 700, missed_fire_policy="run_once"))
    outer = Outer()
    host = await begin(outer)
    await until(lambda: host.next_due_at == NOW + 600)
    outer.until = NOW + 1800
    await until(lambda: host.state == "held")
    assert host.held_until == NOW + 1800
    assert host.reason is not None
    assert host.reason.startswith("held by hand until 20")
    bench.clock.advance(900)
    host.wake()
    await outer.turns()
    assert bench.state.rows() == []
    with pytest.raises(Conflict, match="all firing is held for another 15 min; release the hold first"):
        await host.fire_now(bench.state.schedules["tick"])
    outer.until = None
    await until(lambda: len(bench.state.rows()) == 2)
    await host.idle()
    assert {row.schedule_id: row.status for row in bench.state.rows()} == {"tick": "skipped", "once": "completed"}
    assert host.state == "hosting"


async def test_a_hold_that_was_there_before_the_host_holds_it_too(bench: Bench, begin: Start) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule(next_fire_at=NOW + 5))
    outer = Outer(until=NOW + 60)
    host = await begin(outer)
    await until(lambda: host.state == "held")
    bench.clock.advance(20)
    host.wake()
    await outer.turns()
    assert bench.state.rows() == []
    bench.clock.advance(10)
    outer.until = None
    await until(lambda: bench.state.rows("completed"))


async def test_a_chain_goes_on_once_firing_does(bench: Bench, begin: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.host.RECOVER_SOON", 0.02)
    monkeypatch.setattr("studio_tui.scheduler.host.RECOVER_EVERY", 0.02)
    bench.state.add(a_schedule(on_fail={"action_command": "sh", "on_fail": None}))
    outer = Outer()
    host = await begin(outer)
    process = await bench.launched()
    outer.until = NOW + 1800
    await until(lambda: host.state == "held")
    bench.processes.at_once = 0
    process.end(1)
    await until(lambda: len(bench.state.rows()) == 2)
    bench.clock.advance(20)
    await outer.turns()
    assert len(bench.processes.launched) == 1
    outer.until = None
    await until(lambda: [row.status for row in bench.state.rows()] == ["failed", "failed", "completed"])


# --- somebody else ----------------------------------------------------------------------------------------------------


def a_foreign_firing(bench: Bench, planned: float) -> None:
    row = FiringRecord("fff", "tick", None, "completed", "command", planned + 12, trigger_context={"next_fire_at": planned})
    bench.state.firings["fff"] = row


async def test_an_instant_that_somebody_else_fired_makes_it_hold_its_own_firing(bench: Bench, begin: Start) -> None:
    outer = Outer(near=True)
    host = await begin(outer)
    await until(lambda: host.state == "hosting")
    assert "answers on this machine" in (host.reason or "")
    planned = NOW + 60
    seen = a_schedule(next_fire_at=planned)
    bench.state.add(replace(seen, next_fire_at=planned + 60))
    bench.clock.advance(70)
    assert (await host._engine.occurrences.due(seen, bench.clock.now())).word == "lost"
    assert host.rival is None, "an edit moved it"
    a_foreign_firing(bench, planned)
    await host._engine.occurrences.due(seen, bench.clock.now())
    await until(lambda: host.state == "standby")
    assert host.reason is not None
    assert host.reason.startswith("TWO HOSTS? tick was fired for ")
    assert "by somebody else (firing fff); a li studio daemon answers on this machine" in host.reason
    await until(lambda: outer.lease.log[-1] == "release")
    await host.decide(host=True)
    await until(lambda: host.state == "hosting")
    assert host.rival is None


async def test_a_firing_that_no_console_launched_is_evidence_too(bench: Bench, begin: Start) -> None:
    outer = Outer()
    host = await begin(outer)
    await until(lambda: host.state == "hosting")
    row = FiringRecord("fff", "tick", "i", "running", "command", NOW + 60, dispatched_at=NOW + 60)
    bench.state.add(a_schedule(next_fire_at=NOW + 600))
    bench.state.firings["fff"] = replace(row, trigger_context={"manual": True})
    await host._engine.recovery.repeat()
    assert host.rival is None, "somebody fired it by hand with the peer's tools"
    bench.state.firings["fff"] = replace(row, trigger_context={"scheduled": True})
    await host._engine.recovery.repeat()
    await until(lambda: host.state == "standby")
    assert "was launched by somebody else" in (host.reason or "")
