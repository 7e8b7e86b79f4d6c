"""A console on a studio in memory, to be run in a real terminal: ``python -m tests.fakes.console [--rows N | --hostile]``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from textual.app import ComposeResult

from studio_tui.tui.app import StudioApp
from studio_tui.tui.keys import bind
from studio_tui.tui.places import Place
from studio_tui.tui.screens.base import StudioScreen
from studio_tui.tui.screens.dialogs import Confirm
from studio_tui.tui.statuses import state_cell
from studio_tui.tui.terminal import run_console
from studio_tui.tui.widgets.columns import Column
from studio_tui.tui.widgets.virtual_list import VirtualList
from tests.fakes.studio import FakeStudio

ROWS: list[tuple[str, str, str]] = []
"""Id, state, text."""


class SampleScreen(StudioScreen):
    """One list of texts, each also shown in toasts and dialogs."""

    BINDINGS = [bind("copy"), bind("new", "ask"), bind("open", "tell")]

    def body(self) -> ComposeResult:
        yield VirtualList[Any](
            [
                Column("state", lambda row: state_cell(row[1]), 8),
                Column("name", lambda row: (row[2], "ink"), 20, 40, lead=True),
                Column("project", lambda row: (row[2], "soft"), 10, priority=2),
                Column("why", lambda row: (row[2], "soft"), 12, fill=True),
            ],
            lambda row: row[0],
            id="rows",
        )

    def refresh_data(self) -> None:
        self.query_one(VirtualList).set_rows(ROWS)

    def action_tell(self) -> None:
        row = self.query_one(VirtualList).row
        self.studio_app.toast(row[2] if row else "nothing")

    on_virtual_list_opened = action_tell

    def action_copy(self) -> None:
        row = self.query_one(VirtualList).row
        self.studio_app.copy(row[2] if row else "")

    def action_ask(self) -> None:
        row = self.query_one(VirtualList).row
        if row:
            self.app.push_screen(Confirm(f"delete {row[2]}?", [row[2]], verb="delete"))


def sample_places() -> tuple[Place, ...]:
    """Two places with the same kind of screen."""
    return tuple(
        Place(name, name.title(), key, SampleScreen) for name, key in (("runs", "1"), ("shows", "2"), ("schedules", "3"))
    )


def _beat(app: StudioApp, studio: FakeStudio, file: Path) -> None:
    """Draws everything again and again, and shows from outside that the loop runs."""
    file.write_text("0")
    opening = studio.open

    async def opened() -> Any:
        def beat() -> None:
            count = int(file.read_text()) + 1
            file.write_text(str(count))
            app.home_label = f"beat {count}"
            app.update_header()
            app.action_repaint()

        app.set_interval(0.05, beat)
        return await opening()

    app._open_studio = opened


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--theme", default="dark")
    parser.add_argument("--beat", help="draw everything twenty times a second, and count in this file")
    given = parser.parse_args()
    if given.hostile:
        from tests.tui.conftest import nasty_strings

        ROWS.extend((str(number), "FAIL", text) for number, text in enumerate(nasty_strings()))
    else:
        ROWS.extend((str(number), "OK", f"row {number}") for number in range(given.rows))
    studio = FakeStudio()

    async def close() -> list[str]:
        return ["closed in order"]

    app = StudioApp(studio.open, close, home_label="prod", theme=given.theme, places=sample_places())
    if given.beat:
        _beat(app, studio, Path(given.beat))
    return asyncio.run(run_console(app))


if __name__ == "__main__":
    sys.exit(main())
