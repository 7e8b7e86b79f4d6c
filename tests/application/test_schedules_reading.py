"""Schedules and firings as lists and details show them."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.models.common import StateWord
from studio_tui.application.models.schedules import (
    AtTrigger,
    CadenceQuery,
    CronTrigger,
    FiringQuery,
    GithubPollTrigger,
    IntervalTrigger,
    ScheduleQuery,
)
from studio_tui.domain.schedules import Zone
from tests.application.records import Schedules, a_firing, a_schedule
from tests.fakes.ports import NOW


@pytest.fixture
def world() -> Schedules:
    return Schedules()


async def _only(world: Schedules, **fields: object) -> object:
    world.port.add(a_schedule(**fields))
    return (await world.service.list_schedules(ScheduleQuery())).items[0]


async def test_a_list_is_by_name_and_costs_three_statements_whatever_its_length(world: Schedules) -> None:
    world.port.add(*(a_schedule(f"id-{n}", f"job-{n:03}") for n in range(60)))
    page = await world.service.list_schedules(ScheduleQuery(limit=50))
    assert [item.name for item in page.items] == [f"job-{n:03}" for n in range(50)]
    assert world.port.asked == {"list_schedules": 1, "recent_firings": 1, "running_counts": 1}
    rest = await world.service.list_schedules(ScheduleQuery(limit=50, cursor=page.next_cursor))
    assert [item.name for item in rest.items] == [f"job-{n:03}" for n in range(50, 60)]
    assert not rest.has_next
    assert rest.next_cursor is None


async def test_an_empty_list_asks_no_further(world: Schedules) -> None:
    assert (await world.service.list_schedules(ScheduleQuery())).items == ()
    assert world.port.asked == {"list_schedules": 1}


async def test_a_list_is_narrowed_by_state_and_text(world: Schedules) -> None:
    world.port.add(a_schedule("a", "alpha"), a_schedule("b", "beta", enabled=False), a_schedule("c", "alphabet", enabled=False))

    async def names(**query: object) -> list[str]:
        return [item.name for item in (await world.service.list_schedules(ScheduleQuery(**query))).items]

    assert await names(enabled=True) == ["alpha"]
    assert await names(text=" ALPHA ") == ["alpha", "alphabet"]
    assert await names(enabled=False, text="alpha") == ["alphabet"]


async def test_outcomes_are_the_last_ten_oldest_first(world: Schedules) -> None:
    statuses = ["failed", *["completed"] * 9, "skipped", "running"]
    world.port.firing_rows = [a_firing(f"f{n}", ago=1_000 - n, status=status) for n, status in enumerate(statuses)]
    world.port.firing_rows.append(a_firing("child", ago=1, status="failed", chain_depth=1))
    item = await _only(world)
    assert item.outcomes == (*[StateWord.OK] * 8, StateWord.SKIP, StateWord.RUN)
    assert item.running == 1


async def test_a_long_firing_counts_as_running_behind_the_skips_that_followed_it(world: Schedules) -> None:
    world.port.firing_rows = [a_firing("long", ago=5_000, status="running", ended_at=None)]
    world.port.firing_rows += [a_firing(f"skip{n}", ago=100 + n, status="skipped") for n in range(12)]
    item = await _only(world)
    assert item.running == 1
    assert StateWord.RUN not in item.outcomes


async def test_triggers_are_in_words_and_only_cron_has_a_zone(world: Schedules) -> None:
    world.port.add(
        a_schedule("1", "a-cron", trigger_type="cron", interval_sec=None, cron_expr="45 * * * *"),
        a_schedule("2", "b-zoned", trigger_type="cron", cron_expr="0 5 * * 1", resolved_timezone="Asia/Tokyo"),
        a_schedule("3", "c-every"),
        a_schedule("4", "d-once", trigger_type="at"),
    )
    items = (await world.service.list_schedules(ScheduleQuery())).items
    assert [(item.zone, item.zone_source) for item in items] == [
        ("Europe/Berlin", "env:TZ"),
        ("Asia/Tokyo", "schedule:resolved_timezone"),
        (None, None),
        (None, None),
    ]
    assert items[2].trigger == "every 1 min"
    assert items[3].trigger.startswith("once at 2026-03-12 03:12")
    assert "45" in items[0].trigger


@pytest.mark.parametrize(
    "fields",
    [
        {"interval_sec": None},
        {"interval_sec": None, "defects": ("interval_sec",)},
        {"trigger_type": "cron", "cron_expr": ""},
        {"trigger_type": "cron", "cron_expr": "   "},
        {"trigger_type": "cron", "cron_expr": None},
        {"trigger_type": "cron", "cron_expr": "0 0 31 2 *"},
        {"trigger_type": "cron", "cron_expr": "0 0 * * *", "resolved_timezone": "Mars/Base"},
        {"trigger_type": "sometimes"},
        {"rate_limit": None, "defects": ("rate_limit",)},
        {"next_fire_at": 1e300},
    ],
)
async def test_one_broken_schedule_is_shown_as_broken_and_hides_no_other(world: Schedules, fields: dict[str, object]) -> None:
    world.port.add(a_schedule("bad", "bad", **fields), a_schedule("good", "good"))
    bad, good = (await world.service.list_schedules(ScheduleQuery())).items
    assert bad.state == StateWord.BROKEN
    assert bad.problems
    assert (good.state, good.problems) == (StateWord.ON, ())
    detail = await world.service.get_schedule("bad")
    assert detail.next_fires == ()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, None),
        ({"poller_consecutive_401": 1}, "GitHub did not accept the token, once (401)"),
        ({"poller_consecutive_401": 4}, "GitHub did not accept the token, 4 times in a row (401)"),
        (
            {"predispatch_refusal_event": "2026-03-01T00:00:00Z#0000000007", "predispatch_refusal_count": 2},
            "the event at 2026-03-01T00:00:00Z#0000000007 was refused before launch 2 times; see its firings",
        ),
        (
            {"github_cursor": "2199-01-01T00:00:00Z"},
            "its bookmark lies in the future: nothing is new before 2199-01-01T00:00:00Z",
        ),
        ({"github_cursor": "2026-03-01T00:00:00Z"}, None),
    ],
)
async def test_what_keeps_a_poll_from_firing_is_said_without_calling_it_broken(
    world: Schedules, fields: dict[str, Any], words: str | None
) -> None:
    poll = {"trigger_type": "github_poll", "github_repo": "shop/web", "interval_sec": None, "next_fire_at": None}
    item = await _only(world, **{**poll, **fields})
    assert (item.blocked, item.problems, item.state) == (words, (), StateWord.ON)


async def test_what_the_host_says_of_a_poll_comes_first(world: Schedules) -> None:
    world.host.poll_words = "GitHub cannot be reached"
    poll = {"trigger_type": "github_poll", "github_repo": "shop/web", "interval_sec": None, "next_fire_at": None}
    assert (await _only(world, **poll, poller_consecutive_401=1)).blocked == "GitHub cannot be reached"


@pytest.mark.parametrize(
    ("fields", "column"),
    [
        ({"trigger_type": "cron", "cron_expr": ""}, "cron_expr"),
        ({"trigger_type": "cron", "cron_expr": "0 0 30 2 *"}, "cron_expr"),
        ({"trigger_type": "cron", "cron_expr": "0 9 * * *", "resolved_timezone": "Mars/Base"}, "resolved_timezone"),
        ({"trigger_type": "at", "interval_sec": None, "next_fire_at": None}, "next_fire_at"),
        ({"interval_sec": None}, "interval_sec"),
        ({"interval_sec": 0}, "interval_sec"),
        ({"trigger_type": "lunar"}, "trigger_type"),
        ({"action_kind": "engine"}, "action_kind"),
        ({"missed_fire_policy": "all"}, "missed_fire_policy"),
        ({"overlap_policy": "queue"}, "overlap_policy"),
        ({"action_command": None}, "action_command"),
        ({"action_command": "/bin/true"}, "action_command"),
        ({"action_kind": "agent", "action_prompt": "--"}, "action_prompt"),
        ({"action_kind": "agent", "action_prompt": "hi", "action_model": "-m"}, "action_model"),
        ({"action_kind": "play", "action_playbook": "list"}, "action_playbook"),
        ({"action_kind": "play", "action_playbook": "x", "action_playbook_args": {"background": True}}, "action_playbook_args"),
        ({"action_kind": "flow", "action_prompt": "hi", "action_extra_args": ("--effort", "high")}, "action_extra_args"),
        ({"rate_limit": {"max_fires": 1}}, "rate_limit"),
        ({"max_runs": 0}, "max_runs"),
        ({"on_fail": {"nonsense": 1}}, "on_fail.nonsense"),
        ({"defects": ("github_filter",)}, "github_filter"),
    ],
)
async def test_a_stored_value_that_breaks_a_rule_shows_as_broken_with_its_column(
    world: Schedules, fields: dict[str, object], column: str
) -> None:
    item = await _only(world, **fields)
    assert item.state == StateWord.BROKEN
    assert [problem.partition(":")[0] for problem in item.problems] == [column]
    detail = await world.service.get_schedule(item.schedule_id)
    assert (detail.next_fires, detail.problems) == ((), item.problems)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, StateWord.ON),
        ({"enabled": False}, StateWord.OFF),
        ({"trigger_type": "at", "interval_sec": None, "next_fire_at": None, "last_fired_at": NOW - 60}, StateWord.DONE),
        ({"trigger_type": "at", "interval_sec": None, "next_fire_at": None}, StateWord.BROKEN),
    ],
)
async def test_the_state_of_a_schedule(world: Schedules, fields: dict[str, object], state: StateWord) -> None:
    assert (await _only(world, **fields)).state == state


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"action_command": "echo", "action_command_args": ("two words", "", "plain")}, "command echo 'two words' '' plain"),
        ({"action_kind": "agent", "action_agent": "auditor", "action_command": None}, "agent auditor"),
        ({"action_kind": "agent", "action_model": "fast", "action_command": None}, "agent fast"),
        ({"action_kind": "play", "action_playbook": "release", "action_command": None}, "play release"),
        ({"action_kind": "flow_yaml", "action_flow_yaml": "steps: []", "action_command": None}, "flow_yaml"),
        ({"action_kind": "fanout", "action_model": "fast", "action_command": None}, "fanout fast"),
    ],
)
async def test_actions_in_words(world: Schedules, fields: dict[str, object], words: str) -> None:
    assert (await _only(world, **fields)).action == words


async def test_the_owner_is_named(world: Schedules) -> None:
    world.port.add(
        a_schedule("1", "a", managed_by="cli"),
        a_schedule("2", "b", managed_by="declaration", owner_key="shop/nightly"),
        a_schedule("3", "c"),
    )
    assert [item.owner for item in (await world.service.list_schedules(ScheduleQuery())).items] == ["cli", "shop/nightly", None]


async def test_a_detail_shows_what_would_run_where_and_when(world: Schedules) -> None:
    world.port.add(a_schedule(action_cwd="/srv", max_runs=9, resolved_timezone=None))
    world.port.firing_rows = [a_firing(f"f{n}", ago=100 * n + 50) for n in range(3)]
    detail = await world.service.get_schedule("schedule-1")
    assert detail.command_line == ("true",)
    assert detail.working_directory == "/srv"
    assert (detail.max_runs, detail.executed_runs) == (9, 3)
    assert [fire.at for fire in detail.next_fires] == [NOW + 30 + 60 * n for n in range(5)]
    assert detail.next_fires[0].local == "Thu 2026-03-12 04:12:30 CET"
    assert detail.blocked is None


async def test_a_detail_names_why_its_next_firing_would_be_refused(world: Schedules) -> None:
    world.refusal = "the directory /srv/app is gone"
    world.port.add(a_schedule())
    assert (await world.service.get_schedule("schedule-1")).blocked == "the directory /srv/app is gone"


async def test_a_schedule_that_is_off_has_no_coming_fires(world: Schedules) -> None:
    world.port.add(a_schedule(enabled=False))
    assert (await world.service.get_schedule("schedule-1")).next_fires == ()


async def test_coming_fires_are_in_the_schedules_own_zone(world: Schedules) -> None:
    world.port.add(
        a_schedule(trigger_type="cron", interval_sec=None, cron_expr="30 2 29 3 *", resolved_timezone="America/New_York")
    )
    first = (await world.service.get_schedule("schedule-1")).next_fires[0]
    assert first.local == "Sun 2026-03-29 02:30 EDT"


async def test_an_unknown_schedule_is_not_found(world: Schedules) -> None:
    for ask in (world.service.get_schedule, world.service.resolve_schedule):
        with pytest.raises(NotFound):
            await ask("nobody")


async def test_a_name_an_id_or_the_beginning_of_either_names_a_schedule(world: Schedules) -> None:
    world.port.add(a_schedule("aaa111", "tidy"), a_schedule("bbb222", "tidy-up"), a_schedule("tidy", "other"))
    assert await world.service.resolve_schedule("bbb") == "bbb222"
    assert await world.service.resolve_schedule(" tidy-up ") == "bbb222"
    assert await world.service.resolve_schedule("oth") == "tidy"
    with pytest.raises(Conflict) as caught:
        await world.service.resolve_schedule("tidy")
    assert "tidy (aaa111)" in str(caught.value)
    assert "other (tidy)" in str(caught.value)
    assert "tidy-up" not in str(caught.value)


async def test_wildcards_in_names_are_literal(world: Schedules) -> None:
    world.port.add(a_schedule())
    with pytest.raises(NotFound):
        await world.service.resolve_schedule("%")


async def test_firings_come_newest_first_in_pages_with_their_output(world: Schedules) -> None:
    world.port.firing_rows = [a_firing(f"f{n}", ago=100 - n, session_ids=(f"run-{n}",)) for n in range(5)]
    world.logs.written = {"f4": ("hello\n", "")}
    page = await world.service.list_firings(FiringQuery(schedule_id="schedule-1", limit=3))
    assert [firing.firing_id for firing in page.items] == ["f4", "f3", "f2"]
    assert [firing.output_tail for firing in page.items] == ["hello", None, None]
    assert page.items[0].output_bytes == 6
    assert page.items[0].run_ids == ("run-4",)
    rest = await world.service.list_firings(FiringQuery(schedule_id="schedule-1", limit=3, cursor=page.next_cursor))
    assert [firing.firing_id for firing in rest.items] == ["f1", "f0"]
    assert rest.next_cursor is None
    assert world.port.asked == {"firings": 2}


async def test_a_cursor_of_another_list_is_refused(world: Schedules) -> None:
    world.port.add(*(a_schedule(f"{n}", f"job-{n}") for n in range(3)))
    page = await world.service.list_schedules(ScheduleQuery(limit=1))
    with pytest.raises(ValidationFailure):
        await world.service.list_firings(FiringQuery(schedule_id="schedule-1", cursor=page.next_cursor))


@pytest.mark.parametrize(
    ("written", "error_detail", "expected"),
    [
        (("out\n", "err\n"), None, "err\n[stdout]\nout"),
        (("", "err\n"), "stored", "err"),
        (("\x1b[31mred\x1b[0m plain\r\n", ""), None, "red plain"),
        (("10 %\r50 %\r100 %\n", ""), None, "100 %"),
        (("\x1b]0;title\x07shown \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", ""), None, "shown link"),
        (("\x1b]0;never ended\nnext line", ""), None, "0;never ended\nnext line"),
        (("bell\x07 and \x00 nul", ""), None, "bell␇ and ␀ nul"),
        (("", ""), "stored", ""),
        (None, "stored \x1b[1mtext", "stored text"),
        (None, None, None),
    ],
)
async def test_output_is_what_a_person_at_a_terminal_would_have_been_left_with(
    world: Schedules, written: tuple[str, str] | None, error_detail: str | None, expected: str | None
) -> None:
    world.port.firing_rows = [a_firing(error_detail=error_detail)]
    if written is not None:
        world.logs.written = {"firing-1": written}
    assert (await world.service.get_firing("firing-1")).output_tail == expected


async def test_halves_of_characters_in_stored_arguments_are_marked(world: Schedules) -> None:
    world.port.firing_rows = [a_firing(argv=("echo", "\ud83d"))]
    assert (await world.service.get_firing("firing-1")).command_line == ("echo", "\ufffd")
    item = await _only(world, action_command_args=("\ud83d",))
    assert item.action == "command true \ufffd"
    (await world.service.get_schedule("schedule-1")).model_dump_json()


async def test_a_skip_wrote_nothing_and_its_log_is_not_looked_for(world: Schedules) -> None:
    world.port.firing_rows = [a_firing(status="skipped", ended_at=None, reason_code="schedule.skipped.overlap")]
    firing = await world.service.get_firing("firing-1")
    assert (firing.state, firing.reason) == (StateWord.SKIP, "previous one still ran")
    assert firing.output_tail is None
    assert firing.duration is None
    assert not world.logs.asked


@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"scheduled": True, "next_fire_at": NOW}, "due"),
        ({"manual": True}, "by hand"),
        ({"missed_recovery": True}, "made up for a missed fire"),
        ({"skipped_missed_fire": True}, "missed"),
        ({"skipped_overlap": True}, "due"),
        ({"github_events": [{}]}, "GitHub event"),
        ({"scheduled": True, "chain_from": "f0"}, "chain"),
        ({}, ""),
    ],
)
async def test_why_a_firing_came_to_be(world: Schedules, context: dict[str, object], words: str) -> None:
    world.port.firing_rows = [a_firing(trigger_context=context)]
    assert (await world.service.get_firing("firing-1")).trigger == words


@pytest.mark.parametrize(
    ("fields", "duration"),
    [
        ({}, 2.0),
        ({"status": "running", "ended_at": None}, 60.0),
        ({"dispatched_at": None}, 2.0),
        ({"fired_at": NOW - 100}, 2.0),
        ({"ended_at": NOW - 5_000}, 0.0),
        ({"fired_at": None, "dispatched_at": None}, None),
        ({"status": "failed", "ended_at": None}, None),
    ],
)
async def test_a_firing_is_timed_from_its_launch(world: Schedules, fields: dict[str, object], duration: float | None) -> None:
    world.port.firing_rows = [a_firing(**fields)]
    assert (await world.service.get_firing("firing-1")).duration == duration


async def test_an_unknown_firing_is_not_found(world: Schedules) -> None:
    with pytest.raises(NotFound):
        await world.service.get_firing("nobody")


def test_a_trigger_is_previewed_before_it_is_saved(world: Schedules) -> None:
    cadence = world.service.cadence(CadenceQuery(trigger=CronTrigger(expression="0 9 * * 1", timezone="Asia/Tokyo"), count=2))
    assert [fire.local for fire in cadence.fires] == ["Mon 2026-03-16 09:00 JST", "Mon 2026-03-23 09:00 JST"]
    assert (cadence.zone, cadence.zone_source) == ("Asia/Tokyo", "schedule:resolved_timezone")
    default = world.service.cadence(CadenceQuery(trigger=CronTrigger(expression="0 9 * * 1")))
    assert (default.zone, default.zone_source) == ("Europe/Berlin", "env:TZ")
    every = world.service.cadence(CadenceQuery(trigger=IntervalTrigger(seconds=90), count=2))
    assert [fire.at for fire in every.fires] == [NOW + 90, NOW + 180]
    assert every.zone is None
    later = world.service.cadence(CadenceQuery(trigger=IntervalTrigger(seconds=90), after=NOW + 1_000, count=1))
    assert later.fires[0].at > NOW + 1_000
    once = world.service.cadence(CadenceQuery(trigger=AtTrigger(at=NOW + 5)))
    assert [fire.at for fire in once.fires] == [NOW + 5]
    poll = world.service.cadence(CadenceQuery(trigger=GithubPollTrigger(repository="shop/web", poll_interval_seconds=60)))
    assert poll.fires == ()


def test_a_preview_that_nobody_chose_a_zone_for_says_so() -> None:
    world = Schedules(zone=Zone("UTC", "fallback:utc"))
    cadence = world.service.cadence(CadenceQuery(trigger=CronTrigger(expression="0 9 * * *")))
    assert any("UTC" in warning for warning in cadence.warnings)


@pytest.mark.parametrize(
    ("trigger", "path"),
    [
        (CronTrigger(expression="every day"), ("trigger", "expression")),
        (CronTrigger(expression="@reboot"), ("trigger", "expression")),
        (CronTrigger(expression="0 0 31 2 *"), ("trigger", "expression")),
        (CronTrigger(expression="0 0 * * *", timezone="Mars/Base"), ("trigger", "timezone")),
        (IntervalTrigger(seconds=10**15), ("trigger", "seconds")),
    ],
)
def test_a_preview_names_the_field_that_is_wrong(world: Schedules, trigger: object, path: tuple[str, str]) -> None:
    with pytest.raises(ValidationFailure) as caught:
        world.service.cadence(CadenceQuery(trigger=trigger))
    (fault,) = caught.value.field_errors
    assert fault.path == path
    assert len(fault.message) > 10


async def test_a_store_that_cannot_answer_is_not_an_empty_list(world: Schedules) -> None:
    world.port.trouble = StateUnavailable("the store is busy", retryable=True)
    for ask in (
        world.service.list_schedules(ScheduleQuery()),
        world.service.list_firings(FiringQuery(schedule_id="x")),
        world.service.get_schedule("x"),
    ):
        with pytest.raises(StateUnavailable):
            await ask
