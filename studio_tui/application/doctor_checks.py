"""The doctor's verdicts: pure, each from what a probe answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from studio_tui.application.hosting import holder_words
from studio_tui.application.models.host import Check
from studio_tui.application.ports import SchedulerHostPort, StoreCondition
from studio_tui.application.ports.commands import Transport
from studio_tui.domain.schedules import Zone

_NUMBERS: Final = re.compile(r"\d+")
_NEEDED: Final = ("croniter",)


def store(condition: StoreCondition) -> Check:
    """What the store is and what may be done with it."""
    version = f", version {condition.version}" if condition.version else ""
    match condition.mode:
        case "ready":
            return Check(name="store", outcome="ok", detail=f"{condition.label}{version}")
        case "read_only":
            detail = f"{condition.label}{version} is open for reading only: {condition.reason or 'no reason given'}"
            return Check(name="store", outcome="warn", detail=detail)
        case "missing":
            fix = "open the console and let it create one, or run li once"
            return Check(name="store", outcome="warn", detail=f"{condition.label} does not exist", fix=fix)
        case "unavailable":
            return Check(name="store", outcome="fail", detail=f"{condition.label}: {condition.reason or 'cannot be opened'}")


def database(dialect: str, version: str | None) -> Check:
    """The database library; for SQLite also whether it may lose commits when several processes reset the log."""
    name = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}.get(dialect, dialect)
    if version is None:
        return Check(name="database", outcome="warn", detail=f"{name} did not tell its version")
    if dialect != "sqlite" or not has_reset_fault(version):
        return Check(name="database", outcome="ok", detail=f"{name} {version}")
    return Check(
        name="database",
        outcome="warn",
        detail=f"{name} {version} has the WAL-reset fault: writes of several processes may rarely damage the store",
        fix="use a Python that is linked to SQLite 3.51.3 or newer (3.50.7 and 3.44.6 are mended too)",
    )


def has_reset_fault(version: str) -> bool:
    """Whether a SQLite has the WAL-reset fault.

    It came with 3.7.0 and was mended in 3.51.3, 3.50.7 and 3.44.6 (lionagi 0.36). An unreadable version is not accused.
    """
    numbers = tuple(int(number) for number in _NUMBERS.findall(version)[:3])
    if len(numbers) < 2:
        return False
    major, minor, patch = (*numbers, 0)[:3]
    if (major, minor, patch) < (3, 7, 0) or (major, minor, patch) >= (3, 51, 3):
        return False
    return not ((minor == 50 and patch >= 7) or (minor == 44 and patch >= 6))


def journal(dialect: str, mode: str | None) -> Check:
    """How SQLite keeps its log; lionagi relies on WAL."""
    if dialect != "sqlite":
        return Check(name="journal", outcome="skip", detail="SQLite only")
    if (mode or "").lower() == "wal":
        return Check(name="journal", outcome="ok", detail="WAL")
    return Check(
        name="journal", outcome="warn", detail=f"{mode or 'unknown'} instead of WAL; it is set when the store is written"
    )


def schema(problems: Sequence[str]) -> Check:
    """Whether the store's tables are those of lionagi."""
    if not problems:
        return Check(name="schema", outcome="ok", detail="as lionagi 0.36 makes it")
    shown = "; ".join(problems[:3]) + (f"; and {len(problems) - 3} more" if len(problems) > 3 else "")
    return Check(name="schema", outcome="warn", detail=shown, fix="open the store once with li, which brings it up to date")


def host(scheduler: SchedulerHostPort) -> Check:
    """Who hosts the scheduler."""
    holder = holder_words(scheduler.holder)
    because = f": {scheduler.reason}" if scheduler.reason else ""
    if scheduler.state == "hosting":
        return Check(name="scheduler", outcome="ok", detail="this process hosts it")
    if scheduler.state == "stalled":
        return Check(name="scheduler", outcome="fail", detail=f"hosted here, but it does not get on{because}")
    if holder is not None:
        return Check(name="scheduler", outcome="ok", detail=f"hosted by {holder}{because}")
    return Check(
        name="scheduler",
        outcome="warn",
        detail=f"nobody hosts it, so no schedule fires{because}",
        fix="open the console, or run studio-tui scheduler run",
    )


def li(path: str | None) -> Check:
    """Whether firings that run agents, flows and plays find their program. Its version is not asked: that takes a second."""
    if path is not None:
        return Check(name="li", outcome="ok", detail=path)
    return Check(
        name="li",
        outcome="warn",
        detail="not on PATH: agents, flows, fanouts and plays cannot be launched; commands can",
        fix="install lionagi, or start this program where li is on PATH",
    )


def packages(versions: Mapping[str, str | None]) -> tuple[Check, ...]:
    """The packages that decide about behaviour."""
    return tuple(
        Check(name=name, outcome="ok", detail=version)
        if version is not None
        else Check(name=name, outcome="fail" if name in _NEEDED else "warn", detail="not installed")
        for name, version in versions.items()
    )


def zone(default: Zone) -> Check:
    """In which zone cron expressions without one are read, and who chose it."""
    detail = f"{default.name} ({default.source})"
    if not default.is_fallback:
        return Check(name="zone", outcome="ok", detail=detail)
    return Check(name="zone", outcome="warn", detail=f"{detail}: nobody chose it", fix="set LIONAGI_SCHEDULER_TZ or TZ")


def allow_list(commands: Sequence[str]) -> Check:
    """Which executables the command action may start."""
    if commands:
        return Check(name="commands", outcome="ok", detail=f"allowed: {', '.join(commands)}")
    return Check(
        name="commands",
        outcome="warn",
        detail="none is allowed, so no command schedule fires",
        fix="set LIONAGI_SCHEDULER_COMMAND_ALLOWLIST to a comma-separated list of names",
    )


def transport(found: Transport) -> Check:
    """By which command the host delivers the messages of the outbox."""
    if found.problem is None:
        return Check(name="outbox", outcome="ok", detail=f"messages are carried by {found.template[0]}")
    detail = f"messages wait and none is attempted: {found.problem}"
    fix = "name a command there, with {deliver_to} as an argument of its own"
    return Check(name="outbox", outcome="skip", detail=detail, fix=fix)


def roots(directories: Mapping[str, tuple[str, bool]]) -> tuple[Check, ...]:
    """Whether the directories that are read exist. One that does not is empty, not wrong."""
    return tuple(
        Check(name=name, outcome="ok" if exists else "skip", detail=path if exists else f"{path} does not exist (nothing in it)")
        for name, (path, exists) in directories.items()
    )


def terminal(facts: Mapping[str, str | None]) -> tuple[Check, ...]:
    """What the terminal says of itself, and what may spoil the look."""
    term = facts.get("TERM")
    if not term or term == "dumb":
        detail = f"TERM is {term or 'not set'}: the console needs a terminal that can move its cursor"
        return (Check(name="terminal", outcome="warn", detail=detail, fix="set TERM, for example xterm-256color"),)
    shown = ", ".join(f"{name}={value}" for name, value in facts.items() if value)
    in_tmux = bool(facts.get("TMUX"))
    if in_tmux and facts.get("COLORTERM") not in ("truecolor", "24bit"):
        fix = "in tmux: set -as terminal-features ',*:RGB' and export COLORTERM=truecolor"
        return (Check(name="terminal", outcome="ok", detail=f"{shown}; colours may be rounded to 256", fix=fix),)
    return (Check(name="terminal", outcome="ok", detail=shown),)
