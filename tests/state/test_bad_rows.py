"""Whatever JSON columns hold, and wherever ids point, no question fails and no row is missing from an answer."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Float, Table, insert, text, update

from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.schema import LenientJSON, message_types, metadata, progressions, schema_meta
from studio_tui.state.store import Store
from tests.conftest import PEER_NOW
from tests.postgres import Server
from tests.state.read_all import read_all


def _is_json(column: Column[Any]) -> bool:
    return isinstance(column.type, LenientJSON) or column is progressions.c.collection


JSON_COLUMNS: dict[str, tuple[Column[Any], ...]] = {
    table.name: found for table in metadata.sorted_tables if (found := tuple(column for column in table.c if _is_json(column)))
}
"""Every JSON column by its table. Lists of ids are text to the database, and JSON all the same."""

OTHER_KINDS = ('"text"', "7", "-0.5", "null", None, "true", '[{"a": [1, null]}]', "{}", "[]", '{"a": {"b": "ä"}}', "[null, 1]")
NO_JSON = ("{", "NaN", '{"a": Infinity}', "[1,]", "'x'", "", "{'a': 1}", "[" * 2000, '{"a": 1} x', "nul", b"\xff\xfe", "\ufeff{}")


@pytest.fixture
async def rich(backend: str, peer_home_template: Path, request: pytest.FixtureRequest, home: Path) -> AsyncIterator[StateDB]:
    """A store with rows of every kind, made by the real lionagi; on a server a copy of its rows."""
    shutil.copy(peer_home_template / "state.db", home / "state.db")
    source = Store(None, home=home)
    await source.open()
    if backend == "sqlite":
        yield source.db
        await source.close()
        return
    store = Store(request.getfixturevalue("lent_url"), home=home)
    await store.open()
    await _copy(source.db, store.db)
    await source.close()
    yield store.db
    await store.close()


async def _copy(source: StateDB, target: StateDB) -> None:
    for table in metadata.sorted_tables:
        order = "created_at" if "created_at" in table.c else 1
        rows = [] if table in (schema_meta, message_types) else await source.fetch_all(table.select().order_by(text(str(order))))

        async def work(connection: AsyncConnection, table: Table = table, rows: Sequence[Any] = rows) -> None:
            await connection.execute(insert(table), rows)

        if rows:
            await target.write(work)


async def _stored(db: StateDB, table: Table) -> list[dict[str, Any]]:
    """Keys and JSON columns as they are stored."""
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
    texts = ", ".join(f'CAST("{column.name}" AS text) AS "{column.name}"' for column in JSON_COLUMNS[table.name])
    return await db.fetch_all(f"SELECT {keys}, {texts} FROM {table.name} ORDER BY {keys}")


async def _store(db: StateDB, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the JSON columns of these rows, as they are given."""
    kind = "AS json" if db.dialect == "postgresql" else None
    changed = ", ".join(
        f'"{column.name}" = CAST(:{column.name} {kind})'
        if kind and column is not progressions.c.collection
        else f'"{column.name}" = :{column.name}'
        for column in JSON_COLUMNS[table.name]
    )
    same = " AND ".join(f'"{column.name}" = :{column.name}' for column in table.primary_key)

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(text(f"UPDATE {table.name} SET {changed} WHERE {same}"), list(rows))

    await db.write(work)


def _spoiled(table: Table, rows: Sequence[Mapping[str, Any]], values: Sequence[Any]) -> list[dict[str, Any]]:
    """The rows with every JSON column holding another one of the values in each of them."""
    columns, spoiled = JSON_COLUMNS[table.name], []
    for number, row in enumerate(rows):
        bad = {column.name: values[(number * 5 + place) % len(values)] for place, column in enumerate(columns)}
        kept = {column.name: row[column.name] for column in columns if not column.nullable and bad[column.name] is None}
        spoiled.append({**row, **bad, **kept})
    return spoiled


async def test_nothing_that_a_json_column_holds_makes_a_question_fail(rich: StateDB) -> None:
    before = await read_all(rich, PEER_NOW)
    values = OTHER_KINDS if rich.dialect == "postgresql" else (*OTHER_KINDS, *NO_JSON)
    for names in (list(JSON_COLUMNS)[start : start + AT_ONCE] for start in range(0, len(JSON_COLUMNS), AT_ONCE)):
        kept = {name: await _stored(rich, metadata.tables[name]) for name in names}
        assert all(kept.values()), names
        for name, rows in kept.items():
            await _store(rich, metadata.tables[name], _spoiled(metadata.tables[name], rows, values))
        try:
            assert await read_all(rich, PEER_NOW) == before
        except BaseException as error:
            error.add_note(f"with bad values in {', '.join(names)}")
            raise
        for name, rows in kept.items():
            await _store(rich, metadata.tables[name], rows)
    assert await read_all(rich, PEER_NOW) == before


async def test_numbers_that_are_no_times_make_no_question_fail(rich: StateDB) -> None:
    """In every column for a time or a sum. SQLite keeps no NaN: it is NULL there."""
    before = await read_all(rich, PEER_NOW)
    for number in (float("inf"), -1e30, float("nan")):
        null = number != number and rich.dialect == "sqlite"
        for table in metadata.sorted_tables:
            floats = [column for column in table.c if isinstance(column.type, Float)]
            if odd := {column: number for column in floats if column.nullable or not null}:
                await rich.execute(update(table).values(odd))
        after = await read_all(rich, PEER_NOW)
        for kind in ("runs", "messages", "schedules", "invocations", "shows", "artifacts", "events", "versions", "teams"):
            assert after[kind] == before[kind], (kind, number)


async def test_null_of_sql_and_null_of_json_read_alike(rich: StateDB) -> None:
    """Lionagi writes the text where a column has nothing, and the other one where it left a column out."""
    answers = []
    for value in ("null", None):
        for table in (metadata.tables[name] for name in JSON_COLUMNS):
            rows = await _stored(rich, table)
            await _store(rich, table, _spoiled(table, rows, [value]))
        answers.append({name: await _readings(rich, metadata.tables[name]) for name in JSON_COLUMNS})
    assert answers[0] == answers[1]


async def _readings(db: StateDB, table: Table) -> list[dict[str, Any]]:
    nullable = [column for column in JSON_COLUMNS[table.name] if column.nullable]
    return [{column.name: row[column.name] for column in nullable} for row in await db.fetch_all(table.select())]


AT_ONCE = 10
"""How many tables are spoiled between two readings."""
REFERRED = ("sessions", "progressions", "messages", "invocations", "schedules", "schedule_runs", "shows", "branches", "approvals")
"""Tables to whose rows others refer."""


async def test_ids_that_point_nowhere_make_no_question_fail(
    rich: StateDB, script: Callable[..., None], request: pytest.FixtureRequest
) -> None:
    """Every second row goes, as by hands that heed no references, and what referred to it stays."""
    before = await read_all(rich, PEER_NOW)
    for table in REFERRED:
        placed = f"WITH placed AS (SELECT id, row_number() OVER (ORDER BY id) AS place FROM {table})"
        halved = f"{placed} DELETE FROM {table} WHERE id IN (SELECT id FROM placed WHERE place % 2 = 0)"
        if rich.dialect == "sqlite":
            script(rich.path, "PRAGMA foreign_keys = OFF", halved)
        else:
            server: Server = request.getfixturevalue("postgres")
            ((name,),) = [row.values() for row in await rich.fetch_all("SELECT current_database() AS name")]
            server.run(name, "SET session_replication_role = replica", halved)
        after = await read_all(rich, PEER_NOW)
    for kind in ("runs", "schedules", "invocations", "shows", "messages"):
        assert after[kind] == (before[kind] + 1) // 2, kind
    for kind in ("evidence", "dispatches", "artifacts", "signals", "tags"):
        assert after[kind] == before[kind], kind


def test_no_json_column_is_forgotten() -> None:
    assert sum(map(len, JSON_COLUMNS.values())) == 45


async def test_a_write_that_somebody_else_holds_delays_no_question(rich: StateDB) -> None:
    """A question that took a lock would wait until it fails: the other one never ends meanwhile."""
    before = await read_all(rich, PEER_NOW)
    other = StateDB(url=rich.url)
    await other.open()
    async with asyncio.timeout(60), other.transaction() as held:
        for table in metadata.sorted_tables:
            same = table.primary_key.columns[0]
            await held.execute(update(table).values({same: same}))
        assert await read_all(rich, PEER_NOW) == before
    await other.close()
