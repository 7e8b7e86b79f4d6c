"""``studio-tui screenshots``: pictures of the running console."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import click


@click.command("screenshots")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.pass_context
def screenshots(context: click.Context, /, folder: Path) -> None:
    """Write pictures of every screen, on sample data, to FOLDER as SVG files."""
    from studio_tui.pictures import take_pictures

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="studio-tui-pictures-") as home:
        asyncio.run(take_pictures(folder, Path(home), context.obj, print))
