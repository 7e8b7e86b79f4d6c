"""Builds the throw-away home: a complete native store, files beside it, and a ``li`` that starts nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from studio_tui.demo.library import add_definitions
from studio_tui.demo.rows import Rows
from studio_tui.demo.runs import PROJECTS, add_projects, add_runs
from studio_tui.demo.schedules import add_schedules
from studio_tui.demo.shows import add_shows
from studio_tui.demo.start import COMMANDS
from studio_tui.domain.schedules import Zone
from studio_tui.state.db import StateDB

_LI: Final = """#!/bin/sh
# Stands in for lionagi's command in the demo: it says what it would run, and runs nothing.
echo "demo: no agent is started here"
echo "would run: li $*"
"""
_CONFIG: Final = """# The settings of the demo, for a home that was kept.
shows_root = {shows}
path = [{tools}]
command_allowlist = [{commands}]
"""


async def build_demo(home: Path, *, now: float, zone: Zone) -> None:
    """Fill ``home``, which must be empty or not exist. ``now`` is in epoch seconds; all times are told from it.

    Raises :class:`StateUnavailable` when the store cannot be made there.
    """
    rows = Rows(now)
    for project in PROJECTS:
        (home / "work" / project).mkdir(parents=True)
    add_projects(rows, home)
    add_runs(rows)
    add_schedules(rows, home, zone)
    add_shows(rows, home / "shows")
    add_definitions(rows, home)
    _furnish(home)
    db = StateDB(home / "state.db")
    await db.create()
    try:
        await db.write(rows.insert)
    finally:
        await db.close()


def _furnish(home: Path) -> None:
    """The ``li`` that starts nothing, and the settings under which the home is opened again."""
    stub = home / "bin" / "li"
    stub.parent.mkdir()
    stub.write_text(_LI, encoding="utf-8")
    stub.chmod(0o755)
    own = home / "studio-tui"
    own.mkdir(mode=0o700)
    quoted = [json.dumps(str(path)) for path in (home / "shows", stub.parent)]
    commands = ", ".join(map(json.dumps, COMMANDS))
    (own / "config.toml").write_text(_CONFIG.format(shows=quoted[0], tools=quoted[1], commands=commands), encoding="utf-8")
