"""Notices as the peer would give them: the same words about the same end, the same commands refused, one ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from studio_tui.clock import SystemClock
from studio_tui.domain.notices import CONSUMER, CommandRefused, argv_of, envelope
from studio_tui.state.stores.notices import NoticeStore
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.builders import a_firing, a_schedule, an_invocation
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store
from tests.state.test_scheduling import outcome

pytestmark = pytest.mark.interop

ENDED = """
from lionagi.state.lifecycle.callbacks import DEFAULT_TERMINAL_CALLBACKS
told = []
async def handler(envelope):
    told.append(json.dumps(envelope.to_dict()))
DEFAULT_TERMINAL_CALLBACKS.register("test", handler, kinds=["invocation"], ids=[ARGUMENTS["id"]])
async with StateDB() as db:
    await db.update_status("invocation", ARGUMENTS["id"], new_status="failed", reason_code="run.failed.exit_nonzero",
        reason_summary="over", source="executor", actor="x", expected_statuses={"running"})
return told
"""

LEDGER = """
from lionagi.state.lifecycle import deliveries
async with StateDB() as db:
    async def left(consumer):
        return [row["transition_id"] for row in await deliveries.reconcile_unacknowledged(db, consumer)]
    return {"acknowledged": await deliveries.is_acknowledged(db, ARGUMENTS["event"], ARGUMENTS["consumer"]),
        "ours": await left(ARGUMENTS["consumer"]), "another": await left("another")}
"""

COMMANDS = """
from lionagi.state.lifecycle.notify_settings import resolve_notify_config
def argv(command):
    handler = resolve_notify_config(override=command).handler
    return None if handler is None else list(handler.argv)
return [argv(command) for command in ARGUMENTS["commands"]]
"""


async def test_the_same_end_is_told_in_the_same_words(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        made = await a_schedule(db, notify_on=["failed"], notify_command="tell")
        call = await an_invocation(db, status="running")
        firing = await a_firing(db, made, status="running", invocation_id=call, ended_at=None, exit_code=None)
        (theirs,) = ask_peer(home, ENDED, id=call)
        ended = outcome(firing, invocation_id=call, ended_at=SystemClock().now())
        assert await SchedulingStore(db, SystemClock()).finish(ended, now=SystemClock().now())
        notices = NoticeStore(db, SystemClock())
        (notice,) = await notices.claim_due(limit=5)
        assert json.dumps(envelope(notice)) == theirs
        await notices.given(notice)
        after = ask_peer(home, LEDGER, event=notice.transition_id, consumer=CONSUMER)
    assert after["acknowledged"]
    assert notice.transition_id not in after["ours"]
    assert notice.transition_id in after["another"]


def ours(command: str) -> Any:
    try:
        return list(argv_of(command))
    except CommandRefused:
        return None


def test_the_same_commands_are_refused_and_the_others_split_alike(tmp_path: Path) -> None:
    parts = ["", " ", "a", "'b c'", '"$D"', "$E", "$(f)", "${g}", "$1", *"|&;><`'\"\\#", "||", "&&"]
    commands = [f"{one} {other}" for one in parts for other in parts]
    commands += [*parts, "a\nb", "a'|'b", "a\"'|'\"", "\\| x", "ä '\u00a0'"]
    assert [ours(command) for command in commands] == ask_peer(tmp_path / "home", COMMANDS, commands=commands)
