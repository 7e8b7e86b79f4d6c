"""The rows that a list holds: a window on an ordered set, with a cursor and marks that are record ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, Literal, TypeVar

Row = TypeVar("Row")
Edge = Literal["before", "after"]


class Window(Generic[Row]):
    """Consecutive rows and what lies beyond them. No drawing; every operation keeps the cursor on its record."""

    def __init__(self, row_id: Callable[[Row], str], max_rows: int) -> None:
        self._row_id, self._max_rows = row_id, max_rows
        self.rows: Sequence[Row] = ()
        self.ids: list[str] = []
        self._index: dict[str, int] = {}
        self._cursor = 0
        self.marks: set[str] = set()
        self.more: dict[Edge, bool] = {"before": False, "after": False}

    def __contains__(self, row_id: object) -> bool:
        return row_id in self._index

    @property
    def cursor(self) -> int:
        """Where the cursor is now; only for drawing and moving, never for acting."""
        return self._cursor

    @cursor.setter
    def cursor(self, index: int) -> None:
        self._cursor = max(0, min(index, len(self.rows) - 1))

    @property
    def cursor_id(self) -> str | None:
        """The record under the cursor."""
        return self.ids[self._cursor] if self.ids else None

    @property
    def at_cursor(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self._cursor] if self.rows else None

    def index_of(self, row_id: str) -> int | None:
        """Where a record is now."""
        return self._index.get(row_id)

    def move_to(self, row_id: str) -> bool:
        """Cursor to a record; ``False`` when it is not here."""
        index = self._index.get(row_id)
        if index is not None:
            self._cursor = index
        return index is not None

    def replace(self, rows: Iterable[Row], *, before: bool, after: bool) -> None:
        """Other rows. A cursor whose record vanished goes to the next one that is still there, else to the one before."""
        old, old_cursor = self.ids, self._cursor
        self._hold(rows)
        self.more = {"before": before, "after": after}
        self._restore(old, old_cursor)

    def extend(self, rows: Iterable[Row], edge: Edge, *, more: bool) -> None:
        """A page at one end. Rows that are here already are left out; what exceeds the bound is let go at the other end."""
        fresh = [row for row in rows if self._row_id(row) not in self._index]
        held = [*self.rows, *fresh] if edge == "after" else [*fresh, *self.rows]
        surplus = len(held) - self._max_rows
        self.more[edge] = more
        if surplus > 0 and fresh:
            held = held[surplus:] if edge == "after" else held[:-surplus]
            self.more["before" if edge == "after" else "after"] = True
        old, old_cursor = self.ids, self._cursor
        self._hold(held)
        self._restore(old, old_cursor)

    def update(self, rows: Iterable[Row]) -> None:
        """New versions of rows that are here."""
        held = list(self.rows)
        for row in rows:
            index = self._index.get(self._row_id(row))
            if index is not None:
                held[index] = row
        self.rows = held

    def remove(self, ids: frozenset[str]) -> None:
        """Rows and marks that are gone for good."""
        old, old_cursor = self.ids, self._cursor
        self.marks -= ids
        self._hold([row for row, row_id in zip(self.rows, self.ids, strict=True) if row_id not in ids])
        self._restore(old, old_cursor)

    def _hold(self, rows: Iterable[Row]) -> None:
        """Keep each record once: two pages read at different times may overlap."""
        held = rows if isinstance(rows, list | tuple) else list(rows)
        ids = [self._row_id(row) for row in held]
        index = {row_id: place for place, row_id in enumerate(ids)}
        if len(index) != len(ids):
            first = dict(zip(reversed(ids), reversed(held), strict=True))
            ids = list(dict.fromkeys(ids))
            held = [first[row_id] for row_id in ids]
            index = {row_id: place for place, row_id in enumerate(ids)}
        self.rows, self.ids, self._index = held, ids, index

    def _restore(self, old: Sequence[str], cursor: int) -> None:
        if not old:
            self.cursor = 0
            return
        for row_id in (*old[cursor:], *reversed(old[:cursor])):
            index = self._index.get(row_id)
            if index is not None:
                self._cursor = index
                return
        self.cursor = cursor
