"""Messages of a run as plain paragraphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from studio_tui.application.text import clean, clean_block
from studio_tui.cli.words import moment, size

if TYPE_CHECKING:
    from studio_tui.application.models.runs import MessageView


def print_messages(messages: Iterable[MessageView]) -> None:
    """Print messages, each under a line that says who spoke and when."""
    shown = False
    for message in messages:
        if shown:
            print()
        shown = True
        print(_heading(message))
        body = clean_block(_body(message)).strip("\n")
        if body:
            print(body)
    if not shown:
        print("no messages")


def _heading(message: MessageView) -> str:
    kind = message.kind.replace("_", " ")
    about = f"{kind} {message.function}" if message.function else kind
    return clean("  ".join(filter(None, (f"-- {about}", moment(message.at)))))


def _body(message: MessageView) -> str:
    if message.pruned_bytes is not None:
        return f"(reclaimed by retention, {size(message.pruned_bytes)})"
    if message.withheld_bytes is not None:
        return f"(withheld, {size(message.withheld_bytes)})"
    parts = (message.text, message.arguments, message.output, f"error: {message.error}" if message.error else None)
    return "\n".join(part for part in parts if part)
