"""Builds the throw-away home: a complete native store, files beside it, and a ``li`` that starts nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from studio_tui.demo.library import add_definitions
from studio_tui.demo.rows import Rows
from studio_tui.demo.runs import PROJECTS, add_projects, add_runs
from studio_tui.demo.schedules import add_schedules
from studio_tui.demo.shows import add_shows
from studio_tui.domain.schedules import Zone
from studio_tui.state.db import StateDB

_LI: Final = """#!/bin/sh
# Stands in for lionagi's command in the demo: it says what it would run, and runs nothing.
echo "demo: no agent is started here"
echo "would run: li $*"
"""


def shows_root(home: Path) -> Path:
    """Where the demo's shows lie."""
    return home / "shows"


def li_stub(home: Path) -> Path:
    """The demo's own ``li``."""
    return home / "bin" / "li"


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
    add_shows(rows, shows_root(home))
    add_definitions(rows, home)
    stub = li_stub(home)
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(_LI, encoding="utf-8")
    stub.chmod(0o755)
    db = StateDB(home / "state.db")
    await db.create()
    try:
        await db.write(rows.insert)
    finally:
        await db.close()
