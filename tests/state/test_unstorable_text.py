"""NUL and half characters: the same to be seen on both databases, and no run is left without its end (B056)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from studio_tui.application.ports import Occurrence, Outcome, RunFilter
from studio_tui.state.db import StateDB
from studio_tui.state.storable import storable
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.schedules import ScheduleReadStore
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.builders import NOW, a_message, a_run, a_schedule, an_invocation, run_sql
from tests.fakes.base import HeldClock
from tests.state.raw import raw_row
from tests.state.run_pages import EVERYTHING, listed

ODD = "a\0b \ud800 c"
SEEN = "a\u2400b \ufffd c"


def test_only_what_no_database_takes_is_replaced() -> None:
    assert storable(ODD) == SEEN
    for text in ("", "plain", "ünï \U0001f600 日本", "\x01\x1b\x7f\uffff\ufdd0"):
        assert storable(text) is text


async def test_a_firing_with_such_output_gets_its_end(db: StateDB) -> None:
    scheduling = SchedulingStore(db, HeldClock(NOW))
    schedule_id = await a_schedule(db, name=f"nightly {ODD}", next_fire_at=NOW)
    (schedule,) = await scheduling.list_due(NOW, limit=5)
    assert schedule.name == f"nightly {SEEN}"
    occurrence = Occurrence(
        run_id="run1",
        invocation_id="inv1",
        schedule=schedule,
        argv=("printf", ODD),
        prompt=f"say {ODD}",
        trigger_context={"note": ODD, ODD: [ODD]},
        fired_at=NOW,
        claimed=NOW,
        next_fire_at=NOW + 60,
    )
    assert await scheduling.claim(occurrence, now=NOW)
    ended = Outcome(
        run_id="run1",
        invocation_id="inv1",
        status="failed",
        invocation_status="failed",
        reason_code="run.failed.exit_nonzero",
        invocation_reason_code="run.failed.exit_nonzero",
        reason=f"said {ODD}",
        ended_at=NOW + 1,
        exit_code=1,
        error_detail=f"out: {ODD}",
    )
    assert await scheduling.finish(ended, now=NOW + 1)
    (firing,) = await ScheduleReadStore(db).firings(schedule_id, before=None, limit=5)
    assert (firing.status, firing.error_detail, firing.reason_summary) == ("failed", f"out: {SEEN}", f"said {SEEN}")
    assert (firing.argv, firing.trigger_context) == (("printf", SEEN), {"note": SEEN, SEEN: [SEEN]})
    assert (await raw_row(db, "invocations"))["prompt"] == f"say {SEEN}"


async def test_who_looks_for_such_text_finds_what_was_stored(db: StateDB) -> None:
    await a_run(db, id="odd", name=ODD)
    await a_run(db, id="plain")
    runs = RunStore(db)
    for text in ("a\0b", "\ud800 c", SEEN):
        assert await listed(runs, RunFilter(text=text)) == ["odd"]
    for missing in ("x\0", "\udfff!"):
        assert await listed(runs, RunFilter(text=missing)) == []
        assert await runs.find_run_ids(missing, limit=5) == ()
        assert await ScheduleReadStore(db).find_schedules(missing, limit=5) == ()
        assert await ScheduleReadStore(db).get_schedule(missing) is None


@pytest.mark.parametrize("spelling", ["\\u0000", "\\ud83d", "\\uDFFF", "\\ud83d\\ude00", "\\\\u0000"])
@pytest.mark.parametrize("status", ["running", "completed"])
async def test_json_of_others_that_spells_such_text_harms_no_list(db: StateDB, spelling: str, status: str) -> None:
    """PostgreSQL stores it, and raises when it is looked into."""
    child = f'{{"pid": 7, "engine_parent_run_id": "p{spelling}"}}'
    listed_one = f'{{"pid": 7, "note": "engine_parent_run_id {spelling}", "pid_host": "h{spelling}"}}'
    for run_id, stored in (("child", child), ("listed", listed_one), ("plain", '{"pid": 7}')):
        await a_run(db, id=run_id, status=status, updated_at=NOW + len(run_id))
        await run_sql(db, "UPDATE sessions SET node_metadata = :stored WHERE id = :id", stored=stored, id=run_id)
    runs = RunStore(db)
    page = (await runs.list_runs(EVERYTHING, after=None, backwards=False, limit=10)).runs
    assert [run.run_id for run in page] == ["listed", "plain"]
    assert [run.defects for run in page] == [(), ()]
    for run in await runs.get_runs(["child", "listed"]):
        assert run.metadata["pid"] == 7


async def test_documents_of_others_keep_what_they_spell(db: StateDB) -> None:
    """What is read is decoded here, and cleaned where it is shown."""
    stored: dict[str, Any] = {"assistant_response": "a\0b\ud800"}
    message_id = await a_message(db)
    await run_sql(db, "UPDATE messages SET content = :stored WHERE id = :id", stored=json.dumps(stored), id=message_id)
    row = await raw_row(db, "messages")
    assert json.loads(row["content"]) == stored
    assert await an_invocation(db, prompt=ODD)
