"""A commit in words, a line for each thing that it changed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from tests.simulation.watching import Firing, Step


def described(step: Step) -> Iterable[str]:
    """The lines of one commit."""
    for old, new in step.schedules:
        if old is None:
            trigger = new.cron_expr or new.interval_sec or "at"
            yield f"{new.name} ({trigger}, {new.resolved_timezone or 'own zone'}) made, next {_shown(new.next_fire_at)}"
        elif (old.enabled, old.next_fire_at) != (new.enabled, new.next_fire_at):
            switched = "" if old.enabled == new.enabled else " on" if new.enabled else " off"
            yield f"{new.name}{switched} next {_shown(old.next_fire_at)} -> {_shown(new.next_fire_at)}"
    for before, firing in step.firings:
        yield _firing(before, firing)
    for was, invocation in step.invocations:
        if was is not None:
            yield f"invocation {invocation.id} {was.status} -> {invocation.status}"


def _firing(before: Firing | None, firing: Firing) -> str:
    if before is None:
        depth = f" depth {firing.chain_depth} after {firing.chain_parent_id}" if firing.chain_depth else ""
        by_hand = " by hand" if firing.manual else ""
        reason = "" if firing.status == "running" else f" ({firing.status_reason_code})"
        return f"firing {firing.id} of {firing.schedule_id[-2:]} {firing.status}{by_hand}{depth}{reason}"
    if before.status == firing.status:
        return f"firing {firing.id} dispatched at {_shown(firing.dispatched_at)}"
    return f"firing {firing.id} {before.status} -> {firing.status}: {firing.status_reason_summary}"


def _shown(at: float | None) -> str:
    return "never" if at is None else datetime.fromtimestamp(at, UTC).strftime("%m-%d %H:%M:%S.%f")[:-4]
