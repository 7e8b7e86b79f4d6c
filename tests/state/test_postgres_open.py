"""What is found at an address of a PostgreSQL server: the open policy, and what stands in the way in words without secrets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text

from studio_tui.application.errors import Conflict, PermissionDenied, StateUnavailable
from studio_tui.state.db import StateDB
from studio_tui.state.schema import message_types, projects
from studio_tui.state.store import Store
from tests.postgres import EMPTY, OPERATOR, Server

PROJECT = {"name": "a", "source": "studio", "created_at": 1.0, "updated_at": 1.0}


@pytest.fixture
def empty_database(postgres: Server) -> Iterator[str]:
    name = postgres.database(EMPTY)
    yield name
    postgres.drop(name)


@pytest.fixture
def sql(postgres: Server, postgres_database: str) -> Callable[..., list[tuple[str, ...]]]:
    """``sql(statement, …)`` on this test's database, as the server's owner."""
    return lambda *statements, **options: postgres.run(postgres_database, *statements, **options)


async def _opened(url: str, home: Path, **options: Any) -> Store:
    store = Store(url, home=home, **options)
    await store.open()
    return store


async def _catalogue(postgres: Server, database: str) -> list[tuple[str, ...]]:
    """Everything that a mere look must leave as it is."""
    return postgres.run(
        database,
        "SELECT relname, relkind, relnatts FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
        "SELECT * FROM schema_meta ORDER BY 1",
    )


# --- made and found ---------------------------------------------------------------------------------------------------


async def test_a_store_is_made_beside_tables_of_others(postgres: Server, empty_database: str, home: Path) -> None:
    postgres.run(empty_database, "CREATE TABLE theirs (n integer)", "INSERT INTO theirs VALUES (7)", user=OPERATOR)
    store = await _opened(postgres.url(empty_database), home)
    assert store.condition().mode == "missing"
    assert postgres.run(empty_database, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [("1",)]
    await store.create()
    assert store.condition().mode == "ready"
    await store.db.execute(insert(projects), PROJECT)
    await store.close()
    assert postgres.run(empty_database, "SELECT n FROM theirs", "SELECT name FROM projects") == [("7",), ("a",)]


async def test_a_store_takes_no_table_of_another_program(postgres: Server, empty_database: str, home: Path) -> None:
    postgres.run(empty_database, "CREATE TABLE projects (n integer)", user=OPERATOR)
    store = await _opened(postgres.url(empty_database), home)
    with pytest.raises(Conflict, match="projects"):
        await store.create()
    assert store.condition().mode == "missing"
    await store.close()
    assert postgres.run(empty_database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [("projects",)]


async def test_a_store_lives_in_the_schema_that_the_address_names(postgres: Server, empty_database: str, home: Path) -> None:
    postgres.run(empty_database, f"CREATE SCHEMA own AUTHORIZATION {OPERATOR}")
    store = await _opened(postgres.url(empty_database, query="&search_path=own"), home)
    await store.create()
    await store.db.execute(insert(projects), PROJECT)
    await store.close()
    assert postgres.run(empty_database, "SELECT name FROM own.projects") == [("a",)]
    assert postgres.run(empty_database, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [("0",)]


async def test_of_several_creators_at_once_one_makes_it(postgres: Server, empty_database: str, home: Path) -> None:
    stores = [await _opened(postgres.url(empty_database), home) for _ in range(4)]
    results = await asyncio.gather(*(store.create() for store in stores), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["Conflict"] * 3 + ["NoneType"]
    assert {store.condition().mode for store in stores} == {"ready"}
    for store in stores:
        await store.close()
    assert postgres.run(empty_database, "SELECT count(*) FROM schema_meta") == [("7",)]


async def test_the_next_new_class_of_messages_gets_a_free_id(
    sql: Callable[..., Any], postgres_url: str, home: Path, postgres: Server, empty_database: str
) -> None:
    """The peer leaves the sequence where it begins, and its own first insert fails; our stores begin right (facts 2.5)."""
    sql("SELECT setval('message_types_type_id_seq', 1, false)")
    for url in (postgres_url, postgres.url(empty_database)):
        store = await _opened(url, home)
        if store.condition().mode == "missing":
            await store.create()
        await store.db.execute(insert(message_types).values(lion_class="my.Own"))
        found = await store.db.fetch_one(message_types.select().where(message_types.c.lion_class == "my.Own"))
        assert found == {"type_id": 6, "lion_class": "my.Own"}
        await store.close()


async def test_schema_work_holds_the_lock_of_the_peer(sql: Callable[..., Any], postgres_url: str, home: Path) -> None:
    sql("DELETE FROM schema_meta WHERE key = 'lineage'")
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    async with StateDB(url=postgres_url, readonly=True) as other, other.read() as connection:
        await connection.execution_options(isolation_level="READ COMMITTED")
        key = "hashtextextended('lionagi.state.schema.migration', 0)"
        await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({key})")
        opening = asyncio.create_task(_opened(postgres_url, home))
        while (await asyncio.to_thread(sql, waiting)) != [("1",)]:
            assert not opening.done()
            await asyncio.sleep(0.01)
        await connection.rollback()
        await (await opening).close()
    assert sql("SELECT value FROM schema_meta WHERE key = 'lineage'") == [("lionagi",)]


# --- not ours to write ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "mode", "words"),
    [
        ("UPDATE schema_meta SET value = '9' WHERE key = 'version'", "read_only", "version 9"),
        ("UPDATE schema_meta SET value = 'khive' WHERE key = 'lineage'", "read_only", "another program (khive)"),
        ("DELETE FROM schema_meta WHERE key IN ('lineage', 'version')", "unavailable", "not a lionagi store"),
        ("DROP INDEX idx_sessions_updated", "read_only", "the index idx_sessions_updated"),
        ("ALTER TABLE sessions DROP COLUMN user_label", "read_only", "the column sessions.user_label"),
        ("DROP TABLE workflow_defs", "read_only", "the table workflow_defs"),
        (
            "ALTER TABLE sessions DROP CONSTRAINT ck_sessions_source_kind, ADD CONSTRAINT ck_sessions_source_kind "
            "CHECK (source_kind IS NULL OR source_kind IN ('live', 'imported_fs'))",
            "read_only",
            "the source imported_codex",
        ),
    ],
)
async def test_others_are_shown_and_left_as_they_are(
    sql: Callable[..., Any], postgres: Server, postgres_database: str, home: Path, change: str, mode: str, words: str
) -> None:
    sql(change)
    before = await _catalogue(postgres, postgres_database)
    store = await _opened(postgres.url(postgres_database), home)
    assert store.condition().mode == mode
    assert words in (store.condition().reason or "")
    with pytest.raises((PermissionDenied, StateUnavailable)):
        await store.db.execute(insert(projects), PROJECT)
    await store.close()
    with pytest.raises((PermissionDenied, StateUnavailable)):
        await StateDB(url=postgres.url(postgres_database)).open()
    assert await _catalogue(postgres, postgres_database) == before


@pytest.mark.parametrize(
    ("change", "adopted"),
    [
        ("UPDATE schema_meta SET value = 'soon' WHERE key = 'version'", True),
        ("UPDATE schema_meta SET value = '3' WHERE key = 'version'", True),
        ("DELETE FROM schema_meta WHERE key = 'lineage'", True),
    ],
)
async def test_what_the_peer_adopts_is_adopted_and_stamped(
    sql: Callable[..., Any], postgres_url: str, home: Path, change: str, adopted: bool
) -> None:
    sql(change)
    store = await _opened(postgres_url, home)
    assert (store.condition().mode == "ready") is adopted
    await store.close()
    assert sql("SELECT value FROM schema_meta WHERE key IN ('lineage', 'version') ORDER BY key") == [("lionagi",), ("4",)]


async def test_read_only_is_kept_by_the_server_itself(sql: Callable[..., Any], postgres_url: str, home: Path) -> None:
    sql("DELETE FROM schema_meta WHERE key = 'created_at'")
    store = await _opened(postgres_url, home, read_only=True)
    assert (store.condition().mode, store.condition().reason) == ("read_only", "Read-only because you asked for it.")
    with pytest.raises(PermissionDenied):
        await store.db.execute(insert(projects), PROJECT)
    with pytest.raises(StateUnavailable, match="may not be written"):
        await store.db.fetch_all(text("INSERT INTO projects VALUES ('a', 'x', null, null, null, 1, 1) RETURNING name"))
    with pytest.raises(PermissionDenied):
        await store.create()
    await store.close()
    assert sql("SELECT count(*) FROM schema_meta", "SELECT count(*) FROM projects") == [("6",), ("0",)]


async def test_a_login_that_may_only_read_is_told_so(
    sql: Callable[..., Any], postgres: Server, postgres_database: str, home: Path
) -> None:
    sql(
        "DROP ROLE IF EXISTS onlooker",
        "CREATE ROLE onlooker LOGIN",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO onlooker",
    )
    try:
        store = await _opened(postgres.url(postgres_database, user="onlooker"), home)
        assert store.condition().mode == "read_only"
        assert "may not write the tables" in (store.condition().reason or "")
        assert await store.db.fetch_all(projects.select()) == []
        await store.close()
        sql(f"ALTER ROLE onlooker IN DATABASE {postgres_database} SET default_transaction_read_only = on")
        store = await _opened(postgres.url(postgres_database, user="onlooker"), home)
        assert "lets this login only read" in (store.condition().reason or "")
        await store.close()
        sql("REVOKE ALL ON sessions FROM onlooker")
        store = await _opened(postgres.url(postgres_database, user="onlooker"), home)
        with pytest.raises(StateUnavailable, match="may not do that"):
            await store.db.fetch_all("SELECT id FROM sessions")
        await store.close()
    finally:
        sql("DROP OWNED BY onlooker", "DROP ROLE onlooker")


# --- nothing to open --------------------------------------------------------------------------------------------------


def _address(postgres: Server, name: str) -> str:
    here = postgres.url(name)
    return {
        "no such database": here.replace(f"/{name}", "/none", 1),
        "no such login": here.replace(OPERATOR, "stranger:S3cret", 1),
        "a wrong password": here.replace(OPERATOR, "guarded:S3cret", 1),
        "no server": f"postgresql://op:S3cret@/{name}?host=/nowhere",
        "nobody listens": f"postgresql://op:S3cret@127.0.0.1:1/{name}?connect_timeout=2",
        "no such host": f"postgresql://op:S3cret@host.invalid/{name}?connect_timeout=5",
        "no such setting": f"{here}&no_such_setting=odd",
        "a bad value": f"{here}&statement_timeout=odd",
        "another database": f"mysql://op:S3cret@h/{name}",
    }


@pytest.mark.parametrize(
    ("case", "words", "retryable"),
    [
        ("no such database", "no such database", False),
        ("no such login", "refused the login", False),
        ("a wrong password", "refused the login", False),
        ("no server", "cannot be reached", True),
        ("nobody listens", "does not answer", True),
        ("no such host", "not known here", True),
        ("no such setting", r"refuses a setting in the address of the store \(no_such_setting\)", False),
        ("a bad value", r"refuses a setting in the address of the store \(statement_timeout\)", False),
        ("another database", "not the address", False),
    ],
)
async def test_what_stands_in_the_way_is_said_without_secrets(
    postgres: Server, postgres_database: str, home: Path, caplog: pytest.LogCaptureFixture, case: str, words: str, retryable: bool
) -> None:
    caplog.set_level(logging.DEBUG)
    postgres.guard("guarded")
    url = _address(postgres, postgres_database)[case]
    db = StateDB(url=url)
    with pytest.raises(StateUnavailable, match=words) as caught:
        await db.open()
    assert caught.value.retryable is retryable
    store = await _opened(url, home)
    assert store.condition().mode == "unavailable"
    for said in (str(caught.value), db.label, repr(db), str(store.condition()), caplog.text, _causes(caught.value)):
        assert "S3cret" not in said, said
    assert ("***" in db.label) == ("S3cret@" in url)


def _causes(error: BaseException | None) -> str:
    """What a log would print of an error and of those behind it."""
    texts: list[str] = []
    while error is not None:
        texts.append(f"{type(error).__name__}: {error}")
        error = error.__cause__
    return "\n".join(texts)


async def test_a_right_password_is_taken(postgres: Server, postgres_database: str, home: Path) -> None:
    postgres.guard("guarded", password="p@ss/w?rd#1")
    url = postgres.url(postgres_database, user="guarded:p%40ss%2Fw%3Frd%231")
    postgres.run(postgres_database, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO guarded")
    store = await _opened(url, home)
    assert store.condition().mode == "read_only", store.condition()
    assert "p%40ss" not in store.condition().label
    assert "guarded:***@" in store.condition().label
    await store.close()


async def test_tls_that_was_asked_for_is_required(home: Path) -> None:
    """A server that offers none is refused, and no password reaches it."""
    heard: list[bytes] = []

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(8))
        writer.write(b"N")
        heard.append(await reader.read(1000))
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for mode in ("require", "verify-ca", "verify-full"):
        for query in (f"sslmode={mode}&application_name=x", f"application_name=x&sslmode={mode}"):
            store = await _opened(f"postgres://op:S3cret@127.0.0.1:{port}/db?{query}", home)
            assert store.condition().mode == "unavailable"
            assert "offers no TLS" in (store.condition().reason or "")
    server.close()
    assert set(heard[::2]) == {b"\x00\x00\x00\x08\x04\xd2\x16\x2f"}
    assert set(heard[1::2]) == {b""}


async def test_a_driver_that_is_not_installed_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "asyncpg", None)
    store = await _opened("postgresql://op:S3cret@h/db", home)
    assert store.condition().mode == "unavailable"
    assert "postgres extra" in (store.condition().reason or "")
