"""Keys that arrive together, as over a slow line, do what they would do one by one."""

from __future__ import annotations

import asyncio

from textual import events

from studio_tui.tui.app import StudioApp
from studio_tui.tui.screens.dialogs import TextPrompt
from studio_tui.tui.widgets.filter_line import FilterLine
from tests.fakes.studio import FakeStudio
from tests.tui.conftest import Console, wait_until
from tests.tui.samples import a_schedule, runs

_NAMES = {"/": "slash", " ": "space", "\r": "enter", "\x1b": "escape"}


def deliver(app: StudioApp, text: str) -> None:
    """All keys in one piece."""
    for letter in text:
        app.post_message(events.Key(_NAMES.get(letter, letter), letter))


def filter_text(app: StudioApp) -> str:
    return app.screen.query_one(FilterLine).text


async def test_letters_after_the_slash_are_the_filter_and_no_acts(console: Console, studio: FakeStudio) -> None:
    """``p`` would turn the schedule off, ``t`` ask to fire it, ``q`` to quit."""
    studio.schedules.rows = [a_schedule("ptq-one"), a_schedule("other")]
    async with console() as (app, pilot):
        await pilot.press("3")
        deliver(app, "/ptq\r")
        await wait_until(lambda: filter_text(app) == "ptq")
        await pilot.pause()
        assert app.depth == 1
        assert not any(name == "set_enabled" for name, _ in studio.schedules.calls)


async def test_a_whole_way_through_the_screens_at_once(console: Console, studio: FakeStudio) -> None:
    """Find a run, open it, go back and clear the filter: all delivered before the first key has done anything."""
    studio.runs.rows = runs(30)
    async with console() as (app, _pilot):
        deliver(app, "/job 7\r\r")
        await wait_until(lambda: app.depth == 2)
        deliver(app, "qjj")
        await wait_until(lambda: app.depth == 1)
        assert filter_text(app) == "job 7"


async def test_pasted_text_follows_the_key_before_it(console: Console, studio: FakeStudio) -> None:
    studio.runs.rows = runs(30)
    async with console() as (app, _pilot):
        deliver(app, "/")
        app.post_message(events.Paste("job 9"))
        deliver(app, "\r")
        await wait_until(lambda: filter_text(app) == "job 9")


async def test_a_key_whose_widget_is_gone_holds_the_next_one_up_for_a_moment_only(console: Console) -> None:
    async with console() as (app, pilot):
        answers: list[str | None] = []
        app.push_screen(TextPrompt("name"), answers.append)
        await pilot.pause()
        deliver(app, "ab\r3")
        await wait_until(lambda: answers == ["ab"])
        await wait_until(lambda: app.place == "schedules")


async def test_a_place_asked_for_while_it_opens_is_entered_then(studio: FakeStudio) -> None:
    go_on = asyncio.Event()
    app = StudioApp(studio.open, finish_opening=go_on.wait)  # type: ignore[arg-type]
    async with app.run_test() as pilot:
        await wait_until(lambda: app.top_screen is not None)
        await pilot.press("3")
        assert app.place == "runs"
        go_on.set()
        await wait_until(lambda: app.place == "schedules")
