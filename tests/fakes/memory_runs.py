"""Runs and transcripts in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from studio_tui.application.ports import RunFilter, RunSlice
from studio_tui.domain.runs import BranchRecord, MessageRecord, MessageWindow, RunRecord, TransitionRecord
from studio_tui.domain.schedules import FiringRecord
from tests.fakes.base import Port


def _run_key(run: RunRecord) -> tuple[float, str]:
    return (run.updated_at if run.updated_at is not None else 0.0, run.run_id)


@dataclass
class MemoryRuns(Port):
    """Runs, their branches, history and invocations; the header's counts as well."""

    runs: list[RunRecord] = field(default_factory=list)
    branch_rows: list[BranchRecord] = field(default_factory=list)
    history: list[TransitionRecord] = field(default_factory=list)
    skills: dict[str, str] = field(default_factory=dict)
    firing_rows: dict[str, tuple[FiringRecord, str | None]] = field(default_factory=dict)
    tags: dict[str, set[str]] = field(default_factory=dict)

    def _matching(self, where: RunFilter) -> list[RunRecord]:
        return sorted((run for run in self.runs if self._fits(run, where)), key=_run_key, reverse=True)

    def _fits(self, run: RunRecord, where: RunFilter) -> bool:
        texts = (run.name, run.user_label, run.agent_name, run.playbook_name, run.run_id)
        return (
            (not where.status or run.status in where.status)
            and (not where.kinds or run.kind in where.kinds)
            and (where.project is None or run.project == where.project)
            and (not where.project_is_null or run.project is None)
            and set(where.tags) <= self.tags.get(run.run_id, set())
            and (where.playbook is None or where.playbook.lower() in (run.playbook_name or "").lower())
            and (where.text is None or any(where.text.lower() in text.lower() for text in texts if text))
        )

    async def list_runs(self, where: RunFilter, *, after: tuple[float, str] | None, backwards: bool, limit: int) -> RunSlice:
        self._ask("list_runs")
        found = self._matching(where)
        if backwards:
            before = [run for run in found if after is None or _run_key(run) > after]
            return RunSlice(tuple(before[-limit:]), len(before) > limit)
        behind = [run for run in found if after is None or _run_key(run) < after]
        return RunSlice(tuple(behind[:limit]), len(behind) > limit)

    async def get_runs(self, run_ids: Sequence[str]) -> tuple[RunRecord, ...]:
        self._ask("get_runs")
        return tuple(run for run in self.runs if run.run_id in run_ids)

    async def find_run_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        self._ask("find_run_ids")
        return tuple(sorted(run.run_id for run in self.runs if run.run_id.startswith(prefix)))[:limit]

    async def count_newer(self, where: RunFilter, than: tuple[float, str], *, limit: int) -> int:
        self._ask("count_newer")
        return min(limit, sum(_run_key(run) > than for run in self._matching(where)))

    async def approximate_count(self) -> int:
        self._ask("approximate_count")
        return len(self.runs)

    async def branches(self, run_id: str) -> tuple[BranchRecord, ...]:
        self._ask("branches")
        return tuple(branch for branch in self.branch_rows if branch.run_id == run_id)

    async def transitions(self, entity_type: str, entity_id: str, *, limit: int) -> tuple[TransitionRecord, ...]:
        self._ask("transitions")
        rows = [row for row in self.history if (row.entity_type, row.entity_id) == (entity_type, entity_id)]
        return tuple(rows[-limit:])

    async def runs_of_invocation(self, invocation_id: str, *, limit: int) -> tuple[RunRecord, ...]:
        self._ask("runs_of_invocation")
        return tuple(run for run in self.runs if run.invocation_id == invocation_id)[:limit]

    async def firing_of_invocation(self, invocation_id: str) -> tuple[FiringRecord, str | None] | None:
        self._ask("firing_of_invocation")
        return self.firing_rows.get(invocation_id)

    async def invocation_skill(self, invocation_id: str) -> str | None:
        self._ask("invocation_skill")
        return self.skills.get(invocation_id)

    async def count_running(self) -> int:
        self._ask("count_running")
        return sum(run.status == "running" for run in self.runs)

    async def running_runs(self, *, limit: int) -> tuple[RunRecord, ...]:
        self._ask("running_runs")
        return tuple(run for run in self.runs if run.status == "running")[:limit]

    async def count_failed_since(self, since: float) -> int:
        self._ask("count_failed_since")
        return sum(
            run.status == "failed" and (run.ended_at or 0.0) >= since and run.reason_summary != "phantom_reaped"
            for run in self.runs
        )


@dataclass
class MemoryMessages(Port):
    """Transcripts. A position here is simply a place in the list."""

    progressions: dict[str, list[MessageRecord]] = field(default_factory=dict)
    loose: list[MessageRecord] = field(default_factory=list)

    def _window(self, progression_id: str, start: int, end: int) -> MessageWindow:
        return MessageWindow(tuple(self.progressions[progression_id][start:end]), start, end, older=start > 0)

    async def tail(self, progression_id: str, *, limit: int) -> MessageWindow:
        self._ask("tail")
        end = len(self.progressions.setdefault(progression_id, []))
        return self._window(progression_id, max(0, end - limit), end)

    async def before(self, progression_id: str, position: int, *, limit: int) -> MessageWindow:
        self._ask("before")
        return self._window(progression_id, max(0, position - limit), position)

    async def after(self, progression_id: str, position: int, *, limit: int) -> MessageWindow:
        self._ask("after")
        end = min(len(self.progressions[progression_id]), position + limit)
        return self._window(progression_id, position, end)

    async def by_ids(self, message_ids: Sequence[str]) -> MessageWindow:
        self._ask("by_ids")
        every = {row.message_id: row for rows in (*self.progressions.values(), self.loose) for row in rows}
        return MessageWindow(tuple(every[name] for name in message_ids if name in every), 0, 0, older=False)
