"""The log: private, late, bounded, and without secrets."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio_tui import logs
from studio_tui.logs import log_path, log_to_file, log_to_terminal, masked


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """Where the log of this test goes; what was set before is set again afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("studio_tui")
    before, level, own_level = root.handlers[:], root.level, ours.level
    log_to_file(tmp_path / "own", "info")
    yield log_path(tmp_path / "own")
    for handler in [handler for handler in root.handlers if handler not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    ours.setLevel(own_level)
    logging.captureWarnings(False)


def test_it_is_made_by_the_first_record_and_for_its_owner_alone(log: Path) -> None:
    assert not log.parent.exists()
    logging.getLogger("studio_tui.x").debug("too quiet")
    logging.getLogger("elsewhere").info("not ours, too quiet")
    assert not log.exists()
    logging.getLogger("studio_tui.x").info("something")
    logging.getLogger("elsewhere").warning("something of a library")
    assert [line.split(" ", 2)[2] for line in log.read_text().splitlines()] == [
        "INFO studio_tui.x: something",
        "WARNING elsewhere: something of a library",
    ]
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700


def test_it_is_bounded(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_BYTES", 1000)
    log_to_file(log.parent.parent, "info")
    for number in range(100):
        logging.getLogger("studio_tui.x").info("line %d %s", number, "x" * 100)
    assert sum(path.stat().st_size for path in log.parent.iterdir()) < 5000
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in log.parent.iterdir())


def test_a_log_that_cannot_be_written_stops_nothing(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.parent.parent.mkdir()
    log.parent.write_text("a file where a directory should be")
    logging.getLogger("studio_tui.x").error("lost")
    assert capsys.readouterr() == ("", "")


def test_what_is_printed_for_a_host_cannot_act_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_terminal("studio_tui.y")
    logging.getLogger("studio_tui.y").warning("schedule %s: token=abc", "a\x1b[2Jb")
    said = capsys.readouterr().out
    logging.getLogger("studio_tui.y").handlers.clear()
    assert "\x1b" not in said
    assert "abc" not in said


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("postgresql+asyncpg://op:S3cret@h/db", "postgresql+asyncpg://op:***@h/db"),
        ("postgres://op:S3c%40r@et@h/db failed", "postgres://op:***@h/db failed"),
        ("sqlite+aiosqlite:////tmp/x.db", "sqlite+aiosqlite:////tmp/x.db"),
        ("?password=S3cret&x=1", "?password=***&x=1"),
        ('{"api_key": "S3cret"}', '{"api_key": "***"}'),
        ("Authorization: Bearer S3cret", "Authorization: Bearer ***"),
        ("GITHUB_TOKEN=S3cret done", "GITHUB_TOKEN=*** done"),
        ("key sk-abcdefghijkl used", "key *** used"),
        ("input_tokens=123 max_tokens: 5", "input_tokens=123 max_tokens: 5"),
        ("nothing to hide: 3 of 4", "nothing to hide: 3 of 4"),
    ],
)
def test_secrets_are_masked_and_the_rest_is_kept(text: str, kept: str) -> None:
    assert masked(text) == kept
