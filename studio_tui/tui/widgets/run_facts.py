"""Everything about a run but its messages, as lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from studio_tui.application.models.common import StatusChange
from studio_tui.application.models.runs import BranchSummary, RunDetail
from studio_tui.tui import format as fmt
from studio_tui.tui.safe_text import cut
from studio_tui.tui.statuses import Span, reason_token
from studio_tui.tui.widgets.facts import fact, heading, wrapped

Lines = Iterable[Sequence[Span]]
_SIBLINGS = 8


def run_facts(run: RunDetail, width: int) -> list[Sequence[Span]]:
    """Blocks in the order in which an operator asks: what went wrong, where from, who, how it went, what it cost."""
    blocks = (
        _outcome(run, width),
        _origin(run, width),
        _branches(run, width),
        _history(run, width),
        _usage(run),
        _record(run, width),
    )
    lines: list[Sequence[Span]] = []
    for block in blocks:
        shown = list(block)
        if shown:
            lines += [*shown, ()]
    return lines[:-1]


def _outcome(run: RunDetail, width: int) -> Lines:
    yield heading("outcome")
    reason = run.status_reason_summary or run.reason
    if reason:
        yield from wrapped("why", reason, width, reason_token(run.state), indent=3)
    elif run.status != "running":
        yield fact("why", ("no reason is on record", "faint"), indent=3)
    if run.status_reason_code:
        yield fact("reason", run.status_reason_code, indent=3)
    if run.effective_health and run.effective_health != "healthy":
        yield fact("health", (run.effective_health, "warn"), indent=3)
    if run.problems:
        yield from wrapped("problem", ", ".join(run.problems), width, "warn", indent=3)
    if run.missing_required:
        yield from wrapped("missing", f"{', '.join(run.missing_required)}, required", width, "fail", indent=3)
    elif run.artifact_status:
        yield fact("artifacts", run.artifact_status, indent=3)


def _origin(run: RunDetail, width: int) -> Lines:
    origin = run.provenance
    yield heading("from")
    if origin.schedule_name:
        yield fact("schedule", (origin.schedule_name, "accent"), f"   {origin.schedule_id or ''}", indent=3)
    if origin.firing_id:
        yield fact("firing", origin.firing_id, indent=3)
    if origin.invocation_id:
        yield fact("invocation", origin.invocation_id, f"   {origin.invocation_skill or ''}", indent=3)
    if origin.resumed_from:
        yield fact("resumes", origin.resumed_from, indent=3)
    if run.siblings:
        more = f" and {len(run.siblings) - _SIBLINGS} more" if len(run.siblings) > _SIBLINGS else ""
        yield from wrapped("siblings", ", ".join(one[:8] for one in run.siblings[:_SIBLINGS]) + more, width, indent=3)
    for label, value in (("project", run.project), ("playbook", run.playbook_name), ("agent", run.agent_name)):
        if value:
            yield fact(label, value, indent=3)


def _branches(run: RunDetail, width: int) -> Lines:
    if not run.branches:
        return
    yield heading("branches", f"{len(run.branches)}")
    for branch in run.branches:
        yield _branch(branch, width)


def _branch(branch: BranchSummary, width: int) -> Sequence[Span]:
    model = (branch.model or "").rpartition("/")[2]
    took = fmt.duration(branch.ended_at - branch.started_at) if branch.ended_at and branch.started_at else ""
    return [
        ("   ", "ink"),
        (cut(branch.name, max(10, width // 3)).ljust(max(10, width // 3) + 2), "ink"),
        (f"{branch.status or '':<11}", "soft"),
        (f"{model}  {took}", "faint"),
    ]


def _history(run: RunDetail, width: int) -> Lines:
    yield heading("status", "no change is on record" if not run.history else "")
    for change in run.history:
        yield from _change(change, width)


def _change(change: StatusChange, width: int) -> Lines:
    moved = change.status if change.previous_status in (None, change.status) else f"{change.previous_status} → {change.status}"
    who = " ".join(part for part in (change.source, change.actor if change.actor != change.source else None) if part)
    yield [(f"   {fmt.seconds(change.at)}  ", "faint"), (moved, "ink"), (f"  {change.reason_code}", "soft")]
    for about in (change.reason_summary, f"by {who}" if who else ""):
        if about:
            yield [(" " * 13, "faint"), (cut(about, max(20, width - 14)), "faint")]


def _usage(run: RunDetail) -> Lines:
    yield heading("usage")
    tokens = f"{fmt.count(run.input_tokens)} in   {fmt.count(run.output_tokens)} out"
    known = run.input_tokens is not None or run.output_tokens is not None
    yield fact("tokens", tokens if known else "not reported", indent=3)
    yield fact("cost", "not reported" if run.total_cost_usd is None else f"{fmt.money(run.total_cost_usd)} usd", indent=3)
    if run.num_turns is not None:
        yield fact("turns", str(run.num_turns), indent=3)


def _record(run: RunDetail, width: int) -> Lines:
    yield heading("record")
    yield from wrapped("id", run.run_id, width, indent=3)
    ended = fmt.stamp(run.ended_at) + (" (approximate)" if run.ended_at_is_approximate else "")
    yield fact("started", fmt.stamp(run.started_at), indent=3)
    yield fact("ended", ended, indent=3)
    yield fact("active", fmt.stamp(run.last_message_at or run.updated_at), indent=3)
    model = " ".join(part for part in (run.model, run.effort) if part)
    if model:
        yield fact("model", model, indent=3)
    if run.pid is not None:
        yield fact("process", f"{run.pid} on {run.pid_host or 'an unnamed host'}", indent=3)
    if run.artifacts_path:
        yield from wrapped("files", run.artifacts_path, width, indent=3)
