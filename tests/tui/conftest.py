"""A console on a studio in memory, driven by keys."""

from __future__ import annotations

import asyncio
import json
import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual import constants
from textual._context import visible_screen_stack
from textual.pilot import Pilot

from studio_tui.tui.app import StudioApp
from studio_tui.tui.screens.dialogs import Dialog
from tests.fakes.studio import FakeStudio

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u2028\u2029\u200b\ufeff")
_DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No animation, one zone, and dialogs that listen at once (where a test does not ask for the deaf time)."""
    monkeypatch.setattr(constants, "TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr(Dialog, "deaf_for", 0.0)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    time.tzset()


@pytest.fixture
def studio() -> FakeStudio:
    """The operations, in memory; fill them before the console is opened."""
    return FakeStudio()


Console = Callable[..., AbstractAsyncContextManager[tuple[StudioApp, Pilot[int]]]]


@pytest.fixture
def console(studio: FakeStudio) -> Console:
    """``async with console(size=(80, 24)) as (app, pilot)``: the console with its first screen entered."""

    @asynccontextmanager
    async def opened(
        size: tuple[int, int] = (120, 40), *, until_open: bool = True, **options: Any
    ) -> AsyncIterator[tuple[StudioApp, Pilot[int]]]:
        app = StudioApp(studio.open, **{"home_label": "prod", **options})
        async with app.run_test(size=size) as pilot:
            if until_open:
                await wait_until(lambda: app.top_screen is not None and app.screen.is_current)
                await pilot.pause()
            yield app, pilot

    return opened


async def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for a fact."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        await asyncio.sleep(0.01)


def screen_text(app: StudioApp) -> list[str]:
    """What is on the screen, line by line."""
    size = app.screen.size
    # As the app does: a dialog that is drawn without what lies below keeps its empty lines for later pictures.
    visible_screen_stack.set(app._background_screens)
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips(size)]


def harmless(app: StudioApp) -> bool:
    """Whether nothing on the screen would be acted upon by a terminal or a bidi algorithm."""
    return not any(
        unicodedata.category(character) in ("Cc", "Cs") or character in _BIDI for line in screen_text(app) for character in line
    )


def shown_toasts(app: StudioApp) -> list[str]:
    """The texts of the toasts that are up."""
    return [str(note.message) for note in app._notifications]


def nasty_strings() -> list[str]:
    """Texts that broke other programs, each as it would stand in a store."""
    data = json.loads((_DATA / "nasty-strings.json").read_text())
    texts: list[str] = []
    for group, members in data.items():
        if isinstance(members, list):
            texts += [_repeated(one) if group == "empty_and_long" else one for one in members]
    return texts


def _repeated(text: str) -> str:
    if not text.startswith("REPEAT:"):
        return text
    _, part, times = text.split(":")
    return part * int(times)
