"""``studio-tui demo``: the console on a throw-away home."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from studio_tui.application.errors import Conflict
from studio_tui.application.text import clean

if TYPE_CHECKING:
    from studio_tui.console import Prepare


@click.command("demo")
@click.option("--home", type=click.Path(path_type=Path), metavar="DIR", help="An empty or new directory to use.")
@click.option("--keep", is_flag=True, help="Do not remove the home at the end.")
@click.option("--no-open", is_flag=True, help="Only make the home, keep it, and say where it is.")
@click.pass_context
def demo(context: click.Context, /, home: Path | None, keep: bool, no_open: bool) -> None:
    """Open the console on a throw-away home with sample data, in which one schedule fires every five seconds."""
    chosen = home or context.obj.get("home")
    with _directory(chosen, keep=keep or no_open) as directory:
        from studio_tui.demo.start import demo_flags, make, prepare

        flags = demo_flags(context.obj, directory)
        code = make(flags) if no_open else _open(flags, prepare)
    if keep or no_open:
        print(clean(f"the demo's home is {directory}"))
    context.exit(code)


def _open(flags: Mapping[str, object], prepare: Prepare) -> int:
    from studio_tui.console import run_console

    return run_console(flags, prepare=prepare)


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
