"""The program's own assembly on a home of a test's own, with a clock that moves only when told."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from studio_tui.application.studio import Studio
from studio_tui.assembly import Assembly
from studio_tui.settings import load_settings
from studio_tui.state.db import StateDB
from tests.fakes.base import HeldClock


class OpenHome:
    """A home, its operations, its database."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self.clock = HeldClock()
        self._assembly = Assembly(load_settings({"home": folder, "read_only": read_only}), hosts=False)
        self._assembly.clock = self.clock  # type: ignore[assignment]

    @property
    def studio(self) -> Studio:
        return cast("Studio", self._assembly)

    @property
    def db(self) -> StateDB:
        return self._assembly.database.db

    async def open(self) -> None:
        await self._assembly.database.open()

    async def close(self) -> None:
        await self._assembly.database.close()
