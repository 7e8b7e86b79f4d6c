"""Controls: queued only for a run that goes on and listens, with receipts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.domain.controls import receipt
from studio_tui.state.db import StateDB
from studio_tui.state.lifecycle import write_status
from studio_tui.state.schema import session_controls, sessions
from studio_tui.state.stores.controls import ControlStore
from tests.builders import NOW, a_run, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import a_control, all_pages, not_refused

FLOW = {"invocation_kind": "flow", "status": "running", "node_metadata": {"flow_control_poller": "active"}}
AGENT = {"invocation_kind": "agent", "status": "running", "run_id": "20260101T000000-abcdef"}
LISTENING_AGENT = {**AGENT, "node_metadata": {"drains_controls": True}}


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def controls(db: StateDB, clock: SteeredClock) -> ControlStore:
    return ControlStore(db, clock)


async def rows(db: StateDB) -> list[dict[str, Any]]:
    return await db.fetch_all(session_controls.select())


async def test_a_control_as_the_peer_queues_it(db: StateDB, controls: ControlStore) -> None:
    await a_run(db, id="r1", **FLOW)
    paused = await controls.send("r1", "pause")
    told = await controls.send("r1", "message", text="Stop at the ä.")
    stored = {row["id"]: row for row in await rows(db)}
    assert stored[paused.control_id] == {
        "id": paused.control_id,
        "session_id": "r1",
        "verb": "pause",
        "payload": None,
        "created_at": NOW,
        "applied_at": None,
        "claimed_at": None,
        "result": None,
    }
    assert len(paused.control_id) == 32
    (raw,) = await db.fetch_all("SELECT CAST(payload AS text) AS payload FROM session_controls WHERE verb = 'pause'")
    assert raw == {"payload": "null"}
    assert {control.text for control in await controls.pending("r1")} == {None, "Stop at the ä."}
    assert receipt(told).state == "waiting"


LISTENS = {
    "flow, active": (FLOW, {"pause", "resume", "message"}),
    "flow, pending": ({**FLOW, "node_metadata": {"flow_control_poller": "pending"}}, {"pause", "resume", "message"}),
    "play": ({**FLOW, "invocation_kind": "play"}, {"pause", "resume", "message"}),
    "flow, stopped": ({**FLOW, "node_metadata": {"flow_control_poller": "stopped"}}, set()),
    "flow, silent": ({**FLOW, "node_metadata": None}, set()),
    "agent": (LISTENING_AGENT, {"message"}),
    "agent, mirrored": ({**LISTENING_AGENT, "run_id": None}, set()),
    "agent, deaf": (AGENT, set()),
    "agent, nearly": ({**AGENT, "node_metadata": {"drains_controls": "true"}}, set()),
    "fanout": ({**FLOW, "invocation_kind": "fanout"}, set()),
    "engine": ({**LISTENING_AGENT, "invocation_kind": "engine"}, set()),
    "of no kind": ({**LISTENING_AGENT, "invocation_kind": None}, set()),
    "ended": ({**FLOW, "status": "completed"}, set()),
    "of no status": ({**FLOW, "status": None}, set()),
}


async def test_who_listens_to_what(db: StateDB, controls: ControlStore) -> None:
    for name, (columns, verbs) in LISTENS.items():
        await a_run(db, id=name, **columns)
        for verb in ("pause", "resume", "message"):
            sent = controls.send(name, verb, text="go on" if verb == "message" else None)
            if verb in verbs:
                assert (await sent).verb == verb
            else:
                with pytest.raises(Conflict):
                    await sent
    queued = {name: {row["verb"] for row in await rows(db) if row["session_id"] == name} for name in LISTENS}
    assert queued == {name: verbs for name, (_, verbs) in LISTENS.items()}


async def test_a_run_that_ends_at_the_same_moment_gets_no_control_after_its_end(db: StateDB, controls: ControlStore) -> None:
    await a_run(db, id="r1", **FLOW)

    async def end() -> None:
        await db.write(
            lambda connection: write_status(
                connection,
                "session",
                "r1",
                "completed",
                reason_code="run.completed.ok",
                summary="",
                evidence=(),
                source="executor",
                actor="r1",
                now=NOW,
            )
        )

    outcomes = await asyncio.gather(
        *(controls.send("r1", "pause") for _ in range(3)),
        end(),
        *(controls.send("r1", "pause") for _ in range(3)),
        return_exceptions=True,
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert all(isinstance(outcome, Conflict) and outcome.actual == "completed" for outcome in refused)
    assert len(await rows(db)) == 6 - len(refused)
    with pytest.raises(Conflict, match="the run is completed"):
        await controls.send("r1", "pause")


async def test_what_is_no_control(db: StateDB, controls: ControlStore) -> None:
    await a_run(db, id="r1", **FLOW)
    wrong = [("stop", None), ("kill", None), ("pause", "x"), *(("message", text) for text in (None, " ", "x" * 8001, "\ud800"))]
    assert await not_refused(ValidationFailure, (controls.send("r1", verb, text=text) for verb, text in wrong)) == []
    assert await rows(db) == []


async def test_an_unknown_run(controls: ControlStore) -> None:
    with pytest.raises(NotFound, match="no run r9"):
        await controls.send("r9", "pause")
    assert await controls.pending("r9") == await controls.list_controls("r9", before=None, limit=5) == ()
    assert not await controls.pause_is_held("r9")


async def test_lists_and_receipts(db: StateDB, controls: ControlStore) -> None:
    await a_run(db, id="r1", **FLOW)
    await a_run(db, id="r2", **FLOW)
    results = [None, "applying", "applying:run-7", "applied", "rejected:no-pending-ops", "rejected: too late", "lost"]
    for number, result in enumerate(results):
        applied = None if result is None or result.startswith("applying") else NOW + 9
        await a_control(db, "r1", "message", id=f"c{number}", created_at=NOW + number // 2, result=result, applied_at=applied)
    await a_control(db, "r2", "pause")

    async def page(key: Any) -> Any:
        return await controls.list_controls("r1", before=key, limit=3)

    found = await all_pages(page, lambda control: (control.created_at, control.control_id), limit=3)
    assert [control.control_id for control in found] == ["c6", "c5", "c4", "c3", "c2", "c1", "c0"]
    assert [(receipt(control).state, receipt(control).detail) for control in reversed(found)] == [
        ("waiting", None),
        ("applying", None),
        ("applying", "run-7"),
        ("applied", None),
        ("rejected", "no-pending-ops"),
        ("rejected", "too late"),
        ("other", "lost"),
    ]
    assert [control.control_id for control in await controls.pending("r1")] == ["c0", "c1", "c2"]


HOLDS: dict[str, tuple[list[tuple[str, str | None]], bool]] = {
    "nothing": ([], False),
    "a pause that waits": ([("pause", None)], True),
    "an applied pause": ([("pause", "applied")], True),
    "a rejected pause": ([("pause", "rejected: x")], False),
    "a resume after it": ([("pause", "applied"), ("resume", None)], False),
    "a rejected resume after it": ([("pause", "applied"), ("resume", "rejected")], True),
    "a message after it": ([("pause", "applied"), ("message", None)], True),
    "paused again": ([("pause", "applied"), ("resume", "applied"), ("pause", None)], True),
    "a pause being applied": ([("resume", "applied"), ("pause", "applying")], False),
}


async def test_whether_a_pause_is_held(db: StateDB, controls: ControlStore) -> None:
    for name, (sent, _) in HOLDS.items():
        await a_run(db, id=name, **FLOW)
        for number, (verb, result) in enumerate(sent):
            await a_control(db, name, verb, id=f"{name} {number}", result=result)
    assert {name: await controls.pause_is_held(name) for name in HOLDS} == {name: held for name, (_, held) in HOLDS.items()}


@pytest.mark.sqlite_only("a server's json columns hold JSON")
@pytest.mark.parametrize("stored", ["{broken", '"active"', "NaN", "null", ""])
async def test_broken_metadata_listen_to_nothing(db: StateDB, controls: ControlStore, stored: str) -> None:
    await a_run(db, id="r1", **FLOW)
    await run_sql(db, "UPDATE sessions SET node_metadata = :stored", stored=stored)
    with pytest.raises(Conflict, match="never said that it runs"):
        await controls.send("r1", "pause")


@pytest.mark.sqlite_only("a server's json columns hold JSON")
async def test_broken_payloads_hide_no_control(db: StateDB, controls: ControlStore) -> None:
    await a_run(db, id="r1", **FLOW)
    await controls.send("r1", "message", text="x")
    for stored, text, defects in (("{broken", None, 1), ('{"text": 3}', "3", 1), ("null", None, 0), ("[1]", None, 1)):
        await run_sql(db, "UPDATE session_controls SET payload = :stored", stored=stored)
        (found,) = await controls.pending("r1")
        assert (found.text, len(found.defects)) == (text, defects)


async def test_invariant_09_controls_go_with_their_run(db: StateDB, controls: ControlStore) -> None:
    await a_run(db, id="r1", **FLOW)
    await controls.send("r1", "pause")
    await db.execute(sessions.delete().where(sessions.c.id == "r1"))
    assert await rows(db) == []


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    controls = ControlStore(db, SteeredClock())
    assert await controls.pending("r1") == ()
    assert not await controls.pause_is_held("r1")
