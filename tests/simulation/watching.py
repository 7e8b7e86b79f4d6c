"""What each commit changed, read from the file by an observer of its own: plain sqlite3, none of the product's queries."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from studio_tui.domain.schedules import ScheduleRecord
from tests.simulation.store import Act

TERMINAL = frozenset({"completed", "failed", "timed_out", "skipped", "cancelled"})
EXECUTED = frozenset({"running", "completed", "failed", "timed_out", "cancelled"})

_FIRING = (
    *("id", "schedule_id", "invocation_id", "status", "trigger_context", "fired_at", "dispatched_at", "ended_at", "exit_code"),
    *("error_detail", "chain_parent_id", "chain_depth", "status_reason_code", "status_reason_summary", "created_at"),
)
_INVOCATION = ("id", "status", "ended_at", "status_reason_code")
_LINE = ("entity_type", "entity_id", "previous_status", "status", "reason_code", "reason_summary", "source", "actor")
_PLAIN = (
    *("name", "trigger_type", "action_kind", "cron_expr", "interval_sec", "last_fired_at", "next_fire_at", "created_at"),
    *("missed_fire_policy", "overlap_policy", "max_runs", "budget_usd", "budget_tokens", "resolved_timezone", "updated_at"),
    *("action_command", "action_prompt", "action_flow_yaml"),
)
_JSON = ("rate_limit", "on_success", "on_fail")


@dataclass(frozen=True)
class Firing:
    """A row of ``schedule_runs``."""

    id: str
    schedule_id: str
    invocation_id: str | None
    status: str
    trigger_context: str
    fired_at: float
    dispatched_at: float | None
    ended_at: float | None
    exit_code: int | None
    error_detail: str | None
    chain_parent_id: str | None
    chain_depth: int
    status_reason_code: str | None
    status_reason_summary: str | None
    created_at: float

    @property
    def context(self) -> Mapping[str, Any]:
        """Why it was made, as the row says."""
        return dict(json.loads(self.trigger_context))

    @property
    def manual(self) -> bool:
        return self.context.get("manual") is True and self.chain_depth == 0

    @property
    def buried(self) -> bool:
        """Whether it was ended because it had never been launched."""
        return self.status_reason_code == "run.failed.never_dispatched"


@dataclass(frozen=True)
class Invocation:
    """A row of ``invocations``."""

    id: str
    status: str
    ended_at: float | None
    status_reason_code: str | None


@dataclass(frozen=True)
class Line:
    """A row of ``status_transitions``."""

    entity_type: str
    entity_id: str
    previous_status: str | None
    status: str
    reason_code: str
    reason_summary: str
    source: str
    actor: str | None


@dataclass(frozen=True)
class Step:
    """One commit: by which act, when (wall clock and virtual seconds), and all that it changed."""

    act: Act
    now: float
    at: float
    schedules: tuple[tuple[ScheduleRecord | None, ScheduleRecord], ...]
    firings: tuple[tuple[Firing | None, Firing], ...]
    invocations: tuple[tuple[Invocation | None, Invocation], ...]
    lines: tuple[Line, ...]

    @property
    def moved(self) -> tuple[tuple[ScheduleRecord, ScheduleRecord], ...]:
        """Schedules whose next instant is another one now, before and after."""
        return tuple((old, new) for old, new in self.schedules if old is not None and old.next_fire_at != new.next_fire_at)

    @property
    def made(self) -> tuple[Firing, ...]:
        """Rows that were not there before."""
        return tuple(new for old, new in self.firings if old is None)

    @property
    def by_person(self) -> bool:
        return self.act.who == "person"


@dataclass
class Book:
    """Everything that the store holds, as of the last commit."""

    schedules: dict[str, ScheduleRecord] = field(default_factory=dict)
    firings: dict[str, Firing] = field(default_factory=dict)
    invocations: dict[str, Invocation] = field(default_factory=dict)
    running: dict[str, Firing] = field(default_factory=dict)
    by_schedule: dict[str, list[str]] = field(default_factory=dict)

    def of(self, schedule_id: str) -> Iterable[Firing]:
        """All rows of one schedule in the order of their making."""
        return (self.firings[run_id] for run_id in self.by_schedule.get(schedule_id, ()))


class Observer:
    """Compares what the store holds now with what it held after the commit before."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
        self.book = Book()
        self._versions: dict[str, tuple[Any, ...]] = {}
        self._last = {"schedule_runs": 0, "invocations": 0, "status_transitions": 0}
        self._open_invocations: set[str] = set()

    def look(self, act: Act, now: float, at: float) -> Step:
        """What changed since the last look."""
        return Step(act, now, at, self._schedules(), self._firings(), self._invocations(), self._lines())

    def close(self) -> None:
        self._connection.close()

    def everything(self) -> Iterable[str]:
        """The whole content that matters, row by row, for comparing two runs."""
        for table in ("schedules", "schedule_runs", "invocations", "sessions", "status_transitions"):
            for row in self._ask(f"SELECT * FROM {table} ORDER BY rowid"):
                yield f"{table} {row!r}"

    def all_firings(self) -> dict[str, Firing]:
        """Every firing as it is stored now, whether or not a change of it was seen."""
        return {row[0]: Firing(*row) for row in self._ask(f"SELECT {', '.join(_FIRING)} FROM schedule_runs")}

    def open_runs(self, quiet_since: float) -> list[str]:
        """Runs that say that they run, and have said nothing else since then."""
        rows = self._ask("SELECT id FROM sessions WHERE status = 'running' AND updated_at < ? ORDER BY id", quiet_since)
        return [row[0] for row in rows]

    def history(self) -> dict[tuple[str, str], list[tuple[str | None, str, str]]]:
        """All lines of history by entity, in their order."""
        found: dict[tuple[str, str], list[tuple[str | None, str, str]]] = {}
        for kind, entity, previous, status, code in self._ask(
            "SELECT entity_type, entity_id, previous_status, status, reason_code FROM status_transitions ORDER BY rowid"
        ):
            found.setdefault((kind, entity), []).append((previous, status, code))
        return found

    def _schedules(self) -> tuple[tuple[ScheduleRecord | None, ScheduleRecord], ...]:
        changed = []
        for row in self._ask("SELECT id, enabled, next_fire_at, updated_at FROM schedules ORDER BY id"):
            if self._versions.get(row[0]) != row:
                self._versions[row[0]] = row
                old, new = self.book.schedules.get(row[0]), self._schedule(row[0], bool(row[1]))
                self.book.schedules[row[0]] = new
                changed.append((old, new))
        return tuple(changed)

    def _schedule(self, schedule_id: str, enabled: bool) -> ScheduleRecord:
        (row,) = self._ask(f"SELECT {', '.join((*_PLAIN, *_JSON))} FROM schedules WHERE id = ?", schedule_id)
        plain = dict(zip(_PLAIN, row, strict=False))
        decoded = {name: json.loads(value) if value else None for name, value in zip(_JSON, row[len(_PLAIN) :], strict=True)}
        return ScheduleRecord(schedule_id=schedule_id, enabled=enabled, **plain, **decoded)

    def _firings(self) -> tuple[tuple[Firing | None, Firing], ...]:
        changed: list[tuple[Firing | None, Firing]] = []
        for row in self._new_and_known("schedule_runs", _FIRING, self.book.running):
            firing = Firing(*row)
            old = self.book.firings.get(firing.id)
            if old == firing:
                continue
            changed.append((old, firing))
            self.book.firings[firing.id] = firing
            if old is None:
                self.book.by_schedule.setdefault(firing.schedule_id, []).append(firing.id)
            if firing.status == "running":
                self.book.running[firing.id] = firing
            else:
                self.book.running.pop(firing.id, None)
        return tuple(changed)

    def _invocations(self) -> tuple[tuple[Invocation | None, Invocation], ...]:
        changed: list[tuple[Invocation | None, Invocation]] = []
        for row in self._new_and_known("invocations", _INVOCATION, self._open_invocations):
            invocation = Invocation(*row)
            old = self.book.invocations.get(invocation.id)
            if old != invocation:
                changed.append((old, invocation))
                self.book.invocations[invocation.id] = invocation
            if invocation.status == "running":
                self._open_invocations.add(invocation.id)
            else:
                self._open_invocations.discard(invocation.id)
        return tuple(changed)

    def _lines(self) -> tuple[Line, ...]:
        return tuple(Line(*row) for row in self._new_and_known("status_transitions", _LINE, ()))

    def _new_and_known(self, table: str, columns: tuple[str, ...], known: Iterable[str]) -> list[tuple[Any, ...]]:
        wanted = ", ".join(columns)
        rows = []
        if ids := sorted(known):
            marks = ", ".join("?" * len(ids))
            rows += self._ask(f"SELECT {wanted} FROM {table} WHERE id IN ({marks}) ORDER BY rowid", *ids)
        for rowid, *row in self._ask(f"SELECT rowid, {wanted} FROM {table} WHERE rowid > ? ORDER BY rowid", self._last[table]):
            self._last[table] = rowid
            rows.append(tuple(row))
        return rows

    def _ask(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()
