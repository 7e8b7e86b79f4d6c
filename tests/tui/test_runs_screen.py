"""The list of runs: pages, selection by record, filter, and what it says when it is empty."""

from __future__ import annotations

from textual.widgets import Input

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.models.common import StateWord
from studio_tui.tui.app import StudioApp
from studio_tui.tui.screens.run_detail import RunDetailScreen
from studio_tui.tui.screens.runs import RunsScreen
from studio_tui.tui.widgets.filter_line import FilterLine
from tests.fakes.studio import FakeStudio
from tests.tui.conftest import Console, harmless, nasty_strings, screen_text, wait_until
from tests.tui.samples import a_run, runs


def shown(app: StudioApp) -> RunsScreen:
    assert isinstance(app.screen, RunsScreen)
    return app.screen


async def test_pages_are_read_as_the_cursor_goes_down_and_the_far_end_is_let_go(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(2_500)
    async with console() as (app, pilot):
        screen = shown(app)
        assert len(screen.list.rows) == 200
        for page in range(1, 80):
            await pilot.press("pagedown")
            await pilot.pause()
            if screen.list.cursor_id and screen.list.cursor_id >= "run-001500":
                break
            assert page < 79
        assert len(screen.list.rows) <= 1_000
        assert not screen.list.is_at_top
        ids = [run.run_id for run in screen.list.rows]
        assert ids == sorted(ids)
        for _ in range(80):
            await pilot.press("pageup")
            await pilot.pause()
            if screen.list.is_at_top:
                break
        assert screen.list.rows[0].run_id == "run-000000"


async def test_the_last_run_is_one_key_away_and_so_is_the_first(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(5_000)
    async with console() as (app, pilot):
        screen = shown(app)
        await pilot.press("G")
        await wait_until(lambda: screen.list.cursor_id == "run-004999")
        await pilot.press("g")
        await wait_until(lambda: screen.list.cursor_id == "run-000000")


async def test_the_selection_follows_its_record_while_rows_come_and_go(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(50)
    async with console() as (app, pilot):
        screen = shown(app)
        await pilot.press("j", "j", "j")
        for number in range(5):
            studio.runs.rows.insert(0, a_run(0, run_id=f"fresh-{number}", updated_at=2e9 + number))
            studio.runs.rows = [row for row in studio.runs.rows if row.run_id != f"run-{number + 10:06d}"]
            studio.changes.nudge("store")
            await wait_until(lambda number=number: any(r.run_id == f"fresh-{number}" for r in screen.list.rows))
            assert screen.list.cursor_id == "run-000003"


async def test_new_runs_wait_behind_a_count_when_the_top_is_out_of_sight(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(300)
    async with console() as (app, pilot):
        screen = shown(app)
        await pilot.press("pagedown", "pagedown")
        seen = screen.list.cursor_id
        studio.runs.rows.insert(0, a_run(0, run_id="fresh", updated_at=2e9))
        studio.changes.nudge("store")
        await wait_until(lambda: any("1 new, r shows them" in line for line in screen_text(app)))
        assert screen.list.cursor_id == seen
        await pilot.press("r")
        await wait_until(lambda: any(run.run_id == "fresh" for run in screen.list.rows))


async def test_a_row_on_screen_changes_in_its_place(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(300)
    async with console() as (app, pilot):
        screen = shown(app)
        await pilot.press("pagedown", "pagedown")
        target = screen.list.cursor_id
        place = next(index for index, run in enumerate(studio.runs.rows) if run.run_id == target)
        studio.runs.rows[place] = a_run(place, run_id=target, name="job renamed", state=StateWord.FAIL, status="failed")
        studio.changes.nudge("store")
        await wait_until(lambda: any("job renamed" in line for line in screen_text(app)))
        assert screen.list.cursor_id == target


async def test_a_filter_narrows_and_a_mistake_is_said(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = [*runs(20), a_run(30, run_id="odd", name="needle [/x]", status="failed", state=StateWord.FAIL)]
    async with console() as (app, pilot):
        screen = shown(app)
        await pilot.press("slash")
        screen.query_one(Input).value = "needle"
        await wait_until(lambda: [run.run_id for run in screen.list.rows] == ["odd"])
        screen.query_one(Input).value = "staus:failed"
        await wait_until(lambda: any("did you mean status:" in line for line in screen_text(app)))
        assert [run.run_id for run in screen.list.rows] == ["odd"]
        await pilot.press("escape")
        await wait_until(lambda: len(screen.list.rows) == 21)
        assert screen.query_one(FilterLine).text == ""
        await pilot.press("z")
        await wait_until(lambda: [run.run_id for run in screen.list.rows] == ["odd"])


async def test_any_text_can_be_typed_into_the_filter(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(3)
    async with console() as (app, pilot):
        screen = shown(app)
        await pilot.press("slash")
        for text in ["[", "[/", "[/red]", "\\[", "]", "(", "*", "\\", "x" * 5_000]:
            screen.query_one(Input).value = text
            await wait_until(lambda text=text: screen.query_one(FilterLine).text == text.strip())
            await pilot.pause()
        await pilot.press("escape")
        await wait_until(lambda: len(screen.list.rows) == 3)


async def test_an_empty_store_and_a_filter_without_a_match_say_different_things(studio: FakeStudio, console: Console) -> None:
    async with console() as (app, pilot):
        await wait_until(lambda: any("no runs yet" in line for line in screen_text(app)))
        studio.runs.rows = runs(2)
        await pilot.press("r")
        await wait_until(lambda: len(shown(app).list.rows) == 2)
        await pilot.press("slash")
        shown(app).query_one(Input).value = "nothing like this"
        await wait_until(lambda: any("no run matches" in line for line in screen_text(app)))


async def test_a_missing_store_offers_to_make_one(studio: FakeStudio, console: Console) -> None:
    studio.store.now = studio.store.now.model_copy(update={"mode": "missing"})
    async with console() as (app, pilot):
        await wait_until(lambda: any("no store in this home" in line for line in screen_text(app)))
        assert ("create", None) not in studio.store.calls
        await pilot.press("n")
        await wait_until(lambda: ("create", None) in studio.store.calls)


async def test_rows_stay_on_screen_when_the_store_stops_answering(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(5)
    async with console() as (app, _pilot):
        studio.runs.error = StateUnavailable("the store is busy", retryable=True)
        studio.changes.nudge("store")
        await wait_until(lambda: any("the store is busy" in line for line in screen_text(app)))
        assert any("job 0" in line for line in screen_text(app))
        studio.runs.error = None
        await wait_until(lambda: not any("the store is busy" in line for line in screen_text(app)))


async def test_enter_opens_the_run_under_the_cursor(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(5)
    async with console() as (app, pilot):
        await pilot.press("j", "enter")
        await wait_until(lambda: isinstance(app.screen, RunDetailScreen))
        await wait_until(lambda: any("job 1" in line for line in screen_text(app)))
        await pilot.press("escape")
        await wait_until(lambda: isinstance(app.screen, RunsScreen))
        assert shown(app).list.cursor_id == "run-000001"


async def test_hidden_the_list_asks_nothing(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = runs(5)
    async with console() as (app, pilot):
        await pilot.press("4")
        await wait_until(lambda: not isinstance(app.screen, RunsScreen))
        await pilot.pause()
        before = len(studio.runs.calls)
        studio.changes.nudge("store")
        await wait_until(lambda: len(studio.overview.calls) >= 2)
        await pilot.pause()
        assert len(studio.runs.calls) == before


async def test_any_text_of_data_is_shown_and_does_nothing(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = [
        a_run(
            number, name=text or "-", project=text, agent_name=text, reason=text, status_reason_summary=text, current_phase=text
        )
        for number, text in enumerate(nasty_strings())
    ]
    async with console() as (app, pilot):
        for _ in range(len(studio.runs.rows)):
            await pilot.press("j")
        await pilot.pause()
        assert harmless(app)
