"""Text as every database can hold it: without NUL and without half characters, each replaced by a mark that can be seen.

PostgreSQL refuses both in text and cannot look into JSON that spells them; SQLite's driver refuses half characters. They come
from the output of jobs, from prompts and from arguments that are no UTF-8, and must not cost a run its end. One rule for both
databases, applied where values leave for the driver, so that both show the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

NUL_MARK: Final = "\u2400"
HALF_MARK: Final = "\ufffd"
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def storable(text: str) -> str:
    """``text`` with marks in place of what no database takes."""
    if "\0" not in text and text.isascii():
        return text
    return _UNSTORABLE.sub(_mark, text)


def storable_value(value: Any) -> Any:
    """A JSON value with :func:`storable` text throughout, keys included."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable_value(key): storable_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_value(item) for item in value]
    return value


def send_storable_text(engine: Engine) -> None:
    """Have every text that is handed to the driver made storable."""
    event.listen(engine, "before_cursor_execute", _send, retval=True)


def _send(
    _connection: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, executemany: bool
) -> tuple[str, Any]:
    return statement, [_row(row) for row in parameters] if executemany else _row(parameters)


def _row(parameters: Any) -> Any:
    """The values of one statement; drivers take them as a sequence or by name."""
    if isinstance(parameters, Mapping):
        return {name: storable(value) if type(value) is str else value for name, value in parameters.items()}
    return tuple(storable(value) if type(value) is str else value for value in parameters)


def _mark(match: re.Match[str]) -> str:
    return NUL_MARK if match.group() == "\0" else HALF_MARK
