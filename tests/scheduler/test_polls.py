"""Polls under the gates: each event fires once, in order; what a gate holds waits; what cannot be launched is passed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from studio_tui.application.errors import StateUnavailable
from studio_tui.domain.thresholds import Reading
from studio_tui.scheduler.polls.http import Patience
from tests.fakes.clock import NOW
from tests.fakes.github import FakeGitHub, a_pull, answer, github
from tests.processes.waiting import until
from tests.scheduler.conftest import Bench, a_schedule

FIRST, SECOND, THIRD = (f"2026-03-10T10:00:0{n}Z#000000000{n}" for n in (1, 2, 3))


@pytest.fixture
def server() -> Iterator[FakeGitHub]:
    with github() as fake:
        fake.pulls = [a_pull(n, f"2026-03-10T10:00:0{n}Z") for n in (1, 2, 3)]
        yield fake


@pytest.fixture
async def polled(bench: Bench, server: FakeGitHub) -> AsyncIterator[Bench]:
    bench.assemble(github_api=server.base, environment=lambda: {"GITHUB_TOKEN": "secret"}, patience=Patience(20, 40))
    bench.processes.at_once = 0
    yield bench
    await bench.engine.poller.stop()


def a_poll(name: str = "tick", **columns: Any) -> Any:
    fields = {
        "trigger_type": "github_poll",
        "github_repo": "acme/web",
        "github_filter": {"event": "pr_merged"},
        "interval_sec": None,
        "poll_interval_sec": 120.0,
        "next_fire_at": None,
        "action_command_args": ("{{pr_number}}",),
        "overlap_policy": "allow",
    }
    return a_schedule(name, **{**fields, **columns})


async def look(bench: Bench) -> float:
    """One look, and all that follows from it."""
    until_when = await bench.engine.poller.look()
    await bench.engine.poller.idle()
    await bench.engine.supervisor.idle()
    return until_when


def ran(bench: Bench) -> list[str]:
    return [row.argv[1] for row in bench.state.rows() if row.argv]


async def test_each_event_fires_once_in_order_with_its_fields(polled: Bench, server: FakeGitHub) -> None:
    polled.state.add(a_poll())
    await look(polled)
    assert ran(polled) == ["1", "2", "3"]
    context = polled.state.rows()[0].trigger_context
    assert list(context) == ["github_events", "repo", "fired_at"]
    assert context["repo"] == "acme/web"
    assert context["github_events"][0]["pr_title"] == "change 1"  # type: ignore[index]
    stored = polled.state.schedules["tick"]
    assert (stored.github_cursor, stored.last_healthy_poll_at) == (THIRD, NOW)
    assert (stored.next_fire_at, stored.last_fired_at) == (NOW + 120, NOW)
    assert await look(polled) == NOW + 30
    assert len(server.asked) == 1, "not before its time"
    polled.clock.advance(120)
    await look(polled)
    assert len(server.asked) == 2
    assert len(ran(polled)) == 3


async def test_filtered_events_are_passed_over(polled: Bench, server: FakeGitHub) -> None:
    server.pulls[0]["draft"] = server.pulls[2]["draft"] = True
    polled.state.add(a_poll(github_filter={"event": "pr_merged", "draft": False}))
    await look(polled)
    assert ran(polled) == ["2"]
    assert polled.state.schedules["tick"].github_cursor == THIRD
    server.pulls = [a_pull(4, "2026-03-10T10:00:04Z", draft=True)]
    polled.clock.advance(120)
    await look(polled)
    assert polled.state.schedules["tick"].github_cursor == "2026-03-10T10:00:04Z#0000000004", "with nothing to fire beside it"
    assert polled.state.schedules["tick"].last_fired_at == NOW


async def test_events_wait_for_a_firing_that_must_not_be_overlapped_and_the_poll_does_not(
    polled: Bench, server: FakeGitHub
) -> None:
    polled.processes.at_once = None
    polled.state.add(a_poll(overlap_policy="skip"))
    await polled.engine.poller.look()
    (await polled.launched(1)).end(0)
    second = await polled.launched(2)
    assert [row.status for row in polled.state.rows()] == ["completed", "running"], "one after another, none skipped"
    server.pulls.append(a_pull(4, "2026-03-10T10:00:04Z"))
    polled.clock.advance(120)
    await polled.engine.poller.look()
    await until(lambda: len(server.asked) == 2)
    await until(lambda: polled.state.schedules["tick"].last_healthy_poll_at == NOW + 120)
    assert len(polled.processes.launched) == 2
    second.end(0)
    (await polled.launched(3)).end(0)
    (await polled.launched(4)).end(0)
    await polled.engine.poller.idle()
    await polled.engine.supervisor.idle()
    assert ran(polled) == ["1", "2", "3", "4"]


async def test_slots_hold_events_back_and_lose_none(polled: Bench, server: FakeGitHub) -> None:
    polled.assemble(slots=1)
    polled.processes.at_once = None
    polled.state.add(a_poll())
    await polled.engine.poller.look()
    first = await polled.launched(1)
    await until(lambda: polled.state.asked["count_running"])
    assert polled.state.schedules["tick"].github_cursor == FIRST
    polled.clock.advance(31)
    polled.engine.poller.firing_ended()
    await until(lambda: polled.state.rows("skipped"))
    (row,) = polled.state.rows("skipped")
    assert (row.reason_code, row.trigger_context) == (
        "schedule.deferred.capacity",
        {"deferred_capacity": True, "fired_at": NOW + 31},
    )
    first.end(0)
    (await polled.launched(2)).end(0)
    (await polled.launched(3)).end(0)
    await polled.engine.poller.idle()
    await polled.engine.supervisor.idle()
    assert ran(polled) == ["1", "2", "3"]
    assert len(server.asked) == 1, "without asking again"


async def test_a_rate_limit_holds_events_back(polled: Bench) -> None:
    polled.state.add(a_poll(rate_limit={"max_fires": 2, "window_sec": 60}))
    await polled.engine.poller.look()
    await until(lambda: len(polled.state.rows("completed")) == 2)
    await until(lambda: polled.state.asked["count_fired_since"])
    polled.clock.advance(61)
    polled.engine.poller.firing_ended()
    await polled.engine.poller.idle()
    await polled.engine.supervisor.idle()
    assert ran(polled) == ["1", "2", "3"]


async def test_the_last_run_ends_it_and_the_bookmark_stays_before_what_did_not_fire(polled: Bench) -> None:
    polled.state.add(a_poll(max_runs=2))
    await look(polled)
    stored = polled.state.schedules["tick"]
    assert (ran(polled), stored.enabled, stored.github_cursor) == (["1", "2"], False, SECOND)


async def test_an_event_that_cannot_be_launched_is_offered_three_times_and_then_passed(polled: Bench, server: FakeGitHub) -> None:
    server.pulls[1]["title"] = "x; rm -rf /"
    polled.state.add(a_poll(action_command_args=("{{pr_title}}",)))
    for poll in range(3):
        await look(polled)
        stored = polled.state.schedules["tick"]
        failed = polled.state.rows("failed")
        assert len(failed) == poll + 1
        if poll < 2:
            assert (stored.github_cursor, stored.predispatch_refusal_event) == (FIRST, SECOND)
            assert stored.predispatch_refusal_count == poll + 1
            assert "offered again" in (failed[-1].reason_summary or "")
        polled.clock.advance(120)
    assert (stored.github_cursor, stored.predispatch_refusal_event, stored.predispatch_refusal_count) == (THIRD, None, 0)
    assert "try 3 of 3: the event is passed over" in (failed[-1].reason_summary or "")
    assert failed[-1].trigger_context["github_events"][0]["pr_number"] == 2  # type: ignore[index]
    assert [row.argv[1] for row in polled.state.rows("completed")] == ["change 1", "change 3"]


async def test_the_count_begins_anew_for_another_event(polled: Bench) -> None:
    polled.state.add(a_poll(action_cwd="/gone", predispatch_refusal_event=SECOND, predispatch_refusal_count=2))
    await look(polled)
    stored = polled.state.schedules["tick"]
    assert (stored.predispatch_refusal_event, stored.predispatch_refusal_count) == (FIRST, 1)
    assert len(polled.state.rows("failed")) == 1, "if it is the schedule's fault, the others would fare alike"


async def test_a_threshold_lets_events_pass_quietly_until_it_is_breached(polled: Bench, server: FakeGitHub) -> None:
    config = {"metric": "failed_sessions", "op": "gte", "value": 1, "window_minutes": 5}
    polled.state.add(a_poll(threshold_config=config))
    await look(polled)
    assert (polled.state.rows(), polled.state.schedules["tick"].github_cursor) == ([], THIRD)
    polled.state.metrics["failed_sessions"] = Reading(2.0)
    server.pulls += [a_pull(n, f"2026-03-10T10:00:0{n}Z") for n in (4, 5)]
    polled.clock.advance(120)
    await look(polled)
    assert ran(polled) == ["4"], "and then it is silent for its window"
    assert polled.state.rows()[0].trigger_context["value"] == 2.0


async def test_a_bookmark_that_somebody_moves_meanwhile_wins(polled: Bench) -> None:
    polled.state.add(a_poll())
    take = polled.state.claim

    async def claim(*args: Any, **named: Any) -> bool:
        if polled.state.schedules["tick"].github_cursor is None:
            polled.state.add(replace(polled.state.schedules["tick"], github_cursor="2026-03-10T10:00:02Z"))
        return await take(*args, **named)

    polled.state.claim = claim  # type: ignore[method-assign]
    await look(polled)
    assert ran(polled) == [], "what was found began elsewhere"
    polled.clock.advance(120)
    await look(polled)
    assert ran(polled) == ["3"]


@pytest.mark.parametrize(
    "columns",
    [
        {"github_repo": "acme/../web"},
        {"github_cursor": "yesterday"},
        {"github_cursor": "2026-13-45T00:00:00Z"},
        {"github_filter": {"evnt": "pr_merged"}},
        {"enabled": False},
        {"trigger_type": "interval", "interval_sec": 60.0},
    ],
)
async def test_what_is_broken_or_off_is_not_asked_for(polled: Bench, server: FakeGitHub, columns: dict[str, Any]) -> None:
    polled.state.add(a_poll(**columns))
    await look(polled)
    assert (server.asked, polled.state.rows()) == ([], [])


async def test_a_refused_token_is_counted_and_a_good_poll_forgets_it(polled: Bench, server: FakeGitHub) -> None:
    server.tokens = set()
    polled.state.add(a_poll())
    for count in (1, 2):
        await look(polled)
        stored = polled.state.schedules["tick"]
        assert (stored.poller_consecutive_401, stored.last_healthy_poll_at) == (count, None)
        assert polled.engine.poller.trouble("tick") == "GitHub does not accept the token (401)"
        polled.clock.advance(120)
    server.tokens = {"secret"}
    await look(polled)
    stored = polled.state.schedules["tick"]
    assert (stored.poller_consecutive_401, stored.last_healthy_poll_at) == (0, polled.clock.now())
    assert polled.engine.poller.trouble("tick") is None


async def test_other_trouble_leaves_the_health_columns(polled: Bench, server: FakeGitHub) -> None:
    server.next.extend([answer(500)])
    polled.state.add(a_poll(poller_consecutive_401=2, last_healthy_poll_at=5.0))
    await look(polled)
    stored = polled.state.schedules["tick"]
    assert (stored.poller_consecutive_401, stored.last_healthy_poll_at, stored.next_fire_at) == (2, 5.0, NOW + 120)


async def test_rest_that_github_asks_for_moves_the_next_poll(polled: Bench, server: FakeGitHub) -> None:
    server.next.append(answer(429, Retry_After="600"))
    polled.state.add(a_poll())
    await look(polled)
    assert polled.state.schedules["tick"].next_fire_at == NOW + 601


async def test_who_may_not_launch_asks_nothing(polled: Bench, server: FakeGitHub) -> None:
    polled.may_launch = False
    polled.state.add(a_poll())
    await look(polled)
    assert server.asked == []


async def test_nothing_is_asked_while_a_person_is_asked_about_missed_instants(polled: Bench, server: FakeGitHub) -> None:
    polled.state.add(a_poll())
    polled.engine.loop.missed = ((a_schedule("late"), NOW - 900),)
    await look(polled)
    assert server.asked == []
    polled.engine.loop.missed = ()
    await look(polled)
    assert ran(polled) == ["1", "2", "3"]


async def test_a_store_that_fails_loses_no_event(polled: Bench, server: FakeGitHub) -> None:
    polled.state.trouble["claim"] = [StateUnavailable("locked", retryable=True)]
    polled.state.add(a_poll())
    await look(polled)
    assert ran(polled) == []
    polled.clock.advance(120)
    await look(polled)
    assert ran(polled) == ["1", "2", "3"]


async def test_many_repositories_are_asked_side_by_side_but_not_all_at_once(polled: Bench, server: FakeGitHub) -> None:
    server.pulls.clear()
    polled.state.add(*(a_poll(f"p{n}") for n in range(40)))
    await look(polled)
    assert len(server.asked) == 40
    assert {schedule.last_healthy_poll_at for schedule in polled.state.schedules.values()} == {NOW}


async def test_the_host_polls_by_itself_and_ends_with_events_waiting(polled: Bench) -> None:
    polled.processes.at_once = None
    polled.state.add(a_poll(overlap_policy="skip"))
    task = polled.engine.poller.start()
    await polled.launched(1)
    await polled.engine.poller.stop()
    await task
    assert polled.state.schedules["tick"].github_cursor == FIRST, "the next host finds the others again"
    await polled.engine.supervisor.stop(terminate=True)
