"""From a schedule to something that can be started: everything about a launch that asks the disk or the store."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from studio_tui.application.ports import Clock, LaunchSpec, SchedulerStateService
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.launch import (
    LaunchRefused,
    build_argv,
    check_launch,
    flow_text,
    launch_environment,
    rendered_prompt,
    resolve_command,
    resolve_cwd,
    resolve_li,
)
from studio_tui.scheduler.refusal import FAILED

LAUNCH_WITHIN: Final = 5.0
"""Seconds between a claim and the start of its process. A host that was held up for longer (stopped, asleep) starts nothing:
after twice that time another one may have taken it for dead and fired again."""


def launch_window(clock: Clock) -> Callable[[], bool]:
    """Whether a claim that is made now may still be followed by its launch, whichever way the wall clock was set meanwhile."""
    wall, steady = clock.now(), clock.monotonic()
    return lambda: max(clock.now() - wall, clock.monotonic() - steady) < LAUNCH_WITHIN


@dataclass(frozen=True, slots=True)
class Launch:
    """One firing ready to be started. ``argv`` is what the row records; ``executable`` is the file that its first word means;
    ``wanted`` is asked right before the start."""

    argv: tuple[str, ...]
    executable: str
    cwd: str
    prompt: str | None
    wanted: Callable[[], bool] = field(default=lambda: True, compare=False)


class Launcher:
    """Prepares launches on this host.

    ``search_path`` is the host's PATH and ``python`` its interpreter, beside which ``li`` may lie; ``allowed`` answers afresh
    which commands may run; ``fallback_cwd`` is for schedules that name no directory; ``scratch`` holds flows while they run.
    """

    def __init__(
        self,
        state: SchedulerStateService,
        *,
        search_path: str | None,
        python: str,
        allowed: Callable[[], Collection[str]],
        fallback_cwd: str | None,
        scratch: Path,
    ) -> None:
        self._state = state
        self._search_path, self._python = search_path, python
        self._allowed, self._fallback_cwd, self._scratch = allowed, fallback_cwd, scratch

    async def prepare(self, schedule: ScheduleRecord, context: Mapping[str, object], run_id: str) -> Launch:
        """Check and build. Raises :class:`LaunchRefused` with what is wrong; nothing was started or stored then."""
        project = schedule.action_project
        project_path = await self._state.project_path(project) if project is not None else None
        return await asyncio.to_thread(self._prepare, schedule, context, run_id, project_path)

    def spec(self, launch: Launch, schedule: ScheduleRecord, run_id: str, invocation_id: str) -> LaunchSpec:
        """What the process layer is asked to start."""
        environment, without = launch_environment(schedule, invocation_id)
        argv = (launch.executable, *launch.argv[1:])
        return LaunchSpec(run_id, argv, launch.cwd, environment, without, launch.wanted)

    def last_steps(self, schedule: ScheduleRecord, context: Mapping[str, object], run_id: str) -> None:
        """Right before the start: check again, since the allow-list may have changed, and write the flow that is to be read.

        Raises :class:`LaunchRefused`. Blocking.
        """
        check_launch(schedule, context, allowed=self._allowed)
        if schedule.action_kind == "flow_yaml":
            self._write_flow(schedule, run_id)

    def discard(self, run_id: str) -> None:
        """Remove what was written for a firing that has ended."""
        with suppress(OSError):
            self._flow_file(run_id).unlink(missing_ok=True)

    def _prepare(self, schedule: ScheduleRecord, context: Mapping[str, object], run_id: str, project_path: str | None) -> Launch:
        check_launch(schedule, context, allowed=self._allowed)
        cwd = resolve_cwd(schedule, project_path=project_path, fallback=self._fallback_cwd)
        if schedule.action_kind == "command":
            argv = build_argv(schedule, context, allowed=self._allowed)
            return Launch(argv, resolve_command(argv[0], self._search_path), cwd, None)
        li = resolve_li(self._search_path, self._python)
        if schedule.action_kind == "flow_yaml":
            flow_text(schedule)  # refused now rather than after the claim
        argv = build_argv(schedule, context, li=li, allowed=self._allowed, flow_file=str(self._flow_file(run_id)))
        return Launch(argv, argv[0], cwd, rendered_prompt(schedule, context))

    def _flow_file(self, run_id: str) -> Path:
        return self._scratch / f"{run_id}.flow.yaml"

    def _write_flow(self, schedule: ScheduleRecord, run_id: str) -> None:
        text = flow_text(schedule)
        path = self._flow_file(run_id)
        try:
            self._scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as failure:
            raise LaunchRefused(FAILED, f"the flow could not be written to a file: {failure.strerror}") from failure
