"""How the command line says that something went wrong: one line, or one JSON document, on standard error."""

from __future__ import annotations

import difflib
import json
import logging
import re
import sys

import click

from studio_tui.application.errors import (
    Conflict,
    FieldFailure,
    NotFound,
    ReconciliationRequired,
    StateUnavailable,
    StudioApplicationError,
    ValidationFailure,
)
from studio_tui.application.text import clean

_LOG = logging.getLogger(__name__)
_UNEXPECTED = 1
_NO_COMMAND = re.compile(r"No such command '(.+?)'")


def report(error: StudioApplicationError, *, as_json: bool) -> int:
    """Print one of the closed errors; its exit code."""
    _print(error.code, str(error), _details(error), as_json=as_json)
    return error.exit_code


def refused(error: click.UsageError, *, as_json: bool) -> int:
    """Print what is wrong with the command line, and where its help is."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return _nameless(error, as_json=as_json)
    path = error.ctx.command_path if error.ctx else "studio-tui"
    message = " ".join(error.format_message().split()).rstrip(".") + _nearest(error)
    _print("validation", message if as_json else f"{message} (see {path} --help)", {}, as_json=as_json)
    return ValidationFailure.exit_code


def _nameless(error: click.exceptions.NoArgsIsHelpError, *, as_json: bool) -> int:
    """A noun without its verb: to a person the help that lists the verbs, to a program one line."""
    if as_json:
        _print("validation", f"{error.ctx.command_path} needs a command", {}, as_json=True)
    else:
        print(error.ctx.get_help(), file=sys.stderr)
    return ValidationFailure.exit_code


def _nearest(error: click.UsageError) -> str:
    """What was likely meant instead of a command that does not exist."""
    group = error.ctx.command if error.ctx else None
    wrong = _NO_COMMAND.match(error.format_message())
    if wrong is None or not isinstance(group, click.Group) or error.ctx is None:
        return ""
    near = difflib.get_close_matches(wrong[1], group.list_commands(error.ctx), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def crashed(error: Exception, *, as_json: bool) -> int:
    """Print that something unforeseen happened; the log has the rest."""
    _LOG.error("unexpected fault", exc_info=error)
    _print("error", f"an unexpected fault ({type(error).__name__}); the log tells more", {}, as_json=as_json)
    return _UNEXPECTED


def warn(sentence: str) -> None:
    """Print something that should be known and stops nothing."""
    print(f"studio-tui: {clean(sentence)}", file=sys.stderr)


def _print(code: str, message: str, details: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": {"code": code, "message": message, **details}}), file=sys.stderr)
    else:
        warn(message)


def _field(fault: FieldFailure) -> dict[str, object]:
    place = {} if fault.line is None else {"line": fault.line}
    return {"path": list(fault.path), "code": fault.code, "message": fault.message, **place}


def _details(error: StudioApplicationError) -> dict[str, object]:
    """The structured part of an error, for whoever reads the document by program."""
    match error:
        case ValidationFailure():
            return {"field_errors": [_field(fault) for fault in error.field_errors]}
        case NotFound():
            return {"resource": error.resource, "identifier": error.identifier}
        case Conflict():
            both = {name: {"yours": yours, "stored": stored} for name, (yours, stored) in error.differences.items()}
            sides: dict[str, object] = {"resource": error.resource, "expected": error.expected, "actual": error.actual}
            return {**sides, "differences": both} if both else sides
        case StateUnavailable():
            return {"retryable": error.retryable}
        case ReconciliationRequired():
            return {"reconciliation_id": error.reconciliation_id}
        case _:
            return {}
