"""Whatever a column holds, a row becomes a record, and what could not be read is named."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.domain.runs import RunRecord
from studio_tui.state import readers, rows
from studio_tui.state.readers import (
    LAST_EPOCH,
    METADATA_KEYS,
    as_argv,
    as_choice,
    as_count,
    as_epoch,
    as_flag,
    as_int,
    as_json,
    as_metadata,
    as_number,
    as_object,
    as_object_or_empty,
    as_required,
    as_target_args,
    as_text,
    as_texts,
)
from studio_tui.state.rows import RowReader, run_record, schedule_record
from studio_tui.state.schema import BrokenJSON

BROKEN = BrokenJSON("{oops")


@pytest.mark.parametrize(
    ("read", "stored", "wanted"),
    [
        (as_epoch, None, None),
        (as_epoch, 1_796_000_000.25, 1_796_000_000.25),
        (as_epoch, 1_796_000_000, 1_796_000_000.0),
        (as_epoch, 0.0, 0.0),
        (as_epoch, LAST_EPOCH, LAST_EPOCH),
        (as_number, -0.5, -0.5),
        (as_number, 7, 7.0),
        (as_int, 7, 7),
        (as_int, 7.0, 7),
        (as_count, None, 0),
        (as_flag, 1, True),
        (as_flag, None, False),
        (as_choice, None, None),
        (as_choice, 0, False),
        (as_choice, True, True),
        (as_text, "x", "x"),
        (as_required, None, ""),
        (as_json, None, None),
        (as_json, [1], [1]),
        (as_object, {"a": 1}, {"a": 1}),
        (as_object, None, None),
        (as_object_or_empty, None, {}),
        (as_texts, None, ()),
        (as_texts, ["a", "b"], ("a", "b")),
        (as_argv, ["li", "agent"], ("li", "agent")),
        (as_argv, {"model": "m"}, ()),
        (as_target_args, {"target": {"args": {"a": 1}}}, {"a": 1}),
        (as_target_args, {"target": {"kind": "agent"}}, {}),
        (as_target_args, None, {}),
        (as_metadata, None, {}),
    ],
)
def test_what_is_as_it_should_be_is_taken(read: readers.Reader, stored: object, wanted: object) -> None:
    defects: list[str] = []
    found = read(stored, "column", defects)
    assert (found, type(found), defects) == (wanted, type(wanted), [])


@pytest.mark.parametrize(
    ("read", "stored", "instead"),
    [
        (as_epoch, 1_796_000_000_000.0, None),
        (as_epoch, math.inf, None),
        (as_epoch, -math.inf, None),
        (as_epoch, math.nan, None),
        (as_epoch, -1.0, None),
        (as_epoch, 1e18, None),
        (as_epoch, 2**62, None),
        (as_epoch, "yesterday", None),
        (as_epoch, b"\x00", None),
        (as_epoch, True, None),
        (as_number, math.inf, None),
        (as_number, "n/a", None),
        (as_int, "many", None),
        (as_int, 1.5, None),
        (as_int, math.inf, None),
        (as_count, "many", 0),
        (as_flag, "yes", False),
        (as_choice, "yes", False),
        (as_text, b"\xff\x00", "\ufffd\x00"),
        (as_text, 5, "5"),
        (as_required, 5, "5"),
        (as_json, BROKEN, None),
        (as_object, BROKEN, None),
        (as_object, [1], None),
        (as_object_or_empty, "text", {}),
        (as_texts, BROKEN, ()),
        (as_texts, ["a", 1], ()),
        (as_texts, {"a": 1}, ()),
        (as_argv, BROKEN, ()),
        (as_target_args, BROKEN, {}),
        (as_target_args, ["x"], {}),
        (as_metadata, readers.BROKEN, {}),
    ],
)
def test_what_is_not_is_unknown_and_named(read: readers.Reader, stored: object, instead: object) -> None:
    defects: list[str] = []
    assert read(stored, "column", defects) == instead
    assert defects == ["column"]


def test_picked_metadata_come_under_their_keys() -> None:
    picked = json.dumps([1, 2.5, "box", None, "local", None, None, None, True, None])
    assert as_metadata(picked, "node_metadata", []) == {
        "pid": 1,
        "pid_create_time": 2.5,
        "pid_host": "box",
        "process_identity_mode": "local",
        "drains_controls": True,
    }
    assert len(json.loads(picked)) == len(METADATA_KEYS)


def test_values_that_need_no_reading_are_those_that_reading_would_not_change() -> None:
    samples = {int: 7, str: "x", dict: {"a": 1}, type(None): None}
    for read, types in readers.PLAIN.items():
        for kind in types:
            defects: list[str] = []
            assert read(samples[kind], "column", defects) is samples[kind]
            assert not defects


def test_fields_must_stand_in_the_order_of_the_record() -> None:
    with pytest.raises(ValueError, match="order"):
        RowReader(RunRecord, (as_epoch, "created_at"), (as_required, "run_id=id"))


def test_defects_name_the_columns_of_the_store() -> None:
    row: list[Any] = [None] * len(run_record.fields)
    by_name = {field.name: place for place, field in enumerate(run_record.fields)}
    row[by_name["run_id"]] = "r1"
    row[by_name["updated_at"]] = "soon"
    row[by_name["kind"]] = b"play"
    row[by_name["metadata"]] = readers.BROKEN
    run = run_record(row)
    assert run.defects == ("updated_at", "invocation_kind", "node_metadata")
    assert (run.run_id, run.updated_at, run.kind, run.metadata) == ("r1", None, "play", {})


SQLITE_VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.builds(BrokenJSON, st.text(max_size=5)),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    ),
)


@given(data=st.data())
@pytest.mark.parametrize("reader", [value for value in vars(rows).values() if isinstance(value, RowReader)])
def test_no_row_raises(reader: RowReader[Any], data: st.DataObject) -> None:
    row = [readers.BROKEN if field.read is as_metadata else data.draw(SQLITE_VALUES, label=field.name) for field in reader.fields]
    record = reader(row)
    assert type(record).__name__.endswith(("Record", "Outcome"))
    columns = {field.column for field in reader.fields}
    assert set(getattr(record, "defects", ())) <= columns


def test_a_schedule_with_broken_numbers_says_so() -> None:
    row: list[Any] = [None] * len(schedule_record.fields)
    for place, field in enumerate(schedule_record.fields):
        if field.name == "interval_sec":
            row[place] = "soon"
        if field.name == "next_fire_at":
            row[place] = math.inf
    assert schedule_record(row).defects == ("interval_sec", "next_fire_at")
