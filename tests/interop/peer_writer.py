"""The real lionagi as the other writer of a store: ``python peer_writer.py URL SECONDS``.

It makes what both writers share, says "ready", waits for a line, writes round after round for so many seconds, and prints as
JSON how often it did what, with every error that it met.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from typing import Any

from lionagi.state.db import StateDB

SHARED, DUEL = "shared", "duel"
"""The run that both report on, and the task that both move to and fro."""
ANSWER = "lionagi.protocols.messages.assistant_response.AssistantResponse"
MESSAGES = 3


async def prepare(db: StateDB) -> None:
    """The shared rows."""
    await a_session(db, SHARED)
    await db.create_schedule(a_schedule("peer", "peer"))
    await db.create_schedule_run(a_task(DUEL, status="queued"))


async def a_session(db: StateDB, name: str) -> None:
    for progression in (f"{name}-prog", f"{name}-branch-prog"):
        await db.create_progression(progression, [])
    node = {"pid": 1, "pid_host": "elsewhere", "process_identity_mode": "external"}
    await db.create_session(
        {"id": name, "progression_id": f"{name}-prog", "status": "running", "started_at": time.time(), "node_metadata": node}
    )
    await db.create_branch({"id": f"{name}-branch", "session_id": name, "progression_id": f"{name}-branch-prog"})


def a_schedule(schedule_id: str, name: str) -> dict[str, Any]:
    trigger = {"trigger_type": "interval", "interval_sec": 60}
    return {"id": schedule_id, "name": name, "action_kind": "command", "action_command": "true", **trigger}


def a_task(task_id: str, **values: Any) -> dict[str, Any]:
    now = time.time()
    base = {"id": task_id, "schedule_id": "peer", "trigger_context": {}, "action_kind": "command", "action_args": ["true"]}
    return {**base, "fired_at": now, **values}


async def say(db: StateDB, session: str, prefix: str) -> None:
    """Messages of a run, in one transaction with its activity."""
    rows = [
        {
            "id": f"{prefix}-{number}",
            "created_at": time.time(),
            "role": "assistant",
            "content": {"assistant_response": f"answer {number}"},
            "node_metadata": {"lion_class": ANSWER},
        }
        for number in range(MESSAGES)
    ]
    lists = (f"{session}-prog", f"{session}-branch-prog")
    await db.insert_messages(rows, progression_ids=lists, session_id=session, activity_at=time.time())


async def one_round(db: StateDB, number: int, done: Counter[str]) -> None:
    """One run from its start to its end, a schedule with a firing, and a share in what is shared."""
    run, schedule, firing = f"peer-run-{number}", f"peer-schedule-{number}", f"peer-firing-{number}"
    await a_session(db, run)
    await say(db, run, f"{run}-message")
    await db.update_status("session", run, new_status="completed", reason_code="run.completed.ok", actor=run)
    await db.create_schedule(a_schedule(schedule, schedule))
    await db.update_schedule(schedule, enabled=0)
    await db.create_schedule_run(a_task(firing, dispatched_at=time.time()))
    await db.update_schedule_run(firing, status="completed", exit_code=0, reason_code="run.completed.ok")
    done["rounds"] += 1

    await say(db, SHARED, f"shared-message-{number}")
    done["said"] += 1
    report = {"new_status": "running", "reason_code": "run.started.ok", "reason_summary": f"peer {number}"}
    done["reports"] += await db.update_status("session", SHARED, **report)
    await db.insert_session_signal(session_id=SHARED, kind="NodeStarted", ts=time.time(), payload={"n": number})
    done["signals"] += 1
    await db.save_definition(kind="agent", name=SHARED, path="agents/shared.md", content=f"peer {number}")
    done["versions"] += 1
    for here, there in (("queued", "waiting_dependency"), ("waiting_dependency", "queued")):
        moved = await db.update_status(
            "schedule_run", DUEL, new_status=there, reason_code="schedule.queued.created", expected_statuses={here}
        )
        done[f"{here} {there}"] += moved


async def main(url: str, seconds: float) -> None:
    done: Counter[str] = Counter()
    errors: list[str] = []
    async with StateDB(url=url) as db:
        await prepare(db)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        end = time.monotonic() + seconds
        while time.monotonic() < end and not errors:
            try:
                await one_round(db, done["rounds"], done)
            except Exception as error:  # every kind counts
                errors.append(repr(error))
    print(json.dumps({"done": done, "errors": errors}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
