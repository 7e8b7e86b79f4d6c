"""Reading for stores whose rows become records by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import Executable

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.errors import was_cut
from studio_tui.state.stores.base import StoreBase, reading

T = TypeVar("T")
AT_ONCE: Final = 1000
"""How many ids one statement asks for."""


class ReadStore(StoreBase):
    """A store that asks prepared statements, one short connection each."""

    async def _rows(self, statement: Executable, values: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        """All rows; none while there is no store. A question whose connection was cut in the middle is asked once more."""
        try:
            return await self._ask(statement, values)
        except StateUnavailable as failure:
            if not was_cut(failure):
                raise
        return await self._ask(statement, values)

    async def _ask(self, statement: Executable, values: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        async with reading(self._db) as connection:
            if connection is None:
                return ()
            return (await connection.execute(statement, dict(values))).all()

    async def _first_row(self, statement: Executable, values: Mapping[str, object]) -> Sequence[Any] | None:
        """The first row, or ``None``."""
        return next(iter(await self._rows(statement, values)), None)

    async def _only_value(self, statement: Executable, values: Mapping[str, object]) -> Any:
        """The first column of the first row, or ``None``."""
        row = await self._first_row(statement, values)
        return None if row is None else row[0]


def in_parts(items: Sequence[T]) -> Iterator[list[T]]:
    """``items`` in lists that one statement can take; equal ones only once."""
    distinct = list(dict.fromkeys(items))
    for start in range(0, len(distinct), AT_ONCE):
        yield distinct[start : start + AT_ONCE]
