"""Approvals: decided once, by whoever comes first, and told in a chain that can be checked."""

from __future__ import annotations

import pytest

from studio_tui.application.errors import Conflict, ValidationFailure
from studio_tui.application.models.approvals import DenyApproval, GrantApproval, LedgerQuery
from studio_tui.domain.approvals import TTL
from studio_tui.state.stores.approvals import ApprovalStore
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.builders import run_sql


async def proposed(home: OpenHome, kind: str = "git.push") -> str:
    return (await ApprovalStore(home.db, home.clock).propose(kind, {"ref": "main"})).approval_id


async def test_what_waits_says_how_long_it_can_be_acted_on(home: OpenHome) -> None:
    approval_id = await proposed(home)
    home.clock.at += 100
    waiting = await home.studio.approvals.list_waiting()
    assert [(one.approval_id, one.status, one.remaining) for one in waiting] == [(approval_id, "pending", TTL - 100)]
    assert (await home.studio.approvals.grant(GrantApproval(approval_id=approval_id))).status == "granted"


async def test_one_whose_time_ran_out_is_shown_as_expired_where_nothing_may_be_written_too(home: OpenHome) -> None:
    approval_id = await proposed(home)
    home.clock.at += TTL + 1
    looking = OpenHome(home.folder, read_only=True)
    looking.clock.at = home.clock.at
    await looking.open()
    try:
        shown = await looking.studio.approvals.get_approval(approval_id)
    finally:
        await looking.close()
    assert (shown.status, shown.remaining) == ("expired", None)


@covers("approvals.grant", "stale")
@covers("approvals.deny", "stale")
async def test_what_is_decided_is_not_decided_again(home: OpenHome) -> None:
    approvals, approval_id = home.studio.approvals, await proposed(home)
    await approvals.deny(DenyApproval(approval_id=approval_id, reason_class="policy", reason="not on a Friday"))
    for act in (
        approvals.grant(GrantApproval(approval_id=approval_id)),
        approvals.deny(DenyApproval(approval_id=approval_id)),
    ):
        with pytest.raises(Conflict) as caught:
            await act
        assert (caught.value.expected, caught.value.actual) == ("pending", "denied")


async def test_a_reason_has_a_class_and_words_or_there_is_none(home: OpenHome) -> None:
    approval_id = await proposed(home)
    for fields in ({"reason": "because"}, {"reason_class": "policy"}, {"reason_class": "policy", "reason": " "}):
        with pytest.raises(ValidationFailure):
            await home.studio.approvals.deny(DenyApproval.model_validate({"approval_id": approval_id, **fields}))
    assert (await home.studio.approvals.get_approval(approval_id)).status == "pending"


async def test_the_ledger_is_read_in_pages_as_a_whole_by_decision_and_by_approval(home: OpenHome) -> None:
    approvals = home.studio.approvals
    first, second = await proposed(home), await proposed(home, "session.kill")
    await approvals.deny(DenyApproval(approval_id=first))
    await approvals.grant(GrantApproval(approval_id=second))

    async def told(**fields: object) -> list[tuple[int, str]]:
        query, found = LedgerQuery.model_validate({"limit": 1, **fields}), []
        while True:
            page = await approvals.ledger(query)
            found += [(line.sequence, line.event_type) for line in page.items]
            if page.next_cursor is None:
                return found
            query = query.model_copy(update={"cursor": page.next_cursor})

    assert await told() == [(4, "granted"), (3, "denied"), (2, "proposed"), (1, "proposed")]
    assert await told(decisions_only=True) == [(3, "denied")]
    assert await told(approval_id=second) == [(4, "granted"), (2, "proposed")]
    assert await told(approval_id=second, decisions_only=True) == []


async def test_a_line_that_was_changed_breaks_the_chain_and_is_named(home: OpenHome) -> None:
    await proposed(home)
    await proposed(home)
    assert (await home.studio.approvals.verify()).model_dump() == {
        "valid": True,
        "entries": 2,
        "last_sequence": 2,
        "broken": 0,
        "first_break": None,
    }
    await run_sql(home.db, "UPDATE approval_evidence SET action_kind = 'harmless' WHERE sequence = 1")
    report = await home.studio.approvals.verify()
    assert (report.valid, report.first_break) == (False, "line 1: its content was changed")
