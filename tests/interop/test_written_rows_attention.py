"""Decisions about attention items, read and fenced by the peer as by us."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.application.errors import Conflict
from studio_tui.application.ports.attention import Decision
from studio_tui.clock import SystemClock
from studio_tui.state.stores.attention import AttentionStore
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store

pytestmark = pytest.mark.interop

LOOK = """
from fastapi import HTTPException
from lionagi.studio.services import attention
listed = await attention.list_dispositions()
history = await attention.disposition_history("run:undone")
async def late(revision):
    try:
        made = await attention.upsert_disposition("run:undone", state="resolved", source_status="failed", revision=revision)
    except HTTPException as error:
        return error.status_code
    return made["revision"]
fenced = [await late(None), await late(1), await late(2)]
undone = await attention.delete_disposition("run:undone", actor="peer")
return {"listed": listed, "history": history, "fenced": fenced, "undone": undone}
"""


async def test_the_peer_reads_and_fences_our_decisions_and_we_its(tmp_path: Path) -> None:
    home = tmp_path / "home"
    now = SystemClock().now()
    async with our_store(home) as db:
        attention = AttentionStore(db, SystemClock())
        kept = await attention.decide(Decision("run:kept", "expected", "failed", "op", "läuft lang", now + 600))
        await attention.decide(Decision("run:lapsed", "snoozed", "failed", "op", None, now - 1))
        await attention.decide(Decision("run:undone", "acknowledged", "failed", "op", "x"))
        await attention.reopen("run:undone", actor="op")
        answer = ask_peer(home, LOOK)
        assert set(answer["listed"]) == {"run:kept"}
        assert answer["listed"]["run:kept"] == {
            "item_id": "run:kept",
            "state": "expected",
            "note": "läuft lang",
            "created_at": kept.created_at,
            "updated_at": kept.updated_at,
            "expires_at": now + 600,
            "actor": "op",
            "source_status": "failed",
            "revision": 1,
        }
        assert [(line["prior_state"], line["new_state"]) for line in answer["history"]] == [
            (None, "acknowledged"),
            ("acknowledged", "open"),
        ]
        assert answer["fenced"] == [409, 409, 3]
        assert answer["undone"] == {"item_id": "run:undone", "deleted": True}
        assert [change.sequence for change in await attention.history(before=None, limit=9)] == [6, 5, 4, 3, 2, 1]
        assert await attention.revisions_of(["run:undone"]) == {"run:undone": 4}
        with pytest.raises(Conflict):
            await attention.decide(Decision("run:undone", "resolved", "failed", "op", revision=3))
        assert (await attention.decide(Decision("run:undone", "resolved", "failed", "op", revision=4))).revision == 5
