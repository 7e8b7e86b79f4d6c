"""``studio-tui stats``: how runs ended and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.cli.layout import Column, print_table
from studio_tui.cli.lists import show_items
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.words import moment, money

if TYPE_CHECKING:
    from studio_tui.application.models.stats import Activity, ActivityBucket, Spend, SpendShare
    from studio_tui.application.studio import Studio

_BUCKETS: Final = (
    Column("FROM"),
    Column("COMPLETED", right=True),
    Column("FAILED", right=True),
    Column("CANCELLED", right=True),
    Column("RUNNING", right=True),
)
_SHARES: Final = (Column("OF", gives=1), Column("COST", right=True), Column("REPORTED", right=True), Column("SILENT", right=True))
_window = click.option("--window", type=click.Choice(("24h", "7d")), default="24h", show_default=True)


@click.group()
def stats() -> None:
    """Sum up how runs ended and what they cost."""


@stats.command("activity")
@_window
@json_option
@click.pass_obj
def activity(flags: dict[str, object], /, window: str, as_json: bool) -> None:
    """Say how runs ended, hour by hour or day by day."""
    found = perform(flags, lambda studio: _activity(studio, window))
    if as_json:
        print_document(found)
        return
    print_table(_BUCKETS, map(_bucket, found.buckets), empty="")
    rate = "" if found.completion_rate is None else f", {found.completion_rate:.0%} of those that ended completed"
    print(f"{found.total} runs{rate}")


def _bucket(bucket: ActivityBucket) -> tuple[str, ...]:
    counts = (bucket.completed, bucket.failed, bucket.cancelled, bucket.running)
    return (moment(bucket.start), *(str(count) if count else "-" for count in counts))


@stats.command("spend")
@_window
@json_option
@click.pass_obj
def spend(flags: dict[str, object], /, window: str, as_json: bool) -> None:
    """Say what runs cost, as far as they reported it."""
    found = perform(flags, lambda studio: _spend(studio, window))
    if as_json:
        print_document(found)
        return
    silent = f"; {found.unreported} said nothing" if found.unreported else ""
    print(f"{'at least ' if found.unreported and found.usd else ''}{money(found.usd)} of {found.reported} runs{silent}")


@stats.command("spend-by")
@click.argument("dimension", type=click.Choice(("project", "agent", "playbook", "model")))
@_window
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True)
@json_option
@click.pass_obj
def spend_by(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """Say what runs cost by project, agent, playbook or model, the dearest first."""
    found = perform(flags, lambda studio: _spend_by(studio, query))
    show_items(found, _SHARES, _share, empty="no runs", as_json=as_json)


def _share(share: SpendShare) -> tuple[str, ...]:
    sums = share.spend
    return (share.key or "-", money(sums.usd), str(sums.reported), str(sums.unreported))


async def _activity(studio: Studio, window: str) -> Activity:
    from studio_tui.application.models.stats import StatsQuery

    return await studio.stats.activity(made(StatsQuery, window=window))


async def _spend(studio: Studio, window: str) -> Spend:
    from studio_tui.application.models.stats import StatsQuery

    return await studio.stats.spend(made(StatsQuery, window=window))


async def _spend_by(studio: Studio, query: dict[str, Any]) -> tuple[SpendShare, ...]:
    from studio_tui.application.models.stats import SpendQuery

    return await studio.stats.spend_by(made(SpendQuery, **query))
