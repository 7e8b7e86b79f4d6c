"""What a chain (``on_success``, ``on_fail``) must keep to before it is stored; the peer checks it only on its command line.

A step is judged as it will run: laid over the action that led to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any

from studio_tui.application.errors import FieldFailure
from studio_tui.application.models.schedules import ScheduleAction
from studio_tui.domain.chains import BRANCHES, SHORT_KEYS, step_faults

Judge = Callable[[ScheduleAction, Set[str]], Iterator[FieldFailure]]
"""The rules of one action by itself, and of the fields that were named to get there."""

_PREFIX = "action_"


def chain_failures(action: ScheduleAction, judge: Judge) -> Iterator[FieldFailure]:
    """Every rule that the chains of an action break: first their shape, then what each step would run."""
    for branch in BRANCHES:
        step = getattr(action, branch)
        if step is None:
            continue
        shape = [FieldFailure(("action", branch, *fault.path), fault.code, fault.message) for fault in step_faults(step)]
        yield from shape or _steps(action, ("action", branch), step, judge)


def _steps(before: ScheduleAction, path: tuple[str, ...], step: Mapping[str, Any], judge: Judge) -> Iterator[FieldFailure]:
    named = {column.removeprefix(_PREFIX): step[key] for key, column in SHORT_KEYS.items() if key in step}
    action = before.model_copy(update=named)
    known: set[tuple[str | int, ...]] = {fault.path for fault in judge(before, frozenset())}
    for fault in judge(action, named.keys()):
        if fault.path not in known:  # what is wrong above is said above
            yield FieldFailure((*path, *fault.path[1:]), fault.code, fault.message)
    for branch in BRANCHES:
        below = step.get(branch)
        if below is not None:
            yield from _steps(action, (*path, branch), below, judge)
