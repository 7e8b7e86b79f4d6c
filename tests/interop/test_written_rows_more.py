"""What else we write: schedules that are moved, changed and deleted, and what is taken away again; each is read by the peer."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.application.ports.definition_writes import WorkflowDraft
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.clock import SystemClock
from studio_tui.state.db import StateDB
from studio_tui.state.stores.approvals import ApprovalStore
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from studio_tui.state.stores.projects import ProjectStore
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.scheduling import SchedulingStore
from studio_tui.state.stores.tags import TagStore
from studio_tui.state.stores.workflow_writes import WorkflowWriteStore
from tests.builders import a_run
from tests.fakes.clock import SteeredClock
from tests.interop.fired_store import NOW, OPERATOR, new_schedule
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store

pytestmark = pytest.mark.interop

KEPT, GONE = "a" * 12, "b" * 12

LOOK = """
from lionagi.dispatch import outbox
from lionagi.studio.services import approvals, projects, run_tags, workflow_defs
async with StateDB() as db:
    async def again():
        try:
            await db.create_schedule({"id": ARGUMENTS["gone"], "name": "again", "trigger_type": "interval", "interval_sec": 60,
                "action_kind": "command", "action_command": "true"})
        except Exception as error:
            return str(error)
    answer = {
        "kept": await db.get_schedule(ARGUMENTS["kept"]), "gone": await db.get_schedule(ARGUMENTS["gone"]),
        "history": (await db.get_schedule_history(ARGUMENTS["gone"]))["events"], "again": await again(),
        "messages": {row["id"]: row["status"] for row in await outbox.list_dispatches(db)},
        "events": await db.list_admin_events(action="dispatch_purge"),
    }
answer["approval"] = await approvals.get_approval(ARGUMENTS["approval"])
answer["chain"] = await approvals.verify_evidence_chain()
answer["tags"] = await run_tags.tags_for_sessions(["r1"])
answer["projects"] = await projects.list_projects()
answer["workflows"] = await workflow_defs.list_workflow_defs()
return answer
"""


async def _schedules(db: StateDB) -> None:
    """One that is armed and changed, and one that is deleted."""
    writes, scheduling = ScheduleWriteStore(db), SchedulingStore(db, SteeredClock(at=NOW))
    made = await writes.create_schedule(new_schedule(KEPT, "kept"), now=NOW, by=OPERATOR)
    assert await scheduling.arm(made, NOW + 90, zone="Europe/Berlin", zone_source="host")
    armed = await scheduling.get_schedule(KEPT)
    assert armed is not None
    assert armed.updated_at is not None
    values = {"interval_sec": 90, "description": "Geändert.", "action_command_args": ["ä"], "rate_limit": None}
    await writes.patch_schedule(KEPT, values, expected_updated_at=armed.updated_at, now=NOW + 1)
    await writes.create_schedule(new_schedule(GONE, "gone"), now=NOW, by=OPERATOR)
    await writes.delete_schedule(GONE, expected_updated_at=NOW, although_running=False, now=NOW + 2, by=OPERATOR)


async def _messages(db: StateDB) -> dict[str, str]:
    """What became of each message."""
    clock = SystemClock()
    delivery, outbox = OutboxDeliveryStore(db, clock), OutboxStore(db, clock)
    asks = await delivery.enqueue(NewDispatch("k", "x", ack_required=True))
    await outbox.acknowledge(asks.dispatch_id, asks.ack_token or "")
    late = await delivery.enqueue(NewDispatch("k", "x", expires_at=clock.now() - 1))
    assert await delivery.expire_due() == 1
    old = await delivery.enqueue(NewDispatch("k", "x"))
    assert await outbox.purge_older(status="pending", before=None, actor="op") == {"pending": 1}
    return {asks.dispatch_id: "acked", late.dispatch_id: "expired", f"no {old.dispatch_id}": "purged"}


async def test_the_peer_reads_what_we_moved_and_took_away(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        clock = SystemClock()
        await a_run(db, id="r1", project=None)
        await _schedules(db)
        messages = await _messages(db)
        tags, known, workflows = TagStore(db, clock), ProjectStore(db, clock), WorkflowWriteStore(db, clock)
        for tag in ("kept", "gone"):
            await tags.add_tag("r1", tag)
            await known.create_project(tag)
            made = await workflows.create_workflow(WorkflowDraft(tag))
        await tags.remove_tag("r1", "gone")
        await known.delete_project("gone")
        await workflows.delete_workflow(made.workflow_id, expected_updated_at=made.updated_at or 0.0)
        assert await known.assign_unassigned("kept") == 1
        past = await ApprovalStore(db, SteeredClock(at=clock.now() - 900)).propose("x", {})
        assert await ApprovalStore(db, clock).expire_lapsed() == 1
        found = ask_peer(home, LOOK, kept=KEPT, gone=GONE, approval=past.approval_id)
    kept = found["kept"]
    assert (kept["next_fire_at"], kept["interval_sec"], kept["description"]) == (NOW + 90, 90, "Geändert.")
    assert (kept["action_command_args"], kept["rate_limit"], kept["effective_timezone"]) == (["ä"], None, "Europe/Berlin")
    assert found["gone"] is None
    assert sorted(event["status"] for event in found["history"]) == ["deleted", "enabled"]
    assert "cannot be reused" in found["again"]
    assert found["messages"] == {key: status for key, status in messages.items() if status != "purged"}
    assert len(found["events"]) == 1
    assert (found["approval"]["status"], found["chain"]["valid"], found["chain"]["total_entries"]) == ("expired", True, 2)
    assert found["tags"] == {"r1": ["kept"]}
    assert {row["name"]: row["session_count"] for row in found["projects"]["projects"]} == {"kept": 1}
    assert [row["name"] for row in found["workflows"]] == ["kept"]
