"""Lists that come in pages: their two options, and how a page is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from studio_tui.cli.layout import Column, print_table
from studio_tui.cli.session import json_option, print_items, print_page

if TYPE_CHECKING:
    from pydantic import BaseModel

    from studio_tui.application.models.common import Page

F = TypeVar("F", bound=Callable[..., object])
Row = Callable[[Any], Sequence[str]]


def page_options(command: F) -> F:
    """``--limit``, ``--cursor`` and ``--json``."""
    limit = click.option("--limit", type=click.IntRange(1, 500), default=100, show_default=True)
    cursor = click.option("--cursor", metavar="CURSOR", help="Where the page before ended (next_cursor).")
    return limit(cursor(json_option(command)))


def show_page(page: Page[Any], columns: Sequence[Column], row: Row, *, empty: str, as_json: bool) -> None:
    """Print a page as one document, or as a table with a word on what follows."""
    if as_json:
        print_page(page)
        return
    print_table(columns, map(row, page.items), empty=empty)
    if page.next_cursor is not None:
        print(f"more follow: --cursor {page.next_cursor}")


def show_items(items: Sequence[BaseModel], columns: Sequence[Column], row: Row, *, empty: str, as_json: bool) -> None:
    """Print a whole list as one document, or as a table."""
    if as_json:
        print_items(items)
    else:
        print_table(columns, map(row, items), empty=empty)
