"""Why, change and delete on the schedules screen: what is sent, what is said, what harms nothing by itself."""

from __future__ import annotations

from typing import Any

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.models.host import StoreStatus
from studio_tui.application.models.schedules import (
    CronTrigger,
    DeleteSchedule,
    Deletion,
    IntervalTrigger,
    ScheduleAction,
    ScheduleDefinition,
    ScheduleDetail,
    SchedulePatch,
)
from studio_tui.application.models.why import Why, WhyGate, WhyQuery
from studio_tui.tui.screens.dialogs import Confirm
from studio_tui.tui.screens.schedule_form import ScheduleForm
from studio_tui.tui.screens.schedule_history import ScheduleHistoryScreen
from studio_tui.tui.screens.schedule_why import WhyDialog
from studio_tui.tui.screens.schedules import SchedulesScreen
from tests.fakes.studio import NOW, FakeStudio
from tests.tui.conftest import Console, harmless, nasty_strings, screen_text, shown_toasts, wait_until
from tests.tui.samples import a_firing, a_schedule

STORED = ScheduleDefinition(
    name="backup",
    trigger=IntervalTrigger(seconds=5_400),
    action=ScheduleAction(kind="command", command="tar", command_args=("-c", "two words"), cwd="/srv", project="ops"),
    overlap_policy="allow",
    max_runs=7,
)


def why_of(name: str = "backup", **changes: Any) -> Why:
    gates = (
        WhyGate(gate="hosted", passed=True, words="this process fires the schedules of this store"),
        WhyGate(gate="overlap", passed=False, words="still running: 1 firing of it (overlap: skip): f00d"),
    )
    values: dict[str, Any] = {
        "schedule_id": f"id-{name}",
        "name": name,
        "about": "coming",
        "at": NOW + 60,
        "local": "Thu 2026-03-12 04:13 CET",
        "fires": False,
        "answer": "will not fire: still running: 1 firing of it (overlap: skip): f00d",
        "gates": gates,
    }
    return Why.model_validate(values | changes)


def put(studio: FakeStudio, definition: ScheduleDefinition = STORED, **fields: Any) -> None:
    row = a_schedule("backup", **fields)
    studio.schedules.rows = [row]
    studio.schedules.details["id-backup"] = ScheduleDetail(**row.model_dump(), definition=definition)


def sent(studio: FakeStudio, operation: str) -> list[Any]:
    return [argument for name, argument in studio.schedules.calls if name == operation]


async def shown(app: Any, text: str) -> None:
    await wait_until(lambda: any(text in line for line in screen_text(app)))


# --- why --------------------------------------------------------------------------------------------------------------


async def test_one_key_says_why_and_the_same_key_closes_it(studio: FakeStudio, console: Console) -> None:
    put(studio)
    studio.schedules.whys["id-backup"] = why_of(chain=("on fail: agent fixer",))
    async with console(initial="schedules") as (app, pilot):
        await shown(app, "backup")
        await pilot.press("!")
        await wait_until(lambda: isinstance(app.screen, WhyDialog))
        text = "\n".join(screen_text(app))
        for said in (
            "why backup?",
            "will not fire: still running",
            "04:13 CET",
            "ok    hosted",
            "NO    overlap",
            "then on fail: agent",
        ):
            assert said in text
        assert sent(studio, "why") == [WhyQuery(schedule_id="id-backup")]
        await pilot.press("!")
        await wait_until(lambda: isinstance(app.screen, SchedulesScreen))


async def test_a_recorded_firing_is_asked_about_where_its_history_is_shown(studio: FakeStudio, console: Console) -> None:
    put(studio)
    studio.schedules.firings["id-backup"] = [a_firing(0), a_firing(1)]
    second = studio.schedules.firings["id-backup"][1].firing_id
    said = {"about": "past", "fires": None, "answer": "nothing is recorded at that time", "records": ("it was off then",)}
    studio.schedules.whys[second] = why_of(**said, gates=())
    async with console(initial="schedules") as (app, pilot):
        await shown(app, "backup")
        await pilot.press("enter")
        await wait_until(lambda: isinstance(app.screen, ScheduleHistoryScreen))
        await wait_until(lambda: bool(app.screen.list.rows))  # type: ignore[attr-defined]
        await pilot.press("j", "!")
        await wait_until(lambda: isinstance(app.screen, WhyDialog))
        await shown(app, "it was off then")
        assert sent(studio, "why") == [WhyQuery(schedule_id="id-backup", firing_id=second)]


async def test_an_answer_that_does_not_fit_is_scrolled_and_any_text_in_it_does_nothing(
    studio: FakeStudio, console: Console
) -> None:
    put(studio)
    gates = tuple(WhyGate(gate="launch", passed=False, words=text or "-") for text in nasty_strings()[:60])
    studio.schedules.whys["id-backup"] = why_of(gates=gates)
    async with console((80, 24), initial="schedules") as (app, pilot):
        await shown(app, "backup")
        await pilot.press("!")
        await wait_until(lambda: isinstance(app.screen, WhyDialog))
        assert harmless(app)
        await pilot.press("end")
        await pilot.pause()
        assert harmless(app)


async def test_a_schedule_that_is_gone_is_said(studio: FakeStudio, console: Console) -> None:
    put(studio)

    async def gone(_query: object) -> Why:
        raise NotFound("schedule", "id-backup")

    studio.schedules.why = gone  # type: ignore[method-assign]
    async with console(initial="schedules") as (app, pilot):
        await shown(app, "backup")
        await pilot.press("!")
        await wait_until(lambda: any("it was deleted" in text for text in shown_toasts(app)))
        assert isinstance(app.screen, SchedulesScreen)


# --- change -----------------------------------------------------------------------------------------------------------


async def _form(app: Any, pilot: Any) -> dict[str, Any]:
    await shown(app, "backup")
    await pilot.press("e")
    await wait_until(lambda: isinstance(app.screen, ScheduleForm))
    form: ScheduleForm = app.screen
    return form.form._rows  # type: ignore[return-value]


async def test_the_form_shows_what_is_stored_and_sends_only_what_was_changed(studio: FakeStudio, console: Console) -> None:
    put(studio)
    async with console(initial="schedules") as (app, pilot):
        rows = await _form(app, pilot)
        values = {name: row.value for name, row in rows.items() if row.display}
        assert (values["name"], values["trigger"], values["seconds"]) == ("backup", "every", "1h30m")
        assert (values["command"], values["cwd"], values["overlap_policy"]) == ("tar -c 'two words'", "/srv", "allow")
        rows["max_runs"].input.value = ""
        rows["command"].input.value = "tar -x"
        await pilot.press("ctrl+s")
        await wait_until(lambda: bool(sent(studio, "patch_schedule")))
        (command,) = sent(studio, "patch_schedule")
        assert (command.schedule_id, command.expected_updated_at) == ("id-backup", 17.25)
        action = ScheduleAction(kind="command", command="tar", command_args=("-x",))
        assert command.changes == SchedulePatch(max_runs=None, action=action)
        assert command.changes.model_fields_set == {"max_runs", "action"}
        assert command.changes.action.model_fields_set == {"kind", "command", "command_args"}
        await wait_until(lambda: isinstance(app.screen, SchedulesScreen))
        assert any("changed: action, max_runs" in text for text in shown_toasts(app))


async def test_another_trigger_is_sent_whole(studio: FakeStudio, console: Console) -> None:
    put(studio)
    async with console(initial="schedules") as (app, pilot):
        rows = await _form(app, pilot)
        rows["trigger"].input.action_turn(1)
        await wait_until(lambda: rows["expression"].display)
        rows["expression"].input.value = "0 9 * * 1"
        await pilot.press("ctrl+s")
        await wait_until(lambda: bool(sent(studio, "patch_schedule")))
        assert sent(studio, "patch_schedule")[0].changes == SchedulePatch(
            trigger=CronTrigger(expression="0 9 * * 1", timezone=None)
        )


async def test_what_the_form_does_not_know_stays_as_it_is(studio: FakeStudio, console: Console) -> None:
    flow = ScheduleAction(kind="flow_yaml", flow_yaml="prompt: x", cwd="/srv")
    put(studio, STORED.model_copy(update={"action": flow}), action_kind="flow_yaml", trigger_type="github_poll")
    async with console(initial="schedules") as (app, pilot):
        rows = await _form(app, pilot)
        await shown(app, "every 1 h: stays as it is")
        assert any("‹ flow_yaml ›" in line for line in screen_text(app))
        assert not any("missing)" in line for line in screen_text(app))
        rows["cwd"].input.value = "/tmp"
        await pilot.press("ctrl+s")
        await wait_until(lambda: bool(sent(studio, "patch_schedule")))
        assert sent(studio, "patch_schedule")[0].changes == SchedulePatch(action=ScheduleAction(kind="flow_yaml", cwd="/tmp"))


async def test_a_prompt_of_several_lines_is_left_alone_unless_it_is_changed(studio: FakeStudio, console: Console) -> None:
    long = "first line\nsecond\tline\n" + "x" * 6_000
    put(studio, STORED.model_copy(update={"action": ScheduleAction(kind="agent", agent="a", prompt=long)}), action_kind="agent")
    async with console(initial="schedules") as (app, pilot):
        rows = await _form(app, pilot)
        assert rows["prompt"].value == long
        rows["agent"].input.value = "b"
        await pilot.press("ctrl+s")
        await wait_until(lambda: bool(sent(studio, "patch_schedule")))
        assert sent(studio, "patch_schedule")[0].changes == SchedulePatch(action=ScheduleAction(kind="agent", agent="b"))


async def test_a_refused_change_marks_its_field_and_keeps_what_was_typed(studio: FakeStudio, console: Console) -> None:
    put(studio)
    async with console(initial="schedules") as (app, pilot):
        rows = await _form(app, pilot)
        rows["cwd"].input.value = "/gone"
        studio.schedules.error = ValidationFailure.of("cwd", "no_directory", "there is no such directory on this host")
        await pilot.press("ctrl+s")
        await shown(app, "no such directory")
        assert rows["cwd"].value == "/gone"


async def test_a_firing_meanwhile_is_no_conflict_and_another_hand_is(studio: FakeStudio, console: Console) -> None:
    put(studio)
    async with console(initial="schedules") as (app, pilot):
        rows = await _form(app, pilot)
        put(studio, updated_at=18.0)  # it fired: a new version, the same definition
        rows["max_runs"].input.value = "9"
        await pilot.press("ctrl+s")
        await wait_until(lambda: isinstance(app.screen, SchedulesScreen))
        assert [command.expected_updated_at for command in sent(studio, "patch_schedule")] == [17.25, 18.0]

        rows = await _form(app, pilot)
        put(studio, STORED.model_copy(update={"max_runs": 3}), updated_at=19.0)
        rows["max_runs"].input.value = "9"
        await pilot.press("ctrl+s")
        await shown(app, "save again to keep what is typed here")
        assert isinstance(app.screen, ScheduleForm)
        assert rows["max_runs"].value == "9"
        await pilot.press("ctrl+s")
        await wait_until(lambda: isinstance(app.screen, SchedulesScreen))
        last = sent(studio, "patch_schedule")[-1]
        assert (last.expected_updated_at, last.changes) == (19.0, SchedulePatch(max_runs=9))


async def test_a_taken_name_is_said_and_the_form_stays(studio: FakeStudio, console: Console) -> None:
    put(studio)

    async def taken(_command: object) -> None:
        raise Conflict("schedule", expected=None, actual="other", message="the name other is taken")

    studio.schedules.patch_schedule = taken  # type: ignore[method-assign, assignment]
    async with console(initial="schedules") as (app, pilot):
        rows = await _form(app, pilot)
        rows["name"].input.value = "other"
        await pilot.press("ctrl+s")
        await shown(app, "the name other is taken")
        assert isinstance(app.screen, ScheduleForm)


# --- delete -----------------------------------------------------------------------------------------------------------


async def test_what_would_vanish_is_said_and_enter_alone_deletes_nothing(studio: FakeStudio, console: Console) -> None:
    put(studio)
    studio.schedules.deletions["id-backup"] = Deletion(schedule_id="id-backup", name="backup", firings=1_204)
    async with console(initial="schedules") as (app, pilot):
        await shown(app, "backup")
        await pilot.press("D")
        await wait_until(lambda: isinstance(app.screen, Confirm))
        text = "\n".join(screen_text(app))
        for said in ("delete backup? (id-backup)", "204 recorded firings vanish with it", "turns it off instead"):
            assert said in text
        await pilot.press("enter")
        await wait_until(lambda: isinstance(app.screen, SchedulesScreen))
        assert sent(studio, "delete_schedule") == []
        await pilot.press("D")
        await wait_until(lambda: isinstance(app.screen, Confirm))
        await pilot.press("right", "enter")
        await wait_until(lambda: bool(sent(studio, "delete_schedule")))
        assert sent(studio, "delete_schedule") == [DeleteSchedule(schedule_id="id-backup", although_running=False)]
        await wait_until(lambda: any("backup is deleted" in text for text in shown_toasts(app)))


async def test_what_runs_is_named_before_it_is_deleted_all_the_same(studio: FakeStudio, console: Console) -> None:
    put(studio)
    running = Deletion(schedule_id="id-backup", name="backup", firings=1, running=("f00d",))
    studio.schedules.deletions["id-backup"] = running
    async with console(initial="schedules") as (app, pilot):
        await shown(app, "backup")
        await pilot.press("D")
        await wait_until(lambda: isinstance(app.screen, Confirm))
        assert any("it runs now (f00d)" in line for line in screen_text(app))
        await pilot.press("right", "enter")
        await wait_until(lambda: bool(sent(studio, "delete_schedule")))
        assert sent(studio, "delete_schedule")[0].although_running


async def test_what_stands_in_the_way_is_said_instead_of_a_question(studio: FakeStudio, console: Console) -> None:
    put(studio)
    obstacle = "1 message of the outbox refers to its firings"
    studio.schedules.deletions["id-backup"] = Deletion(schedule_id="id-backup", name="backup", firings=1, obstacle=obstacle)
    async with console(initial="schedules") as (app, pilot):
        await shown(app, "backup")
        await pilot.press("D")
        await wait_until(lambda: any(obstacle in text for text in shown_toasts(app)))
        assert isinstance(app.screen, SchedulesScreen)


async def test_a_store_that_must_not_be_written_is_only_asked_why(studio: FakeStudio, console: Console) -> None:
    put(studio)
    studio.schedules.whys["id-backup"] = why_of()
    studio.store.now = StoreStatus(mode="read_only", label="state.db", home="/srv", reason="newer")
    async with console(initial="schedules") as (app, pilot):
        await shown(app, "backup")
        await pilot.press("e", "D")
        await pilot.pause()
        assert isinstance(app.screen, SchedulesScreen)
        await pilot.press("!")
        await wait_until(lambda: isinstance(app.screen, WhyDialog))
        assert sent(studio, "deletion") == []
