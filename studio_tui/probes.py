"""What the doctor asks of this host and of the open store (``DoctorProbes``)."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from studio_tui.application.doctor import DoctorProbes
from studio_tui.files.roots import Roots
from studio_tui.files.transports import TransportFile
from studio_tui.launch_facts import allowed_commands
from studio_tui.settings import environment
from studio_tui.settings_model import Settings
from studio_tui.state import native
from studio_tui.state.store import Store

_PACKAGES: Final = ("textual", "sqlalchemy", "aiosqlite", "croniter", "watchfiles", "psutil")
_TERMINAL: Final = ("TERM", "COLORTERM", "TMUX", "NO_COLOR", "LANG")


def doctor_probes(settings: Settings, store: Store, roots: Roots, transports: TransportFile) -> DoctorProbes:
    """The answers for this installation."""
    questions = StoreQuestions(store)
    return DoctorProbes(
        dialect=lambda: store.db.dialect,
        database_version=questions.version,
        journal_mode=questions.journal_mode,
        schema_problems=questions.schema_problems,
        executable=lambda name: shutil.which(name, path=settings.search_path()),
        versions=_versions,
        allowed_commands=lambda: allowed_commands(settings),
        roots=lambda: {
            "agents": _root(roots, "agent"),
            "playbooks": _root(roots, "playbook"),
            "skills": _root(roots, "skill"),
            "shows": (str(roots.shows), roots.shows.is_dir()),
        },
        transport=transports.transport,
        terminal=lambda: {name: environment().get(name) for name in _TERMINAL},
    )


class StoreQuestions:
    """What only the open store can tell."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def version(self) -> str | None:
        """The version of the database library or server."""
        statement = "SELECT sqlite_version() AS v" if self._store.db.dialect == "sqlite" else "SHOW server_version"
        return await self._text(statement)

    async def journal_mode(self) -> str | None:
        """How SQLite keeps its log."""
        return await self._text("PRAGMA journal_mode") if self._store.db.dialect == "sqlite" else None

    async def schema_problems(self) -> tuple[str, ...]:
        """How the store's tables differ from those of lionagi, in sentences."""
        if self._store.path is None:
            return ()
        reason = native.look(self._store.path).reason
        return (reason,) if reason else ()

    async def _text(self, statement: str) -> str | None:
        row = await self._store.db.fetch_one(statement)
        return str(next(iter(row.values()))) if row else None


def _root(roots: Roots, kind: str) -> tuple[str, bool]:
    path = roots.of_kind(kind)
    return str(path), path.is_dir()


def _versions() -> Mapping[str, str | None]:
    return {name: _version(name) for name in _PACKAGES}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
