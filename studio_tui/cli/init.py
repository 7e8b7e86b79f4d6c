"""``studio-tui init``: a new store in a home that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from studio_tui.application.text import clean
from studio_tui.cli.session import json_option, perform, print_document

if TYPE_CHECKING:
    from studio_tui.application.models.host import StoreStatus
    from studio_tui.application.studio import Studio


@click.command("init")
@json_option
@click.pass_obj
def init(flags: dict[str, object], /, as_json: bool) -> None:
    """Make a complete, native store where there is none. The scheduler of a home made here may run here."""
    status = perform(flags, _create)
    if as_json:
        print_document(status)
    else:
        print(clean(f"made a store: {status.label}"))


async def _create(studio: Studio) -> StoreStatus:
    await studio.store.create()
    await studio.host.decide(host=True, remember=True)
    return studio.store.status()
