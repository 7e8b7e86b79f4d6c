"""``state plan`` and ``state migrate`` on a real older home: what they print, what they leave, how they end."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from studio_tui.cli.main import run
from tests.state.files import contents_of
from tests.state.filled import make_filled_file
from tests.state.older import plainly, reshape, rows_of

Capture = pytest.CaptureFixture[str]
NARROW = {"source_kind IN ('live','imported_fs','imported_codex')": "source_kind IN ('live','imported_fs')"}


def make_older(path: Path, *, sessions: int = 40) -> Path:
    path.parent.mkdir()
    make_filled_file(path, sessions=sessions)
    with plainly(path) as connection:
        reshape(connection, "sessions", replaced=NARROW)
        connection.execute("DROP INDEX idx_run_tags_tag")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.parent


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """The home of an older store."""
    return make_older(tmp_path / "home" / "state.db")


def test_a_plan_in_words(older: Path, capsys: Capture) -> None:
    before = contents_of(older)
    assert run(["--home", str(older), "state", "plan"]) == 0
    out = capsys.readouterr().out
    assert "rebuild  sessions" in out
    assert "is made anew to allow the source imported_codex, after a backup" in out
    assert "idx_run_tags_tag" in out
    assert "nothing was touched; `studio-tui state migrate` makes these 2 changes" in out
    assert contents_of(older) == before


def test_a_plan_as_a_document(older: Path, capsys: Capture) -> None:
    assert run(["--home", str(older), "state", "plan", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [change["kind"] for change in document["changes"]] == ["rebuild", "index"]
    assert document["changes"][0]["rows"] == 40
    assert document["obstacles"] == []
    assert document["backups"] == ["sessions"]


def test_a_migration_says_what_it_did_and_where_the_backup_is(older: Path, capsys: Capture) -> None:
    before = rows_of(older / "state.db")
    assert run(["--home", str(older), "state", "migrate"]) == 0
    said = capsys.readouterr()
    (backup,) = older.glob("state.db.pre-sessions.*.bak")
    assert f"backup: {backup}" in said.out
    assert said.out.endswith(f"upgraded: {older / 'state.db'}\n")
    assert said.err == ""  # no progress where nobody watches
    assert rows_of(older / "state.db") == before
    assert run(["--home", str(older), "state", "migrate"]) == 0
    assert capsys.readouterr().out == f"nothing to upgrade: {older / 'state.db'}\n"
    assert run(["--home", str(older), "state", "plan"]) == 0
    assert capsys.readouterr().out == f"nothing to upgrade: {older / 'state.db'}\n"


def test_other_verbs_only_look_and_say_how_to_upgrade(older: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "echo")
    before = contents_of(older)
    assert run(["--home", str(older), "runs", "list"]) == 0
    assert run(["--home", str(older), "doctor"]) in (0, 1)
    assert "studio-tui state migrate" in capsys.readouterr().out
    command = ["schedules", "create", "command", "x", "--every", "1h", "--cwd", str(older), "--", "echo"]
    assert run(["--home", str(older), *command]) == 7
    assert "`studio-tui state migrate` upgrades it (2 changes)" in capsys.readouterr().err
    assert contents_of(older) == before


def test_what_stands_in_the_way_is_said_and_nothing_is_done(older: Path, capsys: Capture) -> None:
    with plainly(older / "state.db") as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE sessions SET source_kind = 'elsewhere' || char(27) WHERE rowid < 3")
    before = contents_of(older)
    assert run(["--home", str(older), "state", "plan"]) == 0
    assert "in the way: 2 rows of sessions hold a source_kind" in capsys.readouterr().out
    assert run(["--home", str(older), "state", "migrate", "--json"]) == 4
    document = json.loads(capsys.readouterr().err)
    assert document["error"]["code"] == "conflict"
    assert document["error"]["message"].startswith("Nothing was changed.")
    assert run(["--home", str(older), "--read-only", "state", "migrate"]) == 7
    assert contents_of(older) == before


@pytest.mark.parametrize("verb", ["plan", "migrate"])
def test_a_home_without_a_store(tmp_path: Path, capsys: Capture, verb: str) -> None:
    assert run(["--home", str(tmp_path / "none"), "state", verb]) == 5
    assert "no store" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_interrupting_ends_after_the_step_under_way(tmp_path: Path) -> None:
    home = make_older(tmp_path / "home" / "state.db", sessions=20_000)
    before = rows_of(home / "state.db")
    command = [sys.executable, "-m", "studio_tui", "--home", str(home), "state", "migrate"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while process.poll() is None and not list(home.glob("*.partial")):
            pass
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode in (130, 0)
    assert not list(home.glob("*.partial"))
    with closing(sqlite3.connect(home / "state.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert rows_of(home / "state.db") == before
    assert run(["--home", str(home), "state", "migrate"]) == 0
