"""Cursors come back as they went out, and nothing else is taken for one."""

from __future__ import annotations

import base64
import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.paging import cut, encode_cursor, name_key, time_key

_TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=60)


@given(st.floats(allow_nan=False), _TEXT)
def test_a_time_cursor_keeps_the_exact_double(at: float, identifier: str) -> None:
    key = time_key("runs", encode_cursor("runs", (at, identifier)))
    assert key is not None
    assert key[1] == identifier
    assert key[0] == at
    assert math.copysign(1.0, key[0]) == math.copysign(1.0, at)


@given(_TEXT, _TEXT)
def test_a_name_cursor_keeps_any_text(name: str, identifier: str) -> None:
    assert name_key("schedules", encode_cursor("schedules", (name, identifier))) == (name, identifier)


@given(st.text(max_size=200))
def test_no_text_makes_a_cursor_raise_anything_else(text: str) -> None:
    for read in (time_key, name_key):
        with contextlib.suppress(ValidationFailure):
            read("runs", text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), st.lists, max_leaves=5))
def test_no_document_makes_a_cursor_raise_anything_else(document: object) -> None:
    forged = base64.urlsafe_b64encode(json.dumps(["runs", document, "id"]).encode()).decode()
    try:
        key = time_key("runs", forged)
    except ValidationFailure:
        return
    assert key is not None
    assert isinstance(key[0], float)
    assert not math.isnan(key[0])


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "!!",
        "bm9uZQ",
        encode_cursor("firings", (1.0, "id")),
        base64.urlsafe_b64encode(b'["runs",NaN,"id"]').decode(),
        base64.urlsafe_b64encode(b'["runs",true,"id"]').decode(),
        base64.urlsafe_b64encode(b'["runs",1.0,7]').decode(),
        base64.urlsafe_b64encode(b'["runs",' + b"9" * 400 + b',"id"]').decode(),
        base64.urlsafe_b64encode(b"[" * 2_000).decode(),
        "A" * 5_000,
        "ünïcode",
        base64.urlsafe_b64encode(b'["runs",1.0,"\\ud800"]').decode(),
    ],
    ids=range(12),
)
def test_what_is_no_cursor_of_this_list_is_refused(forged: str) -> None:
    with pytest.raises(ValidationFailure) as caught:
        time_key("runs", forged)
    assert caught.value.field_errors[0].code == "malformed"


def test_no_cursor_is_the_first_page() -> None:
    assert time_key("runs", None) is None
    assert name_key("schedules", None) is None


@given(st.lists(st.integers(), max_size=8), st.integers(min_value=1, max_value=8))
def test_one_more_than_asked_for_tells_that_more_follow(records: list[int], limit: int) -> None:
    shown, more = cut(records, limit)
    assert list(shown) == records[:limit]
    assert more == (len(records) > limit)
