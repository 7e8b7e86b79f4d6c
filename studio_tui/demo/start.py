"""How the demo begins: its settings, and making its home. Imports nothing heavy before it is needed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from studio_tui.settings_model import Settings

COMMANDS: Final = ("date", "ls", "sleep")
"""What the demo's own schedules run: the allow-list of the process that shows it."""


def demo_flags(flags: Mapping[str, object], home: Path) -> dict[str, object]:
    """The settings of a demo in ``home``: its own store and shows, its own ``li``, which starts nothing, and its commands."""
    return {
        "scheduler": True,
        **flags,
        "home": home,
        "db": str(home / "state.db"),
        "shows_root": home / "shows",
        "path": (home / "bin",),
        "command_allowlist": COMMANDS,
    }


async def prepare(settings: Settings) -> None:
    """Make the home of these settings. Raises :class:`StateUnavailable` when it cannot be made."""
    from studio_tui.demo.home import build_demo

    await build_demo(settings.home, now=time.time(), zone=settings.zone())


def make(flags: Mapping[str, object]) -> int:
    """Make the home without opening it."""
    from studio_tui.settings import load_settings

    asyncio.run(prepare(load_settings(flags)))
    return 0
