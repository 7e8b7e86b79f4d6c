"""What databases and systems say, in sentences for people."""

from __future__ import annotations

import errno
import sqlite3

import pytest
from sqlalchemy.exc import OperationalError

from studio_tui.application.errors import Conflict, StateUnavailable
from studio_tui.state.errors import describe, translated


def _sqlite(code: str) -> sqlite3.Error:
    error = sqlite3.OperationalError("SELECT secret FROM /srv/secret")
    error.sqlite_errorname = code
    return error


class _Server(Exception):
    def __init__(self, state: str) -> None:
        super().__init__("secret")
        self.sqlstate = state


@pytest.mark.parametrize(
    ("error", "words", "retryable"),
    [
        (_sqlite("SQLITE_FULL"), "disk is full", True),
        (_sqlite("SQLITE_BUSY"), "another program is writing", True),
        (_sqlite("SQLITE_BUSY_SNAPSHOT"), "another program is writing", True),
        (_sqlite("SQLITE_LOCKED"), "another program is writing", True),
        (_sqlite("SQLITE_CORRUPT"), "damaged", False),
        (_sqlite("SQLITE_NOTADB"), "not an SQLite database", False),
        (_sqlite("SQLITE_READONLY_DIRECTORY"), "folder of the store may not be written", False),
        (_sqlite("SQLITE_READONLY_ROLLBACK"), "interrupted write", False),
        (_sqlite("SQLITE_READONLY_DBMOVED"), "may not be written", False),
        (_sqlite("SQLITE_CANTOPEN_ISDIR"), "cannot be opened", False),
        (_sqlite("SQLITE_PERM"), "refuses access", False),
        (_sqlite("SQLITE_IOERR_WRITE"), "disk failed", True),
        (_sqlite("SQLITE_CONSTRAINT_UNIQUE"), "rule of its schema", False),
        (_sqlite("SQLITE_ERROR"), "not what this version expects", False),
        (_sqlite("SQLITE_SOMETHING_NEW"), "does not know", False),
        (sqlite3.ProgrammingError("Cannot operate on a closed database."), "given up", True),
        (_Server("28P01"), "refused the login", False),
        (_Server("3D000"), "no such database", False),
        (_Server("42501"), "may not do that", False),
        (_Server("42P01"), "not what this version expects", False),
        (_Server("53100"), "disk of the database server is full", True),
        (_Server("40001"), "took the change back", True),
        (OSError(errno.ENOSPC, "x"), "disk is full", True),
        (PermissionError(errno.EACCES, "x", "/srv/secret"), "refuses access", False),
        (OSError(errno.EROFS, "x"), "read-only", False),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "does not answer", True),
        (RuntimeError("secret"), "does not know", False),
    ],
)
def test_each_failure_has_its_sentence(error: Exception, words: str, retryable: bool) -> None:
    for shape in (error, OperationalError("SELECT secret", {"a": "secret"}, error)):
        sentence, may_retry = describe(shape)
        assert words in sentence
        assert may_retry is retryable
        assert "secret" not in sentence


def test_failures_become_the_closed_error_and_ours_pass() -> None:
    with pytest.raises(StateUnavailable, match="the disk is full") as caught, translated():
        raise OperationalError("INSERT secret", None, _sqlite("SQLITE_FULL"))
    assert caught.value.retryable
    with pytest.raises(Conflict), translated():
        raise Conflict("x", expected=None, actual=None)
    with pytest.raises(KeyError), translated():
        raise KeyError("a fault of ours stays visible")
