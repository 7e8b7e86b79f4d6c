"""``studio-tui schedules create agent|command|fanout|flow|playbook``: the grammar of ``li schedule create`` (lionagi 0.36)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import click

from studio_tui.cli.schedule_options import (
    CHAIN,
    CHAIN_HELP,
    LIMITS,
    PROMPT,
    WHEN,
    Command,
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

_OWN: Final = (
    click.option(
        "--cwd", type=click.Path(path_type=Path), metavar="DIR", help="Where it runs; the current directory if not given."
    ),
    click.option("--disabled", is_flag=True, help="Make it, and leave it off."),
    json_option,
    click.pass_obj,
    as_operator,
)


def _shared(command: Command) -> Command:
    """The options that every kind has."""
    return options(WHEN, LIMITS, CHAIN, _OWN)(command)


@click.group()
def create() -> None:
    """Make a schedule."""


@create.command("agent", epilog=CHAIN_HELP)
@click.argument("name")
@click.option("--agent", "--profile", "agent", metavar="NAME", help="The agent to run.")
@click.option("--model", metavar="MODEL", help="Instead of the agent's own.")
@options(PROMPT)
@_shared
def agent(flags: dict[str, object], /, name: str, prompt: str | None, prompt_file: Any, as_json: bool, **rest: Any) -> None:
    """Run an agent with a prompt."""
    task = text_of(prompt, prompt_file, "prompt")
    action = {"kind": "agent", "agent": rest.pop("agent"), "model": rest.pop("model"), "prompt": task}
    _create(flags, name, action, as_json=as_json, **rest)


@create.command("flow", epilog=CHAIN_HELP)
@click.argument("name")
@click.option("--file", "file", type=click.File(encoding="utf-8"), metavar="FILE", help="A flow written in YAML.")
@click.option("--model", metavar="MODEL")
@options(PROMPT)
@_shared
def flow(
    flags: dict[str, object], /, name: str, file: Any, prompt: str | None, prompt_file: Any, as_json: bool, **rest: Any
) -> None:
    """Run a flow, from a file or planned for a prompt."""
    task = text_of(prompt, prompt_file, "prompt")
    if (file is None) == (task is None):
        raise click.UsageError("give either --file or a prompt", click.get_current_context())
    action = {"kind": "flow", "prompt": task} if file is None else {"kind": "flow_yaml", "flow_yaml": read(file)}
    _create(flags, name, {**action, "model": rest.pop("model")}, as_json=as_json, **rest)


@create.command("fanout", epilog=CHAIN_HELP)
@click.argument("name")
@click.option("--model", metavar="MODEL")
@options(PROMPT)
@_shared
def fanout(flags: dict[str, object], /, name: str, prompt: str | None, prompt_file: Any, as_json: bool, **rest: Any) -> None:
    """Give one task to several workers at once."""
    action = {"kind": "fanout", "model": rest.pop("model"), "prompt": text_of(prompt, prompt_file, "prompt")}
    _create(flags, name, action, as_json=as_json, **rest)


@create.command("playbook", epilog=CHAIN_HELP)
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

    trigger = trigger_of(rest)
    if trigger is None:
        raise click.UsageError("say when: --cron, --every, --at or --github", click.get_current_context())
    directory = Path(rest["cwd"] or ".").expanduser().absolute()
    request = made(
        CreateSchedule,
        name=name,
        trigger=trigger,
        action={**action, **chain_of(rest), "cwd": os.path.normpath(directory), "project": rest["project"]},
        enabled=not rest["disabled"],
        **limits_of(rest),
    )
    result = perform(flags, lambda studio: studio.schedules.create_schedule(request))
    if as_json:
        print_document(result)
    else:
        print_result(result)
