"""Whatever the data holds, only the console's own sequences reach the terminal, and the data is shown."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from studio_tui.application.text import clean
from tests.terminal.program import START, Home
from tests.terminal.pseudo import Terminal
from tests.terminal.written import is_restored, strangers

pytestmark = pytest.mark.terminal

NASTY = json.loads((Path(__file__).parent.parent / "data" / "nasty-strings.json").read_text())

SEQUENCES = {
    "style": "\x1b[5;53m",
    "place": "\x1b[001;001H",
    "wipe": "\x1b[2J",
    "reset": "\x1bc",
    "title": "\x1b]0;",
    "clip": "\x1b]52;c;QUJD\x1b\\",
    "pointer": "\x1b]22;wait\x07",
    "link": "\x1b]8;;http://x\x1b\\",
    "device": "\x1bP$q",
    "program": "\x1b_G",
    "private": "\x1b^",
    "start": "\x1bX",
    "c1": "\x9b31m",
    "c1title": "\x9d0;",
    "bell": "\x07",
    "back": "\x08\x08\x08",
    "return": "\r",
    "line": "\n",
    "vertical": "\x0b\x0c",
    "shift": "\x0e\x0f",
    "next": "\x85",
    "delete": "\x7f",
    "right-to-left": "\u202e",
    "isolate": "\u2066",
    "separator": "\u2028",
    "tag": "\U000e0041",
}
"""What must never act. A word that no screen has follows each, so that it can be seen where the sequence ended up."""


CANARIES = [f"{sequence}KANARI-{name}" for name, sequence in SEQUENCES.items()]


def expanded(text: str) -> str:
    """``REPEAT:x:3`` is ``xxx``."""
    if not text.startswith("REPEAT:"):
        return text
    _, what, times = text.split(":")
    return what * int(times)


TEXTS = [expanded(text) for group in NASTY.values() if isinstance(group, list) for text in group] + CANARIES


def insert(store: sqlite3.Connection, table: str, **columns: object) -> None:
    """One row."""
    names, places = ", ".join(columns), ", ".join("?" * len(columns))
    store.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(columns.values()))


def poison(home: Home) -> None:
    """Put every text into every table that a screen reads: names, labels, messages, prompts, reasons, outputs, files."""
    agents = home.path / "agents"
    agents.mkdir()
    with closing(sqlite3.connect(home.store)) as store, store:
        for number, text in enumerate(TEXTS):
            poison_runs(store, number, text)
            poison_schedules(store, number, text)
            poison_library(store, number, text)
            if "/" not in text and "\0" not in text and 0 < len(text.encode()) < 200 and text.strip(". "):
                (agents / f"{text}.md").write_text(f"---\ndescription: {json.dumps(text)}\n---\n{text}\n")


def poison_runs(store: sqlite3.Connection, number: int, text: str) -> None:
    """A run, its branch and its two messages, one of them with half a character."""
    run, now = f"{number:032x}", time.time()
    ids = [f"{run}-{place}" for place in range(3)]
    contents: list[dict[str, object]] = [
        {"assistant_response": text},
        {"instruction": f"{text}\ud800", "context": {text: text}},
        {"function": text, "arguments": {text: text}},
    ]
    for message, content, role, kind in zip(ids, contents, ("assistant", "user", "action"), (3, 2, 4), strict=True):
        insert(
            store, "messages", id=message, created_at=now, content=json.dumps(content), sender=text, role=role, lion_class=kind
        )
    insert(store, "progressions", id=run, created_at=now, collection=json.dumps(ids))
    insert(
        store,
        "sessions",
        id=run,
        created_at=now,
        updated_at=now + number,
        progression_id=run,
        user_label=text,
        agent_name=text,
        model=text,
        project=text,
        current_phase=text,
        invocation_kind="agent",
        status="failed",
        started_at=now,
        status_reason_summary=text,
        artifacts_path=text,
        node_metadata=json.dumps({"cwd": text, "hostname": text}),
    )
    insert(store, "branches", id=run, created_at=now, name=text, session_id=run, progression_id=run, model=text, agent_name=text)


def poison_schedules(store: sqlite3.Connection, number: int, text: str) -> None:
    """A schedule that is off, and a firing of it that failed."""
    key, now = f"{number:012x}", time.time()
    insert(
        store,
        "schedules",
        id=key,
        name=f"{text}{number}",
        description=text,
        trigger_type="interval",
        interval_sec=60,
        action_kind="command",
        action_command=text,
        action_command_args=json.dumps([text]),
        action_cwd=text,
        action_project=text,
        owner_key=text,
        enabled=0,
        created_at=now,
        updated_at=now,
    )
    insert(
        store,
        "schedule_runs",
        id=key,
        schedule_id=key,
        trigger_context="{}",
        action_kind="command",
        action_args=json.dumps([text]),
        status="failed",
        exit_code=1,
        fired_at=now,
        created_at=now,
        updated_at=now,
        error_detail=text,
        status_reason_summary=text,
    )


def poison_library(store: sqlite3.Connection, number: int, text: str) -> None:
    """A show with a play that waits, and a workflow."""
    key, now = f"{number:012x}", time.time()
    insert(store, "shows", id=key, topic=f"{text}{number}", goal=text, repo=text, show_dir=text, created_at=now, updated_at=now)
    insert(
        store,
        "plays",
        id=key,
        show_id=key,
        name=text or "-",
        playbook=text,
        status="gate_failed",
        gate_passed=0,
        gate_feedback=text,
        worktree=text,
        created_at=now,
        updated_at=now,
    )
    insert(
        store, "workflow_defs", id=key, name=f"{text}{number}", description=text, spec_json="{}", created_at=now, updated_at=now
    )


def gather(home: Home) -> None:
    """One run, one schedule, one show and one agent that hold every canary, so that a detail of each shows them all."""
    with closing(sqlite3.connect(home.store)) as store, store:
        canaries = range(len(TEXTS) - len(CANARIES), len(TEXTS))
        messages = [f"{number:032x}-0" for number in canaries]
        store.execute("UPDATE progressions SET collection = ? WHERE id = ?", (json.dumps(messages), f"{canaries[-1]:032x}"))
        keys = [f"{number:012x}" for number in canaries]
        for table, column in (("schedule_runs", "schedule_id"), ("plays", "show_id")):
            store.executemany(f"UPDATE {table} SET {column} = ? WHERE id = ?", [(keys[0], key) for key in keys])
        store.execute("UPDATE schedules SET name = '!' WHERE id = ?", (keys[0],))
        store.execute("UPDATE shows SET topic = 'first', updated_at = updated_at + 99 WHERE id = ?", (keys[0],))
    (home.path / "agents" / "!.md").write_text("\n".join(CANARIES))


def shown(terminal: Terminal) -> set[str]:
    """Page through a list to its end, where a key changes nothing any more; the lines that were seen."""
    seen: set[str] = set()
    while True:
        terminal.settle(0.1)
        seen |= set(terminal.lines)
        terminal.send("pagedown")
        if not terminal.pump(0.8):
            return seen


def test_hostile_data_acts_nowhere(own: Home) -> None:
    """Every list from end to end, and a detail on each screen."""
    poison(own)
    gather(own)
    lines: set[str] = set()
    with own.console("--no-scheduler", columns=120, rows=50) as terminal:
        terminal.wait_for("KANARI", seconds=START)
        for key in "1234":
            terminal.send(key)
            terminal.settle()
            lines |= shown(terminal)
            terminal.send("g", "enter")
            terminal.wait_for("KANARI")
            lines |= shown(terminal)
            terminal.send("q")
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    assert strangers(terminal.raw) == set()
    assert is_restored(terminal.raw)
    said = "\n".join(lines)
    for text in (
        "[/nope]",
        "[bold]not bold[/bold]",
        "[@click=app.quit]press[/]",
        "%(name)s",
        "日本語の長い名前",
        "␛]0;HACKED␇ end",
    ):
        assert text in said, text
    for name, sequence in SEQUENCES.items():
        assert f"{clean(sequence)}KANARI-{name}" in said, name
        assert f"{sequence}KANARI" not in terminal.raw.decode()
