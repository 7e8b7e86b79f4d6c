"""Reads of screens: they do not pile up, never come late, keep old rows, and end nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, StateUnavailable, ValidationFailure
from studio_tui.tui import failures
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.widgets.virtual_list import VirtualList
from tests.fakes import console as sample
from tests.fakes.console import SampleScreen, sample_places
from tests.fakes.studio import FakeStudio
from tests.tui.conftest import Console, screen_text, shown_toasts, wait_until

PLACES = sample_places()


@pytest.fixture(autouse=True)
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "ROWS", [(str(number), "OK", f"row {number}") for number in range(8)])


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


async def test_a_fault_in_a_read_does_not_end_the_console(console: Console, studio: FakeStudio) -> None:
    studio.runs.error = RuntimeError("[/x] no such column: secret")
    async with console(places=READING) as (app, pilot):
        await wait_until(lambda: any("unexpected fault" in text for text in shown_toasts(app)))
        assert "secret" not in "".join(shown_toasts(app))
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
        await wait_until(lambda: bool(shown_toasts(app)))
        assert shown_toasts(app)[0].startswith(what)


def test_a_fault_is_never_shown_with_its_text(caplog: pytest.LogCaptureFixture) -> None:
    said = failures.explain(RuntimeError("password=hunter2"))
    assert "hunter2" not in said.sentence
    assert "hunter2" in caplog.text
