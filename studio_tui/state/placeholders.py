"""Statements given as text: named parameters as they are, and the older question marks (ADR-0056 D5)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Executable, text

Parameters = Mapping[str, Any] | Sequence[Any] | None

_STRINGS: Final = re.compile(r"('(?:[^']|'')*')")


def executable(statement: Executable | str, params: Parameters) -> tuple[Executable, Mapping[str, Any] | None]:
    """The statement and its named parameters; each ``?`` outside of a string becomes ``:p0``, ``:p1``… for a sequence of values.

    Raises :class:`ValueError` when there are more of the one than of the other.
    """
    if params is None or isinstance(params, Mapping):
        return (text(statement) if isinstance(statement, str) else statement), params
    if not isinstance(statement, str):
        raise ValueError("values without names belong to a statement in text")
    numbers = itertools.count()
    parts = _STRINGS.split(statement)
    parts[::2] = (re.sub(r"\?", lambda _: f":p{next(numbers)}", part) for part in parts[::2])
    if (marks := next(numbers)) != len(params):
        raise ValueError(f"the statement has {marks} question marks, and {len(params)} values were given")
    return text("".join(parts)), {f"p{number}": value for number, value in enumerate(params)}
