"""Shows, plays and statuses that we write: the peer reads them as the rows that it writes itself for the same acts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict
from studio_tui.application.ports.lifecycle import Override, StatusChange
from studio_tui.application.ports.show_writes import NewPlay, NewShow
from studio_tui.clock import SystemClock
from studio_tui.state.db import StateDB
from studio_tui.state.stores.show_writes import ShowWriteStore
from studio_tui.state.stores.statuses import StatusStore
from tests.builders import NOW, a_run, an_invocation
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store
from tests.state.ledger_rows import a_team

pytestmark = pytest.mark.interop

VOLATILE = {"id", "created_at", "updated_at", "show_id", "topic", "show_dir", "entity_id", "target_id", "ended_at", "duration_ms"}
LINES = ("session", "invocation", "show", "play")

THE_SAME = """
async with StateDB() as db:
    await db.create_show({"id": "theirs", "topic": "theirs", "show_dir": "/shows/theirs", "goal": "Honey"})
    await db.create_play({"id": "their-play", "show_id": "theirs", "name": "build", "depends_on": ["plan"], "gate_passed": 1})
    async def change(kind, row, status, reason, **more):
        await db.update_status(kind, row, new_status=status, reason_code=reason, reason_summary="over", source="admin",
            actor="op", **more)
    await change("show", "theirs", "completed", "show.completed.all_plays_merged")
    await change("play", "their-play", "merged", "play.merged.ok")
    await change("invocation", "their-call", "cancelled", "run.cancelled.system")
    await change("invocation", "their-call", "cancelled", "run.cancelled.manual_kill")
    await change("session", "their-run", "completed", "run.completed.ok")
    try:
        await change("session", "their-run", "running", "session.reopened.by_resume")
    except Exception as error:
        assert type(error).__name__ == "TransitionRejectedError", error
    await change("session", "their-run", "running", "session.reopened.by_resume", override=True, override_actor="boss",
        override_justification="resumed")
    await change("session", "their-run", "failed", "run.failed.exception", extra_fields={"ended_at": 9.0,
        "ended_at_is_approximate": 1})
    ours, theirs = ARGUMENTS["ours"], ["theirs", "their-play", "their-call", "their-run"]
    found, history = [], "SELECT * FROM status_transitions WHERE entity_id = ? ORDER BY created_at, rowid"
    for show, play, call, run in (ours, theirs):
        found.append({
            "show": await db.get_show(show), "play": await db.get_play(play), "plays": len(await db.list_plays(show)),
            "invocation": await db.get_invocation(call), "session": await db.get_session(run),
            "lines": [await db.fetch_all(history, (row,)) for row in (show, play, call, run)],
            "events": await db.list_admin_events(target_id=run),
        })
    team = await db.fetch_one("SELECT status, status_reason_code FROM teams")
    return {"found": found, "team": team}
"""


def _steady(value: Any) -> Any:
    """Without what differs between any two rows."""
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in VOLATILE}
    return [_steady(item) for item in value] if isinstance(value, list) else value


async def _ours(db: StateDB) -> list[str]:
    """What the peer does in ``THE_SAME``, through our stores."""
    writes, statuses = ShowWriteStore(db, SystemClock()), StatusStore(db, SystemClock())
    show, _ = await writes.add_show(NewShow("ours", "/shows/ours", goal="Honey"))
    play, _ = await writes.add_play(NewPlay(show, "build", depends_on=("plan",), gate_passed=True))

    async def change(kind: str, row: str, status: str, reason: str, **more: Any) -> bool:
        return await statuses.change(StatusChange(kind, row, status, reason, "over", "admin", "op", **more))

    assert await change("show", show, "completed", "show.completed.all_plays_merged")
    assert await change("play", play, "merged", "play.merged.ok")
    assert await change("team", "t", "archived", "team.archived.operator")
    for reason in ("run.cancelled.system", "run.cancelled.manual_kill"):
        assert await change("invocation", "our-call", "cancelled", reason)
    assert await change("session", "our-run", "completed", "run.completed.ok")
    with pytest.raises(Conflict):
        await change("session", "our-run", "running", "session.reopened.by_resume")
    resumed = Override("boss", "resumed")
    assert await change("session", "our-run", "running", "session.reopened.by_resume", override=resumed)
    guessed = {"ended_at": 9.0, "ended_at_is_approximate": 1}
    assert await change("session", "our-run", "failed", "run.failed.exception", extra=guessed)
    return [show, play, "our-call", "our-run"]


async def test_the_peer_reads_them_as_its_own(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        for name in ("our", "their"):
            await an_invocation(db, id=f"{name}-call")
            await a_run(db, id=f"{name}-run", status="running", progression_id=None, started_at=NOW - 60)
        await a_team(db, id="t")
        answer = ask_peer(home, THE_SAME, ours=await _ours(db))
        ours, theirs = answer["found"]
        assert ours["plays"] == theirs["plays"] == 1
        for kind in ("show", "play", "invocation"):
            assert _steady(ours[kind]) == _steady(theirs[kind])
        run = {"progression_id"}
        assert {k: v for k, v in _steady(ours["session"]).items() if k not in run} == {
            k: v for k, v in _steady(theirs["session"]).items() if k not in run
        }
        assert _steady(ours["lines"]) == _steady(theirs["lines"])
        assert sorted(map(str, _steady(ours["events"]))) == sorted(map(str, _steady(theirs["events"])))
        assert [len(lines) for lines in ours["lines"]] == [2, 2, 2, 3]
        assert answer["team"] == {"status": "archived", "status_reason_code": "team.archived.operator"}
