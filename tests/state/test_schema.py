"""The schema as declared: its snapshot, its size, its seed rows, and JSON columns that never raise."""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, null, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from studio_tui.state.db import StateDB
from studio_tui.state.schema import BrokenJSON, decode_json, encode_json, metadata, schedules, schema_meta, sqlite_ddl
from tests.state.raw import raw_rows


def test_the_snapshot_is_what_the_metadata_makes() -> None:
    snapshot = importlib.resources.files("studio_tui.state.schema").joinpath("schema.sql").read_text()
    assert snapshot == sqlite_ddl()


def test_the_schema_has_the_size_of_the_peer() -> None:
    assert len(metadata.tables) == 32
    assert sum(len(table.indexes) for table in metadata.tables.values()) == 90


def test_postgresql_gets_its_own_types() -> None:
    ddl = "\n".join(str(CreateTable(table).compile(dialect=postgresql.dialect())) for table in metadata.sorted_tables)
    assert "embedding BYTEA" in ddl
    assert "content JSON NOT NULL" in ddl
    assert "collection TEXT DEFAULT '[]' NOT NULL" in ddl
    assert '"user" TEXT' in ddl
    assert "JSONB" not in ddl


async def test_a_new_store_carries_the_seed_rows(db: StateDB) -> None:
    meta = {row["key"]: row["value"] for row in await db.fetch_all(select(schema_meta))}
    assert meta.pop("created_at").isdigit()
    assert meta == {
        "version": "4",
        "lineage": "lionagi",
        "migration.attention_dispositions_backfill": "1",
        "migration.dispatched_at_backfill": "1",
        "migration.imported_role_label_backfill": "1",
        "migration.session_ended_at_backfill": "1",
    }
    types = await db.fetch_all("SELECT type_id, lion_class FROM message_types ORDER BY type_id")
    assert [row["type_id"] for row in types] == [0, 1, 2, 3, 4, 5]
    assert types[0]["lion_class"] == "__unknown__"
    assert types[2]["lion_class"] == "lionagi.protocols.messages.instruction.Instruction"


def _schedule(identifier: str, **values: object) -> dict[str, object]:
    return {
        "id": identifier,
        "name": identifier,
        "trigger_type": "interval",
        "action_kind": "command",
        "created_at": 1.0,
        "updated_at": 1.0,
        **values,
    }


async def test_none_is_stored_as_json_null_and_a_left_out_column_as_null(db: StateDB) -> None:
    async def work(connection: Any) -> None:
        run = connection.execute
        await run(insert(schedules).values(_schedule("given", rate_limit=None, on_fail=null(), notify_on=["é"])))
        await run(insert(schedules).values(_schedule("left-out")))

    await db.write(work)
    columns = ("rate_limit", "on_fail", "notify_on", "action_extra_args")
    raw = [{name: row[name] for name in columns} for row in await raw_rows(db, "schedules", order="id")]
    assert raw[0] == {"rate_limit": "null", "on_fail": None, "notify_on": '["\\u00e9"]', "action_extra_args": "[]"}
    assert raw[1] == {"rate_limit": None, "on_fail": None, "notify_on": None, "action_extra_args": "[]"}
    read = await db.fetch_all(select(schedules.c.rate_limit, schedules.c.on_fail, schedules.c.notify_on).order_by(schedules.c.id))
    assert read[0] == {"rate_limit": None, "on_fail": None, "notify_on": ["é"]}
    assert read[1] == {"rate_limit": None, "on_fail": None, "notify_on": None}


BROKEN = ["", "{", "NaN", '{"a": Infinity}', "[1,]", "'x'", "[" * 100_000]


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
@pytest.mark.parametrize("stored", BROKEN)
async def test_malformed_json_arrives_as_what_it_is(db: StateDB, stored: str) -> None:
    await db.write(lambda connection: connection.execute(insert(schedules).values(_schedule("bad"))))
    await db.execute("UPDATE schedules SET rate_limit = :stored", {"stored": stored})
    row = await db.fetch_one(select(schedules.c.rate_limit))
    assert row == {"rate_limit": BrokenJSON(stored)}


@pytest.mark.parametrize(
    ("stored", "value"),
    [(None, None), ("null", None), (b'{"a": 1}', {"a": 1}), (7, 7), (1.5, 1.5), ("true", True), (b"\xff", BrokenJSON("\ufffd"))],
)
def test_values_of_other_storage_classes(stored: object, value: object) -> None:
    assert decode_json(stored) == value


def test_infinity_is_no_json() -> None:
    assert decode_json(float("inf")) == BrokenJSON("inf")
    with pytest.raises(ValueError, match="Out of range"):
        encode_json({"a": float("nan")})


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=10,
)


@given(JSON)
def test_what_is_encoded_is_ascii_and_comes_back(value: object) -> None:
    stored = encode_json(value)
    assert stored.isascii()
    assert stored == json.dumps(value)
    assert decode_json(stored) == value


def test_what_no_database_looks_into_is_marked_in_json() -> None:
    assert decode_json(encode_json({"a\0": ["\ud800", "\U0001f600", {"b": "\udfff\0"}]})) == {
        "a\u2400": ["\ufffd", "\U0001f600", {"b": "\ufffd\u2400"}]
    }


@given(st.text() | st.binary() | st.floats() | st.integers() | st.none())
def test_no_stored_value_raises(stored: object) -> None:
    decode_json(stored)
