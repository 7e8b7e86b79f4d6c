"""From rows of ``schedule_runs`` to what a screen shows of a firing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from studio_tui.application.models.common import StateWord
from studio_tui.application.models.schedules import Firing
from studio_tui.application.moments import Times, elapsed
from studio_tui.application.output_text import joined, readable
from studio_tui.application.ports import OutputTail
from studio_tui.application.wellformed import mended
from studio_tui.domain.health import firing_state
from studio_tui.domain.outcomes import HasOutcome
from studio_tui.domain.reasons import reason_words
from studio_tui.domain.schedules import FiringRecord

_TRIGGERS: Final = (
    ("chain_from", "chain"),
    ("manual", "by hand"),
    ("missed_recovery", "made up for a missed fire"),
    ("skipped_missed_fire", "missed"),
    ("github_events", "GitHub event"),
    ("scheduled", "due"),
    ("skipped_overlap", "due"),
    ("deferred_capacity", "due"),
    ("budget_exhausted", "due"),
)
"""Keys of a trigger context and what they say about why a firing came to be (lionagi 0.36); the first one counts."""


def trigger_words(context: Mapping[str, object]) -> str:
    """Why a firing came to be, in words; empty when its context does not say."""
    return next((words for key, words in _TRIGGERS if context.get(key)), "")


def firing_view(firing: FiringRecord, *, now: float, tail: OutputTail | None) -> Firing:
    """One firing. Without kept output its stored error text stands in (the peer keeps output nowhere else)."""
    times = Times()
    fired_at = times.read("fired_at", firing.fired_at)
    ended_at = times.read("ended_at", firing.ended_at)
    began = times.read("dispatched_at", firing.dispatched_at) or fired_at
    output, size = _output(firing, tail)
    return Firing(
        firing_id=firing.run_id,
        schedule_id=firing.schedule_id,
        state=firing_state(firing.status, firing.reason_code),
        status=firing.status,
        fired_at=fired_at,
        ended_at=ended_at,
        duration=elapsed(began, now if firing.status == "running" else ended_at),
        exit_code=firing.exit_code,
        trigger=trigger_words(firing.trigger_context),
        reason_code=firing.reason_code,
        reason=reason_words(firing.reason_code, firing.reason_summary, firing.status),
        chain_depth=firing.chain_depth,
        invocation_id=firing.invocation_id,
        run_ids=firing.session_ids,
        command_line=tuple(map(mended, firing.argv)),
        output_tail=output,
        output_bytes=size,
    )


def outcome_words(newest_first: Sequence[HasOutcome], *, count: int) -> tuple[StateWord, ...]:
    """The states of the newest ``count`` firings, oldest first."""
    return tuple(firing_state(firing.status, firing.reason_code) for firing in reversed(newest_first[:count]))


def _output(firing: FiringRecord, tail: OutputTail | None) -> tuple[str | None, int | None]:
    if tail is not None:
        return joined(tail), tail.stdout_bytes + tail.stderr_bytes
    if firing.error_detail:
        return readable(firing.error_detail), None
    return None, None
