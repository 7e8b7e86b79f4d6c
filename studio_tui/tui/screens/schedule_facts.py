"""One schedule in a few lines: for the preview, for its next fires, and for the question before it is deleted."""

from __future__ import annotations

from collections.abc import Sequence

from studio_tui.application.models.schedules import Deletion, ScheduleDetail, ScheduleSummary
from studio_tui.application.zone_words import zone_origin
from studio_tui.tui import format as fmt
from studio_tui.tui.screens.schedule_columns import next_words
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.facts import fact, heading, wrapped


def deletion_words(deletion: Deletion) -> list[str]:
    """What goes with a schedule, and what does not."""
    many = f"{fmt.count(deletion.firings)} recorded {'firing vanishes' if deletion.firings == 1 else 'firings vanish'} with it"
    words = [many if deletion.firings else "no firing of it is on record", "runs and their transcripts stay"]
    if deletion.running:
        listed = ", ".join(deletion.running)
        words.insert(0, f"it runs now ({listed}): its process runs on by itself, and what it writes is no longer shown here")
    return [*words, "p turns it off instead and keeps everything"]


def schedule_facts(row: ScheduleSummary, detail: ScheduleDetail | None, width: int, now: float) -> list[Sequence[Span]]:
    """A schedule in a few lines: what stands in its way first."""
    owner = f" · {row.owner}" if row.owner else ""
    lines: list[Sequence[Span]] = [[*heading(row.name), (f"  {row.trigger_type} · {row.action_kind}{owner}", "faint")]]
    for problem in row.problems[:2]:
        lines += wrapped("broken", problem, width, "fail", limit=1, indent=3)
    if row.blocked:
        lines += wrapped("not here", row.blocked, width, "warn", limit=2, indent=3)
    due = row.next_fire_at if row.enabled else None
    next_at = f"   next {fmt.stamp(due)} ({next_words(due, now)})" if due is not None else ""
    lines.append(fact("when", (row.trigger, "ink"), next_at, indent=3))
    if row.zone:
        fallback = (row.zone_source or "").startswith("fallback:")
        origin = (f"   {zone_origin(row.zone_source)}", "faint")
        lines.append(fact("zone", (row.zone, "warn" if fallback else "soft"), origin, indent=3))
    if detail is not None:
        lines += wrapped("runs", " ".join(detail.command_line) or row.action, width, "ink", limit=2, indent=3)
        lines.append(fact("in", detail.working_directory or "no directory: it will be refused", indent=3))
        lines.append(fact("policy", *_policies(detail), indent=3))
        if detail.definition and (beyond := detail.definition.threshold_config):
            words = f"{beyond.metric} is {'at least' if beyond.op == 'gte' else 'above'} {beyond.value:g}"
            lines.append(fact("only if", (words, "ink"), f" over {beyond.window_minutes} min", indent=3))
    if row.description:
        lines += wrapped("about", row.description, width, limit=1, indent=3)
    return lines


def _policies(detail: ScheduleDetail) -> Sequence[Span]:
    parts = [f"overlap {detail.overlap_policy}", f"missed {detail.missed_fire_policy}"]
    if detail.max_runs is not None:
        parts.append(f"{detail.executed_runs} of {detail.max_runs} runs")
    if detail.budget_usd is not None:
        parts.append(f"budget {fmt.money(detail.budget_usd)} usd")
    return [("   ".join(parts), "soft")]


def next_fires(detail: ScheduleDetail, now: float) -> Sequence[Sequence[Span]]:
    """The coming fires in the schedule's own zone, with what daylight saving does to them."""
    lines: list[Sequence[Span]] = [heading("next", detail.zone or "")]
    for fire in detail.next_fires:
        lines.append(
            [("   ", "ink"), (fire.local, "ink"), (f"  {next_words(fire.at, now)}", "faint"), (f"  {fire.note or ''}", "warn")]
        )
    if detail.next_fires:
        return lines
    coming = "each new event, when GitHub is asked" if detail.trigger_type == "github_poll" else "nothing more will fire"
    return [heading("next", coming if detail.enabled else "off")]
