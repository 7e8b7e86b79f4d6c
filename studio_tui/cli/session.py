"""From a command to the operations and back: opens a studio for one command, prints documents."""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from studio_tui.cli.trouble import warn

if TYPE_CHECKING:
    from pydantic import BaseModel

    from studio_tui.application.models.common import Page
    from studio_tui.application.studio import Studio
    from studio_tui.settings import Flags

_LOOK_EVERY: Final = 0.5
"""Seconds between two looks at whether a command waits for the store."""
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., object])
M = TypeVar("M", bound="BaseModel")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def perform(flags: Flags, work: Callable[[Studio], Awaitable[T]], *, about_host: bool = False) -> T:
    """Open the studio of these flags for one command, without hosting and without watchers, and do ``work`` in it.

    ``about_host``: the command asks who hosts the scheduler.
    """
    import asyncio

    from studio_tui.bootstrap import one_shot
    from studio_tui.settings import load_settings

    settings = load_settings(flags)
    for sentence in settings.warnings:
        warn(sentence)

    async def inside() -> T:
        async with one_shot(settings, warn, about_host=about_host) as studio:
            watch = asyncio.create_task(_say_when_it_waits(studio))
            try:
                return await work(studio)
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)

    return asyncio.run(inside())


async def _say_when_it_waits(studio: Studio) -> None:
    """Say once why a command takes long: the store lets one program write at a time."""
    import asyncio

    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if studio.store.status().waiting:
            warn("another program is writing to the store; waiting for it")
            return


def as_operator(command: F) -> F:
    """Refuse a verb that starts work when an agent calls it: an agent may not start others (lionagi 0.36, ADR-0133 D7)."""

    @functools.wraps(command)
    def guarded(flags: Flags, *args: Any, **options: Any) -> object:
        from studio_tui.application.errors import PermissionDenied
        from studio_tui.settings import inside_agent

        if inside_agent():
            raise PermissionDenied("this was called inside an agent (LIONAGI_AGENT_DEPTH), which may not start other work")
        return command(flags, *args, **options)

    return guarded  # type: ignore[return-value]


def made(model: type[M], **values: Any) -> M:
    """A command or query from values of the command line. Raises :class:`ValidationFailure` where its shape forbids one."""
    from pydantic import ValidationError

    from studio_tui.application.errors import FieldFailure, ValidationFailure

    try:
        return model(**values)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        raise ValidationFailure(*(FieldFailure(fault["loc"], fault["type"], fault["msg"]) for fault in faults)) from None


def print_document(document: BaseModel) -> None:
    """Print one model as JSON."""
    print_json(document.model_dump(mode="json"))


def print_items(items: Iterable[BaseModel], *, has_next: bool = False, next_cursor: str | None = None) -> None:
    """Print a list as ``{"items": […], "has_next": …}``; with ``next_cursor`` where more follow."""
    more = {"next_cursor": next_cursor} if next_cursor is not None else {}
    print_json({"items": [item.model_dump(mode="json") for item in items], "has_next": has_next, **more})


def print_page(page: Page[Any]) -> None:
    """Print one page of a longer list."""
    print_items(page.items, has_next=page.has_next, next_cursor=page.next_cursor)


def print_json(value: Any) -> None:
    """Print any JSON value as one document."""
    # ASCII: every reader decodes the escapes, and no control character of the data can reach a terminal.
    print(json.dumps(_finite(value), indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    """JSON has no infinity and no NaN: they are unknown figures."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
