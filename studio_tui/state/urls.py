"""Which store is meant: from what an operator types to the URL of an async driver (lionagi 0.36, with its defects mended).

The peer leaves ``~`` alone, takes an empty value for the current directory, knows ``postgres://`` in lower case only, and loses
the rest of a query that begins with ``sslmode``. Ours does none of that. No password ever enters an error or a label.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode

from studio_tui.application.errors import ValidationFailure

SQLITE_SCHEME: Final = "sqlite+aiosqlite"
POSTGRESQL_SCHEME: Final = "postgresql+asyncpg"
MEMORY: Final = ":memory:"
_URL: Final = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://(.*)$", re.DOTALL)
_CREDENTIAL: Final = re.compile(r"^[^/@\s:]+:[^/@]*@")
_USER_PASSWORD: Final = re.compile(r"(://[^:/@]*):.*@", re.DOTALL)
_SECRET_PARAMETER: Final = re.compile(r"([?&][^=&]*(?:password|passwd|secret|token)[^=&]*=)[^&#]*", re.IGNORECASE)
_OPTIONS: Final = re.compile(r"\?[A-Za-z_]+=[^/?]*$")
_DEFAULT_HOME: Final = Path("~/.lionagi")


def normalize_state_db_url(value: str | Path | None, *, home: Path = _DEFAULT_HOME) -> str:
    """The URL of the store that ``value`` names: a path, a URL, or nothing for ``state.db`` of ``home``.

    A bare path becomes absolute against the current directory; a URL keeps what follows its scheme. Raises
    :class:`ValidationFailure` for text that looks like credentials without a scheme.
    """
    if value is None or not str(value).strip():
        return sqlite_url(home.expanduser() / "state.db")
    text = str(value)
    if text == MEMORY:
        return f"{SQLITE_SCHEME}:///{MEMORY}"
    if text.startswith("file:"):
        return text
    if found := _URL.match(text):
        return _with_driver(found[1].lower(), found[2])
    if not isinstance(value, Path) and _CREDENTIAL.match(text):
        raise ValidationFailure.of(
            "db", "looks_like_credentials", "looks like a user and a password without postgresql:// in front; a file needs ./"
        )
    return sqlite_url(Path(text).expanduser())


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file, absolute."""
    return f"{SQLITE_SCHEME}:///{path.absolute()}"


def dialect_of(url: str) -> str:
    """``sqlite``, ``postgresql``, or whatever else stands before the driver."""
    return url.partition(":")[0].partition("+")[0].lower()


def sqlite_path(url: str) -> Path | None:
    """The file of a SQLite URL, ``:memory:`` as such, ``None`` for other databases.

    ``?`` and ``#`` belong to the path; only options such as ``?timeout=30`` at the end of a URL are left out.
    """
    if dialect_of(url) != "sqlite":
        return None
    tail = _OPTIONS.sub("", url.partition("://")[2]).removeprefix("/")
    return Path(tail).absolute() if tail not in ("", MEMORY) else Path(MEMORY)


def mask_url(text: str) -> str:
    """A URL or path fit for a screen or a log: passwords and the like are ``***``."""
    return _SECRET_PARAMETER.sub(r"\1***", _USER_PASSWORD.sub(r"\1:***@", text))


def label_of(url: str) -> str:
    """How a store is named to people: its path, or its URL without driver and secrets."""
    path = sqlite_path(url)
    if path is not None:
        return str(path)
    return mask_url(url.replace(f"{POSTGRESQL_SCHEME}://", "postgresql://", 1))


def split_sslmode(url: str) -> tuple[str, str | None]:
    """The URL without ``sslmode``, wherever it stood in the query, and its value; other parameters stay in their order."""
    head, mark, query = url.partition("?")
    if not mark:
        return url, None
    pairs = parse_qsl(query, keep_blank_values=True)
    modes = [value for key, value in pairs if key == "sslmode"]
    if not modes:
        return url, None
    rest = urlencode([(key, value) for key, value in pairs if key != "sslmode"])
    return (f"{head}?{rest}" if rest else head), modes[-1].lower()


def url_for_peer(url: str) -> str:
    """The same address with ``sslmode`` at its end: lionagi 0.36 loses what follows it when it comes first."""
    rest, sslmode = split_sslmode(url)
    return url if sslmode is None else f"{rest}{'&' if '?' in rest else '?'}sslmode={sslmode}"


def _with_driver(scheme: str, rest: str) -> str:
    """The async driver for the two databases that we know; anything else is left for the engine to refuse."""
    if scheme == "sqlite" and rest:
        scheme = SQLITE_SCHEME
    if scheme in ("postgres", "postgresql"):
        scheme = POSTGRESQL_SCHEME
    if scheme == SQLITE_SCHEME and rest.startswith("/~/"):
        rest = f"/{Path(rest[1:]).expanduser()}"
    return f"{scheme}://{rest}"
