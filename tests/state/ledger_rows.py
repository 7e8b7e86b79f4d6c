"""Rows of the smaller tables in one line each, and what their tests share. See ``tests.builders``."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from studio_tui.state.db import StateDB
from studio_tui.state.schema import (
    artifacts,
    engine_defs,
    engine_runs,
    projects,
    session_controls,
    team_messages,
    teams,
)
from tests.builders import NOW, put

T = TypeVar("T")
_numbers = itertools.count(1)


async def an_artifact(db: StateDB, **columns: Any) -> str:
    """An artifact of no run, unless the columns say otherwise."""
    row = {
        "id": uuid.uuid4().hex[:12],
        "kind": "report",
        "name": f"artifact-{next(_numbers)}",
        "content": {"text": "Done."},
        "created_at": NOW,
        "updated_at": NOW,
        **columns,
    }
    await put(db, artifacts, row)
    return str(row["id"])


async def a_project(db: StateDB, name: str, **columns: Any) -> str:
    """A project that was made in the studio."""
    base = {"source": "studio", "created_at": NOW, "updated_at": NOW, "last_seen_at": NOW}
    await put(db, projects, {"name": name, **base, **columns})
    return name


async def a_team(db: StateDB, **columns: Any) -> str:
    """A team of two."""
    row = {
        "id": uuid.uuid4().hex[:12],
        "name": f"team-{next(_numbers)}",
        "members": ["lead", "critic"],
        "member_count": 2,
        "created_at": NOW,
        "updated_at": NOW,
        **columns,
    }
    await put(db, teams, row)
    return str(row["id"])


async def a_team_message(db: StateDB, team_id: str, **columns: Any) -> str:
    """A message to all."""
    row = {
        "id": uuid.uuid4().hex[:12],
        "team_id": team_id,
        "sender": "lead",
        "recipient": "all",
        "content": "Begin.",
        "read_by": [],
        "created_at": NOW,
        **columns,
    }
    await put(db, team_messages, row)
    return str(row["id"])


async def an_engine_run(db: StateDB, **columns: Any) -> str:
    """An engine run that ended well."""
    row = {
        "id": uuid.uuid4().hex,
        "kind": "research",
        "spec_json": {"topic": "bees"},
        "status": "completed",
        "started_at": NOW,
        "ended_at": NOW + 60,
        **columns,
    }
    await put(db, engine_runs, row)
    return str(row["id"])


async def an_engine_definition(db: StateDB, **columns: Any) -> str:
    """A definition of a research engine."""
    row = {
        "id": uuid.uuid4().hex[:12],
        "name": f"engine-{next(_numbers)}",
        "kind": "research",
        "created_at": NOW,
        "updated_at": NOW,
        **columns,
    }
    await put(db, engine_defs, row)
    return str(row["id"])


async def a_control(db: StateDB, run_id: str, verb: str, **columns: Any) -> str:
    """A control that waits."""
    row = {"id": uuid.uuid4().hex, "session_id": run_id, "verb": verb, "created_at": NOW, **columns}
    await put(db, session_controls, row)
    return str(row["id"])


async def all_pages(ask: Callable[[Any], Awaitable[tuple[T, ...]]], key_of: Callable[[T], Any], *, limit: int) -> list[T]:
    """Every record, page by page, each page after the key of the last record of the one before."""
    found: list[T] = []
    key: Any = None
    for _ in range(200):
        page = await ask(key)
        assert len(page) <= limit
        found += page
        if len(page) < limit:
            return found
        key = key_of(page[-1])
    raise AssertionError("the pages do not end")


async def not_refused(error: type[Exception], calls: Iterable[Awaitable[object]]) -> list[int]:
    """The places of those calls that did not end in ``error``; a store costs more to make than many calls."""
    places = []
    for place, call in enumerate(calls):
        try:
            await call
        except error:
            continue
        places.append(place)
    return places
