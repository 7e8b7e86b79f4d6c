"""The keymap: names, no chord that tmux or the shell wants, no key twice on one screen."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from textual.binding import Binding
from textual.screen import Screen

import studio_tui.tui.screens
import studio_tui.tui.widgets
from studio_tui.tui.app import StudioApp
from studio_tui.tui.keys import ACTIONS, BANNED, bind, check_keymap, shown_key


def _screens() -> list[type[Screen[object]]]:
    found: set[type[Screen[object]]] = set()
    for module in pkgutil.iter_modules(studio_tui.tui.screens.__path__, "studio_tui.tui.screens."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Screen) and value.__module__.startswith("studio_tui."):
                found.add(value)
    return sorted(found, key=lambda screen: screen.__qualname__)


def _bindings(node: type) -> list[Binding]:
    return [one for kind in node.__mro__ for one in kind.__dict__.get("BINDINGS", ()) if isinstance(one, Binding)]


def test_no_key_is_one_that_tmux_or_the_shell_wants() -> None:
    for name, action in ACTIONS.items():
        assert not BANNED & set(action.keys.split(",")), name


def test_the_app_has_none_of_textuals_own_keys() -> None:
    keys = {key for binding in StudioApp.BINDINGS for key in binding.key.split(",")}  # type: ignore[union-attr]
    assert not BANNED & keys
    assert "ctrl+q" not in StudioApp._merge_bindings().key_to_bindings


@pytest.mark.parametrize("screen", _screens(), ids=lambda screen: screen.__name__)
def test_a_screen_binds_each_key_once_and_by_name(screen: type[Screen[object]]) -> None:
    keys: dict[str, str] = {}
    for binding in screen.__dict__.get("BINDINGS", ()):
        assert isinstance(binding, Binding)
        assert binding.id in ACTIONS, f"{screen.__name__} binds {binding.key} without the name of an action"
        for key in binding.key.split(","):
            assert key not in keys, f"{key} is both {keys.get(key)} and {binding.id}"
            keys[key] = str(binding.id)


def test_a_users_keymap_is_checked_in_words() -> None:
    assert check_keymap({"refresh": "R", "filter": "slash,f"}) == []
    assert check_keymap({"refersh": "R"}) == ["there is no action refersh"]
    assert check_keymap({"refresh": "ctrl+b"}) == ["refresh: ctrl+b is left to tmux and the shell"]


def test_keys_are_written_for_people() -> None:
    assert [shown_key(key) for key in ("slash", "escape", "ctrl+p", "question_mark", "G")] == ["/", "esc", "ctrl+p", "?", "G"]
    assert bind("refresh", verb="again").description == "again"
