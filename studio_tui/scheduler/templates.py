"""What a firing passes on: prompts, command arguments and flow files, with ``{{name}}`` filled from the trigger's context."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Final

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler import contract
from studio_tui.scheduler.refusal import FAILED, LaunchRefused

_TEMPLATE: Final = re.compile(r"\{\{(\w+)\}\}")
_RENDERED_ARGUMENT: Final = re.compile(r"[A-Za-z0-9_./:@\-+= ]+\Z")


def rendered_prompt(schedule: ScheduleRecord, context: Mapping[str, object]) -> str | None:
    """The prompt with its templates filled; ``None`` when the action has or sends none.

    A name without a value stays as it is written. Raises :class:`LaunchRefused` when the result cannot be passed on.
    """
    if not schedule.action_prompt or not sends_prompt(schedule):
        return None
    prompt = _render(schedule.action_prompt, context)
    play = schedule.action_kind == "play"
    if not prompt.strip() and not play:
        raise LaunchRefused(FAILED, "the prompt is empty once its templates are filled")
    if fault := contract.prompt_fault(prompt, play=play):
        raise LaunchRefused(FAILED, fault)
    return prompt


def unfilled(schedule: ScheduleRecord, context: Mapping[str, object]) -> tuple[str, ...]:
    """The ``{{names}}`` in what the action sends for which ``context`` has no value, in order of the alphabet."""
    if schedule.action_kind == "command":
        templates = list(schedule.action_command_args)
    else:
        templates = [schedule.action_prompt or ""] if sends_prompt(schedule) else []
    names = {name for template in templates for name in _TEMPLATE.findall(template)}
    return tuple(sorted(name for name in names if _value(name, context) is None))


def flow_text(schedule: ScheduleRecord) -> str:
    """The text of the flow file: as stored, with the schedule's model put in where it names one.

    Raises :class:`LaunchRefused` when a model cannot be put in because the text is no YAML mapping.
    """
    text = schedule.action_flow_yaml or ""
    if not schedule.action_model:
        return text
    from ruamel.yaml import YAML  # only flows need it
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    try:
        flow = yaml.load(text)
    except YAMLError as error:
        raise LaunchRefused(FAILED, f"the flow is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(flow, dict):
        raise LaunchRefused(FAILED, "the flow is not a YAML mapping")
    flow["model"] = schedule.action_model
    written = io.StringIO()
    yaml.dump(flow, written)
    return written.getvalue()


def _render(template: str, context: Mapping[str, object]) -> str:
    def fill(found: re.Match[str]) -> str:
        value = _value(found[1], context)
        return found[0] if value is None else value

    return _TEMPLATE.sub(fill, template)


def _value(name: str, context: Mapping[str, object]) -> str | None:
    """What a template's name stands for: a field of the first GitHub event, else of the context."""
    events = context.get("github_events")
    if isinstance(events, Sequence) and events and isinstance(events[0], Mapping) and events[0].get(name) is not None:
        return str(events[0][name])
    return str(context[name]) if name in context else None


def sends_prompt(schedule: ScheduleRecord) -> bool:
    """Whether the action passes its prompt on: a command sends its arguments, a flow its file."""
    return schedule.action_kind not in ("command", "flow_yaml")


def command_arguments(schedule: ScheduleRecord, context: Mapping[str, object]) -> tuple[str, ...]:
    """The arguments of a command with their templates filled. Raises :class:`LaunchRefused` for one that is not harmless."""
    return tuple(_command_argument(argument, context) for argument in schedule.action_command_args)


def _command_argument(template: str, context: Mapping[str, object]) -> str:
    """One argument. What the author wrote is free; what a template filled in comes from outside and must be harmless.

    The filled text is not in the message: it may hold the payload of somebody else's event.
    """
    rendered = _render(template, context)
    if fault := contract.argument_fault(f"command argument {template[:80]!r}", rendered):
        raise LaunchRefused(FAILED, fault)
    names = _TEMPLATE.findall(template)
    if not names:
        return rendered
    missing = sorted({name for name in names if _value(name, context) is None})
    if missing:
        raise LaunchRefused(FAILED, f"command argument {template!r}: there is no value for {', '.join(missing)}")
    if rendered.startswith("-"):
        raise LaunchRefused(FAILED, f"command argument {template!r}: filled in, it begins with '-' and would be an option")
    if not _RENDERED_ARGUMENT.match(rendered):
        allowed = "letters, digits, blanks and _ . / : @ - + ="
        raise LaunchRefused(FAILED, f"command argument {template!r}: filled in, it holds other characters than {allowed}")
    return rendered
