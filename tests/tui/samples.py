"""Rows for a studio in memory."""

from __future__ import annotations

from collections.abc import Sequence

from studio_tui.application.models.common import StateWord
from studio_tui.application.models.runs import MessageView, RunSummary
from studio_tui.application.models.schedules import Firing, ScheduleSummary
from tests.fakes.studio import NOW


def a_run(number: int, **changes: object) -> RunSummary:
    """A run that ended ``number`` minutes ago; lower numbers are newer."""
    values: dict[str, object] = {
        "run_id": f"run-{number:06d}",
        "name": f"job {number}",
        "state": StateWord.OK,
        "status": "completed",
        "project": "web",
        "started_at": NOW - 60.0 * number - 90,
        "ended_at": NOW - 60.0 * number,
        "updated_at": NOW - 60.0 * number,
        "duration": 90.0,
    }
    return RunSummary.model_validate(values | changes)


def runs(count: int) -> list[RunSummary]:
    """Runs, newest first."""
    return [a_run(number) for number in range(count)]


def messages(count: int, begin: int = 0) -> list[MessageView]:
    """Questions and answers in turn, five seconds apart."""
    return [
        MessageView(
            message_id=f"m{number}",
            kind="instruction" if number % 2 == 0 else "assistant",
            at=NOW - 5.0 * (count - number),
            text=f"message number {number}",
        )
        for number in range(begin, begin + count)
    ]


def a_call(number: int, *, error: str | None = None, output: str = "fine") -> Sequence[MessageView]:
    """A tool call and its answer."""
    return (
        MessageView(message_id=f"c{number}", kind="tool_call", at=NOW, function="read_file", arguments='{"path":"a.md"}'),
        MessageView(
            message_id=f"r{number}", kind="tool_result", at=NOW + 1, function="read_file", output=output, error=error,
            call_id=f"c{number}", size_bytes=len(output),
        ),
    )  # fmt: skip


def a_schedule(name: str, **changes: object) -> ScheduleSummary:
    """An enabled interval schedule that is due in 33 minutes."""
    values: dict[str, object] = {
        "schedule_id": f"id-{name}",
        "name": name,
        "state": StateWord.ON,
        "enabled": True,
        "trigger": "every 1 h",
        "trigger_type": "interval",
        "action": "true",
        "action_kind": "command",
        "next_fire_at": NOW + 1_980,
        "outcomes": (StateWord.OK, StateWord.FAIL),
        "health": "healthy",
        "updated_at": 17.25,
    }
    return ScheduleSummary.model_validate(values | changes)


def a_firing(number: int, **changes: object) -> Firing:
    """A firing that ended well ``number`` hours ago."""
    values: dict[str, object] = {
        "firing_id": f"f{number}",
        "schedule_id": "id-backup",
        "state": StateWord.OK,
        "status": "completed",
        "fired_at": NOW - 3_600.0 * number,
        "duration": 2.0,
        "exit_code": 0,
        "output_tail": f"output of {number}\n",
        "output_bytes": 12,
        "command_line": ("true",),
    }
    return Firing.model_validate(values | changes)
