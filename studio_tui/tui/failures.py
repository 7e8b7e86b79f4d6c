"""Errors as an operator reads them: what happened, what it means for the data, and which key helps.

Screens never show an exception's text by themselves. The closed errors of the application each have their sentence here; anything
else is a fault of ours, gets an id, and goes to the log with its traceback.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass

from studio_tui.application.errors import (
    Conflict,
    NotFound,
    PermissionDenied,
    ReconciliationRequired,
    StateUnavailable,
    StudioApplicationError,
    ValidationFailure,
)
from studio_tui.tui.widgets.notice import Notice

log = logging.getLogger(__name__)
_READ_AGAIN = (("r", "read again"),)


@dataclass(frozen=True, slots=True)
class Explained:
    """One failure in words. ``retry`` says that reading again by itself is safe and may help."""

    what: str
    meaning: str
    severity: str = "error"
    retry: bool = False

    @property
    def sentence(self) -> str:
        """Both parts in one line, for a toast."""
        return f"{self.what}: {self.meaning}" if self.meaning else self.what


def explain(error: BaseException) -> Explained:
    """A failure of an operation, in words."""
    match error:
        case StateUnavailable(reason=reason, retryable=retryable):
            return Explained("the store does not answer", reason, "warning" if retryable else "error", retryable)
        case NotFound(resource=resource, identifier=identifier):
            return Explained(f"no {resource} {identifier}", "it was deleted, or retention took it", "warning")
        case Conflict():
            return Explained("changed meanwhile, nothing was done", str(error), "warning")
        case PermissionDenied(reason=reason):
            return Explained("not allowed, nothing was done", reason, "warning")
        case ReconciliationRequired(reconciliation_id=item):
            return Explained(f"half done, kept as {item}", str(error))
        case ValidationFailure():
            return Explained("not accepted, nothing was stored", str(error), "warning")
        case StudioApplicationError():
            return Explained("it did not work", str(error))
        case _:
            return Explained(f"unexpected fault {record(error)}", "the console goes on; the log has the details")


def notice(error: BaseException) -> Notice:
    """A failure of a read, as the state of a pane."""
    said = explain(error)
    why = tuple(part for part in (said.meaning, "reading again by itself" if said.retry else "") if part)
    return Notice(said.what, why, _READ_AGAIN, token="warn" if said.severity == "warning" else "fail")


def opening_notice(error: BaseException) -> Notice:
    """The store or the program could not be opened: a whole pane."""
    said = explain(error)
    return Notice(
        f"cannot open: {said.what}",
        (said.meaning, "nothing was written; the data is as it was before"),
        (("r", "try again"), ("q", "quit")),
        token="bold fail",
    )


def record(error: BaseException) -> str:
    """Write an unexpected exception to the log; the id that finds it there."""
    fault = secrets.token_hex(3)
    log.error("fault %s", fault, exc_info=error)
    return fault
