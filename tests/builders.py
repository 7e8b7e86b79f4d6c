"""Rows of a real store in one line: ``run_id = await a_run(db, status="failed", project="web")``.

Every builder inserts through Core into the store that it is given, fills in what a real row would hold, and returns the row's
id. Columns are given by their names in the store; JSON columns as Python values.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Table, insert, text

from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.schema import (
    branches,
    definitions,
    invocations,
    messages,
    plays,
    progressions,
    run_tags,
    schedule_runs,
    schedules,
    sessions,
    shows,
    status_transitions,
    workflow_defs,
)

NOW = 1_796_000_000.0
"""The instant at which made rows were written unless said otherwise, in epoch seconds (2026-11-30T00:53:20Z)."""

SYSTEM, INSTRUCTION, ASSISTANT, REQUEST, RESPONSE = 1, 2, 3, 4, 5
"""``message_types`` of every native store."""

_ROLES = {SYSTEM: "system", INSTRUCTION: "user", ASSISTANT: "assistant", REQUEST: "action", RESPONSE: "action"}
_names = itertools.count(1)


async def put(db: StateDB, table: Table, rows: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    """Insert rows as they are, in one transaction."""
    many = [dict(rows)] if isinstance(rows, Mapping) else [dict(row) for row in rows]
    if not many:
        return

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(insert(table), many)

    await db.write(work)


async def run_sql(db: StateDB, sql: str, **values: object) -> None:
    """What no builder would write: ``await run_sql(db, "UPDATE sessions SET node_metadata = :v", v="{broken")``."""

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(text(sql), values)

    await db.write(work)


async def a_run(db: StateDB, *, tags: Iterable[str] = (), message_ids: Sequence[str] = (), **columns: Any) -> str:
    """A run with its progression; ``message_ids`` stand in it. Terminal statuses get an end."""
    run_id = str(columns.pop("id", uuid.uuid4()))
    progression_id = columns.pop("progression_id", None) or await a_progression(db, message_ids)
    row = {
        "id": run_id,
        "created_at": NOW - 60,
        "updated_at": NOW,
        "started_at": NOW - 60,
        "name": "agent",
        "agent_name": "reviewer",
        "invocation_kind": "agent",
        "source_kind": "live",
        "status": "completed",
        "model": "claude_code/haiku",
        "provider": "claude_code",
        "progression_id": progression_id,
        **columns,
    }
    if row["status"] not in (None, "running"):
        row.setdefault("ended_at", row["updated_at"])
    await put(db, sessions, row)
    await put(db, run_tags, [{"session_id": run_id, "tag": tag, "created_at": NOW} for tag in tags])
    return run_id


async def runs_at(db: StateDB, times: Mapping[str, float], **columns: Any) -> None:
    """Many runs at once: their ids with their ``updated_at``; all share one empty progression."""
    progression_id = await a_progression(db, ())
    base = {"created_at": NOW - 60, "status": "completed", "progression_id": progression_id, **columns}
    await put(db, sessions, [{**base, "id": run_id, "updated_at": time} for run_id, time in times.items()])


async def a_progression(db: StateDB, message_ids: Sequence[str] = (), *, progression_id: str | None = None) -> str:
    """An id list, written without blanks as lionagi 0.36 does."""
    made = progression_id or str(uuid.uuid4())
    collection = json.dumps(list(message_ids), separators=(",", ":"))
    await put(db, progressions, {"id": made, "created_at": NOW, "collection": collection})
    return made


async def a_branch(db: StateDB, run_id: str, *, message_ids: Sequence[str] = (), **columns: Any) -> str:
    """A branch of a run with a progression of its own."""
    branch_id = str(columns.pop("id", uuid.uuid4()))
    progression_id = columns.pop("progression_id", None) or await a_progression(db, message_ids)
    row = {"id": branch_id, "session_id": run_id, "progression_id": progression_id, "created_at": NOW, "name": "main", **columns}
    await put(db, branches, row)
    return branch_id


async def a_message(db: StateDB, kind: int = ASSISTANT, **columns: Any) -> str:
    """One message; it stands in no list until one is made with its id."""
    message_id = str(columns.pop("id", uuid.uuid4()))
    await put(db, messages, _message(message_id, kind, columns))
    return message_id


async def messages_of(db: StateDB, count: int, kind: int = ASSISTANT, **columns: Any) -> list[str]:
    """Many messages at once, whose ids stand in the order of their making."""
    ids = [str(uuid.uuid4()) for _ in range(count)]
    texts = [{"assistant_response": f"answer {number}"} for number in range(count)]
    rows = [_message(name, kind, {"content": content, **columns}) for name, content in zip(ids, texts, strict=True)]
    await put(db, messages, rows)
    return ids


def _message(message_id: str, kind: int, columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": message_id,
        "created_at": NOW,
        "role": _ROLES.get(kind, "unset"),
        "lion_class": kind,
        "content": {"assistant_response": "Done."},
        "sender": "reviewer",
        "recipient": "user",
        **columns,
    }


async def a_transition(db: StateDB, entity_type: str, entity_id: str, status: str, **columns: Any) -> str:
    """One line of an entity's status history."""
    row = {
        "id": uuid.uuid4().hex,
        "entity_type": entity_type,
        "entity_id": entity_id,
        "status": status,
        "reason_code": "run.started.ok" if status == "running" else "run.completed.ok",
        "source": "executor",
        "created_at": NOW,
        **columns,
    }
    await put(db, status_transitions, row)
    return str(row["id"])


async def an_invocation(db: StateDB, **columns: Any) -> str:
    """An invocation, as a firing or a launch makes one."""
    row = {
        "id": uuid.uuid4().hex[:12],
        "skill": "scheduled:nightly",
        "plugin": "cron",
        "started_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
        "status": "running",
        **columns,
    }
    await put(db, invocations, row)
    return str(row["id"])


async def a_schedule(db: StateDB, **columns: Any) -> str:
    """An enabled interval schedule with a command, unless the columns say otherwise."""
    row = {
        "id": uuid.uuid4().hex[:12],
        "name": f"schedule-{next(_names)}",
        "enabled": 1,
        "trigger_type": "interval",
        "interval_sec": 60,
        "action_kind": "command",
        "action_command": "true",
        "action_command_args": [],
        "action_extra_args": [],
        "created_at": NOW,
        "updated_at": NOW,
        **columns,
    }
    await put(db, schedules, row)
    return str(row["id"])


async def a_firing(db: StateDB, schedule_id: str | None, **columns: Any) -> str:
    """A firing that was launched and has ended well, unless the columns say otherwise."""
    await put(db, schedule_runs, row := _firing(schedule_id, columns))
    return str(row["id"])


async def firings_of(db: StateDB, schedule_id: str, times: Sequence[float], **columns: Any) -> list[str]:
    """Many firings at once, one at each of ``times``."""
    rows = [_firing(schedule_id, {"fired_at": time, **columns}) for time in times]
    await put(db, schedule_runs, rows)
    return [row["id"] for row in rows]


def _firing(schedule_id: str | None, columns: Mapping[str, Any]) -> dict[str, Any]:
    fired_at = columns.get("fired_at", NOW)
    return {
        "id": uuid.uuid4().hex[:12],
        "schedule_id": schedule_id,
        "trigger_context": {"scheduled": True, "fired_at": fired_at},
        "action_kind": "command",
        "action_args": ["true"],
        "status": "completed",
        "exit_code": 0,
        "fired_at": fired_at,
        "dispatched_at": fired_at,
        "ended_at": NOW + 1,
        "created_at": NOW,
        "updated_at": NOW + 1,
        **columns,
    }


async def a_show(db: StateDB, *, play_names: Iterable[str] = (), **columns: Any) -> str:
    """A show; ``play_names`` become pending plays in this order."""
    number = next(_names)
    row = {
        "id": str(uuid.uuid4()),
        "topic": f"show-{number}",
        "show_dir": f"/shows/show-{number}",
        "status": "active",
        "created_at": NOW,
        "updated_at": NOW,
        **columns,
    }
    await put(db, shows, row)
    for order, name in enumerate(play_names):
        await a_play(db, str(row["id"]), name=name, sort_order=order)
    return str(row["id"])


async def a_play(db: StateDB, show_id: str, **columns: Any) -> str:
    """One play of a show."""
    row = {"id": str(uuid.uuid4()), "show_id": show_id, "name": "build", "created_at": NOW, "updated_at": NOW, **columns}
    await put(db, plays, row)
    return str(row["id"])


async def a_version(db: StateDB, kind: str, name: str, version: int, **columns: Any) -> str:
    """One version of a file definition."""
    row = {
        "id": str(uuid.uuid4()),
        "kind": kind,
        "name": name,
        "path": f"{kind}s/{name}.md",
        "content": f"version {version} of {name}",
        "version": version,
        "created_at": NOW,
        **columns,
    }
    await put(db, definitions, row)
    return str(row["id"])


async def a_workflow(db: StateDB, name: str, **columns: Any) -> str:
    """One workflow definition."""
    spec = {"version": 1, "nodes": [], "edges": [], "inputs": [], "outputs": []}
    row = {
        "id": uuid.uuid4().hex[:12],
        "name": name,
        "spec_json": spec,
        "created_at": NOW,
        "updated_at": NOW,
        **columns,
    }
    await put(db, workflow_defs, row)
    return str(row["id"])
