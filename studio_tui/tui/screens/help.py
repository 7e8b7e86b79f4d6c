"""The keys of the screen below, made from its live bindings: what a user's keymap changed is shown changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import Screen

from studio_tui.tui.keys import ACTIONS, bind, shown_key
from studio_tui.tui.safe_text import cells, cut
from studio_tui.tui.screens.dialogs import Dialog
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.panes import LinesPane

_TITLES: Final = {"look": "here", "act": "change", "move": "move", "go": "everywhere"}
_KEYS: Final = 11
_SENTENCE: Final = 37


@dataclass
class _Entry:
    group: str
    help: str
    keys: list[str] = field(default_factory=list)
    here: bool = True


class HelpDialog(Dialog[None]):
    """Help for one screen. The help key again shows every action there is."""

    BINDINGS = [bind("help", "all", verb="all actions"), bind("up", "cancel", show=False)]
    AUTO_FOCUS = "VerticalScroll"
    deaf_for = 0.0

    def __init__(self, below: Screen[Any], title: str) -> None:
        super().__init__(f"keys of {title}")
        self._entries = _live(below)
        self._all = False

    def question(self) -> ComposeResult:
        """The keys, scrolled where they do not fit."""
        keys = LinesPane(classes="dialog-text", id="keys", on="raised")
        keys.show(self._lines())
        with VerticalScroll(classes="help-scroll"):
            yield keys

    def on_resize(self) -> None:
        """One column or two."""
        self._draw()

    def action_all(self) -> None:
        """Every action, those that do not work here in faint; or back."""
        self._all = not self._all
        self._draw()

    def _draw(self) -> None:
        self.query_one("#keys", LinesPane).show(self._lines())

    def _lines(self) -> list[list[Span]]:
        entries = dict(self._entries)
        if self._all:
            for name, action in ACTIONS.items():
                entries.setdefault(name, _Entry(action.group, action.help, action.keys.split(","), here=False))
        two = self.app.size.width >= 2 * (_KEYS + _SENTENCE) + 10
        room = _SENTENCE if two else max(_SENTENCE, self.app.size.width - _KEYS - 10)
        blocks = [_block(group, [one for one in entries.values() if one.group == group], room) for group in _TITLES]
        return _beside(_stack(blocks[:2]), _stack(blocks[2:])) if two else _stack(blocks)


def _live(below: Screen[Any]) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    for key, active in below.active_bindings.items():
        name = active.binding.id
        if name is None or not active.enabled:
            continue
        action = ACTIONS.get(name)
        entry = entries.setdefault(name, _Entry(action.group if action else "act", active.binding.tooltip))
        entry.keys.append(key)
    return entries


def _block(group: str, entries: Sequence[_Entry], room: int) -> list[list[Span]]:
    if not entries:
        return []
    lines: list[list[Span]] = [[(_TITLES[group], "bold soft")]]
    for entry in entries:
        keys = " ".join(shown_key(key) for key in entry.keys)
        lines.append(
            [
                (f"  {keys:<{_KEYS - 2}}", "bold accent" if entry.here else "faint"),
                (cut(entry.help, room - 2), "ink" if entry.here else "faint"),
            ]
        )
    return lines


def _stack(blocks: Sequence[list[list[Span]]]) -> list[list[Span]]:
    lines: list[list[Span]] = []
    for block in blocks:
        if block:
            lines += [[], *block]
    return lines


def _beside(left: Sequence[list[Span]], right: Sequence[list[Span]]) -> list[list[Span]]:
    lines: list[list[Span]] = []
    for place in range(max(len(left), len(right))):
        first = left[place] if place < len(left) else []
        used = sum(cells(text) for text, _ in first)
        lines.append([*first, (" " * max(1, _KEYS + _SENTENCE - used), "ink"), *(right[place] if place < len(right) else [])])
    return lines
