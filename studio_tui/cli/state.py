"""``studio-tui state``: what an older store lacks, bringing it up to date, and its upkeep."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column, print_facts, print_table
from studio_tui.cli.session import json_option, perform, print_document
from studio_tui.cli.upkeep import COMMANDS
from studio_tui.cli.words import count, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio_tui.application.models.state import MigrationPlan, MigrationProgress, MigrationReport, PlannedChange
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (Column("CHANGE"), Column("TABLE"), Column("OF", gives=2), Column("WHAT", gives=1), Column("ROWS", right=True))
_ERASE: Final = "\r\x1b[K"


@click.group()
def state() -> None:
    """Say what an older store lacks, bring it up to date, and look after it."""


for _command in COMMANDS:
    state.add_command(_command)


@state.command("plan")
@json_option
@click.pass_obj
def plan(flags: dict[str, object], /, as_json: bool) -> None:
    """Say what an upgrade would change. Nothing is touched."""
    found = perform({**flags, "read_only": True}, _plan)
    if as_json:
        print_document(found)
    else:
        _print_plan(found)


@state.command("migrate")
@json_option
@click.pass_obj
def migrate(flags: dict[str, object], /, as_json: bool) -> None:
    """Bring an older store up to date, with a backup beside it before a table is made anew.

    Interrupting it ends after the step under way; what is done stays, and the same command does the rest.
    """
    report = perform(flags, _migrate)
    if as_json:
        print_document(report)
    else:
        _print_report(report)


async def _plan(studio: Studio) -> MigrationPlan:
    return await studio.store.plan()


async def _migrate(studio: Studio) -> MigrationReport:
    if not sys.stderr.isatty():
        return await studio.store.migrate()
    try:
        return await studio.store.migrate(_show)
    finally:
        sys.stderr.write(_ERASE)


def _show(progress: MigrationProgress) -> None:
    """One line that is written over."""
    part = f"  {progress.part_done / progress.part_total:.0%}" if progress.part_total else ""
    sys.stderr.write(f"{_ERASE}{progress.done}/{progress.total}  {progress.step}{part}")
    sys.stderr.flush()


def _print_plan(found: MigrationPlan) -> None:
    number = len(found.changes)
    if not found.changes and not found.obstacles:
        print(clean(f"nothing to upgrade: {found.label}"))
        return
    backups = f"{len(found.backups)} beside the store, {size(found.backup_bytes)} in all" if found.backups else None
    print_facts([("store", found.label), ("version", found.version), ("backups", backups)])
    if found.changes:
        print()
        _print_changes(found.changes)
    print()
    for sentence in found.obstacles:
        print(clean(f"in the way: {sentence}"))
    if not found.obstacles:
        print(
            f"nothing was touched; `studio-tui state migrate` makes {'this change' if number == 1 else f'these {number} changes'}"
        )


def _print_report(report: MigrationReport) -> None:
    if not report.changes:
        print(clean(f"nothing to upgrade: {report.label}"))
        return
    _print_changes(report.changes)
    print()
    for path in report.backups:
        print(clean(f"backup: {path}"))
    print(clean(f"upgraded: {report.label}"))


def _print_changes(changes: Sequence[PlannedChange]) -> None:
    rows = (
        (change.kind, change.table, change.name if change.name != change.table else "", change.detail, count(change.rows))
        for change in changes
    )
    print_table(_COLUMNS, rows, empty="nothing")
