"""The top-level screens: name, title, key, and where their class is. Nothing of them is imported before it is entered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from textual.screen import Screen


@dataclass(frozen=True, slots=True)
class Place:
    """A top-level screen. ``load`` makes it when it is first entered; ``topics`` of the change feed are the screen's own."""

    name: str
    title: str
    key: str
    load: Callable[[], Screen[Any]]


def _lazy(module: str, name: str) -> Callable[[], Screen[Any]]:
    def load() -> Screen[Any]:
        screen: Screen[Any] = getattr(import_module(f"studio_tui.tui.screens.{module}"), name)()
        return screen

    return load


PLACES: Final = (
    Place("runs", "Runs", "1", _lazy("runs", "RunsScreen")),
    Place("shows", "Shows", "2", _lazy("shows", "ShowsScreen")),
    Place("schedules", "Schedules", "3", _lazy("schedules", "SchedulesScreen")),
    Place("definitions", "Definitions", "4", _lazy("definitions", "DefinitionsScreen")),
)
