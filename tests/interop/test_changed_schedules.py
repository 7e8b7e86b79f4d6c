"""Schedules that we changed or deleted, beside what the real package makes of the same change."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from studio_tui.cli.main import run
from tests.interop.peer_call import ask_peer, run_li

pytestmark = pytest.mark.interop

MADE = """
from lionagi.studio.services import schedules
plain = {"trigger_type": "cron", "cron_expr": "0 9 * * 1", "action_kind": "agent", "action_agent": "a", "action_prompt": "p"}
more = {"description": "old", "max_runs": 3, "budget_usd": 1.5, "on_success": {"prompt": "then", "on_success": None}}
return [(await schedules.create_schedule({"name": name, **plain, **more}))["id"] for name in ("theirs", "ours")]
"""
CHANGED = """
from lionagi.studio.services import schedules
assert await schedules.update_schedule(ARGUMENTS["id"], ARGUMENTS["fields"])
"""
GONE = """
from lionagi.studio.services import schedules
found = await schedules.get_schedule(ARGUMENTS["id"])
names = [row["name"] for row in await schedules.list_schedules()]
values = {"id": ARGUMENTS["id"], "name": "again", "trigger_type": "at", "action_kind": "agent"}
async with StateDB() as db:
    try:
        await db.create_schedule({**values, "created_at": 1.0, "updated_at": 1.0})
    except Exception as error:
        return {"found": found, "names": names, "again": "cannot be reused" in str(error)}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of ours, in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    assert run(["--home", str(home), "init"]) == 0
    return home


def row(home: Path, name: str) -> dict[str, Any]:
    with sqlite3.connect(home / "state.db") as connection:
        connection.row_factory = sqlite3.Row
        return dict(connection.execute("SELECT * FROM schedules WHERE name = ?", (name,)).fetchone())


def history(home: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(home / "state.db") as connection:
        asked = "SELECT entity_id, reason_code FROM status_transitions WHERE entity_type = 'schedule' ORDER BY created_at"
        return connection.execute(asked).fetchall()


FIELDS = {
    "description": None,
    "cron_expr": "30 7 * * *",
    "max_runs": 5,
    "budget_usd": None,
    "budget_tokens": 9,
    "overlap_policy": "allow",
    "missed_fire_policy": "run_once",
    "rate_limit": {"max_fires": 2, "window_sec": 60},
    "on_success": None,
    "on_fail": {"prompt": "mend", "on_fail": None},
    "action_prompt": "look",
    "action_model": "provider/model",
    "project": "shop",
    "action_project": "shop",
}
OPTIONS = (
    *("--clear", "description", "--clear", "budget-usd", "--clear", "on-success", "--cron", "30 7 * * *", "--max-runs", "5"),
    *("--budget-tokens", "9", "--overlap", "allow", "--missed-fire", "run-once", "--rate", "2/1m", "--project", "shop"),
    *("--on-fail", '{"prompt": "mend", "on_fail": null}', "--prompt", "look", "--model", "provider/model"),
)
"""The same change, for the peer's service and for our command line."""


def test_a_change_and_a_deletion_leave_what_the_peer_would_leave(home: Path) -> None:
    theirs, ours = ask_peer(home, MADE)
    ask_peer(home, CHANGED, id=theirs, fields=FIELDS)
    assert run(["--home", str(home), "schedules", "update", "ours", *OPTIONS]) == 0
    volatile = {"id", "name", "created_at", "updated_at", "effective_timezone", "effective_timezone_source"}
    mine, peers = ({key: value for key, value in row(home, name).items() if key not in volatile} for name in ("ours", "theirs"))
    assert mine == peers
    assert {key: type(value) for key, value in mine.items()} == {key: type(value) for key, value in peers.items()}
    made = "schedule_definition.created.observed"
    assert sorted(history(home)) == sorted((one, made) for one in (theirs, ours))  # neither leaves a line for a change

    assert run(["--home", str(home), "schedules", "delete", "ours", "--yes"]) == 0
    assert history(home)[-1] == (ours, "schedule_definition.deleted.observed")
    assert ask_peer(home, GONE, id=ours) == {"found": None, "names": ["theirs"], "again": True}


def test_an_export_tells_what_is_stored_now(home: Path) -> None:
    made = ("--cron", "0 9 * * 1", "--timezone", "Europe/Berlin", "--agent", "a", "--prompt", "p")
    (home / "agents" / "a").mkdir(parents=True)
    (home / "agents" / "a" / "a.md").write_text("---\nmodel: openai/gpt-4.1-mini\n---\nHelp.\n")
    assert run(["--home", str(home), "schedules", "create", "agent", "weekly", *made]) == 0
    assert row(home, "weekly")["managed_by"] == "cli"
    assert run(["--home", str(home), "schedules", "update", "weekly", "--overlap", "allow", "--cron", "30 7 * * *"]) == 0
    done = run_li(home, "schedule", "export")
    assert "30 7 * * *" in done.stdout, done.stderr
    assert "0 9 * * 1" not in done.stdout
    assert "overlap: allow" in done.stdout
