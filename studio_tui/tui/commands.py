"""What the palette finds: every action that works on the screen below, the screens, and the themes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from textual.fuzzy import Matcher
from textual.screen import Screen

from studio_tui.tui.keys import ACTIONS, shown_key
from studio_tui.tui.themes import PALETTES

if TYPE_CHECKING:
    from studio_tui.tui.app import StudioApp

_NOT_HERE = ("list.", "pane.", "palette", "back", "up", "quit")
"""Keys that only make sense as keys."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing to do: what it is called, its key, and how it is done (an action, and the node that has it)."""

    name: str
    words: str
    key: str
    action: str
    node: Any


def commands(app: StudioApp, below: Screen[Any]) -> tuple[Command, ...]:
    """All that works on this screen now, in the order of the footer."""
    found: dict[str, Command] = {}
    for active in below.active_bindings.values():
        binding = active.binding
        name = binding.id
        if name and active.enabled and name not in found and not name.startswith(_NOT_HERE):
            words = binding.tooltip or binding.description
            found[name] = Command(name, words, shown_key(binding.key), binding.action, active.node)
    if app.is_open:
        held = app.studio.host.status().held_until is not None
        name, words = ("release", "release the hold: fire again") if held else ("hold", "hold: fire nothing for a time")
        found[name] = Command(name, words, "", f"app.{name}", app)
        if app.studio.store.status().mode == "read_only" and app.top_screen is not None:
            found["upgrade"] = Command("upgrade", "upgrade the store", "", "upgrade", app.top_screen)
    found["quit"] = Command("quit", "quit the console", shown_key(ACTIONS["up"].keys), "app.ask_to_quit", app)
    for theme in PALETTES:
        found[f"theme.{theme}"] = Command(f"theme.{theme}", f"colours: {theme}", "", f"app.theme('{theme}')", app)
    return tuple(found.values())


_HOLD: Final = re.compile(r":?\s*hold\s+(?P<duration>[0-9dhmsDHMS]+)\s*\Z")


def typed(app: StudioApp, query: str) -> tuple[Command, ...]:
    """A command with what it is given, written out: ``hold 30m``."""
    if not (found := _HOLD.match(query)) or not app.is_open:
        return ()
    duration = found["duration"].lower()
    return (Command("hold.for", f"hold: fire nothing for {duration}", "", f"app.hold('{duration}')", app),)


def matching(given: Sequence[Command], query: str) -> list[Command]:
    """Those whose words have these letters in this order, the best first."""
    if not query.strip():
        return list(given)
    score: Callable[[str], float] = Matcher(query.strip()).match
    scored = [(score(command.words), command) for command in given]
    return [command for value, command in sorted(scored, key=lambda pair: -pair[0]) if value > 0]
