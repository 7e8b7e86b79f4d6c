"""What follows a firing: ``on_success`` or ``on_fail``, laid over the schedule (lionagi 0.36).

The merge is shallow. A step that does not set its own ``on_success`` or ``on_fail`` (to null, say) inherits the one that led to
it, and so repeats until the depth limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from studio_tui.domain.chains import MAX_CHAIN_DEPTH, SHORT_KEYS
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord

_TEXT: Final = frozenset(
    {
        "action_kind",
        "action_model",
        "action_prompt",
        "action_agent",
        "action_playbook",
        "action_flow_yaml",
        "action_project",
        "action_cwd",
        "action_command",
    }
)
_LISTS: Final = frozenset({"action_extra_args", "action_command_args"})
_OBJECTS: Final = frozenset({"action_playbook_args", "on_success", "on_fail"})
_COLUMNS: Final = frozenset(column.name for column in fields(ScheduleRecord))


class ChainBroken(ValueError):
    """A step that cannot be read; the message names the key and what is allowed."""


def next_step(schedule: ScheduleRecord, invocation_status: str, depth: int) -> Mapping[str, object] | None:
    """The step that follows a firing at ``depth`` which ended so, or ``None``."""
    if depth >= MAX_CHAIN_DEPTH:
        return None
    return (schedule.on_success if invocation_status == "completed" else schedule.on_fail) or None


def laid_over(schedule: ScheduleRecord, step: Mapping[str, object]) -> ScheduleRecord:
    """The schedule as the step makes it. Raises :class:`ChainBroken` for a key or value that means nothing."""
    merged: dict[str, Any] = {}
    for key, value in step.items():
        if key in _TEXT or key in _LISTS or key in _OBJECTS:
            merged[key] = _checked(key, value)
        elif key not in SHORT_KEYS and key not in _COLUMNS:
            raise ChainBroken(f"{key!r} is no key of a chain step; allowed: {', '.join(sorted(SHORT_KEYS))} and action_ columns")
    for short, column in SHORT_KEYS.items():
        if short in step:
            merged[column] = _checked(column, step[short])
    return replace(schedule, **merged)


def as_it_ran(schedule: ScheduleRecord, earlier: Sequence[FiringRecord]) -> ScheduleRecord:
    """The schedule as the step runs it that follows from ``earlier`` firings, the first of the chain first.

    Each of them, as it ended, chose the step that was laid over next. Raises :class:`ChainBroken` when the schedule has no such
    step any more.
    """
    for firing in earlier:
        step = next_step(schedule, firing.status, firing.chain_depth)
        if step is None:
            raise ChainBroken(f"the schedule has no step any more that follows a firing which is {firing.status}")
        schedule = laid_over(schedule, step)
    return schedule


def chained_context(
    context: Mapping[str, object], *, parent_run_id: str, exit_code: int | None, parent_status: str
) -> Mapping[str, object]:
    """The trigger context of a step: that of its parent, and how the parent ended."""
    return {**context, "chain_from": parent_run_id, "parent_exit_code": exit_code, "parent_status": parent_status}


def _checked(column: str, value: object) -> object:
    if column in _LISTS:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise ChainBroken(f"{column} of a chain step must be a list of texts")
        return tuple(value)
    if column in _OBJECTS:
        empty: object = {} if column == "action_playbook_args" else None
        if value is not None and not isinstance(value, Mapping):
            raise ChainBroken(f"{column} of a chain step must be an object or null")
        return value if value is not None else empty
    if not isinstance(value, str) and not (value is None and column != "action_kind"):
        raise ChainBroken(f"{column} of a chain step must be a text{'' if column == 'action_kind' else ' or null'}")
    return value
