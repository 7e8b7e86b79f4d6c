"""A small form for a schedule, new or stored: what fires, when, and what it may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual import on

from studio_tui.application.errors import Conflict, StudioApplicationError, ValidationFailure
from studio_tui.application.models.schedules import CadenceQuery, PatchSchedule, ScheduleDetail, ScheduleResult
from studio_tui.tui.screens.dialogs import FormDialog, Words
from studio_tui.tui.screens.schedule_values import (
    FIELDS,
    command_of,
    filled,
    needed,
    patch_of,
    trigger_changed,
    trigger_of,
    values_of,
)
from studio_tui.tui.widgets.form import Form

if TYPE_CHECKING:
    from studio_tui.application.studio import Studio


class ScheduleForm(FormDialog[ScheduleResult]):
    """Makes a schedule, or changes the one that is given; the next fires are shown while its trigger is typed.

    Of a stored schedule only what was changed is sent, against the version that is shown. When somebody else changed it
    meanwhile, the form says what stands there now; saving again keeps what was typed here.
    """

    DEFAULT_CSS = "ScheduleForm > .dialog { width: 78; max-width: 100%; }"

    def __init__(self, studio: Studio, stored: ScheduleDetail | None = None) -> None:
        self._studio, self._stored = studio, stored
        self._before = _values(stored) if stored is not None else {}
        title = f"change {stored.name}" if stored is not None else "new schedule"
        super().__init__(title, filled(self._before) if stored is not None else FIELDS)

    def on_mount(self) -> None:
        """Only the fields that the chosen kinds need."""
        super().on_mount()
        self._show_needed()

    @on(Form.Changed)
    def _kinds_changed(self) -> None:
        self._show_needed()

    def _show_needed(self) -> None:
        self.form.show_fields(needed(self.form.values))

    async def submit(self, values: Mapping[str, str]) -> ScheduleResult:
        """Make it, or send what was changed."""
        if self._stored is None:
            return await self._studio.schedules.create_schedule(command_of(values))
        changes = patch_of(values, self._before)
        try:
            return await self._patch(self._stored, changes)
        except Conflict as conflict:
            if conflict.expected is None:
                raise
            return await self._after_conflict(self._stored, values, conflict)

    async def _patch(self, stored: ScheduleDetail, changes: object) -> ScheduleResult:
        command = {"schedule_id": stored.schedule_id, "expected_updated_at": stored.updated_at, "changes": changes}
        return await self._studio.schedules.patch_schedule(PatchSchedule.model_validate(command))

    async def _after_conflict(self, seen: ScheduleDetail, values: Mapping[str, str], conflict: Conflict) -> ScheduleResult:
        """A firing moves the version, too: when the definition is what was shown, the change is sent again."""
        self._stored = fresh = await self._studio.schedules.get_schedule(seen.schedule_id)
        if fresh.definition == seen.definition:
            return await self._patch(fresh, patch_of(values, self._before))
        self._before = _values(fresh)
        message = f"{conflict}: save again to keep what is typed here, esc to leave it as it is now"
        raise Conflict("schedule", expected=conflict.expected, actual=conflict.actual, message=message) from conflict

    def preview(self, values: Mapping[str, str]) -> Words:
        """The trigger in words and its next fires, or what is wrong with it."""
        stored = self._stored
        if stored is not None and not trigger_changed(values, self._before):
            fires = "   ".join(fire.local for fire in stored.next_fires[:3])
            return [[(f"{stored.trigger}: stays as it is", "ink")], [(f"next: {fires}" if fires else "", "soft")]]
        since = None if stored is None else stored.last_fired_at or stored.created_at
        try:
            cadence = self._studio.schedules.cadence(CadenceQuery(trigger=trigger_of(values), since=since, count=3))
        except ValidationFailure as failure:
            return [[(failure.field_errors[0].message, "faint")]]
        except StudioApplicationError as error:
            return [[(str(error), "warn")]]
        zone = f"  in {cadence.zone}" if cadence.zone else ""
        fires = "   ".join(fire.local for fire in cadence.fires) or "never"
        return [
            [(f"{cadence.words}{zone}", "ink")],
            [(f"next: {fires}", "soft")],
            *([(one, "warn")] for one in cadence.warnings[:2]),
        ]


def _values(stored: ScheduleDetail) -> dict[str, str]:
    if stored.definition is None:
        return {"name": stored.name}
    return values_of(stored.definition, trigger_type=stored.trigger_type, action_kind=stored.action_kind)
