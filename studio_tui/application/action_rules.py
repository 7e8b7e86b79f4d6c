"""What the action of a new schedule must keep to, by its kind (lionagi 0.36, create rules).

The rules of single values are those of :mod:`studio_tui.scheduler.contract`, which the launch applies again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from types import MappingProxyType
from typing import Final

from studio_tui.application.chain_rules import chain_failures
from studio_tui.application.errors import FieldFailure
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.schedules import ScheduleAction
from studio_tui.scheduler import contract

_USED: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "agent": frozenset({"model", "prompt", "agent", "extra_args"}),
        "flow": frozenset({"model", "prompt", "extra_args"}),
        "fanout": frozenset({"model", "prompt", "extra_args"}),
        "play": frozenset({"playbook", "playbook_args", "prompt", "extra_args"}),
        "flow_yaml": frozenset({"flow_yaml", "model"}),
        "command": frozenset({"command", "command_args"}),
    }
)
"""Which fields each kind passes on. Any other would be stored and never used."""

_NEEDED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "agent": ("prompt",),
        "flow": ("model", "prompt"),
        "fanout": ("model", "prompt"),
        "play": ("playbook",),
        "flow_yaml": ("flow_yaml",),
        "command": ("command",),
    }
)
"""Which fields each kind cannot do without. The peer accepts a schedule with nothing to run; it fails at every fire."""

_BLANK: Final = ScheduleAction(kind="command")
_PARTICULAR: Final = tuple(sorted(frozenset().union(*_USED.values())))


def action_failures(action: ScheduleAction, facts: LaunchFacts) -> Iterator[FieldFailure]:
    """Every rule that ``action`` breaks."""
    yield from _unused(action)
    yield from _needed(action)
    yield from host_failures(action, facts)
    yield from chain_failures(action, _step_failures)


def host_failures(action: ScheduleAction, facts: LaunchFacts) -> Iterator[FieldFailure]:
    """The rules that a launch on this host would come up against, whatever is missing."""
    yield from shape_failures(action)
    yield from _directory(action, facts)
    if action.kind == "command" and action.command:
        yield from _executable(action.command, facts)
    if action.kind == "flow_yaml" and (action.flow_yaml or "").strip():
        yield from _fault("flow_yaml", facts.flow_problem(action.flow_yaml or ""))


def shape_failures(action: ScheduleAction) -> Iterator[FieldFailure]:
    """The rules of each value by itself, which need nothing of this host."""
    yield from _values(action)
    yield from _arguments(action)


def _step_failures(action: ScheduleAction, named: Set[str]) -> Iterator[FieldFailure]:
    """Of a step of a chain: what it inherits and makes no use of does no harm."""
    yield from _unused(without_unused(action, keep=named))
    yield from _needed(action)
    yield from shape_failures(action)


def without_unused(action: ScheduleAction, *, keep: Set[str]) -> ScheduleAction:
    """The action without what its kind does not pass on, but for the fields in ``keep``."""
    idle = [field for field in _PARTICULAR if field not in _USED[action.kind] and field not in keep]
    return action.model_copy(update={field: getattr(_BLANK, field) for field in idle})


def _unused(action: ScheduleAction) -> Iterator[FieldFailure]:
    for field in _PARTICULAR:
        if getattr(action, field) and field not in _USED[action.kind]:
            yield _wrong(field, "not_used", f"{_action(action.kind)} makes no use of {_words(field)}; leave it out")


def _needed(action: ScheduleAction) -> Iterator[FieldFailure]:
    for field in _NEEDED[action.kind]:
        if not (getattr(action, field) or "").strip():
            yield _wrong(field, "missing", f"{_action(action.kind)} needs a {_words(field)}")
    if action.kind == "agent" and not (action.agent or action.model):
        yield _wrong("agent", "missing", "an agent action needs the name of an agent, or a model")


def _values(action: ScheduleAction) -> Iterator[FieldFailure]:
    for field in ("model", "agent", "project"):
        if value := getattr(action, field):
            yield from _fault(field, contract.identifier_fault(value))
    if action.playbook:
        yield from _fault("playbook", contract.playbook_fault(action.playbook))
    if action.kind == "command" and action.command:
        yield from _fault("command", contract.command_fault(action.command))
    if action.prompt:
        yield from _fault("prompt", contract.prompt_fault(action.prompt, play=action.kind == "play"))
    if action.project == "":
        yield _wrong("project", "empty", "give a project, or leave it out")


def _arguments(action: ScheduleAction) -> Iterator[FieldFailure]:
    if "extra_args" in _USED[action.kind]:
        fault = contract.extra_args_fault(action.kind, action.model, action.playbook, action.extra_args)
        yield from _fault("extra_args", fault)
    yield from _fault("playbook_args", contract.playbook_args_fault(action.playbook_args))
    for position, word in enumerate(action.command_args):
        if fault := contract.argument_fault("this argument", word):
            yield FieldFailure(("action", "command_args", position), "unusable", fault)


def _directory(action: ScheduleAction, facts: LaunchFacts) -> Iterator[FieldFailure]:
    directory = action.cwd
    if directory is None:
        return
    if not directory.startswith("/"):
        yield _wrong("cwd", "not_absolute", "give the whole path, beginning with /, or leave it out")
    elif "\0" in directory or not facts.is_directory(directory):
        yield _wrong("cwd", "no_directory", "there is no such directory on this host")


def _executable(command: str, facts: LaunchFacts) -> Iterator[FieldFailure]:
    if contract.command_fault(command) is None and (
        fault := contract.allowlist_fault(command, frozenset(facts.allowed_commands()))
    ):
        yield _wrong("command", "not_allowed", fault)


def _fault(field: str, fault: str | None) -> Iterator[FieldFailure]:
    if fault is not None:
        yield _wrong(field, "unusable", fault)


def _wrong(field: str, code: str, message: str) -> FieldFailure:
    return FieldFailure(("action", field), code, message)


def _action(kind: str) -> str:
    return f"{'an' if kind == 'agent' else 'a'} {kind} action"


def _words(field: str) -> str:
    return field.replace("_", " ")
