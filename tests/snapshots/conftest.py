"""A screen under a Pilot, compared as SVG with the accepted one; ``--snapshot-update`` accepts new ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.tui.conftest import _still as _still
from tests.tui.conftest import console as console
from tests.tui.conftest import studio as studio

Compare = Callable[[Pilot[int]], Awaitable[bool]]


@pytest.fixture(autouse=True)
def _no_blink(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cursor that blinks would be on in one picture and off in the next."""
    monkeypatch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda _self: None)


@pytest.fixture
def same(snapshot: SnapshotAssertion) -> Compare:
    """``assert await same(pilot)``: the screen is the accepted one."""

    async def compare(pilot: Pilot[int]) -> bool:
        await pilot.pause()
        await pilot.wait_for_scheduled_animations()
        return bool(pilot.app.export_screenshot(title="studio-tui") == snapshot(extension_class=SVGImageExtension))

    return compare
