"""``studio-tui schedules create agent|command|flow|playbook``: the grammar of ``li schedule create`` (lionagi 0.36)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.cli.schedules import print_result
from studio_tui.cli.session import as_operator, json_option, made, perform, print_document
from studio_tui.cli.values import arguments, instant, seconds

if TYPE_CHECKING:
    from studio_tui.application.models.schedules import Trigger

Command = Callable[..., Any]

_SHARED: Final[Sequence[Callable[[Command], Command]]] = (
    click.option("--cron", metavar="EXPR", help='A cron expression, such as "0 2 * * *".'),
    click.option("--timezone", metavar="ZONE", help="The IANA zone of --cron; without it, this machine's."),
    click.option("--every", metavar="DURATION", callback=seconds, help="An interval, such as 30s, 15m, 6h or 2d."),
    click.option("--at", metavar="RFC3339", callback=instant, help="Fire once, such as 2026-07-15T09:00:00-04:00."),
    click.option("--once", is_flag=True, help="The same as --max-runs 1."),
    click.option("--max-runs", type=click.IntRange(1), metavar="N", help="Turn it off after N runs."),
    click.option("--overlap", type=click.Choice(("skip", "allow")), default="skip", show_default=True),
    click.option("--missed-fire", type=click.Choice(("skip", "run-once", "run_once")), default="skip", show_default=True),
    click.option(
        "--cwd", type=click.Path(path_type=Path), metavar="DIR", help="Where it runs; the current directory if not given."
    ),
    click.option("--project", metavar="NAME", help="The project that its runs belong to."),
    click.option("--budget-usd", type=float, metavar="USD", help="Turn it off when its runs have cost this much."),
    click.option(
        "--budget-tokens", type=click.IntRange(1), metavar="N", help="Turn it off when its runs have used so many tokens."
    ),
    click.option("--description", metavar="TEXT"),
    click.option("--disabled", is_flag=True, help="Make it, and leave it off."),
    json_option,
    click.pass_obj,
    as_operator,
)


def _shared(command: Command) -> Command:
    """The options that every kind has."""
    for decorate in reversed(_SHARED):
        command = decorate(command)
    return command


@click.group()
def create() -> None:
    """Make a schedule."""


@create.command("agent")
@click.argument("name")
@click.option("--agent", "--profile", "agent", metavar="NAME", help="The agent to run.")
@click.option("--prompt", metavar="TEXT")
@click.option(
    "--prompt-file", type=click.File(encoding="utf-8"), metavar="PATH", help="Read the prompt from a file; - is standard input."
)
@click.option("--model", metavar="MODEL", help="Instead of the agent's own.")
@_shared
def agent(flags: dict[str, object], /, name: str, prompt: str | None, prompt_file: Any, as_json: bool, **rest: Any) -> None:
    """Run an agent with a prompt."""
    action = {"kind": "agent", "agent": rest.pop("agent"), "model": rest.pop("model"), "prompt": _prompt(prompt, prompt_file)}
    _create(flags, name, action, as_json=as_json, **rest)


@create.command("flow")
@click.argument("name")
@click.option("--file", "file", type=click.File(encoding="utf-8"), metavar="FILE", help="A flow written in YAML.")
@click.option("--model", metavar="MODEL")
@click.option("--prompt", metavar="TEXT", help="Let a flow be planned for this, instead of --file.")
@click.option(
    "--prompt-file", type=click.File(encoding="utf-8"), metavar="PATH", help="Read the prompt from a file; - is standard input."
)
@_shared
def flow(
    flags: dict[str, object], /, name: str, file: Any, prompt: str | None, prompt_file: Any, as_json: bool, **rest: Any
) -> None:
    """Run a flow, from a file or planned for a prompt."""
    task = _prompt(prompt, prompt_file)
    if (file is None) == (task is None):
        raise click.UsageError("give either --file or a prompt", click.get_current_context())
    action = {"kind": "flow", "prompt": task} if file is None else {"kind": "flow_yaml", "flow_yaml": _read(file)}
    _create(flags, name, {**action, "model": rest.pop("model")}, as_json=as_json, **rest)


@create.command("playbook")
@click.argument("name")
@click.option("--playbook", required=True, metavar="NAME")
@click.option("--arg", "playbook_args", multiple=True, callback=arguments, metavar="KEY=VALUE", help="May be repeated.")
@click.option("--prompt", metavar="TEXT")
@_shared
def playbook(flags: dict[str, object], /, name: str, as_json: bool, **rest: Any) -> None:
    """Run a playbook."""
    action = {"kind": "play", **{key: rest.pop(key) for key in ("playbook", "playbook_args", "prompt")}}
    _create(flags, name, action, as_json=as_json, **rest)


@create.command("command", epilog="Example: studio-tui schedules create command clock --every 15m -- date -u")
@click.argument("name")
@click.argument("command_line", nargs=-1, type=click.UNPROCESSED, metavar="-- EXECUTABLE [ARG]...")
@_shared
def command(flags: dict[str, object], /, name: str, command_line: tuple[str, ...], as_json: bool, **rest: Any) -> None:
    """Run an executable of the allow-list, without a shell. Everything after -- belongs to it."""
    if not command_line:
        raise click.UsageError("end the line with -- and the executable to run", click.get_current_context())
    action = {"kind": "command", "command": command_line[0], "command_args": command_line[1:]}
    _create(flags, name, action, as_json=as_json, **rest)


def _create(flags: dict[str, object], name: str, action: dict[str, Any], *, as_json: bool, **rest: Any) -> None:
    from studio_tui.application.models.schedules import CreateSchedule

    directory = Path(rest["cwd"] or ".").expanduser().absolute()
    request = made(
        CreateSchedule,
        name=name,
        trigger=_trigger(rest["cron"], rest["timezone"], rest["every"], rest["at"]),
        action={**action, "cwd": os.path.normpath(directory), "project": rest["project"]},
        description=rest["description"],
        enabled=not rest["disabled"],
        missed_fire_policy=rest["missed_fire"].replace("-", "_"),
        overlap_policy=rest["overlap"],
        max_runs=_max_runs(once=rest["once"], max_runs=rest["max_runs"]),
        budget_usd=rest["budget_usd"],
        budget_tokens=rest["budget_tokens"],
        project=rest["project"],
    )
    result = perform(flags, lambda studio: studio.schedules.create_schedule(request))
    if as_json:
        print_document(result)
    else:
        print_result(result)


def _trigger(cron: str | None, timezone: str | None, every: int | None, at: float | None) -> Trigger:
    from studio_tui.application.models.schedules import AtTrigger, CronTrigger, IntervalTrigger

    given = [name for name, value in (("--cron", cron), ("--every", every), ("--at", at)) if value is not None]
    if len(given) != 1:
        wrong = f"{' and '.join(given)} exclude each other" if given else "say when: --cron, --every or --at"
        raise click.UsageError(wrong, click.get_current_context())
    if timezone is not None and cron is None:
        raise click.UsageError("--timezone goes with --cron", click.get_current_context())
    if cron is not None:
        return made(CronTrigger, expression=cron, timezone=timezone)
    return made(IntervalTrigger, seconds=every) if every is not None else made(AtTrigger, at=at)


def _max_runs(*, once: bool, max_runs: int | None) -> int | None:
    if once and max_runs not in (None, 1):
        raise click.UsageError("--once and --max-runs exclude each other", click.get_current_context())
    return 1 if once else max_runs


def _prompt(prompt: str | None, file: Any) -> str | None:
    if prompt is not None and file is not None:
        raise click.UsageError("--prompt and --prompt-file exclude each other", click.get_current_context())
    return _read(file) if file is not None else prompt


def _read(file: Any) -> str:
    try:
        return str(file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file.name} cannot be read as text", click.get_current_context()) from error
