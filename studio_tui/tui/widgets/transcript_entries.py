"""Messages as entries of a transcript: a tool call and its answer are one entry, and each entry is lines of spans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from studio_tui.application.models.runs import MessageView
from studio_tui.tui import format as fmt
from studio_tui.tui.safe_text import cells, cut
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.message_text import ROLE, absent, arguments_words, body
from studio_tui.tui.widgets.wrapping import wrap

Line = tuple[Span, ...]
TEXT_WIDTH: Final = 100
"""Cells beyond which prose is not made wider: longer lines are hard to read."""
_FOLDED: Final = {"system": 1, "instruction": 12, "assistant": 40, "tool_call": 1, "tool_result": 1, "unknown": 3}
"""Lines of an entry that is not opened, by kind."""
_OPENED: Final = 600
"""Lines of an entry that is opened; a body of megabytes must not hold the screen."""
_TIME, _ROLE = 10, 11


@dataclass
class Entry:
    """One message, or a call with its answer. Its lines are kept for the width at which they were made."""

    message: MessageView
    answer: MessageView | None = None
    _made: dict[tuple[int, bool], Sequence[Line]] = field(default_factory=dict)

    @property
    def entry_id(self) -> str:
        """The id of the message that it begins with."""
        return self.message.message_id

    @property
    def copied(self) -> str:
        """The logical text, for copying."""
        parts = [body(self.message)]
        if self.answer is not None:
            parts.append(body(self.answer))
        return "\n".join(parts)

    def lines(self, width: int, opened: bool) -> Sequence[Line]:
        """The lines of the entry, each of at most ``width`` cells."""
        key = (width, opened)
        found = self._made.get(key)
        if found is None:
            self._made = {k: v for k, v in self._made.items() if k[0] == width}
            found = self._made[key] = tuple(self._make(width, opened))
        return found

    # --- lines --------------------------------------------------------------------------------------------------------

    def _make(self, width: int, opened: bool) -> Iterable[Line]:
        timed = width >= 60
        word, token = ROLE[self.message.kind]
        lead: list[Span] = [(f"{fmt.seconds(self.message.at)}  " if timed else "", "faint"), (word.ljust(_ROLE), token)]
        indent = (_TIME if timed else 0) + _ROLE
        room = max(10, min(width - indent, TEXT_WIDTH))
        if self.message.kind in ("tool_call", "tool_result"):
            yield from self._tool(lead, indent, room, opened)
        else:
            yield from self._prose(lead, indent, room, opened)

    def _prose(self, lead: list[Span], indent: int, room: int, opened: bool) -> Iterable[Line]:
        message = self.message
        why = absent(message)
        if why is not None:
            yield (*lead, (why, "warn"))
            return
        token = {"system": "faint", "assistant": "ink"}.get(message.kind, "soft")
        limit = _OPENED if opened else _FOLDED[message.kind]
        shown, missing = wrap(message.text.strip("\n") or "(empty)", room, limit=limit)
        for number, text in enumerate(shown):
            yield (*(lead if number == 0 else [(" " * indent, "soft")]), (text, token))
        if missing:
            key = "" if opened else ", enter unfolds"
            yield ((" " * indent, "soft"), (f"… {fmt.count(missing)} more characters{key}", "faint"))

    def _tool(self, lead: list[Span], indent: int, room: int, opened: bool) -> Iterable[Line]:
        call = self.message
        name = call.function or "tool"
        outcome = self._outcome()
        width = room - sum(cells(text) for text, _ in outcome) - 2
        words = absent(call) or arguments_words(call)
        head = cut(name, width)
        rest = cut(f"  {words}", width - cells(head)) if words and call.kind == "tool_call" else ""
        pad = " " * max(2, width - cells(head) - cells(rest) + 2)
        yield (*lead, (head, "ink"), (rest, "soft"), (pad, "soft"), *outcome)
        if not opened:
            failed = self.answer.error if self.answer else call.error
            if failed:
                yield ((" " * indent, "soft"), ("└ ", "faint"), (cut(" ".join(failed.split()), room - 2), "fail"))
            return
        for title, message in self._opened_parts():
            shown, missing = wrap(body(message), room - 2, limit=_OPENED)
            yield ((" " * indent, "soft"), (title, "faint"))
            for text in shown:
                yield ((" " * (indent + 2), "soft"), (text, "soft"))
            if missing:
                yield ((" " * (indent + 2), "soft"), (f"… {fmt.count(missing)} more characters", "faint"))

    def _opened_parts(self) -> Iterable[tuple[str, MessageView]]:
        if self.message.kind == "tool_call":
            yield "arguments", self.message
        answer = self._answered
        if answer is not None:
            yield ("error" if answer.error else "output"), answer

    @property
    def _answered(self) -> MessageView | None:
        return self.message if self.message.kind == "tool_result" else self.answer

    def _outcome(self) -> list[Span]:
        answer = self._answered
        if answer is None:
            return [("no answer yet", "warn")]
        took = ""
        if self.answer is not None and self.answer.at is not None and self.message.at is not None:
            took = f"  {fmt.duration(max(0.0, self.answer.at - self.message.at))}"
        size = f"  {fmt.size(answer.size_bytes)}"
        return [("err", "bold fail") if answer.error else ("ok", "ok"), (took + size, "faint")]


def entries_of(messages: Iterable[MessageView], known: dict[str, Entry]) -> list[Entry]:
    """Entries in order. A result joins its call where that stands before it; ``known`` entries that did not change are kept."""
    made: list[Entry] = []
    calls: dict[str, int] = {}
    for message in messages:
        place = calls.get(message.call_id or "") if message.kind == "tool_result" else None
        if place is not None and made[place].answer is None:
            made[place] = Entry(made[place].message, message)
            continue
        if message.kind == "tool_call":
            calls[message.message_id] = len(made)
        made.append(Entry(message))
    return [_kept(entry, known.get(entry.entry_id)) for entry in made]


def _kept(entry: Entry, old: Entry | None) -> Entry:
    same = old is not None and old.message == entry.message and old.answer == entry.answer
    return old if same and old is not None else entry
