"""A new store of ours equals a new store of lionagi 0.36.0: tables, columns, checks, keys, indexes, seed rows, page layout."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio_tui.domain.reasons import REASON_WORDS
from studio_tui.domain.statuses import VOCABULARIES
from studio_tui.state.lifecycle import CREATED, EXTRA_FIELDS
from studio_tui.state.store import Store
from studio_tui.state.urls import normalize_state_db_url
from tests.interop.peer_call import ask_peer

pytestmark = pytest.mark.interop

Stores = tuple[sqlite3.Connection, sqlite3.Connection]
_MAKE = """
async with StateDB(ARGUMENTS["path"]) as db:
    return await db.schema_version()
"""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A new store of ours and one of the peer."""
    base = tmp_path_factory.mktemp("stores")
    ours, theirs = base / "ours", base / "theirs" / "state.db"
    theirs.parent.mkdir()
    assert ask_peer(theirs.parent, _MAKE, path=str(theirs)) == "4"
    asyncio.run(_create(ours))
    first, second = sqlite3.connect(ours / "state.db"), sqlite3.connect(theirs)
    yield first, second
    first.close()
    second.close()


async def _create(home: Path) -> None:
    store = Store(None, home=home)
    await store.open()
    await store.create()
    await store.close()


def _names(connection: sqlite3.Connection, kind: str) -> list[str]:
    return [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = ? ORDER BY name", (kind,))]


def _sql(connection: sqlite3.Connection) -> dict[str, str]:
    """The text of every statement without regard to blanks: the peer searches in it."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: re.sub(r"\s+", "", sql) for name, sql in rows}


def _pragma(connection: sqlite3.Connection, name: str, argument: str) -> list[Any]:
    return connection.execute(f"SELECT * FROM pragma_{name}(?)", (argument,)).fetchall()


def test_the_same_objects(stores: Stores) -> None:
    ours, theirs = stores
    for kind in ("table", "index", "trigger", "view"):
        assert _names(ours, kind) == _names(theirs, kind)
    assert len([name for name in _names(ours, "index") if not name.startswith("sqlite_autoindex")]) == 90
    assert len(_names(ours, "table")) == 32


def test_the_same_columns_in_the_same_order(stores: Stores) -> None:
    ours, theirs = stores
    for table in _names(theirs, "table"):
        assert _pragma(ours, "table_info", table) == _pragma(theirs, "table_info", table), table


def test_the_same_indexes(stores: Stores) -> None:
    ours, theirs = stores
    for table in _names(theirs, "table"):
        lists = [sorted(row[1:] for row in _pragma(store, "index_list", table)) for store in stores]
        assert lists[0] == lists[1], table
    for index in _names(theirs, "index"):
        assert _pragma(ours, "index_xinfo", index) == _pragma(theirs, "index_xinfo", index), index


def test_the_same_foreign_keys(stores: Stores) -> None:
    ours, theirs = stores
    for table in _names(theirs, "table"):
        assert _pragma(ours, "foreign_key_list", table) == _pragma(theirs, "foreign_key_list", table), table


def test_the_same_text_of_every_statement(stores: Stores) -> None:
    ours, theirs = map(_sql, stores)
    assert ours.keys() == theirs.keys()
    for name, sql in theirs.items():
        assert ours[name] == sql, name


def test_the_same_seed_rows_and_layout(stores: Stores) -> None:
    meta = [dict(store.execute("SELECT key, value FROM schema_meta")) for store in stores]
    created = [rows.pop("created_at") for rows in meta]
    assert meta[0] == meta[1]
    assert all(value.isdigit() for value in created)
    types = [store.execute("SELECT * FROM message_types ORDER BY type_id").fetchall() for store in stores]
    assert types[0] == types[1]
    for pragma in ("page_size", "auto_vacuum", "application_id", "user_version", "journal_mode", "encoding"):
        values = [store.execute(f"PRAGMA {pragma}").fetchone() for store in stores]
        assert values[0] == values[1], pragma


def test_every_other_table_is_empty(stores: Stores) -> None:
    for store in stores:
        for table in set(_names(store, "table")) - {"schema_meta", "message_types"}:
            assert store.execute(f'SELECT count(*) FROM "{table}"').fetchone() == (0,)


def test_the_words_of_the_peer(tmp_path: Path) -> None:
    answer = ask_peer(
        tmp_path,
        """
from lionagi.state.db import _INITIAL_REASON_CODES, EXTRA_STATUS_WRITE_FIELDS_BY_ENTITY_TYPE
from lionagi.state.lifecycle.policy import build_default_registry
from lionagi.state.reasons import VALID_REASON_CODES
policies = {name: build_default_registry().get(name) for name in ARGUMENTS["names"]}
return {
    "codes": sorted(VALID_REASON_CODES),
    "statuses": {name: sorted(policy.statuses) for name, policy in policies.items()},
    "terminal": {name: sorted(policy.terminal_statuses) for name, policy in policies.items()},
    "prefixes": {name: sorted(policy.reason_prefixes) for name, policy in policies.items()},
    "edges": {name: {status: sorted({edge.to_status for edge in policy.edges.get(status, ())} - {status})
        for status in policy.statuses} for name, policy in policies.items()},
    "first": {" ".join(key): code for key, code in _INITIAL_REASON_CODES.items()},
    "extra": {name: sorted(fields) for name, fields in EXTRA_STATUS_WRITE_FIELDS_BY_ENTITY_TYPE.items()},
}
""",
        names=sorted(VOCABULARIES),
    )
    assert sorted(REASON_WORDS) == answer["codes"]
    assert {name: sorted(found.statuses) for name, found in VOCABULARIES.items()} == answer["statuses"]
    assert {name: sorted(found.terminal) for name, found in VOCABULARIES.items()} == answer["terminal"]
    for name, prefixes in answer["prefixes"].items():
        # more than its transition policy allows: the peer's other writer, which reapers use, does not look at prefixes
        assert set(prefixes) <= set(VOCABULARIES[name].reason_prefixes)
    for name, found in VOCABULARIES.items():
        edges = {status: sorted(found.edges.get(status, frozenset()) - {status}) for status in found.statuses}
        assert edges == answer["edges"][name], name
    assert {" ".join(key): code for key, code in CREATED.items()} == answer["first"]
    for name, fields in answer["extra"].items():
        # more for firings and messages, whose workers write those with their status
        assert set(fields) <= EXTRA_FIELDS.get(name, frozenset()), name


URLS = [
    ":memory:",
    "/abs/s.db",
    "sqlite:///rel.db",
    "sqlite:////abs.db",
    "sqlite://",
    "sqlite+aiosqlite:////abs.db",
    "postgres://h/db?a=1",
    "postgresql://u:p@h:5432/db",
    "postgresql+asyncpg://h/db",
    "mysql://h/db",
    "/abs/a?b#c.db",
]


def test_the_same_url_where_the_peer_has_no_defect(tmp_path: Path) -> None:
    body = 'from lionagi.state.engine import normalize_state_db_url\nreturn list(map(normalize_state_db_url, ARGUMENTS["urls"]))'
    theirs = ask_peer(tmp_path, body, urls=URLS)
    assert [normalize_state_db_url(value, home=tmp_path) for value in URLS] == theirs
