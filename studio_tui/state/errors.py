"""What a database or the system said, in words that help an operator, and as one of the closed errors.

No SQL, no bound value, no URL and no path of the driver's own text is passed on; the cause stays chained for the log.
"""

from __future__ import annotations

import errno
import socket
import sqlite3
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from studio_tui.application.errors import StateUnavailable

_SQLITE: Final = (
    ("SQLITE_FULL", "the disk is full: nothing was stored", True),
    ("SQLITE_BUSY", "the store is locked: another program is writing to it and did not finish in time", True),
    ("SQLITE_LOCKED", "the store is locked: another program is writing to it and did not finish in time", True),
    ("SQLITE_NOTADB", "the file is not an SQLite database", False),
    ("SQLITE_CORRUPT", "the store is damaged: SQLite calls it malformed", False),
    ("SQLITE_READONLY_ROLLBACK", "an interrupted write waits beside the store for a program that may write it", False),
    ("SQLITE_READONLY_RECOVERY", "an interrupted write waits beside the store for a program that may write it", False),
    ("SQLITE_READONLY_CANTINIT", "the log beside the store cannot be read", False),
    ("SQLITE_READONLY_DIRECTORY", "the folder of the store may not be written", False),
    ("SQLITE_READONLY", "the store may not be written", False),
    ("SQLITE_CANTOPEN", "the store, or a file beside it, cannot be opened", False),
    ("SQLITE_PERM", "the system refuses access to the store", False),
    ("SQLITE_AUTH", "the system refuses access to the store", False),
    ("SQLITE_IOERR", "the disk failed while the store was used", True),
    ("SQLITE_NOMEM", "there is not enough memory for this", True),
    ("SQLITE_INTERRUPT", "the question was given up", True),
    ("SQLITE_CONSTRAINT", "the store refused the change: a rule of its schema would be broken", False),
    ("SQLITE_TOOBIG", "a value is too large for the store", False),
    ("SQLITE_ERROR", "the store's tables are not what this version expects (`studio-tui state plan` says what they lack)", False),
)
"""By the name of the result code, the more exact name first; then the sentence, and whether a retry may help."""

_LOST: Final = "the connection to the database server was lost"
_UNFIT: Final = "a value is too large for the store, or of the wrong kind"
_SQLSTATE: Final = (
    ("28", "the database server refused the login", False),
    ("3F000", "the database server has no such schema", False),
    ("3D", "the database server has no such database", False),
    ("42501", "this login may not do that in the database", False),
    ("42", "the store's tables are not what this version expects (`studio-tui state plan` says what they lack)", False),
    ("53100", "the disk of the database server is full: nothing was stored", True),
    ("53", "the database server has no room for this now", True),
    ("55P03", "the rows are locked by somebody else", True),
    ("40", "the database server took the change back because of another one", True),
    ("57014", "the question was given up", True),
    ("57P03", "the database server is starting or stopping", True),
    ("57", _LOST, True),
    ("08", _LOST, True),
    ("22", _UNFIT, False),
    ("23", "the store refused the change: a rule of its schema would be broken", False),
    ("25006", "the store may not be written", False),
)

_ERRNO: Final = {
    errno.ENOSPC: ("the disk is full: nothing was stored", True),
    errno.EDQUOT: ("the disk quota is used up: nothing was stored", True),
    errno.EACCES: ("the system refuses access to the store", False),
    errno.EPERM: ("the system refuses access to the store", False),
    errno.EROFS: ("the file system of the store is read-only", False),
    errno.EMFILE: ("too many files are open", True),
    errno.EIO: ("the disk failed while the store was used", True),
    errno.ECONNREFUSED: ("the database server does not answer", True),
    errno.ETIMEDOUT: ("the database server does not answer", True),
}


def describe(error: BaseException) -> tuple[str, bool]:
    """The sentence for a driver's, SQLAlchemy's or the system's error, and whether a retry may help."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        if is_lost(error):
            return _LOST, True
        if isinstance(error.orig.__cause__, ValueError):
            return _UNFIT, False  # asyncpg looks at values before it sends them
        return describe(error.orig)
    if isinstance(error, sqlite3.Error):
        return _by_prefix(_SQLITE, getattr(error, "sqlite_errorname", None) or _name_by_text(error))
    if isinstance(error, PoolTimeout):
        return "too many questions to the store at once", True
    if isinstance(error, NoSuchModuleError):
        return "this kind of database is not supported: only SQLite and PostgreSQL are", False
    if isinstance(error, OSError):
        return _describe_system(error)
    if state := getattr(error, "sqlstate", None):
        return _by_prefix(_SQLSTATE, str(state))
    return "the store failed in a way that this version does not know", False


def sqlstate_of(error: BaseException) -> str | None:
    """The server's code for what went wrong, where it is an answer of a database server."""
    inner = error.orig if isinstance(error, DBAPIError) else error
    state = getattr(inner, "sqlstate", None)
    return None if state is None else str(state)


def is_lost(error: BaseException) -> bool:
    """Whether the connection to a database server went, or no answer came in time: what it was doing may have been done."""
    if isinstance(error, OSError):
        return True
    if not isinstance(error, DBAPIError) or isinstance(error.orig, sqlite3.Error):
        return False
    state = sqlstate_of(error)
    return error.connection_invalidated if state is None else state.startswith(("08", "57P"))


def was_cut(failure: StateUnavailable) -> bool:
    """Whether a database server, or somebody on the way to it, ended the connection in the middle; the next one may be good."""
    cause = failure.__cause__
    return isinstance(cause, DBAPIError) and is_lost(cause)


def translate(error: BaseException) -> StateUnavailable:
    """The closed error for a failure of the store."""
    reason, retryable = describe(error)
    return StateUnavailable(reason, retryable=retryable)


@contextmanager
def translated() -> Iterator[None]:
    """Turn failures of the database into :class:`StateUnavailable`; errors of our own pass."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise translate(error) from error


def _describe_system(error: OSError) -> tuple[str, bool]:
    if isinstance(error, ssl.SSLCertVerificationError):
        return "the certificate of the database server is not one that the address asks for", False
    if isinstance(error, ssl.SSLError):
        return "no secure connection to the database server comes about", False
    if "rejected SSL upgrade" in str(error):  # asyncpg has no other sign for it
        return "the database server offers no TLS, and the address asks for it", False
    if isinstance(error, socket.gaierror):
        return "the name of the database server is not known here", True
    if isinstance(error, TimeoutError):
        return "the database server does not answer in time", True
    return _ERRNO.get(error.errno or 0, ("the store cannot be reached", True))


def _by_prefix(table: tuple[tuple[str, str, bool], ...], code: str) -> tuple[str, bool]:
    for prefix, sentence, retryable in table:
        if code.startswith(prefix):
            return sentence, retryable
    return "the store failed in a way that this version does not know", False


def _name_by_text(error: sqlite3.Error) -> str:
    """The few errors that the driver raises itself, without a result code."""
    text = str(error).lower()
    if "closed" in text or "no active connection" in text:
        return "SQLITE_INTERRUPT"
    return "SQLITE_ERROR"
