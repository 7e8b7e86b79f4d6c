"""Ends what nobody will end any more: rows that stayed open when their process died (the six reapers of lionagi 0.36).

Only rows change, never a process. What cannot be judged from this machine is left alone: a process of another host, one that was
recorded in a way that says nothing, and one of an earlier boot that has spoken since this machine was started (a clock was set
then, and the record means nothing). A run without any recorded process has no more than its silence to go by, and is given the
time that its kind may be silent.

Where lionagi is wrong this is not: a command starts no run, launched by a schedule or not; a ``li`` child may wait ten minutes
before its first run; a process that is known to live, or that a living console waits for, is not past any limit of ours.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from studio_tui.application.ports import Clock, LaunchNotePort, ProcessPort, ShowFilesPort
from studio_tui.application.ports.lifecycle import StatusChange, StatusPort
from studio_tui.application.ports.reaping import OpenInvocation, OpenPlay, OpenShow, ReapingPort
from studio_tui.domain.durations import format_duration
from studio_tui.domain.health import last_signal, stale_after
from studio_tui.domain.identity import LOCAL_MODES, ProcessIdentity, recorded_identity
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord
from studio_tui.scheduler.recovery import each

log = logging.getLogger(__name__)

ACTOR: Final = "studio_lifecycle_reaper"
MIRRORED: Final = "claude-code"
"""The agent name of a transcript that the peer mirrors: it has no process, and its silence is its end."""

_BOOT_TOLERANCE: Final = 5.0
_WITHOUT_RUNS: Final = frozenset({"command"})
_RUNNING: Final = frozenset({"running"})
_PLAYS: Final = frozenset({"running", "running_complete", "prepared", "redoing"})
_SHOWS: Final = frozenset({"active", "imported"})

Life = Literal["lives", "gone", "unseen", "silent"]
"""A process: known to live, known to be gone, not to be judged from here, or none was recorded."""


@dataclass(frozen=True, slots=True)
class ReapAfter:
    """Seconds of silence after which each kind of row is looked at, and seconds between two looks."""

    run: float = 3600.0
    play: float = 6 * 3600.0
    show: float = 6 * 3600.0
    firing: float = 24 * 3600.0
    no_runs: float = 300.0
    every: float = 300.0


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What the reapers work on."""

    rows: ReapingPort
    statuses: StatusPort
    shows: ShowFilesPort


class Reapers:
    """One pass ends what it may. ``looks_after`` tells whether a firing is followed here; ``deadline`` gives a kind's seconds."""

    def __init__(
        self,
        upkeep: Upkeep,
        *,
        processes: ProcessPort,
        notes: LaunchNotePort,
        clock: Clock,
        identity: ProcessIdentity,
        after: ReapAfter,
        deadline: Callable[[str], float],
        looks_after: Callable[[str], bool],
    ) -> None:
        self._rows, self._statuses, self._shows = upkeep.rows, upkeep.statuses, upkeep.shows
        self._processes, self._notes, self._clock, self._identity = processes, notes, clock, identity
        self.after, self._deadline, self._looks_after = after, deadline, looks_after

    async def sweep(self) -> None:
        """Look at everything once. One row that cannot be judged or written does not cost the others."""
        now, after, rows = self._clock.now(), self.after, self._rows
        await each(self._run, await rows.open_runs(now - after.run), lambda run: run.run_id)
        await each(self._invocation, await rows.open_invocations(now - after.no_runs), lambda one: one.invocation_id)
        await each(self._play, await rows.open_plays(now - after.play), lambda play: play.play_id)
        await each(self._show, await rows.open_shows(now - after.show), lambda show: show.topic)
        await each(self._firing, await rows.open_firings(now - after.firing), lambda firing: firing.run_id)

    # --- runs ---------------------------------------------------------------------------------------------------------

    async def _run(self, run: RunRecord) -> None:
        life = await self._life(run)
        if run.agent_name == MIRRORED and life == "silent" and run.status is not None:
            await self._end_run(run, "completed", "run.completed.ok", "mirror_idle_reaped", {"mirror_idle_reaped": True})
        elif life == "gone" and run.status is None:
            details: dict[str, object] = {"detector": "null_status_dead_process"}
            await self._end_run(run, "failed", "run.failed.exception", "process_exited_without_status", details)
        elif life == "gone":
            details = {"phantom_reaped": True, "phantom_reason": "process_dead"}
            await self._end_run(run, "failed", "session.phantom.process_dead", "phantom_reaped", details)
        elif life == "silent" and self._clock.now() - last_signal(run) > max(self.after.run, stale_after(run.kind)):
            details = {"phantom_reaped": True, "phantom_reason": "no_process_recorded"}
            await self._end_run(run, "failed", "session.stale.no_heartbeat", "phantom_reaped", details)

    async def _end_run(self, run: RunRecord, status: str, code: str, summary: str, metadata: Mapping[str, object]) -> None:
        extra: dict[str, object] = {"current_phase": None}
        if run.ended_at is None:
            extra["ended_at"] = self._clock.now()
        evidence = {"kind": "session", "id": run.run_id}
        if "phantom_reason" in metadata:
            evidence = {"kind": "phantom_classification", "reason": str(metadata["phantom_reason"]), "session_id": run.run_id}
        await self._end("session", run.run_id, status, code, summary, run.updated_at, {run.status}, evidence, extra, metadata)

    async def _life(self, run: RunRecord) -> Life:
        """What is known of a run's process."""
        mode = run.metadata.get("process_identity_mode")
        if mode is not None and mode not in LOCAL_MODES:
            return "unseen"
        host = run.metadata.get("pid_host")
        if isinstance(host, str) and host != self._identity.host:
            return "unseen"
        identity = recorded_identity(run.metadata)
        if identity is None:
            return "silent"
        lives = await asyncio.to_thread(self._processes.alive, identity)
        if lives is None:
            return "unseen"
        if not lives and self._spoke_since_start(identity, run):
            return "unseen"
        return "lives" if lives else "gone"

    def _spoke_since_start(self, identity: ProcessIdentity, run: RunRecord) -> bool:
        """Whether a process of an earlier boot has given a sign of life in this one, which cannot be."""
        recorded, started = identity.boot_time, self._identity.boot_time
        if recorded is None or started is None or abs(recorded - started) <= _BOOT_TOLERANCE:
            return False
        return last_signal(run) > started

    async def _may_live(self, runs: tuple[RunRecord, ...]) -> bool:
        """Whether the process of one of these runs lives, or cannot be judged from here."""
        open_ones = [run for run in runs if run.status in ("running", None)]
        return any([await self._life(run) in ("lives", "unseen") for run in open_ones])

    # --- invocations and firings --------------------------------------------------------------------------------------

    async def _invocation(self, one: OpenInvocation) -> None:
        now, kind = self._clock.now(), one.action_kind
        started = one.started_at or one.updated_at or now
        deadline = self._deadline(kind or "")
        late = now - started > deadline
        if not late and (one.runs or kind in _WITHOUT_RUNS):
            return
        if (one.firing_id is not None and await self._is_waited_for(one.firing_id)) or await self._may_live(one.runs):
            return
        details: dict[str, object] = {"zero_session_grace_seconds": self.after.no_runs, "updated_at": one.updated_at}
        if late:
            details = {"deadline_seconds": deadline, "action_kind": kind, "started_at": started}
        summary = "invocation_deadline_exceeded" if late else "zero_session_invocation_timeout"
        evidence = {"kind": "invocation", "id": one.invocation_id}
        extra = {} if one.ended_at is not None else {"ended_at": now}
        code = "run.timed_out.deadline"
        await self._end(
            "invocation", one.invocation_id, "timed_out", code, summary, one.updated_at, _RUNNING, evidence, extra, details
        )

    async def _firing(self, row: FiringRecord) -> None:
        """A firing of which nothing is known any more would keep its schedule from firing for ever."""
        if await self._is_waited_for(row.run_id):
            return
        silence = format_duration(round(self.after.firing))
        words = f"schedule_run_stale_running_reaped: nothing was heard of it for {silence}, and nobody waits for its process"
        details = {"stale_hours": self.after.firing / 3600, "fired_at": row.fired_at, "reference": row.updated_at}
        extra = {"ended_at": self._clock.now(), "error_detail": words}
        evidence = {"kind": "schedule_run", "id": row.run_id}
        code = "run.timed_out.deadline"
        await self._end("schedule_run", row.run_id, "timed_out", code, words, row.updated_at, _RUNNING, evidence, extra, details)

    async def _is_waited_for(self, firing_id: str) -> bool:
        """Whether a console that may live waits for this firing, or its process may live."""
        if self._looks_after(firing_id):
            return True
        note = await asyncio.to_thread(self._notes.recall, firing_id)
        if note is None:
            return False
        others = [identity for identity in (note.identity, note.supervisor) if identity not in (None, self._identity)]
        return any([await asyncio.to_thread(self._processes.alive, identity) is not False for identity in others if identity])

    # --- plays and shows ----------------------------------------------------------------------------------------------

    async def _play(self, play: OpenPlay) -> None:
        if play.run is not None and await self._may_live((play.run,)):
            return
        details = {"detector": "stale_play_reaper", "prior_status": play.status, "session_id": play.run_id}
        summary, evidence = "play_runner_dead_or_orphaned", {"kind": "play", "id": play.play_id}
        extra = {} if play.ended_at is not None else {"ended_at": self._clock.now()}
        code = "run.cancelled.stale_auto"
        await self._end("play", play.play_id, "blocked", code, summary, play.updated_at, _PLAYS, evidence, extra, details)

    async def _show(self, show: OpenShow) -> None:
        """A show has ended when its folder says so, and never for its age alone."""
        if await self._may_live(show.runs):
            return
        found = await self._shows.read_show(show.topic)
        if found is None or found.show_dir != show.show_dir or found.status not in ("completed", "aborted"):
            return
        summary = {
            "show.aborted.operator": "Show directory carries an operator abort marker.",
            "show.completed.final_gate": "Show has a passing final gate verdict.",
        }.get(found.reason_code or "", "All child plays reached merged status.")
        code = found.reason_code or "show.completed.all_plays_merged"
        details = {"detector": "stale_show_reaper", "prior_status": show.status, "updated_at": show.updated_at}
        evidence = {"kind": "show", "id": show.show_id}
        await self._end("show", show.show_id, found.status, code, summary, show.updated_at, _SHOWS, evidence, {}, details)

    async def _end(
        self,
        entity: str,
        entity_id: str,
        status: str,
        code: str,
        summary: str,
        updated_at: float | None,
        expected: Any,
        evidence: Mapping[str, str],
        extra: Mapping[str, object],
        metadata: Mapping[str, object],
    ) -> None:
        """Write the end of a row, if it is still the one that was judged."""
        change = StatusChange(
            entity=entity,
            entity_id=entity_id,
            status=status,
            reason_code=code,
            summary=summary,
            source="system",
            actor=ACTOR,
            evidence=(evidence,),
            expected=frozenset(expected),
            expected_updated_at=updated_at,
            extra=extra,
            metadata=metadata,
        )
        if await self._statuses.change(change):
            log.warning("%s %s was left open and is %s now: %s", entity, entity_id, status, summary)
