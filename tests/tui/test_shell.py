"""The shell: first frame, opening and its failures, places, header, quitting, dialogs, reads that do not pile up."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from textual import events

from studio_tui.application.errors import Conflict, FieldFailure, NotFound, PermissionDenied, StateUnavailable, ValidationFailure
from studio_tui.application.models.host import AttentionCount, HostStatus, Overview
from studio_tui.tui import failures
from studio_tui.tui.app import StudioApp
from studio_tui.tui.clipboard import OSC52_LIMIT, Clipboard
from studio_tui.tui.feeds import host_cell, quit_words
from studio_tui.tui.screens.base import OpeningScreen, StudioScreen
from studio_tui.tui.screens.dialogs import Choice, Confirm, Dialog, FormDialog, TextPrompt
from studio_tui.tui.screens.help import HelpDialog
from studio_tui.tui.widgets.choices import Answer
from studio_tui.tui.widgets.chrome import FooterBar, HeaderBar
from studio_tui.tui.widgets.form import FormField
from studio_tui.tui.widgets.virtual_list import VirtualList
from tests.fakes import console as sample
from tests.fakes.console import SampleScreen, sample_places
from tests.fakes.studio import FakeStudio
from tests.terminal.pseudo import Terminal
from tests.tui.conftest import Console, nasty_strings, screen_text, wait_until

ROOT = Path(__file__).parents[2]
PLACES = sample_places()


@pytest.fixture(autouse=True)
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "ROWS", [(str(number), "OK", f"row {number}") for number in range(8)])


def _shown_toasts(app: StudioApp) -> list[str]:
    return [str(note.message) for note in app._notifications]


# --- first frame and opening ------------------------------------------------------------------------------------------


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


async def test_an_unexpected_fault_of_opening_is_logged_with_an_id(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> Any:
        raise RuntimeError("[/nope] at /secret")

    app = StudioApp(broken, places=PLACES)
    async with app.run_test(size=(100, 20)) as pilot:
        await wait_until(lambda: "unexpected fault" in "\n".join(screen_text(app)))
        await pilot.pause()
        assert "/secret" not in "\n".join(screen_text(app))
    assert "[/nope] at /secret" in caplog.text


# --- header and footer ------------------------------------------------------------------------------------------------


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


# --- places and keys --------------------------------------------------------------------------------------------------


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
        assert _shown_toasts(app) == ["paste ignored: no text field has the focus"]


async def test_every_theme_can_be_drawn(console: Console) -> None:
    async with console((100, 20), places=PLACES) as (app, pilot):
        text = screen_text(app)
        for theme in ("light", "contrast", "ansi", "mono", "dark"):
            app.theme = theme
            await pilot.press("question_mark")
            await pilot.press("escape")
            assert screen_text(app) == text


# --- quitting ---------------------------------------------------------------------------------------------------------


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
        assert "again" in _shown_toasts(app)[-1]
        await pilot.press("ctrl+c")
        await wait_until(lambda: app._exit)


# --- dialogs ----------------------------------------------------------------------------------------------------------


async def _answer(app: StudioApp, dialog: Dialog[Any]) -> list[Any]:
    given: list[Any] = []
    await app.push_screen(dialog, given.append)
    return given


async def test_keys_typed_in_advance_do_not_answer(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dialog, "deaf_for", 3600.0)
    async with console(places=PLACES) as (app, pilot):
        given = await _answer(app, Confirm("delete row 3?", ["it is gone then"], verb="delete"))
        await pilot.press("tab", "enter", "y", "enter")
        assert given == []
        assert isinstance(app.screen, Confirm)
        app.screen._hears_from = 0.0
        await pilot.press("enter")
        assert given == [None]
        given = await _answer(app, Confirm("delete row 3?", [], verb="delete"))
        await pilot.press("tab", "enter", "escape")
        assert given == [None]


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], None),
        (["escape"], None),
        (["tab", "enter"], True),
        (["right", "enter"], True),
        (["tab", "tab", "enter"], None),
    ],
)
async def test_confirm_does_what_is_highlighted(console: Console, keys: list[str], answer: bool | None) -> None:
    async with console(places=PLACES) as (app, pilot):
        given = await _answer(app, Confirm("stop it?", ["row 3"], verb="stop"))
        await pilot.press(*keys)
        assert given == [answer]
        assert app.screen.focused is app.screen.query_one(VirtualList)


async def test_a_click_beside_a_dialog_means_no(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        given = await _answer(app, Confirm("stop it?", [], verb="stop"))
        await pilot.click(offset=(1, 1))
        assert given == [None]


async def test_choice_names_the_answer(console: Console) -> None:
    answers = [Answer("look", "only look", "nothing fires"), Answer("host", "host here", "schedules fire from this console")]
    async with console((80, 24), places=PLACES) as (app, pilot):
        given = await _answer(app, Choice("who fires?", ["this home has a scheduler"], answers))
        assert "schedules fire from this console" in "\n".join(screen_text(app))
        await pilot.press("down", "enter")
        assert given == ["host"]


async def test_one_escape_closes_one_layer(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("n")
        await pilot.press("question_mark")
        assert isinstance(app.screen, Confirm)
        await pilot.press("escape")
        assert isinstance(app.screen, SampleScreen)


async def test_prompt_checks_before_it_answers(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        given = await _answer(app, TextPrompt("name?", check=lambda text: None if text == "ok" else "only ok will do"))
        await pilot.press(*"no", "enter")
        assert given == []
        assert "only ok will do" in "\n".join(screen_text(app))
        await pilot.press("backspace", "backspace", *"ok", "enter")
        assert given == ["ok"]


class SampleForm(FormDialog[str]):
    """Refuses a name that is taken."""

    async def submit(self, values: Any) -> str:
        if values["name"] == "taken":
            raise ValidationFailure(
                FieldFailure(("name",), "taken", "this name is taken"), FieldFailure(("other",), "odd", "and it is monday")
            )
        if values["name"] == "broken":
            raise RuntimeError("secret")
        return f"{values['name']}/{values['kind']}"

    def preview(self, values: Any) -> list[str]:
        return [f"will be called {values['name']}"]


def _form() -> SampleForm:
    return SampleForm("new", [FormField("name", "name"), FormField("kind", "kind", "gone", choices=("agent", "flow"))])


async def test_a_form_marks_its_faults_and_keeps_what_was_typed(console: Console) -> None:
    async with console((80, 24), places=PLACES) as (app, pilot):
        given = await _answer(app, _form())
        await pilot.press(*"taken", "enter", "enter")
        assert given == [], "enter never submits"
        assert "gone  (missing)" in "\n".join(screen_text(app))
        await pilot.press("ctrl+s")
        await wait_until(lambda: "this name is taken" in "\n".join(screen_text(app)))
        assert "and it is monday" in "\n".join(screen_text(app))
        assert "will be called taken" in "\n".join(screen_text(app))
        await pilot.press(*["backspace"] * 5, *"free", "tab", "right", "ctrl+s")
        await wait_until(lambda: bool(given))
        assert given == ["free/agent"]


async def test_a_fault_in_a_form_keeps_it_open(console: Console) -> None:
    async with console((80, 24), places=PLACES) as (app, pilot):
        given = await _answer(app, _form())
        await pilot.press(*"broken", "ctrl+s")
        await wait_until(lambda: "unexpected fault" in "\n".join(screen_text(app)))
        assert given == []
        assert "secret" not in "\n".join(screen_text(app))


@pytest.mark.parametrize("size", [(40, 10), (20, 5), (80, 24), (200, 60)])
async def test_dialogs_and_screens_fit_any_window(console: Console, size: tuple[int, int]) -> None:
    async with console(size, places=PLACES) as (app, pilot):
        await _answer(app, Confirm("a question that is too long for a narrow window, and goes on", ["line"] * 3, verb="do it"))
        await pilot.resize_terminal(1, 1)
        await pilot.resize_terminal(80, 24)
        text = "\n".join(screen_text(app))
        assert "do it" in text
        assert "cancel" in text
        await pilot.press("escape")
        assert "row 0" in "\n".join(screen_text(app))


# --- reading ----------------------------------------------------------------------------------------------------------


class ReadingScreen(StudioScreen):
    """Reads the names of runs."""

    def body(self) -> Any:
        yield VirtualList([sample.Column("name", lambda row: (row, "ink"), 20)], str, id="names")

    def refresh_data(self) -> None:
        self.ask("names", self._read, lambda names: self.query_one(VirtualList).set_rows(names))

    async def _read(self) -> list[str]:
        page = await self.studio.runs.approximate_count()
        return [f"name {page}"]


READING = (sample.Place("runs", "Runs", "1", ReadingScreen), sample.Place("shows", "Shows", "2", SampleScreen))


async def test_reads_do_not_pile_up_and_only_the_newest_counts(console: Console, studio: FakeStudio) -> None:
    async with console(places=READING) as (app, pilot):
        await wait_until(lambda: len(studio.runs.calls) == 1)
        studio.runs.gate = asyncio.Event()
        for _ in range(50):
            studio.changes.nudge("store")
        await pilot.pause()
        assert len(studio.runs.calls) == 2
        studio.runs.rows = [None]  # type: ignore[list-item]
        studio.runs.gate.set()
        await wait_until(lambda: len(studio.runs.calls) == 3)
        await wait_until(lambda: list(app.screen.query_one(VirtualList).rows) == ["name 1"])
        assert len(studio.runs.calls) == 3


async def test_hidden_screens_ask_nothing(console: Console, studio: FakeStudio) -> None:
    async with console(places=READING) as (app, pilot):
        await pilot.press("2")
        await wait_until(lambda: isinstance(app.screen, SampleScreen))
        asked = len(studio.runs.calls)
        studio.changes.nudge("store")
        await pilot.pause()
        assert len(studio.runs.calls) == asked
        await pilot.press("1")
        await wait_until(lambda: len(studio.runs.calls) == asked + 1)


async def test_a_failed_read_keeps_the_rows_and_says_so(console: Console, studio: FakeStudio) -> None:
    async with console(places=READING) as (app, pilot):
        await wait_until(lambda: len(app.screen.query_one(VirtualList).rows) == 1)
        studio.runs.error = StateUnavailable("it is locked", retryable=True)
        await pilot.press("r")
        await wait_until(lambda: "the store does not answer: it is locked" in "\n".join(screen_text(app)))
        assert "name 0" in "\n".join(screen_text(app))
        studio.clock.advance(190)
        app._feeds.tick()
        await pilot.pause()
        assert "data 3m old" in screen_text(app)[0]
        studio.runs.error = None
        await pilot.press("r")
        await wait_until(lambda: "does not answer" not in "\n".join(screen_text(app)))
        app._feeds.tick()
        await pilot.pause()
        assert "data" not in screen_text(app)[0]


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


async def test_the_third_fault_within_a_minute_says_how_to_leave(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        for _ in range(4):
            app.fault(RuntimeError("x"))
        await pilot.pause()
        assert sum("q leaves in order" in text for text in _shown_toasts(app)) == 1


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


async def test_a_fault_in_a_read_does_not_end_the_console(console: Console, studio: FakeStudio) -> None:
    studio.runs.error = RuntimeError("[/x] no such column: secret")
    async with console(places=READING) as (app, pilot):
        await wait_until(lambda: any("unexpected fault" in text for text in _shown_toasts(app)))
        assert "secret" not in "".join(_shown_toasts(app))
        studio.runs.error = None
        await pilot.press("r")
        await wait_until(lambda: len(app.screen.query_one(VirtualList).rows) == 1)


async def test_the_change_feed_comes_back_after_a_fault(
    console: Console, studio: FakeStudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio_tui.tui.feeds._RESTARTS", (0.0,))
    subscribe, broken = studio.changes.subscribe, [True]

    def once_broken() -> Any:
        if broken.pop() if broken else False:
            raise OSError("watch limit")
        return subscribe()

    monkeypatch.setattr(studio.changes, "subscribe", once_broken)
    async with console(places=READING) as (_app, pilot):
        await wait_until(lambda: bool(studio.changes._queues))
        asked = len(studio.runs.calls)
        studio.changes.nudge("store")
        await pilot.pause()
        await wait_until(lambda: len(studio.runs.calls) > asked)


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (NotFound("run", "[/x]"), "no run [/x]: it was deleted, or retention took it"),
        (Conflict("schedule", expected="1", actual="2"), "changed meanwhile, nothing was done"),
        (PermissionDenied("the store is read-only"), "not allowed, nothing was done: the store is read-only"),
        (StateUnavailable("busy", retryable=True), "the store does not answer: busy"),
        (ValidationFailure.of("name", "x", "too long"), "not accepted, nothing was stored: name: too long"),
    ],
)
async def test_errors_of_an_action_are_sentences(console: Console, error: Exception, what: str) -> None:
    async def refused() -> None:
        raise error

    async with console(places=PLACES) as (app, _pilot):
        app.act(refused, lambda _result: None)
        await wait_until(lambda: bool(_shown_toasts(app)))
        assert _shown_toasts(app)[0].startswith(what)


def test_a_fault_is_never_shown_with_its_text(caplog: pytest.LogCaptureFixture) -> None:
    said = failures.explain(RuntimeError("password=hunter2"))
    assert "hunter2" not in said.sentence
    assert "hunter2" in caplog.text


# --- copying ----------------------------------------------------------------------------------------------------------


async def test_copying_names_the_route_and_never_says_copied(tmp_path: Path) -> None:
    sent: list[str] = []
    small = await Clipboard().copy("run-1", sent.append)
    assert sent == ["run-1"]
    assert "cannot be verified" in small
    assert "copied" not in small
    big = "x" * (OSC52_LIMIT + 1)
    assert "nothing was copied" in await Clipboard().copy(big, sent.append)
    saved: list[str] = []

    def save(text: str) -> str:
        saved.append(text)
        return "/tmp/copies/1.txt"

    assert "written to /tmp/copies/1.txt" in await Clipboard(save=save).copy(big, sent.append)
    assert saved == [big]
    assert sent == ["run-1"]

    def full(_text: str) -> str:
        raise OSError(28, "No space left on device")

    assert "No space left" in await Clipboard(save=full).copy(big, sent.append)
    assert await Clipboard().copy("", sent.append) == "nothing to copy here"


async def test_a_tmux_that_does_not_answer_falls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = tmp_path / "tmux"
    stuck.write_text("#!/bin/sh\nexec sleep 60\n")
    stuck.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("studio_tui.tui.clipboard._TIME_LIMIT", 0.2)
    sent: list[str] = []
    assert "OSC 52" in await Clipboard(tmux=True).copy("run-1", sent.append)
    stuck.write_text(f"#!/bin/sh\ncat > {tmp_path}/buffer\n")
    assert "tmux's buffer" in await Clipboard(tmux=True).copy("run-2", sent.append)
    assert (tmp_path / "buffer").read_text() == "run-2"
    assert sent == ["run-1"]


# --- in a real terminal -----------------------------------------------------------------------------------------------


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLORTERM": "truecolor", "LANG": "C.UTF-8"}


def _start(*arguments: str, **options: Any) -> Terminal:
    return Terminal(
        [sys.executable, "-m", "tests.fakes.console", *arguments], environment=_environment(), cwd=str(ROOT), **options
    )


@pytest.mark.terminal
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_leave_in_order(number: signal.Signals, status: int) -> None:
    with _start() as terminal:
        terminal.wait_for("row 0")
        terminal.signal(number)
        assert terminal.wait_exit(seconds=5) == status
        assert b"\x1b[?1049l" in terminal.raw
        assert b"\x1b[?25h" in terminal.raw
        assert b"\x1b[?1000l" in terminal.raw
        assert terminal.raw.rindex(b"closed in order") > terminal.raw.rindex(b"\x1b[?1049l")


@pytest.mark.terminal
def test_a_lost_terminal_leaves_no_process() -> None:
    with _start() as terminal:
        terminal.wait_for("row 0")
        terminal.hang_up()
        end = time.monotonic() + 10
        while terminal.alive() and time.monotonic() < end:
            time.sleep(0.02)
        assert not terminal.alive()


@pytest.mark.terminal
def test_what_data_holds_never_reaches_the_terminal() -> None:
    """Every hostile text in cells, toasts, titles of dialogs: no sequence of theirs is in the bytes."""
    with _start("--hostile", columns=100, rows=30) as terminal:
        terminal.until(lambda: b"[/nope]" in terminal.raw)
        for text in nasty_strings():
            if not text.isprintable():
                before = len(terminal.raw)
                terminal.send("enter", "n")
                terminal.until(lambda start=before: b"cancel" in terminal.raw[start:])
                terminal.settle(0.05)
                before = len(terminal.raw)
                terminal.send("escape")
                terminal.until(lambda start=before: b" open" in terminal.raw[start:])
            terminal.send("j")
            terminal.pump(0.02)
        terminal.settle(0.3)
        assert terminal.alive()
        raw = re.sub(rb"\x1b\]22;[a-z-]*\x07", b"", bytes(terminal.raw))  # Textual's own: the shape of the pointer
        for evil in (
            b"HACKED",
            b"\x1b]0;",
            b"\x1b]52;",
            b"\x1b[31mred",
            b"\x07",
            b"\x08",
            b"\x0b",
            b"\x0c",
            b"\xc2\x9b",
            b"\x7f",
        ):
            if evil == b"HACKED":
                assert raw.count(b"]0;HACKED") == raw.count("␛]0;HACKED".encode()) > 0
            else:
                assert evil not in raw, evil
        for character in "\u202e\u2066\u200b\u2028\u0085\ufeff":
            assert character.encode() not in raw


@pytest.mark.terminal
def test_a_key_costs_few_bytes_and_silence_none() -> None:
    with _start("--rows", "100000", columns=120, rows=40) as terminal:
        terminal.wait_for("row 0")
        terminal.settle()
        sizes = []
        for _ in range(10):
            before = len(terminal.raw)
            terminal.send("j")
            terminal.settle(0.05)
            sizes.append(len(terminal.raw) - before)
        assert sorted(sizes)[5] < 600, sizes
        before = len(terminal.raw)
        terminal.pump(1.5)
        assert len(terminal.raw) == before


@pytest.mark.terminal
def test_no_terminal_is_refused_in_one_line() -> None:
    code = "import sys; from studio_tui.tui.terminal import refusal; sys.exit(refusal('xterm'))"
    for stdin in (subprocess.DEVNULL, subprocess.PIPE):
        ended = subprocess.run([sys.executable, "-c", code], stdin=stdin, capture_output=True, text=True, cwd=ROOT)
        assert "is no terminal" in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert "\x1b" not in ended.stderr


@pytest.mark.terminal
def test_a_dumb_terminal_is_refused() -> None:
    code = "import os, sys; from studio_tui.tui.terminal import refusal; print(refusal(os.environ['TERM']))"
    with Terminal([sys.executable, "-c", code], environment=_environment(), term="dumb", cwd=str(ROOT)) as terminal:
        terminal.wait_for("of type dumb cannot be drawn on")
    with Terminal([sys.executable, "-c", code], environment=_environment(), term="xterm", cwd=str(ROOT)) as terminal:
        terminal.wait_for("None")
