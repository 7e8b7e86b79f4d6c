"""A schedule of an agent spawns the real ``li agent``; its session is a run here, linked to the firing.

And the real package reads every row as one of its own.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.interop.peer_call import ask_peer, run_li
from tests.terminal.program import START, Home, until

pytestmark = pytest.mark.interop

DATA: Final = Path(__file__).parent.parent / "data"
REAL: Final[dict[str, Any]] = json.loads((DATA / "fire-rows.json").read_text())
"""Rows of a real daemon that fired the same."""

SCHEDULES: Final = {
    "profile_completed": ("agent", ["--agent", "helper", "--prompt", "hello"]),
    "agent_completed": ("agent", ["--model", "claude", "--prompt", "hi at {{fired_at}}"]),
    "command_completed": ("command", ["--", "echo", "hello", "{{fired_at}}"]),
    "command_failed": ("command", ["--", "sh", "-c", "echo out; echo err >&2; exit 3"]),
}


@pytest.fixture(scope="module")
def fired(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home of ours in which the three schedules came due once and ran to their end under a host without a screen."""
    base = tmp_path_factory.mktemp("agent")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("LIONAGI_", "LI_STUB_"))]:
            patch.delenv(name)
        home = Home(
            base / ".lionagi",  # the real package looks for profiles of agents nowhere else
            HOME=str(base),
            PATH=os.pathsep.join((str(DATA / "li-stub"), str(Path(sys.executable).parent), "/usr/bin", "/bin")),
            LIONAGI_SCHEDULER_COMMAND_ALLOWLIST="echo,sh",
            LI_STUB_LOG=str(base / "calls"),
            TZ="UTC",
        )
    home.run("init")
    (home.path / "agents").mkdir()
    (home.path / "agents" / "helper.md").write_text("---\nname: helper\nmodel: claude\n---\nBe brief.\n")
    for name, (kind, arguments) in SCHEDULES.items():
        home.run("schedules", "create", kind, name, "--every", "1h", "--cwd", str(base), *arguments)
    home.sql("UPDATE schedules SET next_fire_at = ?", time.time())
    with home.host():
        until(lambda: all(row["ended_at"] for name in SCHEDULES for row in home.firings(name) or [{"ended_at": None}]), "firings")
    return home


def row(home: Home, table: str, column: str, value: str) -> list[dict[str, Any]]:
    """Rows as they are stored, in the order of their writing."""
    with closing(sqlite3.connect(home.store)) as store:
        store.row_factory = sqlite3.Row
        found = store.execute(f"SELECT * FROM {table} WHERE {column} = ? ORDER BY created_at, rowid", (value,))
        return [dict(one) for one in found]


TIMES: Final = {"fired_at", "started_at", "ended_at", "created_at", "updated_at", "dispatched_at"}
OWN_WORDS: Final = {"id", "schedule_id", "invocation_id", "status_reason_summary", "skill", "prompt"}
"""Columns whose text is another for each firing, or in words of our own."""
DOCUMENTS: Final = {"trigger_context", "action_args", "status_evidence_refs", "node_metadata"}


def shape(stored: dict[str, Any]) -> dict[str, Any]:
    """A row without what differs from firing to firing: which columns hold something, its type, and each word that is fixed."""
    found: dict[str, Any] = {}
    for column, value in stored.items():
        if value is None or column not in TIMES | OWN_WORDS | DOCUMENTS:
            found[column] = value
        else:
            found[column] = kinds(json.loads(value)) if column in DOCUMENTS else type(value).__name__
    return found


def kinds(value: Any) -> Any:
    """The form of a JSON document: keys, lengths, types."""
    if isinstance(value, dict):
        return {key: kinds(item) for key, item in value.items()}
    return [kinds(item) for item in value] if isinstance(value, list) else type(value).__name__


def transition(stored: dict[str, Any], roles: dict[str, str]) -> tuple[Any, ...]:
    """A line of history, with the part that each id plays in place of the id."""
    metadata = json.loads(stored["metadata"])
    metadata.pop("trigger_context", None)
    evidence = [(one["kind"], roles[one["id"]]) for one in json.loads(stored["evidence_refs"])]
    names = ("previous_status", "status", "reason_code", "source")
    who = roles[stored["entity_id"]], roles.get(stored["actor"], stored["actor"])
    return (stored["entity_type"], *(stored[name] for name in names), *who, evidence, metadata)


def history(lines: list[dict[str, Any]], run: dict[str, Any], sessions: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Every line of a firing and of its invocation."""
    roles = {run["id"]: "run", run["invocation_id"]: "invocation", run["schedule_id"]: "schedule"}
    roles |= {one["id"]: "session" for one in sessions}
    return [transition(line, roles) for line in lines if line["entity_id"] in roles]


@pytest.mark.parametrize("name", [name for name in SCHEDULES if name in REAL])
def test_rows_are_those_of_a_real_daemon(fired: Home, name: str) -> None:
    """Column by column, and the history line by line; what we leave out is the peer's telemetry of its own bus."""
    real = REAL[name]
    (run,) = fired.firings(name)
    (invocation,) = row(fired, "invocations", "id", run["invocation_id"])
    sessions = row(fired, "sessions", "invocation_id", run["invocation_id"])
    wanted = shape(real["schedule_run"])
    if name == "agent_completed":  # that one was fired by hand
        wanted["trigger_context"] = kinds(json.loads(REAL["command_completed"]["schedule_run"]["trigger_context"]))
    assert shape(run) == wanted
    ours, theirs = shape(invocation), shape(real["invocation"])
    assert (ours.pop("node_metadata"), theirs.pop("node_metadata").keys() - {"coordination"}) == (
        {"action_kind": "str"},
        {"action_kind"},
    )
    assert ours == theirs
    assert invocation["skill"] == f"scheduled:{name}"
    assert len(sessions) == len(real["sessions"])
    lines = row(fired, "status_transitions", "entity_id", run["invocation_id"])
    lines += row(fired, "status_transitions", "entity_id", run["id"])
    lines.sort(key=lambda line: line["created_at"])
    expected = history(real["status_transitions"], real["schedule_run"], real["sessions"])
    assert sorted(map(repr, history(lines, run, sessions))) == sorted(map(repr, expected))


def test_the_session_of_the_agent_is_a_run_that_knows_its_firing(fired: Home) -> None:
    (firing,) = fired.firings("agent_completed")
    (listed,) = json.loads(fired.run("schedules", "history", "agent_completed", "--json"))["items"]
    (run_id,) = listed["run_ids"]
    (session,) = row(fired, "sessions", "invocation_id", firing["invocation_id"])
    assert run_id == session["id"]
    runs = json.loads(fired.run("runs", "list", "--json"))["items"]
    (summary,) = [run for run in runs if run["run_id"] == run_id]
    assert (summary["state"], summary["total_cost_usd"]) == ("OK", 0.0123)
    detail = json.loads(fired.run("runs", "show", run_id, "--json"))
    origin = detail["provenance"]
    assert (origin["schedule_name"], origin["firing_id"]) == ("agent_completed", firing["id"])
    (call,) = [json.loads(line) for line in (fired.path.parent / "calls").read_text().splitlines() if "hi at" in line]
    assert call["env"]["LIONAGI_INVOCATION_ID"] == firing["invocation_id"]
    assert call["env"]["LIONAGI_HOME"] == str(fired.path)


def test_the_console_shows_it_linked_and_its_talk(fired: Home) -> None:
    (firing,) = fired.firings("agent_completed")
    fired.sql("UPDATE sessions SET user_label = 'by the agent' WHERE invocation_id = ?", firing["invocation_id"])
    with fired.console("--no-scheduler", columns=120, rows=40) as terminal:
        terminal.wait_for("2 runs", seconds=START)
        terminal.send("/", "by the agent", "enter")
        terminal.wait_for(f"agent_completed › firing {firing['id'][:4]}")
        terminal.send("enter")
        terminal.wait_for("hi at")
        terminal.wait_for("stub answer to")
        terminal.wait_for(firing["id"])
        terminal.wait_for("Read")


def test_the_real_package_reads_our_firings_as_its_own(fired: Home) -> None:
    runs = ask_peer(
        fired.path,
        """
async with StateDB(ARGUMENTS["path"]) as db:
    found = {}
    for schedule in await db.list_schedules():
        (run,) = await db.list_schedule_runs(schedule["id"])
        invocation = await db.get_invocation(run["invocation_id"])
        found[schedule["name"]] = [run["status"], run["exit_code"], run["action_args"], invocation["status"]]
    return found
""",
        path=str(fired.store),
    )
    assert {name: (run[0], run[1], run[3]) for name, run in runs.items()} == {
        "agent_completed": ("completed", 0, "completed"),
        "profile_completed": ("completed", 0, "completed"),
        "command_completed": ("completed", 0, "completed"),
        "command_failed": ("failed", 3, "failed"),
    }
    assert runs["agent_completed"][2][1:4] == ["agent", "--", "claude"]
    assert runs["profile_completed"][2][1:4] == ["agent", "--agent", "helper"]


def test_the_commands_of_the_real_package_show_them(fired: Home) -> None:
    (session,) = row(fired, "sessions", "invocation_id", fired.firings("agent_completed")[0]["invocation_id"])
    states = run_li(fired.path, "state", "ls")
    assert states.returncode == 0, states.stderr
    assert session["id"] in states.stdout
    watched = run_li(fired.path, "monitor", "--since", "1h")
    assert watched.returncode == 0, watched.stderr
    for name, (status, kind) in {
        "agent_completed": ("completed", "agent"),
        "command_completed": ("completed", "command"),
        "command_failed": ("failed", "command"),
    }.items():
        (line,) = [line.split() for line in watched.stdout.splitlines() if f"scheduled:{name} " in line]
        assert line[1:5] == [kind, "-", status, f"scheduled:{name}"]
    exported = run_li(fired.path, "schedule", "export")
    assert exported.returncode == 0, exported.stderr
    assert "3 ready, 0 blocked" in exported.stdout + exported.stderr
    assert "profile: helper" in exported.stdout
