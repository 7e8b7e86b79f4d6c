"""The root command: global flags, the verbs, and what becomes of errors."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from studio_tui import __version__
from studio_tui.application.errors import StudioApplicationError
from studio_tui.cli.lazy import LazyGroup
from studio_tui.cli.trouble import crashed, refused, report

VERBS: Final[Mapping[str, tuple[str, str]]] = {
    "demo": ("studio_tui.cli.demo:demo", "Open the console on a throw-away home with sample data."),
    "init": ("studio_tui.cli.init:init", "Make a store in a home that has none."),
    "runs": ("studio_tui.cli.runs:runs", "List and read runs."),
    "schedules": ("studio_tui.cli.schedules:schedules", "List, make, change, explain and fire schedules."),
    "shows": ("studio_tui.cli.shows:shows", "List and read shows and their plays."),
    "definitions": ("studio_tui.cli.definitions:definitions", "List, read and save agents, playbooks and skills."),
    "workflows": ("studio_tui.cli.workflows:workflows", "List, read and change workflows."),
    "artifacts": ("studio_tui.cli.artifacts:artifacts", "List what runs left, and look into it."),
    "evidence": ("studio_tui.cli.evidence:evidence", "See what runs tell; say something to a running one."),
    "invocations": ("studio_tui.cli.invocations:invocations", "List and read what started runs."),
    "engine-runs": ("studio_tui.cli.engine_runs:engine_runs", "List and read runs of engines."),
    "teams": ("studio_tui.cli.teams:teams", "List and read teams."),
    "tags": ("studio_tui.cli.tags:tags", "List tags; write tags and labels on runs."),
    "projects": ("studio_tui.cli.projects:projects", "List, make and change projects."),
    "attention": ("studio_tui.cli.attention:attention", "Decide about what needs attention."),
    "approvals": ("studio_tui.cli.approvals:approvals", "See what waits for approval, and decide it."),
    "outbox": ("studio_tui.cli.outbox:outbox", "List, retry and purge messages."),
    "stats": ("studio_tui.cli.stats:stats", "Sum up how runs ended and what they cost."),
    "state": ("studio_tui.cli.state:state", "Upgrade the store, and look after it."),
    "scheduler": ("studio_tui.cli.scheduler:scheduler", "Host the scheduler without a screen; say who hosts it."),
    "contract": ("studio_tui.cli.contract:contract", "Write the schemas of operations and documents."),
    "doctor": ("studio_tui.cli.doctor:doctor", "Check what the program depends on."),
    "screenshots": ("studio_tui.cli.screenshots:screenshots", "Write pictures of every screen, on sample data."),
}

_SIGNALLED: Final = 128
_EXIT_HELP: Final = """\b
Exit codes: 0 done, 1 anything else, 2 wrong input, 3 not found, 4 conflict,
5 store unavailable, 6 reconciliation required, 7 not permitted."""


@click.group(cls=LazyGroup, verbs=VERBS, invoke_without_command=True, epilog=_EXIT_HELP)
@click.version_option(__version__, prog_name="studio-tui")
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="The lionagi home to work on.")
@click.option("--db", metavar="URL", help="The store to work on: an address or a path.")
@click.option("--read-only", is_flag=True, default=None, help="Change nothing and host nothing.")
@click.option("--scheduler/--no-scheduler", default=None, help="Host the scheduler for this start, or do not.")
@click.option("--theme", metavar="NAME", help="dark, light, contrast, ansi or mono.")
@click.option("--ascii", is_flag=True, default=None, help="Draw with ASCII characters only.")
@click.pass_context
def studio_tui(context: click.Context, /, **flags: Any) -> None:
    """A console for lionagi's runs, shows, schedules and definitions, with the scheduler inside.

    Without a command it opens the console on $LIONAGI_HOME (or ~/.lionagi).
    """
    context.obj = {name: value for name, value in flags.items() if value is not None}
    if context.invoked_subcommand is None:
        from studio_tui.console import run_console

        context.exit(run_console(context.obj))


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code. Errors are one line on standard error, or one JSON document with ``--json``."""
    as_json = "--json" in arguments[: arguments.index("--")] if "--" in arguments else "--json" in arguments
    try:
        # Not main(): it would take a broken pipe for a failure.
        with studio_tui.make_context("studio-tui", list(arguments)) as context:
            studio_tui.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as left:
        return _flushed(left.exit_code)
    except click.UsageError as error:
        return refused(error, as_json=as_json)
    except StudioApplicationError as error:
        return report(error, as_json=as_json)
    except BrokenPipeError:
        return _unread()
    except (KeyboardInterrupt, click.Abort):
        return _SIGNALLED + signal.SIGINT
    except Exception as error:
        return crashed(error, as_json=as_json)
    return 0


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _unread()
    return code


def _unread() -> int:
    """Whoever read our output has seen enough. The interpreter must not try to flush the rest of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return _SIGNALLED + signal.SIGPIPE
