"""Homes and stores as they should not be: a clear word at the right place, everything else works, and nothing is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.terminal.program import START, Home
from tests.terminal.pseudo import Terminal
from tests.terminal.written import is_restored, strangers

pytestmark = pytest.mark.terminal


def leave(terminal: Terminal) -> None:
    """Quit in order."""
    terminal.send("ctrl+c", "ctrl+c")
    assert terminal.wait_exit() == 0
    assert is_restored(terminal.raw)
    assert strangers(terminal.raw) == set()


def damaged(store: Path) -> None:
    """Pages of rubbish in the middle of the file."""
    data = bytearray(store.read_bytes())
    for place in range(8 * 4096, len(data), 3 * 4096):
        data[place : place + 900] = b"\xa5" * 900
    store.write_bytes(data)


def newer(store: Path) -> None:
    """A store of a later lionagi."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE schema_meta SET value = '9' WHERE key = 'version'")


def foreign(store: Path) -> None:
    """A SQLite file of some other program."""
    store.unlink()
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO customers VALUES (1, 'somebody')")


def no_database(store: Path) -> None:
    """A file that is no database at all."""
    store.write_text("hello\n")


@pytest.mark.parametrize("exists", [False, True], ids=["no home", "no store"])
def test_looking_at_nothing_makes_nothing(tmp_path: Path, exists: bool) -> None:
    """Empty lists, and an offer to make a store, which is taken up by its key only."""
    home = Home(tmp_path / "home")
    if exists:
        home.path.mkdir()
    with home.console(columns=80, rows=24) as terminal:
        terminal.wait_for("no store in this home", seconds=START)
        terminal.wait_for("make an empty store")
        for key, words in (("2", "no shows"), ("3", "no schedules"), ("4", "no definitions"), ("1", "no store")):
            terminal.send(key)
            terminal.wait_for(words)
        terminal.settle()
        assert home.path.exists() == exists
        assert not exists or home.contents() == {}
        terminal.send("n")
        terminal.wait_for("no runs yet")
        assert home.one("SELECT value FROM schema_meta WHERE key = 'version'") == "4"
        leave(terminal)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (damaged, "the store is damaged"),
        (foreign, "This is not a lionagi store: it holds the table customers"),
        (no_database, "is not an SQLite database"),
    ],
)
def test_a_store_that_cannot_be_read_says_why_and_stays_as_it_is(peer: Home, spoil: Callable[[Path], None], words: str) -> None:
    """The files are shown all the same."""
    spoil(peer.store)
    before = peer.contents()
    with peer.console(columns=100, rows=24) as terminal:
        terminal.wait_for(words, seconds=START)
        terminal.wait_for("no data")
        terminal.send("3")
        terminal.wait_for("the store does not answer")
        terminal.send("2")
        terminal.wait_for("atlas-v2")
        terminal.send("4")
        terminal.wait_for("reviewer")
        terminal.send("M", "p", "n")
        terminal.settle()
        leave(terminal)
    assert peer.contents() == before


def test_a_newer_store_is_shown_and_never_written(peer: Home) -> None:
    """It says why on the first screen, hosts nothing, and offers no key that would change something."""
    newer(peer.store)
    before = peer.contents()
    with peer.console("--scheduler", columns=100, rows=24) as terminal:
        terminal.wait_for("This store has version 9", seconds=START)
        terminal.wait_for("70 runs")
        terminal.wait_for("read-only")
        terminal.send("3")
        terminal.wait_for("14 schedules")
        terminal.wait_for("version 9")
        assert "run now" not in terminal.text
        assert "new" not in terminal.lines[-1]
        terminal.send("p", "t", "n")
        terminal.settle()
        assert "14 off" in terminal.text
        leave(terminal)
    assert peer.contents() == before


def test_one_bad_row_or_file_says_so_and_hides_no_other(peer: Home) -> None:
    """A session whose node_metadata is no JSON, a schedule without its interval, an agent that is not UTF-8."""
    run_id = peer.one("SELECT id FROM sessions WHERE agent_name = 'reviewer' ORDER BY updated_at DESC LIMIT 1")
    peer.sql("UPDATE sessions SET user_label = 'broken run', node_metadata = '{broken' WHERE id = ?", run_id)
    peer.sql("UPDATE schedules SET interval_sec = NULL, enabled = 1 WHERE name = 'hourly-triage'")
    (peer.path / "agents" / "latin.md").write_bytes(b"---\nname: latin\ndescription: caf\xe9\n---\nhello \xff\n")
    with peer.console("--no-scheduler", columns=160, rows=40) as terminal:
        terminal.wait_for("70 runs", seconds=START)
        terminal.wait_for("broken run")
        terminal.wait_for("node_metadata cannot be read")
        terminal.send("/", "broken run", "enter")
        terminal.wait_for("1 match")
        terminal.send("enter")
        terminal.wait_for("node_metadata cannot be read")
        terminal.wait_for("branches")
        terminal.send("3")
        terminal.wait_for("14 schedules")
        terminal.wait_for("BROKEN")
        shown = {name: line for name in ("hourly-triage", "nightly-review") for line in terminal.lines if name in line}
        assert "BROKEN" in shown["hourly-triage"]
        assert "BROKEN" not in shown["nightly-review"]
        terminal.send("4")
        terminal.wait_for("17 definitions")
        terminal.wait_for("not UTF-8")
        terminal.send("/", "latin", "enter")
        terminal.wait_for("1 of 17 definitions")
        terminal.send("enter")
        terminal.wait_for("no text")
        leave(terminal)
