"""Planning and doing an upgrade through the service: what it passes on, and who is told to look again."""

from __future__ import annotations

import pytest

from studio_tui.application.errors import Conflict, StateUnavailable
from studio_tui.application.models.state import MigrationProgress, PlannedChange
from studio_tui.application.ports import StoreCondition
from studio_tui.application.store import StoreService
from tests.fakes.ports import FakeStore, NudgedChanges

LACK = PlannedChange(kind="index", table="runs", name="idx", detail="is made")


def _service() -> tuple[StoreService, FakeStore, NudgedChanges]:
    store = FakeStore(now=StoreCondition("read_only", "state.db", "It is an older store.", "3"), lacks=(LACK,))
    changes = NudgedChanges()
    return StoreService(store=store, changes=changes, home="/srv/agents"), store, changes


async def test_a_plan_changes_nothing_and_tells_nobody() -> None:
    service, _, changes = _service()
    plan = await service.plan()
    assert plan.changes == (LACK,)
    assert service.status().mode == "read_only"
    assert changes.nudged == []


async def test_after_an_upgrade_everybody_looks_again() -> None:
    service, _, changes = _service()
    said: list[MigrationProgress] = []
    report = await service.migrate(said.append)
    assert report.changes == (LACK,)
    assert [(item.done, item.total) for item in said] == [(0, 1)]
    assert service.status().mode == "ready"
    assert changes.nudged == ["store"]


async def test_after_an_upgrade_that_failed_everybody_looks_again_too() -> None:
    """Some steps may have been done."""
    service, store, changes = _service()
    store.trouble = Conflict("store", expected=None, actual=None, message="in the way")
    with pytest.raises(Conflict, match="in the way"):
        await service.migrate()
    assert changes.nudged == ["store"]


async def test_what_nobody_foresaw_stays_inside() -> None:
    service, store, _ = _service()
    store.trouble = RuntimeError("secret")
    with pytest.raises(StateUnavailable, match="unexpected fault"):
        await service.plan()
