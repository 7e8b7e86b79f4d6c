"""Schedules: acts go by id and version seen, history shows reason and output, the form names the wrong field."""

from __future__ import annotations

from typing import Literal

import pytest

from studio_tui.application.errors import Conflict, ValidationFailure
from studio_tui.application.models.common import StateWord
from studio_tui.application.models.host import HostStatus, MissedFire, StoreStatus
from studio_tui.application.models.schedule_parts import Threshold
from studio_tui.application.models.schedules import FireNow, ScheduleDefinition, ScheduleDetail, SetScheduleEnabled
from studio_tui.tui.screens.dialogs import Choice, Confirm
from studio_tui.tui.screens.schedule_facts import schedule_facts
from studio_tui.tui.screens.schedule_form import ScheduleForm
from studio_tui.tui.screens.schedule_history import ScheduleHistoryScreen
from studio_tui.tui.screens.schedules import SchedulesScreen
from tests.fakes.studio import NOW, FakeStudio
from tests.tui.conftest import Console, harmless, nasty_strings, screen_text, wait_until
from tests.tui.samples import a_firing, a_schedule


async def test_a_row_says_when_how_it_went_and_what_stands_in_the_way(studio: FakeStudio, console: Console) -> None:
    studio.schedules.rows = [
        a_schedule("backup", zone="Europe/Berlin", zone_source="env:TZ"),
        a_schedule("lost", zone="UTC", zone_source="fallback:utc"),
        a_schedule("broken", state=StateWord.BROKEN, problems=("cron_expr: is empty",), next_fire_at=None),
        a_schedule("poll", blocked="GitHub did not accept the token, once (401)"),
    ]
    async with console(initial="schedules") as (app, _pilot):
        await wait_until(lambda: any("backup" in line for line in screen_text(app)))
        text = "\n".join(screen_text(app))
        for said in ("33m", "Berlin", "UTC !", "BROKEN", "cannot fire", "in trouble", "✓✗"):
            assert said in text


async def test_turning_off_carries_the_id_the_wish_and_the_version_seen(studio: FakeStudio, console: Console) -> None:
    studio.schedules.rows = [a_schedule("backup"), a_schedule("report", updated_at=99.5)]
    async with console(initial="schedules") as (app, pilot):
        await wait_until(lambda: any("report" in line for line in screen_text(app)))
        await pilot.press("j", "p")
        await wait_until(lambda: any(name == "set_enabled" for name, _ in studio.schedules.calls))
        command = next(argument for name, argument in studio.schedules.calls if name == "set_enabled")
        assert command == SetScheduleEnabled(schedule_id="id-report", enabled=False, expected_updated_at=99.5)


async def test_a_conflict_is_said_and_nothing_is_drawn_in_advance(studio: FakeStudio, console: Console) -> None:
    studio.schedules.rows = [a_schedule("backup")]
    async with console(initial="schedules") as (app, pilot):
        await wait_until(lambda: any("backup" in line for line in screen_text(app)))

        async def refused(_command: object) -> None:
            raise Conflict("schedule", expected="17.25", actual="18.0")

        studio.schedules.set_enabled = refused  # type: ignore[method-assign, assignment]
        said: list[str] = []
        app.toast = lambda text, **_: said.append(text)  # type: ignore[method-assign]
        await pilot.press("p")
        await wait_until(lambda: any("changed meanwhile" in text for text in said))
        assert any("● ON" in line for line in screen_text(app))


async def test_run_now_asks_first_and_enter_alone_does_not_fire(studio: FakeStudio, console: Console) -> None:
    studio.schedules.rows = [a_schedule("backup")]
    async with console(initial="schedules") as (app, pilot):
        await wait_until(lambda: any("backup" in line for line in screen_text(app)))
        await pilot.press("t")
        await wait_until(lambda: isinstance(app.screen, Confirm))
        assert any("backup" in line and "id-backup" in line for line in screen_text(app))
        await pilot.press("enter")
        await wait_until(lambda: isinstance(app.screen, SchedulesScreen))
        assert not any(name == "fire_now" for name, _ in studio.schedules.calls)
        await pilot.press("t")
        await wait_until(lambda: isinstance(app.screen, Confirm))
        await pilot.press("right", "enter")
        await wait_until(lambda: ("fire_now", FireNow(schedule_id="id-backup")) in studio.schedules.calls)


async def test_history_shows_reason_and_output_of_the_firing_under_the_cursor(studio: FakeStudio, console: Console) -> None:
    studio.schedules.rows = [a_schedule("backup")]
    studio.schedules.firings["id-backup"] = [
        a_firing(0),
        a_firing(1, state=StateWord.FAIL, status="failed", exit_code=3, reason="exit code 3", output_tail="disk full\n"),
        a_firing(2, state=StateWord.SKIP, status="skipped", exit_code=None, reason="overlap", output_tail=None),
    ]
    async with console(initial="schedules") as (app, pilot):
        await wait_until(lambda: any("backup" in line for line in screen_text(app)))
        await pilot.press("enter")
        await wait_until(lambda: isinstance(app.screen, ScheduleHistoryScreen))
        await wait_until(lambda: sum("output of 0" in line for line in screen_text(app)) == 2)
        await pilot.press("j")
        await wait_until(lambda: any("disk full" in line for line in screen_text(app)[25:]))
        assert any("exit 3" in line for line in screen_text(app))
        await pilot.press("j")
        await wait_until(lambda: any("none is kept" in line for line in screen_text(app)))


async def test_the_form_keeps_what_was_typed_and_marks_the_wrong_field(studio: FakeStudio, console: Console) -> None:
    async with console(initial="schedules") as (app, pilot):
        await pilot.press("n")
        await wait_until(lambda: isinstance(app.screen, ScheduleForm))
        form = app.screen
        assert isinstance(form, ScheduleForm)
        await pilot.press(*"tick")
        await pilot.press("ctrl+s")
        await wait_until(lambda: any("no length of time" in line for line in screen_text(app)))
        rows = form.form._rows
        rows["seconds"].input.value = "2s"  # type: ignore[misc]
        rows["command"].input.value = "echo 'two words'"  # type: ignore[misc]
        rows["cwd"].input.value = "/tmp"  # type: ignore[misc]
        studio.schedules.error = ValidationFailure.of("command", "allow_list", "echo is not on the allow-list")
        await pilot.press("ctrl+s")
        await wait_until(lambda: any("not on the allow-list" in line for line in screen_text(app)))
        assert rows["name"].value == "tick"
        studio.schedules.error = None
        await pilot.press("ctrl+s")
        await wait_until(lambda: not isinstance(app.screen, ScheduleForm))
        command = [argument for name, argument in studio.schedules.calls if name == "create_schedule"][-1]
        assert (command.name, command.trigger.seconds) == ("tick", 2)
        assert (command.action.command, command.action.command_args) == ("echo", ("two words",))


async def test_nothing_may_be_changed_in_a_read_only_store(studio: FakeStudio, console: Console) -> None:
    studio.store.now = studio.store.now.model_copy(update={"mode": "read_only", "reason": "version 9 is newer"})
    studio.schedules.rows = [a_schedule("backup")]
    async with console(initial="schedules") as (app, pilot):
        await wait_until(lambda: any("backup" in line for line in screen_text(app)))
        await pilot.press("p", "t", "n")
        await pilot.pause()
        assert isinstance(app.screen, SchedulesScreen)
        assert not any(name in ("set_enabled", "fire_now") for name, _ in studio.schedules.calls)
        assert any("read-only" in line for line in screen_text(app))


async def test_whether_to_host_is_asked_once_when_the_console_opens(studio: FakeStudio, console: Console) -> None:
    studio.host.now = HostStatus(state="undecided")
    async with console(until_open=False) as (app, pilot):
        await wait_until(lambda: isinstance(app.screen, Choice))
        await pilot.press("enter")
        await wait_until(lambda: not isinstance(app.screen, Choice))
        assert studio.host.calls == []
        await pilot.press("M")
        await wait_until(lambda: isinstance(app.screen, Choice))
        await pilot.press("down", "enter")
        await wait_until(lambda: ("decide", (True, True)) in studio.host.calls)


MISSED = HostStatus(
    state="held",
    missed=(
        MissedFire(schedule_id="a", name="backup", due_at=NOW - 3_000, policy="run_once"),
        MissedFire(schedule_id="b", name="report", due_at=NOW - 90_000, policy="skip"),
    ),
)


async def test_missed_fires_are_listed_with_what_their_policy_does(studio: FakeStudio, console: Console) -> None:
    studio.host.now = MISSED
    async with console(until_open=False) as (app, pilot):
        await wait_until(lambda: any("backup  will run once" in line for line in screen_text(app)))
        text = "\n".join(screen_text(app))
        assert "report  will be skipped" in text
        assert "2 missed" in text
        await pilot.press("down", "enter")
        await wait_until(lambda: ("settle_missed", True) in studio.host.calls)


async def test_missed_fires_are_asked_about_as_soon_as_they_are_known_and_enter_settles_nothing(
    studio: FakeStudio, console: Console
) -> None:
    studio.host.now = HostStatus(state="hosting")
    async with console() as (app, pilot):
        assert not isinstance(app.screen, Choice)
        studio.host.now = MISSED
        await wait_until(lambda: isinstance(app.screen, Choice))
        await pilot.press("enter")
        await wait_until(lambda: not isinstance(app.screen, Choice))
        assert studio.host.calls == []
        assert any("○ 2 missed" in line for line in screen_text(app))


async def test_who_says_host_here_is_asked_about_missed_fires_next(studio: FakeStudio, console: Console) -> None:
    studio.host.now = HostStatus(state="undecided")
    async with console(until_open=False) as (app, pilot):
        await wait_until(lambda: isinstance(app.screen, Choice))
        studio.host.now = MISSED
        await pilot.press("down", "enter")
        await wait_until(lambda: any("2 missed fires" in line for line in screen_text(app)))


async def test_what_is_missed_later_waits_for_the_key(studio: FakeStudio, console: Console) -> None:
    async with console() as (app, pilot):
        await pilot.pause(1.1)
        studio.host.now = MISSED
        await wait_until(lambda: any("○ 2 missed" in line for line in screen_text(app)))
        assert not isinstance(app.screen, Choice)
        await pilot.press("M")
        await wait_until(lambda: isinstance(app.screen, Choice))


async def test_any_text_of_a_schedule_is_shown_and_does_nothing(studio: FakeStudio, console: Console) -> None:
    studio.schedules.rows = [
        a_schedule(text or f"n{number}", schedule_id=f"s{number}", trigger=text, action=text, description=text, problems=(text,))
        for number, text in enumerate(nasty_strings())
    ]
    async with console(initial="schedules") as (app, pilot):
        await wait_until(lambda: isinstance(app.screen, SchedulesScreen) and bool(app.screen.list.rows))
        for _ in range(40):
            await pilot.press("j")
        assert harmless(app)


async def test_a_hold_that_begins_while_one_looks_is_said_beside_the_list(studio: FakeStudio, console: Console) -> None:
    studio.schedules.rows = [a_schedule("backup")]
    async with console(initial="schedules") as (app, _pilot):
        await wait_until(lambda: any("firing here" in line for line in screen_text(app)))
        studio.host.now = studio.host.now.model_copy(update={"state": "held", "reason": "held by hand"})
        await wait_until(lambda: any("firing is held" in line for line in screen_text(app)))
        assert not any("firing here" in line for line in screen_text(app))


def test_a_threshold_is_said_in_words() -> None:
    row = a_schedule("alarm")
    beyond = Threshold(metric="failed_sessions", op="gte", value=5, window_minutes=60)
    detail = ScheduleDetail(**row.model_dump(), definition=ScheduleDefinition(name="alarm", threshold_config=beyond))
    lines = ["".join(text for text, _ in line) for line in schedule_facts(row, detail, 80, NOW)]
    assert any("only if" in line and "failed_sessions is at least 5 over 60 min" in line for line in lines)


async def test_what_fails_and_what_is_broken_are_counted_apart(studio: FakeStudio, console: Console) -> None:
    studio.schedules.rows = [
        a_schedule("a", schedule_id="a", health="failing"),
        a_schedule("b", schedule_id="b", problems=("no such hour",)),
        a_schedule("c", schedule_id="c", health="never-fired"),
    ]
    async with console(initial="schedules") as (app, _pilot):
        await wait_until(lambda: any("1 failing  1 broken" in line for line in screen_text(app)))
        assert any("never fired" in line for line in screen_text(app))


@pytest.mark.parametrize(
    ("mode", "words"),
    [("ready", "n make the first one"), ("missing", "1 runs, where n makes one"), ("read_only", "nothing fires by itself")],
)
async def test_an_empty_list_offers_what_can_be_done(
    studio: FakeStudio, console: Console, mode: Literal["ready", "missing", "read_only"], words: str
) -> None:
    studio.store.now = StoreStatus(mode=mode, label="state.db", home="/srv/agents")
    async with console(initial="schedules") as (app, _pilot):
        await wait_until(lambda: any(words in line for line in screen_text(app)))
        assert mode == "ready" or not any("n make the first one" in line for line in screen_text(app))
