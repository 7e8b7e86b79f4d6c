"""Signals and controls of runs, followed and paged."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.models.evidence import EvidenceRequest, SendControl, SignalQuery
from studio_tui.application.models.runs import MessageQuery
from studio_tui.state.stores.signals import SignalStore
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.builders import a_run, run_sql

LISTENING: dict[str, Any] = {
    "invocation_kind": "flow",
    "status": "running",
    "node_metadata": {"flow_control_poller": "active"},
}


async def signal(home: OpenHome, count: int = 1) -> None:
    store = SignalStore(home.db, home.clock)
    for number in range(count):
        await store.append("r1", "NodeStarted", {"n": number})


async def test_a_run_is_followed_signal_by_signal(home: OpenHome) -> None:
    evidence = home.studio.evidence
    await a_run(home.db, id="r1")
    await signal(home, 3)
    first = await evidence.follow_signals(SignalQuery(run_id="r1", limit=2))
    assert [one.seq for one in first] == [1, 2]
    await signal(home)
    more = await evidence.follow_signals(SignalQuery(run_id="r1", after=first[-1].seq))
    assert [(one.seq, one.kind, one.payload) for one in more] == [(3, "NodeStarted", {"n": 2}), (4, "NodeStarted", {"n": 0})]
    assert await evidence.follow_signals(SignalQuery(run_id="r1", after=4)) == ()


@pytest.mark.parametrize("pane", ["signals", "controls", "artifacts"])
@covers("evidence.list_evidence", "empty")
async def test_a_pane_without_anything_is_empty(home: OpenHome, pane: str) -> None:
    await a_run(home.db, id="r1")
    page = await home.studio.evidence.list_evidence(EvidenceRequest.model_validate({"run_id": "r1", "pane": pane}))
    assert (page.pane, page.items, page.has_next, page.next_cursor) == (pane, (), False, None)


@covers("evidence.follow_signals", "empty")
@covers("runs.list_messages", "empty")
async def test_a_run_that_said_nothing(home: OpenHome) -> None:
    await a_run(home.db, id="r1")
    assert await home.studio.evidence.follow_signals(SignalQuery(run_id="r1")) == ()
    assert (await home.studio.runs.list_messages(MessageQuery(run_id="r1"))).items == ()


async def test_panes_come_in_pages_and_no_row_twice_while_rows_are_added(home: OpenHome) -> None:
    evidence = home.studio.evidence
    await a_run(home.db, id="r1")
    await signal(home, 5)
    request = EvidenceRequest(run_id="r1", pane="signals", limit=2)
    seen: list[int] = []
    while True:
        page = await evidence.list_evidence(request)
        seen += [one.seq for one in page.items]  # type: ignore[union-attr]
        await signal(home)
        if page.next_cursor is None:
            break
        request = request.model_copy(update={"cursor": page.next_cursor})
    assert seen == [5, 4, 3, 2, 1]
    with pytest.raises(ValidationFailure):
        await evidence.list_evidence(request.model_copy(update={"pane": "controls"}))


@covers("evidence.send_control", "stale")
async def test_a_control_waits_for_a_run_that_listens_and_is_refused_by_one_that_does_not(home: OpenHome) -> None:
    evidence = home.studio.evidence
    await a_run(home.db, id="r1", **LISTENING)
    sent = await evidence.send_control(SendControl(run_id="r1", verb="pause"))
    assert (sent.verb, sent.state) == ("pause", "waiting")
    standing = await evidence.control_standing("r1")
    assert (standing.pending, standing.pause_held) == ((sent,), True)
    shown = await evidence.list_evidence(EvidenceRequest(run_id="r1", pane="controls"))
    assert shown.items == (sent,)
    await run_sql(home.db, "UPDATE sessions SET status = 'completed'")
    with pytest.raises(Conflict, match="only a running one"):
        await evidence.send_control(SendControl(run_id="r1", verb="resume"))


@pytest.mark.parametrize(
    "fields",
    [
        {"verb": "message"},
        {"verb": "message", "text": " "},
        {"verb": "message", "text": "x" * 8001},
        {"verb": "pause", "text": "x"},
    ],
)
async def test_words_go_with_a_message_and_only_with_it(home: OpenHome, fields: dict[str, str]) -> None:
    await a_run(home.db, id="r1", **LISTENING)
    with pytest.raises(ValidationFailure):
        await home.studio.evidence.send_control(SendControl.model_validate({"run_id": "r1", **fields}))
    assert (await home.studio.evidence.control_standing("r1")).pending == ()


@covers("evidence.send_control", "missing")
@covers("evidence.list_evidence", "missing")
async def test_a_run_that_was_deleted_a_moment_ago_takes_and_shows_nothing(home: OpenHome) -> None:
    await a_run(home.db, id="r1", **LISTENING)
    await run_sql(home.db, "DELETE FROM sessions")
    with pytest.raises(NotFound):
        await home.studio.evidence.send_control(SendControl(run_id="r1", verb="pause"))
    with pytest.raises(NotFound):
        await home.studio.evidence.list_evidence(EvidenceRequest(run_id="r1", pane="signals"))
    assert await home.db.fetch_all("SELECT * FROM session_controls") == []
