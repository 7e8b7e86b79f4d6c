"""A patch laid over what is stored: what the trigger and the action will be, as wholes that the rules can judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from studio_tui.application.models.schedules import ScheduleAction, Trigger
from studio_tui.application.schedule_definition import action_of, trigger_of
from studio_tui.domain.schedules import ScheduleRecord

Roots = Mapping[str, str | None]
"""Usable registered directories of projects, by name; ``None`` for one without."""

_SHARED: Final = frozenset({"cwd", "project", "on_success", "on_fail"})
"""What an action keeps when its kind changes."""


def merged_trigger(schedule: ScheduleRecord, sent: Trigger) -> Trigger:
    """The trigger after the patch: of the kind that is stored, what was not sent stays."""
    stored = trigger_of(schedule)
    if stored is None or stored.kind != sent.kind:
        return sent
    return stored.model_copy(update={name: getattr(sent, name) for name in sent.model_fields_set})


def merged_action(schedule: ScheduleRecord, sent: ScheduleAction, roots: Roots) -> ScheduleAction:
    """The action after the patch: of the kind that is stored, what was not sent stays.

    A directory that was the registered one of the project follows a change of project; one that was chosen stays (the peer takes
    the project's directory only when a schedule is made).
    """
    stored = action_of(schedule)
    if stored is None:
        return sent
    kept = set(ScheduleAction.model_fields) if stored.kind == sent.kind else _SHARED
    named = {name: getattr(sent, name) for name in sent.model_fields_set}
    moved = named.get("project", stored.project) != stored.project
    if moved and "cwd" not in named and stored.cwd in (None, roots.get(stored.project or "")):
        named["cwd"] = roots.get(named["project"] or "")
    return sent.model_copy(update={**{name: getattr(stored, name) for name in kept}, **named})
