"""The shell: first frame, opening and its failures, header and footer, places, quitting."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from textual import events

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.models.host import AttentionCount, HostStatus, Overview, StoreStatus
from studio_tui.tui.app import StudioApp
from studio_tui.tui.feeds import host_cell, quit_words
from studio_tui.tui.screens.base import OpeningScreen
from studio_tui.tui.screens.help import HelpDialog
from studio_tui.tui.widgets.chrome import FooterBar, HeaderBar
from studio_tui.tui.widgets.virtual_list import VirtualList
from tests.fakes import console as sample
from tests.fakes.console import SampleScreen, sample_places
from tests.fakes.studio import FakeStudio
from tests.tui.conftest import Console, screen_text, shown_toasts, wait_until

ROOT = Path(__file__).parents[2]
PLACES = sample_places()


@pytest.fixture(autouse=True)
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "ROWS", [(str(number), "OK", f"row {number}") for number in range(8)])


def test_the_first_frame_imports_no_model_and_no_store() -> None:
    code = """if True:
        import sys, studio_tui.tui.app, studio_tui.tui.terminal
        heavy = {"pydantic", "sqlalchemy", "aiosqlite", "watchfiles", "croniter", "psutil"}
        ours = ("studio_tui.application.models", "studio_tui.state", "studio_tui.domain")
        print(sorted(heavy & {name.split(".")[0] for name in sys.modules}), [n for n in sys.modules if n.startswith(ours)])
        print([name for name in sys.modules if name.startswith("studio_tui.tui.screens.")])
    """
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert shown.strip() == "[] []\n['studio_tui.tui.screens.base']"


async def test_the_frame_stands_while_the_studio_opens(studio: FakeStudio) -> None:
    gate = asyncio.Event()

    async def slow() -> Any:
        await gate.wait()
        return await studio.open()

    app = StudioApp(slow, home_label="prod", places=PLACES)
    async with app.run_test(size=(120, 20)) as pilot:
        assert isinstance(app.screen, OpeningScreen)
        lines = screen_text(app)
        assert lines[0].startswith(" ◆ prod   1 Runs  2 Shows  3 Schedules")
        await wait_until(lambda: "reading …" in "\n".join(screen_text(app)))
        await pilot.press("2")
        gate.set()
        await wait_until(lambda: isinstance(app.screen, SampleScreen))
        await pilot.pause()
        assert "row 0" in "\n".join(screen_text(app))


async def test_a_failed_opening_says_what_and_can_be_tried_again(studio: FakeStudio) -> None:
    studio.open_error = StateUnavailable("the file is not a database", retryable=False)
    app = StudioApp(studio.open, places=PLACES)
    async with app.run_test(size=(100, 20)) as pilot:
        await wait_until(lambda: studio.opened == 1)
        await pilot.pause()
        text = "\n".join(screen_text(app))
        assert "cannot open: the store does not answer" in text
        assert "the file is not a database" in text
        assert "nothing was written" in text
        assert "r try again" in screen_text(app)[-1]
        studio.open_error = None
        await pilot.press("r")
        await wait_until(lambda: isinstance(app.screen, SampleScreen))


async def test_an_opening_that_fails_behind_the_first_rows_says_so_and_can_be_tried_again(studio: FakeStudio) -> None:
    """Rows that stand there already must not look as if the console worked."""
    failures: list[Exception] = [
        StateUnavailable("the lock file cannot be made", retryable=True),
        RuntimeError("[/nope] at /secret"),
    ]

    async def finish() -> None:
        if failures:
            raise failures.pop(0)

    app = StudioApp(studio.open, finish_opening=finish)
    async with app.run_test(size=(100, 20)) as pilot:
        await wait_until(lambda: "the lock file cannot be made" in "\n".join(screen_text(app)))
        assert "r try again" in screen_text(app)[-1]
        await pilot.press("3", "r")
        await wait_until(lambda: "unexpected fault" in "\n".join(screen_text(app)))
        await pilot.press("r")
        await wait_until(lambda: app.is_open)
        await wait_until(lambda: not isinstance(app.screen, OpeningScreen))
        assert studio.opened == 3
        assert len(app.screen_stack) == 1


async def test_an_unexpected_fault_of_opening_is_logged_with_an_id(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> Any:
        raise RuntimeError("[/nope] at /secret")

    app = StudioApp(broken, places=PLACES)
    async with app.run_test(size=(100, 20)) as pilot:
        await wait_until(lambda: "unexpected fault" in "\n".join(screen_text(app)))
        await pilot.pause()
        assert "/secret" not in "\n".join(screen_text(app))
    assert "[/nope] at /secret" in caplog.text


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (120, "◆ prod 1 Runs 2 Shows 3 Schedules ● host 4 need you ● 3 run 03:12"),
        (80, "◆ prod 1 Runs 2 3 ● host 4 need you ● 3 03:12"),
        (40, "◆ prod 1 Runs ● host !4 ● 3 03:12"),
    ],
)
async def test_the_header_gives_way_to_its_facts(console: Console, width: int, words: str) -> None:
    async with console((width, 24), places=PLACES) as (app, pilot):
        await wait_until(lambda: app.facts.attention == 4)
        await pilot.pause()
        first = screen_text(app)[0]
        assert len(first) <= width
        assert " ".join(first.split()) == words


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (HostStatus(state="hosting", pass_age=2), "● host"),
        (HostStatus(state="hosting", pass_age=125), "● host 2m"),
        (HostStatus(state="standby", holder="4711@web1"), "○ standby on 4711@web1"),
        (HostStatus(state="undecided"), "○ host asks"),
        (HostStatus(state="off"), "○ host off"),
        (HostStatus(state="held"), "○ host held"),
        (HostStatus(state="stalled", pass_age=97), "HOST STALLED 95s"),
    ],
)
def test_the_host_in_one_cell(status: HostStatus, words: str) -> None:
    assert host_cell(status)[0] == words


async def test_nothing_is_drawn_while_only_seconds_pass(
    console: Console, studio: FakeStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console(places=PLACES) as (app, pilot):
        await wait_until(lambda: app.facts.attention == 4)
        await pilot.pause()
        drawn: list[object] = []
        monkeypatch.setattr(app, "post_display_hook", lambda: drawn.append(1))
        for second in range(40):
            studio.clock.advance(1)
            studio.host.now = HostStatus(state="hosting", pass_age=float(second % 30))
            app._feeds.tick()
        await pilot.pause()
        assert not drawn
        studio.clock.advance(20)
        app._feeds.tick()
        await pilot.pause()
        assert "03:13" in screen_text(app)[0]


async def test_the_figures_follow_the_change_feed(console: Console, studio: FakeStudio) -> None:
    async with console(places=PLACES) as (app, pilot):
        await wait_until(lambda: app.facts.running == 3)
        studio.overview.now = Overview(running=1, attention=(AttentionCount(kind="gate", count=2),))
        studio.changes.nudge("store")
        await wait_until(lambda: app.facts.running == 1)
        await pilot.pause()
        assert "2 need you   ● 1 run" in screen_text(app)[0]


async def test_the_footer_keeps_help_when_there_is_no_room(console: Console) -> None:
    async with console((24, 10), places=PLACES) as (app, _pilot):
        assert screen_text(app)[-1].strip() == "enter open   ? help"
    async with console((80, 10), places=PLACES) as (app, _pilot):
        assert screen_text(app)[-1].strip() == "enter tell   y copy   n new   ? help".replace("enter tell", "enter open")


async def test_clicks_on_header_and_footer_do_what_they_say(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        at = screen_text(app)[0].index("2 Shows")
        await pilot.click(HeaderBar, offset=(at, 0))
        await wait_until(lambda: app.place == "shows")
        await pilot.pause()
        at = screen_text(app)[-1].index("? help")
        await pilot.click(FooterBar, offset=(at, 0))
        await wait_until(lambda: isinstance(app.screen, HelpDialog))


async def test_the_header_is_true_after_it_was_hidden(console: Console, studio: FakeStudio) -> None:
    async with console(places=PLACES) as (app, pilot):
        await wait_until(lambda: app.facts.running == 3)
        await pilot.press("2")
        await wait_until(lambda: app.place == "shows")
        studio.overview.now = Overview(running=9, attention=())
        studio.changes.nudge("store")
        await wait_until(lambda: app.facts.running == 9)
        await pilot.press("1")
        await wait_until(lambda: app.place == "runs" and "9 run" in screen_text(app)[0])
        await pilot.press("n")
        studio.overview.now = Overview(running=7, attention=())
        studio.changes.nudge("store")
        await wait_until(lambda: "7 run" in screen_text(app)[0])


async def test_a_change_during_a_count_is_counted_too(console: Console, studio: FakeStudio) -> None:
    async with console(places=PLACES) as (app, _):
        await wait_until(lambda: app.facts.running == 3)
        asked = studio.overview.overview
        go = asyncio.Event()

        async def slow() -> Overview:
            found = await asked()
            await go.wait()
            return found

        studio.overview.overview = slow  # type: ignore[method-assign]
        studio.changes.nudge("store")
        await wait_until(lambda: app._feeds._counting)
        studio.overview.now = Overview(running=9, attention=())
        studio.changes.nudge("store")
        await wait_until(lambda: app._feeds._count_again)
        go.set()
        await wait_until(lambda: app.facts.running == 9)


async def test_places_keep_their_selection(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("j", "j", "2")
        await wait_until(lambda: app.place == "shows" and isinstance(app.screen, SampleScreen))
        await pilot.press("1")
        await wait_until(lambda: app.place == "runs")
        await pilot.pause()
        assert app.screen.query_one(VirtualList).cursor_id == "2"
        assert "1 Runs" in screen_text(app)[0]


async def test_help_shows_the_live_keys(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        app.set_keymap({"copy": "Y"})
        await pilot.press("question_mark")
        await wait_until(lambda: isinstance(app.screen, HelpDialog))
        await pilot.pause()
        text = "\n".join(screen_text(app))
        assert "keys of Runs" in text
        assert "ctrl+p :" in text
        assert "Y        copy what the cursor is on" in text.replace("  Y  ", "  Y  ")
        assert "fire the schedule once" not in text
        await pilot.press("question_mark")
        assert "fire the schedule once" in "\n".join(screen_text(app))
        await pilot.press("escape")
        assert isinstance(app.screen, SampleScreen)


async def test_the_palette_finds_and_does(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("ctrl+p", *"light")
        await pilot.pause()
        assert "colours: light" in "\n".join(screen_text(app))
        await pilot.press("enter")
        await wait_until(lambda: app.theme == "light")
        await pilot.press("ctrl+p", *"schedul", "enter")
        await wait_until(lambda: app.place == "schedules")


async def test_hold_is_typed_with_its_length_and_released_by_name(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("colon", *"hold 30m")
        await pilot.pause()
        assert "hold: fire nothing for 30m" in "\n".join(screen_text(app))
        await pilot.press("enter")
        await wait_until(lambda: ("hold_for", "30m") in app.studio.host.calls)
        await wait_until(lambda: any("due until then: nightly at" in text for text in shown_toasts(app)))
        await wait_until(lambda: "host held to" in "\n".join(screen_text(app)))
        await pilot.press("colon", *"release", "enter")
        await wait_until(lambda: ("release", None) in app.studio.host.calls)


@pytest.mark.parametrize("mode", ["missing", "read_only"])
async def test_a_store_that_cannot_fire_asks_nothing_about_its_schedules(console: Console, studio: FakeStudio, mode: str) -> None:
    studio.store.now = studio.store.now.model_copy(update={"mode": mode})
    studio.host.now = HostStatus(state="undecided")
    async with console(places=PLACES) as (app, _pilot):
        await wait_until(lambda: app.question is not None)
        app.question.look()
        assert isinstance(app.screen, SampleScreen)
        studio.store.now = studio.store.now.model_copy(update={"mode": "ready"})
        await wait_until(lambda: "may this console fire" in "\n".join(screen_text(app)))
        assert "…" not in "\n".join(line for line in screen_text(app) if "▊" in line)


async def test_hold_asks_for_a_length_where_none_is_given(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("colon", *"hold", "enter")
        await wait_until(lambda: "hold all firing for" in "\n".join(screen_text(app)))
        await pilot.press("enter")
        await wait_until(lambda: ("hold_for", "1h") in app.studio.host.calls)


async def test_the_palette_takes_any_text(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("ctrl+p")
        app.screen.query_one("Field").value = "[/x] \x1b[31m"  # type: ignore[attr-defined]
        await pilot.pause()
        text = "\n".join(screen_text(app))
        assert "[/x] ␛[31m" in text
        assert "nothing is called that" in text
        await pilot.press("enter")
        assert isinstance(app.screen, SampleScreen)


async def test_pasted_text_at_a_list_is_not_keys(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        app.post_message(events.Paste("dqn\n\n2"))
        await pilot.pause()
        assert app.place == "runs"
        assert isinstance(app.screen, SampleScreen)
        assert shown_toasts(app) == ["paste ignored: no text field has the focus"]


async def test_every_theme_can_be_drawn(console: Console) -> None:
    async with console((100, 20), places=PLACES) as (app, pilot):
        text = screen_text(app)
        for theme in ("light", "contrast", "ansi", "mono", "dark"):
            app.theme = theme
            await pilot.press("question_mark")
            await pilot.press("escape")
            assert screen_text(app) == text


async def test_a_place_key_leads_from_its_detail_to_its_list(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await app.push_screen(SampleScreen())
        await pilot.press("1")
        await wait_until(lambda: app.depth == 1)
        await app.push_screen(SampleScreen())
        await pilot.press("2")
        await wait_until(lambda: app.place == "shows")
        await pilot.press("1")
        await wait_until(lambda: app.place == "runs")
        assert app.depth == 2


async def test_q_asks_and_says_what_stops(console: Console, studio: FakeStudio) -> None:
    studio.host.now = HostStatus(state="hosting", next_due_at=studio.clock.now() + 1980, running=2)
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("q")
        text = "\n".join(screen_text(app))
        assert "they stop until another host" in text
        assert "due in 33m" in text
        assert "2 launched jobs go on" in text
        await pilot.press("enter")
        assert isinstance(app.screen, SampleScreen)
        await pilot.press("q", "tab", "enter")
        await wait_until(lambda: app._exit)
    assert app.return_code == 0


def test_quit_words_of_a_console_that_does_not_fire() -> None:
    assert quit_words(HostStatus(state="standby"), 0.0) == ["this console does not fire schedules; nothing stops"]


async def test_ctrl_c_twice_quits_even_over_a_dialog(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("n")
        await pilot.press("ctrl+c")
        assert not app._exit
        assert "again" in shown_toasts(app)[-1]
        await pilot.press("ctrl+c")
        await wait_until(lambda: app._exit)


async def test_the_third_fault_within_a_minute_says_how_to_leave(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        for _ in range(4):
            app.fault(RuntimeError("x"))
        await pilot.pause()
        assert sum("q leaves in order" in text for text in shown_toasts(app)) == 1


async def test_a_crash_ends_in_one_line_without_values(studio: FakeStudio, caplog: pytest.LogCaptureFixture) -> None:
    app = StudioApp(studio.open, places=PLACES)

    async def crash() -> None:
        async with app.run_test() as pilot:
            await wait_until(lambda: isinstance(app.screen, SampleScreen))
            app.screen.call_later(lambda: 1 / 0)
            await pilot.pause()

    with pytest.raises(ZeroDivisionError):
        await crash()
    assert app.last_words is not None
    assert "unexpected fault" in app.last_words
    assert "ZeroDivisionError" in caplog.text
    assert not app._exit_renderables


async def test_why_nothing_can_be_changed_is_said_when_it_opens(console: Console, studio: FakeStudio) -> None:
    studio.store.now = StoreStatus(mode="read_only", label="state.db", home="/srv/agents", reason="This store has version 9.")
    async with console() as (app, _pilot):
        await wait_until(lambda: shown_toasts(app) == ["This store has version 9."])


async def test_the_words_of_a_notice_are_broken_to_the_window(console: Console, studio: FakeStudio) -> None:
    studio.runs.error = StateUnavailable("the file " + "/a/long/way" * 9 + "/state.db is no database", retryable=False)
    async with console((60, 24)) as (app, _pilot):
        await wait_until(lambda: any("is no database" in line for line in screen_text(app)))


async def test_a_change_that_waits_for_another_program_is_seen_in_the_header(studio: FakeStudio, console: Console) -> None:
    async with console() as (app, _pilot):
        for waiting in (True, False):
            studio.store.now = studio.store.now.model_copy(update={"waiting": waiting})
            await wait_until(lambda waiting=waiting: any("store busy" in line for line in screen_text(app)) == waiting)
