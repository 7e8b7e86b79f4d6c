"""Text with names, text with question marks, and statements that are no text."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from studio_tui.state.db import StateDB
from studio_tui.state.placeholders import executable
from studio_tui.state.schema import projects


@pytest.mark.parametrize(
    ("sql", "values", "expected"),
    [
        ("SELECT ?", (7,), ("SELECT :p0", {"p0": 7})),
        ("SELECT '?', ?, 'it''s ?' || ?", [1, 2], ("SELECT '?', :p0, 'it''s ?' || :p1", {"p0": 1, "p1": 2})),
        ("SELECT ? AS '', '?'''", (1,), ("SELECT :p0 AS '', '?'''", {"p0": 1})),
        ("SELECT 1", (), ("SELECT 1", {})),
        ("SELECT :a", {"a": 1}, ("SELECT :a", {"a": 1})),
        ("SELECT '?'", None, ("SELECT '?'", None)),
    ],
)
def test_question_marks_become_names(sql: str, values: object, expected: tuple[str, object]) -> None:
    statement, params = executable(sql, values)  # type: ignore[arg-type]
    assert (str(statement), params) == expected


@pytest.mark.parametrize(("sql", "values"), [("SELECT ?", ()), ("SELECT ?", (1, 2)), ("SELECT '?'", (1,)), ("SELECT 1", [None])])
def test_as_many_values_as_question_marks(sql: str, values: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="question marks"):
        executable(sql, values)
    with pytest.raises(ValueError, match="without names"):
        executable(select(projects), [1])


async def test_both_kinds_reach_the_store(db: StateDB) -> None:
    insert = "INSERT INTO projects (name, source, created_at, updated_at) VALUES (?, 'studio?', ?, ?)"
    await db.execute(insert, ("it's", 1.0, 2.0))
    assert await db.fetch_one("SELECT source FROM projects WHERE name = ?", ["it's"]) == {"source": "studio?"}
    assert await db.fetch_all("SELECT name FROM projects WHERE updated_at = :at", {"at": 2.0}) == [{"name": "it's"}]
    assert await db.fetch_all("SELECT name FROM projects WHERE name = ?", ("x' OR 1 = 1 --",)) == []
