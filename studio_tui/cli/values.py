"""Values on the command line, checked as soon as they are read."""

from __future__ import annotations

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
