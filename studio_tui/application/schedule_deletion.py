"""What goes with a schedule: its firings vanish (they are deleted with it, lionagi 0.36), what runs of it runs on."""

from __future__ import annotations

from studio_tui.application.errors import Conflict
from studio_tui.application.models.schedules import DeleteSchedule, Deletion
from studio_tui.application.ports import Vanishing
from studio_tui.domain.schedules import ScheduleRecord


def deletion_view(schedule: ScheduleRecord, vanishing: Vanishing) -> Deletion:
    """What would vanish, or did."""
    return Deletion(
        schedule_id=schedule.schedule_id,
        name=schedule.name,
        firings=vanishing.firings,
        running=vanishing.running,
        obstacle=vanishing.obstacle,
    )


def refuse_deletion(schedule: ScheduleRecord, vanishing: Vanishing, command: DeleteSchedule) -> None:
    """Raise :class:`Conflict` for what stands in the way; the store looks again in its own transaction."""
    expected = command.expected_updated_at
    if expected is not None and expected != schedule.updated_at:
        raise Conflict("schedule", expected=repr(expected), actual=repr(schedule.updated_at))
    if vanishing.obstacle is not None:
        message = f"{schedule.name} cannot be deleted: {vanishing.obstacle}; turn it off instead"
        raise Conflict("schedule", expected=None, actual=None, message=message)
    if vanishing.running and not command.although_running:
        listed = ", ".join(vanishing.running)
        message = f"{schedule.name} is running now ({listed}); wait for its end, or say that it is to be deleted all the same"
        raise Conflict("schedule", expected="nothing running", actual=listed, message=message)
