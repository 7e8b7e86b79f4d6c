"""Approvals: once decided, decided once, and a chain of evidence that shows every change."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.domain.approvals import standing
from studio_tui.state.db import StateDB
from studio_tui.state.schema import approval_evidence, approvals
from studio_tui.state.stores.approvals import ApprovalStore
from tests.builders import NOW, put, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import all_pages, not_refused

PARAMS = {"session_id": "r1", "force": True, "ünïcode": None}


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def ledger(db: StateDB, clock: SteeredClock) -> ApprovalStore:
    return ApprovalStore(db, clock)


async def lines(db: StateDB) -> list[dict[str, Any]]:
    return await db.fetch_all(approval_evidence.select().order_by(approval_evidence.c.sequence))


async def row(db: StateDB, approval_id: str) -> dict[str, Any]:
    found = await db.fetch_one(approvals.select().where(approvals.c.id == approval_id))
    assert found is not None
    return found


async def test_a_proposal_waits_for_five_minutes_and_names_no_run(db: StateDB, ledger: ApprovalStore) -> None:
    made = await ledger.propose("session.delete", PARAMS)
    canonical = json.dumps(PARAMS, sort_keys=True, separators=(",", ":"))
    assert await row(db, made.approval_id) == {
        "id": made.approval_id,
        "action_kind": "session.delete",
        "params_hash": hashlib.sha256(canonical.encode()).hexdigest(),
        "session_id": None,
        "status": "pending",
        "proposed_at": NOW,
        "granted_at": None,
        "consumed_at": None,
        "expires_at": NOW + 300,
    }
    assert len(made.approval_id) == 32
    assert await ledger.get_approval(made.approval_id) == made


async def test_a_grant_is_used_up_once_for_exactly_what_was_asked(
    db: StateDB, ledger: ApprovalStore, clock: SteeredClock
) -> None:
    made = await ledger.propose("db.prune", {"days": 30})
    clock.advance(10)
    granted = await ledger.grant(made.approval_id)
    assert (granted.status, granted.granted_at, granted.expires_at) == ("granted", NOW + 10, NOW + 300)
    with pytest.raises(PermissionDenied, match="other parameters"):
        await ledger.consume(made.approval_id, action_kind="db.prune", params={"days": 31})
    with pytest.raises(PermissionDenied, match=r"for db\.prune, not for db\.vacuum"):
        await ledger.consume(made.approval_id, action_kind="db.vacuum", params={"days": 30})
    assert (await row(db, made.approval_id))["status"] == "granted"
    clock.advance(10)
    used = await ledger.consume(made.approval_id, action_kind="db.prune", params={"days": 30})
    assert (used.status, used.consumed_at) == ("consumed", NOW + 20)
    with pytest.raises(Conflict, match="consumed, not granted"):
        await ledger.consume(made.approval_id, action_kind="db.prune", params={"days": 30})
    assert [line["event_type"] for line in await lines(db)] == ["proposed", "granted", "consumed"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [({"reason_class": None, "reason": None}, (None, None)), ({"reason_class": "policy", "reason": "No."}, ("policy", "No."))],
)
async def test_a_denial_may_say_why(
    db: StateDB, ledger: ApprovalStore, given: dict[str, Any], kept: tuple[str | None, str | None]
) -> None:
    made = await ledger.propose("x", {})
    assert (await ledger.deny(made.approval_id, **given)).status == "denied"
    last = (await lines(db))[-1]
    assert (last["event_type"], last["justification_class"], last["justification_reason"]) == ("denied", *kept)
    with pytest.raises(Conflict, match="denied, not pending"):
        await ledger.grant(made.approval_id)


async def test_half_a_reason_is_none(db: StateDB, ledger: ApprovalStore) -> None:
    made = await ledger.propose("x", {})
    halves = [("policy", None), ("policy", "  "), (None, "No."), ("mood", "No.")]
    calls = (ledger.deny(made.approval_id, reason_class=given, reason=reason) for given, reason in halves)
    assert await not_refused(ValidationFailure, calls) == []
    assert len(await lines(db)) == 1


async def test_what_cannot_be_proposed(db: StateDB, ledger: ApprovalStore) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("", {}),
        ("  ", {}),
        ("x" * 129, {}),
        ("x", {"n": float("nan")}),
        ("x", {"n": object()}),
        ("x\ud800", {}),
    ]
    assert await not_refused(ValidationFailure, (ledger.propose(kind, params) for kind, params in wrong)) == []
    assert await lines(db) == []


async def test_time_runs_out_when_somebody_looks(db: StateDB, ledger: ApprovalStore, clock: SteeredClock) -> None:
    made = await ledger.propose("x", {})
    clock.advance(300)
    found = await ledger.get_approval(made.approval_id)
    assert found is not None
    assert found.status == "pending"
    clock.advance(0.5)
    found = await ledger.get_approval(made.approval_id)
    assert found is not None
    assert found.status == "expired"
    last = (await lines(db))[-1]
    assert (last["event_type"], last["status_from"], last["created_at"]) == ("expired", "pending", NOW + 300.5)
    assert await ledger.get_approval(made.approval_id) == found
    assert len(await lines(db)) == 2


@pytest.mark.parametrize("status", ["pending", "granted"])
async def test_a_change_that_comes_too_late_leaves_the_expiry(
    db: StateDB, ledger: ApprovalStore, clock: SteeredClock, status: str
) -> None:
    made = await ledger.propose("x", {})
    if status == "granted":
        await ledger.grant(made.approval_id)
    clock.advance(301)
    pending = status == "pending"
    late = ledger.grant(made.approval_id) if pending else ledger.consume(made.approval_id, action_kind="x", params={})
    with pytest.raises(Conflict, match="the approval is expired"):
        await late
    assert (await row(db, made.approval_id))["status"] == "expired"
    assert (await lines(db))[-1]["status_from"] == status


async def test_all_that_lapsed_is_written_down_at_once(db: StateDB, ledger: ApprovalStore, clock: SteeredClock) -> None:
    old = [(await ledger.propose("old", {"n": number})).approval_id for number in range(3)]
    clock.advance(301)
    new = await ledger.propose("new", {})
    assert [standing(approval, clock.now()) for approval in await ledger.waiting(limit=9)] == ["expired"] * 3 + ["pending"]
    assert await ledger.expire_lapsed() == 3
    assert await ledger.expire_lapsed() == 0
    assert [approval.approval_id for approval in await ledger.waiting(limit=9)] == [new.approval_id]
    assert {line["approval_id"] for line in await lines(db) if line["event_type"] == "expired"} == set(old)


async def test_in_a_store_that_may_not_be_written_a_lapsed_one_is_shown_as_it_stands(
    db: StateDB, ledger: ApprovalStore, clock: SteeredClock
) -> None:
    made = await ledger.propose("x", {})
    clock.advance(301)
    db.refusal = "The store was asked for read-only."
    found = await ledger.get_approval(made.approval_id)
    assert found is not None
    assert (found.status, standing(found, clock.now())) == ("pending", "expired")
    db.refusal = None
    assert len(await lines(db)) == 1


async def test_waiting_ones_stand_by_the_time_that_is_left(ledger: ApprovalStore, clock: SteeredClock) -> None:
    first = await ledger.propose("x", {"n": 1})
    clock.advance(5)
    second = await ledger.propose("x", {"n": 2})
    third = await ledger.propose("x", {"n": 3})
    await ledger.grant(first.approval_id)
    await ledger.deny(third.approval_id, reason_class=None, reason=None)
    assert [approval.approval_id for approval in await ledger.waiting(limit=9)] == [first.approval_id, second.approval_id]
    assert [approval.approval_id for approval in await ledger.waiting(limit=1)] == [first.approval_id]


async def test_decisions_are_read_from_the_chain_page_by_page(ledger: ApprovalStore, clock: SteeredClock) -> None:
    for number in range(7):
        made = await ledger.propose("x", {"n": number})
        if number % 2:
            await ledger.deny(made.approval_id, reason_class="other", reason=f"{number}")
    found = await all_pages(lambda key: ledger.decided(before=key, limit=2), lambda line: line.sequence, limit=2)
    assert [line.justification_reason for line in found] == ["5", "3", "1"]
    every = await all_pages(lambda key: ledger.evidence(before=key, limit=3), lambda line: line.sequence, limit=3)
    assert [line.sequence for line in every] == list(range(10, 0, -1))
    assert [line.event_type for line in await ledger.evidence_of(found[0].approval_id)] == ["proposed", "denied"]


# --- the chain --------------------------------------------------------------------------------------------------------


async def test_invariant_44_evidence_sequence_is_contiguous(db: StateDB, ledger: ApprovalStore) -> None:
    """Also when many change the ledger at once: each line follows the one before it."""
    made = await asyncio.gather(*(ledger.propose("x", {"n": number}) for number in range(12)))
    await asyncio.gather(*(ledger.grant(approval.approval_id) for approval in made))
    stored = await lines(db)
    assert [line["sequence"] for line in stored] == list(range(1, 25))
    assert [line["previous_hash"] for line in stored] == ["0" * 64, *(line["chain_hash"] for line in stored[:-1])]
    report = await ledger.verify_chain()
    assert (report.entries, report.last_sequence, report.valid, report.first_break) == (24, 24, True, None)


async def test_invariant_44_change_and_evidence_are_one_transaction(
    db: StateDB, ledger: ApprovalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await ledger.propose("x", {})

    async def refuse(*_: object) -> None:
        raise Conflict("x", expected=None, actual=None)

    monkeypatch.setattr("studio_tui.state.stores.approvals.append_line", refuse)
    with pytest.raises(Conflict):
        await ledger.grant(made.approval_id)
    with pytest.raises(Conflict):
        await ledger.propose("y", {})
    assert (await row(db, made.approval_id))["status"] == "pending"
    assert len(await db.fetch_all(approvals.select())) == len(await lines(db)) == 1


async def test_invariant_17_the_hash_covers_the_stored_moment(db: StateDB, clock: SteeredClock, ledger: ApprovalStore) -> None:
    """A line's moment is a float whatever the clock gives, and is stored unrounded."""
    previous = "0" * 64
    for number, moment in enumerate((NOW, 1_796_000_000, NOW + 0.1 + 0.2, 1_796_000_000.123_456_7)):
        clock.at = moment
        await ledger.propose("x", {})
        line = (await lines(db))[number]
        assert isinstance(line["created_at"], float)
        assert line["created_at"] == float(moment)
        hashed = {name: value for name, value in line.items() if not name.endswith(("_hash", "_sig")) or name == "params_hash"}
        digest = hashlib.sha256(json.dumps(hashed, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
        assert line["content_hash"] == digest
        previous = hashlib.sha256((digest + previous).encode()).hexdigest()
        assert line["chain_hash"] == previous
    assert (await ledger.verify_chain()).valid


async def test_a_signed_chain_takes_no_unsigned_line(db: StateDB, clock: SteeredClock, ledger: ApprovalStore) -> None:
    signed = ApprovalStore(db, clock, key="sésame")
    made = await signed.propose("x", {})
    (line,) = await lines(db)
    message = f"{line['chain_hash']}{line['created_at']}".encode()
    assert line["hmac_sig"] == hmac.new("sésame".encode(), message, hashlib.sha256).hexdigest()
    assert (await signed.verify_chain()).valid
    assert (await ledger.verify_chain()).valid
    await ledger.grant(made.approval_id)
    assert (await signed.verify_chain()).first_break == "line 2: it is not signed"
    other = ApprovalStore(db, clock, key="other")
    assert (await other.verify_chain()).first_break == "line 1: its signature is not that of the key"
    assert [line.signed for line in await ledger.evidence(before=None, limit=5)] == [False, True]


BREAKS = {
    "UPDATE approval_evidence SET justification_reason = 'nice' WHERE sequence = 3": "line 3: its content was changed",
    "UPDATE approval_evidence SET created_at = created_at + 1 WHERE sequence = 2": "line 2: its content was changed",
    "UPDATE approval_evidence SET content_hash = 'x' WHERE sequence = 4": "line 4: its content was changed",
    "UPDATE approval_evidence SET previous_hash = 'x' WHERE sequence = 4": "line 4: it does not follow the line before it",
    "UPDATE approval_evidence SET chain_hash = 'x' WHERE sequence = 4": "line 4: its chain hash was changed",
    "DELETE FROM approval_evidence WHERE sequence = 1": "line 2: line 1 is missing",
    "DELETE FROM approval_evidence WHERE sequence = 3": "line 4: line 3 is missing",
    "UPDATE approval_evidence SET sequence = 99 WHERE sequence = 5": "line 99: line 5 is missing",
}


@pytest.mark.sqlite_only("the chain is checked by the same code on both")
@pytest.mark.parametrize("sql", BREAKS)
async def test_the_first_broken_link_is_named(db: StateDB, ledger: ApprovalStore, sql: str) -> None:
    for number in range(5):
        await ledger.propose("x", {"n": number})
    await run_sql(db, sql)
    report = await ledger.verify_chain()
    assert not report.valid
    assert report.first_break == BREAKS[sql]


async def test_a_last_line_that_was_removed_cannot_be_told(db: StateDB, ledger: ApprovalStore) -> None:
    """The chain itself cannot show it; whoever noted how long it was can."""
    for number in range(3):
        await ledger.propose("x", {"n": number})
    await run_sql(db, "DELETE FROM approval_evidence WHERE sequence = 3")
    report = await ledger.verify_chain()
    assert (report.valid, report.last_sequence) == (True, 2)


@pytest.mark.sqlite_only("a server's columns hold what they are for")
async def test_lines_that_hold_anything_are_read_and_judged(db: StateDB, ledger: ApprovalStore) -> None:
    made = await ledger.propose("x", {})
    await ledger.grant(made.approval_id)
    await run_sql(db, "UPDATE approval_evidence SET created_at = x'00ff', params_hash = x'ff' WHERE sequence = 1")
    report = await ledger.verify_chain()
    assert (report.broken, report.first_break) == (1, "line 1: it holds what no line holds")
    assert (await ledger.evidence(before=None, limit=5))[-1].defects == ("params_hash", "created_at")


async def test_a_long_chain_is_checked_in_pieces(db: StateDB, ledger: ApprovalStore) -> None:
    for number in range(4):
        await ledger.propose("x", {"n": number})
    last = (await lines(db))[-1]
    await put(db, approval_evidence, [{**last, "id": f"x{n}", "sequence": n} for n in range(5, 1206)])
    report = await ledger.verify_chain()
    assert (report.entries, report.broken, report.first_break) == (1205, 1201, "line 5: its content was changed")


async def test_unknown_ones(ledger: ApprovalStore) -> None:
    assert await ledger.get_approval("none") is None
    for act in (ledger.grant("none"), ledger.consume("none", action_kind="x", params={})):
        with pytest.raises(NotFound):
            await act


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    ledger = ApprovalStore(db, SteeredClock())
    assert await ledger.waiting(limit=5) == ()
    assert await ledger.evidence(before=None, limit=5) == await ledger.decided(before=None, limit=5) == ()
    assert (await ledger.verify_chain()).entries == 0
    assert await ledger.get_approval("x") is None
