"""The pure rules behind artifacts, attention, the outbox, controls and labels."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_tui.domain.approvals import GENESIS, HASHED, ChainCheck, params_hash, sealed
from studio_tui.domain.artifacts import contract_fault, expected_artifacts, stored_path_fault, verdict
from studio_tui.domain.attention import Disposition, clears, item_id, kind_of
from studio_tui.domain.controls import LISTENERS, deafness
from studio_tui.domain.labels import cleaned_label, label_fault
from studio_tui.domain.outbox import DispatchRecord, after_failure, after_success, backoff
from studio_tui.domain.stats import WINDOWS, activity

NOW = 1_796_000_000.0


# --- artifacts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["a", "a/b.md", "./a", "a..b", "...", ".hidden", "a b/ä", "ab:c"])
def test_paths_that_may_be_stored(path: str) -> None:
    assert stored_path_fault(path) is None


@pytest.mark.parametrize("path", ["", " ", "/a", "\\a", "..", "a/..", "../a", "a\\..\\b", "C:a", "a:b", "a\0"])
def test_paths_that_may_not_be_stored(path: str) -> None:
    assert stored_path_fault(path)


def entry(identifier: str = "report", path: str = "report.md", **values: Any) -> dict[str, Any]:
    return {"id": identifier, "path": path, **values}


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([entry()], None),
        ([entry(required=False, description="x", source="playbook", more=1)], None),
        ([], None),
        (["x"], "is no object"),
        ([entry("a b")], "needs an id"),
        ([entry("a\n")], "needs an id"),
        ([entry(), entry()], "expected artifact 2 has the id report"),
        ([entry(required="yes")], "must be required or not"),
        ([entry(source=3)], "a source that is no text"),
        ([entry(path="")], "needs a path"),
        ([entry(path="/a")], "absolute"),
        ([entry(path="*.md")], "pattern"),
        ([entry(path="a/../../b")], "out of its folder"),
        ([entry(path=".")], "out of its folder"),
    ],
)
def test_contracts(entries: list[Any], fault: str | None) -> None:
    found = contract_fault({"expected": entries})
    assert (found is None) is (fault is None)
    assert fault is None or fault in (found or "")


def test_what_is_no_contract() -> None:
    assert contract_fault(None) is None
    for wrong in ({}, {"expected": "x"}, [], 3):
        assert contract_fault(wrong) == "must hold a list of expected artifacts"
    with pytest.raises(ValueError, match="needs a path"):
        expected_artifacts({"expected": [entry(path="")]})
    assert expected_artifacts(None) == ()


@pytest.mark.parametrize(
    ("produced", "status", "required", "optional"),
    [
        ({"a", "b"}, "passed", [], []),
        ({"a"}, "warning", [], ["b"]),
        ({"b"}, "failed", ["a"], []),
        (set(), "failed", ["a"], ["b"]),
    ],
)
def test_verdicts(produced: set[str], status: str, required: list[str], optional: list[str]) -> None:
    expected = expected_artifacts({"expected": [entry("a"), entry("b", required=False)]})
    found = verdict(expected, produced)
    assert found.status == status
    assert [missing.artifact_id for missing in found.missing_required] == required
    assert [missing.artifact_id for missing in found.missing_optional] == optional


def test_without_a_contract_nothing_is_judged() -> None:
    assert verdict(None, {"a"}).status == "skipped"
    assert verdict((), set()).status == "passed"


# --- attention --------------------------------------------------------------------------------------------------------


def test_the_ids_of_items() -> None:
    assert item_id("run", "r1") == "run:r1"
    assert item_id("play", "billing", "draft") == "play:billing:draft"
    assert [kind_of(item) for item in ("play:a:b", "sched:x", "what:x", "")] == ["play", "sched", None, None]
    for wrong in (("what", "x"), ("run",), ("run", ""), ("run", "a", "b"), ("play", "a")):
        with pytest.raises(ValueError, match="no item is called"):
            item_id(*wrong)


@pytest.mark.parametrize(
    ("item", "state", "expires_at", "gone"),
    [
        ("run:r1", "acknowledged", None, False),
        ("run:r1", "resolved", None, True),
        ("run:r1", "expected", NOW + 1, True),
        ("run:r1", "snoozed", NOW + 1, True),
        ("run:r1", "snoozed", NOW, False),
        ("play:a:b", "acknowledged", None, True),
        ("play:a:b", "resolved", None, False),
        ("play:a:b", "snoozed", NOW + 1, False),
    ],
)
def test_what_leaves_the_queue(item: str, state: str, expires_at: float | None, gone: bool) -> None:
    assert clears(Disposition(item, state, None, NOW, NOW, expires_at, "op", "failed", 1), NOW) is gone


# --- the outbox -------------------------------------------------------------------------------------------------------


def test_the_wait_doubles_up_to_half_an_hour() -> None:
    assert [backoff(number) for number in range(8)] == [30, 60, 120, 240, 480, 960, 1800, 1800]
    assert backoff(10**6) == 1800
    assert backoff(-1) == 30


@given(attempt=st.integers(1, 20), most=st.integers(1, 20), ack=st.booleans(), ok=st.booleans())
def test_an_attempt_always_ends_and_never_beyond_its_limit(attempt: int, most: int, ack: bool, ok: bool) -> None:
    dispatch = DispatchRecord("d", "k", "x", "delivering", attempt, most, NOW, NOW, None, NOW, ack, "t", None, None, None, None)
    end = after_success(dispatch, NOW) if ok else after_failure(dispatch, "no", NOW)
    assert end.status in ("pending", "delivered", "dead_letter")
    assert (end.status == "delivered") is (ok and not ack)
    if end.status == "pending":
        assert attempt < most
        waits = end.changes["next_attempt_at"]
        assert isinstance(waits, float)
        assert waits - NOW == backoff(attempt)
    elif end.status == "dead_letter":
        assert attempt >= most


# --- controls, labels, figures ----------------------------------------------------------------------------------------


@given(
    verb=st.sampled_from(sorted(LISTENERS)),
    status=st.sampled_from(["running", "completed", None]),
    kind=st.sampled_from(["agent", "flow", "play", "fanout", "engine", "show-play", None]),
    poller=st.sampled_from(["pending", "active", "stopped", None, 3, True]),
    drains=st.sampled_from([True, False, None, "true", 1]),
    owned=st.booleans(),
)
def test_nobody_hears_what_nobody_listens_to(
    verb: str, status: str | None, kind: str | None, poller: object, drains: object, owned: bool
) -> None:
    metadata = {"flow_control_poller": poller, "drains_controls": drains}
    heard = deafness(verb, status=status, kind=kind, metadata=metadata, owned=owned) is None
    by_flow = kind in ("flow", "play") and poller in ("pending", "active")
    by_agent = kind == "agent" and verb == "message" and owned and drains is True
    assert heard is (status == "running" and (by_flow or by_agent))


def test_labels() -> None:
    assert label_fault(" " + "x" * 160 + " ") is None
    assert label_fault("x" * 161)
    assert label_fault("é\u0301 \u00a0 日本") is None
    assert label_fault("a\tb")
    assert [cleaned_label(label) for label in (None, " ", " x ")] == [None, None, "x"]


@given(now=st.floats(86_400 * 30, 4e9), name=st.sampled_from(sorted(WINDOWS)))
def test_a_window_holds_now_and_its_buckets_follow_each_other(now: float, name: str) -> None:
    window = WINDOWS[name]
    start = window.start(now)
    end = start + window.bucket_seconds * window.bucket_count
    assert start % window.bucket_seconds == 0
    assert end - window.bucket_seconds <= now < end
    buckets = activity(window, now, [(start, "completed", 2), (end, "failed", 1)])
    assert (buckets.buckets[0].completed, buckets.total, buckets.completion_rate) == (2, 3, 2 / 3)


# --- evidence ---------------------------------------------------------------------------------------------------------


def a_line(number: int, **values: Any) -> dict[str, Any]:
    line: dict[str, Any] = dict.fromkeys(HASHED)
    return {**line, "id": f"e{number}", "sequence": number, "created_at": NOW + number, "action_kind": "ä", **values}


def chain(length: int, key: str | None = None) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    for number in range(1, length + 1):
        lines.append(sealed(a_line(number), lines[-1]["chain_hash"] if lines else GENESIS, key))
    return lines


@given(data=st.data(), key=st.sampled_from([None, "k"]))
def test_any_single_change_breaks_the_chain(data: st.DataObject, key: str | None) -> None:
    lines = chain(5, key)
    place = data.draw(st.integers(0, 4))
    column = data.draw(st.sampled_from([*HASHED, "content_hash", "previous_hash", "chain_hash"]))
    lines[place] = {**lines[place], column: data.draw(st.sampled_from(["forged", 7, None, math.nan, 0.5]))}
    if lines[place][column] == chain(5, key)[place][column]:
        return
    check = ChainCheck(key)
    for line in lines:
        check.add(line)
    assert not check.report().valid


def test_an_untouched_chain_holds() -> None:
    for key in (None, "k"):
        check = ChainCheck(key)
        for line in chain(9, key):
            check.add(line)
        assert (check.report().valid, check.report().entries, check.report().last_sequence) == (True, 9, 9)
    assert ChainCheck(None).report().valid


def test_parameters_are_hashed_in_any_order() -> None:
    assert params_hash({"a": 1, "b": {"d": 2, "c": 3}}) == params_hash({"b": {"c": 3, "d": 2}, "a": 1})
    assert params_hash({"a": 1}) != params_hash({"a": 1.0})
    with pytest.raises(ValueError, match="JSON"):
        params_hash({"a": object()})
