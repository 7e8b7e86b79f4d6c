"""``studio-tui doctor``: what the program depends on, each check with its fix."""

from __future__ import annotations

from typing import Final

import click

from studio_tui.cli.layout import Column, print_table
from studio_tui.cli.session import json_option, perform, print_items

_COLUMNS: Final = (Column("IS"), Column("CHECK"), Column("FINDING", gives=1, wraps=True))


@click.command("doctor")
@json_option
@click.pass_context
def doctor(context: click.Context, /, as_json: bool) -> None:
    """Check what the program depends on; ends with 1 when a check fails. Changes nothing."""
    checks = perform(context.obj, lambda studio: studio.doctor.checks(), about_host=True)
    if as_json:
        print_items(checks)
    else:
        rows = ((c.outcome, c.name, c.detail if c.fix is None or c.outcome == "ok" else f"{c.detail}; {c.fix}") for c in checks)
        print_table(_COLUMNS, rows, empty="nothing to check")
    context.exit(int(any(check.outcome == "fail" for check in checks)))
