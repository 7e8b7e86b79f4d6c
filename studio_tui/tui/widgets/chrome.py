"""The two lines around every screen: the header with the facts that matter at 3 a.m., and the footer with the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual import events
from textual.binding import Binding
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from studio_tui.tui.keys import shown_key
from studio_tui.tui.safe_text import cells, cut
from studio_tui.tui.statuses import Span
from studio_tui.tui.themes import palette
from studio_tui.tui.widgets.columns import StripMaker

if TYPE_CHECKING:
    from studio_tui.tui.app import StudioApp

_WIDE: Final = 100
"""Cells from which the header names the other screens and spells its figures out."""
_NARROW: Final = 60
"""Cells below which it abbreviates."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the header shows besides the screens. ``None`` and zero are left out."""

    host: Span | None = None
    attention: int = 0
    running: int = 0
    clock: str = ""
    read_only: bool = False
    stale: str | None = None


class _Line(Widget):
    """One line of spans that is repainted only when its text changes."""

    DEFAULT_CSS = "_Line { height: 1; background: $raised; dock: top; }"
    _shown: Strip | None = None

    @property
    def studio_app(self) -> StudioApp:
        """The app, typed."""
        return self.app  # type: ignore[return-value]

    def spans(self) -> Sequence[Span]:
        """What the line says now."""
        raise NotImplementedError

    def update(self) -> None:
        """Repaint if the line says something else than it shows."""
        if self.is_mounted and self._strip() != self._shown:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        self._shown = self._strip()
        return self._shown

    def _strip(self) -> Strip:
        return StripMaker(palette(self.app.theme), self.size.width).line(self.spans(), on="raised")

    def on_mount(self) -> None:
        """Follow the theme."""
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self.refresh())


class HeaderBar(_Line):
    """Home, screens by number, host, what needs a person, what runs, the clock."""

    def spans(self) -> Sequence[Span]:
        """Left the places, right the facts; the facts win when there is no room for both."""
        width = self.size.width
        right = self._facts(width)
        left, _areas = self._places(width)
        room = width - sum(cells(text) for text, _ in right) - 2
        used = sum(cells(text) for text, _ in left)
        if used > room:
            left, used = _shortened(left, room)
        return [*left, (" " * max(2, room + 2 - used), "soft"), *right]

    def _places(self, width: int) -> tuple[list[Span], list[tuple[int, int, str]]]:
        app = self.studio_app
        home = _short(app.home_label, max(8, width // 6))
        spans: list[Span] = [(" # " if app.ascii else " ◆ ", "accent"), (f"{home}{' ' if width >= _NARROW else ''}", "bold ink")]
        areas: list[tuple[int, int, str]] = []
        at = sum(cells(text) for text, _ in spans)
        for place in app.places:
            on = place.name == app.place
            if not on and width < _NARROW:
                continue
            words = [(f"  {place.key}", "accent" if on else "faint")]
            if on or width >= _WIDE:
                words.append((f" {place.title}", "bold ink" if on else "soft"))
            size = sum(cells(text) for text, _ in words)
            areas.append((at, at + size, place.name))
            at += size
            spans += words
        return spans, areas

    def _facts(self, width: int) -> list[Span]:
        facts, wide = self.studio_app.facts, width >= _WIDE
        dot = "*" if self.studio_app.ascii else "●"
        gap = "   " if width >= _NARROW else "  "
        spans: list[Span] = []
        if facts.stale:
            spans.append((facts.stale, "bold warn"))
        if facts.read_only:
            spans.append(("read-only" if width >= _NARROW else "ro", "warn"))
        if facts.host:
            spans.append(facts.host)
        if facts.attention:
            spans.append((f"{facts.attention} need you" if width >= _NARROW else f"!{facts.attention}", "bold fail"))
        if facts.running:
            spans.append((f"{dot} {facts.running} run" if wide else f"{dot} {facts.running}", "run"))
        return [*((text + gap, token) for text, token in spans), (f"{facts.clock} ", "soft")]

    def on_click(self, event: events.Click) -> None:
        """A click on a place goes there."""
        for start, end, name in self._places(self.size.width)[1]:
            if start <= event.x < end:
                self.studio_app.action_go(name)


def _short(label: str, room: int) -> str:
    """A home's label; of a path that is too long its last part."""
    return cut(label if cells(label) <= room else label.rstrip("/").rpartition("/")[2], room)


def _shortened(spans: Sequence[Span], room: int) -> tuple[list[Span], int]:
    kept: list[Span] = []
    used = 0
    for text, name in spans:
        if used + cells(text) > room:
            break
        kept.append((text, name))
        used += cells(text)
    return kept, used


class FooterBar(_Line):
    """The keys that work here, key in accent and verb in soft. Help stays visible when there is no room for all."""

    DEFAULT_CSS = "FooterBar { dock: bottom; }"

    def spans(self) -> Sequence[Span]:
        """As many keys as fit, in the order of the screen that has the keyboard: a dialog's, while there is one."""
        return self._fitted()[0]

    def _fitted(self) -> tuple[list[Span], list[tuple[int, int, Binding]]]:
        pairs = shown_bindings(self.app.screen)
        helping = [binding for binding in pairs if binding.id == "help"]
        others = [binding for binding in pairs if binding.id != "help"]
        room = self.size.width - 1 - sum(_size(binding) for binding in helping)
        spans: list[Span] = [(" ", "soft")]
        areas: list[tuple[int, int, Binding]] = []
        at, fits = 1, True
        for binding in [*others, *helping]:
            if binding.id != "help":
                fits = fits and at + _size(binding) <= room + 1
            if fits or binding.id == "help":
                areas.append((at, at + _size(binding), binding))
                spans += [(shown_key(binding.key), "bold accent"), (f" {binding.description}   ", "soft")]
                at += _size(binding)
        return spans, areas

    def on_mount(self) -> None:
        """Follow theme and bindings."""
        super().on_mount()
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.update())
        self.app.screen_change_signal.subscribe(self, lambda _screen: self.update())

    def on_click(self, event: events.Click) -> None:
        """A click on a key does what the key does."""
        for start, end, binding in self._fitted()[1]:
            if start <= event.x < end:
                self.app.simulate_key(binding.key)


def _size(binding: Binding) -> int:
    return cells(f"{shown_key(binding.key)} {binding.description}   ")


def shown_bindings(screen: Screen[object]) -> list[Binding]:
    """The bindings that the footer shows, each action once, in the order from the focused widget outwards."""
    seen: dict[str, Binding] = {}
    types = isinstance(screen.focused, Input)
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.show and active.enabled and not (types and len(shown_key(binding.key)) == 1 and binding.key != "down"):
            seen.setdefault(binding.id or binding.action, binding)
    return list(seen.values())
