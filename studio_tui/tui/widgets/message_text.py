"""A message of a transcript as words: who speaks, in one line, or whole."""

from __future__ import annotations

import json
from typing import Final

from studio_tui.application.models.runs import MessageView
from studio_tui.tui import format as fmt
from studio_tui.tui.safe_text import line
from studio_tui.tui.statuses import Span

ROLE: Final[dict[str, Span]] = {
    "system": ("system", "faint"),
    "instruction": ("user", "run"),
    "assistant": ("assistant", "accent"),
    "tool_call": ("tool", "gate"),
    "tool_result": ("result", "gate"),
    "unknown": ("other", "warn"),
}
"""Who speaks, by kind of message."""
_SHORT: Final = 300
_PARSED: Final = 4_000


def absent(message: MessageView) -> str | None:
    """Why a message has no body, or ``None`` when it has one."""
    if message.pruned_bytes is not None:
        return f"body reclaimed by retention, {fmt.size(message.pruned_bytes)}"
    if message.withheld_bytes is not None:
        return f"body of {fmt.size(message.withheld_bytes)} withheld"
    return None


def arguments_words(message: MessageView) -> str:
    """The arguments of a call in one line: a single one by its value alone, several as ``name=value``."""
    raw = message.arguments or ""
    try:
        values = json.loads(raw) if len(raw) <= _PARSED else None
    except ValueError:
        values = None
    if not isinstance(values, dict):
        return line(raw, _SHORT)
    words = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    shown = next(iter(words.values())) if len(words) == 1 else "  ".join(f"{name}={value}" for name, value in words.items())
    return line(" ".join(shown.split()), _SHORT)


def one_line(message: MessageView) -> Span:
    """The message in one line."""
    if (why := absent(message)) is not None:
        return (why, "warn")
    match message.kind:
        case "tool_call":
            return (f"{message.function or 'tool'} {arguments_words(message)}", "ink")
        case "tool_result":
            if message.error:
                return (f"{message.function or 'tool'} error: {line(message.error, _SHORT)}", "fail")
            return (f"{message.function or 'tool'} ok  {fmt.size(message.size_bytes)}", "soft")
        case _:
            return (line(" ".join(message.text.split()) or "(empty)", _SHORT), "ink" if message.text else "faint")


def body(message: MessageView) -> str:
    """The whole message as text, for an opened entry."""
    if (why := absent(message)) is not None:
        return why
    match message.kind:
        case "tool_call":
            return message.arguments or "{}"
        case "tool_result":
            return message.error or message.output or "(no output)"
        case _:
            return message.text or "(empty)"
