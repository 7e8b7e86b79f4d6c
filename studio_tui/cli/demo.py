"""``studio-tui demo``: the console on a throw-away home."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from studio_tui.application.errors import Conflict
from studio_tui.application.text import clean
from studio_tui.cli.console import open_console


@click.command("demo")
@click.option("--home", type=click.Path(path_type=Path), metavar="DIR", help="An empty or new directory to use.")
@click.option("--keep", is_flag=True, help="Do not remove the home at the end.")
@click.option("--no-open", is_flag=True, help="Only make the home, keep it, and say where it is.")
@click.pass_context
def demo(context: click.Context, /, home: Path | None, keep: bool, no_open: bool) -> None:
    """Open the console on a throw-away home with sample data, in which one schedule fires every five seconds."""
    chosen = home or context.obj.get("home")
    with _directory(chosen, keep=keep or no_open) as directory:
        flags = {**context.obj, "home": directory, "db": None}
        if no_open:
            from studio_tui.demo.start import make

            make(flags)
        else:
            code = open_console(flags, demo=True)
    if keep or no_open:
        print(clean(f"the demo's home is {directory}"))
    context.exit(0 if no_open else code)


@contextmanager
def _directory(chosen: Path | None, *, keep: bool) -> Iterator[Path]:
    """A directory for the demo, removed afterwards unless it is to be kept. Raises :class:`Conflict` when it holds something."""
    if chosen is None:
        directory = Path(tempfile.mkdtemp(prefix="studio-tui-demo-"))
    else:
        directory = chosen.expanduser().absolute()
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            message = clean(f"{directory} is not an empty directory")
            raise Conflict("directory", expected="empty", actual="not empty", message=message)
    try:
        yield directory
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)
