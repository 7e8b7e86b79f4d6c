"""Documents of sets in a home of a test's own, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import FieldFailure, ValidationFailure
from studio_tui.application.models.schedule_sets import ApplySet, PlanSet, SetEntry, SetPlan
from studio_tui.application.schedule_sets import ScheduleSetService
from tests.application.home import OpenHome

HEAD = "apiVersion: lionagi.io/v1alpha1\nkind: ScheduleSet\nmetadata: {name: nightly, project: atlas}\nschedules:\n"
CLOCK = "  clock:\n    trigger: {every: 15m}\n    target: {kind: command, executable: date}\n"
TICK = "  tick:\n    trigger: {cron: {expression: '0 9 * * *', timezone: UTC}}\n    target: {kind: command, executable: date}\n"


@dataclass
class Sets:
    """A home with a folder for documents."""

    home: OpenHome
    folder: Path

    @property
    def service(self) -> ScheduleSetService:
        return self.home.studio.schedule_sets

    def file(self, text: str | bytes, name: str = "set.yaml") -> str:
        """Write a document."""
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    async def plan(self, text: str, **options: Any) -> SetPlan:
        return await self.service.plan_set(PlanSet(file=self.file(text), **options))

    async def apply(self, text: str, **options: Any) -> SetPlan:
        return await self.service.apply_set(ApplySet(file=self.file(text), **options))

    async def row(self, name: str) -> dict[str, Any]:
        """The columns of one schedule."""
        (row,) = [row for row in await self.rows() if row["name"] == name]
        return row

    async def rows(self) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.home.db.fetch_all("SELECT * FROM schedules ORDER BY name")]

    async def history(self) -> list[tuple[str, str]]:
        """Status and reason of every change of a definition, oldest first."""
        asked = "SELECT status, reason_code FROM status_transitions ORDER BY created_at, id"
        return [(row["status"], row["reason_code"]) for row in await self.home.db.fetch_all(asked)]

    async def refused(self, text: str | bytes) -> tuple[FieldFailure, ...]:
        """The faults of a document that must not be valid; nothing may be stored for it."""
        with pytest.raises(ValidationFailure) as caught:
            await self.service.apply_set(ApplySet(file=self.file(text)))
        assert await self.rows() == []
        return caught.value.field_errors


def entry(plan: SetPlan, name: str) -> SetEntry:
    """What becomes of one schedule."""
    (found,) = [entry for entry in plan.entries if entry.name == name]
    return found


def actions(plan: SetPlan) -> dict[str, str]:
    """The action for each name."""
    return {entry.name: entry.action for entry in plan.entries}
