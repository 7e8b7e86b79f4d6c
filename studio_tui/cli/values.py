"""Values on the command line, checked as soon as they are read."""

from __future__ import annotations

import json
from datetime import datetime

import click

from studio_tui.application.durations import parse_duration


def seconds(context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """A length of time such as ``30s``, ``15m``, ``6h`` or ``2d``."""
    if text is None:
        return None
    try:
        return parse_duration(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def instant(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """An RFC 3339 instant with its offset, as ``li schedule create`` takes it; epoch seconds."""
    if text is None:
        return None
    try:
        when = datetime.fromisoformat(text)
        if when.tzinfo is None or "T" not in text:
            raise ValueError
        return when.timestamp()
    except (ValueError, OverflowError) as error:
        example = "2026-07-15T09:00:00-04:00"
        raise click.BadParameter(f"{text!r} is not an instant with its offset, such as {example}") from error


def arguments(context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """``KEY=VALUE`` pairs, each key once."""
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"{text!r} is not KEY=VALUE")
        if key in pairs:
            raise click.BadParameter(f"{key} is given twice")
        pairs[key] = value
    return pairs


def when(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """An instant as people write it: with its offset, or on this machine's clock; epoch seconds."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise click.BadParameter(
            f"{text!r} is not a date and a time, such as 2026-07-15 09:00 or 2026-07-15T09:00-04:00"
        ) from error


def json_object(context: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, object] | None:
    """An object in JSON, each key once."""
    if text is None:
        return None
    try:
        value = json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise click.BadParameter('is not an object, such as {"prompt": "…"}')
    return value


def rate(context: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, int] | None:
    """How many in how long, such as ``3/1h``: a count and seconds."""
    if text is None:
        return None
    count, slash, window = text.partition("/")
    try:
        if not slash or not count.strip().isdecimal() or int(count) < 1:
            raise ValueError(f"{text!r} is not a number, a slash and a length of time, such as 3/1h")
        return int(count), parse_duration(window)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")
