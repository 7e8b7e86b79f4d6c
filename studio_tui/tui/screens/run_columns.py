"""How a run is written in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studio_tui.application.models.runs import RunSummary
from studio_tui.tui import format as fmt
from studio_tui.tui.statuses import STATE_WIDTH, Span, reason_token, state_cell
from studio_tui.tui.widgets.columns import Column


def run_columns(now: Callable[[], float], ascii_only: Callable[[], bool]) -> Sequence[Column[RunSummary]]:
    """The columns of a list of runs, what is read first on the left and why it stands so on the right."""
    return (
        Column("state", lambda run: state_cell(run.state, ascii_only()), STATE_WIDTH),
        Column("name", lambda run: (run.name, "ink"), 22, max_width=34, lead=True),
        Column("kind", lambda run: (run.invocation_kind, "soft"), 6, max_width=9, priority=2),
        Column("project", lambda run: (run.project or fmt.NONE, "soft"), 8, max_width=14, priority=5),
        Column("agent", lambda run: (agent_words(run), "soft"), 13, max_width=24, priority=6),
        Column("started", lambda run: (fmt.when(run.started_at, now()), "soft"), 7, align="right", priority=1),
        Column("took", lambda run: (took(run, now()), "ink"), 7, align="right"),
        Column("usd", lambda run: (fmt.money(run.total_cost_usd), "ink"), 5, max_width=7, align="right", priority=4),
        Column("step or why", why, 12, fill=True, priority=3),
    )


def took(run: RunSummary, now: float) -> str:
    """How long it took, or how long it has been running (to the minute, so that a still screen stays still)."""
    if run.status == "running":
        if run.started_at is None:
            return fmt.NONE
        up = now - run.started_at
        return "+" + (fmt.one_unit(up) if up >= 60 else "<1m") if up >= 0 else "0s?"
    return fmt.duration(run.duration, approximate=run.ended_at_is_approximate)


def agent_words(run: RunSummary) -> str:
    """Agent and the short name of its model."""
    model = (run.model or "").rpartition("/")[2]
    return " ".join(part for part in (run.agent_name, model) if part) or fmt.NONE


def why(run: RunSummary) -> Span:
    """The step of a running run, the reason of an ended one, or what could not be read."""
    if run.problems:
        return (", ".join(run.problems), "warn")
    if run.reason:
        return (run.reason, reason_token(run.state))
    return (run.current_phase or "", "soft")
