"""What a schedule tells of the ends of its firings: to which command, and what (``lionagi.run-terminal`` 1, lionagi 0.36)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

SCHEMA: Final = "lionagi.run-terminal"
VERSION: Final = 1

CONSUMER: Final = "studio_tui.schedule_notify"
"""Who has dealt with a transition, in ``terminal_deliveries``."""

OWED: Final = f"{CONSUMER}.owed"
"""Who has not yet: such a row's time is when to try, so that a try is a lease of its own."""

LEASE: Final = 15.0
"""Seconds for which a notice belongs to whoever began to give it; after them it is given again."""

_CORRELATED: Final = ("invocation", "session", "schedule_run")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_FOR_A_SHELL: Final = re.compile(r"[|<>;&`]|\$[({A-Za-z_]")


@dataclass(frozen=True, slots=True)
class Notice:
    """The end of a firing that its schedule wants told. Times are epoch seconds; ``command`` is ``None`` when none is wanted any
    more."""

    transition_id: str
    entity: str
    entity_id: str
    previous_status: str | None
    status: str
    reason_code: str
    occurred_at: float
    leased_until: float
    schedule_name: str | None = None
    command: str | None = None


class CommandRefused(ValueError):
    """A command that is never run; the message says why."""


def wanted(status: str, notify_on: Collection[str], command: str | None) -> bool:
    """Whether a schedule wants to tell of this end."""
    return bool(command) and status in notify_on


def envelope(notice: Notice) -> dict[str, object]:
    """What the command is told, key by key as lionagi 0.36 orders them."""
    known = {f"{kind}_id": notice.entity_id if notice.entity == kind else None for kind in _CORRELATED}
    return {
        "schema": SCHEMA,
        "schema_version": VERSION,
        "event_id": notice.transition_id,
        "durable": True,
        "entity": {"kind": notice.entity, "id": notice.entity_id},
        "previous_status": notice.previous_status,
        "terminal_status": notice.status,
        "reason_code": notice.reason_code,
        "occurred_at": notice.occurred_at,
        "correlation": {**known, "run_id": None},
        "artifacts": [],
    }


def argv_of(command: str) -> tuple[str, ...]:
    """The arguments of a command. There is no shell: raises :class:`CommandRefused` for what only a shell would understand."""
    if _FOR_A_SHELL.search(_QUOTED.sub("", command)):
        raise CommandRefused("it wants a shell (a pipe, a redirection, a variable, several commands), and none is used")
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise CommandRefused(f"its quotes cannot be read: {error}") from None
    if not argv:
        raise CommandRefused("it is empty")
    return argv
