"""``studio-tui schedules update``: change the fields that are named, and no others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.cli.schedule_options import (
    CHAIN,
    CHAIN_HELP,
    LIMITS,
    PROMPT,
    WHEN,
    chain_of,
    limits_of,
    options,
    read,
    text_of,
    trigger_of,
)
from studio_tui.cli.schedules import print_result
from studio_tui.cli.session import as_operator, json_option, made, perform, print_document
from studio_tui.cli.values import arguments

if TYPE_CHECKING:
    from studio_tui.application.models.schedules import ScheduleDetail, SchedulePatch, ScheduleResult, Trigger
    from studio_tui.application.studio import Studio

_KINDS: Final = ("agent", "flow", "fanout", "play", "flow_yaml", "command")
_PLAIN: Final = {
    "description": "description",
    "max-runs": "max_runs",
    "budget-usd": "budget_usd",
    "budget-tokens": "budget_tokens",
    "rate": "rate_limit",
    "threshold": "threshold_config",
    "github-cursor": "github_cursor",
    "project": "project",
}
_OF_ACTION: Final[dict[str, tuple[str, object]]] = {
    "agent": ("agent", None),
    "model": ("model", None),
    "prompt": ("prompt", None),
    "playbook": ("playbook", None),
    "arg": ("playbook_args", {}),
    "file": ("flow_yaml", None),
    "cwd": ("cwd", None),
    "project": ("project", None),
    "command-args": ("command_args", ()),
    "extra-arg": ("extra_args", ()),
    "on-success": ("on_success", None),
    "on-fail": ("on_fail", None),
}
_OF_TRIGGER: Final[dict[str, tuple[str, object]]] = {"timezone": ("timezone", None), "github-filter": ("filters", {})}
_CLEARABLE: Final = tuple(dict.fromkeys((*_PLAIN, *_OF_ACTION, *_OF_TRIGGER)))


@click.command("update", epilog=CHAIN_HELP)
@click.argument("schedule", metavar="SCHEDULE")
@click.argument("command_line", nargs=-1, type=click.UNPROCESSED, metavar="[-- EXECUTABLE [ARG]...]")
@click.option("--name", metavar="NAME", help="Another name.")
@click.option("--kind", type=click.Choice(_KINDS), help="Run something else; what only the old kind used goes.")
@click.option("--agent", "--profile", "agent", metavar="NAME")
@click.option("--model", metavar="MODEL")
@options(PROMPT)
@click.option("--playbook", metavar="NAME")
@click.option("--arg", "playbook_args", multiple=True, callback=arguments, metavar="KEY=VALUE", help="All arguments, anew.")
@click.option("--file", "file", type=click.File(encoding="utf-8"), metavar="FILE", help="A flow written in YAML.")
@click.option("--cwd", type=click.Path(path_type=Path), metavar="DIR", help="Where it runs.")
@click.option("--github-cursor", metavar="CURSOR", help="Where the polls of the repository go on.")
@options(WHEN, LIMITS, CHAIN)
@click.option("--clear", multiple=True, type=click.Choice(_CLEARABLE), help="Leave this field empty; may be repeated.")
@click.option("--expected-updated-at", type=float, metavar="EPOCH", help="Only if updated_at is this still (see show --json).")
@json_option
@click.pass_obj
@as_operator
def update(flags: dict[str, object], /, schedule: str, as_json: bool, expected_updated_at: float | None, **given: Any) -> None:
    """Change a schedule. What is not named stays as it is; a new trigger counts from now."""
    result = perform(flags, lambda studio: _update(studio, schedule, expected_updated_at, given))
    if as_json:
        print_document(result)
        return
    print_result(result)
    print(f"changed: {', '.join(result.changed)}" if result.changed else "nothing had to be changed")


async def _update(studio: Studio, text: str, expected: float | None, given: dict[str, Any]) -> ScheduleResult:
    from studio_tui.application.errors import StateUnavailable
    from studio_tui.application.models.schedules import PatchSchedule

    found = await studio.schedules.get_schedule(await studio.schedules.resolve_schedule(text))
    seen = expected if expected is not None else found.updated_at
    if seen is None:
        raise StateUnavailable(f"the version of {found.name} cannot be read", retryable=False)
    changes = _changes(found, given)
    return await studio.schedules.patch_schedule(
        PatchSchedule(schedule_id=found.schedule_id, expected_updated_at=seen, changes=changes)
    )


def _changes(found: ScheduleDetail, given: dict[str, Any]) -> SchedulePatch:
    from studio_tui.application.models.schedules import SchedulePatch

    clear: tuple[str, ...] = given["clear"]
    values = {**limits_of(given), **{_PLAIN[name]: None for name in clear if name in _PLAIN}}
    values |= {name: given[name] for name in ("name", "github_cursor") if given[name] is not None}
    for name, part in (("trigger", _trigger(found, given, clear)), ("action", _action(found, given, clear))):
        if part is not None:
            values[name] = part
    if not values:
        raise click.UsageError("name at least one field to change", click.get_current_context())
    return made(SchedulePatch, **values)


def _trigger(found: ScheduleDetail, given: dict[str, Any], clear: tuple[str, ...]) -> Trigger | None:
    """The trigger that is named; or the stored one with another zone or filter, where only that is named."""
    sent = trigger_of(given)
    cleared = dict(_OF_TRIGGER[name] for name in clear if name in _OF_TRIGGER)
    if given["timezone"] is not None and sent is None:
        cleared["timezone"] = given["timezone"]
    if not cleared:
        return sent
    stored = sent or (found.definition.trigger if found.definition is not None else None)
    if stored is None or not set(cleared) <= set(type(stored).model_fields):
        raise click.UsageError(f"the trigger of {found.name} has no {' and no '.join(cleared)}", click.get_current_context())
    return stored.model_copy(update=cleared)


def _action(found: ScheduleDetail, given: dict[str, Any], clear: tuple[str, ...]) -> dict[str, Any] | None:
    """The fields of the action that are named."""
    line: tuple[str, ...] = given["command_line"]
    task = text_of(given["prompt"], given["prompt_file"], "prompt")
    named = {"agent": given["agent"], "model": given["model"], "prompt": task, "playbook": given["playbook"]}
    named |= {"project": given["project"], "playbook_args": given["playbook_args"] or None}
    sent = {**{name: value for name, value in named.items() if value is not None}, **chain_of(given)}
    if given["file"] is not None:
        sent["flow_yaml"] = read(given["file"])
    if given["cwd"] is not None:
        sent["cwd"] = os.path.normpath(given["cwd"].expanduser().absolute())
    if line:
        sent |= {"command": line[0], "command_args": line[1:]}
    sent |= dict(_OF_ACTION[name] for name in clear if name in _OF_ACTION)
    if not sent and given["kind"] is None:
        return None
    implied = "command" if line else "flow_yaml" if given["file"] is not None else found.action_kind
    return {"kind": given["kind"] or implied, **sent}
