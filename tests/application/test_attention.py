"""Deciding about items: who saw what, until when, and what is told of it."""

from __future__ import annotations

import pytest

from studio_tui.application.errors import Conflict, ValidationFailure
from studio_tui.application.models.attention import AttentionHistoryQuery, DecideAttention, ReopenAttention
from studio_tui.application.models.common import PageQuery
from tests.application.covering import covers
from tests.application.home import OpenHome

ITEM = "run:r1"


def decide(**fields: object) -> DecideAttention:
    return DecideAttention.model_validate({"item_id": ITEM, "state": "resolved", "source_status": "failed", **fields})


async def test_a_decision_holds_is_listed_and_is_told_in_the_history(home: OpenHome) -> None:
    attention = home.studio.attention
    stored = await attention.decide(decide(note="seen"))
    assert (stored.state, stored.note, stored.revision, stored.clears) == ("resolved", "seen", 1, True)
    assert (await attention.list_dispositions(PageQuery())).items == (stored,)
    assert [standing.disposition for standing in await attention.standing((ITEM, "run:other"))] == [stored, None]
    changes = (await attention.history(AttentionHistoryQuery())).items
    assert [(change.prior_state, change.new_state) for change in changes] == [(None, "resolved")]


async def test_a_gate_leaves_the_queue_by_being_acknowledged_and_nothing_else_does(home: OpenHome) -> None:
    for item, state, clears in (
        ("play:billing:three", "acknowledged", True),
        ("play:billing:three", "resolved", False),
        (ITEM, "acknowledged", False),
    ):
        stored = await home.studio.attention.decide(decide(item_id=item, state=state))
        assert stored.clears is clears


async def test_what_lapses_does_not_hold_any_more(home: OpenHome) -> None:
    attention = home.studio.attention
    await attention.decide(decide(state="snoozed", expires_at=home.clock.at + 60))
    home.clock.at += 61
    assert (await attention.list_dispositions(PageQuery())).items == ()
    assert (await attention.standing((ITEM,)))[0].disposition is None


@covers("attention.decide", "stale")
async def test_an_item_that_was_opened_again_is_not_decided_by_who_has_not_seen_that(home: OpenHome) -> None:
    attention = home.studio.attention
    first = await attention.decide(decide())
    standing = await attention.reopen(ReopenAttention(item_id=ITEM))
    assert (standing.revision, standing.disposition) == (2, None)
    with pytest.raises(Conflict) as caught:
        await attention.decide(decide(expected_revision=first.revision))
    assert (caught.value.expected, caught.value.actual) == ("1", "2")
    with pytest.raises(Conflict):
        await attention.decide(decide())
    assert (await attention.decide(decide(expected_revision=2))).revision == 3


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"state": "expected", "expires_at": 2_000_000_000.0}, "note"),
        ({"state": "snoozed"}, "expires_at"),
        ({"item_id": " "}, "item_id"),
        ({"item_id": "team:t1"}, "item_id"),
        ({"item_id": "run:"}, "item_id"),
    ],
)
async def test_a_decision_says_what_it_needs(home: OpenHome, fields: dict[str, object], field: str) -> None:
    with pytest.raises(ValidationFailure) as caught:
        await home.studio.attention.decide(decide(**fields))
    assert [failure.path for failure in caught.value.field_errors] == [(field,)]
    assert (await home.studio.attention.history(AttentionHistoryQuery())).items == ()


async def test_the_history_of_all_and_of_one_come_in_pages(home: OpenHome) -> None:
    attention = home.studio.attention
    for number in range(7):
        await attention.decide(decide(item_id=f"run:r{number % 2}"))
    for item_id, expected in ((None, [7, 6, 5, 4, 3, 2, 1]), ("run:r0", [7, 5, 3, 1])):
        query, seen = AttentionHistoryQuery(item_id=item_id, limit=3), []
        while True:
            page = await attention.history(query)
            seen += [change.sequence for change in page.items]
            if page.next_cursor is None:
                break
            query = query.model_copy(update={"cursor": page.next_cursor})
        assert seen == expected
