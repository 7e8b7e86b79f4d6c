"""What the operations need to know of launching, given by whoever builds the services.

These are plain callables, not ports: each answers one question about this host and keeps no state.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from studio_tui.domain.schedules import ScheduleRecord


@dataclass(frozen=True, slots=True)
class LaunchPreview:
    """What a firing would run, and where. ``refusal`` says in words why it would not be launched."""

    command_line: tuple[str, ...] = ()
    working_directory: str | None = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """Questions about launching on this host.

    ``preview`` tells what a firing of a schedule would run; a refusal is part of its answer, never an exception.
    ``allowed_commands`` are the executables that the command action may start, read afresh each time. ``is_directory`` says
    whether an absolute path is a directory that exists. ``flow_problem`` says in words what is wrong with the text of a flow,
    or ``None``.
    """

    preview: Callable[[ScheduleRecord], Awaitable[LaunchPreview]]
    allowed_commands: Callable[[], Collection[str]]
    is_directory: Callable[[str], bool]
    flow_problem: Callable[[str], str | None]
