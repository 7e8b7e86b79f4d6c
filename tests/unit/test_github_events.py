"""Which pull requests are events, in what order, and the bookmark between them: as text, exactly as the peer spells it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.domain.github_events import (
    Unreadable,
    bookmark,
    checked_page,
    cursor_fault,
    needs_next_page,
    new_events,
    position,
    query_of,
    repository_fault,
)
from tests.fakes.github import a_pull

T = "2026-03-10T10:00:00Z"
MERGED = {"event": "pr_merged"}


def found(*pulls: dict[str, Any], filters: Any = MERGED, cursor: str | None = None, complete: bool = True) -> list[object]:
    events = new_events(pulls, repository="acme/web", filters=filters, cursor=cursor, complete=complete)
    return [event.fields["pr_number"] for event in events if event.fires]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (42, f"{T}#0000000042"),
        (0, f"{T}#0000000000"),
        (10**10, f"{T}#9999999999"),
        (None, T),
        (True, T),
        (-1, T),
        ("7", T),
        (1.0, T),
    ],
)
def test_a_bookmark_is_an_instant_and_a_padded_number(number: object, text: str) -> None:
    assert bookmark(T, number) == text
    assert cursor_fault(text) is None


@given(st.lists(st.tuples(st.integers(0, 59), st.integers(0, 10**11)), min_size=2, max_size=2))
def test_bookmarks_compare_as_text_as_they_do_as_places(pair: list[tuple[int, int]]) -> None:
    (one, other) = [bookmark(f"2026-03-10T10:00:{second:02d}Z", number) for second, number in pair]
    places = [position(one), position(other)]
    assert None not in places
    assert (one < other, one == other) == (places[0] < places[1], places[0] == places[1])  # type: ignore[operator]


@pytest.mark.parametrize("cursor", [T, f"{T}#0000000001"])
def test_what_is_at_the_bookmark_is_behind_us(cursor: str) -> None:
    assert found(a_pull(1, T), cursor=cursor) == []
    assert found(a_pull(2, T), cursor=cursor) == ([2] if "#" in cursor else [])
    assert found(a_pull(1, "2026-03-10T10:00:01Z"), cursor=cursor) == [1]
    assert found(a_pull(9, "2026-03-10T09:59:59Z"), cursor=cursor) == []


@pytest.mark.parametrize(
    "cursor",
    ["yesterday", "2026-03-10", "2026-03-10T10:00:00", f"{T}#1", f"{T}#00000000001", f"{T} ", f"{T}\n", "2026-02-30T00:00:00Z"],
)
def test_a_bookmark_in_another_spelling_is_refused(cursor: str) -> None:
    assert cursor_fault(cursor)


@pytest.mark.parametrize("name", ["a/b", "acme/web", "A-1/x.y_z-", f"{'a' * 39}/{'b' * 100}", "a/.github"])
def test_repositories(name: str) -> None:
    assert repository_fault(name) is None


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "web",
        "a/b/c",
        "/b",
        "a/",
        "-a/b",
        "a-/b",
        "a/..",
        "a/.",
        "a/b?c",
        "a b/c",
        f"{'a' * 40}/b",
        f"a/{'b' * 101}",
        "a/b\n",
    ],
)
def test_what_is_no_repository(name: str | None) -> None:
    assert repository_fault(name)


def test_merges_stand_at_their_merge_and_others_at_their_change() -> None:
    late = a_pull(1, "2026-03-10T12:00:00Z", merged="2026-03-10T09:00:00Z")
    assert found(late, cursor=T) == []
    assert found(late, cursor=T, filters=None) == [1]
    assert found(a_pull(2, "2026-03-10T12:00:00Z", merged=False), cursor=T) == []
    assert "pr_merged_at" not in new_events([late], repository="a/b", filters={}, cursor=None, complete=True)[0].fields


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({"draft": False}, [1, 3, 4]),
        ({"draft": True}, [2]),
        ({"draft": "false"}, [1, 2, 3, 4]),
        ({"same_repo_only": True}, [1, 2]),
        ({"same_repo_only": False}, [1, 2, 3, 4]),
    ],
)
def test_filters_leave_out_and_the_bookmark_passes(filters: dict[str, object], numbers: list[int]) -> None:
    fork = {"sha": "x", "repo": {"id": 9, "full_name": "else/web", "fork": True}}
    pulls = [a_pull(1), a_pull(2, draft=True), a_pull(3, head=fork), a_pull(4, head={"sha": "y", "repo": None})]
    assert found(*pulls, filters={**MERGED, **filters}) == numbers
    events = new_events(pulls, repository="acme/web", filters={**MERGED, **filters}, cursor=None, complete=True)
    assert len(events) == 4


def test_the_same_repository_is_known_by_its_id_else_by_its_name() -> None:
    named = a_pull(1, head={"repo": {"full_name": "ACME/Web"}})
    (event,) = new_events([named], repository="acme/web", filters=MERGED, cursor=None, complete=True)
    assert (event.fields["is_same_repo"], event.fields["head_repo"], event.fields["head_sha"]) == (True, "ACME/Web", None)


def test_an_incomplete_scan_holds_back_what_may_have_an_unseen_one_before_it() -> None:
    pulls = [a_pull(n, f"2026-03-10T10:00:0{n}Z", merged=f"2026-03-10T10:00:0{n - 3}Z") for n in (5, 6, 7)]
    assert found(*pulls) == [5, 6, 7]
    assert found(*pulls, complete=False) == [5, 6, 7]
    pulls[0] = a_pull(5, "2026-03-10T10:00:03Z", merged="2026-03-10T10:00:02Z")
    assert found(*pulls, complete=False) == [5]


def test_a_pull_request_on_two_pages_is_one() -> None:
    nameless = a_pull(2) | {"number": None}
    assert found(a_pull(1), a_pull(1), nameless, nameless) == [1, None, None]


@pytest.mark.parametrize(
    ("cursor", "filters", "more"),
    [
        (None, MERGED, True),
        (None, {}, False),
        (T, MERGED, False),
        (f"{T}#0000000001", MERGED, True),
        ("2026-03-10T09:59:59Z", {}, True),
        ("2026-03-10T10:00:01Z#0000000001", MERGED, False),
    ],
)
def test_another_page_is_wanted_until_the_bookmark_is_reached(cursor: str | None, filters: Any, more: bool) -> None:
    assert needs_next_page([a_pull(n, T) for n in range(100)], cursor, filters) is more
    assert not needs_next_page([a_pull(n, T) for n in range(99)], cursor, filters)


@pytest.mark.parametrize(
    "answer", [{}, "x", None, [1], [{}], [{"updated_at": "x"}], [{"updated_at": 5}], [a_pull(1, merged="soon")]], ids=str
)
def test_what_is_no_page(answer: object) -> None:
    with pytest.raises(Unreadable):
        checked_page(answer)


def test_what_is_asked_for() -> None:
    assert query_of({"event": "pr_merged", "state": "open", "base": "main"})["state"] == "closed"
    assert query_of({"state": "all"})["state"] == "all"
    assert "base" not in query_of({"base": None})
