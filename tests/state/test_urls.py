"""From what an operator types to a store: the table of the peer, without its four defects."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.application.errors import ValidationFailure
from studio_tui.state.urls import dialect_of, label_of, mask_url, normalize_state_db_url, split_sslmode, sqlite_path

HOME = Path("/srv/home")


@pytest.mark.parametrize(
    ("value", "url"),
    [
        (None, "sqlite+aiosqlite:////srv/home/state.db"),
        ("", "sqlite+aiosqlite:////srv/home/state.db"),
        ("  ", "sqlite+aiosqlite:////srv/home/state.db"),
        (":memory:", "sqlite+aiosqlite:///:memory:"),
        ("sqlite:///rel.db", "sqlite+aiosqlite:///rel.db"),
        ("sqlite:////abs.db", "sqlite+aiosqlite:////abs.db"),
        ("SQLite:////abs.db", "sqlite+aiosqlite:////abs.db"),
        ("sqlite+aiosqlite:////abs.db", "sqlite+aiosqlite:////abs.db"),
        ("sqlite://", "sqlite://"),
        ("postgres://h/db", "postgresql+asyncpg://h/db"),
        ("postgresql://u:p@h:5432/db?a=1&b=2", "postgresql+asyncpg://u:p@h:5432/db?a=1&b=2"),
        ("POSTGRES://h/db", "postgresql+asyncpg://h/db"),
        ("PostgreSQL://h/db", "postgresql+asyncpg://h/db"),
        ("postgresql+asyncpg://h/db", "postgresql+asyncpg://h/db"),
        ("postgresql+psycopg://h/db", "postgresql+psycopg://h/db"),
        ("mysql://h/db", "mysql://h/db"),
        ("file:/x?mode=ro", "file:/x?mode=ro"),
    ],
)
def test_each_kind_of_text_becomes_its_url(value: str | None, url: str) -> None:
    assert normalize_state_db_url(value, home=HOME) == url


@pytest.mark.parametrize("text", ["rel/s.db", "./s.db", "user@host.db", "a?b.db", "a#b.db", "./user:secret@host/db"])
def test_a_bare_path_is_taken_literally_against_the_current_folder(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = normalize_state_db_url(text, home=HOME)
    assert url == f"sqlite+aiosqlite:///{(tmp_path / text).absolute()}"
    assert sqlite_path(url) == (tmp_path / text).absolute()


@pytest.mark.parametrize("text", ["~/s.db", Path("~/s.db"), "sqlite:///~/s.db", "sqlite+aiosqlite:///~/s.db"])
def test_the_tilde_is_the_home_directory(text: str | Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/op")
    assert sqlite_path(normalize_state_db_url(text, home=HOME)) == Path("/home/op/s.db")


def test_the_default_home_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/op")
    assert normalize_state_db_url(None) == "sqlite+aiosqlite:////home/op/.lionagi/state.db"


def test_credentials_without_a_scheme_are_refused_and_not_repeated() -> None:
    with pytest.raises(ValidationFailure) as caught:
        normalize_state_db_url("user:secret@host/db", home=HOME)
    assert "secret" not in str(caught.value)


def test_options_behind_a_url_are_no_part_of_the_file() -> None:
    assert sqlite_path("sqlite+aiosqlite:////a/s.db?timeout=30") == Path("/a/s.db")
    assert sqlite_path("postgresql+asyncpg://h/db") is None


@pytest.mark.parametrize(
    ("url", "dialect"),
    [
        ("sqlite+aiosqlite:///x", "sqlite"),
        ("postgresql+asyncpg://h/d", "postgresql"),
        ("MySQL://h", "mysql"),
        ("file:/x", "file"),
    ],
)
def test_dialects(url: str, dialect: str) -> None:
    assert dialect_of(url) == dialect


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://user:s3cret@host/db",
        "postgresql://user:s3c/ret@host/db",
        "postgresql://user:s3c@ret@host/db",
        "postgresql://user:s3c?ret@host/db",
        "postgresql://:s3cret@host/db",
        "postgresql://host/db?password=s3cret&x=1",
        "postgresql://host/db?x=1&sslPassword=s3cret",
        "postgresql+asyncpg://host/db?api_token=s3cret#x",
    ],
)
def test_secrets_are_masked(text: str) -> None:
    masked = mask_url(text)
    assert "ret" not in masked.replace("secret", "")
    assert "***" in masked
    assert "host" in masked
    assert "***" in label_of(text)


def test_what_holds_no_secret_is_shown_as_it_is() -> None:
    assert mask_url("postgresql://user@host:5432/db?x=1") == "postgresql://user@host:5432/db?x=1"
    assert label_of("sqlite+aiosqlite:////srv/state.db") == "/srv/state.db"
    assert label_of("postgresql+asyncpg://u:p@h/db") == "postgresql://u:***@h/db"


@pytest.mark.parametrize(
    ("url", "rest", "mode"),
    [
        ("postgresql+asyncpg://h/db", "postgresql+asyncpg://h/db", None),
        ("postgresql+asyncpg://h/db?x=1", "postgresql+asyncpg://h/db?x=1", None),
        ("postgresql+asyncpg://h/db?sslmode=require", "postgresql+asyncpg://h/db", "require"),
        ("postgresql+asyncpg://h/db?sslmode=require&a=1", "postgresql+asyncpg://h/db?a=1", "require"),
        ("postgresql+asyncpg://h/db?a=1&sslmode=prefer&b=2", "postgresql+asyncpg://h/db?a=1&b=2", "prefer"),
        ("postgresql+asyncpg://h/db?a=1&sslmode=DISABLE", "postgresql+asyncpg://h/db?a=1", "disable"),
    ],
)
def test_sslmode_leaves_the_url_wherever_it_stood(url: str, rest: str, mode: str | None) -> None:
    assert split_sslmode(url) == (rest, mode)
