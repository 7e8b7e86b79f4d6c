"""From a schedule to the process that a firing runs: argv, checks, environment (lionagi 0.36).

Nothing passes through a shell, and every value stands at one place of the argv.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from studio_tui.domain.gates import missing_action
from studio_tui.domain.schedules import ACTIONS, ScheduleRecord
from studio_tui.scheduler import contract
from studio_tui.scheduler.places import directory_fault, resolve_command, resolve_cwd, resolve_li
from studio_tui.scheduler.refusal import FAILED, LaunchRefused
from studio_tui.scheduler.templates import command_arguments, flow_text, rendered_prompt, sends_prompt, unfilled

__all__ = [
    "LaunchRefused",
    "build_argv",
    "check_launch",
    "directory_fault",
    "flow_text",
    "launch_environment",
    "rendered_prompt",
    "resolve_command",
    "resolve_cwd",
    "resolve_li",
    "unfilled",
]

_STORE_VARIABLE: Final = "LIONAGI_STATE_DB_URL"


def build_argv(
    schedule: ScheduleRecord,
    context: Mapping[str, object],
    *,
    li: Sequence[str] = ("li",),
    allowed: Callable[[], Collection[str]] = frozenset,
    command: str | None = None,
    flow_file: str | None = None,
) -> tuple[str, ...]:
    """The argv of one firing.

    ``li`` is what starts the command line of lionagi (:func:`resolve_li`), ``command`` what a bare command name was found to
    be (:func:`resolve_command`), ``flow_file`` the file that holds :func:`flow_text`. ``allowed`` is asked at once for the
    command names that may run. Raises :class:`LaunchRefused` for whatever :func:`check_launch` refuses.
    """
    check_launch(schedule, context, allowed=allowed)
    if schedule.action_kind == "command":
        return (command or schedule.action_command or "", *command_arguments(schedule, context))
    prompt = rendered_prompt(schedule, context) or ""
    model, project = schedule.action_model or "", _option("--project", schedule.action_project)
    match schedule.action_kind:
        case "agent":
            agent = _option("--agent", schedule.action_agent)
            words = ("agent", *agent, *project, "--", *((model,) if model else ()), prompt)
        case "play":
            named = _playbook_options(schedule.action_playbook_args)
            words = ("play", schedule.action_playbook or "", *named, *((prompt,) if prompt else ()))
        case "flow_yaml":
            if flow_file is None:
                raise LaunchRefused(FAILED, "the flow was not written to a file")
            return (*li, "o", "flow", "-f", flow_file, *project, "--")
        case kind:
            words = ("o", kind, *project, "--", model, prompt)
    return (*li, *words, *schedule.action_extra_args)


def check_launch(
    schedule: ScheduleRecord, context: Mapping[str, object], *, allowed: Callable[[], Collection[str]] = frozenset
) -> None:
    """Raise :class:`LaunchRefused` when a stored value, or one that ``context`` fills in, must not be passed on.

    Called when a firing is prepared and again right before its process is started: the allow-list may have changed.
    """
    faults = (fault for faulty in (_action_fault, _identifier_fault, _argument_fault) if (fault := faulty(schedule)))
    if (fault := next(faults, None)) is not None:
        raise LaunchRefused(FAILED, fault)
    if schedule.action_kind == "command":
        command = schedule.action_command or ""
        if fault := contract.command_fault(command) or contract.allowlist_fault(command, frozenset(allowed())):
            raise LaunchRefused(FAILED, fault)
        command_arguments(schedule, context)
    elif sends_prompt(schedule):
        rendered_prompt(schedule, context)


def launch_environment(schedule: ScheduleRecord, invocation_id: str) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """What a firing's process gets besides the host's environment, and what it must not get."""
    without = (_STORE_VARIABLE,) if schedule.action_kind == "command" else ()
    return {"LIONAGI_INVOCATION_ID": invocation_id}, without


def _action_fault(schedule: ScheduleRecord) -> str | None:
    if schedule.action_kind not in ACTIONS:
        return f"unknown action {schedule.action_kind!r}; known: {', '.join(ACTIONS)}"
    return missing_action(schedule)


def _identifier_fault(schedule: ScheduleRecord) -> str | None:
    for name, value, fault_of in (
        ("model", schedule.action_model, contract.identifier_fault),
        ("agent", schedule.action_agent, contract.identifier_fault),
        ("project", schedule.action_project, contract.identifier_fault),
        ("playbook", schedule.action_playbook, contract.playbook_fault),
    ):
        if value and (fault := fault_of(value)):
            return f"{name}: {fault}"
    return None


def _argument_fault(schedule: ScheduleRecord) -> str | None:
    kind, extra = schedule.action_kind, schedule.action_extra_args
    fault = contract.extra_args_fault(kind, schedule.action_model, schedule.action_playbook, extra)
    return fault or (contract.playbook_args_fault(schedule.action_playbook_args) if kind == "play" else None)


def _option(name: str, value: str | None) -> tuple[str, ...]:
    return (name, value) if value else ()


def _playbook_options(values: Mapping[str, object]) -> tuple[str, ...]:
    """Named arguments as options; true is the bare option, false leaves it out."""
    words: list[str] = []
    for name, value in values.items():
        option = f"--{name.replace('_', '-')}"
        if not isinstance(value, bool):
            words += [option, str(value)]
        elif value:
            words.append(option)
    return tuple(words)
