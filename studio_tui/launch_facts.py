"""What the operations may ask of launching on this host (``LaunchFacts``): a preview, the allow-list, directories, flows."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import Final

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.launching import LaunchFacts, LaunchPreview
from studio_tui.application.ports import SchedulerStateService
from studio_tui.domain.github_events import EVENT_FIELDS
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.thresholds import ALERT_FIELDS
from studio_tui.scheduler.launch import (
    LaunchRefused,
    build_argv,
    check_launch,
    resolve_command,
    resolve_cwd,
    resolve_li,
)
from studio_tui.settings_model import Settings

_FLOW_FILE: Final = "FLOW.yaml"
_SAMPLE: Final = {"scheduled": True, "fired_at": 0.0, "next_fire_at": 0.0}
"""What a firing that comes due has to fill in; a preview shows the names instead."""
_FLOW_KEYS: Final = (
    "agent argument-hint args artifacts bare description dry_run effort max_agents max_ops model name pack prompt reactive save "
    "show_graph team_attach team_mode with_synthesis workers bypass links permission_mode steps use yolo"
)
"""What a flow may say (lionagi 0.36, flow specs); dashes and underscores are the same."""

_FLOW_NUMBERS: Final = {"workers": (1, 32), "max_ops": (0, 50), "max_agents": (0, 50)}


def launch_facts(settings: Settings, state: SchedulerStateService) -> LaunchFacts:
    """The answers for these settings; the allow-list is read afresh each time."""
    previews = Previews(settings, state)
    return LaunchFacts(
        preview=previews.preview,
        allowed_commands=lambda: allowed_commands(settings),
        is_directory=os.path.isdir,
        flow_problem=flow_problem,
    )


def allowed_commands(settings: Settings) -> Collection[str]:
    """Which executables the command action may start, as the settings are now. Settings that became unreadable allow nothing."""
    try:
        return frozenset(settings.again().command_allowlist)
    except StudioApplicationError:
        return frozenset()


def deadline_of(settings: Settings, kind: str) -> float:
    """Seconds that a firing of this kind may take, as the settings are now, or as they were when they can no longer be read."""
    try:
        return settings.again().deadline(kind)
    except StudioApplicationError:
        return settings.deadline(kind)


class Previews:
    """What a firing would run, found out without starting or writing anything."""

    def __init__(self, settings: Settings, state: SchedulerStateService) -> None:
        self._settings, self._state = settings, state

    async def preview(self, schedule: ScheduleRecord) -> LaunchPreview:
        """The command line and the directory of a firing now, or why it would be refused."""
        project = schedule.action_project
        try:
            path = await self._state.project_path(project) if project is not None else None
        except StudioApplicationError:
            path = None
        return self._look(schedule, path)

    def _look(self, schedule: ScheduleRecord, project_path: str | None) -> LaunchPreview:
        refusals: list[str] = []
        argv: tuple[str, ...] = ()
        cwd: str | None = None
        try:
            argv = self._argv(schedule)
        except LaunchRefused as refusal:
            refusals.append(str(refusal))
        try:
            fallback = self._settings.scheduler_cwd
            cwd = resolve_cwd(schedule, project_path=project_path, fallback=str(fallback) if fallback else None)
        except LaunchRefused as refusal:
            refusals.append(str(refusal))
        return LaunchPreview(argv, cwd, "; ".join(refusals) or None)

    def _argv(self, schedule: ScheduleRecord) -> tuple[str, ...]:
        def allowed() -> Collection[str]:
            return allowed_commands(self._settings)

        check_launch(schedule, _sample(schedule), allowed=allowed)
        search_path = self._settings.search_path()
        if schedule.action_kind == "command":
            resolve_command(schedule.action_command or "", search_path)
            return (schedule.action_command or "", *schedule.action_command_args)
        li = resolve_li(search_path, sys.executable)
        return build_argv(schedule, {}, li=li, allowed=allowed, flow_file=_FLOW_FILE)


def _sample(schedule: ScheduleRecord) -> Mapping[str, object]:
    """What a firing of the schedule would be told, by name."""
    context: dict[str, object] = dict(_SAMPLE)
    if schedule.threshold_config is not None:
        context |= dict.fromkeys(ALERT_FIELDS, 0)
    if schedule.trigger_type == "github_poll":
        context |= {"repo": schedule.github_repo, "github_events": [dict.fromkeys(EVENT_FIELDS, 0)]}
    return context


def flow_problem(text: str) -> str | None:
    """What is wrong with the text of a flow, or ``None`` (lionagi 0.36, the rules that need no other file)."""
    from ruamel.yaml import YAML  # only flows need it
    from ruamel.yaml.error import YAMLError

    try:
        flow = YAML(typ="safe").load(text)
    except YAMLError as error:
        return f"is not valid YAML: {' '.join(str(error).split())}"
    if not isinstance(flow, dict) or not flow:
        return "must be a YAML mapping with at least a prompt"
    for key, value in flow.items():
        name = str(key) if key == "argument-hint" else str(key).replace("-", "_")
        if name not in _FLOW_KEYS.split():
            return f"unknown field {key!r}; allowed: {', '.join(sorted(_FLOW_KEYS.split()))}"
        if name in _FLOW_NUMBERS:
            least, most = _FLOW_NUMBERS[name]
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                return f"{key} must be a whole number from {least} to {most}"
    return None
