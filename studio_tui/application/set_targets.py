"""The target of a declared member: as it is resolved on this host, and the action that it becomes (lionagi 0.36)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from studio_tui.application.action_rules import action_failures
from studio_tui.application.errors import FieldFailure
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.schedules import ScheduleAction
from studio_tui.application.models.set_document import AgentTarget, CommandTarget, FlowTarget, PlaybookTarget, Target
from studio_tui.application.ports.schedule_sets import SetFilesPort, TextFault
from studio_tui.application.schedule_declared import digest

_FIELDS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "agent": {"agent": ("target", "profile"), "model": ("target", "model"), "prompt": ("target", "prompt")},
    "play": {"playbook": ("target", "name"), "playbook_args": ("target", "args")},
    "command": {"command": ("target", "executable"), "command_args": ("target", "args")},
    "flow_yaml": {"flow_yaml": ("target", "file")},
}
_EXECUTION: Final = {"cwd": ("execution", "cwd"), "project": ("execution", "project")}
"""Where the document says what an action has, by its kind."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a set lies and where a member of it runs; ``root`` is the folder that files which are read must be in."""

    directory: str
    root: str
    cwd: str


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    """``resolved`` enters the digest; ``profile_model`` is the model of an agent's own profile, if it has one."""

    resolved: Mapping[str, Any]
    action: ScheduleAction
    profile_model: str | None = None


def resolve_target(target: Target, place: Place, project: str | None, files: SetFilesPort) -> ResolvedTarget | FieldFailure:
    """What a target comes to on this host, or what cannot be found of it."""
    own = {"cwd": place.cwd, "project": project}
    match target:
        case AgentTarget():
            return _agent(target, place, own, files)
        case FlowTarget():
            return _flow(target, place, own, files)
        case PlaybookTarget():
            args = dict(target.args)
            action = ScheduleAction(kind="play", playbook=target.name, playbook_args=args, **own)
            return ResolvedTarget({"kind": "playbook", "name": target.name, "args": args}, action)
        case CommandTarget():
            action = ScheduleAction(kind="command", command=target.executable, command_args=target.args, **own)
            return ResolvedTarget({"kind": "command", "executable": target.executable, "args": list(target.args)}, action)


def target_failures(target: ResolvedTarget, facts: LaunchFacts) -> Iterator[FieldFailure]:
    """Every rule that a resolved target breaks, with the paths that its member has."""
    fields = {**_EXECUTION, **_FIELDS[target.action.kind]}
    for fault in action_failures(target.action, facts):
        yield FieldFailure((*fields[str(fault.path[1])], *fault.path[2:]), fault.code, fault.message)
    for name, value in target.action.playbook_args.items():
        if isinstance(value, float) and not math.isfinite(value):
            yield _wrong("args", name, code="not_an_amount", message="must be a finite number")


def _agent(target: AgentTarget, place: Place, own: dict[str, Any], files: SetFilesPort) -> ResolvedTarget | FieldFailure:
    profile = files.profile(target.profile, place.cwd)
    if isinstance(profile, TextFault):
        return _wrong("profile", code=profile.code, message=profile.message)
    model = target.model or profile.model
    if not model:
        message = f"the profile {target.profile!r} names no model; name one here or there"
        return _wrong("model", code="missing", message=message)
    if not isinstance(model, str):
        message = f"the profile {target.profile!r} has the model {model!r}, which is no text; name one here"
        return _wrong("model", code="not_text", message=message)
    settings = ("model", "effort", "role", "yolo", "bypass", "fast_mode")
    seen = digest({name: getattr(profile, name) for name in settings})
    resolved = {"profile": target.profile, "prompt": target.prompt, "model": model, "profile_digest": seen}
    action = ScheduleAction(kind="agent", agent=target.profile, prompt=target.prompt, model=model, **own)
    return ResolvedTarget({"kind": "agent", **resolved}, action, profile.model if isinstance(profile.model, str) else None)


def _flow(target: FlowTarget, place: Place, own: dict[str, Any], files: SetFilesPort) -> ResolvedTarget | FieldFailure:
    if target.inputs:
        return _wrong("inputs", code="not_used", message="a flow takes no inputs here; write the values into its file")
    path = files.resolve(target.file, place.directory)
    if path != place.root and not path.startswith(place.root.rstrip("/") + "/"):
        message = f"{target.file!r} lies outside of {place.root}; allowed: files in the project of the set"
        return _wrong("file", code="outside", message=message)
    content = files.text_of(path)
    if isinstance(content, TextFault):
        return _wrong("file", code=content.code, message=content.message)
    resolved = {"kind": "flow", "file": path, "inputs": {}, "content": content, "content_digest": digest(content)}
    return ResolvedTarget(resolved, ScheduleAction(kind="flow_yaml", flow_yaml=content, **own))


def _wrong(*path: str, code: str, message: str) -> FieldFailure:
    return FieldFailure(("target", *path), code, message)
