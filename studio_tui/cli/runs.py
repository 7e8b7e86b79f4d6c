"""``studio-tui runs``: list, show, messages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.cli.layout import Column, print_facts, print_table
from studio_tui.cli.session import json_option, perform, print_document, print_page
from studio_tui.cli.transcript import print_messages
from studio_tui.cli.words import ago, count, moment, money, span

if TYPE_CHECKING:
    from studio_tui.application.models.common import Page
    from studio_tui.application.models.runs import MessagePage, RunDetail, RunSummary
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (
    Column("STATE"),
    Column("RUN"),
    Column("NAME", gives=2),
    Column("KIND"),
    Column("PROJECT", gives=3),
    Column("AGE", right=True),
    Column("TOOK", right=True),
    Column("COST", right=True),
    Column("WHY", gives=1),
)
_SHORT_ID: Final = 12


@click.group()
def runs() -> None:
    """List and read runs."""


@runs.command("list")
@click.argument("words", nargs=-1, metavar="[FILTER]...")
@click.option("--status", multiple=True, metavar="STATUS", help="A stored status, such as running or failed; may be repeated.")
@click.option("--kind", metavar="KIND", help="agent, play, flow, fanout, show-play or engine.")
@click.option("--project", metavar="NAME", help="One project, by its exact name.")
@click.option("--no-project", is_flag=True, help="Only runs without a project.")
@click.option("--tag", multiple=True, metavar="TAG", help="A tag that the run must have; may be repeated.")
@click.option("--playbook", metavar="TEXT", help="Part of the playbook's name.")
@click.option("--text", metavar="TEXT", help="Part of name, label, agent, playbook or id.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Where the page before ended (next_cursor).")
@json_option
@click.pass_obj
def list_runs(flags: dict[str, object], /, words: tuple[str, ...], as_json: bool, **conditions: Any) -> None:
    """List runs, newest activity first. FILTER is the language of the console: status:failed project:web some words."""
    page = perform(flags, lambda studio: _page(studio, words, **conditions))
    if as_json:
        print_page(page)
        return
    now = time.time()
    print_table(_COLUMNS, (_row(run, now) for run in page.items), empty="no runs")
    if page.has_next:
        print(f"more follow: --cursor {page.next_cursor}")


async def _page(
    studio: Studio,
    words: tuple[str, ...],
    *,
    status: tuple[str, ...],
    kind: str | None,
    no_project: bool,
    tag: tuple[str, ...],
    **conditions: Any,
) -> Page[RunSummary]:
    from studio_tui.application.run_filter import parse_run_filter

    query = parse_run_filter(" ".join(words))
    options = parse_run_filter(f"status:{','.join(status)} kind:{kind or ''}")
    chosen = {
        "status": options.status,
        "kind": options.kind,
        "tags": tag,
        "project_is_null": no_project,
        **conditions,
    }
    return await studio.runs.list_runs(query.model_copy(update={name: value for name, value in chosen.items() if value}))


def _row(run: RunSummary, now: float) -> tuple[str, ...]:
    return (
        run.state.value,
        run.run_id[:_SHORT_ID],
        run.name,
        run.invocation_kind,
        run.project or "-",
        ago(run.updated_at, now),
        span(run.duration),
        money(run.total_cost_usd),
        run.reason,
    )


@runs.command("show")
@click.argument("run_id", metavar="RUN")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, run_id: str, as_json: bool) -> None:
    """Show one run, named by its id or the beginning of it."""
    run = perform(flags, lambda studio: _run(studio, run_id))
    if as_json:
        print_document(run)
        return
    print_facts(_facts(run))
    if run.branches:
        print("\nbranches")
        rows = ((branch.name, branch.model or "-", branch.status or "-", branch.branch_id) for branch in run.branches)
        print_table((Column("NAME", gives=1), Column("MODEL", gives=2), Column("STATUS"), Column("BRANCH")), rows, empty="")
    if run.history:
        print("\nhistory")
        rows = ((moment(c.at), c.previous_status or "-", c.status, c.reason_summary or c.reason_code) for c in run.history)
        print_table((Column("AT"), Column("FROM"), Column("TO"), Column("WHY", gives=1)), rows, empty="")


async def _run(studio: Studio, prefix: str) -> RunDetail:
    return await studio.runs.get_run(await studio.runs.resolve_run_id(prefix))


def _facts(run: RunDetail) -> list[tuple[str, str | None]]:
    origin = run.provenance
    tokens = f"{count(run.input_tokens)} in, {count(run.output_tokens)} out" if run.input_tokens is not None else None
    return [
        ("run", run.run_id),
        ("name", run.name),
        ("state", " ".join(filter(None, (run.state.value, run.status, run.effective_health)))),
        ("why", run.reason),
        ("kind", run.invocation_kind),
        ("agent", run.agent_name),
        ("playbook", run.playbook_name),
        ("project", run.project),
        ("model", run.model),
        ("phase", run.current_phase),
        ("started", moment(run.started_at)),
        ("ended", moment(run.ended_at) + (" (about)" if run.ended_at and run.ended_at_is_approximate else "")),
        ("took", span(run.duration)),
        ("cost", money(run.total_cost_usd)),
        ("tokens", tokens),
        ("turns", count(run.num_turns)),
        ("schedule", origin.schedule_name),
        ("firing", origin.firing_id),
        ("invocation", origin.invocation_id),
        ("resumed", origin.resumed_from),
        ("artifacts", run.artifact_status),
        ("missing", ", ".join(run.missing_required)),
        ("process", f"{run.pid} on {run.pid_host or 'an unknown host'}" if run.pid else None),
        ("problems", "; ".join(run.problems)),
    ]


@runs.command("messages")
@click.argument("run_id", metavar="RUN")
@click.option("--branch", "branch_id", metavar="ID", help="One branch of the run.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--before", type=click.IntRange(0), metavar="POSITION", help="Messages that end here (start of another window).")
@click.option("--after", type=click.IntRange(0), metavar="POSITION", help="Messages that begin here (end of another window).")
@json_option
@click.pass_obj
def messages(flags: dict[str, object], /, run_id: str, as_json: bool, **window: Any) -> None:
    """Print a run's transcript in its own order: the newest messages, or a window of it."""
    page = perform(flags, lambda studio: _messages(studio, run_id, window))
    if as_json:
        print_document(page)
        return
    if page.has_older:
        print(f"older messages: --before {page.start}\n")
    print_messages(page.items)


async def _messages(studio: Studio, prefix: str, window: dict[str, Any]) -> MessagePage:
    from studio_tui.application.models.runs import MessageQuery

    return await studio.runs.list_messages(MessageQuery(run_id=await studio.runs.resolve_run_id(prefix), **window))
