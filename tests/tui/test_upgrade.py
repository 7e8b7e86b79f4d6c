"""An older store is brought up to date from the console: what would change, how far it is, and a stop between two steps."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import Conflict
from studio_tui.application.models.state import MigrationPlan, MigrationProgress, PlannedChange
from studio_tui.tui.screens.upgrade import UpgradeDialog
from tests.fakes.studio import FakeStudio
from tests.tui.conftest import Console, screen_text, shown_toasts, wait_until

CHANGES = (
    PlannedChange(kind="rebuild", table="sessions", name="sessions", detail="its checks are narrower", rows=4000),
    PlannedChange(kind="column", table="shows", name="status_source", detail="text"),
)


@pytest.fixture
def older(studio: FakeStudio) -> FakeStudio:
    """A store that lacks two things."""
    studio.store.now = studio.store.now.model_copy(update={"mode": "read_only", "reason": "This store must be upgraded first."})
    studio.store.plan_now = MigrationPlan(label="state.db", changes=CHANGES, backups=("sessions",), backup_bytes=12_300_000)
    return studio


def _says(app: Any, words: str) -> bool:
    return any(words in line for line in screen_text(app))


def _asked(studio: FakeStudio) -> list[str]:
    return [name for name, _ in studio.store.calls]


async def _open(pilot: Any, app: Any) -> None:
    await pilot.press("ctrl+p", *"upgrade", "enter")
    await wait_until(lambda: isinstance(app.screen, UpgradeDialog) and _says(app, "Upgrade state.db?"))


async def test_the_steps_are_shown_as_they_are_done(older: FakeStudio, console: Console) -> None:
    async with console() as (app, pilot):
        await _open(pilot, app)
        assert _says(app, "2 changes: sessions, shows.")
        assert _says(app, "12.3 MB in all")
        await pilot.press("tab", "enter")
        older.store.steps.put_nowait(MigrationProgress(step="copying the store", done=0, total=2, part_done=1, part_total=4))
        await wait_until(lambda: _says(app, "0/2  copying the store  25%"))
        older.store.steps.put_nowait(MigrationProgress(step="shows.status_source", done=1, total=2))
        await wait_until(lambda: _says(app, "1/2  shows.status_source"))
        older.store.steps.put_nowait(None)
        await wait_until(lambda: not isinstance(app.screen, UpgradeDialog))
        assert "upgraded: state.db; backups: state.db.bak" in shown_toasts(app)


async def test_escape_stops_it_and_nothing_is_done_twice(older: FakeStudio, console: Console) -> None:
    async with console() as (app, pilot):
        await _open(pilot, app)
        await pilot.press("tab", "enter", "enter")
        await wait_until(lambda: _asked(older).count("migrate") == 1)
        await pilot.press("escape")
        await wait_until(lambda: not isinstance(app.screen, UpgradeDialog))
        assert any(text.startswith("stopped: what is done stays") for text in shown_toasts(app))
        assert _asked(older).count("migrate") == 1


async def test_no_changes_nothing(older: FakeStudio, console: Console) -> None:
    async with console() as (app, pilot):
        await _open(pilot, app)
        await pilot.press("enter")
        await wait_until(lambda: not isinstance(app.screen, UpgradeDialog))
        assert "migrate" not in _asked(older)


async def test_what_stands_in_the_way_is_said_and_cannot_be_overridden(older: FakeStudio, console: Console) -> None:
    older.store.plan_now = MigrationPlan(label="state.db", changes=CHANGES, obstacles=("The column x cannot be carried over.",))
    async with console() as (app, pilot):
        await _open(pilot, app)
        assert _says(app, "In the way: The column x cannot be carried over.")
        await pilot.press("tab", "enter")
        await wait_until(lambda: not isinstance(app.screen, UpgradeDialog))
        assert "migrate" not in _asked(older)


async def test_a_failure_is_said(older: FakeStudio, console: Console) -> None:
    async with console() as (app, pilot):
        await _open(pilot, app)
        older.store.error = Conflict("store", expected=None, actual=None, message="somebody else upgrades it now")
        await pilot.press("tab", "enter")
        await wait_until(lambda: any("somebody else upgrades it now" in text for text in shown_toasts(app)))
        assert not isinstance(app.screen, UpgradeDialog)


async def test_a_complete_store_has_no_such_command(studio: FakeStudio, console: Console) -> None:
    async with console() as (app, pilot):
        await pilot.press("ctrl+p", *"upgrade")
        await pilot.pause()
        assert not _says(app, "upgrade the store")
