"""What is right and wrong with this installation, one line each; nothing here changes anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from studio_tui.application import doctor_checks as check
from studio_tui.application.guard import guarded
from studio_tui.application.models.host import Check
from studio_tui.application.ports import SchedulerHostPort, StorePort
from studio_tui.application.ports.commands import Transport
from studio_tui.domain.schedules import Zone

SKIPPED: Final = "not asked: the store is not open"


@dataclass(frozen=True, slots=True)
class DoctorProbes:
    """Questions about this host and installation, each a plain callable that answers at once and changes nothing.

    ``dialect`` is ``sqlite`` or ``postgresql``; ``database_version`` the version of the database library or server.
    ``journal_mode`` and ``schema_problems`` ask the open store. ``executable`` finds a program on PATH. ``versions`` are those
    of installed packages that matter, ``None`` for one that is missing. ``roots`` are directories by what they hold, with
    whether they exist. ``transport`` is the command that carries messages. ``terminal`` holds TERM, COLORTERM, TMUX and the like.
    """

    dialect: Callable[[], str]
    database_version: Callable[[], Awaitable[str | None]]
    journal_mode: Callable[[], Awaitable[str | None]]
    schema_problems: Callable[[], Awaitable[tuple[str, ...]]]
    executable: Callable[[str], str | None]
    versions: Callable[[], Mapping[str, str | None]]
    allowed_commands: Callable[[], Collection[str]]
    roots: Callable[[], Mapping[str, tuple[str, bool]]]
    transport: Callable[[], Transport]
    terminal: Callable[[], Mapping[str, str | None]]


@guarded
class DoctorService:
    """Looks the installation over."""

    def __init__(self, *, store: StorePort, host: SchedulerHostPort, zone: Zone, probes: DoctorProbes) -> None:
        self._store = store
        self._host = host
        self._zone = zone
        self._probes = probes

    async def checks(self) -> tuple[Check, ...]:
        """Every check, in the order in which a fault of one explains those after it."""
        probes = self._probes
        return (
            check.store(self._store.condition()),
            *(await self._database()),
            check.host(self._host),
            check.li(probes.executable("li")),
            *check.packages(probes.versions()),
            check.zone(self._zone),
            check.allow_list(sorted(probes.allowed_commands())),
            check.transport(probes.transport()),
            *check.roots(probes.roots()),
            *check.terminal(probes.terminal()),
        )

    async def _database(self) -> tuple[Check, ...]:
        """What only an open store can tell."""
        dialect = self._probes.dialect()
        if self._store.condition().mode not in ("ready", "read_only"):
            return tuple(Check(name=name, outcome="skip", detail=SKIPPED) for name in ("database", "journal", "schema"))
        version = await self._probes.database_version()
        journal = await self._probes.journal_mode()
        problems = await self._probes.schema_problems()
        return (check.database(dialect, version), check.journal(dialect, journal), check.schema(problems))
