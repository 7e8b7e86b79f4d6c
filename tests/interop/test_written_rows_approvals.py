"""Approvals and evidence: either program goes on where the other stopped, and both find the chain whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.clock import SystemClock
from studio_tui.state.stores.approvals import ApprovalStore
from tests.builders import a_run
from tests.fakes.clock import SteeredClock
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store

pytestmark = pytest.mark.interop

PARAMS = {"session_id": "r1", "ünïcode": [1, 2.5, None], "nested": {"b": 1, "a": True}}

GO_ON = """
import os
from fastapi import HTTPException
from lionagi.studio.services import approvals
os.environ["LIONAGI_STUDIO_EVIDENCE_HMAC_KEY"] = ARGUMENTS["key"]
before = await approvals.verify_evidence_chain()
rows = {name: await approvals.get_approval(id) for name, id in ARGUMENTS["ids"].items()}
used = await approvals.require_approval(ARGUMENTS["ids"]["granted"], action_kind="session.delete", params=ARGUMENTS["params"])
theirs = await approvals.create_approval(action_kind="db.vacuum", params=ARGUMENTS["params"])
granted = await approvals.grant_approval(theirs["id"])
try:
    await approvals.grant_approval(ARGUMENTS["ids"]["denied"])
    refused = None
except HTTPException as error:
    refused = error.status_code
after = await approvals.verify_evidence_chain()
return {"before": before, "rows": rows, "used": used, "theirs": granted, "refused": refused, "after": after}
"""


async def test_either_goes_on_with_the_ledger_of_the_other(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        ledger = ApprovalStore(db, SystemClock(), key="sésame")
        granted, denied, pending = [await ledger.propose("session.delete", PARAMS) for _ in range(3)]
        await ledger.grant(granted.approval_id)
        await ledger.deny(denied.approval_id, reason_class="policy", reason="Nö.")
        past = ApprovalStore(db, SteeredClock(at=SystemClock().now() - 400), key="sésame")
        lapsed = await past.propose("old", {})
        ids = {
            "granted": granted.approval_id,
            "denied": denied.approval_id,
            "pending": pending.approval_id,
            "lapsed": lapsed.approval_id,
        }
        answer = ask_peer(home, GO_ON, ids=ids, params=PARAMS, key="sésame")
        assert (answer["before"]["valid"], answer["before"]["total_entries"], answer["before"]["errors"]) == (True, 6, [])
        assert (answer["after"]["valid"], answer["after"]["total_entries"]) == (True, 10)
        assert {name: row["status"] for name, row in answer["rows"].items()} == {
            "granted": "granted",
            "denied": "denied",
            "pending": "pending",
            "lapsed": "expired",
        }
        assert answer["rows"]["pending"]["params_hash"] == pending.params_hash
        assert answer["rows"]["pending"]["expires_at"] == pending.expires_at
        assert (answer["used"]["status"], answer["refused"]) == ("consumed", 409)
        report = await ledger.verify_chain()
        assert (report.valid, report.entries) == (True, 10)
        assert (await ledger.consume(answer["theirs"]["id"], action_kind="db.vacuum", params=PARAMS)).status == "consumed"
        last = ask_peer(home, "from lionagi.studio.services import approvals\nreturn await approvals.verify_evidence_chain()")
        assert (last["valid"], last["total_entries"]) == (True, 11)


async def test_a_chain_that_one_calls_broken_is_broken_for_the_other(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        ledger = ApprovalStore(db, SystemClock())
        for number in range(3):
            await ledger.propose("x", {"n": number})
        await db.execute("UPDATE approval_evidence SET action_kind = 'y' WHERE sequence = 2")
        assert (await ledger.verify_chain()).first_break == "line 2: its content was changed"
    found = ask_peer(home, "from lionagi.studio.services import approvals\nreturn await approvals.verify_evidence_chain()")
    assert not found["valid"]
    assert found["errors"][0] == "sequence 2: content hash mismatch"


async def test_invariant_33_the_retention_of_the_peer_works_with_our_approvals(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        long_ago = SystemClock().now() - 90 * 86_400
        await a_run(db, id="r1", status="completed", updated_at=long_ago, ended_at=long_ago)
        await ApprovalStore(db, SystemClock()).propose("session.delete", {"session_id": "r1"})
    prune = "from lionagi.studio.services.db_maintenance import prune_old_data\nreturn await prune_old_data(keep_days=30)"
    assert ask_peer(home, prune)["sessions_pruned"] == 1
    async with our_store(home) as db:
        assert (await ApprovalStore(db, SystemClock()).verify_chain()).valid
