"""The keymap: every action that a key can do, by name. Screens bind actions, never bare keys.

The names are the ids of the bindings, so that a user's keymap (``action = "keys"``) changes a key everywhere, footer and help
included. Keys follow one grammar: small letters move, open or propose; nothing that harms is one key away; and no chord that
tmux, a shell or flow control wants is used (``BANNED``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from textual.binding import Binding

Group = Literal["move", "look", "act", "go"]


@dataclass(frozen=True, slots=True)
class Action:
    """Something a key does: its default keys, the verb of the footer, and a sentence for help and palette."""

    keys: str
    verb: str
    help: str
    group: Group


ACTIONS: Final[dict[str, Action]] = {
    "list.up": Action("k,up", "up", "move up one row", "move"),
    "list.down": Action("j,down", "down", "move down one row", "move"),
    "list.page_up": Action("pageup", "page up", "move up one page", "move"),
    "list.page_down": Action("pagedown", "page down", "move down one page", "move"),
    "list.first": Action("g,home", "first", "go to the first row", "move"),
    "list.last": Action("G,end", "last", "go to the last row", "move"),
    "pane.next": Action("tab", "next pane", "go to the next pane", "move"),
    "pane.previous": Action("shift+tab", "previous pane", "go to the pane before", "move"),
    "branch.previous": Action("h,left", "branch", "show the branch before", "look"),
    "branch.next": Action("l,right", "next branch", "show the next branch", "look"),
    "unfold": Action("E", "unfold", "open or fold every entry", "look"),
    "open": Action("enter", "open", "open what the cursor is on", "look"),
    "back": Action("escape", "back", "up one level, or clear the filter", "look"),
    "filter": Action("slash", "filter", "filter this list", "look"),
    "refresh": Action("r", "refresh", "read again, take in new rows", "look"),
    "follow": Action("F", "follow", "follow new lines at the end", "look"),
    "why": Action("exclamation_mark", "why", "why the schedule fires, fired, or does not", "look"),
    "faults": Action("z", "faults", "show only what went wrong", "look"),
    "repaint": Action("ctrl+l", "repaint", "draw the whole screen again", "look"),
    "mark": Action("space", "mark", "mark this row", "act"),
    "copy": Action("y", "copy", "copy what the cursor is on", "act"),
    "run_now": Action("t", "run now", "fire the schedule once, now", "act"),
    "toggle": Action("p", "on/off", "enable or disable the schedule", "act"),
    "new": Action("n", "new", "make a new one", "act"),
    "edit": Action("e", "edit", "change what the cursor is on", "act"),
    "delete": Action("D", "delete", "delete what the cursor is on; it asks first", "act"),
    "host": Action("M", "host", "decide who fires the schedules, and what of missed fires", "act"),
    "go.runs": Action("1", "runs", "go to Runs", "go"),
    "go.shows": Action("2", "shows", "go to Shows", "go"),
    "go.schedules": Action("3", "schedules", "go to Schedules", "go"),
    "go.definitions": Action("4", "definitions", "go to Definitions", "go"),
    "palette": Action("ctrl+p,colon", "palette", "find an action or a screen", "go"),
    "help": Action("question_mark", "help", "the keys of this screen", "go"),
    "up": Action("q", "up", "up one level; at the top, quit", "go"),
    "quit": Action("ctrl+c", "quit", "twice within two seconds: quit", "go"),
    "submit": Action("ctrl+s", "save", "save this form", "act"),
}
BANNED: Final = frozenset({"ctrl+a", "ctrl+b", "ctrl+k", "ctrl+d", "ctrl+q", "ctrl+backslash", "ctrl+i", "ctrl+m", "ctrl+h"})
"""Keys that tmux, the shell or the terminal itself wants."""

_SHOWN: Final = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "exclamation_mark": "!",
    "escape": "esc",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "equals_sign": "=",
    "full_stop": ".",
}


def bind(
    name: str,
    action: str | None = None,
    *,
    show: bool = True,
    verb: str | None = None,
    priority: bool = False,
    keys: str | None = None,
) -> Binding:
    """The binding of one action. ``action`` is the Textual action it runs (the name itself when there is no dot in it);
    ``verb`` replaces the footer's word where a screen has a better one, and ``keys`` the keys where letters are text."""
    entry = ACTIONS[name]
    return Binding(
        keys or entry.keys,
        action or name,
        verb or entry.verb,
        show=show,
        tooltip=entry.help,
        id=name,
        priority=priority,
        system=False,
    )


def shown_key(key: str) -> str:
    """How a key is written for people."""
    modifier, plus, last = key.rpartition("+")
    return f"{modifier}{plus}{_SHOWN.get(last, last)}"


def check_keymap(keymap: dict[str, str]) -> list[str]:
    """What is wrong with a user's keymap, in words; empty when it can be used."""
    problems = [f"there is no action {name}" for name in keymap if name not in ACTIONS]
    for name, keys in keymap.items():
        problems += [f"{name}: {key} is left to tmux and the shell" for key in keys.split(",") if key.strip() in BANNED]
    return problems
