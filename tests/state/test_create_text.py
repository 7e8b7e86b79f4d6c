"""Reading CREATE TABLE statements: whatever a person may have written into one."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.state.migrations.create_text import column_definitions, table_constraints
from studio_tui.state.schema import sqlite_statements

AWKWARD = """
CREATE TABLE /* ( , */ "odd, (name" (
  id TEXT PRIMARY KEY, -- the key, (really)
  /* a comment first */ "two, words" TEXT DEFAULT 'a,(b' CHECK ("two, words" <> 'x,)'),
  [in brackets] DECIMAL(10, 2) NOT NULL DEFAULT (1 + (2 * 3)),
  `ticks` TEXT DEFAULT 'it''s -- no comment' COLLATE NOCASE,
  plain,
  twice INTEGER GENERATED ALWAYS AS (length(id) * 2) VIRTUAL REFERENCES x(y),
  "quote""d" TEXT,
  CONSTRAINT c CHECK (plain IN ('a', 'b')),
  UNIQUE (plain, ticks),
  FOREIGN KEY (plain) REFERENCES x (y) ON DELETE CASCADE
) -- the end )
"""


def test_columns_with_their_definitions() -> None:
    found = column_definitions(AWKWARD)
    assert found == {
        "id": "id TEXT PRIMARY KEY",
        "two, words": """"two, words" TEXT DEFAULT 'a,(b' CHECK ("two, words" <> 'x,)')""",
        "in brackets": "[in brackets] DECIMAL(10, 2) NOT NULL DEFAULT (1 + (2 * 3))",
        "ticks": "`ticks` TEXT DEFAULT 'it''s -- no comment' COLLATE NOCASE",
        "plain": "plain",
        "twice": "twice INTEGER GENERATED ALWAYS AS (length(id) * 2) VIRTUAL REFERENCES x(y)",
        'quote"d': '"quote""d" TEXT',
    }


def test_constraints_of_the_table() -> None:
    assert table_constraints(AWKWARD) == [
        "CONSTRAINT c CHECK (plain IN ('a', 'b'))",
        "UNIQUE (plain, ticks)",
        "FOREIGN KEY (plain) REFERENCES x (y) ON DELETE CASCADE",
    ]


def test_the_definitions_make_the_same_columns() -> None:
    """SQLite itself is the judge."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(AWKWARD)
        found = column_definitions(AWKWARD)
        assert found is not None
        connection.execute(f"CREATE TABLE again ({', '.join(found.values())})")
        shapes = [
            connection.execute(
                'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)', (name,)
            ).fetchall()
            for name in ("odd, (name", "again")
        ]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("statement", [item for item in sqlite_statements() if item.startswith("CREATE TABLE")])
def test_every_table_of_ours_is_read_whole(statement: str) -> None:
    definitions, constraints = column_definitions(statement), table_constraints(statement)
    assert definitions is not None
    assert sum(map(len, (*definitions.values(), *constraints))) > 0.8 * len(statement) - 60
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE again ({', '.join((*definitions.values(), *constraints))})")
        assert [row[1] for row in connection.execute("PRAGMA table_info(again)")] == list(definitions)


@pytest.mark.parametrize("statement", ["", "CREATE TABLE t", "CREATE TABLE t (a, 'unfinished", "CREATE TABLE t (a, (b)"])
def test_what_is_no_whole_statement_is_not_guessed_at(statement: str) -> None:
    assert column_definitions(statement) is None
    assert table_constraints(statement) == []


@given(st.text(alphabet="abc ,()'\"`[]-/*\n\\é"))
def test_no_text_raises(text: str) -> None:
    column_definitions(f"CREATE TABLE t ({text})")
    column_definitions(text)
