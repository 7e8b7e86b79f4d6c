"""The outbox: what we enqueue the peer delivers, and what it enqueues we do; each takes up where the other failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.clock import SystemClock
from studio_tui.state.stores.admin_events import AdminEventStore
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from studio_tui.state.stores.runs import RunStore
from tests.builders import a_run
from tests.interop.peer_call import ask_peer, run_li
from tests.interop.written import our_store

pytestmark = pytest.mark.interop

DELIVER = """
import time
from lionagi.dispatch import outbox
async with StateDB() as db:
    template = ["/bin/sh", "-c", "test \\"$1\\" != broken", "sh", "{deliver_to}"]
    seen = {row["id"]: row for row in await outbox.list_dispatches(db)}
    counts = await outbox.deliver_due_dispatches(db, now=time.time() + ARGUMENTS["later"], notify_template=template)
    acked = await outbox.ack_dispatch(db, ARGUMENTS["asks"], ARGUMENTS["token"])
    same = await outbox.enqueue_dispatch(db, kind="k", deliver_to="x", dedup_key="once")
    theirs = await outbox.enqueue_dispatch(db, kind="theirs", deliver_to="x", body={"a": 1}, max_attempts=1)
    after = {row["id"]: row for row in await outbox.list_dispatches(db)}
    return {"seen": seen, "counts": counts, "acked": acked, "same": same, "theirs": theirs, "after": after}
"""


async def test_what_one_keeps_the_other_delivers(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        await a_run(db, id="r1")
        delivery, outbox = OutboxDeliveryStore(db, SystemClock()), OutboxStore(db, SystemClock())
        plain = await delivery.enqueue(NewDispatch("k", "agent:demo", {"text": "ä"}, dedup_key="once", session_id="r1"))
        broken = await delivery.enqueue(NewDispatch("k", "broken", max_attempts=2))
        asks = await delivery.enqueue(NewDispatch("k", "y", ack_required=True))
        tried = [claim for claim in await delivery.claim_due(limit=9) if claim.dispatch_id == broken.dispatch_id]
        assert await delivery.failed(tried[0], "no route")
        answer = ask_peer(home, DELIVER, asks=asks.dispatch_id, token=asks.ack_token, later=90)
        assert answer["seen"][plain.dispatch_id]["payload"] == plain.payload
        assert answer["seen"][broken.dispatch_id]["last_error"] == "no route"
        assert answer["counts"] == {"attempted": 3, "delivered": 2, "dead_letter": 1, "expired": 0, "retried": 0}
        assert answer["acked"]
        assert answer["same"] == plain.dispatch_id
        assert {row["status"] for row in answer["after"].values()} == {"delivered", "dead_letter", "acked", "pending"}
        assert (await outbox.retry(broken.dispatch_id)).attempt == 0
        (mine,) = [claim for claim in await delivery.claim_due(limit=9) if claim.dispatch_id == answer["theirs"]]
        assert mine.payload is not None
        assert mine.payload["body"] == {"a": 1}
        assert await delivery.failed(mine, "no route")
        history = [line.reason_code for line in await RunStore(db).transitions("dispatch", answer["theirs"], limit=9)]
        assert history == ["dispatch.pending.enqueued", "dispatch.delivering.attempt", "dispatch.dead_letter.max_attempts"]
        assert await outbox.purge(plain.dispatch_id, actor="op")
        events = await AdminEventStore(db, SystemClock()).list_events(
            action="dispatch_purge", target_id=plain.dispatch_id, before=None, limit=5
        )
        assert [event.details["status"] for event in events] == ["delivered"]


async def test_the_command_of_the_peer_retries_purges_and_shows_our_messages(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        delivery = OutboxDeliveryStore(db, SystemClock())
        dead = await delivery.enqueue(NewDispatch("k", "x", max_attempts=1))
        (claim,) = await delivery.claim_due(limit=9)
        assert await delivery.failed(claim, "no route")
        listed = run_li(home, "dispatch", "ls", "--status", "dead_letter")
        assert dead.dispatch_id in listed.stdout
        retried = run_li(home, "dispatch", "retry", dead.dispatch_id)
        assert (retried.returncode, retried.stdout.strip()) == (0, f"retrying {dead.dispatch_id}")
        (again,) = await delivery.claim_due(limit=9)
        assert (again.dispatch_id, again.attempt) == (dead.dispatch_id, 1)
